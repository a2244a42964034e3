"""The arrays of a trace, from `arrays.json`. A test compares that file with the table of the program."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import List, NamedTuple, Tuple

import numpy as np


class ArraySpec(NamedTuple):
    """Description of an array: name, axes and range."""

    name: str
    """Name in a file; after the name of the head for arrays of a head: `read0.key`."""
    heads: Tuple[str, ...]
    """Kinds of heads that have it; empty for arrays of the episode or the machine."""
    dims: Tuple[str, ...]
    least: float
    most: float
    shares: bool
    """True if the values along the last axis sum to 1."""


def _read() -> List[ArraySpec]:
    listed = json.loads(files(__package__).joinpath("arrays.json").read_text(encoding="utf-8"))
    return [ArraySpec(array["name"], tuple(array["heads"]), tuple(array["dims"]),
                      -np.inf if array["least"] is None else array["least"],
                      np.inf if array["most"] is None else array["most"], array["shares"]) for array in listed]


ARRAYS = _read()
# Arrays of a head, by name.
PARTS = {array.name: array for array in ARRAYS if array.heads}
