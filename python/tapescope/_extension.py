"""Access to the extension, and the error raised without it."""

from __future__ import annotations

import os
from typing import Any, List, Optional

from .errors import ArgumentError, TapescopeError


class MissingExtensionError(TapescopeError, ImportError):
    """A function that needs the extension was called, but only the Python files are installed."""


def native() -> Any:
    """Returns the module `tapescope._native`. Raises MissingExtensionError, an ImportError, if it is not built."""
    try:
        from . import _native
    except ImportError as error:
        folder = os.path.dirname(os.path.abspath(__file__))
        raise MissingExtensionError(
            f"machines, presets, training and figures need the extension, which is not in {folder} ({error}); reading, "
            "writing and recording traces and weights works without it, with dictionaries as presets",
            expected="the wheel: run pip install ./python in the sources of Tapescope (needs Rust)") from error
    return _native


def is_built() -> bool:
    """Returns whether the extension is installed."""
    try:
        native()
    except MissingExtensionError:
        return False
    return True


def options(**given: Any) -> List[str]:
    """Returns command-line options for the arguments that are not None. Values of an iterable are joined by commas; NumPy
    numbers are accepted. The program reports invalid values. It also refuses True, because an option needs a value."""
    return [f"{_option(name)}={','.join(_words(value))}" for name, value in given.items() if value is not None]


def flags(**given: bool) -> List[str]:
    """Returns command-line flags for the arguments that are true."""
    return [_option(name) for name, is_asked in given.items() if is_asked]


def pair(name: str, given: Any, form: str, expected: str) -> Optional[str]:
    """Formats two values for the command line, such as "{}..{}"; returns None for None. Raises ArgumentError otherwise."""
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
