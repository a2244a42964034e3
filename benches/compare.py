#!/usr/bin/env python3
"""Tapescope beside PyTorch and JAX on the same work, interleaved, as ratios.

    cargo bench --no-default-features --bench throughput --no-run
    python3 benches/compare.py --peers ../shared/peers [--rounds 5] [--cpu 1] [--markdown]

Needs `pip install jax torch`. Every round runs each implementation once, one after the other, on one
processor (`taskset`), so that whatever else the machine does falls on all of them; the table holds the
medians over the rounds with the spread, and the median of the ratios within each round.
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import sys

CASES = [("lstm", 1), ("ff", 1), ("lstm", 16), ("ff", 16)]


def run(command, cpus, cwd=None):
    prefix = ["taskset", "-c", cpus] if cpus else []
    # cargo leaves --bench and the like out when the binary is called by itself
    done = subprocess.run(prefix + command, capture_output=True, text=True, cwd=cwd, check=True)
    return float(json.loads(done.stdout.strip().splitlines()[-1])["seqs_per_s"])


def bench_binary():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(here, "target"))
    found = [f for f in glob.glob(os.path.join(target, "release/deps/throughput-*")) if os.access(f, os.X_OK)]
    if not found:
        sys.exit("build it first: cargo bench --no-default-features --bench throughput --no-run")
    return max(found, key=os.path.getmtime)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="../shared/peers", help="the folder with torch_ntm.py and jax_ntm.py")
    parser.add_argument("--python", default=sys.executable, help="a Python with jax and torch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", default="0", help="the processor everything runs on")
    a = parser.parse_args()
    binary = bench_binary()
    print("| controller, batch | Tapescope | JAX | PyTorch | × JAX | × PyTorch |")
    print("|---|---|---|---|---|---|")
    for controller, batch in CASES:
        options = ["--controller", controller, "--batch", str(batch)]
        peer = options + ["--repeats", "1", "--max-windows", "1", "--seconds", "1"]
        rates = {"tapescope": [], "jax": [], "torch": []}
        for _ in range(a.rounds):
            rates["tapescope"].append(run([binary, *options], a.cpu))
            for name in ("jax", "torch"):
                rates[name].append(run([a.python, f"{name}_ntm.py", *peer], a.cpu, a.peers))
        ours = rates["tapescope"]

        def cell(values):
            return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"

        def ratio(name):
            return f"{statistics.median(o / p for o, p in zip(ours, rates[name])):.1f}"

        print(f"| {controller}, {batch} | {cell(ours)} | {cell(rates['jax'])} | {cell(rates['torch'])} "
              f"| {ratio('jax')} | {ratio('torch')} |", flush=True)


if __name__ == "__main__":
    main()
