#!/usr/bin/env python3
"""How long copy takes to learn, from nothing to below 0.1 bits per sequence, seed by seed.

    cargo build --release
    python3 benches/learning.py [--preset copy] [--seeds 1-10] [--threshold 0.1]

Starts `tapescope train` for every seed with 500 validation episodes, follows its log, and stops it at the
first validation below the threshold. Wall-clock seconds count from the start of the process, with every
validation in them.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time


def learn(binary, preset, seed, threshold, folder):
    out = os.path.join(folder, f"{preset}-{seed}")
    command = [binary, "train", preset, "--seed", str(seed), "--out", out,
               "--set", "training.validation_episodes=500"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = 0
    try:
        while True:
            running = process.poll() is None
            points = []
            for name in os.listdir(out) if os.path.isdir(out) else []:
                if name.endswith(".ntmlog.jsonl"):
                    lines = open(os.path.join(out, name)).read().splitlines()[1:]
                    points = [json.loads(line) for line in lines if line.endswith("}")]
                    points = [point for point in points if "validation" in point]
            for point in points[seen:]:
                bits = point["validation"]["bits_per_sequence"]
                if bits < threshold:
                    return point["sequences"], time.perf_counter() - start, bits
            seen = len(points)
            if not running:
                return None
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="target/release/tapescope")
    parser.add_argument("--preset", default="copy")
    parser.add_argument("--seeds", default="1-10")
    parser.add_argument("--threshold", type=float, default=0.1)
    a = parser.parse_args()
    first, last = (int(part) for part in a.seeds.split("-"))
    print("| seed | sequences | seconds | bits per sequence |\n|---|---|---|---|")
    seconds, sequences = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last + 1):
            result = learn(a.binary, a.preset, seed, a.threshold, folder)
            if result is None:
                print(f"| {seed} | not below {a.threshold} | | |", flush=True)
                continue
            sequences.append(result[0])
            seconds.append(result[1])
            print(f"| {seed} | {result[0]} | {result[1]:.1f} | {result[2]:.3f} |", flush=True)
    if seconds:
        print(f"| median of {len(seconds)} | {statistics.median(sequences):.0f} | {statistics.median(seconds):.1f} | |")
        print(f"| worst | {max(sequences)} | {max(seconds):.1f} | |")


if __name__ == "__main__":
    main()
