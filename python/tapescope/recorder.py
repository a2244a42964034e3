"""Recorder for machines of other programs: one call per step of their forward loop."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._extension import is_built, native
from ._version import __version__
from .arrays import ARRAYS, ArraySpec, float32
from .arrays import PARTS as OF_HEADS
from .heads import head_order, of_head
from .errors import FormatError, RecordError, meant
from .files import Path, to_json
from .preset import TASKS, channels
from .trace import FORMAT, VERSION, Trace

ORDERS = ("read-first", "write-first", "in-turn")
SHIFT_FORMS = ("softmax", "scalar", "none")
SAMPLINGS = ("mean", "drawn", "expected")
# Variants of the cosine: k.m / (sqrt(|k|^2 + epsilon) * sqrt(|m|^2 + epsilon)), k.m / (|k| * |m| + epsilon),
# k.m / max(|k| * |m|, epsilon), k.m / (max(|k|, epsilon) * max(|m|, epsilon)).
SIMILARITIES = ("cosine", "cosine-plus-epsilon", "cosine-clamped-product", "cosine-clamped-norms")
# Included machine files whose memory rows are the steps of a source.
SOURCES = ("bahdanau", "luong")
# Arrays of a Differentiable Neural Computer, by the key of `model.heads` without which it does not have them.
MECHANISMS = {"links": ("read_modes", "backward", "forward", "precedence"),
              "allocation": ("usage", "allocation", "allocation_gate"), "free_gates": ("free_gate",)}
# The form of the answer: every channel 0 or 1 by itself, one channel 1, or real values.
ANSWERS = ("bits", "symbols", "values")
HEAD = re.compile(r"(read|write)(0|[1-9][0-9]*)")
# Tolerance for values out of range and for sums that should be 1, in half precision too.
SLACK, SUM_SLACK = 1e-4, 2e-3
Vector = npt.NDArray[np.float32]


# Arrays that depend on the initial weighting, which sums to less than 1 in some machines.
SHARES_OF_THE_FIRST = ("initial", "gated", "shifted", "distribution", "weighting")
HINTS = {"output": "a probability; the value before the sigmoid is `logit`"}
# Of machine files: the states of an encoder, and what a decoder has beside its own.
OF_FILES = (*(ArraySpec(f"encoder.{way}.hidden", ("t", "u"), (), -1, 1) for way in ("forward", "backward")),
            ArraySpec("feedback", ("t", "y"), (), 0, 1), ArraySpec("attentional", ("t", "d"), (), -1, 1))
# By the names of the arguments of `step`.
STEP = {array.name.replace("controller.", ""): array
        for array in (*ARRAYS, *OF_FILES) if array.dims[0] == "t" and not array.heads}
PARTS = {name: array for name, array in OF_HEADS.items() if array.dims[0] == "t"}
# Arrays of heads that are the same in every step: learned tensors, and values before the first step.
CONSTANT = {name: array for name, array in OF_HEADS.items() if name not in PARTS}
INITIAL, INITIAL_USAGE = CONSTANT.pop("initial"), CONSTANT.pop("initial_usage")
MEMORY = next(array for array in ARRAYS if array.name == "memory.initial")
# Of machines with a source: k is the size of a key. They have no stages after `content`.
KEY = PARTS["key"]._replace(dims=("t", "k"))
OF_DNC = ("write_gate", *(part for parts in MECHANISMS.values() for part in parts))
# Those of them that sum to at most 1.
AT_MOST_ONE = ("allocation", "backward", "forward", "precedence")
NOT_OF_SOURCES = ("strength", "gate", "shift", "sharpening", "gated", "shifted")
# Of the arrays of other machines those of a Differentiable Neural Computer.
ALSO_OF_DNC = ("key", "strength", "similarity", "content", "weighting", "read", "erase", "add")
# Options that a kind does not have.
NO_OPTIONS = {"ntm": ("encoder", "heads"),
              "dnc": ("encoder", "order", "shifts", "shift_form", "attention", "learned", "sampling", "partial_weightings",
               "sharpening_epsilon"),
              **dict.fromkeys(SOURCES, ("memory", "order", "layers", "learned", "shifts", "shift_form", "epsilon",
                                        "sharpening_epsilon", "heads"))}
INPUTS, ROWS = ArraySpec("inputs", ("n", "x")), ArraySpec("rows", ("n", "m"))
AXES = {"memory": "[rows, columns]", "inputs": "[source steps, inputs]", "rows": "[source steps, columns]"}


class Recorder:
    """Records an episode of any machine as a trace, with five lines around its forward loop:

        recorder = Recorder("copy", memory=M, read0=w_read, write0=w_write)    # before the first step
        for x in inputs:
            ...                                                                 # your machine
            recorder.step(input=x, output=y, hidden=h, cell=c, memory=M,
                          read0=dict(key=k, strength=b, gate=g, shift=s, sharpening=p, weighting=w, read=r),
                          write0=dict(key=..., erase=e, add=a))
        recorder.save("mine.ntmtrace.json")

    Values are NumPy arrays, PyTorch tensors or plain numbers; leading axes of size 1 are dropped. A trace is one
    episode: a batch of several is refused, with the index to use. Only `input` and the `weighting` of every head are
    required. Values that are not given are absent from the file and shown as absent.

    A machine with an encoder, a decoder and attention has one line more; every state of the encoder is a memory row:

        recorder = Recorder("dates", kind="bahdanau", answer="symbols")
        recorder.source(inputs, states, hidden=h, cell=c)                       # [S, X], [S, M]; h, c: the decoder's first
        for y in target:
            ...                                                                 # your decoder
            recorder.step(logit=z, target=y, hidden=h, cell=c, read0=dict(key=k, weighting=alignment, read=context))
        recorder.save("mine.ntmtrace.json")

    A Differentiable Neural Computer (Graves 2016) has kind="dnc", a write head, and these arrays of its own, all optional:

        recorder = Recorder("copy", kind="dnc", memory=M)
        ...
            recorder.step(..., read0=dict(..., free_gate=f, read_modes=pi, backward=b, forward=fw),
                          write0=dict(..., usage=u, allocation=a, allocation_gate=ga, write_gate=gw, precedence=p))

    task        name of the task. For a task of Tapescope the channels have names if `params` and the size of the
                episode are given
    memory      [rows, columns] before the first step
    read0=, …   [rows]: weighting of each head before the first step; all zeros if the machine starts without one, None
                if it is unknown. These arguments declare the heads; without them the first step does, and those of "dnc"
                are zeros
    kind        "ntm"; "dnc"; or an included machine file with a source: "bahdanau", whose key is the state of the decoder
                after the step before; "luong", the state of the same step. Their head is read0, and `attention` has the
                switches of the attention of the file, such as {"score": "dot", "weighting": "local_predictive"}. Rows may be
                places of a picture, with encoder={"direction": "forward"}
    usage       [rows] before the first step of "dnc"; zeros if absent
    heads       mechanisms that a "dnc" does not have, as `model.heads` of a preset: {"links": "off"}, also "allocation" and
                "free_gates"
    encoder     the switches of the encoder of the file: its `cell`, "lstm" or "gru", and `direction`, "both" or "forward"
    answer      "bits", "symbols" if one channel of every target is 1 and the output is a softmax, or "values" if targets are
                real numbers and the output is linear
    params      parameters of a task of Tapescope, as in a preset: {"bits": 8}
    length, items, repeats
                size of this episode, as a task of Tapescope counts it; without any, its steps are counted
    order       "read-first": all heads address and read the memory before the step; "write-first": read heads
                address and read the memory after the writes of the step; "in-turn": each head acts on the memory that
                the previous head left, in the order in which the heads are declared
    layers      number of controller layers, if there are several: hidden and cell are then [layers, units]
    shifts      offset in rows of each column of `shift`, such as [1, 0, -1]; None: -k to k
    attention   heads that differ from the paper, as `heads.attention` of a preset: {"score": "additive"},
                {"weighting": ["hard", "soft"]}
    shift_form  "softmax", "scalar", or "none" if weightings are not shifted
    learned     learned tensors of the heads, by head and name: {"read0": {"bilinear": W}}; see docs/formats/weights.md
    sampling    how noise was used: "mean", not at all; "drawn", sampled; "expected", hard heads attended to all rows
    similarity, epsilon
                how the cosine avoids division by 0: one of SIMILARITIES; or another name, and recorded similarities are
                then not checked
    sharpening_epsilon
                number that is added to the sum of the powers in the sharpening; weightings then sum to less than 1, by as
                much as it explains
    partial_weightings
                True: weightings may sum to less than 1

    Raises RecordError for invalid values, with the place and the allowed values.
    """

    def __init__(self, task: str, *, memory: Any = None, kind: str = "ntm", encoder: Optional[Mapping[str, Any]] = None,
                 answer: Optional[str] = None, params: Optional[Mapping[str, Any]] = None,
                 length: Optional[int] = None, items: Optional[int] = None, repeats: Optional[int] = None,
                 order: str = "read-first", layers: Optional[int] = None, shifts: Optional[Sequence[int]] = None,
                 similarity: str = SIMILARITIES[0], epsilon: float = 0.0, sharpening_epsilon: float = 0.0,
                 partial_weightings: bool = False, attention: Optional[Mapping[str, Any]] = None,
                 shift_form: str = "softmax", learned: Optional[Mapping[str, Mapping[str, Any]]] = None,
                 sampling: str = "mean", heads: Optional[Mapping[str, Any]] = None, usage: Any = None, **initial: Any) -> None:
        options = [name for name in Recorder.__init__.__annotations__ if name not in ("return", "initial")]
        for name, word in (("task", task), ("similarity", similarity)):
            if not isinstance(word, str):
                raise RecordError(f"is {word!r}", place=f"`{name}`", expected="a name")
        self._answer, self._kind = answer or TASKS.get(task, {"answer": "bits"})["answer"], kind
        for name, word, known in (("kind", kind, ("ntm", "dnc", *SOURCES)), ("answer", self._answer, ANSWERS),
                                  ("order", order, ORDERS), ("similarity", similarity, SIMILARITIES),
                                  ("shift_form", shift_form, SHIFT_FORMS), ("sampling", sampling, SAMPLINGS)):
            if word not in known and (name != "similarity" or word.startswith("cosine")):
                raise RecordError(f"is {word!r}{meant(word, known)}", place=f"`{name}`")
        self._channels = _task_channels(task, params)
        self._task: Dict[str, Any] = {"name": task, "params": dict(params or {}), "seed": None, "episode": None}
        sizes = {"length": length, "items": items, "repeats": repeats}
        said = {name: size for name, size in sizes.items() if size is not None}
        self._task.update(said)
        if task in TASKS and params:  # without its sizes only its name is shown
            self._task["params"] = {**{name: said[name] for name in said if name in TASKS[task]["sizes"]}, **params}
        if sampling != "mean":
            self._task["sampling"] = sampling
        if self._answer != "bits":
            self._task["answer"] = self._answer
        self._attention, self._shift_form = dict(attention or {}), shift_form
        self._encoder = {**_OWN_ENCODER.get(kind, {}), **(encoder or {})}
        self._has_source = kind in SOURCES
        given = {"encoder": encoder is not None, "memory": memory is not None, "order": order != ORDERS[0],
                 "layers": layers not in (None, 1), "shifts": shifts is not None, "shift_form": shift_form != "softmax",
                 "epsilon": epsilon != 0, "attention": bool(attention), "learned": bool(learned), "sampling": sampling != "mean",
                 "partial_weightings": partial_weightings, "sharpening_epsilon": sharpening_epsilon != 0, "heads": heads is not None}
        foreign = [name for name in NO_OPTIONS[kind] if given[name]]
        for name in [*foreign, *(initial if self._has_source else ())]:
            raise RecordError(f"is not an option of `{kind}`", place=f"`{name}`")
        self._mechanisms = {} if heads is None else heads
        self._order, self._layers, self._shifts = order, layers, shifts if shifts is None else list(shifts)
        self._similarity, self._epsilon = similarity, float(epsilon)
        self._sharpening_epsilon = float(sharpening_epsilon)
        self._partial = partial_weightings
        self._sizes: Dict[str, Tuple[int, str]] = {}
        # Axes that have the size of another one: the key is a state of the decoder, which in `luong` is as long as a row.
        self._same = {"ntm": {}, "dnc": {}, "luong": {"k": "m", "c": "m"}}.get(kind, {"k": "c"})
        if kind == "dnc":
            self._sizes["i"] = (3, "backward, content, forward")
        self._source: Optional[Dict[str, Vector]] = None
        if is_built():
            try:
                native().check_model(to_json("the options", self._model()))
            except FormatError as error:
                raise _of_option(error, {"ntm": "model.heads.", "dnc": "model."}.get(kind, "model.switches."), "") from error
        if shifts is not None:
            span = len(shifts) // 2
            if sorted(shifts) != list(range(-span, span + 1)):
                raise RecordError(f"are {list(shifts)}", place="`shifts`", expected="the numbers from -k to k, each once")
            self._sizes["s"] = (len(shifts), "shifts")
        before, self._is_declared = "before the first step", bool(initial)
        self._heads: Optional[List[str]] = None
        if initial:
            self._heads = self._named_heads(before, initial, options)
        elif self._has_source:
            self._heads = ["read0"]
        self._memory: Optional[Vector] = None
        if memory is not None:
            self._memory = self._value(before, "memory", MEMORY, memory, self._sizes)
        self._initial = {head: self._value(before, head, INITIAL, weighting, self._sizes)
                         for head, weighting in initial.items() if weighting is not None}
        for head, weighting in self._initial.items():
            if weighting.any():
                self._check_sum(before, head, weighting, "at most" if kind == "dnc" or sharpening_epsilon else "share")
        if usage is not None and (kind != "dnc" or "usage" not in self._own_of_dnc):
            raise RecordError("is given, but the machine does not allocate", place="`usage`")
        self._usage = None if usage is None else self._value(before, "usage", INITIAL_USAGE, usage, self._sizes)
        self._learned = {head: {part: self._constant(head, part, value) for part, value in parts.items()}
                         for head, parts in (learned or {}).items()}
        self._rows: Dict[str, List[Vector]] = {}
        self._memories: List[Vector] = []
        self._phases: List[List[Any]] = []

    @property
    def steps(self) -> int:
        """Number of recorded steps, those of the source included."""
        return self._recorded + (0 if self._source is None else len(self._source["inputs"]))

    @property
    def _recorded(self) -> int:
        """Number of calls of `step`."""
        return len(self._rows.get("input", ()))

    def source(self, inputs: Any, rows: Any, hidden: Any = None, cell: Any = None) -> None:
        """Records the source steps of a machine of a kind that has them, before the first `step`.

        inputs      [source steps, inputs]
        rows        [source steps, columns]: the states of the encoder; with both directions those forwards, then those
                    backwards. Row i is row i of the memory, from step i on
        hidden, cell
                    [units] that the decoder starts from; zeros if absent

        Raises RecordError for a wrong shape, with the expected one; nothing is recorded then.
        """
        where = "the source"
        if not self._has_source:
            raise RecordError(f"a machine of the kind `{self._kind}` has none", place=where,
                              expected=f"Recorder(…, kind=…) with one of {', '.join(SOURCES)}")
        if self._source is not None:
            raise RecordError("was recorded before", place=where, expected="one source, before the first step")
        sizes = dict(self._sizes)
        given = {"inputs": self._value(where, "inputs", INPUTS, inputs, sizes),
                 "rows": self._value(where, "rows", ROWS, rows, sizes)}
        for name, start in (("hidden", hidden), ("cell", cell)):
            if start is not None:
                given[name] = self._value(where, name, STEP[name], start, sizes)
        if not len(given["inputs"]):
            raise RecordError("has no steps", place=where, expected="one or more")
        columns = given["rows"].shape[1]
        if columns % self._directions:
            raise RecordError(f"has {columns} columns", place=f"{where}: `rows`", expected="an even number, h→ and h←; or "
                              'Recorder(…, encoder={"direction": "forward"})')
        self._check_channels(where, {"input": given["inputs"][0]})
        self._source, self._sizes = given, sizes

    def step(self, input: Any = None, output: Any = None, logit: Any = None, hidden: Any = None, cell: Any = None,
             memory: Any = None, target: Any = None, mask: Any = None, phase: Optional[str] = None,
             **heads: Any) -> None:
        """Records one time step.

        input       [inputs]; zeros after a source if absent
        output      [outputs], probabilities
        logit       [outputs], the output before the sigmoid or softmax; `output` is computed from it if absent
        hidden, cell
                    [units], or [layers, units]; a machine with `hidden` only has a feedforward controller
        memory      [rows, columns] after the step
        target      [outputs], 0 or 1
        mask        1 if the output of this step is scored, else 0; after a source 1 if there is a target
        loss        loss of the step in bits
        feedback    [outputs]: the answer of the step before, which is fed back; zeros in the first step after a source
        attentional of the kind "luong", the input of the output layer
        phase       name of the phase that this step belongs to
        read0=dict(…), write0=dict(…)
                    values of each head: key [columns], after a source [units], strength, gate, shift [shifts], sharpening;
                    similarity, content, gated, shifted, weighting [rows]; read [columns], or erase and add [columns].
                    "dnc": free_gate, read_modes [backward, content, forward], backward, forward [rows]; or usage,
                    allocation, precedence [rows], allocation_gate, write_gate. Local heads: centre. Hard heads: draw and
                    distribution [rows]. Bayesian heads: noise or normal [rows], prior [rows], and divergence

        Raises RecordError for an invalid step, with the step, the head and the part; nothing of it is recorded.
        """
        where = f"step {self.steps}"
        if self._has_source:
            if self._source is None:
                raise RecordError("there is no source", place=where, expected="source(inputs, rows) before the first step")
            input = np.zeros(self._sizes["x"][0]) if input is None else input
            mask = 1 if mask is None and target is not None else mask
            if memory is not None:
                raise RecordError("is that of the source", place=f"{where}: `memory`", expected="source(inputs, rows)")
        if input is None:
            raise RecordError("is missing", place=f"{where}: `input`", expected="[inputs]")
        values = {"input": input, "output": output, "logit": logit, "hidden": hidden, "cell": cell, "target": target,
                  "mask": mask, **{name: heads.pop(name) for name in list(heads) if name in STEP}}
        names = self._check_heads(where, heads)
        sizes = dict(self._sizes)
        given = {STEP[name].name: self._value(where, name, STEP[name], value, sizes)
                 for name, value in values.items() if value is not None}
        if "logit" in given and "output" not in given:
            given["output"] = self._activated(given["logit"])
        if "output" in given and self._answer == "symbols":
            self._check_sum(where, "output", given["output"], "one")
        for head in names:
            for part, value in heads[head].items():
                given[f"{head}.{part}"] = self._value(f"{where}, {head}", part, self._spec_of_part(part), value, sizes)
            self._check_shares(where, head, given, self._is_partial(names, head))
        after = None if memory is None else self._value(where, "memory", MEMORY, memory, sizes)
        self._check_all_there(where, [*given, *(["memory"] if after is not None else [])])
        self._check_channels(where, given)
        if (phase is None) != (not self._phases) and self._recorded:
            raise RecordError("is given in some steps only", place=f"{where}: `phase`", expected="all or none")
        self._heads, self._sizes = names, sizes
        for name, vector in given.items():
            self._rows.setdefault(name, []).append(vector)
        if after is not None:
            self._memories.append(after)
        if phase is not None:
            if not self._phases or self._phases[-1][0] != phase:
                self._phases.append([phase, self.steps - 1, self.steps])
            self._phases[-1][2] = self.steps

    def trace(self, phases: Optional[Sequence[Tuple[str, int, int]]] = None) -> Trace:
        """Returns the trace of the steps so far.

        `phases`: a list of (name, first step, one past the last); None: the phases given to `step`, or one phase for all.
        Raises RecordError without any step.
        """
        if self._recorded == 0:
            raise RecordError("no step was recorded")
        arrays: Dict[str, Vector] = {}
        dims: Dict[str, Tuple[str, ...]] = {}
        for name, rows in self._rows.items():
            arrays[name] = np.stack(rows)
            axes = self._spec_of(name).axes
            dims[name] = ("t", *axes[len(axes) + 1 - arrays[name].ndim:])
        for head, weighting in self._initial.items():
            arrays[f"{head}.initial"], dims[f"{head}.initial"] = weighting, ("n",)
        if self._kind == "dnc":
            self._put_start(arrays, dims)
        for head, parts in self._learned.items():
            if head not in (self._heads or ()):
                raise RecordError(f"is not a head of the recording{meant(head, self._heads or ())}", place=f"learned: `{head}`")
            for part, value in parts.items():
                arrays[f"{head}.{part}"], dims[f"{head}.{part}"] = value, self._spec_of_part(part).axes
        if self._memory is not None:
            arrays["memory.initial"], dims["memory.initial"] = self._memory, ("n", "m")
            if self._memories:
                arrays["memory"], dims["memory"] = np.stack([self._memory, *self._memories]), ("t+1", "n", "m")
        if self._source is not None:
            self._put_source(self._source, arrays, dims)
        return Trace(self._meta(self._checked_phases(phases)), arrays, dims)

    def save(self, path: Path, phases: Optional[Sequence[Tuple[str, int, int]]] = None) -> None:
        """Writes the trace; see `trace` and `Trace.save`. Raises FormatError for what the program refuses to read."""
        self.trace(phases).save(path)

    def _put_start(self, arrays: Dict[str, Vector], dims: Dict[str, Tuple[str, ...]]) -> None:
        """Puts the usage before the first step, and zeros for weightings if the first step declared the heads."""
        zeros = np.zeros(self._sizes["n"][0], np.float32)
        start = {} if self._is_declared else {f"{head}.initial": zeros for head in self._heads or ()}
        if "usage" in self._own_of_dnc:
            start["write0.initial_usage"] = zeros if self._usage is None else self._usage
        arrays.update(start)
        dims.update(dict.fromkeys(start, ("n",)))

    @property
    def _own_of_dnc(self) -> List[str]:
        """The arrays that only a Differentiable Neural Computer has, without those of mechanisms that are off."""
        off = [name for name, word in self._mechanisms.items() if word == "off"]
        off += ["free_gates"] if "allocation" in off else []
        return [part for part in OF_DNC if not any(part in MECHANISMS[name] for name in off)]

    def _put_source(self, source: Mapping[str, Vector], arrays: Dict[str, Vector], dims: Dict[str, Tuple[str, ...]]) -> None:
        """Puts the source before the recorded steps: its inputs, its rows as a memory, and the start of the decoder."""
        inputs, rows = source["inputs"], source["rows"]
        for name in ("hidden", "cell"):
            if name in source and f"controller.{name}" not in arrays:
                raise RecordError("is given for the source only", place=f"the source: `{name}`", expected="in every step too")
        before = {"input": inputs}
        if "output" in arrays:
            before["output"] = np.repeat(self._activated(np.zeros_like(arrays["output"][:1])), len(rows), 0)
        for name in self._rows:
            silent = np.zeros((len(rows), *arrays[name].shape[1:]), np.float32)
            start = source.get(name.replace("controller.", ""))
            if start is not None:
                arrays[f"{name}.initial"], dims[f"{name}.initial"] = start, ("units",)
            arrays[name] = np.concatenate([before.get(name, silent), arrays[name]])
        # A key that is as long as a row has the axis of its values.
        if "c" in self._sizes and self._sizes["c"][0] == rows.shape[1] or self._kind == "luong":
            for name in (name for name in dims if name.startswith("read0.")):
                dims[name] = tuple("m" if axis == "k" else axis for axis in dims[name])
        arrays["memory.initial"], dims["memory.initial"] = np.zeros_like(rows), ("n", "m")
        arrays["memory.last"], dims["memory.last"] = rows, ("n", "m")
        after = np.zeros((self._recorded, rows.shape[1]), np.float32)
        for name, part in self._made_of(source).items():
            if name.endswith(".hidden"):  # the encoder starts with zeros
                arrays[f"{name}.initial"], dims[f"{name}.initial"] = after[0, :part.shape[1]], ("encoder_units",)
            arrays[name], dims[name] = np.concatenate([part, after[:, :part.shape[1]]]), ("t", _ROWS[self._kind] if name == "encoder.annotations" else STEP[name].axes[0])

    def _made_of(self, source: Mapping[str, Vector]) -> Dict[str, Vector]:
        """Returns the arrays that the rows are made of."""
        rows = source["rows"]
        names = ("encoder.forward.hidden", "encoder.backward.hidden")
        parts = dict(zip(names, np.split(rows, self._directions, 1))) if (np.abs(rows) <= 1).all() else {}
        return {**parts, "encoder.annotations": rows}  # other rows are not the states of an LSTM or a GRU

    @property
    def _directions(self) -> int:
        return 2 if self._encoder.get("direction") == "both" else 1

    def _activated(self, logit: Vector) -> Vector:
        """Returns the outputs of logits, which are the last axis."""
        if self._answer == "values":
            return logit
        with np.errstate(over="ignore"):
            if self._answer == "bits":
                return np.asarray(1 / (1 + np.exp(-logit)), np.float32)
            exponentials = np.exp(logit - logit.max(-1, keepdims=True))
            return np.asarray(exponentials / exponentials.sum(-1, keepdims=True), np.float32)

    def _spec_of_part(self, part: str) -> ArraySpec:
        """Returns the description of an array of a head; after a source, a key has an axis of its own."""
        return KEY if part == "key" and self._has_source else OF_HEADS[part]

    def _spec_of(self, array: str) -> ArraySpec:
        """Returns the description of an array by its name in the file."""
        owner, _, part = array.rpartition(".")
        return self._spec_of_part(part) if HEAD.fullmatch(owner) else STEP[array if array in STEP else part]

    def _constant(self, head: str, part: str, given: Any) -> Vector:
        """Returns a learned tensor of a head, which is the same in every step."""
        where = f"learned, {head}"
        if part not in CONSTANT:
            raise RecordError(f"is not a learned tensor of a head{meant(part, CONSTANT)}", place=f"{where}: `{part}`")
        return self._value(where, part, self._spec_of_part(part), given, self._sizes)

    def _is_partial(self, names: Sequence[str], head: str) -> bool:
        """Returns whether the weighting of a head may sum to less than 1: with a Gaussian window, and of a "dnc"."""
        index = sorted(names, key=head_order).index(head)
        words = self._attention.get("weighting")
        if isinstance(words, (list, tuple)) and len(words) != len(names):
            raise RecordError(f"is a list of {len(words)}", place="`attention.weighting`",
                              expected=f"one word for all heads, or a list of {len(names)}, read heads first")
        return self._kind == "dnc" or of_head(words, index, "soft").replace("_", "-") == "local-predictive"

    def _value(self, where: str, name: str, spec: ArraySpec, given: Any, sizes: Dict[str, Tuple[int, str]]) -> Vector:
        """Returns a value as an array; checks its axes, its sizes against earlier ones, and its range."""
        place = f"{where}: `{name}`"
        axes = spec.axes if spec.axes[:1] != ("l",) or (self._layers or 1) > 1 else spec.axes[1:]
        vector = _one_episode(place, name, float32(given, place), len(axes), self._layers)
        if axes[:1] == ("l",):
            sizes.setdefault("l", (self._layers or 1, "layers"))
        for axis, size in zip((self._same.get(axis, axis) for axis in axes), vector.shape):
            expected, first = sizes.setdefault(axis, (size, name))
            if size != expected:
                raise RecordError(f"has the shape {list(vector.shape)}", place=place,
                                  expected=f"{expected} in place of {size}, as in `{first}`")
        is_real = self._answer == "values" and spec.dims == ("t", "y")
        low, high = (-np.inf, np.inf) if is_real else (spec.least, spec.most)
        score = self._attention.get("score", "additive" if self._has_source else "cosine")
        if name == "similarity" and self._similarity in SIMILARITIES and score == "cosine":
            low, high = -1.0, 1.0
        inside = (vector >= low - SLACK) & (vector <= high + SLACK)
        # NaN is outside of every range.
        if np.isfinite(low) and not inside.all():
            outside = vector[~inside].flat[0]
            allowed = f"{low:g} to {high:g}" if np.isfinite(high) else f"{low:g} or more"
            raise RecordError(f"has the value {outside:g}", place=place,
                              expected=", ".join(filter(None, (allowed, HINTS.get(name)))))
        if spec.shares and spec.name not in SHARES_OF_THE_FIRST:
            self._check_sum(where, name, vector, "one")
        return vector

    def _named_heads(self, where: str, heads: Mapping[str, Any], others: Sequence[str]) -> List[str]:
        names = _head_names(where, heads, others)
        if self._kind == "dnc" and names and ("read0" not in names or "write0" not in names or "write1" in names):
            raise RecordError(f"are {', '.join(names)}", place=f"{where}: the heads", expected="read0, … and one write head, write0")
        return names

    def _check_heads(self, where: str, heads: Mapping[str, Any]) -> List[str]:
        """Returns the names of the heads in order; every step must have the same heads, each with its parts."""
        if self._heads is None:
            names = self._named_heads(where, heads, [*STEP, "memory", "phase"])
            if not names:
                raise RecordError("there is no head", place=where,
                                  expected="read0=dict(weighting=…), write0=dict(weighting=…)")
        else:
            names = self._heads
            for head in heads:
                if head not in names:
                    known = [*names, *STEP, "memory", "phase"]
                    raise RecordError(f"was not declared before the first step, nor in it{meant(head, known)}",
                                      place=f"{where}: `{head}`")
        for head in names:
            parts, kind = heads.get(head), head.rstrip("0123456789")
            if not isinstance(parts, Mapping):
                found = "is missing" if parts is None else f"is a {type(parts).__name__}"
                raise RecordError(found, place=f"{where}: `{head}`", expected="dict(weighting=…)")
            own = [part for part, spec in PARTS.items() if kind in spec.heads and self._has_part(part)]
            for part in parts:
                if part not in own:
                    raise RecordError(f"a {kind} head has no `{part}`{meant(part, own)}", place=f"{where}, {head}")
            if "weighting" not in parts:
                raise RecordError("`weighting` is missing", place=f"{where}, {head}")
        return names

    def _has_part(self, part: str) -> bool:
        if self._kind == "dnc":
            return part in ALSO_OF_DNC or part in self._own_of_dnc
        return part not in OF_DNC and not (self._has_source and part in NOT_OF_SOURCES)

    def _check_shares(self, where: str, head: str, given: Mapping[str, Vector], is_partial: bool) -> None:
        """Checks that the weightings of a head sum to 1. With a Gaussian window, and in a Differentiable Neural Computer, they may
        sum to less. If the initial weighting is zero or unknown, they may sum to less until they are sharpened."""
        for part in ("content", *AT_MOST_ONE):
            if f"{head}.{part}" in given:
                at_most = part in AT_MOST_ONE or is_partial and self._kind != "dnc"
                self._check_sum(f"{where}, {head}", part, given[f"{head}.{part}"], "at most" if at_most else "one")
        initial = self._initial.get(head)
        starts = self._recorded == 0 and (initial is None or not initial.any())
        for part in SHARES_OF_THE_FIRST:
            if f"{head}.{part}" in given:
                at_most = is_partial or starts and part not in ("weighting", "distribution")
                self._check_sum(f"{where}, {head}", part, given[f"{head}.{part}"], "at most" if at_most else "share",
                                self._explained(head, part, given))

    def _explained(self, head: str, part: str, given: Mapping[str, Vector]) -> Tuple[float, float]:
        """Returns the lowest and the highest sum of a part of a head that `sharpening_epsilon` explains."""
        shifted, gamma = given.get(f"{head}.shifted"), given.get(f"{head}.sharpening")
        if not self._sharpening_epsilon or part == "weighting" and f"{head}.distribution" in given:
            return 1, 1
        if part in ("gated", "shifted"):  # a mixture with the weighting before
            before = self._rows.get(f"{head}.weighting", [self._initial.get(head)])[-1]
            return 1 if before is None else min(1, float(before.sum())), 1
        if shifted is None or gamma is None:
            return 0, 1
        powers = float((shifted.astype(np.float64) ** gamma).sum())
        share = powers / (powers + self._sharpening_epsilon)
        return share, share

    def _check_sum(self, where: str, name: str, vector: Vector, rule: str, between: Tuple[float, float] = (1, 1)) -> None:
        total = float(vector.sum(dtype=np.float64))
        at_most = rule == "at most" or rule == "share" and self._partial
        low, high = (-np.inf, 1) if at_most else between
        if not low - SUM_SLACK <= total <= high + SUM_SLACK:
            partial = " (partial_weightings=True allows less)" if rule == "share" and total < 1 else ""
            expected = "at most 1" if at_most else f"{low:g}" if low == high else f"{low:g} to {high:g}"
            raise RecordError(f"sums to {total:g}", place=f"{where}: `{name}`", expected=expected + partial)

    def _check_all_there(self, where: str, given: Sequence[str]) -> None:
        """Checks that every step has the same arrays."""
        before = [*self._rows, *(["memory"] if self._memories else [])]
        for name in before:
            if name not in given:
                raise RecordError("is missing; it was given before", place=f"{where}: `{name}`")
        for name in given:
            if self._recorded and name not in before:
                raise RecordError("was not given in every step before", place=f"{where}: `{name}`")
        if "memory" in given and self._memory is None:
            raise RecordError("the memory before the first step is not known", place=f"{where}: `memory`",
                              expected="Recorder(…, memory=…)")

    def _check_channels(self, where: str, given: Mapping[str, Vector]) -> None:
        """Checks the numbers of channels for a task of Tapescope."""
        for name, size in zip(("input", "output"), self._channels or ()):
            if name in given and given[name].size != size:
                raise RecordError(f"has {given[name].size} channels", place=f"{where}: `{name}`",
                                  expected=f"{size}, as `{self._task['name']}` with {self._task['params']} has")

    def _checked_phases(self, phases: Optional[Sequence[Tuple[str, int, int]]]) -> List[List[Any]]:
        listed: List[List[Any]] = [list(phase) for phase in phases or ()]
        if not listed and self._source is not None:
            first = len(self._source["inputs"])
            listed = [["input", 0, first], *(self._phases or [["answer", first, self.steps]])]
        listed = listed or self._phases or [["episode", 0, self.steps]]
        ends = [0, *(phase[2] for phase in listed)]
        if [phase[1] for phase in listed] != ends[:-1] or ends != sorted(ends) or ends[-1] != self.steps:
            raise RecordError(f"are {listed}", place="phases",
                              expected=f"[name, first step, one past the last], one after the other from 0 to {self.steps}")
        return listed

    def _meta(self, phases: List[List[Any]]) -> Dict[str, Any]:
        columns = self._sizes.get("s", (1, ""))[0]
        if columns % 2 == 0:
            raise RecordError(f"has {columns} columns", place="`shift`", expected="an odd number: -k to k rows")
        conventions: Dict[str, Any] = {}
        if self._order == "in-turn":
            conventions["order"] = list(self._heads or ())
        if self._similarity != "cosine":
            conventions["similarity"] = self._similarity
        if self._sharpening_epsilon:
            conventions["sharpening_epsilon"] = self._sharpening_epsilon
        if self._shifts:
            conventions["shifts"] = self._shifts
        axes: Dict[str, Any] = {"t": {"size": self.steps, "phases": phases}}
        axes.update({axis: {"size": size} for axis, (size, _) in self._sizes.items()})
        return meta_of(self._task, self._model(), axes, conventions)

    def _model(self) -> Dict[str, Any]:
        """Returns the `model` of the trace; the arrays show its other sizes."""
        heads: Dict[str, Any] = {"similarity_epsilon": self._epsilon}
        if self._kind == "dnc":
            return {"kind": "dnc", "heads": {**self._mechanisms, **heads}}
        if self._has_source:
            sizes: Dict[str, Any] = {}
            if self._source is not None:
                sizes["encoder"] = {"units": self._source["rows"].shape[1] // self._directions}
                axis, key = _SIZES[self._kind]
                sizes.update({key: self._sizes[axis][0]} if axis in self._sizes else {})
            switches = {"encoder": self._encoder, **({"attention": self._attention} if self._attention else {})}
            return {"kind": "equations", "file": f"{self._kind}.machine", "sizes": sizes, "switches": switches}
        if self._order != "in-turn":
            heads["order"] = self._order
        if self._shift_form != "softmax":
            heads["shift"] = {"form": self._shift_form}
        if self._attention:
            heads["attention"] = self._attention
        return {"heads": heads}


def meta_of(task: Mapping[str, Any], model: Mapping[str, Any], axes: Mapping[str, Any],
            conventions: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """Internal: returns everything of a trace but its arrays."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "generator": {"name": "tapescope", "version": __version__},
        "task": task,
        "model": model,
        **({"conventions": conventions} if conventions else {}),
        "numeric": {"dtype": "float32", "decimal": "shortest-roundtrip", "nonfinite": "string",
                    "layout": "row-major"},
        "axes": axes,
    }


