"""Your own task from recorded data: predict the next line of a CSV file of 0 and 1, one line per time step.

    python csv_bits.py load.csv         # writes load.npz and its preset, load.json
    tapescope train load.json
    tapescope eval runs/load-7 --episodes 1000

The first line has the names of the columns. The recording is cut into pieces of 30 steps. In each step the machine sees one line
and predicts the next; predictions are scored from the sixth step on. The last tenth of the pieces is held out, so it is later than
all training data. The script also prints the loss of two simple predictors on these pieces, in bits per piece.

Needs the tapescope module: `pip install ./python`.
"""

import argparse
import csv
import json
import os
from typing import Iterator, List, Tuple

import numpy as np

from tapescope import write_episodes


def read(path: str) -> Tuple[List[str], np.ndarray]:
    """Returns the names of the columns and all steps [S, columns]."""
    with open(path, encoding="utf-8", newline="") as file:
        names, *lines = [line for line in csv.reader(file) if line]
    for number, line in enumerate(lines, 2):
        if len(line) != len(names) or any(cell.strip() not in ("0", "1") for cell in line):
            raise SystemExit(f"{path}: line {number}: is {','.join(line)}; expected {len(names)} times 0 or 1")
    return names, np.array([[int(cell) for cell in line] for line in lines])


def pieces(moments: np.ndarray, steps: int, unscored: int) -> Iterator[Tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yields inputs, targets and mask of each piece; the target of a step is the next line."""
    mask = (np.arange(steps) >= unscored).astype(int)
    for start in range(0, len(moments) - steps, steps):
        yield moments[start:start + steps], moments[start + 1:start + 1 + steps], mask


def cost(said: np.ndarray, moments: np.ndarray) -> float:
    """Returns the loss in bits of predicted probabilities: −log2 of the probability of the actual values, [S, columns] each."""
    return float(-np.log2(np.where(moments == 1, said, 1 - said)).sum())


def guesses(all_pieces: List[Tuple[np.ndarray, np.ndarray, np.ndarray]], held_out: int) -> Tuple[float, float]:
    """Returns bits per held-out piece of two predictors: the frequency of each bit, and its frequency given its previous value."""
    def scored(some: List[Tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Tuple[np.ndarray, np.ndarray]:
        return (np.concatenate([x[m == 1] for x, _, m in some]), np.concatenate([y[m == 1] for _, y, m in some]))
    (before, after), (was, came) = scored(all_pieces[:-held_out]), scored(all_pieces[-held_out:])
    share = (after.sum(0) + 1) / (len(after) + 2)
    kept = [(after * (before == bit)).sum(0) + 1 for bit in (0, 1)]
    seen = [(before == bit).sum(0) + 2 for bit in (0, 1)]
    follows = np.where(was == 1, kept[1] / seen[1], kept[0] / seen[0])
    return cost(np.broadcast_to(share, came.shape), came) / held_out, cost(follows, came) / held_out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv")
    parser.add_argument("--steps", type=int, default=30, help="steps per piece")
    parser.add_argument("--unscored", type=int, default=5, help="unscored steps at the start of a piece")
    asked = parser.parse_args()
    names, moments = read(asked.csv)
    all_pieces = list(pieces(moments, asked.steps, asked.unscored))
    if len(all_pieces) < 10:
        raise SystemExit(f"{asked.csv}: has {len(moments)} steps; expected at least {10 * asked.steps + 1}, for ten pieces")
    held_out = len(all_pieces) // 10
    stem = os.path.splitext(asked.csv)[0]
    write_episodes(stem + ".npz", all_pieces, input_names=names, target_names=names)
    preset = {
        "title": f"Next line of {os.path.basename(asked.csv)}",
        "task": {"kind": "episodes", "file": os.path.basename(stem) + ".npz",
                 "held_out": {"kind": "last", "count": held_out}},
        "model": {"memory": {"rows": 16, "columns": 8}, "controller": {"size": 32}},
        "training": {"sequences": 20_000, "batch": 16, "seed": 7, "optimizer": {"kind": "adam", "learning_rate": 1e-3},
                     "validation_episodes": held_out},
    }
    with open(stem + ".json", "w", encoding="utf-8") as file:
        json.dump(preset, file, indent=2)
    often, after = guesses(all_pieces, held_out)
    print(f"{stem}.npz: {len(all_pieces)} pieces, the last {held_out} held out; next: tapescope train {stem}.json")
    print(f"bits per held-out piece: {often:.2f} with the frequency of each bit, {after:.2f} with its frequency given its previous value")


if __name__ == "__main__":
    main()
