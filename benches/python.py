"""The speed of training from Python beside the command line: the same run on both, in turn, to the same bits.

    .ci/wheel check && target/wheel/fresh/bin/python benches/python.py [PRESET] [SEQUENCES] [TIMES]

Uses the program and the module of the same environment, so both have the same code. Prints, of each, the median of the
processor time of the whole process and of the seconds spent in updates, with the smallest and the largest, and how fast
Python is beside the program; exit code 1 below 0.97 of its speed.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile

import tapescope as ts

LEAST = 0.97
PYTHON = ("import sys, tapescope; tapescope.train(sys.argv[1], seed=7, sequences=int(sys.argv[2]), threads=1, "
          "out=sys.argv[3], progress=lambda progress: None)")


def commands(preset, sequences):
    program = [sys.executable, "-m", "tapescope", "train", preset, "--seed", "7", "--sequences", sequences,
               "--threads", "1", "--out"]
    return {"program": program, "python": [sys.executable, "-c", PYTHON, preset, sequences]}


def once(command, folder):
    """Processor seconds of the process, seconds in updates, and the weights."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([*command, folder], check=True, capture_output=True)
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    machine = ts.machine(folder)
    return user, machine.history[-1]["seconds"], machine.sha256


def main(preset="copy", sequences="20000", times="5"):
    found = {"program": [], "python": []}
    for number in range(int(times)):
        for side, command in commands(preset, sequences).items():
            with tempfile.TemporaryDirectory() as folder:
                found[side].append(once(command, os.path.join(folder, "run")))
    hashes = {run[2] for side in found.values() for run in side}
    if len(hashes) > 1:
        sys.exit(f"the weights differ: {hashes}")
    print(f"{preset}, {sequences} sequences, one thread, {times} times in turn; the weights are the same")
    ratios = []
    for index, what in enumerate(("processor seconds", "seconds in updates")):
        medians = {}
        for side, runs in found.items():
            values = sorted(run[index] for run in runs)
            medians[side] = statistics.median(values)
            print(f"{what}, {side}: {medians[side]:.2f} ({values[0]:.2f} to {values[-1]:.2f})")
        ratios.append(medians["program"] / medians["python"])
        print(f"Python at {ratios[-1]:.3f} of the speed")
    return ratios[0] < LEAST


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
