"""Converts a PyTorch machine: its state dict to a weights file, and one of its episodes to a trace.

    python from_torch.py weights.safetensors episode.ntmtrace.json [--write-first]
    tapescope trace copy --weights weights.safetensors --input bits.json --out ours.ntmtrace.json
    tapescope verify episode.ntmtrace.json
    tapescope diff episode.ntmtrace.json ours.ntmtrace.json --tolerance 1e-3

Replace `NTM`, a typical implementation, with your own machine. The comments in `convert` explain how conventions that differ
from Tapescope's are converted.

`diff` reports the only difference between the two: how their cosines avoid division by 0.

Needs torch and the tapescope module: `pip install ./python torch`.
"""

import json
import sys
from typing import Any, Dict, Optional, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tapescope import Recorder, write_weights


class NTM(nn.Module):
    """An NTM with an LSTM controller; one projection emits the parameters of all heads, grouped by kind."""

    def __init__(self, n_in: int, n_out: int, hidden: int = 100, n: int = 128, m: int = 20, reads: int = 1,
                 writes: int = 1, mem_init: float = 1e-6, write_first: bool = False) -> None:
        super().__init__()
        self.write_first = write_first
        self.N, self.M, self.R, self.W, self.H = n, m, reads, writes, reads + writes
        self.in_proj = nn.Linear(n_in, 4 * hidden)
        self.rec_proj = nn.Linear(reads * m + hidden, 4 * hidden, bias=False)  # [r_{t-1}, h_{t-1}]
        self.split = [self.H * m, self.H, self.H, 3 * self.H, self.H, writes * m, writes * m]
        self.head_proj = nn.Linear(hidden, sum(self.split))  # k | beta | g | s | gamma | e | a
        self.out_proj = nn.Linear(hidden + reads * m, n_out)
        self.r0 = nn.Parameter(torch.randn(reads * m) * 0.01)
        self.w0 = nn.Parameter(torch.zeros(self.H, n))  # logits
        self.h0 = nn.Parameter(torch.randn(hidden) * 0.05)
        self.c0 = nn.Parameter(torch.randn(hidden) * 0.05)
        self.register_buffer("mem0", torch.full((n, m), mem_init))

    def forward(self, inputs: torch.Tensor, recorder: Optional[Recorder] = None) -> torch.Tensor:
        """Runs one episode: inputs [T, n_in] → outputs [T, n_out]."""
        M, w, r, h, c = self.mem0, torch.softmax(self.w0, -1), self.r0, self.h0, self.c0
        outputs = []
        for x in inputs:
            i, f, g, o = (self.in_proj(x) + self.rec_proj(torch.cat((r, h)))).chunk(4)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            k, beta, gate, s, gamma, e, a = self.head_proj(h).split(self.split)
            k, s = k.view(self.H, self.M), torch.softmax(s.view(self.H, 3), -1)
            beta, gate, gamma = F.softplus(beta), torch.sigmoid(gate), 1 + F.softplus(gamma)
            e, a = torch.sigmoid(e).view(self.W, self.M), a.view(self.W, self.M)

            def address(M):
                K = k @ M.T / (k.norm(dim=-1, keepdim=True) * M.norm(dim=-1) + 1e-8)
                wc = torch.softmax(beta[:, None] * K, -1)
                wg = torch.lerp(w, wc, gate[:, None])
                ws = s[:, 0:1] * wg.roll(-1, -1) + s[:, 1:2] * wg + s[:, 2:3] * wg.roll(1, -1)
                return torch.stack((K, wc, wg, ws, torch.softmax(gamma[:, None] * torch.log(ws + 1e-16), -1)))

            stages, before = address(M), M
            writing = stages[-1, self.R :]
            M = M * (1 - writing[:, :, None] * e[:, None]).prod(0) + writing.T @ a
            if self.write_first:  # the read heads address and read the new memory
                stages = torch.cat((address(M)[:, : self.R], stages[:, self.R :]), 1)
            K, wc, wg, ws, w = stages
            r = (w[: self.R] @ (M if self.write_first else before)).flatten()
            y = torch.sigmoid(self.out_proj(torch.cat((h, r))))
            outputs.append(y)
            if recorder:
                heads = {
                    (f"read{q}" if q < self.R else f"write{q - self.R}"): dict(
                        key=k[q], strength=beta[q], gate=gate[q], shift=s[q], sharpening=gamma[q],
                        similarity=K[q], content=wc[q], gated=wg[q], shifted=ws[q], weighting=w[q],
                        **({"read": r.view(self.R, self.M)[q]} if q < self.R
                           else {"erase": e[q - self.R], "add": a[q - self.R]}))
                    for q in range(self.H)
                }
                recorder.step(input=x, output=y, hidden=h, cell=c, memory=M, **heads)
        return torch.stack(outputs)


