#!/usr/bin/env python3
"""Questions about documents: coattention and attention over attention against a decoder with attention and an LSTM.

    cargo build --release
    python3 benches/span.py [--out sweeps/span]          (needs NumPy)

Task `span` with documents of 10 to 20, 20 to 40 and 40 to 80 steps and questions of two symbols. Where both ends are asked
for, answers have one to three symbols; coattention answers in one and in four rounds. 40,000 sequences on one thread a run. A
rate for each machine comes from three at documents of 20 steps with one seed; five seeds with that rate. The table has the
share of answers that are right, in the last round, at the longest trained document and at twice its length. Writes OUT/span.json,
OUT/span.md and OUT/span.svg. Nothing is trained twice.
"""

import argparse
import json
import os
import statistics
import subprocess

import numpy as np

import alignment

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BASE = {"kind": "span", "symbols": 10, "positions": 160, "question": 2}
ENDS, AGAIN, SYMBOL = {"span": [1, 3]}, {"span": [1, 3], "rounds": 4}, {"asked_for": "symbol"}
BAHDANAU = {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 32}, "units": 64, "attention": {"units": 32}}}
COATTENTION = {"kind": "equations", "file": "coattention.machine", "switches": {"stop": "repeats"}}
SIZES = {"units": 32, "fusion": {"units": 32}, "decoder": 32, "hidden": 32, "pool": 4}
OVER = {"kind": "equations", "file": "attention_over_attention.machine", "switches": {"cell": "lstm", "embedded": "no"}, "sizes": {"units": 32}}
PLAIN = {"kind": "equations", "file": "plain.machine", "sizes": {"units": 100}}
MACHINES = {
    "coattention, one round": (ENDS, {**COATTENTION, "sizes": {**SIZES, "rounds": 1}}),
    "coattention, four rounds": (AGAIN, {**COATTENTION, "sizes": {**SIZES, "rounds": 4}}),
    "Bahdanau, both ends": (ENDS, BAHDANAU),
    "LSTM, both ends": (ENDS, PLAIN),
    "attention over attention": (SYMBOL, OVER),
    "Bahdanau, the symbol": (SYMBOL, BAHDANAU),
    "LSTM, the symbol": (SYMBOL, PLAIN),
}
LENGTHS, RATES, SEEDS, SEQUENCES, EPISODES = [20, 40, 80], [1e-3, 3e-3, 1e-2], [1, 2, 3, 4, 5], 40000, 300


def run(options, machine, length, rate, seed):
    """Trains what is missing; returns what was measured."""
    slug = machine.replace(",", "").replace(" ", "-")
    out = os.path.join(options.out, f"{slug}-{length}-{rate:g}-{seed}")
    measured = os.path.join(out, "measured.json")
    if not os.path.exists(measured):
        task, model = MACHINES[machine]
        training = {"optimizer": {"kind": "adam", "learning_rate": rate}, "final_lr_factor": 0.01, "batch": 8,
                    "clip": {"kind": "global_norm", "limit": 5.0}, "sequences": SEQUENCES, "seed": seed,
                    "validation_every": 4000, "validation_episodes": 100}
        os.makedirs(options.out, exist_ok=True)
        with open(out + ".json", "w") as to:
            json.dump({"task": {**BASE, "length": [length // 2, length], **task}, "model": model, "training": training}, to)
        subprocess.run([options.binary, "train", out + ".json", "--threads", "1", "--out", out, "--force"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = measure(options, out, length, task.get("rounds", 1))
        with open(measured, "w") as to:
            json.dump(found, to)
    with open(measured) as file:
        return json.load(file)


def measure(options, out, length, rounds):
    """Bits and the share of right answers, for each length; with several rounds also of each round, and how many change it."""
    shown = subprocess.run([options.binary, "eval", out, "--lengths", f"{length},{2 * length}", "--episodes", str(EPISODES), "--json"],
                           check=True, capture_output=True, text=True)
    lines = [json.loads(line) for line in shown.stdout.splitlines()]
    found = {"bits": [line["bits_per_sequence"] for line in lines], "right": [line["perfect"] for line in lines]}
    with open(os.path.join(out, "history.ntmlog.jsonl")) as log:
        found["seconds"] = json.loads(log.read().splitlines()[-1])["seconds"]
    if rounds > 1:
        found["by_round"] = [of_rounds(options, out, size, rounds) for size in (length, 2 * length)]
        found["right"] = [by_round["right"][-1] for by_round in found["by_round"]]
    return found


def of_rounds(options, out, length, rounds):
    """The share of right answers in each round, and the share of episodes in which a round changes the pair."""
    right, changed, trace = np.zeros(rounds), np.zeros(rounds - 1), os.path.join(out, "trace.npz")
    for seed in range(1000000, 1000000 + EPISODES):
        if os.path.exists(trace):
            os.remove(trace)
        subprocess.run([options.binary, "trace", out, "--length", str(length), "--seed", str(seed), "--out", trace], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with np.load(trace) as arrays:
            answer = arrays["mask"] > 0.5
            pairs, wanted = (arrays[name][answer].argmax(1).reshape(rounds, 2) for name in ("output", "target"))
        right += (pairs == wanted).all(1)
        changed += (pairs[1:] != pairs[:-1]).any(1)
    return {"right": list(right / EPISODES), "changed": list(changed / EPISODES)}


def middle(values):
    """The median in percent, with the lowest and the highest."""
    values = sorted(100 * value for value in values)
    low, high = f"{values[0]:.0f}", f"{values[-1]:.0f}"
    return f"{statistics.median(values):.0f} %" + (f" ({low}–{high})" if low != high else "")


def figure(rows):
    """A panel for each thing that is asked for: the share of right answers against the length of the document."""
    asked = {"both ends": [name for name, (task, _) in MACHINES.items() if task is not SYMBOL],
             "the symbol": [name for name, (task, _) in MACHINES.items() if task is SYMBOL]}
    alignment.TASKS, alignment.MACHINES = {name: ({"length": [0, 0]}, LENGTHS) for name in asked}, MACHINES
    results = [{"task": name, "machine": row["machine"],
                "perfect": {length: [one["right"][0] for one in runs] for length, runs in row["runs"].items()}}
               for name, machines in asked.items() for row in rows if row["machine"] in machines]
    return alignment.figure(results).replace("trained on length 0 to 0", "trained at each length").replace(
        "perfect sequences", "right answers")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "tapescope"))
    parser.add_argument("--out", default="sweeps/span")
    options = parser.parse_args()
    shown = [f"{length} | {2 * length}" for length in LENGTHS]
    rows, text = [], [f"| machine | rate | {' | '.join(shown)} |", "|---|---:|" + "---:|" * 2 * len(LENGTHS)]
    for machine in MACHINES:
        rate = min(RATES, key=lambda rate: run(options, machine, LENGTHS[0], rate, SEEDS[0])["bits"][0])
        of = {length: [run(options, machine, length, rate, seed) for seed in SEEDS] for length in LENGTHS}
        rows.append({"machine": machine, "rate": rate, "runs": of})
        cells = [middle([one["right"][at] for one in of[length]]) for length in LENGTHS for at in (0, 1)]
        text.append(f"| {machine} | {rate:g} | {' | '.join(cells)} |")
        print(text[-1], flush=True)
    for name, content in [("json", json.dumps(rows, indent=1)), ("md", "\n".join(text) + "\n"), ("svg", figure(rows))]:
        with open(os.path.join(options.out, "span." + name), "w") as to:
            to.write(content)


if __name__ == "__main__":
    main()
