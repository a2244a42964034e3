#!/usr/bin/env python3
"""Recomputes every recorded stage of a trace, memory, output and loss, from what its heads emitted and the stage before.

    python3 tests/recompute.py copy.ntmtrace.json [more ...]

Independent of the program that wrote the trace: NumPy in float64, the equations of the papers, nothing
else. Prints the largest difference of each stage; exit code 1 when one exceeds 1e-5.
"""

import gzip
import json
import math
import sys

import numpy as np

TOLERANCE = 1e-5


def load(path):
    """The description of the machine, the arrays and the task of a JSON trace, also a gzipped one."""
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        trace = json.load(file)
    arrays = {
        name: np.array(array["data"], array["dtype"]).reshape(array["shape"]).astype(np.float64)
        for name, array in trace["arrays"].items()
    }
    return trace["model"], arrays, trace["task"]


def softmax(x):
    power = np.exp(x - x.max())
    return power / power.sum()


def cosines(memory, key, epsilon):
    """The cosine of a key with every row."""
    return memory @ key / (np.sqrt((memory**2).sum(1) + epsilon) * np.sqrt((key**2).sum() + epsilon))


def score_of(own, t, kind, memory, epsilon):
    """What a head makes of its key and every row (Graves 2014, Bahdanau 2015, Luong 2015, Vaswani 2017)."""
    key = own("key")[t]
    if kind == "cosine":
        return cosines(memory, key, epsilon)
    if kind == "additive":
        units = key @ own("additive_key") + memory @ own("additive_row")
        return np.tanh(units) @ own("additive_vector")
    if kind == "location":
        return key @ own("location")
    if kind == "general":
        return memory @ (key @ own("bilinear"))
    return memory @ key / (np.sqrt(len(key)) if kind == "scaled-dot" else 1)


def content_of(own, t, kind, energies, sampling, attention):
    """From energies to the content weighting: soft, within a window (Luong 2015), or of random weights (Fan 2020)."""
    if kind.startswith("local"):
        centre, half, rows = own("centre")[t], attention["window"], np.arange(len(energies))
        inside = (rows >= centre - half) & (rows <= centre + half)
        weights = np.where(inside, np.exp(energies - energies[inside].max()), 0)
        weights /= weights.sum()
        return weights * np.exp(-2 * ((rows - centre) / half) ** 2) if kind == "local-predictive" else weights
    if sampling != "mean" and kind == "weibull":
        energies = energies + np.log(-np.log(1 - own("noise")[t])) / attention["weibull_shape"]
    if sampling != "mean" and kind == "lognormal":
        energies = energies + attention["lognormal_sigma"] * own("normal")[t]
    return softmax(energies)


def prior_of(own, memory, attention):
    """The mean of the contextual prior of every row (Fan 2020)."""
    units = memory @ own("prior_weight") + own("prior_bias")
    if attention["prior"] == "code":
        return softmax(np.maximum(units, 0) @ own("prior_vector"))
    return np.exp(softmax(units @ own("prior_vector")))


def divergence_of(kind, energies, mean, attention):
    """The Kullback-Leibler divergence from the prior, summed over the rows (Fan 2020)."""
    psi = energies - np.logaddexp.reduce(energies) if attention["prior"] == "code" else energies
    if kind == "lognormal":
        sigma, prior = attention["lognormal_sigma"], attention["prior_sigma"]
        distance = psi - sigma**2 / 2 - (np.log(mean) - prior**2 / 2)
        return (np.log(prior / sigma) + (sigma**2 + distance**2) / (2 * prior**2) - 0.5).sum()
    k, rate = attention["weibull_shape"], attention["gamma_rate"]
    alpha, log_scale = rate * mean, psi - math.lgamma(1 + 1 / k)
    log_gamma = np.array([math.lgamma(value) for value in alpha])
    return (np.euler_gamma * alpha / k - alpha * log_scale + np.log(k) + rate * np.exp(psi)
            - np.euler_gamma - 1 - alpha * np.log(rate) + log_gamma).sum()


def place(head):
    """Where a head stands among all: the read heads first, each kind by its number."""
    kind = head.rstrip("0123456789")
    return kind == "write", int(head[len(kind):])


def word_of(config, head, word, usual):
    """What the configuration says of one head: one word for all of them, or a list, read heads first."""
    chosen = config.get("attention", {}).get(word, usual)
    is_write, number = place(head)
    return chosen[is_write * config["read"] + number] if isinstance(chosen, list) else chosen


