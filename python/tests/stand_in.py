"""A small machine with the conventions of pytorch-ntm and the names of its attributes, for the tests of the adapter."""

import torch
from torch import nn
from torch.nn import functional


class Memory(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.register_buffer("mem_bias", torch.rand(n, m) - 0.5)

    def _similarity(self, key, strength):
        cosine = functional.cosine_similarity(self.memory + 1e-16, key[:, None, :] + 1e-16, dim=2)
        return torch.softmax(strength * cosine, 1)

    def _interpolate(self, before, content, gate):
        return torch.lerp(before, content, gate)

    def _shift(self, gated, shift):
        # The first column moves forwards.
        return sum(shift[:, [column]] * gated.roll(1 - column, 1) for column in range(3))


class Head(nn.Module):
    def __init__(self, memory, units, lengths):
        super().__init__()
        self.memory, self.lengths = memory, lengths
        self.linear = nn.Linear(units, sum(lengths))
        nn.init.normal_(self.linear.weight, std=0.8)
        nn.init.normal_(self.linear.bias, std=0.8)

    def is_read_head(self):
        return len(self.lengths) == 5

    # What the original calls the two, by the kind of the head.
    fc_read = fc_write = property(lambda self: self.linear)
    read_lengths = write_lengths = property(lambda self: self.lengths)

    def forward(self, hidden, before):
        key, strength, gate, shift, sharpening, *writing = self.linear(hidden).split(self.lengths, 1)
        memory = self.memory
        content = memory._similarity(key, functional.softplus(strength))
        gated = memory._interpolate(before, content, torch.sigmoid(gate))
        sharp = memory._shift(gated, torch.softmax(shift, 1)) ** (1 + functional.softplus(sharpening))
        weighting = sharp / (sharp.sum(1, keepdim=True) + 1e-16)
        if not writing:
            return (weighting[:, None] @ memory.memory)[:, 0], weighting
        erase, add = torch.sigmoid(writing[0]), writing[1]
        memory.memory = memory.memory * (1 - weighting[:, :, None] * erase[:, None]) + weighting[:, :, None] * add[:, None]
        return weighting


class Controller(nn.Module):
    def __init__(self, inputs, units, layers):
        super().__init__()
        self.num_layers = layers
        self.lstm = nn.LSTM(inputs, units, layers)
        self.lstm_h_bias = nn.Parameter(torch.randn(layers, 1, units))
        self.lstm_c_bias = nn.Parameter(torch.randn(layers, 1, units))
        for parameter in self.lstm.parameters():
            nn.init.normal_(parameter, std=0.5)


class EncapsulatedNTM(nn.Module):
    def __init__(self, num_inputs, num_outputs, controller_size, controller_layers, num_heads, N, M):
        super().__init__()
        self.num_inputs, self.num_outputs, self.N, self.M = num_inputs, num_outputs, N, M
        self.controller_size = controller_size
        self.memory = Memory(N, M)
        self.ntm = nn.Module()
        self.ntm.controller = Controller(num_inputs + M * num_heads, controller_size, controller_layers)
        pair = [[M, 1, 1, 3, 1], [M, 1, 1, 3, 1, M, M]]
        self.ntm.heads = nn.ModuleList(Head(self.memory, controller_size, lengths) for lengths in pair * num_heads)
        self.ntm.init_r = [torch.randn(1, M) for _ in range(num_heads)]
        self.ntm.fc = nn.Linear(controller_size + M * num_heads, num_outputs)

    def init_sequence(self, batch_size):
        self.memory.memory = self.memory.mem_bias.repeat(batch_size, 1, 1)
        controller, heads = self.ntm.controller, self.ntm.heads
        state = (controller.lstm_h_bias.repeat(1, batch_size, 1), controller.lstm_c_bias.repeat(1, batch_size, 1))
        reads = [read.repeat(batch_size, 1) for read in self.ntm.init_r]
        self.previous_state = reads, state, [torch.zeros(batch_size, self.N) for _ in heads]

    def forward(self, x):
        reads, state, weightings = self.previous_state
        hidden, state = self.ntm.controller.lstm(torch.cat([x, *reads], 1)[None], state)
        reads, now = [], []
        for head, before in zip(self.ntm.heads, weightings):
            made = head(hidden[0], before)
            if head.is_read_head():
                reads.append(made[0])
                made = made[1]
            now.append(made)
        self.previous_state = reads, state, now
        return torch.sigmoid(self.ntm.fc(torch.cat([hidden[0], *reads], 1))), self.previous_state
