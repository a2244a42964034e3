"""The arrays of a trace, from `arrays.json`, and values as arrays. A test compares that file with the table of the program."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Dict, NamedTuple, Tuple, Type

import numpy as np
import numpy.typing as npt

from .errors import RecordError, TapescopeError


class ArraySpec(NamedTuple):
    """Description of an array: name, axes and range."""

    name: str
    """Name in a file; after the name of the head for arrays of a head: `read0.key`."""
    dims: Tuple[str, ...]
    heads: Tuple[str, ...] = ()
    """Kinds of heads that have it; empty for arrays of the episode or the machine."""
    least: float = -np.inf
    most: float = np.inf
    shares: bool = False
    """True if the values along the last axis sum to 1."""

    @property
    def axes(self) -> Tuple[str, ...]:
        """The axes in one step."""
        return self.dims[1:] if self.dims[0] == "t" else self.dims


def float32(value: Any, place: str = "", error: Type[TapescopeError] = RecordError) -> npt.NDArray[np.float32]:
    """Returns a number, a list, a NumPy array or a PyTorch tensor as a new array. Raises `error`, with its place, for others."""
    try:
        return np.array(value.detach().cpu().float().numpy() if hasattr(value, "detach") else value, np.float32)
    except (TypeError, ValueError) as reason:
        raise error(f"is not an array of numbers: {reason}", place=place) from reason


def _spec(row: Dict[str, Any]) -> ArraySpec:
    given: Dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if value is not None}
    return ArraySpec(**given)


ARRAYS = [_spec(row) for row in json.loads(files(__package__).joinpath("arrays.json").read_text(encoding="utf-8"))]
# Arrays of a head, by name.
PARTS = {array.name: array for array in ARRAYS if array.heads}
