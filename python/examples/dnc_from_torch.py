"""Trains a Differentiable Neural Computer in PyTorch, and converts it: the machine to a weights file, an episode to a trace.

    python dnc_from_torch.py weights.safetensors episode.ntmtrace.json [--seconds 20]
    tapescope verify episode.ntmtrace.json
    tapescope trace weights.safetensors --input bits.json --out ours.ntmtrace.json
    tapescope view episode.ntmtrace.json

Replace `DNC`, which has the equations of Graves et al. 2016 (Methods), with your own machine. What this example shares with
an NTM is in from_torch.py.

The outputs of both machines are compared. Their rows may differ: rows that were never written have the same usage but for
rounding, which decides their order.

Needs torch and the tapescope module: `pip install ./python torch`.
"""

import argparse
import time
from typing import Any, Dict, Optional, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from from_torch import copy_inputs, export
from torch import Tensor, nn

import tapescope as ts

BITS, EPSILON = 4, 1e-6


def content(M: Tensor, keys: Tensor, strengths: Tensor) -> Tuple[Tensor, Tensor]:
    """Returns the cosine of each key [H, W] with each row of M [N, W], and the content weighting, both [H, N]."""
    norm = lambda x: torch.sqrt((x * x).sum(-1) + EPSILON)
    similarity = keys @ M.mT / (norm(keys)[..., :, None] * norm(M)[..., None, :])
    return similarity, torch.softmax(strengths[..., None] * similarity, -1)


class DNC(nn.Module):
    """A DNC with an LSTM controller and one write head. Every tensor may have a batch axis in front of its own."""

    def __init__(self, n_in: int, n_out: int, hidden: int = 32, n: int = 12, m: int = 8, reads: int = 1) -> None:
        super().__init__()
        self.N, self.W, self.R = n, m, reads
        self.split = [reads * m, reads, m, 1, m, m, reads, 1, 1, 3 * reads]  # k^r | β^r | k^w | β^w | e | v | f | g^a | g^w | π
        self.controller = nn.LSTMCell(n_in + reads * m, hidden)
        self.interface = nn.Linear(hidden, sum(self.split))
        self.output = nn.Linear(hidden + reads * m, n_out)

    def forward(self, inputs: Tensor, recorder: Optional[ts.Recorder] = None) -> Tensor:
        """Runs an episode: inputs [T, X] → logits [T, Y]."""
        zeros = lambda *shape: torch.zeros(*inputs.shape[1:-1], *shape)
        h = c = zeros(self.controller.hidden_size)
        M, L, p = zeros(self.N, self.W) + EPSILON, zeros(self.N, self.N), zeros(self.N)
        u, ww, wr, r = zeros(self.N), zeros(self.N), zeros(self.R, self.N), zeros(self.R * self.W)
        logits = []
        for x in inputs:
            h, c = self.controller(torch.cat((x, r), -1), (h, c))
            kr, br, kw, bw, e, v, f, ga, gw, pi = self.interface(h).split(self.split, -1)
            kr, pi = kr.unflatten(-1, (self.R, self.W)), torch.softmax(pi.unflatten(-1, (self.R, 3)), -1)
            br, bw = 1 + F.softplus(br), 1 + F.softplus(bw)
            e, f, ga, gw = (torch.sigmoid(emitted) for emitted in (e, f, ga, gw))

            # Usage and allocation: no gradient goes through the order.
            u = (u + ww - u * ww) * (1 - f[..., None] * wr).prod(-2)
            ordered, phi = torch.sort(u, stable=True)
            before = torch.cat((torch.ones_like(u[..., :1]), ordered[..., :-1]), -1).cumprod(-1)
            a = torch.zeros_like(u).scatter(-1, phi, (1 - ordered) * before)

            # Write.
            Kw, cw = (part[..., 0, :] for part in content(M, kw[..., None, :], bw))
            ww = gw * (ga * a + (1 - ga) * cw)
            column, row = ww[..., :, None], ww[..., None, :]
            M = M * (1 - column * e[..., None, :]) + column * v[..., None, :]

            # Links and precedence; read.
            L = ((1 - column - row) * L + column * p[..., None, :]) * (1 - torch.eye(self.N))
            p = (1 - ww.sum(-1, keepdim=True)) * p + ww
            backward, forward = wr @ L, wr @ L.mT
            Kr, cr = content(M, kr, br)
            wr = pi[..., 0:1] * backward + pi[..., 1:2] * cr + pi[..., 2:3] * forward
            r = (wr @ M).flatten(-2)
            logits.append(self.output(torch.cat((h, r), -1)))

            if recorder:
                heads = {f"read{i}": dict(
                    key=kr[i], strength=br[i], similarity=Kr[i], content=cr[i], weighting=wr[i], read=r.view(self.R, -1)[i],
                    free_gate=f[i], read_modes=pi[i], backward=backward[i], forward=forward[i]) for i in range(self.R)}
                heads["write0"] = dict(
                    key=kw, strength=bw, similarity=Kw, content=cw, weighting=ww, erase=e, add=v, usage=u, allocation=a,
                    allocation_gate=ga, write_gate=gw, precedence=p)
                recorder.step(input=x, logit=logits[-1], hidden=h, cell=c, memory=M, **heads)
        return torch.stack(logits)


