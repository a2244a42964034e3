"""The keys of presets and the learned tensors of heads, from `keys.json`. A test compares that file with the tables of the
program."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

from .errors import is_whole

# Returns None for a valid value, otherwise the expected value.
Check = Callable[[Any], Optional[str]]


class Key(NamedTuple):
    """A key of presets."""

    path: str
    """The path, with dots."""
    task: Optional[str]
    """The kind of task that has it, for the keys of tasks."""
    default: Any
    """The default of a whole number or a word; None for other keys."""
    is_required: bool
    form: str
    """The form of its values: a key of `_FORMS`."""
    words: Tuple[str, ...]
    """The allowed words; empty for a key that is no choice."""
    check: Check


class LearnedTensor(NamedTuple):
    """A learned tensor of a head besides the map that emits its parameters."""

    array: str
    choice: str
    """The key of the choice that adds it."""
    words: Tuple[str, ...]
    """The words of the choice that add it."""
    axes: Tuple[str, ...]


def _is_number(value: Any, low: float, high: float) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return is_number and low <= value <= high


def _integer(low: int, high: int) -> Check:
    return lambda value: None if is_whole(value) and low <= value <= high else f"{low} to {high}, a whole number"


def _number(low: float, high: float) -> Check:
    return lambda value: None if _is_number(value, low, high) else f"a number from {low:g} to {high:g}"


def _constant(low: float, high: float) -> Check:
    def check(value: Any) -> Optional[str]:
        is_constant = isinstance(value, Mapping) and list(value) == ["constant"] and _is_number(value["constant"], low, high)
        return None if value == "learned" or is_constant else '"learned" or {"constant": number}'
    return check


def _word(*words: str) -> Check:
    return lambda value: None if value in words else " or ".join(f"`{word}`" for word in words)


def _word_per_head(*words: str) -> Check:
    def check(value: Any) -> Optional[str]:
        listed = value if isinstance(value, (list, tuple)) and value else [value]
        fits = all(isinstance(word, str) and word in words for word in listed)
        return None if fits else f"{', '.join(f'`{word}`' for word in words)}, or a list with one of them for each head"
    return check


def _ends(low: int, high: int) -> Check:
    def check(value: Any) -> Optional[str]:
        fits = (isinstance(value, (list, tuple)) and len(value) == 2 and all(map(is_whole, value))
                and low <= value[0] <= value[1] <= high)
        return None if fits else f"[lowest, highest] in {low} to {high}"
    return check


def _integers(low: int, high: int) -> Check:
    def check(value: Any) -> Optional[str]:
        fits = isinstance(value, (list, tuple)) and all(is_whole(one) and low <= one <= high for one in value)
        return None if fits else f"a list of whole numbers, each {low} to {high}"
    return check


def _text() -> Check:
    return lambda value: None if isinstance(value, str) else "text"


_FORMS: Mapping[str, Callable[..., Check]] = {
    "integer": _integer, "number": _number, "constant": _constant, "word": _word, "word_per_head": _word_per_head,
    "ends": _ends, "integers": _integers, "text": _text}


def _key(row: Mapping[str, Any]) -> Key:
    words = tuple(row.get("words", ()))
    check = _FORMS[row["form"]](*(words or row.get("range", ())))
    return Key(row["key"], row["task"], row["default"], row["required"], row["form"], words, check)


_TABLES = json.loads(files(__package__).joinpath("keys.json").read_text(encoding="utf-8"))
KEYS: List[Key] = [_key(row) for row in _TABLES["keys"]]
LEARNED = [LearnedTensor(row["array"], row["key"], tuple(row["words"]), tuple(row["axes"])) for row in _TABLES["learned"]]
# The keys of the sizes of learned layers, by axis.
SIZES: Dict[str, str] = {row["axis"]: row["key"] for row in _TABLES["sizes"]}


def tree(keys: List[Key], section: str = "") -> Dict[str, Any]:
    """Returns keys by their names, those of a section in a dictionary of its own; `section` is left out of their paths."""
    root: Dict[str, Any] = {}
    for key in keys:
        *sections, name = key.path[len(section):].split(".")
        inner = root
        for part in sections:
            inner = inner.setdefault(part, {})
        inner.setdefault(name, key)
    return root
