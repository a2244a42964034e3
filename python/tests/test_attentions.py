"""Attention of other programs: every form that it comes in, and the errors for other values."""

import os
import unittest
import warnings
from pathlib import Path

import numpy as np

from support import Test, needs_extension

import tapescope as ts

TOKENS = ["the", " cat", "sat", "on", "the", "mat"]


def weights(layers=3, heads=4, steps=6, seed=1):
    """Returns causal weights, [layers, heads, steps, steps]."""
    values = np.random.default_rng(seed).random((layers, heads, steps, steps)) * np.tril(np.ones((steps, steps)))
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


class Attentions(Test):
    def test_all_forms_give_the_same_heads(self):
        whole = weights()
        trace = ts.attention(TOKENS, whole)
        self.assertEqual(len([name for name in trace.arrays if name.endswith(".weighting")]), 12)
        np.testing.assert_allclose(trace["read5.weighting"], whole[1, 1], atol=1e-6)
        self.assertEqual(trace.meta["model"]["switches"], {"mask": "causal"})
        self.assertEqual(trace.meta["task"]["params"]["text_symbols"], "the \N{OPEN BOX}cat sat on mat")
        # A tuple of tensors with a batch of 1, as transformers has them; in half precision.
        batched = ts.attention(TOKENS, tuple(layer[None] for layer in whole.astype(np.float16)))
        np.testing.assert_allclose(batched["read5.weighting"], whole[1, 1], atol=1e-3)
        # A prompt of four tokens and two generated ones.
        generated = [[layer[None, :, :4, :4] for layer in whole], *([layer[None, :, t:t + 1, :t + 1] for layer in whole] for t in (4, 5))]
        again = ts.attention(TOKENS, generated)
        np.testing.assert_array_equal(again["read11.weighting"], trace["read11.weighting"])
        mean = ts.attention(TOKENS, whole, average=True)
        np.testing.assert_allclose(mean["read2.weighting"], whole[2].mean(0), atol=1e-6)
        one = ts.attention(TOKENS, whole[0, 0])
        self.assertEqual([name for name in one.arrays if name.endswith(".weighting")], ["read0.weighting"])

    def test_weights_and_tokens_come_from_files(self):
        whole, folder = weights(), Path(self.folder)
        np.save(folder / "w.npy", np.asfortranarray(whole.astype(np.float16)))
        np.savetxt(folder / "w.txt", whole[0, 0], fmt="%.6f", delimiter=", ")
        (folder / "tokens.txt").write_text("the cat sat\non the mat\n", encoding="utf-8")
        trace = ts.attention(folder / "tokens.txt", folder / "w.npy")
        np.testing.assert_allclose(trace["read11.weighting"], whole[2, 3], atol=1e-3)
        np.testing.assert_allclose(ts.attention(TOKENS, folder / "w.txt")["read0.weighting"], whole[0, 0], atol=1e-5)
        (folder / "w.txt").write_text("1 0\n0.5\n", encoding="utf-8")
        with self.assertRaises(ts.FormatError) as caught:
            ts.attention(["a", "b"], folder / "w.txt")
        self.assertIn("line 2: has 1 numbers; expected 2, as in the first line", str(caught.exception))
        for data in (b"", b"words", (folder / "w.npy").read_bytes()[:200]):
            (folder / "bad.npy").write_bytes(data)
            with self.assertRaisesRegex(ts.FormatError, "bad.npy: is not an array"):
                ts.attention(TOKENS, folder / "bad.npy")
        with self.assertRaises(ts.FileError):
            ts.attention(TOKENS, folder / "nothing.npy")

    def test_many_heads_of_a_large_model(self):
        trace = ts.attention(["a", "b"], weights(16, 25, 2))
        self.assertIn("read399.weighting", trace.arrays)

    def test_the_program_draws_it(self):
        path = os.path.join(self.folder, "attention.npz")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without the extension the text of the machine file is not in the trace
            ts.attention(TOKENS, weights()).save(path)
        text = self.run_program("render", path, "--layout", "debug", "--out", "attention.svg")
        self.assertIn("length 6: as recorded", text)
        with open(os.path.join(self.folder, "attention.svg"), encoding="utf-8") as file:
            drawing = file.read()
        self.assertIn("\N{OPEN BOX}cat", drawing)

    @needs_extension
    def test_it_is_a_trace_like_any_other(self):
        trace = ts.attention(TOKENS, weights())
        self.assertIn("\N{OPEN BOX}cat", str(trace.figure()))

    def test_what_is_no_attention_is_told_with_what_to_pass(self):
        whole = weights()
        nan, two = whole.copy(), np.repeat(whole[:, None], 2, 1)
        nan[0, 0, 1, 0] = np.nan
        for attentions, expected in [
            (None, "`attentions`: is None; expected those of model(…, output_attentions=True)"),
            ((whole[0], None), "has a layer that is None; expected weights of each layer"),
            ((), "is empty"),
            (list(two), "`attentions[0]`: is a batch of 2; expected one sequence"),
            (whole[:, :, :4], "has the weights of 6 tokens in 4 steps; expected self-attention"),
            (whole[:, :, :5, :5], "has 5 steps; there are 6 tokens"),
            (nan, "has weights that are not numbers; expected steps without padding"),
            (whole * 2, "step 0 has weights that sum to 2; expected weights after the softmax"),
            ((whole[0], whole[1, :2]), "have [2, 4] heads; expected the same number in all layers"),
            ("x", "is not an array of numbers"),
            (weights(17, 1), "has 17 layers; expected at most 16: some of them"),
        ]:
            with self.assertRaises(ts.RecordError) as caught:
                ts.attention(TOKENS, attentions)
            self.assertIn(expected, str(caught.exception))
        with self.assertRaises(ts.RecordError) as caught:
            ts.attention("the cat", whole)
        self.assertIn("`tokens`: is not a list of texts", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
