"""Exceptions: every error of this module is a `TapescopeError`."""

from __future__ import annotations

import difflib
import operator
import os
import re
from typing import Any, Dict, Iterable, Optional, SupportsIndex, Type, Union


# Characters that act on a terminal: controls, and those that change the writing direction or break the line.
_ACTING = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """Replaces every character that acts on a terminal by U+FFFD, as the program does."""
    return _ACTING.sub("\ufffd", text)


class TapescopeError(Exception):
    """Base class of all errors. The message consists of these parts, which are also attributes.

    `file`: the file, or None if no file is concerned. `place`: the key, array or step in it. `problem`: what was found.
    `expected`: what is allowed there.
    """

    def __init__(self, problem: str, *, file: Union[str, os.PathLike[str], None] = None,
                 place: Optional[str] = None, expected: Optional[str] = None) -> None:
        if expected is None:  # messages of the extension
            problem, _, said = problem.partition("; expected ")
            expected = said or None
        self.file = None if file is None else os.fspath(file)
        self.place, self.problem, self.expected = place, problem, expected
        super().__init__(problem)

    def __str__(self) -> str:
        parts = [part for part in (harmless(self.file or ""), harmless(self.place or ""), self.problem) if part]
        text = ": ".join(parts) + (f"; expected {self.expected}" if self.expected else "")
        return "\n".join(map(harmless, text.split("\n")))


class FormatError(TapescopeError, ValueError):
    """An invalid file, or a file name with the wrong ending."""


class FileError(TapescopeError, OSError):
    """A file that cannot be read or written. Also a FileNotFoundError, PermissionError or IsADirectoryError if that is the
    reason."""

    @classmethod
    def of(cls, error: OSError, path: str, problem: str, expected: Optional[str] = None) -> FileError:
        """Makes the error for a file from an error of the system. `problem`: for example "cannot be read"."""
        kind = _OF_SYSTEM.get(type(error), cls)
        told = kind(f"{problem}: {error.strerror or error}", file=path, expected=expected)
        told.errno, told.filename = error.errno, path
        return told


class FileMissingError(FileError, FileNotFoundError):
    """A missing file or folder."""


class FileDeniedError(FileError, PermissionError):
    """A file without permission to read or write it."""


class FileIsFolderError(FileError, IsADirectoryError):
    """A folder where a file was expected."""


_OF_SYSTEM: Dict[Type[OSError], Type[FileError]] = {
    FileNotFoundError: FileMissingError, PermissionError: FileDeniedError, IsADirectoryError: FileIsFolderError}


# An option of the command line in a message of the extension: its value and name, then the allowed values or the problem.
_OF_OPTION = re.compile(r"invalid value '(.*)' for '(\w+)'(?:: expected (.+)|\s+\[possible values: (.+)\]|: (.+))", re.DOTALL)
# Arguments that have another name than their option.
_ARGUMENTS = {"show_rows": "rows"}


class ArgumentError(TapescopeError, ValueError):
    """An invalid argument, with the allowed values."""

    def __init__(self, problem: str, **parts: Optional[str]) -> None:
        match = _OF_OPTION.fullmatch(problem)
        if match:
            value, name, allowed, words, problem = match.groups(f"is '{match[1]}'")
            parts.update(place=f"`{_ARGUMENTS.get(name, name)}`", expected=allowed if match[3] else f"one of {words}" if match[4] else None)
        super().__init__(problem, **parts)


class TrainingError(TapescopeError, ArithmeticError):
    """A training that diverged: its numbers are no longer finite. The same seed diverges again."""

    machine: Any = None
    """Best machine of the validations before, or None."""


class DisplayError(TapescopeError, RuntimeError):
    """No display, or a window that did not open."""


class RecordError(TapescopeError, ValueError):
    """Invalid data given to a `Recorder`."""


class WeightsError(TapescopeError, ValueError):
    """Tensors that do not form the machine of a preset."""


class NotRecordedError(TapescopeError, KeyError):
    """An array or a head that is not in the trace."""


class StepError(TapescopeError, IndexError):
    """A step that is not in the trace."""


def meant(name: object, known: Iterable[str]) -> str:
    """Returns `; did you mean …?` if a known name is similar, and the known names."""
    known = list(known)
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.6)
    question = f"; did you mean `{near[0]}`?" if near else ";"
    return f"{question} known: {', '.join(known)}"


# Accepted whole numbers: int and those of NumPy.
Whole = SupportsIndex


def whole(name: str, given: Any) -> int:
    """Returns an argument as an int. Raises ArgumentError unless it is a whole number; True and False are not."""
    try:
        if not isinstance(given, bool):
            return operator.index(given)
    except TypeError:
        pass
    raise ArgumentError(f"is {given!r}", place=f"`{name}`", expected="a whole number")