def erases(config, head):
    """Whether a write head erases before it adds."""
    return word_of(config, head, "erase", "on") == "on"


def weighting(config, arrays, head, t, memory, sampling):
    """The stages of one head at step t from its recorded parameters: equations 5 to 9, or what stands in their place.

    Each from the recorded stage before it: sharpening by 15 of a softmax at strength 37 makes 1e-5 of the
    last bits of a similarity, which no tolerance should have to cover.
    """
    attention = config.get("attention", {})

    def of_head(word, usual):
        return word_of(config, head, word, usual)

    def own(name):
        return arrays.get(f"{head}.{name}")

    kind, made = of_head("weighting", "soft"), {}
    epsilon = config.get("similarity_epsilon", 0)
    made["similarity"] = score_of(own, t, of_head("score", "cosine"), memory, epsilon)
    energies = own("similarity")[t] * (1 if own("strength") is None else own("strength")[t])
    if kind == "local-monotonic":
        made["centre"] = min(t, len(energies) - 1)
    if kind == "local-predictive":
        unit = np.tanh(own("key")[t] @ own("position_weight")) @ own("position_vector")
        made["centre"] = len(energies) / (1 + np.exp(-unit))
    if kind in ("weibull", "lognormal"):
        made["prior"] = prior_of(own, memory, attention)
        made["divergence"] = divergence_of(kind, energies, own("prior")[t], attention)
    made["content"] = content_of(own, t, kind, energies, sampling, attention)
    last = own("content")[t]
    if own("gate") is not None:
        before = own("weighting")[t - 1] if t > 0 else own("initial")
        made["gated"] = own("gate")[t] * last + (1 - own("gate")[t]) * before
        last = own("gated")[t]
    if own("shift") is not None:
        made["shifted"] = sum(s * np.roll(last, by) for by, s in enumerate(own("shift")[t], -config["shift"]["range"]))
        last = own("shifted")[t]
    if own("sharpening") is not None:
        last = last ** own("sharpening")[t]
        last = last / last.sum()
    if kind == "hard":
        made["distribution"], alpha = last, own("distribution")[t]
        row = alpha.argmax() if sampling == "mean" else np.searchsorted(np.cumsum(alpha), own("draw")[t] * alpha.sum(), "right")
        last = alpha if sampling == "expected" else np.eye(len(alpha))[row]
    made["weighting"] = last
    return made


def recompute_feedback(arrays, task, first, compare):
    """What is fed back: the last answer, and nothing in the first step."""
    logit = arrays["logit"]
    symbols = task.get("answer") == "symbols"
    answered = np.eye(logit.shape[1])[logit.argmax(1)] if symbols else np.float64(logit > 0)
    answered[first - 1] = 0
    compare("feedback", answered[first - 1:-1], arrays["feedback"][first:])


def over(seen, energies):
    """The softmax over the rows that are seen, 0 for the others."""
    weights = np.zeros(len(seen))
    if seen.any():
        weights[seen] = softmax(energies[seen])
    return weights


def recompute_file(model, arrays, task, compare):
    """A machine file whose heads see rows that do not change: a read is the sum of all rows by their weights, or of values of
    the rows, which have keys, too (Vaswani 2017)."""
    number, has_rows = np.arange(len(arrays["input"])), len(arrays.get("memory", ())) > len(arrays["input"])
    seen = lambda t: (number <= t) | (model.get("switches", {}).get("mask") != "causal")
    for name in sorted(name[:-len(".weighting")] for name in arrays if name.endswith(".weighting")):
        weights, values = arrays[f"{name}.weighting"], arrays["memory"][-1] if has_rows else None
        if f"{name}.row_value" in arrays:
            key, row_key, similarity, values = (arrays[f"{name}.{part}"] for part in ("key", "row_key", "similarity", "row_value"))
            energies, size = (a @ b.T / np.sqrt(key.shape[1]) for a, b in ((key, row_key), (np.abs(key), np.abs(row_key))))
            compare("similarity", energies, similarity, size)
            compare("weighting", np.array([over(seen(t), similarity[t]) for t in number]), weights)
        if values is not None and f"{name}.read" in arrays:
            # In some steps a head points and does not read.
            reads = arrays[f"{name}.read"].any(1)
            compare("read", (weights @ values)[reads], arrays[f"{name}.read"][reads])
    if has_rows and "embedded" in arrays and "read0.row_value" in arrays:
        for t in number:
            compare("memory", np.where(seen(t)[:, None], arrays["embedded"], 0), arrays["memory"][t + 1])
    if "feedback" in arrays:
        recompute_feedback(arrays, task, int(arrays["mask"].argmax()), compare)


