"""Your own task: simulate a finite automaton and output its state after every letter.

    python automaton.py                 # writes automaton.npz and its preset, automaton.json
    tapescope train automaton.json
    tapescope eval runs/automaton-7 --lengths 20,40

This automaton reads a binary number, highest bit first. Its state is the remainder of the number modulo 3. Change the table
`STEPS` for another automaton. The file has words of 1 to 40 letters; the preset trains on words of at most 20.

Needs the tapescope module: `pip install ./python`.
"""

import json
from typing import Optional, Tuple

import numpy as np

from tapescope import write_episodes

# STEPS[state, letter] is the next state; the initial state is 0.
STEPS = np.array([[0, 1], [2, 0], [1, 2]])
LONGEST = 40


def episode(rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray, Optional[np.ndarray]]:
    """Inputs [T, letters] and targets [T, states], one-hot; every step is scored."""
    states, letters = STEPS.shape
    word = rng.integers(0, letters, rng.integers(1, LONGEST + 1))
    passed, state = [], 0
    for letter in word:
        state = STEPS[state, letter]
        passed.append(state)
    return np.eye(letters)[word], np.eye(states)[passed], None


PRESET = {
    "title": "Modulo 3",
    "description": "The remainder modulo 3 after every bit of a binary number.",
    "task": {"kind": "episodes", "file": "automaton.npz", "length": [1, 20]},
    "model": {"memory": {"rows": 16, "columns": 8}, "controller": {"size": 32}},
    "training": {"sequences": 100_000, "batch": 16, "seed": 7, "optimizer": {"kind": "adam", "learning_rate": 1e-3}},
}

if __name__ == "__main__":
    letters, states = [f"letter {n}" for n in range(STEPS.shape[1])], [f"state {n}" for n in range(STEPS.shape[0])]
    count = write_episodes("automaton.npz", episode, count=20_000, input_names=letters, target_names=states)
    with open("automaton.json", "w", encoding="utf-8") as file:
        json.dump(PRESET, file, indent=2)
    print(f"automaton.npz: {count} episodes; next: tapescope train automaton.json")