# What each machine file has where nothing is said; the axis of its rows; an axis with the size that it shows.
_OWN_ENCODER = {"bahdanau": {"direction": "both"}, "luong": {"direction": "forward"}}
_ROWS = {"bahdanau": "encoder_annotation", "luong": "units"}
_SIZES = {"bahdanau": ("c", "units"), "luong": ("d", "combined")}


def _of_option(error: FormatError, section: str, option: str) -> RecordError:
    """Returns an error of the program about a section of a preset as the error of an option of the recorder."""
    return RecordError(error.problem, place=(error.place or "").replace(section, option, 1), expected=error.expected)


def _head_names(where: str, heads: Mapping[str, Any], others: Sequence[str]) -> List[str]:
    """Returns the names of the heads as given: read0, read1, … and write0, write1, … without a gap.

    `others`: other names that a misspelt one may stand for.
    """
    count = {"read": 0, "write": 0}
    for name in heads:
        match = HEAD.fullmatch(name)
        if not match:
            known = meant(name, ["read0", "write0", *others])
            raise RecordError(f"is not the name of a head; heads are called read0, read1, … and write0, write1, …{known}",
                              place=f"{where}: `{name}`")
        kind = match[1]
        if int(match[2]) != count[kind]:
            raise RecordError("is out of order", place=f"{where}: `{name}`", expected=f"`{kind}{count[kind]}` next")
        count[kind] += 1
    return list(heads)


