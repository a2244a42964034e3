"""Weights of Tapescope in PyTorch: a module that runs them, held against an episode that Tapescope recorded.

    tapescope trace copy --length 20 --out copy.npz
    python to_torch.py assets/copy.safetensors copy.npz

`Machine` is an ordinary `nn.Module`: train it further, take it apart, or put what it holds into one of yours.
Every tensor keeps the name and the shape that it has in the file (docs/formats.md).

Needs torch and this module: `pip install ./python torch`.
"""

import sys
from typing import Any, Dict

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tapescope import load, read_weights

# Memory, weightings by head, reads, and h and c of every layer.
State = Dict[str, Any]


class Machine(nn.Module):
    """Any machine of Tapescope whose heads are those of the paper. `tensors`: those of its file, by name; `model`: that
    of its preset."""

    def __init__(self, tensors: Dict[str, np.ndarray], model: Dict[str, Any]) -> None:
        super().__init__()
        self.weights = nn.ParameterDict({name.replace(".", "_"): torch.tensor(tensor) for name, tensor in tensors.items()})
        memory, controller, heads = (model.get(key, {}) for key in ("memory", "controller", "heads"))
        self.rows, self.columns = memory.get("rows", 128), memory.get("columns", 20)
        initial = memory.get("initial", {"constant": 1e-6})
        self.constant = initial["constant"] if isinstance(initial, dict) else None
        self.layers, self.lstm = controller.get("layers", 1), controller.get("kind", "lstm") == "lstm"
        number = 0 if model.get("kind", "ntm") == "plain" else 1
        names = [(kind, index) for kind in ("read", "write") for index in range(heads.get(kind, number))]
        self.readers = [f"{kind}{index}" for kind, index in names if kind == "read"]
        self.writers = [f"{kind}{index}" for kind, index in names if kind == "write"]
        shift = heads.get("shift", {})
        usual = {"score": "cosine", "strength": "emitted", "gate": "on", "sharpening": "on", "erase": "on", "weighting": "soft"}
        other = [key for key, word in usual.items() if heads.get("attention", {}).get(key, word) != word]
        if other or shift.get("form", "softmax") not in ("softmax", "scalar"):
            raise SystemExit(f"heads that attend otherwise than in the paper ({', '.join(other) or 'shift'}) are not in this example")
        self.range, self.scalar = shift.get("range", 1), shift.get("form", "softmax") == "scalar"
        bound = lambda key: torch.tanh if heads.get(key, "tanh") == "tanh" else (lambda x: x)
        self.of_key, self.of_add = bound("key_activation"), bound("add_activation")
        self.epsilon = heads.get("similarity_epsilon", 1e-6)
        self.write_first = heads.get("order", "read-first") == "write-first"

    def linear(self, name: str, x: Tensor) -> Tensor:
        return x @ self.weights[f"{name}_weight"] + self.weights[f"{name}_bias"].reshape(-1)

    def forward(self, inputs: Tensor) -> Tensor:
        """inputs [T, X] → outputs [T, Y]"""
        state, outputs = self.before(), []
        for x in inputs:
            hidden = self.control(x, state)
            self.remember(hidden, state)
            features = torch.cat([hidden, *state["reads"]])
            outputs.append(torch.sigmoid(self.linear("output", features)))
        return torch.stack(outputs)

    def before(self) -> State:
        """The state before the first step."""
        heads = self.readers + self.writers
        get = lambda name: self.weights[f"initial_{name}"]
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
        """The controller: h of its top layer."""
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
        """Addressing, reads and writes of one step."""
        before, kept, added = state["memory"], torch.ones(()), torch.zeros(())
        emitted = {head: self.linear(head, hidden) for head in self.readers + self.writers}
        for head in self.writers:
            w = state["weightings"][head] = self.address(emitted[head], before, state["weightings"][head])
            erase, add = emitted[head][-2 * self.columns:].chunk(2)
            kept = kept * (1 - torch.outer(w, torch.sigmoid(erase)))
            added = added + torch.outer(w, self.of_add(add))
        state["memory"] = before * kept + added
        seen = state["memory"] if self.write_first else before
        for head in self.readers:
            state["weightings"][head] = self.address(emitted[head], seen, state["weightings"][head])
        state["reads"] = [state["weightings"][head] @ seen for head in self.readers]

    def address(self, raw: Tensor, memory: Tensor, w: Tensor) -> Tensor:
        """Equations 5 to 9."""
        m, shifts = self.columns, 1 if self.scalar else 2 * self.range + 1
        key, strength, gate, shift, sharpening = raw[: m + 3 + shifts].split([m, 1, 1, shifts, 1])
        key, strength, gate = self.of_key(key), F.softplus(strength), torch.sigmoid(gate)
        norm = lambda x: torch.sqrt((x * x).sum(-1) + self.epsilon)
        similarity = torch.nan_to_num(memory @ key / (norm(memory) * norm(key)))
        gated = torch.lerp(w, torch.softmax(strength * similarity, -1), gate)
        shifted = sum(s * gated.roll(by, -1) for s, by in zip(self.shift(shift), range(-self.range, self.range + 1)))
        tiny = torch.finfo(shifted.dtype).tiny
        return torch.softmax((1 + F.softplus(sharpening)) * torch.log(shifted.clamp_min(tiny)), -1)

    def shift(self, raw: Tensor) -> Tensor:
        """A share for every offset from -range to range."""
        if not self.scalar:
            return torch.softmax(raw, -1)
        # The lower bound of a uniform distribution of width one.
        place = self.range * torch.tanh(raw) + self.range
        return (1 - (place - torch.arange(2 * self.range + 1)).abs()).clamp_min(0)


def main(weights: str, trace: str) -> float:
    tensors, metadata = read_weights(weights)
    machine, trace = Machine(tensors, metadata["experiment"]["model"]), load(trace)
    # The trace may be of more rows than the machine was trained on.
    machine.rows = trace.meta["model"]["config"].get("memory", {}).get("rows", machine.rows)
    with torch.no_grad():
        outputs = machine(torch.tensor(trace["input"])).numpy()
    difference = float(np.abs(outputs - trace["output"]).max())
    print(f"{sum(tensor.size for tensor in tensors.values())} weights, {trace.steps} steps, "
          f"largest difference of an output: {difference:.1e}")
    return difference


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]) > 1e-4)
