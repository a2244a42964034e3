"""Your own task: repeat a sequence of vectors in reverse order.

    python reversal.py                  # writes reversal.npz and its preset, reversal.json
    tapescope train reversal.json
    tapescope view runs/reversal-7

Needs the tapescope module: `pip install ./python`.
"""

import json
from typing import Tuple

import numpy as np

from tapescope import write_episodes

BITS, LONGEST = 4, 10


def episode(rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns inputs [2n + 1, 5], targets [2n + 1, 4] and mask [2n + 1] of n vectors followed by a delimiter."""
    n = rng.integers(1, LONGEST + 1)
    vectors = rng.integers(0, 2, (n, BITS))
    inputs, targets, mask = np.zeros((2 * n + 1, BITS + 1)), np.zeros((2 * n + 1, BITS)), np.zeros(2 * n + 1)
    inputs[:n, :BITS] = vectors
    inputs[n, BITS] = 1
    targets[n + 1:] = vectors[::-1]
    mask[n + 1:] = 1
    return inputs, targets, mask


PRESET = {
    "title": "Reversal",
    "description": "Repeat a sequence of vectors in reverse order.",
    "task": {"kind": "episodes", "file": "reversal.npz"},
    "model": {"memory": {"rows": 32, "columns": 16}, "controller": {"size": 64}},
    "training": {"sequences": 100_000, "batch": 16, "seed": 7, "optimizer": {"kind": "adam", "learning_rate": 1e-3}},
}

if __name__ == "__main__":
    names = [f"bit {bit}" for bit in range(BITS)]
    count = write_episodes("reversal.npz", episode, count=20_000, input_names=[*names, "delimiter"], target_names=names)
    with open("reversal.json", "w", encoding="utf-8") as file:
        json.dump(PRESET, file, indent=2)
    print(f"reversal.npz: {count} episodes; next: tapescope train reversal.json")
