"""The options, the work and the timing of the JAX and PyTorch programs in this folder.

It needs NumPy alone. The work is that of `throughput`: copy with vectors of 8 bits, and an update after each batch.
"""

import argparse
import json
import os
import statistics
import time

# One thread, unless --threads asks for more: to be set before NumPy, JAX and PyTorch are imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

BITS = 8
# The training of every program, in the words of torch.optim.RMSprop.
RMSPROP = {"lr": 1e-4, "alpha": 0.95, "momentum": 0.9, "eps": 1e-8, "centered": True}
CLIP = 10.0


def read_options(description, sizes, choices=None):
    """Returns the options on the command line: those of every program, sizes {name: default} and choices {name: values}."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    for name, default in {"batch": 1, "len": 20, "threads": 1, "seed": 0, "windows": 9, **sizes}.items():
        parser.add_argument(f"--{name}", type=int, default=default, help="default: %(default)s")
    for name, values in (choices or {}).items():
        parser.add_argument(f"--{name}", choices=values, default=values[0], help="default: %(default)s")
    parser.add_argument("--mode", choices=["train", "forward"], default="train", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a window; default: %(default)s")
    parser.add_argument("--check", action="store_true", help="compare with the golden values and exit")
    return parser.parse_args()


def episodes(options, blank_steps):
    """Yields batches: inputs [steps, batch, bits + 1] and targets [length, batch, bits].

    The last channel marks the end of the vectors; `blank_steps` more steps follow for the answer, or none.
    """
    draw = np.random.default_rng(options.seed)
    steps = options.len + 1 + (options.len if blank_steps else 0)
    while True:
        targets = draw.integers(0, 2, (options.len, options.batch, BITS)).astype(np.float32)
        inputs = np.zeros((steps, options.batch, BITS + 1), np.float32)
        inputs[: options.len, :, :BITS] = targets
        inputs[options.len, :, BITS] = 1
        yield inputs, targets


def measure(one, seconds, windows, wait=lambda: None):
    """Times windows of work and returns sequences per second: of the clock, and of the processor time of all threads.

    `one` does work and returns how many sequences and steps it had; `wait` returns when all of it is done. Other
    programs disturb the median of the clock, but hardly the fastest window and the processor time.
    """
    clock, processor = [], []
    for _ in range(windows):
        sequences, start, used = 0, time.perf_counter(), time.process_time()
        while sequences == 0 or time.perf_counter() - start < seconds:
            sequences += one()[0]
        wait()
        clock.append(sequences / (time.perf_counter() - start))
        processor.append(sequences / (time.process_time() - used))
    return {"seqs_per_s": statistics.median(clock), "fastest_seqs_per_s": max(clock),
            "seqs_per_processor_s": statistics.median(processor)}


def report(options, rates, **more):
    """Prints one JSON object: the options, what else is known, and the rates."""
    rounded = {name: round(rate, 2) for name, rate in rates.items()}
    asked = {name: value for name, value in vars(options).items() if name != "check"}
    print(json.dumps({**asked, **more, **rounded}), flush=True)


class Check:
    """Compares arrays with golden values; `failed` says whether any differs by more than `tolerance`."""

    def __init__(self, tolerance=1e-10):
        self.tolerance, self.failed = tolerance, False

    def compare(self, case, found, golden):
        """Prints the largest difference between two {name: array} with the same names."""
        if set(found) != set(golden):
            raise KeyError(f"{case}: {sorted(set(found) ^ set(golden))} has no counterpart")
        worst = max(golden, key=lambda name: _difference(found[name], golden[name]))
        largest = _difference(found[worst], golden[worst])
        is_equal = largest <= self.tolerance
        self.failed |= not is_equal
        print(f"{case}: {len(golden)} arrays, largest difference {largest:.1e} ({worst}){'' if is_equal else ' FAILED'}")


def _difference(found, golden):
    found, golden = np.asarray(found), np.asarray(golden)
    if found.shape != golden.shape:
        raise ValueError(f"shape {found.shape}, expected {golden.shape}")
    difference = np.abs(found - golden).max()
    return difference if np.isfinite(difference) else np.inf
