"""Records a foreign machine: one call per step of its forward loop."""

import re

import numpy as np

from .trace import FORMAT, VERSION, Trace

SCALARS = ("strength", "gate", "sharpening")
OF_ROWS = ("similarity", "content", "gated", "shifted", "weighting")
OF_COLUMNS = ("key", "read", "erase", "add")
PARTS = ("key", "strength", "gate", "shift", "sharpening", *OF_ROWS, "read", "erase", "add")
HEAD = re.compile(r"(read|write)[0-9]+")
READ_FIRST = "address and read M[t-1]; erase all; add all"
WRITE_FIRST = "write heads address M[t-1]; erase all; add all; read heads address and read M[t]"


class Recorder:
    """Five lines around a forward loop make a trace that Tapescope opens:

        recorder = Recorder("copy", memory=M, read0=w_read, write0=w_write)    # before the first step
        for x in inputs:
            ...                                                                 # your machine
            recorder.step(input=x, output=y, hidden=h, cell=c, memory=M,
                          read0=dict(key=k, strength=b, gate=g, shift=s, sharpening=p, weighting=w, read=r),
                          write0=dict(key=..., erase=e, add=a))
        recorder.save("mine.ntmtrace.json")

    NumPy arrays, PyTorch tensors and plain numbers are taken alike; a batch must have one episode. What is not
    given is absent from the file, and shown as absent. `weighting` is needed of every head.

    `memory` is the memory before the first step and, of `step`, after it. `shift` has an odd number of
    columns, the middle one of which moves nothing: the first must move the focus back. `epsilon` stands in
    k·m / (sqrt(|k|² + epsilon) · sqrt(|m|² + epsilon)). With `write_first` the read heads address and see the
    memory after the write heads of their step, else the memory before it.
    """

    def __init__(self, task, memory=None, params=None, epsilon=0.0, write_first=False, **initial):
        self.task = {"name": task, "params": params or {}, "seed": None, "episode": None}
        self.epsilon, self.order = epsilon, WRITE_FIRST if write_first else READ_FIRST
        self.initial = {head: vector(w) for head, w in initial.items()}
        self.initial_memory = None if memory is None else matrix(memory)
        self.rows = {}
        self.sizes = {}
        self.memories = []
        self.steps = 0

    def step(self, input, output=None, hidden=None, cell=None, memory=None, target=None, mask=None, **heads):
        """One time step. A head is a dictionary of what is known of it; see the class.

        A step that is refused (ValueError, with the step, the head and the part) leaves nothing behind.
        """
        given = {"input": vector(input)}
        for name, value in (("target", target), ("output", output), ("controller.hidden", hidden),
                            ("controller.cell", cell), ("mask", mask)):
            if value is not None:
                given[name] = vector(value)
        for head, parts in heads.items():
            given.update(self._head(head, parts))
        if memory is not None:
            memory = matrix(memory)
        self._check(given, memory)
        for name, value in given.items():
            self.rows.setdefault(name, []).append(value)
        if memory is not None:
            self.memories.append(memory)
        self.steps += 1

    def _head(self, head, parts):
        where = f"step {self.steps}, {head}"
        if not HEAD.fullmatch(head):
            raise ValueError(f"{where}: heads are called read0, read1, … and write0, write1, …")
        if "weighting" not in parts:
            raise ValueError(f"{where}: `weighting` is missing")
        for part in parts:
            if part not in PARTS:
                raise ValueError(f"{where}: there is no `{part}`; known: {', '.join(PARTS)}")
        return {f"{head}.{part}": vector(value) for part, value in parts.items()}

    def _check(self, given, memory):
        """Every array in every step, and all of one size."""
        missing = [name for name in self.rows if name not in given]
        if missing:
            raise ValueError(f"step {self.steps}: `{missing[0]}` is missing; it was given before")
        sizes = dict(self.sizes)
        shape = memory.shape if memory is not None else None
        if self.initial_memory is not None:
            sizes.setdefault("n", (self.initial_memory.shape[0], "memory"))
            sizes.setdefault("m", (self.initial_memory.shape[1], "memory"))
            if shape not in (None, self.initial_memory.shape):
                expected = list(self.initial_memory.shape)
                raise ValueError(f"step {self.steps}: `memory` has the shape {list(shape)}; expected {expected}")
        for head, weighting in self.initial.items():
            sizes.setdefault("n", (weighting.size, f"{head}, before the first step"))
        for name, value in given.items():
            if self.steps > 0 and name not in self.rows:
                raise ValueError(f"step {self.steps}: `{name}` was not given in every step before")
            axis = axis_of(name)
            size, first = sizes.setdefault(axis, (value.size, name))
            if value.size != size:
                raise ValueError(
                    f"step {self.steps}: `{name}` has {value.size} values; expected {size}, as in `{first}`")
        self.sizes = sizes

    def trace(self, phases=None):
        """The episode so far. `phases`: name, first step, one past the last; without any, one for all."""
        if self.steps == 0:
            raise ValueError("no step was recorded")
        arrays, dims = {}, {}
        for name, rows in self.rows.items():
            values = np.stack(rows)
            part = name.split(".")[-1]
            if part in SCALARS or name == "mask":
                arrays[name], dims[name] = values.reshape(self.steps), ("t",)
            else:
                arrays[name] = values
                dims[name] = ("t", axis_of(name))
        heads = sorted({name.split(".")[0] for name in arrays if name.endswith(".weighting")}, key=head_order)
        for head in heads:
            if head in self.initial:
                arrays[f"{head}.initial"], dims[f"{head}.initial"] = self.initial[head], ("n",)
        if self.initial_memory is not None:
            arrays["memory.initial"], dims["memory.initial"] = self.initial_memory, ("n", "m")
            if len(self.memories) == self.steps:
                arrays["memory"] = np.stack([self.initial_memory, *self.memories])
                dims["memory"] = ("t+1", "n", "m")
        return Trace(self._meta(arrays, heads, phases), arrays, dims)

    def save(self, path, phases=None):
        """Writes the trace; see `Trace.save`."""
        self.trace(phases).save(path)

    def _meta(self, arrays, heads, phases):
        if not heads:
            raise ValueError("no head was recorded; expected read0=dict(weighting=…), write0=dict(weighting=…)")
        n = arrays[f"{heads[0]}.weighting"].shape[1]
        columns = [arrays[name].shape[-1] for name in arrays if name.split(".")[-1] in OF_COLUMNS]
        if self.initial_memory is not None:
            columns.append(self.initial_memory.shape[1])
        m = columns[0] if columns else 1
        offsets = next((arrays[f"{head}.shift"].shape[1] for head in heads if f"{head}.shift" in arrays), 1)
        size = arrays["controller.hidden"].shape[1] if "controller.hidden" in arrays else 1
        kind = "lstm" if "controller.cell" in arrays or "controller.hidden" not in arrays else "feedforward"
        width = lambda name: arrays[name].shape[1] if name in arrays else 1
        return {
            "format": FORMAT,
            "version": VERSION,
            "generator": {"name": "tapescope-io", "version": "0.1.0"},
            "task": self.task,
            "model": {
                "sha256": None,
                "config": {
                    "memory": {"rows": n, "columns": m},
                    "controller": {"kind": kind, "size": size, "layers": 1},
                    "heads": heads,
                    "shifts": [index - offsets // 2 for index in range(offsets)],
                    "order": self.order,
                    "similarity": "cosine",
                    "epsilon": self.epsilon,
                },
            },
            "numeric": {"dtype": "float32", "decimal": "shortest-roundtrip", "nonfinite": "string",
                        "layout": "row-major"},
            "axes": {
                "t": {"size": self.steps, "phases": [list(phase) for phase in phases or [("episode", 0, self.steps)]]},
                "n": {"size": n}, "m": {"size": m}, "x": {"size": width("input")},
                "y": {"size": width("output")}, "c": {"size": size}, "s": {"size": offsets},
            },
        }


AXES = {"input": "x", "target": "y", "output": "y", "hidden": "c", "cell": "c", "shift": "s"}


def axis_of(name):
    """What the values of an array stand for: rows n, columns m, inputs x, outputs y, units c, offsets s, or one."""
    part = name.split(".")[-1]
    if part in SCALARS or part == "mask":
        return "one"
    return AXES.get(part) or ("n" if part in OF_ROWS else "m")


def head_order(name):
    return (not name.startswith("read"), len(name), name)


def numpy(value):
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.asarray(value, np.float32)


def vector(value):
    return numpy(value).reshape(-1).copy()


def matrix(value):
    value = numpy(value)
    return value.reshape(value.shape[-2:]).copy()