def recompute_memory(config, arrays, task, compare):
    """A machine whose heads read and write in every step; a controller alone has none."""
    heads = [f"{kind}{number}" for kind in ("read", "write") for number in range(config.get(kind, 0))]
    memory, write_first = arrays.get("memory.initial"), config.get("order") == "write-first"
    for t in range(len(arrays["input"]) if heads else 0):
        before, kept, added = memory, np.ones_like(memory), np.zeros_like(memory)
        for head in heads:
            w = arrays[f"{head}.weighting"][t]
            if head.startswith("write"):
                if erases(config, head):
                    kept *= 1 - np.outer(w, arrays[f"{head}.erase"][t])
                added += np.outer(w, arrays[f"{head}.add"][t])
        memory = before * kept + added
        for head in heads:
            seen = memory if write_first and head.startswith("read") else before
            for stage, values in weighting(config, arrays, head, t, seen, task.get("sampling", "mean")).items():
                compare(stage, values, arrays[f"{head}.{stage}"][t])
            if head.startswith("read"):
                compare("read", arrays[f"{head}.weighting"][t] @ seen, arrays[f"{head}.read"][t])
        if "memory" in arrays:
            compare("memory", memory, arrays["memory"][t + 1])


def recompute_dnc(config, arrays, compare):
    """A Differentiable Neural Computer (Graves 2016)."""
    readers = sorted({name.split(".")[0] for name in arrays if name.startswith("read")})
    memory, epsilon = arrays["memory.initial"], config["similarity_epsilon"]
    rows = len(memory)
    written, before = np.zeros(rows), {head: np.zeros(rows) for head in readers}
    usage, precedence, links = arrays.get("write0.initial_usage"), np.zeros(rows), np.zeros((rows, rows))

    def of_content(head, t, seen):
        compare("similarity", cosines(seen, arrays[f"{head}.key"][t], epsilon), arrays[f"{head}.similarity"][t])
        content = softmax(arrays[f"{head}.strength"][t] * arrays[f"{head}.similarity"][t])
        compare("content", content, arrays[f"{head}.content"][t])

    for t in range(len(arrays["input"])):
        of_content("write0", t, memory)
        w = arrays["write0.content"][t]
        if usage is not None:
            free = np.ones(rows)
            for head in readers:
                free = free * (1 - arrays.get(f"{head}.free_gate", np.zeros(t + 1))[t] * before[head])
            usage = (usage + written - usage * written) * free
            compare("usage", usage, arrays["write0.usage"][t])
            usage = arrays["write0.usage"][t]
            order = np.argsort(usage, kind="stable")
            free_row, allocation = 1.0, np.zeros(rows)
            for row in order:
                allocation[row] = (1 - usage[row]) * free_row
                free_row *= usage[row]
            compare("allocation", allocation, arrays["write0.allocation"][t])
            gate = arrays["write0.allocation_gate"][t]
            w = gate * arrays["write0.allocation"][t] + (1 - gate) * w
        w = arrays["write0.write_gate"][t] * w
        compare("weighting", w, arrays["write0.weighting"][t])
        written = arrays["write0.weighting"][t]
        memory = memory * (1 - np.outer(written, arrays["write0.erase"][t])) + np.outer(written, arrays["write0.add"][t])
        compare("memory", memory, arrays["memory"][t + 1])
        memory = arrays["memory"][t + 1]
        if "write0.precedence" in arrays:
            links = (1 - written[:, None] - written) * links + np.outer(written, precedence)
            np.fill_diagonal(links, 0)
            precedence = (1 - written.sum()) * precedence + written
            compare("precedence", precedence, arrays["write0.precedence"][t])
        for head in readers:
            of_content(head, t, memory)
            w = arrays[f"{head}.content"][t]
            if "write0.precedence" in arrays:
                backward, forward = links.T @ before[head], links @ before[head]
                compare("backward", backward, arrays[f"{head}.backward"][t])
                compare("forward", forward, arrays[f"{head}.forward"][t])
                w = arrays[f"{head}.read_modes"][t] @ np.stack([backward, w, forward])
            compare("weighting", w, arrays[f"{head}.weighting"][t])
            before[head] = arrays[f"{head}.weighting"][t]
            compare("read", before[head] @ memory, arrays[f"{head}.read"][t])


