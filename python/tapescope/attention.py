"""Heads that differ from the paper: `heads.attention` of a preset or a trace; see docs/formats.md."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Tuple

# Choices: one word for all heads, or a list with a word for each, read heads first. The first word is the default.
CHOICES: Dict[str, Tuple[str, ...]] = {
    "score": ("cosine", "additive", "location", "general", "dot", "scaled-dot"),
    "strength": ("emitted", "one"),
    "gate": ("on", "off"),
    "sharpening": ("on", "off"),
    "erase": ("on", "off"),
    "weighting": ("soft", "local-monotonic", "local-predictive", "hard", "weibull", "lognormal"),
}
SHIFT_FORMS = ("softmax", "scalar", "none")
SAMPLINGS = ("mean", "drawn", "expected")
# Sizes of learned layers of the heads: by axis, the key and its default.
LAYERS: Dict[str, Tuple[str, int]] = {"a": ("units", 4), "p": ("position_units", 16), "h": ("prior_units", 8)}
# Learned tensors of the heads besides the maps that emit their parameters: array, choice, words that add it, axes.
LEARNED: Tuple[Tuple[str, str, Tuple[str, ...], Tuple[str, ...]], ...] = (
    ("additive_key", "score", ("additive",), ("m", "a")),
    ("additive_row", "score", ("additive",), ("m", "a")),
    ("additive_vector", "score", ("additive",), ("a",)),
    ("bilinear", "score", ("general",), ("m", "m")),
    ("location", "score", ("location",), ("m", "n")),
    ("position_weight", "weighting", ("local-predictive",), ("m", "p")),
    ("position_vector", "weighting", ("local-predictive",), ("p",)),
    ("prior_weight", "weighting", ("weibull", "lognormal"), ("m", "h")),
    ("prior_bias", "weighting", ("weibull", "lognormal"), ("h",)),
    ("prior_vector", "weighting", ("weibull", "lognormal"), ("h",)),
)


def of_head(given: Any, head: int, default: str) -> str:
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


def learned(attention: Mapping[str, Any], head: int, rows: int, columns: int) -> Dict[str, Tuple[int, ...]]:
    """Returns the learned tensors of a head with their shapes; a vector is a matrix of one row, as in a weights file."""
    sizes = {"n": rows, "m": columns, **{axis: int(attention.get(key, size)) for axis, (key, size) in LAYERS.items()}}
    shapes = {}
    for name, key, words, axes in LEARNED:
        if chosen(attention, key, head) in words:
            shape = tuple(sizes[axis] for axis in axes)
            shapes[name] = shape if len(shape) == 2 else (1, *shape)
    return shapes
