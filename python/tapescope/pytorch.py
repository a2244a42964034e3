"""Machines of Tapescope as PyTorch modules, and back. Needs torch.

    from tapescope.pytorch import Module
    module = Module.of(ts.machine("copy"))
    module(torch.tensor(trace["input"]))    # [T, Y]
    module.machine()                        # a tapescope.Machine again

Tensors have the names and shapes of a weights file (docs/formats/weights.md).
"""

from __future__ import annotations

import copy
from typing import Any, Dict, Mapping, Union

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ._machine import Machine, machine_from
from .errors import WeightsError
from .files import Path
from .preset import Preset, as_dictionary

# Memory, weightings by head, reads, and h and c of every layer.
State = Dict[str, Any]


class Module(nn.Module):
    """A machine of Tapescope as a PyTorch module: `Module.of(machine)`. Only for the kind `ntm`, with heads as in the
    paper.

    It is an ordinary `nn.Module`: train it further, or use its parts in your own module. `machine()` converts it back. It runs
    one episode at a time, inputs [T, X] to outputs [T, Y]. The outputs equal those of Tapescope within 1e-4.
    """

    def __init__(self, tensors: Mapping[str, npt.ArrayLike], preset: Union[Path, Preset]) -> None:
        """`tensors`: by name, with the shapes of `tensor_shapes(preset)`. Raises WeightsError for other machines."""
        super().__init__()
        preset = as_dictionary(preset)
        self.preset = copy.deepcopy(dict(preset))
        self.names = list(tensors)
        self.weights = nn.ParameterDict({_key(name): torch.tensor(np.array(tensor, np.float32)) for name, tensor in tensors.items()})
        model = preset.get("model", {})
        if model.get("kind", "ntm") != "ntm":
            raise WeightsError(f"is {model['kind']!r}", place="`model.kind`", expected="`ntm`")
        memory, controller, heads = (model.get(key, {}) for key in ("memory", "controller", "heads"))
        self.rows, self.columns = memory.get("rows", 128), memory.get("columns", 20)
        initial = memory.get("initial", {"constant": 1e-6})
        self.constant = initial["constant"] if isinstance(initial, dict) else None
        self.layers, self.lstm = controller.get("layers", 1), controller.get("kind", "lstm") == "lstm"
        names = [(kind, index) for kind in ("read", "write") for index in range(heads.get(kind, 1))]
        self.readers = [f"{kind}{index}" for kind, index in names if kind == "read"]
        self.writers = [f"{kind}{index}" for kind, index in names if kind == "write"]
        shift = heads.get("shift", {})
        usual = {"score": "cosine", "strength": "emitted", "gate": "on", "sharpening": "on", "erase": "on", "weighting": "soft"}
        other = [key for key, word in usual.items() if heads.get("attention", {}).get(key, word) != word]
        if other or shift.get("form", "softmax") not in ("softmax", "scalar"):
            raise WeightsError("has heads that differ from the paper", place="`model.heads`",
                               expected=f"the default {', '.join(other) or 'shift'}")
        self.range, self.scalar = shift.get("range", 1), shift.get("form", "softmax") == "scalar"
        self.of_key, self.of_add = (torch.tanh if heads.get(key, "tanh") == "tanh" else nn.Identity()
                                    for key in ("key_activation", "add_activation"))
        self.epsilon = heads.get("similarity_epsilon", 1e-6)
        self.write_first = heads.get("order", "read-first") == "write-first"

    @classmethod
    def of(cls, machine: Machine) -> Module:
        """Returns a module with the weights of a machine."""
        return cls(machine.weights, machine.preset)

    def weights_by_name(self) -> Dict[str, Tensor]:
        """Returns the parameters by the names and with the shapes of a weights file."""
        return {name: self.weights[_key(name)] for name in self.names}

    def tensors(self) -> Dict[str, npt.NDArray[np.float32]]:
        """Returns the parameters as NumPy arrays: linear maps [inputs, outputs], biases [outputs]."""
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.weights_by_name().items()}

    def machine(self) -> Machine:
        """Returns a machine with the weights of this module. Needs the extension."""
        return machine_from(self.tensors(), self.preset)

    def linear(self, name: str, x: Tensor) -> Tensor:
        weight, bias = (self.weights[f"{name}_{part}"] for part in ("weight", "bias"))
        made: Tensor = x @ weight + bias.reshape(-1)
        return made

    def forward(self, inputs: Tensor) -> Tensor:
        """Runs one episode: inputs [T, X] → outputs [T, Y], probabilities."""
        state, outputs = self.before(), []
        for x in inputs:
            hidden = self.control(x, state)
            self.remember(hidden, state)
            features = torch.cat([hidden, *state["reads"]])
            outputs.append(torch.sigmoid(self.linear("output", features)))
        return torch.stack(outputs)

    def before(self) -> State:
        """Returns the state before the first step."""
        heads = self.readers + self.writers
        def get(name: str) -> Tensor:
            tensor: Tensor = self.weights[f"initial_{name}"]
            return tensor
        memory = get("memory") if self.constant is None else torch.full((self.rows, self.columns), self.constant)
        if "initial_weighting" in self.weights:
            weightings = torch.softmax(get("weighting"), -1)
        else:
            weightings = F.one_hot(torch.zeros(len(heads), dtype=torch.long), self.rows).float()
        return {
            "memory": memory,
            "weightings": dict(zip(heads, weightings)),
            "reads": list(get("read")) if self.readers else [],
            "hidden": list(get("hidden")) if self.lstm else None,
            "cell": list(get("cell")) if self.lstm else None,
        }

    def control(self, x: Tensor, state: State) -> Tensor:
        """Runs the controller and returns h [C] of its top layer."""
        below = torch.cat([x, *state["reads"]])
        for layer in range(self.layers):
            if not self.lstm:
                below = torch.tanh(self.linear(f"controller{layer}", below))
                continue
            seen = torch.cat([below, state["hidden"][layer]])
            i, f, g, o = self.linear(f"controller{layer}", seen).chunk(4)
            cell = torch.sigmoid(f) * state["cell"][layer] + torch.sigmoid(i) * torch.tanh(g)
            below = torch.sigmoid(o) * torch.tanh(cell)
            state["cell"][layer], state["hidden"][layer] = cell, below
        return below

    def remember(self, hidden: Tensor, state: State) -> None:
        """Runs addressing, reads and writes of one step."""
        before: Tensor = state["memory"]
        kept, added = torch.ones(()), torch.zeros(())
        emitted = {head: self.linear(head, hidden) for head in self.readers + self.writers}
        for head in self.writers:
            w = state["weightings"][head] = self.address(emitted[head], before, state["weightings"][head])
            erase, add = emitted[head][-2 * self.columns:].chunk(2)
            kept = kept * torch.sub(1, torch.outer(w, torch.sigmoid(erase)))
            added = added + torch.outer(w, self.of_add(add))
        state["memory"] = before * kept + added
        seen = state["memory"] if self.write_first else before
        for head in self.readers:
            state["weightings"][head] = self.address(emitted[head], seen, state["weightings"][head])
        state["reads"] = [state["weightings"][head] @ seen for head in self.readers]

    def address(self, raw: Tensor, memory: Tensor, w: Tensor) -> Tensor:
        """Returns the weighting [N] of a head, equations 5 to 9."""
        m, shifts = self.columns, 1 if self.scalar else 2 * self.range + 1
        key, strength, gate, shift, sharpening = torch.split(raw[: m + 3 + shifts], [m, 1, 1, shifts, 1])
        key, strength, gate = self.of_key(key), F.softplus(strength), torch.sigmoid(gate)
        norms = [torch.sqrt((x * x).sum(-1) + self.epsilon) for x in (memory, key)]
        similarity = torch.nan_to_num(memory @ key / (norms[0] * norms[1]))
        gated = torch.lerp(w, torch.softmax(strength * similarity, -1), gate)
        shifted = sum(s * gated.roll(by, -1) for s, by in zip(self.shift(shift), range(-self.range, self.range + 1)))
        tiny = torch.finfo(shifted.dtype).tiny
        return torch.softmax((1 + F.softplus(sharpening)) * torch.log(shifted.clamp_min(tiny)), -1)

    def shift(self, raw: Tensor) -> Tensor:
        """Returns a probability for every offset from -range to range."""
        if not self.scalar:
            return torch.softmax(raw, -1)
        # The lower bound of a uniform distribution of width one.
        place = self.range * torch.tanh(raw) + self.range
        shares: Tensor = (1 - (place - torch.arange(2 * self.range + 1)).abs()).clamp_min(0)
        return shares


def _key(name: str) -> str:
    """Replaces dots, which would denote submodules."""
    return name.replace(".", "_")