def _task_channels(task: str, params: Optional[Mapping[str, Any]]) -> Optional[Tuple[int, int]]:
    """Returns the numbers of inputs and outputs of a task of Tapescope with its `params`, which are checked. None for another
    task, without `params`, and without the extension."""
    if task not in TASKS or not params or not is_built():
        return None
    try:
        return channels({**params, "kind": task})
    except FormatError as error:
        raise _of_option(error, "task.", "params.") from error


def _one_episode(place: str, name: str, array: Vector, axes: int, layers: Optional[int]) -> Vector:
    """Returns the array with this number of axes. Leading axes of size 1 are dropped; a plain number becomes a list of one."""
    of_layers = name in ("hidden", "cell")
    shape = list(array.shape)
    if array.ndim == 3 and name in ("inputs", "rows") and array.shape[1] == 1:  # PyTorch's [steps, batch, units]
        array = array[:, 0]
    while array.ndim > axes and array.shape[0] == 1:
        array = array[0]
    if array.ndim == 3 and axes == 2 and of_layers and array.shape[1] == 1:  # PyTorch's [layers, batch, units]
        array = array[:, 0]
    if array.ndim == 0 and axes == 1:
        array = array.reshape(1)
    if array.ndim == 1 and axes == 0 and array.size == 1:
        array = array.reshape(())
    if array.ndim == axes:
        return array
    if array.ndim < axes:
        wanted = AXES.get(name, f"[layers, units], with layers={layers}")
        raise RecordError(f"has the shape {shape}", place=place, expected=wanted)
    if of_layers and axes == 1 and layers is None and array.ndim == 2:
        count = array.shape[0]
        raise RecordError(f"has the shape {shape}", place=place,
                          expected=f"[units]; for a controller of {count} layers Recorder(…, layers={count}), "
                                   f"of a batch of {count} give `{name}[0]`, and index 0 of everything else")
    if of_layers and axes == 2:
        count, index = array.shape[1], f"{name}[:, 0]"
    else:
        count, index = array.shape[0], f"{name}[{'0, ' * (len(shape) - array.ndim)}0]"
    wanted = {0: "one number", 1: "one axis", 2: "two axes"}[axes]
    raise RecordError(f"has the shape {shape}, a batch of {count}; a trace is one episode", place=place,
                      expected=f"{wanted}: give `{index}`, and the same index of everything else")
