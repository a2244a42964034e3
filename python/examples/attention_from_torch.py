"""Converts a PyTorch encoder-decoder with attention: its weights to a weights file, and one of its episodes to a trace.

    python attention_from_torch.py weights.safetensors episode.npz [--seconds 20]
    tapescope view weights.safetensors
    tapescope view episode.npz
    tapescope trace weights.safetensors --out ours.npz
    tapescope diff episode.npz ours.npz --tolerance 1e-4

The machine learns to spell words backwards. With the extension installed the script runs Tapescope's machine on the same
words and compares the outputs; they agree within 1e-4.

Replace `Attention` with your own machine. `convert` says what the machine file `bahdanau.machine` needs; the four lines
with `recorder` record any encoder-decoder, also one that cannot be converted.

Needs torch and the tapescope module: `pip install ./python torch`.
"""

import argparse
import sys
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import tapescope as ts

LETTERS, LONGEST = "abcdef", 8
X, Y = len(LETTERS), len(LETTERS) + 1  # the answer has an end symbol, the last channel


def word(rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns inputs [2n + 1, X], targets [2n + 1, Y] and mask [2n + 1] of a word of n letters."""
    letters = rng.integers(0, X, rng.integers(1, LONGEST + 1))
    n = len(letters)
    inputs, targets, mask = np.zeros((2 * n + 1, X)), np.zeros((2 * n + 1, Y)), np.zeros(2 * n + 1)
    inputs[np.arange(n), letters] = 1
    targets[np.arange(n, 2 * n + 1), [*letters[::-1], X]] = 1
    mask[n:] = 1
    return inputs, targets, mask


class Attention(nn.Module):
    """A bidirectional LSTM, the additive score without biases (Bahdanau 2015), and an LSTM that starts from the encoder."""

    def __init__(self, inputs: int, outputs: int, units: int = 24, hidden: int = 32, attention: int = 16) -> None:
        super().__init__()
        self.encoder = nn.LSTM(inputs, units, bidirectional=True)
        self.start = nn.Linear(units, hidden, bias=False)
        self.query = nn.Linear(hidden, attention, bias=False)
        self.row = nn.Linear(2 * units, attention, bias=False)
        self.score = nn.Linear(attention, 1, bias=False)
        self.decoder = nn.LSTMCell(outputs + 2 * units, hidden)
        self.output = nn.Linear(hidden + 2 * units, outputs)

    def forward(self, source: Tensor, steps: int, target: Optional[Tensor] = None, teacher: bool = False,
                recorder: Optional[ts.Recorder] = None) -> Tensor:
        """Runs a batch: source [S, B, X] → logits [steps, B, Y]. Without `teacher` it is fed its own answers."""
        states, (last, _) = self.encoder(source)
        h = torch.tanh(self.start(last[1]))  # last[1]: the backward direction after the first letter
        c, y = torch.zeros_like(h), torch.zeros(source.shape[1], self.output.out_features)
        if recorder:
            recorder.source(source, states, hidden=h, cell=c)
        logits = []
        for t in range(steps):
            key = h
            energies = self.score(torch.tanh(self.query(key) + self.row(states)))[..., 0]
            weights = torch.softmax(energies, 0)
            context = (weights[..., None] * states).sum(0)
            h, c = self.decoder(torch.cat((y, context), 1), (h, c))
            logits.append(self.output(torch.cat((h, context), 1)))
            if recorder:
                recorder.step(logit=logits[t], target=target[t], hidden=h, cell=c, feedback=y,
                              read0=dict(key=key, similarity=energies.T, weighting=weights.T, read=context))
            y = target[t] if teacher else F.one_hot(logits[t].argmax(1), y.shape[1]).float()
        return torch.stack(logits)


def convert(machine: Attention) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Returns the tensors of a weights file and the `model` of its preset.

    Both store [outputs, inputs], and the gates of an LSTM in the same order. `lstm_tensors` makes one matrix of its two, and one
    bias; it gives the matrix as [inputs, outputs]. The input of the decoder is the fed-back answer, then the context; the input of
    the output layer is the state, then the context; the score has no biases (that of `score` alone would change nothing).
    """
    networks = {
        **ts.lstm_tensors("encoder.h", machine.encoder),
        **ts.lstm_tensors("encoder.h_b", machine.encoder, reverse=True),
        **ts.lstm_tensors("s", machine.decoder),
    }
    tensors = {
        **{name: tensor.T for name, tensor in networks.items()},
        "s.start.weight": machine.start.weight,
        "attention.e.weight": torch.cat((machine.query.weight, machine.row.weight), 1),
        "attention.v": machine.score.weight,
        "z.weight": machine.output.weight,
        "z.bias": machine.output.bias,
    }
    model = {
        "kind": "equations",
        "file": "bahdanau.machine",
        "sizes": {"encoder": {"units": machine.encoder.hidden_size}, "units": machine.decoder.hidden_size,
                  "attention": {"units": machine.query.out_features}},
    }
    return tensors, model


def batches(words: List[Tuple[np.ndarray, np.ndarray, np.ndarray]], size: int = 32) -> Iterator[Tuple[Tensor, Tensor]]:
    """Yields sources [S, B, X] and targets [S + 1, B, Y], in each batch of one length."""
    rng = np.random.default_rng(0)
    by_length = {n: [one for one in words if len(one[2]) == 2 * n + 1] for n in range(1, LONGEST + 1)}
    while True:
        n = rng.integers(1, LONGEST + 1)
        chosen = [by_length[n][index] for index in rng.integers(0, len(by_length[n]), size)]
        inputs, targets = (torch.tensor(np.stack(part, 1), dtype=torch.float32) for part in list(zip(*chosen))[:2])
        yield inputs[:n], targets[n:]


def train(machine: Attention, words: List[Tuple[np.ndarray, np.ndarray, np.ndarray]], seconds: float) -> float:
    """Trains for some seconds with teacher forcing and returns the loss of the last batch, nats per letter."""
    optimizer, end, loss = torch.optim.Adam(machine.parameters(), lr=3e-3), time.time() + seconds, torch.tensor(np.nan)
    for source, target in batches(words):
        if time.time() > end:
            break
        logits = machine(source, len(target), target, teacher=True)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(0, 1).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(machine.parameters(), 1.0)
        optimizer.step()
    return float(loss)


def main(weights: str, trace: str, seconds: float) -> None:
    torch.manual_seed(1)
    words = [word(np.random.default_rng([0, index])) for index in range(4000)]
    ts.write_episodes("words.npz", words, input_names=list(LETTERS), target_names=[*LETTERS, "end"])
    machine = Attention(X, Y)
    print(f"{train(machine, words, seconds):.3f} nats per letter after {seconds:g} s")

    tensors, model = convert(machine)
    task = {"kind": "episodes", "file": "words.npz", "answer": "symbols", "inputs": X, "outputs": Y}
    ts.write_weights(weights, tensors, {"name": "words", "task": task, "model": model}, "python " + " ".join(sys.argv))

    # The first held-out episode, which `tapescope trace` shows, too.
    recorder = ts.Recorder("words", kind="bahdanau", answer="symbols", attention={"score": "additive"})
    answers = []
    for index in range(9, len(words), 10):
        inputs, targets, mask = (torch.tensor(array, dtype=torch.float32) for array in words[index])
        n = len(mask) // 2
        with torch.no_grad():
            logits = machine(inputs[:n, None], n + 1, targets[n:, None], recorder=recorder if index == 9 else None)
        answers.append(torch.softmax(logits[:, 0], 1).numpy())
    recorder.save(trace)

    try:
        ours = ts.machine(weights)
    except ts.MissingExtensionError:
        print("not compared: the extension is not installed")
        return
    largest = 0.0
    for episode, answer in enumerate(answers[:100]):
        output = ours.trace(episode=episode)["output"]
        largest = max(largest, float(np.abs(output[-len(answer):] - answer).max()))
    print(f"largest difference of an output in 100 episodes: {largest:.1e}")
    assert largest < 1e-4, "the machines differ"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights")
    parser.add_argument("trace")
    parser.add_argument("--seconds", type=float, default=20.0)
    asked = parser.parse_args()
    main(asked.weights, asked.trace, asked.seconds)
