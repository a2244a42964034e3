"""The extension, where it is there, and what is said where it is not."""

from __future__ import annotations

import os
from typing import Any, List, Optional

from .errors import ArgumentError, TapescopeError


class MissingExtensionError(TapescopeError, ImportError):
    """What was called needs the extension of the wheel, and only the Python files are here."""


def native() -> Any:
    """The module `tapescope._native`. Raises MissingExtensionError, an ImportError, where it is not built."""
    try:
        from . import _native
    except ImportError as error:
        folder = os.path.dirname(os.path.abspath(__file__))
        raise MissingExtensionError(
            f"machines, training and figures need the extension, which is not in {folder} ({error}); traces and weights "
            "are read, written and recorded without it",
            expected="the wheel: pip install ./python in the sources of Tapescope builds it (that takes Rust)") from error
    return _native


def is_built() -> bool:
    """True where the extension is there."""
    try:
        native()
    except MissingExtensionError:
        return False
    return True


def options(**given: Any) -> List[str]:
    """What is typed for these on the command line, where they are not None: the values of a list, or of anything else
    that gives one after the other, with commas between them. Numbers may be those of NumPy. What cannot be is refused by
    the program, in its words: so is True, for it stands where a value is typed."""
    return [f"{_option(name)}={','.join(_words(value))}" for name, value in given.items() if value is not None]


def flags(**given: bool) -> List[str]:
    """What is typed for those that are asked for."""
    return [_option(name) for name, is_asked in given.items() if is_asked]


def pair(name: str, given: Any, form: str, expected: str) -> Optional[str]:
    """Two values in the form of the command line, such as "{}..{}"; None for None. Raises ArgumentError for anything else."""
    if given is None:
        return None
    words = _words(given)
    if len(words) != 2 or isinstance(given, str):
        raise ArgumentError(f"is {given!r}", place=f"`{name}`", expected=expected)
    return form.format(*words)


def _option(name: str) -> str:
    return "--" + name.strip("_").replace("_", "-")


def _words(value: Any) -> List[str]:
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (bytes, os.PathLike)):
        return [os.fsdecode(value)]
    is_one = isinstance(value, str) or not hasattr(value, "__iter__")
    return list(map(str, [value] if is_one else value))
