"""The extension, where it is there, and what is said where it is not."""

from __future__ import annotations

import os
from typing import Any, List

from .errors import TapescopeError


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
    """What is typed for these on the command line: nothing for None and False, the bare option for True, and values of a
    list, or of anything else that gives one after the other, with commas between them. Numbers may be those of NumPy."""
    typed = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            typed.append(option)
        elif value is not None and value is not False:
            value = value.tolist() if hasattr(value, "tolist") else value
            is_one = isinstance(value, (str, bytes, os.PathLike)) or not hasattr(value, "__iter__")
            typed.append(f"{option}={','.join(map(str, [value] if is_one else value))}")
    return typed
