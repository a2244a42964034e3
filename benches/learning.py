#!/usr/bin/env python3
"""How long a preset takes to learn, from nothing to below a threshold in bits per sequence, seed by seed.

    cargo build --release
    python3 benches/learning.py [--preset copy] [--seeds 1-10] [--threshold 0.1] [--above-optimum]

Starts `tapescope train` for every seed with 500 validation episodes, follows its log, and stops it at the
first validation below the threshold. Wall-clock seconds count from the start of the process, with every
validation in them.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import logs

EPISODES = 500
# The episodes of the validations of a run come from this seed plus the run's.
VALIDATION_SEED = 0x7A11_DA7E_0000_0000


def optimum(binary, out, seed):
    """The bits per sequence of the best predictor on the validation episodes; 0 for tasks whose input determines the answer."""
    command = [binary, "eval", out, "--seed", str(VALIDATION_SEED + seed), "--episodes", str(EPISODES), "--json"]
    line = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[0])
    return line["optimum"] or 0.0


def learn(a, seed, folder):
    """Sequences, seconds and bits above the optimum of the first validation below the threshold; None where there is none."""
    out = pathlib.Path(folder) / f"{seed}"
    command = [a.binary, "train", a.preset, "--seed", str(seed), "--out", out,
               "--set", f"training.validation_episodes={EPISODES}", *a.options]
    start = time.perf_counter()
    errors = tempfile.TemporaryFile("w+")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
    seen, least = 0, None
    try:
        while True:
            is_running = process.poll() is None
            points = logs.validations(out) if (out / "history.ntmlog.jsonl").exists() else []
            seconds = time.perf_counter() - start
            if points and least is None:
                least = optimum(a.binary, out, seed) if a.above_optimum else 0.0
            for sequences, validation in points[seen:]:
                above = logs.bits(validation) - least
                if above < a.threshold:
                    return sequences, seconds, above
            seen = len(points)
            if not is_running:
                if process.returncode != 0 and not points:
                    errors.seek(0)
                    raise SystemExit(errors.read())
                return None
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
        errors.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=logs.program, default="target/release/tapescope", help="default: %(default)s")
    parser.add_argument("--preset", default="copy", help="name or path of a preset; default: %(default)s")
    parser.add_argument("--seeds", type=logs.seeds, default="1-10", help="a seed, or a range; default: 1-10")
    parser.add_argument("--threshold", type=float, default=0.1, help="bits per sequence; default: %(default)s")
    parser.add_argument("--above-optimum", action="store_true", help="count bits above those of the best predictor")
    parser.add_argument("options", nargs="*", help="options for `tapescope train`, after --")
    a = parser.parse_args()
    if a.threshold <= 0:
        parser.error("--threshold: expected a number above 0")
    print("| seed | sequences | seconds | bits per sequence |\n|---|---|---|---|")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in a.seeds:
            result = learn(a, seed, folder)
            if result is None:
                print(f"| {seed} | not below {a.threshold:g} | | |", flush=True)
                continue
            found.append(result)
            print(f"| {seed} | {result[0]} | {result[1]:.1f} | {result[2]:.3f} |", flush=True)
    if found:
        sequences, seconds, _ = zip(*found)
        print(f"| median of {len(found)} | {statistics.median(sequences):.0f} | {statistics.median(seconds):.1f} | |")
        print(f"| worst | {max(sequences)} | {max(seconds):.1f} | |")


if __name__ == "__main__":
    main()