def recompute_sam(config, rows, arrays, compare):
    """Sparse access memory (Rae 2016), of the rows that the trace shows."""
    heads, number = range(config["count"]), arrays["recorded_rows"].astype(int)
    place = {row: at for at, row in enumerate(number)}
    memory, accessed = arrays["memory.initial"], number - rows
    before = [np.eye(len(number))[place[0]] for _ in heads]
    for t in range(len(arrays["input"])):
        used, taken = np.zeros(len(number)), []
        for head in heads:
            write, weighting = f"write{head}", np.zeros(len(number))
            compare("age", t - accessed, arrays[f"{write}.age"][t])
            # The least recently accessed row, another one for each head.
            ages = np.where(np.isin(number, taken), -1, t - accessed)
            row = int(arrays[f"{write}.row"][t])
            compare("row", ages.max(), ages[place[row]])
            taken.append(row)
            write_gate, interpolation = (arrays[f"{write}.{gate}"][t] for gate in ("write_gate", "interpolation_gate"))
            weighting = write_gate * interpolation * before[head]
            weighting[place[row]] += write_gate * (1 - interpolation)
            compare("weighting", weighting, arrays[f"{write}.weighting"][t])
            used += arrays[f"{write}.weighting"][t]
            memory = np.where(number[:, None] == row, 0, memory) + np.outer(weighting, arrays[f"{write}.add"][t])
        compare("memory", memory, arrays["memory"][t + 1])
        memory = arrays["memory"][t + 1]
        for head in heads:
            read = f"read{head}"
            at = [place[int(row)] for row in arrays[f"{read}.rows"][t]]
            similarity = cosines(memory, arrays[f"{read}.key"][t], config["similarity_epsilon"])
            compare("similarity", similarity, arrays[f"{read}.similarity"][t])
            compare("cosines", similarity[at], arrays[f"{read}.cosines"][t])
            weights = softmax(arrays[f"{read}.strength"][t] * arrays[f"{read}.cosines"][t])
            compare("weights", weights, arrays[f"{read}.weights"][t])
            before[head] = np.zeros(len(number))
            before[head][at] = arrays[f"{read}.weights"][t]
            compare("weighting", before[head], arrays[f"{read}.weighting"][t])
            compare("read", before[head] @ memory, arrays[f"{read}.read"][t])
            used += before[head]
        accessed = np.where(used > config["threshold"], t, accessed)


def recompute(path):
    model, arrays, task = load(path)
    worst = {}

    def compare(name, found, recorded, size=0):
        # Of what has no bounds, by its size, or that of its terms.
        difference = np.abs(found - recorded) / np.maximum(1, np.maximum(np.abs(recorded), size))
        worst[name] = max(worst.get(name, 0.0), float(difference.max()))

    if model.get("kind") == "equations":
        recompute_file(model, arrays, task, compare)
    elif model.get("kind") == "dnc":
        recompute_dnc(model["heads"], arrays, compare)
    elif model.get("kind") == "sam":
        recompute_sam(model["heads"], model["memory"]["rows"], arrays, compare)
    else:
        recompute_memory(model.get("heads", {}), arrays, task, compare)
    logit, target, mask = arrays["logit"], arrays["target"], arrays["mask"]
    # -log2 of the probability of what was wanted, from the logit: no output of exactly 1 loses it.
    if task.get("answer") == "symbols":
        compare("output", np.array([softmax(values) for values in logit]), arrays["output"])
        nats = np.logaddexp.reduce(logit, axis=1) - np.where(target > 0, target * logit, 0).sum(1)
    else:
        compare("output", 1 / (1 + np.exp(-logit.clip(-80, 80))), arrays["output"])
        nats = np.logaddexp(0, np.where(target > 0.5, -logit, logit)).sum(1)
    bits = mask * nats / np.log(2)
    compare("loss", bits / np.maximum(bits, 1), arrays["loss"] / np.maximum(bits, 1))
    if "memory" in arrays:
        compare("memory.initial", arrays["memory.initial"], arrays["memory"][0])
    return worst


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    failed = False
    for path in sys.argv[1:]:
        worst = recompute(path)
        failed |= any(not difference <= TOLERANCE for difference in worst.values())
        print(path, " ".join(f"{stage} {difference:.1e}" for stage, difference in worst.items()))
    sys.exit(failed)


if __name__ == "__main__":
    main()
