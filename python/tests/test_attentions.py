"""Attention of other programs: every form that it comes in, and the errors for other values."""

import unittest
from pathlib import Path

import numpy as np

from support import Test, needs_extension

import tapescope as ts

TOKENS = ["the", " cat", "sat", "on", "the", "mat"]


def weights(layers=3, heads=4, steps=6, seed=1):
    """Returns causal weights, [layers, heads, steps, steps]."""
    values = np.random.default_rng(seed).random((layers, heads, steps, steps)) * np.tril(np.ones((steps, steps)))
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


@needs_extension
class Attentions(Test):
    def test_all_forms_give_the_same_heads(self):
        whole = weights()
        trace = ts.attention(TOKENS, whole)
        self.assertEqual(len([name for name in trace.arrays if name.endswith(".weighting")]), 12)
        np.testing.assert_allclose(trace["read5.weighting"], whole[1, 1], atol=1e-6)
        np.testing.assert_allclose(trace["mean"], whole.mean((0, 1)), atol=1e-6)
        np.testing.assert_allclose(trace["maximum"], whole.max((0, 1)), atol=1e-6)
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
        np.testing.assert_allclose(ts.load(folder / "w.txt")["read0.weighting"], whole[0, 0], atol=1e-5)
        self.assertEqual(ts.load(folder / "w.npy").meta["task"]["name"], "attention")
        for data in (b"\x93NUMPY", (folder / "w.npy").read_bytes()[:200]):
            (folder / "bad.npy").write_bytes(data)
            with self.assertRaisesRegex(ts.FormatError, "bad.npy: .*expected"):
                ts.attention(TOKENS, folder / "bad.npy")
        with self.assertRaises(ts.FileError):
            ts.attention(TOKENS, folder / "nothing.npy")

    def test_cross_attention_has_the_tokens_of_both_sides(self):
        whole = weights(2, 3)[:, :, 1:]
        target = ["le", "chat", "est", "assis", "."]
        trace = ts.attention(target, tuple(layer[None] for layer in whole), source=TOKENS, links="0-0 1-1 2-3 4p4 5p4")
        np.testing.assert_allclose(trace["read5.weighting"][6:], whole[1, 2], atol=1e-6)
        self.assertFalse(trace["read5.weighting"][:6].any())
        self.assertEqual(trace.meta["task"]["params"]["target_symbols"], "le chat est assis .")
        # Each generated token has one step, and its weights of the whole source.
        generated = [[layer[None, :, step:step + 1] for layer in whole] for step in range(5)]
        again = ts.attention(target, generated, source=TOKENS)
        np.testing.assert_array_equal(again["read5.weighting"], trace["read5.weighting"])
        trace.save(Path(self.folder, "cross.npz"))
        text = self.run_program("render", "cross.npz", "--layout", "weightings", "--out", "cross.svg")
        self.assertRegex(text, r"pairs, length 6: alignment error rate 0\.\d+ of R\d, the lowest")

    def test_links_and_their_sentences_are_read(self):
        folder = Path(self.folder)
        (folder / "pairs.align").write_text("1-1\n1-1 3-2 2p2\n", encoding="utf-8")
        (folder / "source.txt").write_text("a\nI see you\n", encoding="utf-8")
        trace = ts.attention(["je", "vois"], folder / "pairs.align", source=folder / "source.txt", line=2, first=1)
        np.testing.assert_array_equal(trace["read0.weighting"][3:], [[1, 0, 0], [0, 0.5, 0.5]])

    def test_many_heads_of_a_large_model(self):
        trace = ts.attention(["a", "b"], weights(48, 25, 2))
        self.assertIn("read1199.weighting", trace.arrays)

    def test_the_program_draws_it(self):
        ts.attention(TOKENS, weights()).save(Path(self.folder, "attention.npz"))
        text = self.run_program("render", "attention.npz", "--layout", "debug", "--out", "attention.svg")
        self.assertIn("length 6: as recorded", text)
        self.assertIn("\N{OPEN BOX}cat", Path(self.folder, "attention.svg").read_text(encoding="utf-8"))

    def test_it_is_a_trace_like_any_other(self):
        trace = ts.attention(TOKENS, weights())
        self.assertIn("\N{OPEN BOX}cat", str(trace.figure()))
        self.assertTrue(trace.check())

    def test_what_is_no_attention_is_told_with_what_to_pass(self):
        whole = weights()
        nan, two = whole.copy(), np.repeat(whole[:, None], 2, 1)
        nan[0, 0, 1, 0] = np.nan
        for attentions, expected in [
            (None, "`attentions`: is None; expected those of model(…, output_attentions=True)"),
            ((whole[0], None), "has a layer that is None; expected weights of each layer"),
            ((), "is empty"),
            (list(two), "`attentions[0]`: is a batch of 2; expected one sequence"),
            (two, "`attentions[0]`: is a batch of 2; expected one sequence"),
            (whole[:, :, :4], "`tokens`: has 6 tokens; attentions has weights of 4 steps; expected one for each"),
            (nan, "`attentions`: layer 0, head 0, step 1: has the weight NaN of token 0; expected 0 to 1"),
            (whole * 2, "`attentions`: layer 0, head 0, step 0: has weights that sum to 2.000; expected 1: weights after the softmax"),
            ((whole[0], whole[1, :2]), "have layers of the shapes [[2, 6, 6], [4, 6, 6]]; expected the same number"),
            ("x", "is a str; expected output.attentions"),
            (weights(60, 40, 6), "has 2400 heads; expected at most 2048: some of the layers"),
        ]:
            with self.assertRaises(ts.RecordError) as caught:
                ts.attention(TOKENS, attentions)
            self.assertIn(expected, str(caught.exception))
        for given, expected in [
            (dict(tokens="the cat"), "`tokens`: is a text; expected a token for each step"),
            (dict(tokens=[1] * 6), "`tokens`: is not a list of texts"),
            (dict(source=TOKENS[:5]), "`source`: has 5 tokens; attentions has weights of 6 source tokens"),
            (dict(source=TOKENS, links="0:0"), "`links`: line 1: has the link `0:0`; expected a source token"),
            (dict(source=TOKENS, links="0-0", first=1), "0 is outside the source, which has the tokens 1 to 6"),
            (dict(source=TOKENS, links="6-0"), "6 is outside the source, which has the tokens 0 to 5"),
        ]:
            with self.assertRaises(ts.RecordError) as caught:
                ts.attention(**{"tokens": TOKENS, "attentions": whole, **given})
            self.assertIn(expected, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
