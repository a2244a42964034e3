"""The arrays of a trace: `arrays.json`, which follows from the program's own table and is held to it by a test."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import List, NamedTuple, Tuple

import numpy as np


class ArraySpec(NamedTuple):
    """What is known of an array before any episode."""

    name: str
    """In a file; of a head behind the name of the head: `read0.key`."""
    heads: Tuple[str, ...]
    """The kinds of heads that have it; none: it is of the episode or of the machine."""
    dims: Tuple[str, ...]
    least: float
    most: float
    shares: bool
    """True where the values of the last axis are shares of 1."""


def _read() -> List[ArraySpec]:
    listed = json.loads(files(__package__).joinpath("arrays.json").read_text(encoding="utf-8"))
    return [ArraySpec(array["name"], tuple(array["heads"]), tuple(array["dims"]),
                      -np.inf if array["least"] is None else array["least"],
                      np.inf if array["most"] is None else array["most"], array["shares"]) for array in listed]


ARRAYS = _read()
# Those of a head, by their names.
PARTS = {array.name: array for array in ARRAYS if array.heads}
