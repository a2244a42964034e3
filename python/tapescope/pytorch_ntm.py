"""Machines of pytorch-ntm (github.com/loudinthecloud/pytorch-ntm) as traces and weights of Tapescope.

    from tapescope import pytorch_ntm

    net.load_state_dict(torch.load("copy.model"))       # an EncapsulatedNTM
    pytorch_ntm.record(net, inputs, target).save("theirs.ntmtrace.json")
    pytorch_ntm.convert(net, {"kind": "copy", "bits": 8, "length": [1, 20]}).save("theirs.safetensors")

The trace is the machine's own run: the values that its modules computed. It declares the machine's own conventions, and
`tapescope verify` follows them. The weights are the same numbers in Tapescope's order. If Tapescope's machine cannot follow a
convention of pytorch-ntm, `convert(…).differences` says so.

| convention | pytorch-ntm | Tapescope | in the weights |
|---|---|---|---|
| biases of the LSTM | two | one | their sum |
| linear maps | [outputs, inputs] | [inputs, outputs] | transposed |
| first column of the shift | moves the focus forwards | back | columns in reverse |
| key and add vector | no activation | tanh by default | `identity` |
| memory before the first step | random, kept in the file | constant by default | `learned` |
| weighting before the first step | all zeros | sums to 1 | `learned`, see `convert` |
| cosine | each norm at least 1e-8 | epsilon under each root | epsilon 0: the same above 1e-8 |
| several heads | one after the other | all at once | a difference |
| sharpening | 1e-16 added to the sum | nothing added | the same unless the sum is as small |

Needs torch, but not pytorch-ntm itself: any object with the attributes of its EncapsulatedNTM is accepted. Its computation is not
taken on trust: every step is computed again with the equations of pytorch-ntm. Other activations, as in forks and in the first
release of that project, are an error that names the first array that differs.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._episodes import write_episodes
from ._extension import is_built
from ._machine import Machine, machine_from
from .arrays import float32
from .heads import head_order
from .errors import RecordError, WeightsError
from .files import Path
from .preset import channels, check_preset
from .recorder import SIMILARITIES, Recorder
from .trace import Trace
from .weights import Tensors, lstm_tensors, write_weights

# Lower bound of the norms in its cosine_similarity.
EPSILON = 1e-8
# Relative tolerance for arrays that are computed again.
TOLERANCE = 1e-4
# The same for arrays of two machines that run by themselves: rounding grows from step to step.
FREE_TOLERANCE = 1e-2
# Steps after the first one on which `convert` compares the two machines.
COMPARED_STEPS = 8


def record(net: Any, inputs: Any, target: Any = None, *, task: str = "copy",
           params: Optional[Mapping[str, Any]] = None, length: Optional[int] = None) -> Recorder:
    """Runs one episode and returns a Recorder with it.

    net     an EncapsulatedNTM; the function starts a new sequence in it
    inputs  [steps, inputs], or [steps, 1, inputs] as its data loaders return them
    target  [answer steps, outputs], or [answer steps, 1, outputs]. After the inputs, the machine answers for this number of
            steps with zero input. None: no such steps
    task, params, length
            see Recorder; for "copy" they follow from the sizes

    Raises RecordError for a wrong shape, for a batch of several episodes with the index to use, and for a machine that computes
    with other equations than pytorch-ntm, with the first array that differs.
    """
    torch = _torch()
    inputs = _episode("inputs", inputs, net.num_inputs)
    answer = None if target is None else _episode("target", target, net.num_outputs)
    if task == "copy" and params is None and length is None and net.num_inputs == net.num_outputs + 1:
        params, length = {"bits": net.num_outputs}, len(inputs) - 1
    silence, scored = np.zeros_like(inputs[0]), np.zeros(net.num_outputs, np.float32)
    given = [(x, scored, 0, "input") for x in inputs]
    given += [(silence, y, 1, "answer") for y in (answer if answer is not None else ())]
    with torch.no_grad():
        shifts, watch = _shifts(net), _Watch(net)
        try:
            net.init_sequence(1)
            recorder = Recorder(task, memory=net.memory.memory, params=params, length=length, order=_order(watch.names),
                                layers=net.ntm.controller.num_layers, shifts=shifts,
                                similarity=_similarity(), epsilon=EPSILON, partial_weightings=True,
                                **dict(zip(watch.names, net.previous_state[2])))
            for x, y, mask, phase in given:
                x_now = torch.from_numpy(x)[None]
                reads, state, _ = net.previous_state
                expected_hidden, expected_state = net.ntm.controller.lstm(torch.cat([x_now, *reads], 1)[None], state)
                output = net(x_now)[0]
                reads, (hidden, cell), _ = net.previous_state
                watch.compare("hidden", hidden, expected_state[0])
                watch.compare("cell", cell, expected_state[1])
                watch.compare("logit", watch.logit, net.ntm.fc(torch.cat([expected_hidden[0], *reads], 1)))
                watch.compare("output", output, watch.logit.sigmoid())
                watch.step += 1
                scores = (None, None) if answer is None else (y, mask)
                recorder.step(input=x, output=output, logit=watch.logit, hidden=hidden, cell=cell,
                              memory=net.memory.memory, target=scores[0], mask=scores[1], phase=phase, **watch.heads)
        finally:
            watch.end()
    return recorder


class Converted(NamedTuple):
    """A machine of pytorch-ntm, converted for Tapescope."""

    tensors: Tensors
    """Tensors by name, with the shapes of `tensor_shapes(preset)`."""
    preset: Dict[str, Any]
    """Preset that the tensors belong to."""
    differences: List[str]
    """Differences from the original machine, as sentences; empty if all conventions agree."""

    def machine(self) -> Machine:
        """Returns it as a machine, for example for `tapescope.train(…, start=converted.machine())`. Needs the extension."""
        return machine_from(self.tensors, self.preset)

    def save(self, path: Path) -> None:
        """Writes a weights file that `tapescope eval`, `trace` and `view` open."""
        write_weights(path, self.tensors, self.preset, "tapescope.pytorch_ntm.convert")


def convert(net: Any, task: Mapping[str, Any], *, name: str = "pytorch_ntm", first: Any = None) -> Converted:
    """Converts the weights of a machine to Tapescope's order.

    net     an EncapsulatedNTM; the function starts a new sequence in it
    task    the `task` of a preset, such as {"kind": "copy", "bits": 8, "length": [1, 20]}, with the numbers of inputs and
            outputs of the machine
    name    name of the preset
    first   [inputs]: input of the first step; None: zeros

    pytorch-ntm starts from weightings of zeros. The gate of the first step then has no effect, because sharpening
    normalises the content weighting again. Tapescope starts from weightings that sum to 1. The converted machine starts
    from the content weighting that the input `first` produces, so that the gate mixes this weighting with itself. Episodes
    that begin with `first` have the same outputs; in others the first step differs.

    Compares a short episode with the equations of pytorch-ntm, and, with the extension and unless the order of its heads is
    a difference, with a run of the converted machine; raises RecordError with the first array that differs. With the
    extension, raises FormatError for an invalid task, and WeightsError for one with other numbers of inputs and outputs.
    """
    if is_built():
        check_preset({"task": task})
        if channels(task) != (net.num_inputs, net.num_outputs):
            raise WeightsError(f"has {channels(task)} inputs and outputs", place="`task`",
                               expected=f"{(net.num_inputs, net.num_outputs)}, those of the machine")
    begin = np.zeros((1, net.num_inputs), np.float32) if first is None else np.reshape(float32(first), (1, -1))
    bits = np.random.default_rng(0).integers(0, 2, (COMPARED_STEPS, net.num_inputs)).astype(np.float32)
    trace = record(net, np.concatenate([begin, bits]), task="comparison").trace()
    names, order = sorted(trace.heads, key=head_order), _order([head for head, _ in _named_heads(net)])
    initial = {head: trace[f"{head}.initial"] for head in names}
    weightings = [initial[head] if initial[head].any() else trace[f"{head}.content"][0] for head in names]
    ntm, controller = net.ntm, net.ntm.controller
    tensors: Tensors = {
        **{name: tensor for layer in range(controller.num_layers)
           for name, tensor in lstm_tensors(f"controller{layer}", controller.lstm, layer).items()}, **_heads(net, trace.shifts),
        "output.weight": float32(ntm.fc.weight).T, "output.bias": float32(ntm.fc.bias),
        "initial.weighting": np.log(np.maximum(weightings, 1e-30)).astype(np.float32),
        "initial.memory": float32(net.memory.mem_bias),
        "initial.read": np.concatenate([float32(read).reshape(1, -1) for read in ntm.init_r]),
        "initial.hidden": float32(controller.lstm_h_bias)[:, 0], "initial.cell": float32(controller.lstm_c_bias)[:, 0],
    }
    differences = []
    if not all(weighting.any() for weighting in initial.values()):
        differences.append("its weightings before the first step are zeros, but Tapescope's sum to 1: the same in episodes "
                           f"that begin with the input {begin[0].tolist()}; in others the first step differs")
    if order == "in-turn":
        differences.append("its heads act one after the other, each on the memory that the previous head left; in "
                           "Tapescope all heads address the memory before the step, and all erases come before all adds")
    reads = sum(name.startswith("read") for name in names)
    model = {
        "memory": {"rows": net.N, "columns": net.M, "initial": "learned"},
        "controller": {"kind": "lstm", "size": net.controller_size, "layers": controller.num_layers},
        "heads": {
            "read": reads, "write": len(names) - reads,
            "shift": {"form": "softmax", "range": len(trace.shifts) // 2},
            "key_activation": "identity", "add_activation": "identity", "similarity_epsilon": 0.0,
            "initial_weighting": "learned", "order": "read-first" if order == "in-turn" else order,
        },
    }
    converted = Converted(tensors, {"name": name, "task": dict(task), "model": model}, differences)
    if order != "in-turn" and is_built():
        _compare(converted, trace)
    return converted


def _compare(converted: Converted, theirs: Trace) -> None:
    """Runs the converted machine on the episode of a trace; raises RecordError with the first array that differs."""
    episode = (theirs["input"], theirs["output"] >= 0.5, None)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "compared.npz")
        # One of the two is held out: a machine runs on those.
        write_episodes(file, [episode, episode])
        sizes = {"inputs": theirs["input"].shape[1], "outputs": theirs["output"].shape[1]}
        task = {"kind": "episodes", "file": file, **sizes, "held_out": {"kind": "last", "count": 1}}
        ours = machine_from(converted.tensors, {**converted.preset, "task": task}).trace()
    heads = [f"{head}.{part}" for head in theirs.heads for part in ("key", "strength", "gate", "sharpening", "weighting")]
    reads = [f"{head}.read" for head in theirs.heads if head.startswith("read")]
    for step in range(theirs.steps):
        for name in ("controller.hidden", "controller.cell", *heads, *reads, "memory", "logit"):
            # The memory has a state before the first step.
            at = step + (name == "memory")
            wrong = _differs(ours[name][at], theirs[name][at], FREE_TOLERANCE)
            if wrong:
                raise RecordError(f"is {wrong[0]:.6g} in the converted machine", place=f"`{name}`, step {step}",
                                  expected=f"{wrong[1]:.6g}, as in the original. Please report this")


def _differs(found: Any, expected: Any, tolerance: float) -> Optional[Tuple[float, float]]:
    """Returns the values that differ most, where they differ by more than the tolerance, relative above 1."""
    found, expected = np.ravel(found), np.ravel(expected)
    far = np.where(found == expected, 0, np.nan_to_num(np.abs(found - expected) / np.maximum(1, np.abs(expected)), nan=np.inf))
    index = np.argmax(far)
    return None if far[index] <= tolerance else (float(found[index]), float(expected[index]))


def _heads(net: Any, shifts: Sequence[int]) -> Tensors:
    """Returns the projection of every head, with the shift columns in the order -k to k."""
    tensors = {}
    for head, module in _named_heads(net):
        columns = np.arange(sum(_lengths(module)))
        columns[net.M + 2:net.M + 2 + len(shifts)] = net.M + 2 + np.argsort(shifts)
        tensors[f"{head}.weight"] = float32(_projection(module).weight).T[:, columns]
        tensors[f"{head}.bias"] = float32(_projection(module).bias)[columns]
    return tensors


class _Watch:
    """Records the heads of a machine in a step, with hooks on its modules."""

    def __init__(self, net: Any) -> None:
        self.heads: Dict[str, Dict[str, Any]] = {}
        self.logit: Any = None
        self.step = 0
        self.names = [name for name, _ in _named_heads(net)]
        self._memory = net.memory
        self._hooks = [net.ntm.fc.register_forward_hook(self._on_output)]
        for name, head in _named_heads(net):
            self._hooks.append(head.register_forward_pre_hook(self._before(name)))
            self._hooks.append(head.register_forward_hook(self._after(name)))

    def end(self) -> None:
        """Removes the hooks."""
        for hook in self._hooks:
            hook.remove()
        self._unwrap()

    def compare(self, name: str, found: Any, expected: Any) -> None:
        """Raises RecordError if an array of the machine differs from the equations of pytorch-ntm."""
        found, expected = float32(found), float32(expected)
        if found.size != expected.size:
            raise RecordError(f"has the shape {list(found.shape)}", place=f"`{name}`, step {self.step}",
                              expected=f"{list(expected.shape)}, as in pytorch-ntm")
        wrong = _differs(found, expected, TOLERANCE)
        if wrong:
            raise RecordError(f"is {wrong[0]:.6g} in the machine", place=f"`{name}`, step {self.step}",
                              expected=f"{wrong[1]:.6g}, as the equations of pytorch-ntm give. The machine has another "
                                       "activation or equation: record it with tapescope.Recorder")

    def _wrap(self, name: str, method: str, arguments: Dict[str, Any]) -> None:
        """Compares the arguments of a method of the memory until `_unwrap`."""
        call = getattr(self._memory, method)

        def compared(*given: Any) -> Any:
            for (argument, expected), found in zip(arguments.items(), given):
                self.compare(f"{name}.{argument}", found, expected)
            return call(*given)
        self._memory.__dict__[method] = compared

    def _unwrap(self) -> None:
        for method in ("_similarity", "_interpolate", "_shift"):
            self._memory.__dict__.pop(method, None)

    def _on_output(self, module: Any, given: Any, made: Any) -> None:
        self.logit = made

    def _before(self, name: str) -> Any:
        """Returns a hook that records the parameters and stages of a head, on the memory at its turn."""
        def hook(head: Any, given: Tuple[Any, Any]) -> None:
            functional, hidden, before = _torch().nn.functional, *given
            key, strength, gate, shift, sharpening, *writing = _projection(head)(hidden).split(_lengths(head), 1)
            memory = head.memory
            strength, gate = functional.softplus(strength), gate.sigmoid()
            shift, sharpening = shift.softmax(1), 1 + functional.softplus(sharpening)
            content = memory._similarity(key, strength)
            gated = memory._interpolate(before, content, gate)
            self.heads[name] = dict(
                key=key, strength=strength, gate=gate, shift=shift, sharpening=sharpening,
                similarity=functional.cosine_similarity(memory.memory + 1e-16, key[:, None] + 1e-16, dim=-1),
                content=content, gated=gated, shifted=memory._shift(gated, shift),
                **dict(zip(("erase", "add"), (writing[0].sigmoid(), writing[1]) if writing else ())))
            parts = self.heads[name]
            parts["memory"] = memory.memory
            self._wrap(name, "_similarity", {"key": key, "strength": strength})
            self._wrap(name, "_interpolate", {"previous weighting": before, "content": content, "gate": gate})
            self._wrap(name, "_shift", {"gated": gated, "shift": shift})
        return hook

    def _after(self, name: str) -> Any:
        """Returns a hook that records the final weighting and the read vector."""
        def hook(head: Any, given: Any, made: Any) -> None:
            self._unwrap()
            parts = self.heads[name]
            memory = parts.pop("memory")
            # The cosine is the same as the machine's own within rounding: `_similarity` itself is checked with it.
            self.compare(f"{name}.content", parts["content"], (parts["strength"] * parts["similarity"]).softmax(1))
            mixed = parts["gate"] * parts["content"] + (1 - parts["gate"]) * given[1]
            self.compare(f"{name}.gated", parts["gated"], mixed)
            if head.is_read_head():
                parts["read"], made = made
            sharp = parts["shifted"] ** parts["sharpening"]
            self.compare(f"{name}.weighting", made, sharp / (sharp.sum(1, keepdim=True) + 1e-16))
            parts["weighting"] = made
            column = made[:, :, None]
            if head.is_read_head():
                self.compare(f"{name}.read", parts["read"], (column * memory).sum(1))
            else:
                written = memory * (1 - column * parts["erase"][:, None]) + column * parts["add"][:, None]
                self.compare(f"{name}: memory", head.memory.memory, written)
        return hook


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError("tapescope.pytorch_ntm needs torch: pip install torch") from error
    return torch


def _episode(name: str, given: Any, width: int) -> Any:
    """Returns [steps, width] of one episode, or of a batch of one."""
    array = float32(given)
    if array.ndim == 3 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 3:
        raise RecordError(f"has the shape {list(array.shape)}, a batch of {array.shape[1]}", place=f"`{name}`",
                          expected=f"one episode: give `{name}[:, 0]`")
    if array.ndim != 2 or array.shape[1] != width or len(array) == 0:
        raise RecordError(f"has the shape {list(array.shape)}", place=f"`{name}`",
                          expected=f"[steps, {width}], at least one step")
    return array


def _named_heads(net: Any) -> List[Tuple[str, Any]]:
    """Returns the heads in the order in which they act, with names numbered by kind."""
    count = {"read": 0, "write": 0}
    named = []
    for head in net.ntm.heads:
        kind = "read" if head.is_read_head() else "write"
        named.append((f"{kind}{count[kind]}", head))
        count[kind] += 1
    return named


def _projection(head: Any) -> Any:
    return head.fc_read if head.is_read_head() else head.fc_write


def _lengths(head: Any) -> List[int]:
    """Returns the numbers of columns of key, strength, gate, shift, sharpening and, for a write head, erase and add."""
    return list(head.read_lengths if head.is_read_head() else head.write_lengths)


def _order(names: Sequence[str]) -> str:
    """Returns the order of the heads: "in-turn", or an equivalent one if the only write head is last or first."""
    kinds = [name.startswith("write") for name in names]
    if sum(kinds) <= 1:
        if not any(kinds[:-1]):
            return "read-first"
        if kinds[0]:
            return "write-first"
    return "in-turn"


def _shifts(net: Any) -> List[int]:
    """Returns the offset in rows of each column of the shift, measured by applying it."""
    torch = _torch()
    columns, middle = _lengths(net.ntm.heads[0])[3], net.N // 2
    rows, offsets = torch.eye(net.N), torch.eye(columns)
    net.init_sequence(1)
    moved = [net.memory._shift(rows[middle:middle + 1], offset[None]) for offset in offsets]
    return [int(weighting.argmax()) - middle for weighting in moved]


def _similarity() -> str:
    """Returns the way in which this torch version keeps a cosine from dividing by 0."""
    torch = _torch()
    short = torch.full((1, 1), EPSILON ** 0.75)
    # Each norm is above epsilon, their product is below.
    cosine = float(torch.nn.functional.cosine_similarity(short, short, eps=EPSILON))
    return SIMILARITIES[3 if cosine > 0.5 else 2]
