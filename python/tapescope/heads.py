"""Heads that differ from the paper: `heads.attention` of a preset or a trace; see docs/formats/weights.md."""

from __future__ import annotations

from typing import Any, Tuple


def of_head(given: Any, head: int, default: str) -> str:
    """Returns the word of one head by its index, read heads first, from one word for all heads, a list, or None."""
    if isinstance(given, (list, tuple)):
        return str(given[head])
    return default if given is None else str(given)


def head_order(name: str) -> Tuple[bool, int, str]:
    """Sort key for head names: read heads first, by number, as in a list of words."""
    return not name.startswith("read"), len(name), name
