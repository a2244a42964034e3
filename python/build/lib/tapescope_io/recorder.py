"""Records a foreign machine: one call per step of its forward loop."""

import numpy as np

from .trace import FORMAT, VERSION, Trace

SCALARS = ("strength", "gate", "sharpening")
OF_ROWS = ("similarity", "content", "gated", "shifted", "weighting")
OF_COLUMNS = ("key", "read", "erase", "add")
PARTS = ("key", "strength", "gate", "shift", "sharpening", *OF_ROWS, "read", "erase", "add")
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
        self.memories = []
        self.steps = 0

    def step(self, input, output=None, hidden=None, cell=None, memory=None, target=None, mask=None, **heads):
        """One time step. A head is a dictionary of what is known of it; see the class."""
        t = self.steps
        self._add("input", input)
        for name, value in (("target", target), ("output", output), ("controller.hidden", hidden),
                            ("controller.cell", cell), ("mask", mask)):
            if value is not None:
                self._add(name, value)
        if memory is not None:
            self.memories.append(matrix(memory))
        for head, parts in heads.items():
            if "weighting" not in parts:
                raise ValueError(f"step {t}, {head}: `weighting` is missing")
            for part, value in parts.items():
                if part not in PARTS:
                    raise ValueError(f"step {t}, {head}: there is no `{part}`; known: {', '.join(PARTS)}")
                self._add(f"{head}.{part}", value)
        self.steps += 1

    def _add(self, name, value):
        rows = self.rows.setdefault(name, [])
        if len(rows) != self.steps:
            raise ValueError(f"step {self.steps}: `{name}` was not given in every step before")
        rows.append(vector(value))

    def trace(self, phases=None):
        """The episode so far. `phases`: name, first step, one past the last; without any, one for all."""
        if self.steps == 0:
            raise ValueError("no step was recorded")
        arrays, dims = {}, {}
        for name, rows in self.rows.items():
            if len(rows) != self.steps:
                raise ValueError(f"`{name}` was given in {len(rows)} of {self.steps} steps")
            values = np.stack(rows)
            part = name.split(".")[-1]
            if part in SCALARS or name == "mask":
                arrays[name], dims[name] = values.reshape(self.steps), ("t",)
            else:
                arrays[name] = values
                dims[name] = ("t", AXES.get(part) or ("n" if part in OF_ROWS else "m"))
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
