"""Reading whole files, writing files atomically, recognising pickles, and JSON."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Optional, Union

from .errors import ArgumentError, FileError, FormatError

Path = Union[str, "os.PathLike[str]"]
# The most bytes of a file, and how many of them are checked before the others are read.
LARGEST, START = 2 << 30, 4096


def file_name(what: str, path: Path, expected: str = "the name of a file or folder") -> str:
    """Returns the path given as the argument `what` as text. Raises ArgumentError if it is not a path."""
    try:
        name = os.fsdecode(path)
    except TypeError:
        name = "\0"
    if "\0" in name:
        raise ArgumentError(f"is {path!r}", place=f"`{what}`", expected=expected)
    return name


def check_ending(path: str, *endings: str, what: str = "") -> None:
    """Raises FormatError unless the name has one of these endings, in any case."""
    if not path.lower().endswith(endings):
        *others, last = endings
        raise FormatError(f"{what}cannot be written under this name", file=path,
                          expected=f"one that ends in {', '.join(others)}{' or ' if others else ''}{last}")


@contextmanager
def system_says(path: str, problem: str, expected: str) -> Iterator[None]:
    """Turns an OSError into a FileError with the file and what was expected there."""
    try:
        yield
    except OSError as error:
        raise FileError.of(error, path, problem, expected) from error


@contextmanager
def expecting(what: Mapping[str, str]) -> Iterator[None]:
    """Adds to a FileError of the extension what was expected of the file, by its name."""
    try:
        yield
    except FileError as error:
        error.expected = error.expected or what.get(str(error.file))
        raise


def read(path: str, expected: str, refuse: Callable[[str, bytes], Any]) -> bytes:
    """Returns the contents of a file of at most LARGEST bytes; a device or a pipe is read no further than that.

    `refuse`: called with the path and the first bytes of the file, before the others are read; raises an error for other
    formats. Raises FileError, and FormatError for a larger file.
    """
    too_large = FormatError(f"is larger than the limit of {LARGEST >> 20} MB", file=path)
    with system_says(path, "cannot be read", expected), open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > LARGEST:
            raise too_large
        data = file.read(START)
        refuse(path, data)
        if len(data) == START:
            data += file.read(LARGEST + 1 - START)
    if len(data) > LARGEST:
        raise too_large
    return data


def write_atomically(path: str, data: bytes) -> None:
    """Writes a temporary file in the same folder and renames it, so readers see the old file or the new one, never a part.
    A device or a named pipe is written to directly. Raises FileError."""
    with system_says(path, "cannot be written", "the name of a file in a writable folder"):
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as device:
                device.write(data)
            return
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o666 & ~_umask()
        folder = os.path.dirname(os.path.realpath(path))
        handle, temporary = tempfile.mkstemp(prefix=".tapescope-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, mode)
            os.replace(temporary, os.path.realpath(path))
        except BaseException:
            os.unlink(temporary)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def to_json(what: str, value: Any, indent: Optional[int] = None) -> str:
    """Returns a value as JSON; NumPy arrays become lists. Raises ArgumentError for other values."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(f"{what} cannot be written as JSON: {error}", expected="numbers, text, lists and dictionaries") from error


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it contains a {type(value).__name__}")


def refuse_pickle(path: str, start: bytes) -> None:
    """Raises FormatError for a file of `torch.save` or `pickle`, with a way to convert it. `start`: its first 300 bytes or more.

    A pickle begins with 0x80 and its protocol number. A safetensors file may begin with the same bytes, the length of its
    header; there the upper half is 0, followed by a brace. A zip file of PyTorch has `data.pkl` as its first member.
    """
    is_pickle = start[:1] == b"\x80" and start[1:2] in (b"\2", b"\3", b"\4", b"\5") and start[4:9] != b"\0\0\0\0{"
    is_torch = start.startswith(b"PK\3\4") and start[30:30 + int.from_bytes(start[26:28], "little")].endswith(b"data.pkl")
    if is_pickle or is_torch:
        raise FormatError("is a pickle of Python or PyTorch", file=path,
                          expected="a trace or a safetensors file: load it with torch.load, and write its tensors with "
                                   "tapescope.write_weights (see python/examples/from_torch.py)")
