"""Weights files: safetensors with our names and shapes; see docs/formats.md. Pure NumPy."""

import json
import os
import struct

import numpy as np

from .trace import FormatError, write_atomically

HEADER_LIMIT = 64 << 20

# Inputs and outputs of a task: vectors and the channels behind them.
CHANNELS = {
    "copy": lambda task: (task["bits"] + 1, task["bits"]),
    "repeat_copy": lambda task: (task["bits"] + 2, task["bits"] + 1),
    "associative_recall": lambda task: (task.get("bits", 6) + 2, task.get("bits", 6)),
    "ngrams": lambda task: (1, 1),
    "priority_sort": lambda task: (task.get("bits", 8) + 2, task.get("bits", 8)),
}


def tensor_shapes(preset):
    """Name and shape of every tensor that the machine of this preset has."""
    model = preset.get("model", {})
    memory, controller, heads = (model.get(key, {}) for key in ("memory", "controller", "heads"))
    n, m = memory.get("rows", 128), memory.get("columns", 20)
    lstm = controller.get("kind", "lstm") == "lstm"
    c, layers = controller.get("size", 100), controller.get("layers", 1)
    reads, writes = heads.get("read", 1), heads.get("write", 1)
    if reads + writes == 0:  # the controller alone: what else the preset says of memory and heads counts for nothing
        memory, heads = {}, {}
    shift = heads.get("shift", {})
    s = 1 if shift.get("form", "softmax") == "scalar" else 2 * shift.get("range", 1) + 1
    x, y = CHANNELS[preset["task"]["kind"]](preset["task"])
    shapes = {}

    def linear(name, inputs, outputs):
        shapes[name + ".weight"], shapes[name + ".bias"] = (inputs, outputs), (outputs,)

    for layer in range(layers):
        below = c if layer else x + reads * m
        linear(f"controller{layer}", below + c * lstm, 4 * c if lstm else c)
    for head in range(reads):
        linear(f"read{head}", c, m + 3 + s)
    for head in range(writes):
        linear(f"write{head}", c, 3 * m + 3 + s)
    linear("output", c + reads * m, y)
    if reads:
        shapes["initial.read"] = (reads, m)
    if lstm:
        shapes["initial.hidden"] = shapes["initial.cell"] = (layers, c)
    if memory.get("initial") == "learned":
        shapes["initial.memory"] = (n, m)
    if heads.get("initial_weighting") == "learned":
        shapes["initial.weighting"] = (reads + writes, n)
    return shapes


def write_weights(path, tensors, preset, command=""):
    """Writes a file that `tapescope eval`, `trace` and `view` open.

    `tensors`: arrays by name, as `tensor_shapes(preset)` says. `preset`: the experiment they belong to.
    """
    expected = tensor_shapes(preset)
    for name in sorted(set(expected) ^ set(tensors)):
        what = "is missing" if name in expected else "does not belong to this machine"
        raise ValueError(f"`{name}` {what}")
    metadata = {"format": "tapescope-weights", "version": "1.0", "generator": "tapescope-io 0.1.0",
                "experiment": json.dumps(preset), "command": command}
    header, data = {"__metadata__": metadata}, b""
    for name in sorted(expected):
        tensor = np.ascontiguousarray(tensors[name], "<f4")
        if tensor.shape != expected[name]:
            raise ValueError(f"`{name}` has the shape {tensor.shape}; expected {expected[name]}")
        if not np.isfinite(tensor).all():
            raise ValueError(f"`{name}`: every value must be finite")
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + tensor.nbytes]}
        data += tensor.tobytes()
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    write_atomically(os.fspath(path), struct.pack("<Q", len(head)) + head + data)


def read_weights(path):
    """Tensors by name, and the metadata with the preset as a dictionary under "experiment"."""
    path = os.fspath(path)
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else -1
    if not 0 <= length <= min(HEADER_LIMIT, len(data) - 8):
        raise FormatError(f"{path}: is not a safetensors file: it does not begin with the length of its header")
    try:
        header = json.loads(data[8:8 + length])
    except ValueError as error:
        raise FormatError(f"{path}: the header is not JSON: {error}") from error
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        size = 4 * int(np.prod(entry["shape"], dtype=object))
        if entry["dtype"] != "F32" or end - start != size or not 0 <= start <= end <= len(data) - 8 - length:
            raise FormatError(f"{path}: `{name}`: {entry} is not a whole F32 tensor")
        values = np.frombuffer(data, "<f4", size // 4, 8 + length + start)
        tensors[name] = values.reshape(entry["shape"]).copy()
    for key in ("experiment", "history", "evaluation"):
        if key in metadata:
            metadata[key] = json.loads(metadata[key])
    return tensors, metadata
