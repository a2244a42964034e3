"""Weights files: safetensors with the names and shapes of Tapescope; see docs/formats/weights.md. Needs NumPy only."""

from __future__ import annotations

import json
import struct
import warnings
from typing import Any, Dict, Mapping, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._version import __version__
from ._extension import is_built
from .arrays import float32
from .errors import FormatError, WeightsError, meant
from .files import Path, check_ending, file_name, read, refuse_pickle, to_json, write_atomically
from .preset import Preset, as_dictionary, tensor_shapes

HEADER_LIMIT = 64 << 20
Tensors = Dict[str, npt.NDArray[np.float32]]


def write_weights(path: Path, tensors: Mapping[str, npt.ArrayLike], preset: Union[Path, Preset], command: str = "") -> None:
    """Writes a weights file, atomically; `tapescope eval`, `trace` and `view` open it.

    path      name of the file, which ends in .safetensors
    tensors   arrays or PyTorch tensors by name, with the shapes of `tensor_shapes(preset)`; a bias may also be [1, n]
    preset    the preset that they belong to: a dictionary, or (with the extension) a name or a JSON file
    command   command line to store in the file

    Raises WeightsError, with the name, for a tensor that does not fit the preset. Raises FormatError for an invalid preset
    or another ending, and FileError if the file cannot be written. Without the extension, names and shapes are not compared
    with the preset, and a warning says so.
    """
    data = to_bytes(tensors, as_dictionary(preset), command)
    write_bytes(path, data)
    if not is_built():
        warnings.warn(f"{path!r}: is not compared with its preset, because the extension is missing; check it with: "
                      "tapescope eval", stacklevel=2)


def write_bytes(path: Path, data: bytes) -> None:
    """Writes the bytes of a weights file after checking its name."""
    path = file_name("path", path)
    check_ending(path, ".safetensors")
    write_atomically(path, data)


def to_bytes(tensors: Mapping[str, npt.ArrayLike], preset: Preset, command: str) -> bytes:
    """Returns the bytes that `write_weights` writes; the preset is a dictionary."""
    if not isinstance(tensors, Mapping):
        raise WeightsError(f"are a {type(tensors).__name__}", place="the tensors", expected="a dictionary of arrays by name")
    arrays = {str(name): _finite(str(name), tensors[name]) for name in sorted(tensors, key=str)}
    if is_built():
        _check_shapes(arrays, tensor_shapes(preset))
    metadata = {"format": "tapescope-weights", "version": "1.0", "generator": f"tapescope {__version__}",
                "experiment": to_json("the preset", preset), "command": command}
    header: Dict[str, Any] = {"__metadata__": metadata}
    data = b""
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.astype("<f4").tobytes()
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + data


def _check_shapes(arrays: Tensors, expected: Mapping[str, Tuple[int, ...]]) -> None:
    """Raises WeightsError for a tensor too many, too few, or of another shape."""
    for name, array in arrays.items():
        if name not in expected:
            raise WeightsError(f"does not belong to this machine{meant(name, expected)}", place=f"`{name}`")
        if array.shape != expected[name]:
            turned = "; it looks transposed: give its .T" if array.shape == expected[name][::-1] else ""
            raise WeightsError(f"has the shape {list(array.shape)}", place=f"`{name}`",
                               expected=f"{list(expected[name])}{turned}")
    for name in expected:
        if name not in arrays:
            raise WeightsError("is missing", place=f"`{name}`", expected=f"the shape {list(expected[name])}")


def _finite(name: str, given: Any) -> npt.NDArray[np.float32]:
    """Returns a tensor as an array of finite numbers. The `bias` of a linear map has one axis."""
    array = float32(given, f"`{name}`", WeightsError)
    if not np.isfinite(array).all():
        raise WeightsError("has values that are not finite", place=f"`{name}`")
    return array.reshape(-1) if name.endswith(".bias") and array.shape[:-1] == (1,) else array


def lstm_tensors(name: str, lstm: Any, layer: int = 0, reverse: bool = False) -> Tensors:
    """Returns the tensors `NAME.weight` and `NAME.bias` of a layer of PyTorch's LSTM or LSTMCell.

    name      such as "encoder.forward", "decoder" or "controller0"
    layer     layer of an LSTM
    reverse   True: the layer that reads backwards, of a bidirectional LSTM

    Here the input and the own state have one matrix, [inputs + units, 4 units], and one bias, the sum of both; gates have
    the same order. A GRU of PyTorch has no equivalent: its reset gate scales the product with the state, here the state.
    Raises WeightsError for other modules, and for an LSTM with projections.
    """
    cell = f"_l{layer}{'_reverse' if reverse else ''}" if hasattr(lstm, "num_layers") else ""
    try:
        ih, hh = (float32(getattr(lstm, f"weight_{part}{cell}")) for part in ("ih", "hh"))
        biases = [float32(getattr(lstm, f"bias_{part}{cell}")) for part in ("ih", "hh") if lstm.bias]
    except AttributeError as error:
        raise WeightsError(str(error), place=f"`{name}`", expected="an LSTM or LSTMCell of PyTorch with this layer") from error
    if hh.shape[0] != 4 * hh.shape[1]:
        raise WeightsError(f"is a {type(lstm).__name__} with the shape {list(hh.shape)} of weight_hh", place=f"`{name}`",
                           expected="[4 units, units]: an LSTM or LSTMCell without projections")
    bias = sum(biases, np.zeros(len(hh), np.float32))
    return {f"{name}.weight": np.concatenate([ih, hh], 1).T, f"{name}.bias": bias}


def read_weights(path: Path) -> Tuple[Tensors, Dict[str, Any]]:
    """Reads a weights file and returns its tensors by name (float32) and its metadata.

    In the metadata, "experiment" (the preset), "history" and "evaluation" are decoded from JSON. Raises FormatError for an
    invalid file, with the file and the place in it, and FileError for an unreadable one.

        tensors, metadata = read_weights("mine.safetensors")
        metadata["experiment"]["task"]["kind"]
    """
    path = file_name("path", path)
    data = read(path, "a weights file: safetensors", _header_length)
    length = _header_length(path, data)
    if length > len(data) - 8:
        raise FormatError("is not a whole safetensors file: its header is longer than the file", file=path)
    try:
        header = json.loads(data[8:8 + length])
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the header is not JSON: {error}", file=path) from error
    metadata = header.pop("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(metadata, dict):
        raise FormatError("the header is not an object", file=path, expected="tensors by name, and `__metadata__`")
    tensors = {name: _tensor(path, data, 8 + length, name, entry) for name, entry in header.items()}
    for key in ("experiment", "history", "evaluation"):
        if key in metadata:
            try:
                metadata[key] = json.loads(metadata[key])
            except (TypeError, ValueError, RecursionError) as error:
                raise FormatError(f"is not JSON: {error}", file=path, place=f"`__metadata__.{key}`") from error
    return tensors, metadata


def _header_length(path: str, start: bytes) -> int:
    """Returns the length of the header of a safetensors file. Raises FormatError for other files."""
    refuse_pickle(path, start)
    length: int = struct.unpack("<Q", start[:8])[0] if len(start) >= 8 else -1
    if not 2 <= length <= HEADER_LIMIT:
        raise FormatError("is not a safetensors file: it does not begin with the length of its header", file=path)
    return length


def _tensor(path: str, data: bytes, start: int, name: str, entry: Any) -> npt.NDArray[np.float32]:
    """Returns the tensor of an entry of the header; `start`: offset of the tensor data in the file."""
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
