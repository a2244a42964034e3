"""Heads that differ from the paper: `heads.attention` of a preset or a trace; see docs/formats.md."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Tuple

from .keys import KEYS, SIZES
from .keys import LEARNED as LEARNED  # also for other modules

_SECTION = "model.heads."
_KEYS = {key.path[len(_SECTION):]: key for key in KEYS if key.path.startswith(_SECTION)}
# Choices: one word for all heads, or a list with a word for each, read heads first. The first word is the default.
CHOICES: Dict[str, Tuple[str, ...]] = {name[len("attention."):]: key.words for name, key in _KEYS.items()
                                       if name.startswith("attention.") and key.form == "word_per_head"}
SHIFT_FORMS = _KEYS["shift.form"].words
SAMPLINGS = ("mean", "drawn", "expected")
# Sizes of learned layers of the heads: by axis, the key and its default.
LAYERS: Dict[str, Tuple[str, int]] = {axis: (key, _KEYS[f"attention.{key}"].default) for axis, key in SIZES.items()}


def of_head(given: Any, head: int, default: str = "") -> str:
    """Returns the word of one head by its index, read heads first."""
    if isinstance(given, (list, tuple)):
        return str(given[head])
    return default if given is None else str(given)


def head_order(name: str) -> Tuple[bool, int, str]:
    """Sort key for head names: read heads first, by number, as in a list of words."""
    return not name.startswith("read"), len(name), name


def chosen(attention: Mapping[str, Any], key: str, head: int) -> str:
    """Returns the word of a key of CHOICES for a head by its index, read heads first."""
    return of_head(attention.get(key), head, CHOICES[key][0])


def learned(attention: Mapping[str, Any], head: int, rows: int, columns: int, key: int) -> Dict[str, Tuple[int, ...]]:
    """Returns the learned tensors of a head whose key has `key` values, with their shapes; a vector is a matrix of one
    row, as in a weights file."""
    sizes = {"n": rows, "m": columns, "k": key, **{axis: int(attention.get(name, size)) for axis, (name, size) in LAYERS.items()}}
    shapes = {}
    for tensor in LEARNED:
        if chosen(attention, tensor.choice, head) in tensor.words:
            shape = tuple(sizes[axis] for axis in tensor.axes)
            shapes[tensor.array] = shape if len(shape) == 2 else (1, *shape)
    return shapes
