"""What can be wrong, and where: every error of this module is a `TapescopeError`."""

from __future__ import annotations

import difflib
import operator
import os
from typing import Any, Dict, Iterable, Optional, SupportsIndex, Type, Union


class TapescopeError(Exception):
    """The message is put together from its parts, which stay to be asked for.

    `file`: the file, or None when none is concerned. `place`: the key, array or step in it. `problem`: what
    was found. `expected`: what is allowed there.
    """

    def __init__(self, problem: str, *, file: Union[str, os.PathLike[str], None] = None,
                 place: Optional[str] = None, expected: Optional[str] = None) -> None:
        self.file = None if file is None else os.fspath(file)
        self.place, self.problem, self.expected = place, problem, expected
        super().__init__(problem)

    def __str__(self) -> str:
        parts = [part for part in (self.file, self.place, self.problem) if part]
        return ": ".join(parts) + (f"; expected {self.expected}" if self.expected else "")


class FormatError(TapescopeError, ValueError):
    """A file that is not what it should be, or cannot be written under its name."""


class FileError(TapescopeError, OSError):
    """A file that cannot be read or written; a FileNotFoundError, PermissionError, … too, where that is why."""

    @classmethod
    def of(cls, error: OSError, path: str, problem: str, expected: Optional[str] = None) -> FileError:
        """What the system says of a file that `problem`, such as "cannot be read"."""
        kind = _OF_SYSTEM.get(type(error), cls)
        told = kind(f"{problem}: {error.strerror or error}", file=path, expected=expected)
        told.errno, told.filename = error.errno, path
        return told


class FileMissingError(FileError, FileNotFoundError):
    """A file or folder that is not there."""


class FileDeniedError(FileError, PermissionError):
    """A file that may not be read or written."""


class FileIsFolderError(FileError, IsADirectoryError):
    """A folder in the place of a file."""


_OF_SYSTEM: Dict[Type[OSError], Type[FileError]] = {
    FileNotFoundError: FileMissingError, PermissionError: FileDeniedError, IsADirectoryError: FileIsFolderError}


class ArgumentError(TapescopeError, ValueError):
    """What was asked for cannot be: the argument, and what is allowed."""


class TrainingError(TapescopeError, ArithmeticError):
    """A training whose numbers are no longer finite, which is a result: the same seed comes to it again."""

    machine: Any = None
    """The best machine of the validations before it, or None."""


class DisplayError(TapescopeError, RuntimeError):
    """There is no display to open a window on, or the window did not open."""


class RecordError(TapescopeError, ValueError):
    """Something given to a `Recorder` that no trace can hold."""


class WeightsError(TapescopeError, ValueError):
    """Tensors or a preset that do not make a machine."""


class NotRecordedError(TapescopeError, KeyError):
    """An array or a head that the trace does not have."""


class StepError(TapescopeError, IndexError):
    """A step that the trace does not have."""


def meant(name: object, known: Iterable[str]) -> str:
    """`; did you mean …?` where a known name is near, and what is known."""
    known = list(known)
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.6)
    question = f"; did you mean `{near[0]}`?" if near else ";"
    return f"{question} known: {', '.join(known)}"


# What is a whole number where it is asked for: int, and those of NumPy.
Whole = SupportsIndex


def whole(name: str, given: Any) -> int:
    """An argument that is a whole number, such as one of NumPy; True and False are none. Raises ArgumentError."""
    try:
        if not isinstance(given, bool):
            return operator.index(given)
    except TypeError:
        pass
    raise ArgumentError(f"is {given!r}", place=f"`{name}`", expected="a whole number")


def is_whole(value: object) -> bool:
    """True for a whole number; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)
