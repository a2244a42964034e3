"""Models with nn.MultiheadAttention, recorded."""

import unittest

import numpy as np

from support import Test, load, needs
from tapescope import RecordError

try:
    import torch
    from torch import nn

    from tapescope import pytorch_attention
except ImportError:
    nn = None


def layers(**options):
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(8, 2, 12, **options)
    return nn.TransformerEncoder(layer, 2).eval()


def later(steps):
    return torch.ones(steps, steps).triu(1).bool()


@needs("torch")
class PyTorchAttention(Test):
    def refused(self, words, *arguments, **named):
        with self.assertRaises(RecordError) as caught:
            pytorch_attention.record(*arguments, **named)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_causal_layers_are_recorded_and_recomputed(self):
        for batch_first in (True, False):
            model, x = layers(batch_first=batch_first), torch.randn(5, 8)
            batch = x[None] if batch_first else x[:, None]
            before = model(batch, mask=later(5))
            trace = pytorch_attention.record(model, batch, mask=later(5), input=torch.eye(5))
            torch.testing.assert_close(model(batch, mask=later(5)), before)
            self.assertEqual(trace.heads, ["read0", "read1", "read2", "read3"])
            self.assertEqual(trace.meta["model"]["switches"], {"mask": "causal"})
            np.testing.assert_array_equal(trace["input"], np.eye(5))
            for layer, module in enumerate(block.self_attn for block in model.layers):
                if layer == 0:
                    rows = batch
                _, weights = module(rows, rows, rows, attn_mask=later(5), average_attn_weights=False)
                for head in range(2):
                    name = f"read{2 * layer + head}"
                    np.testing.assert_allclose(trace[f"{name}.weighting"], weights[0, head].detach(), atol=1e-6)
                    np.testing.assert_allclose(trace[f"{name}.read"], trace[f"{name}.weighting"] @ trace[f"{name}.row_value"],
                                               atol=1e-6)
                rows = model.layers[layer](rows, src_mask=later(5))
            trace.save(self.path("t.npz"))
            said = self.run_program("verify", "t.npz", "--tolerance", "1e-5")
            self.assertIn("every stage holds: 380 values compared", said)
            self.assertIn("needs the weights: embedded, memory.initial, key, row_key, row_value of read0", said)
            self.run_program("render", "t.npz", "--layout", "debug", "--out", "t.svg")
            np.testing.assert_array_equal(load(self.path("t.npz")).memory(5), x)

    def test_what_the_model_sees_of_its_weights_stays_the_same(self):
        torch.manual_seed(2)
        module = nn.MultiheadAttention(8, 2, bias=False, kdim=8, vdim=6)
        x, values, seen = torch.randn(4, 1, 8), torch.randn(4, 1, 6), []

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = module

            def forward(self, x):
                for options in ({}, {"average_attn_weights": False}, {"need_weights": False}):
                    seen.append(self.attention(x, x, values, **options))
                    module(x, x, values, **options)
                return x

        trace = pytorch_attention.record(Model(), x)
        self.assertEqual((len(trace.heads), trace.meta["model"]["switches"]), (12, {"mask": "full"}))
        for found, options in zip(seen, ({}, {"average_attn_weights": False}, {"need_weights": False})):
            for mine, theirs in zip(found, module(x, x, values, **options)):
                self.assertTrue(mine is theirs is None or torch.allclose(mine, theirs, atol=1e-6))

    def test_another_mask_is_recorded_without_scores(self):
        module, x = nn.MultiheadAttention(4, 2), torch.randn(4, 4)
        band = later(4).T & ~torch.eye(4).roll(-1, 1).bool()
        trace = pytorch_attention.record(module, x, x, x, attn_mask=band | later(4))
        self.assertIn("read0.weighting", trace)
        self.assertNotIn("read0.similarity", trace)
        trace.save(self.path("t.ntmtrace.json"))
        self.run_program("verify", "t.ntmtrace.json", "--tolerance", "1e-5", code=3)

    def test_what_is_no_sequence_is_refused_with_what_to_do(self):
        module, x = nn.MultiheadAttention(4, 2), torch.randn(5, 3, 4)
        self.refused(["the module: receives a batch of 3", "record(model, x[:, :1])"], module, x, x, x)
        self.refused(["a batch of 5", "record(model, x[:1])"], layers(batch_first=True), torch.randn(5, 3, 8))
        decoder = nn.TransformerDecoderLayer(8, 2, 12).eval()
        x, source = torch.randn(4, 1, 8), torch.randn(6, 1, 8)
        self.refused(["`multihead_attn`: attends from 4 steps to another sequence of 6", "modules=[…]"], decoder, x, source)
        self.refused(["to another sequence of 4"], decoder, x, torch.randn(4, 1, 8))
        self.assertEqual(len(pytorch_attention.record(decoder, x, source, modules=["self_attn"]).heads), 2)
        self.refused(["modules: `self_atn`", "did you mean `self_attn`?"], decoder, x, source, modules=["self_atn"])
        self.refused(["drops weights at random", "model.eval()"], decoder.train(), x, source)
        for options in ({"add_bias_kv": True}, {"add_zero_attn": True}):
            self.refused(["adds a row", "leave it out"], nn.MultiheadAttention(8, 2, **options), x, x, x)
        self.refused(["has no nn.MultiheadAttention"], nn.Linear(2, 2), torch.ones(2))
        unlike = nn.Sequential(*(nn.TransformerEncoderLayer(8, heads, 12) for heads in (2, 4))).eval()
        self.refused(["`1.self_attn`: has [heads, steps, size] [4, 4, 2], unlike `0.self_attn`"], unlike, x)
        many = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 16, 12), 5).eval()
        self.refused(["has 5 layers of 16 heads", "at most 64"], many, torch.randn(2, 1, 32))
        module = nn.MultiheadAttention(8, 2)
        self.refused(["`input`: has the shape [3, 2]", "[4, channels]"], module, x, x, x, input=np.ones((3, 2)))


if __name__ == "__main__":
    unittest.main()
