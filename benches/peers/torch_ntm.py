#!/usr/bin/env python3
"""A Neural Turing Machine in PyTorch, written with few operations.

    python torch_ntm.py --check
    python torch_ntm.py --controller lstm --batch 1 --threads 1

Prints one JSON object with sequences per second of training (`--mode forward`: of the forward pass).
Needs `pip install torch`. Starting an operation takes longer than computing it. So all heads are addressed together, sums are
part of products (`addmm`, `baddbmm`), and inputs and outputs are one product each for all steps.
"""

import sys

import machines
import peer
import torch_peer
from peer import measure
from torch_peer import F, torch


class Ntm(torch_peer.Machine):
    def address(self, memory, key, strength, gate, shift, sharpness, before):
        """Weightings [batch, heads, rows]; memory [batch, rows, columns], keys [batch, heads, columns]."""
        norms = key.norm(dim=2, keepdim=True) * memory.norm(dim=2).unsqueeze(1)
        cosine = torch.bmm(key, memory.mT) / (norms + self.sizes.epsilon)
        gated = torch.lerp(before, torch.softmax(strength * cosine, 2), gate)
        back, stay, on = shift.split(1, 2)
        shifted = torch.addcmul(stay * gated, back, gated.roll(-1, 2)).addcmul(on, gated.roll(1, 2))
        return torch.softmax(sharpness * torch.log(shifted + self.sizes.least), 2)

    def control(self, drive, read, hidden, cell):
        if self.sizes.controller == "ff":
            return torch.tanh(torch.addmm(drive, read, self.p["recurrent"])), None
        z = torch.addmm(drive, torch.cat((read, hidden), 1), self.p["recurrent"])
        gates, candidate = z.split((3 * self.sizes.units, self.sizes.units), 1)
        i, f, o = torch.sigmoid(gates).chunk(3, 1)
        cell = torch.addcmul(f * cell, i, torch.tanh(candidate))
        return o * torch.tanh(cell), cell

    def step(self, drive, memory, weighting, read, hidden, cell):
        sizes = self.sizes
        heads, batch = sizes.heads, len(drive)
        hidden, cell = self.control(drive, read, hidden, cell)
        raw = torch.addmm(self.p["heads_bias"], hidden, self.p["heads_weight"])
        vectors, positive, unit, shift = raw.tensor_split(sizes.cuts, 1)
        vectors = (torch.tanh(vectors) if sizes.bounded else vectors).view(batch, -1, sizes.columns)
        key, add = vectors.split((heads, sizes.writes), 1)
        strength, sharpness = F.softplus(positive).unsqueeze(2).chunk(2, 1)
        gate, erase = torch.sigmoid(unit).split((heads, sizes.writes * sizes.columns), 1)
        shift = torch.softmax(shift.view(batch, heads, 3), 2)
        weighting = self.address(memory, key, strength, gate.unsqueeze(2), shift, 1 + sharpness, weighting)
        look, write = weighting.split((sizes.reads, sizes.writes), 1)
        read, write = torch.bmm(look, memory).flatten(1), write.mT
        for at, erased in zip(write.unbind(2), erase.view(batch, -1, sizes.columns).unbind(1)):
            memory = torch.addcmul(memory, memory, at.unsqueeze(2) * erased.unsqueeze(1), value=-1)
        return torch.baddbmm(memory, write, add), weighting, read, hidden, cell

    def forward(self, inputs, targets):
        batch, p = inputs.shape[1], self.p
        first = [p["memory_start"] if "memory_start" in p else torch.full((self.sizes.rows, self.sizes.columns), 1e-6),
                 torch.softmax(p["weighting_start"], 1), p["read_start"]]
        is_lstm = self.sizes.controller == "lstm"
        first += [p["hidden_start"], p["cell_start"]] if is_lstm else []
        state = [value.expand(batch, *value.shape) for value in first] + ([] if is_lstm else [None, None])
        drives = torch.addmm(p["input_bias"], inputs.flatten(0, 1), p["input_weight"]).view(*inputs.shape[:2], -1)
        answer = []
        for drive in drives.unbind(0):
            state = self.step(drive, *state)
            answer += [state[3], state[2]]
        answer = torch.cat(answer[-2 * len(targets) :], 1).view(batch * len(targets), -1)
        return torch.addmm(p["output_bias"], answer, p["output_weight"]).view(batch, len(targets), -1).transpose(0, 1)


def main():
    options = peer.read_options(__doc__, {"n": 128, "m": 20, "hidden": 100}, {"controller": ["lstm", "ff"]})
    if options.check:
        sys.exit(torch_peer.check(machines.ntm_golden(), Ntm))
    sizes = machines.Ntm(options.controller, options.hidden, options.n, options.m)
    torch_peer.time_program(options, lambda: Ntm(sizes, machines.ntm_start(sizes, options.seed)),
                            peer.episodes(options, blank_steps=True), measure)


if __name__ == "__main__":
    main()