def convert(machine: DNC) -> Tuple[Dict[str, np.ndarray], Dict[str, Any]]:
    """Returns the tensors of a weights file and the `model` of its preset.

    PyTorch stores [outputs, inputs] and Tapescope [inputs, outputs], so linear maps are transposed; `lstm_tensors` does so for
    an LSTM. Here one map emits the parameters of all heads, there each head has its own.
    """
    R, W, C = machine.R, machine.W, machine.controller.hidden_size
    array = lambda tensor: tensor.detach().numpy()
    weight, bias = array(machine.interface.weight.T), array(machine.interface.bias)
    kr, br, kw, bw, e, v, f, ga, gw, pi = np.split(np.arange(len(bias)), np.cumsum(machine.split)[:-1])
    columns = {f"read{i}": (kr.reshape(R, W)[i], br[i:i + 1], f[i:i + 1], pi.reshape(R, 3)[i]) for i in range(R)}
    columns["write0"] = kw, bw, e, v, ga, gw
    tensors = {**ts.lstm_tensors("controller0", machine.controller),
               "initial.hidden": np.zeros((1, C)), "initial.cell": np.zeros((1, C)),
               "output.weight": array(machine.output.weight.T), "output.bias": array(machine.output.bias)}
    for head, parts in columns.items():
        tensors[f"{head}.weight"], tensors[f"{head}.bias"] = weight[:, np.concatenate(parts)], bias[np.concatenate(parts)]
    model = {"kind": "dnc", "memory": {"rows": machine.N, "columns": W, "initial": {"constant": EPSILON}},
             "controller": {"kind": "lstm", "size": C}, "heads": {"read": R, "similarity_epsilon": EPSILON}}
    return tensors, model


def train(machine: DNC, seconds: float) -> Tuple[int, float]:
    """Trains on copies of 1 to 4 vectors for some seconds; returns the sequences and the last loss, bits per answer bit."""
    optimizer, end, sequences, loss = torch.optim.Adam(machine.parameters(), lr=1e-2), time.time() + seconds, 0, torch.tensor(0.0)
    while time.time() < end:
        vectors = torch.randint(0, 2, (1 + sequences // 16 % 4, 16, BITS)).float()
        answer = machine(copy_inputs(vectors))[len(vectors) + 1:]
        loss = F.binary_cross_entropy_with_logits(answer, vectors)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(machine.parameters(), 1.0)
        optimizer.step()
        sequences += 16
    return sequences, float(loss.detach()) / np.log(2)


def main(weights: str, trace: str, seconds: float, reads: int) -> None:
    torch.manual_seed(1)
    machine = DNC(BITS + 1, BITS, reads=reads)
    sequences, loss = train(machine, seconds)
    print(f"{loss:.3f} bits per answer bit after {sequences} sequences")
    recorder = ts.Recorder("copy", kind="dnc", memory=torch.full((machine.N, machine.W), EPSILON), epsilon=EPSILON,
                        params={"bits": BITS}, length=4)
    vectors = export(machine, *convert(machine), recorder, weights, trace, BITS, length=4)
    try:
        ours = ts.machine(weights).trace(input=vectors)
    except ts.MissingExtensionError:
        print("not compared: the extension is not installed")
        return
    largest = float(np.abs(recorder.trace()["output"] - ours["output"]).max())
    print(f"largest difference of an output: {largest:.1e}")
    assert largest < 1e-4, "the machines differ"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights")
    parser.add_argument("trace")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--reads", type=int, default=1, help="read heads")
    asked = parser.parse_args()
    main(asked.weights, asked.trace, asked.seconds, asked.reads)
