"""The equations of machines with a source, as docs/formats.md has them under Weights: in NumPy they give the same logits."""

import unittest

import numpy as np

import support
import tapescope as ts
from test_native import random_weights

TASK = {"kind": "transduce", "symbols": 4, "order": "reverse", "length": [1, 4]}
MODELS = (
    {"kind": "bahdanau", "encoder": {"size": 5}}, {"kind": "bahdanau", "encoder": {"direction": "forward"}},
    {"kind": "fixed-context", "encoder": {"direction": "both", "size": 4}},
    {"kind": "luong", "encoder": {"size": 6}},
    {"kind": "luong", "encoder": {"cell": "gru", "direction": "both", "size": 5, "embedding": 3},
     "decoder": {"input_feeding": "on", "attentional": 7}},
    {"kind": "caption"}, {"kind": "caption", "decoder": {"gate": "on", "embedding": 6, "size": 9}},
)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Equations:
    """A machine in float64."""

    def __init__(self, model, tensors):
        self.model, self.w = model, tensors

    def map(self, name, *u):
        return np.concatenate(u) @ self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def lstm(self, name, u, state):
        s, c = state
        i, f, g, o = np.split(self.map(name, *u, s), 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c

    def gru(self, name, u, state):
        h, c = state
        z, r = np.split(sigmoid(self.map(f"{name}.gates", u, h)), 2)
        return (1 - z) * h + z * np.tanh(self.map(f"{name}.candidate", u, r * h)), c

    def encode(self, inputs):
        """Returns the rows, the last state of each direction, and the last cell."""
        encoder, count = self.model["encoder"], len(inputs)
        inputs = inputs @ self.w["encoder.embedding"] if encoder["embedding"] else inputs
        both = {"forward": range(count), "backward": range(count - 1, -1, -1)}
        states, last = [], []
        for direction in ("forward", "backward") if encoder["direction"] == "both" else ("forward",):
            name, state, rows = f"encoder.{direction}", np.zeros((2, encoder["size"])), np.zeros((count, encoder["size"]))
            for i in both[direction]:
                state = self.gru(name, inputs[i], state) if encoder["cell"] == "gru" else self.lstm(name, [inputs[i]], state)
                rows[i] = state[0]
            states.append(rows)
            last.append(state)
        hidden, cell = zip(*last)
        return np.concatenate(states, 1), hidden, cell

    def read(self, k, rows):
        if self.model["attention"]["score"] == "general":
            e = rows @ (k @ self.w["read0.bilinear"])
        else:
            e = np.tanh(k @ self.w["read0.additive_key"] + rows @ self.w["read0.additive_row"]) @ self.w["read0.additive_vector"][0]
        return np.exp(e) / np.exp(e).sum() @ rows

    def run(self, inputs, steps):
        """Returns the logits of an answer."""
        kind, decoder, w = self.model["kind"], self.model.get("decoder", {}), self.w
        if kind == "caption":
            rows, mean = inputs, inputs.mean(0)
            s, c = np.tanh(self.map("start.hidden", mean)), np.tanh(self.map("start.cell", mean))
        else:
            rows, hidden, cell = self.encode(inputs)
            s, c = np.concatenate(hidden), np.concatenate(cell)
        if kind == "bahdanau":
            s = np.tanh(hidden[-1] @ w["start.weight"])
            c = np.zeros_like(s)
        y, attentional, logits = np.zeros(w["output.weight"].shape[1]), np.zeros(decoder.get("attentional", 0)), []
        for _ in range(steps):
            if kind == "bahdanau":
                r = self.read(s, rows)
                s, c = self.lstm("decoder", [y, r], (s, c))
                z = self.map("output", s, r)
            elif kind == "fixed-context":
                s, c = self.lstm("decoder", [y], (s, c))
                z = self.map("output", s)
            elif kind == "luong":
                s, c = self.lstm("decoder", [y, attentional] if decoder["input_feeding"] == "on" else [y], (s, c))
                attentional = np.tanh(np.concatenate([self.read(s, rows), s]) @ w["combine.weight"])
                z = self.map("output", attentional)
            else:
                context = self.read(s, rows) * (sigmoid(self.map("context.gate", s)) if decoder["gate"] == "on" else 1)
                fed = y @ w["embedding.weight"]
                s, c = self.lstm("decoder", [fed, context], (s, c))
                z = (fed + s @ w["output.hidden"] + context @ w["output.context"]) @ w["output.weight"]
            logits.append(z)
            y = np.eye(len(z))[z.argmax()]
        return np.array(logits)


@support.needs_extension
class Documented(support.Test):
    def test_the_equations_of_the_docs_give_the_logits(self):
        for model in MODELS:
            preset = {"task": TASK, "model": model}
            tensors = random_weights(preset)
            machine = ts.machine_from(tensors, preset)
            trace = machine.trace(length=4)
            source = int(trace["mask"].argmax())
            logits = Equations(machine.preset["model"], tensors).run(trace["input"][:source], trace.steps - source)
            np.testing.assert_allclose(trace["logit"][source:], logits, atol=1e-5, err_msg=str(model))


if __name__ == "__main__":
    unittest.main()
