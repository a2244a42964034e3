#!/usr/bin/env python3
"""Heads that divide marked symbols among themselves: 1, 2, 4 and 6 heads, five seeds; with no term, with the redundancy penalty,
and with the divergence of heads in its place.

    cargo build --release
    python3 benches/heads.py [--out sweeps/heads]          (needs NumPy)

Trains structured self-attention and multi-head attention on `aspects` with four marked symbols, on one thread a run. Of 100
held-out episodes it takes the weightings of the answer step, in multi-head attention those of the last layer. A marked
symbol is found by a dedicated head if one head has more than half of its weight on it, and no other head has. The overlap is
the mean of Σ_i a(i)·b(i) over the pairs of heads. A run stopped if its numbers were no longer finite; it counts with the weights
from before, if there are any. The time is that of training, per 1000 sequences. Writes OUT/heads.json and OUT/heads.md. Nothing is
trained twice.
"""

import argparse
import glob
import itertools
import json
import os
import statistics
import subprocess

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TASK = {"kind": "aspects", "symbols": 8, "length": [10, 20], "aspects": [4, 4]}
MACHINES = {
    "structured": (60000, {"kind": "equations", "file": "structured_self_attention.machine",
                           "sizes": {"encoder": {"units": 24}, "depth": 24, "mlp": 48}}),
    "multi-head": (60000, {"kind": "equations", "file": "multi_head_layers.machine", "sizes": {"embedding": 48, "depth": 12, "layers": 1}}),
}
HEADS, SEEDS, EPISODES, RATE, DIVERGED = [1, 2, 4, 6], [1, 2, 3, 4, 5], 100, 3e-3, 4
# The key of the term in a preset, and its weight.
TERMS = [("redundancy", weight) for weight in (0.0, 0.01, 0.1, 1.0)] + [("head_divergence", weight) for weight in (0.001, 0.01, 0.1)]


def run(options, machine, heads, term, weight, seed):
    """Trains what is missing; returns what was measured."""
    other = "" if term == "redundancy" else "divergence-"
    out = os.path.join(options.out, f"{machine}-{heads}-{other}{weight}-{seed}")
    if not os.path.exists(os.path.join(out, "measured.json")):
        sequences, model = MACHINES[machine]
        training = {"optimizer": {"kind": "adam", "learning_rate": RATE}, "final_lr_factor": 0.01, "batch": 8,
                    "clip": {"kind": "global_norm", "limit": 5.0}, "sequences": sequences, "seed": seed,
                    "validation_every": 4000, "validation_episodes": 100,
                    term: {"kind": "read", "weight": weight}}
        training.update(options.training)
        model = {**model, "heads": {**model.get("heads", {}), "read": heads}}
        os.makedirs(options.out, exist_ok=True)
        with open(out + ".json", "w") as to:
            json.dump({"task": TASK, "model": model, "training": training}, to)
        done = subprocess.run([options.binary, "train", out + ".json", "--threads", "1", "--out", out, "--force"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode not in (0, DIVERGED):
            raise SystemExit(f"{out}: training ended with exit code {done.returncode}")
        found = {"stopped": done.returncode == DIVERGED, **measure(options, out, heads)}
        with open(os.path.join(out, "measured.json"), "w") as to:
            json.dump(found, to)
    with open(os.path.join(out, "measured.json")) as file:
        return json.load(file)


def measure(options, out, heads):
    """Share of perfect sequences, overlap of the heads and share of marked symbols with a dedicated head."""
    if not os.path.exists(os.path.join(out, "weights.safetensors")):
        return dict.fromkeys(("perfect", "overlap", "found", "seconds"))
    line = subprocess.run([options.binary, "eval", out, "--lengths", "20", "--json"], check=True, capture_output=True, text=True)
    overlaps, found = [], []
    trace = os.path.join(out, "trace.npz")
    for seed in range(1000000, 1000000 + EPISODES):
        if os.path.exists(trace):
            os.remove(trace)
        subprocess.run([options.binary, "trace", out, "--length", "20", "--seed", str(seed), "--out", trace], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with np.load(trace) as arrays:
            marked = np.flatnonzero(arrays["input"][:20, TASK["symbols"]] > 0.5)
            names = sorted(int(name[4:].split(".")[0]) for name in arrays.files if name.endswith(".weighting"))
            weights = np.array([arrays[f"read{head}.weighting"][-1] for head in names[-heads:]])
        pairs = list(itertools.combinations(range(heads), 2))
        overlaps += [float(weights[a] @ weights[b]) for a, b in pairs]
        found.append(float(np.mean((weights[:, marked] > 0.5).sum(0) == 1)))
    return {"perfect": json.loads(line.stdout)["perfect"], "overlap": float(np.mean(overlaps)) if overlaps else None,
            "found": float(np.mean(found)), "seconds": seconds(out)}


def seconds(out):
    """Seconds of training per 1000 sequences, from the log."""
    (log,) = glob.glob(os.path.join(out, "*.ntmlog.jsonl"))
    with open(log) as file:
        points = [point for point in map(json.loads, file) if "seconds" in point]
    return 1000 * points[-1]["seconds"] / points[-1]["sequences"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "tapescope"))
    parser.add_argument("--out", default="sweeps/heads")
    parser.add_argument("--training", type=json.loads, default={}, help="other keys of `training`, to try the script")
    options = parser.parse_args()
    rows, text = [], ["| machine | heads | term | weight | perfect | overlap | found by a dedicated head | s per 1000 | stopped |",
                      "|---|---:|---|---:|---:|---:|---:|---:|---:|"]
    for machine, heads, (term, weight) in itertools.product(MACHINES, HEADS, TERMS):
        if heads == 1 and weight > 0.0:
            continue
        of = [run(options, machine, heads, term, weight, seed) for seed in SEEDS]
        rows.append({"machine": machine, "heads": heads, "term": term, "weight": weight, "runs": of})

        def middle(key, digits):
            # Runs from before the key was measured do not have it.
            values = [one[key] for one in of if one.get(key) is not None]
            if not values:
                return "–"
            scale, end = (100, " %") if digits == 0 else (1, "")
            values = sorted(scale * value for value in values)
            low, high = f"{values[0]:.{digits}f}", f"{values[-1]:.{digits}f}"
            spread = f" ({low}–{high})" if low != high else ""
            return f"{statistics.median(values):.{digits}f}{end}{spread}"

        stopped = sum(one.get("stopped", False) for one in of)
        named = "none" if weight == 0.0 else {"redundancy": "penalty"}.get(term, "divergence")
        text.append(f"| {machine} | {heads} | {named} | {weight:g} | {middle('perfect', 0)} | {middle('overlap', 2)} | "
                    f"{middle('found', 0)} | {middle('seconds', 2)} | {stopped} |")
        print(text[-1], flush=True)
    for name, content in [("json", json.dumps(rows, indent=1)), ("md", "\n".join(text) + "\n")]:
        with open(os.path.join(options.out, "heads." + name), "w") as to:
            to.write(content)


if __name__ == "__main__":
    main()
