"""Files as a whole: written all or nothing, and known by their first bytes."""

from __future__ import annotations

import os
import tempfile
from typing import Union

from .errors import FormatError

Path = Union[str, "os.PathLike[str]"]


def write_atomically(path: str, data: bytes) -> None:
    """Writes beside `path` and renames: readers see the old file or the new one, never half of it."""
    folder = os.path.dirname(os.path.realpath(path))
    handle, temporary = tempfile.mkstemp(prefix=".tapescope-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, os.path.realpath(path))
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def refuse_pickle(path: str, start: bytes) -> None:
    """Refuses what `torch.save` or `pickle` wrote, and says how to get on; `start`: at least its first 300 bytes.

    A pickle begins with 0x80 and the number of its protocol; so may the length of a header of safetensors,
    whose upper half is 0 and behind which a brace stands. A zip by PyTorch has `data.pkl` as its first member.
    """
    is_pickle = start[:1] == b"\x80" and start[1:2] in (b"\2", b"\3", b"\4", b"\5") and start[4:9] != b"\0\0\0\0{"
    is_torch = start.startswith(b"PK\3\4") and start[30:30 + int.from_bytes(start[26:28], "little")].endswith(b"data.pkl")
    if is_pickle or is_torch:
        raise FormatError("is a pickle of Python or PyTorch", file=path,
                          expected="a trace or a safetensors file: load it with torch.load, and write its tensors with "
                                   "tapescope.write_weights (see python/examples/from_torch.py)")
