#!/usr/bin/env python3
"""Recomputes every recorded stage of a trace, memory, output and loss, from what its heads emitted and the stage before.

    python3 tests/recompute.py copy.ntmtrace.json [more ...]

Independent of the program that wrote the trace: NumPy in float64, the equations of the paper, nothing
else. Prints the largest difference of each stage; exit code 1 when one exceeds 1e-5.
"""

import gzip
import json
import sys

import numpy as np

TOLERANCE = 1e-5


def load(path):
    """The configuration and the arrays of a JSON trace, also a gzipped one."""
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        trace = json.load(file)
    arrays = {
        name: np.array(array["data"], array["dtype"]).reshape(array["shape"]).astype(np.float64)
        for name, array in trace["arrays"].items()
    }
    return trace["model"]["config"], arrays


def weighting(arrays, head, t, memory, shifts, epsilon):
    """The stages of one head at step t, from its recorded parameters: equations 5 to 9.

    Each from the recorded stage before it: sharpening by 15 of a softmax at strength 37 makes 1e-5 of the
    last bits of a similarity, which no tolerance should have to cover.
    """
    recorded = {stage: arrays[f"{head}.{stage}"][t] for stage in ("similarity", "content", "gated", "shifted")}
    key, before = arrays[f"{head}.key"][t], arrays[f"{head}.initial"]
    if t > 0:
        before = arrays[f"{head}.weighting"][t - 1]
    norms = np.sqrt((memory**2).sum(1) + epsilon) * np.sqrt((key**2).sum() + epsilon)
    similarity = memory @ key / norms
    content = np.exp(arrays[f"{head}.strength"][t] * (recorded["similarity"] - recorded["similarity"].max()))
    content /= content.sum()
    gate = arrays[f"{head}.gate"][t]
    gated = gate * recorded["content"] + (1 - gate) * before
    shifted = sum(s * np.roll(recorded["gated"], by) for s, by in zip(arrays[f"{head}.shift"][t], shifts))
    sharp = recorded["shifted"] ** arrays[f"{head}.sharpening"][t]
    return {
        "similarity": similarity,
        "content": content,
        "gated": gated,
        "shifted": shifted,
        "weighting": sharp / sharp.sum(),
    }


def recompute(path):
    config, arrays = load(path)
    # A controller alone has no heads and no memory.
    heads, shifts, epsilon = config.get("heads", []), config.get("shifts"), config.get("epsilon")
    worst = {}

    def compare(name, found, recorded):
        worst[name] = max(worst.get(name, 0.0), float(np.abs(found - recorded).max()))

    memory, write_first = arrays.get("memory.initial"), config.get("order", "").startswith("write")
    for t in range(len(arrays["input"]) if heads else 0):
        before, kept, added = memory, np.ones_like(memory), np.zeros_like(memory)
        for head in heads:
            w = arrays[f"{head}.weighting"][t]
            if head.startswith("write"):
                kept *= 1 - np.outer(w, arrays[f"{head}.erase"][t])
                added += np.outer(w, arrays[f"{head}.add"][t])
        memory = before * kept + added
        for head in heads:
            seen = memory if write_first and head.startswith("read") else before
            for stage, values in weighting(arrays, head, t, seen, shifts, epsilon).items():
                compare(stage, values, arrays[f"{head}.{stage}"][t])
            if head.startswith("read"):
                compare("read", arrays[f"{head}.weighting"][t] @ seen, arrays[f"{head}.read"][t])
        if "memory" in arrays:
            compare("memory", memory, arrays["memory"][t + 1])
    compare("output", 1 / (1 + np.exp(-arrays["logit"].clip(-80, 80))), arrays["output"])
    # -log2 of the probability of what was wanted, from the logit: no output of exactly 1 loses it.
    against = np.where(arrays["target"] > 0.5, -arrays["logit"], arrays["logit"])
    bits = (arrays["mask"][:, None] * np.logaddexp(0, against)).sum(1) / np.log(2)
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
