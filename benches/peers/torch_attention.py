#!/usr/bin/env python3
"""An encoder-decoder with additive attention (Bahdanau 2015) in PyTorch, with PyTorch's own LSTM as encoder.

    python torch_attention.py --check
    python torch_attention.py --batch 1 --threads 1

Prints one JSON object with sequences per second of training (`--mode forward`: of the forward pass).
Needs `pip install torch`. Inputs, keys and outputs are one product each for all steps.
"""

import sys

import machines
import peer
import torch_peer
from peer import measure
from torch_peer import F, torch


class Attention(torch_peer.Machine):
    def __init__(self, sizes, parameters):
        super().__init__(sizes, {name: value for name, value in parameters.items() if not name.startswith("encoder.")})
        self.encoder = torch.nn.LSTM(sizes.inputs, sizes.encoder, bidirectional=True)
        for direction, suffix in enumerate(("", "_reverse")):
            for name, own in (("input", "weight_ih_l0"), ("recurrent", "weight_hh_l0"), ("bias", "bias_ih_l0")):
                value = torch.tensor(machines.swap_gates(parameters[f"encoder.{name}"][direction]).T)
                getattr(self.encoder, own + suffix).data.copy_(value)
            # It has two biases; the second remains 0.
            torch.nn.init.zeros_(getattr(self.encoder, "bias_hh_l0" + suffix)).requires_grad_(False)

    def gradients(self):
        """Of the encoder as well, in the form of machines.py."""
        found = super().gradients()
        for name, own in (("input", "weight_ih_l0"), ("recurrent", "weight_hh_l0"), ("bias", "bias_ih_l0")):
            both = [getattr(self.encoder, own + suffix).grad.numpy().T for suffix in ("", "_reverse")]
            found[f"encoder.{name}"] = machines.np.stack([machines.swap_gates(gradient) for gradient in both])
        return found

    def forward(self, inputs, targets):
        batch, units, p = inputs.shape[1], self.sizes.units, self.p
        rows, (last, _) = self.encoder(inputs)
        rows = rows.transpose(0, 1)
        keys = rows @ p["key"]
        hidden = torch.tanh(last[1] @ p["start"])
        cell = torch.zeros_like(hidden)
        feedback = torch.cat((torch.zeros_like(targets[:1]), targets[:-1])).flatten(0, 1)
        drives = torch.addmm(p["feedback_bias"], feedback, p["feedback_weight"]).view(len(targets), batch, -1)
        answer = []
        for drive in drives.unbind(0):
            energies = torch.tanh(keys + (hidden @ p["query"]).unsqueeze(1)) @ p["score"]
            context = torch.bmm(torch.softmax(energies, 1).unsqueeze(1), rows).squeeze(1)
            z = torch.addmm(drive, torch.cat((context, hidden), 1), p["decoder"])
            gates, candidate = z.split((3 * units, units), 1)
            i, f, o = torch.sigmoid(gates).chunk(3, 1)
            cell = torch.addcmul(f * cell, i, torch.tanh(candidate))
            hidden = o * torch.tanh(cell)
            answer += [hidden, context]
        answer = torch.cat(answer, 1).view(batch * len(targets), -1)
        return torch.addmm(p["output_bias"], answer, p["output_weight"]).view(batch, len(targets), -1).transpose(0, 1)


def softmax_loss(logits, targets):
    return -(targets * F.log_softmax(logits, 2)).sum()


def main():
    options = peer.read_options(__doc__, {"encoder": 50, "hidden": 100, "score": 64})
    if options.check:
        # The targets of the golden values are words.
        sys.exit(torch_peer.check(machines.attention_golden(), Attention, softmax_loss))
    sizes = machines.Attention(options.encoder, options.hidden, options.score)
    torch_peer.time_program(options, lambda: Attention(sizes, machines.attention_start(sizes, options.seed)),
                            peer.episodes(options, blank_steps=False), measure)


if __name__ == "__main__":
    main()