def convert(state: Dict[str, torch.Tensor], reads: int = 1, writes: int = 1,
            write_first: bool = False) -> Tuple[Dict[str, np.ndarray], Dict[str, Any]]:
    """Converts a state dict to the tensors of a weights file and the `model` of its preset.

    PyTorch stores [outputs, inputs] and Tapescope [inputs, outputs], so everything is transposed. The order of
    gates (i, f, g, o), of inputs (x, reads, h) and of shifts (-1, 0, +1) is the same in both.
    """
    state = {name: np.asarray(value.detach().cpu(), np.float32) for name, value in state.items()}
    (n, m), heads, c = state["mem0"].shape, reads + writes, state["h0"].size
    weight, bias = state["head_proj.weight"].T, state["head_proj.bias"]
    # Columns of the projection: a block for each kind of parameter, with one head after the other.
    ends = np.cumsum([heads * m, heads, heads, 3 * heads, heads, writes * m, writes * m])
    key, strength, gate, shift, sharpening, erase, add = np.split(np.arange(ends[-1]), ends[:-1])
    tensors = {
        "controller0.weight": np.concatenate([state["in_proj.weight"].T, state["rec_proj.weight"].T]),
        "controller0.bias": state["in_proj.bias"],
        "output.weight": state["out_proj.weight"].T,
        "output.bias": state["out_proj.bias"],
        "initial.read": state["r0"].reshape(reads, m),
        "initial.hidden": state["h0"].reshape(1, c),
        "initial.cell": state["c0"].reshape(1, c),
        "initial.weighting": state["w0"],  # logits in both
    }
    for q in range(heads):
        part = lambda columns, index, count: columns.reshape(count, -1)[index]
        columns = [part(block, q, heads) for block in (key, strength, gate, shift, sharpening)]
        if q >= reads:
            columns += [part(block, q - reads, writes) for block in (erase, add)]
        columns = np.concatenate(columns)
        name = f"read{q}" if q < reads else f"write{q - reads}"
        tensors[name + ".weight"], tensors[name + ".bias"] = weight[:, columns], bias[columns]
    constant = float(state["mem0"].flat[0])
    if np.all(state["mem0"] == state["mem0"].flat[0]):
        initial = {"constant": constant}
    else:
        initial, tensors["initial.memory"] = "learned", state["mem0"]
    model = {
        "memory": {"rows": n, "columns": m, "initial": initial},
        "controller": {"kind": "lstm", "size": c, "layers": 1},
        "heads": {
            "read": reads, "write": writes, "shift": {"form": "softmax", "range": 1},
            # This machine has no tanh on key and add vector.
            "key_activation": "identity", "add_activation": "identity",
            "initial_weighting": "learned",
            "order": "write-first" if write_first else "read-first",
            # This machine adds 1e-8 to the product of the norms, Tapescope epsilon to each of their squares.
            # No epsilon makes the two equal. With 0 they differ by less than 1e-4 wherever |k|·|m| is
            # above 1e-4; among identical rows there is no difference.
            "similarity_epsilon": 0.0,
        },
    }
    return tensors, model


def copy_inputs(vectors: torch.Tensor) -> torch.Tensor:
    """Returns the inputs of a copy episode: the vectors [L, …, bits], a delimiter, and silence for the answer."""
    length, bits = len(vectors), vectors.shape[-1]
    inputs = torch.zeros(2 * length + 1, *vectors.shape[1:-1], bits + 1)
    inputs[:length, ..., :bits], inputs[length, ..., bits] = vectors, 1
    return inputs


def export(machine: nn.Module, tensors: Dict[str, np.ndarray], model: Dict[str, Any], recorder: Recorder, weights: str,
           trace: str, bits: int, length: int) -> np.ndarray:
    """Writes the weights, a recorded episode of copy, and its vectors as bits.json; returns the vectors."""
    preset = {"name": "from_torch", "task": {"kind": "copy", "bits": bits, "length": [1, 20]}, "model": model}
    write_weights(weights, tensors, preset, command="python " + " ".join(sys.argv))
    vectors = torch.randint(0, 2, (length, bits)).float()
    with torch.no_grad():
        machine(copy_inputs(vectors), recorder)
    phases = [("input", 0, length), ("delimiter", length, length + 1), ("answer", length + 1, 2 * length + 1)]
    recorder.save(trace, phases)
    with open("bits.json", "w") as file:
        json.dump(vectors.int().tolist(), file)
    return vectors.numpy()


def main(weights: str, trace: str, write_first: bool = False) -> None:
    torch.manual_seed(1)
    bits, length = 8, 12
    machine = NTM(bits + 1, bits, write_first=write_first)
    with torch.no_grad():
        for parameter in machine.parameters():
            parameter.mul_(2.0)  # far enough from zero for every stage to have an effect
        machine.w0.normal_(0, 2)  # identical rows would stay identical
    tensors, model = convert(machine.state_dict(), write_first=write_first)
    w0 = torch.softmax(machine.w0, -1)
    recorder = Recorder("copy", memory=machine.mem0, read0=w0[0], write0=w0[1],
                        params={"bits": bits}, length=length, order="write-first" if write_first else "read-first",
                        similarity="cosine-plus-epsilon", epsilon=1e-8)
    export(machine, tensors, model, recorder, weights, trace, bits, length)


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--write-first"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    main(*arguments, write_first="--write-first" in sys.argv)
