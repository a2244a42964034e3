"""Weights files: safetensors with our names and shapes; see docs/formats.md. Pure NumPy."""

from __future__ import annotations

import json
import struct
from typing import Any, Dict, Mapping, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._version import __version__
from .errors import FormatError, WeightsError, meant
from .files import Path, check_ending, file_name, read, refuse_pickle, to_json, write_atomically
from .preset import Preset, as_dictionary, tensor_shapes

HEADER_LIMIT = 64 << 20
Tensors = Dict[str, npt.NDArray[np.float32]]


def write_weights(path: Path, tensors: Mapping[str, npt.ArrayLike], preset: Union[Path, Preset], command: str = "") -> None:
    """Writes a file that `tapescope eval`, `trace` and `view` open. Whole or not at all.

    `path` ends in .safetensors. `tensors`: arrays by name, or PyTorch tensors, as `tensor_shapes(preset)` says; a bias may
    also be [1, n]. `preset`: the experiment they belong to. Raises WeightsError, with the name, where one does not fit the
    other.
    """
    write_bytes(path, to_bytes(tensors, as_dictionary(preset), command))


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a weights file under a name that one can have."""
    path = file_name("path", path)
    check_ending(path, ".safetensors")
    write_atomically(path, data)


def to_bytes(tensors: Mapping[str, npt.ArrayLike], preset: Preset, command: str) -> bytes:
    """What `write_weights` writes; the preset is a dictionary."""
    expected = tensor_shapes(preset)
    if not isinstance(tensors, Mapping):
        raise WeightsError(f"are a {type(tensors).__name__}", place="the tensors", expected="a dictionary of arrays by name")
    for name in tensors:
        if name not in expected:
            raise WeightsError(f"does not belong to this machine{meant(name, expected)}", place=f"`{name}`")
    metadata = {"format": "tapescope-weights", "version": "1.0", "generator": f"tapescope {__version__}",
                "experiment": to_json("the preset", preset), "command": command}
    header: Dict[str, Any] = {"__metadata__": metadata}
    data = b""
    for name in sorted(expected):
        if name not in tensors:
            raise WeightsError("is missing", place=f"`{name}`", expected=f"the shape {list(expected[name])}")
        tensor = _fitting(name, tensors[name], expected[name])
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + tensor.nbytes]}
        data += tensor.tobytes()
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + data


def _fitting(name: str, given: Any, expected: Tuple[int, ...]) -> npt.NDArray[np.float32]:
    try:
        given = given.detach().cpu() if hasattr(given, "detach") else given
        tensor = np.ascontiguousarray(given, "<f4")
    except (TypeError, ValueError) as error:
        raise WeightsError(f"is no array of numbers: {error}", place=f"`{name}`") from error
    if name.endswith(".bias") and tensor.shape == (1, *expected):
        tensor = tensor.reshape(expected)
    if tensor.shape != expected:
        turned = "; it looks transposed: give its .T" if tensor.shape == expected[::-1] and len(expected) == 2 else ""
        raise WeightsError(f"has the shape {list(tensor.shape)}", place=f"`{name}`",
                           expected=f"{list(expected)}{turned}")
    if not np.isfinite(tensor).all():
        raise WeightsError("has values that are not finite", place=f"`{name}`")
    return tensor


def read_weights(path: Path) -> Tuple[Tensors, Dict[str, Any]]:
    """Tensors by name, and the metadata with the preset as a dictionary under "experiment".

    Raises FormatError, with the file and the place in it, for anything that is not a whole file of F32 tensors.
    """
    path = file_name("path", path)
    data = read(path, "a weights file: safetensors")
    refuse_pickle(path, data)
    length = struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else -1
    if not 0 <= length <= min(HEADER_LIMIT, len(data) - 8):
        raise FormatError("is not a safetensors file: it does not begin with the length of its header", file=path)
    try:
        header = json.loads(data[8:8 + length])
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the header is not JSON: {error}", file=path) from error
    metadata = header.pop("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(metadata, dict):
        raise FormatError("the header is no object", file=path, expected="tensors by name, and `__metadata__`")
    tensors = {name: _tensor(path, data, 8 + length, name, entry) for name, entry in header.items()}
    for key in ("experiment", "history", "evaluation"):
        if key in metadata:
            try:
                metadata[key] = json.loads(metadata[key])
            except (TypeError, ValueError, RecursionError) as error:
                raise FormatError(f"is not JSON: {error}", file=path, place=f"`__metadata__.{key}`") from error
    return tensors, metadata


def _tensor(path: str, data: bytes, start: int, name: str, entry: Any) -> npt.NDArray[np.float32]:
    """The tensor that an entry of the header describes; `start`: where the bytes of all tensors begin."""
    try:
        shape, (first, last) = [int(size) for size in entry["shape"]], entry["data_offsets"]
        size = 4 * int(np.prod(shape, dtype=object))
        whole = entry["dtype"] == "F32" and min([*shape, first]) >= 0 and last - first == size
        if not whole or last > len(data) - start:
            raise ValueError
    except (KeyError, TypeError, ValueError) as error:
        found = json.dumps(entry)[:200]
        raise FormatError(f"is {found}", file=path, place=f"`{name}`",
                          expected="a whole F32 tensor: dtype, shape, data_offsets") from error
    return np.frombuffer(data, "<f4", size // 4, start + first).reshape(shape).copy()
