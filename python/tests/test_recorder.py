"""The recorder: what it takes, what it refuses, and what becomes of it."""

import importlib.util
import json
import os
import unittest
from unittest import mock

import numpy as np

from support import HERE, Test, example, needs, needs_extension
from tapescope import FormatError, Recorder, TapescopeError, load
from tapescope import trace as trace_module

ROW = np.eye(4)


def with_source(kind, units=5, scale=1.0, **options):
    """Records an invented episode of four source steps and three answers, with the stages of an additive score."""
    random = np.random.default_rng(3)
    inputs, rows = random.normal(size=(4, 3)), np.tanh(random.normal(size=(4, 6))) * scale
    of_key, of_row, v = random.normal(size=(units, 2)), random.normal(size=(6, 2)), random.normal(size=2)
    recorder = Recorder("mine", kind=kind, answer="symbols", attention={"score": "additive"}, **options)
    h, c = np.tanh(random.normal(size=(2, units)))
    recorder.source(inputs, rows, hidden=h, cell=c)
    weightings = []
    for t in range(3):
        key, (h, c) = h, np.tanh(random.normal(size=(2, units)))
        key = h if kind == "luong" else key
        energies = np.tanh(key @ of_key + rows @ of_row) @ v
        w = np.exp(energies) / np.exp(energies).sum()
        recorder.step(logit=random.normal(size=4), target=np.eye(4)[t], hidden=h, cell=c,
                      read0=dict(key=key, similarity=energies, content=w, weighting=w, read=w @ rows))
        weightings.append(w)
    return recorder, rows.astype(np.float32), np.array(weightings, np.float32)


WITH_SOURCE = (("bahdanau", {}), ("bahdanau", dict(units=6)), ("luong", dict(units=6)),
               ("luong", dict(units=6, encoder={"direction": "both", "cell": "gru"})))


def softmax(x):
    return np.exp(x) / np.exp(x).sum()


MANAGED = ({}, {"links": "off"}, {"allocation": "off"}, {"free_gates": "off"})


def managed(heads=(), steps=6, leave_out=(), **options):
    """Records an invented episode of a Differentiable Neural Computer with two read heads, as docs/formats/traces.md has its equations;
    `leave_out`: arrays that are not given."""
    heads, random, n, m = dict(heads), np.random.default_rng(7), 5, 3
    memory, u = random.normal(size=(n, m)), random.uniform(size=n)
    allocates, links = heads.get("allocation") != "off", heads.get("links") != "off"
    frees = allocates and heads.get("free_gates") != "off"
    recorder = Recorder("mine", kind="dnc", memory=memory, usage=u if allocates else None, heads=heads, **options)
    ww, wr, p, matrix = np.zeros(n), np.zeros((2, n)), np.zeros(n), np.zeros((n, n))

    def content(key, strength):
        similarity = memory @ key / np.linalg.norm(memory, axis=1) / np.linalg.norm(key)
        return dict(key=key, strength=strength, similarity=similarity, content=softmax(strength * similarity))

    for _ in range(steps):
        free, (ga, gw) = random.uniform(size=2), random.uniform(size=2)
        u = (u + ww - u * ww) * np.prod(1 - free[:, None] * wr * frees, 0)
        order, a = np.argsort(u, kind="stable"), np.zeros(n)
        a[order] = (1 - u[order]) * np.cumprod([1, *u[order][:-1]])
        write = content(random.normal(size=m), random.uniform(1, 3))
        ww = gw * (ga * a + (1 - ga) * write["content"] if allocates else write["content"])
        erase, add = random.uniform(size=m), random.normal(size=m)
        memory = memory * (1 - np.outer(ww, erase)) + np.outer(ww, add)
        matrix = ((1 - ww[:, None] - ww) * matrix + np.outer(ww, p)) * (1 - np.eye(n))
        p = (1 - ww.sum()) * p + ww
        reads = []
        for i in range(2):
            read, modes = content(random.normal(size=m), random.uniform(1, 3)), softmax(random.normal(size=3))
            ways = matrix.T @ wr[i], read["content"], matrix @ wr[i]
            wr[i] = modes @ ways if links else read["content"]
            read.update(weighting=wr[i].copy(), read=wr[i] @ memory)
            read.update(dict(free_gate=free[i]) if frees else {})
            read.update(dict(read_modes=modes, backward=ways[0], forward=ways[2]) if links else {})
            reads.append(read)
        write.update(weighting=ww, erase=erase, add=add, write_gate=gw)
        write.update(dict(usage=u, allocation=a, allocation_gate=ga) if allocates else {})
        write.update(dict(precedence=p) if links else {})
        given = {head: {part: value for part, value in parts.items() if part not in leave_out}
                 for head, parts in (("read0", reads[0]), ("read1", reads[1]), ("write0", write))}
        recorder.step(input=[1], memory=memory, **given)
    return recorder


class Recording(Test):
    def refused(self, words, call, *arguments, **named):
        """A refusal in words that stand in its message, as an error of ours that is a ValueError."""
        with self.assertRaises(ValueError) as caught:
            call(*arguments, **named)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, str(caught.exception))
        self.assertIsInstance(caught.exception, TapescopeError)

    def test_a_foreign_machine_is_recorded_in_parts(self):
        recorder = Recorder("mine", read0=ROW[0], write0=None)
        for t in range(3):
            recorder.step(input=[t, 1], output=[0.5], read0=dict(weighting=ROW[t], gate=0.5),
                          write0=dict(weighting=ROW[t], erase=[0, 0], add=[1, 0]))
        recorder.save(self.path("t.ntmtrace.json"))
        # Of weightings alone nothing follows: that is said, and is no success.
        said = self.run_program("verify", "t.ntmtrace.json", code=1)
        self.assertIn("contains nothing that can be recomputed", said)
        trace = load(self.path("t.ntmtrace.json"))
        self.assertEqual(trace.heads, ["read0", "write0"])
        self.assertNotIn("write0.initial", trace)
        self.refused("`weighting` is missing", recorder.step, input=[0, 1], read0=dict(gate=0.5))

    def test_a_refused_step_says_where_and_leaves_nothing_behind(self):
        recorder = Recorder("mine", memory=np.zeros((4, 3)))
        good = dict(input=[0, 1], read0=dict(weighting=ROW[0], key=[1, 2, 3]))
        self.refused("step 0: there is no head", recorder.step, input=[0, 1])
        recorder.step(**good)
        for given, words in (
            (dict(input=[0, 1]), "step 1: `read0`: is missing; expected dict(weighting=…)"),
            (dict(good, output=[1]), "step 1: `output`: was not given in every step before"),
            (dict(good, input=[0, 1, 2]), "step 1: `input`: has the shape [3]; expected 2 in place of 3, as in `input`"),
            (dict(good, read0=dict(weighting=np.eye(5)[0], key=[1, 2, 3])),
             "step 1, read0: `weighting`: has the shape [5]; expected 4 in place of 5, as in `memory`"),
            (dict(good, read0=dict(weighting=ROW[0], key=[1, 2, 3, 4])), "step 1, read0: `key`: has the shape [4]"),
            (dict(good, read0=dict(weighting=ROW[0])), "step 1: `read0.key`: is missing; it was given before"),
            (dict(good, memory=np.zeros((4, 2))), "step 1: `memory`: has the shape [4, 2]; expected 3 in place of 2"),
            (dict(good, input="abc"), "step 1: `input`: is not an array of numbers"),
            (dict(good, read0=ROW[0]), "step 1: `read0`: is a ndarray; expected dict(weighting=…)"),
        ):
            self.refused(words, recorder.step, **given)
        recorder.step(**good)
        recorder.save(self.path("t.npz"))
        self.assertEqual(load(self.path("t.npz"))["input"].shape, (2, 2))

    def test_every_order_of_heads_is_recorded_as_such(self):
        for order in ("read-first", "write-first", "in-turn"):
            recorder = Recorder("mine", memory=np.zeros((4, 2)), order=order)
            memory, added = np.zeros((4, 2)), np.outer(ROW[1], [1, 2])
            for _ in range(2):
                before, memory = memory, memory * (1 - ROW[1][:, None]) + added
                seen = memory if order == "write-first" else before
                read0 = dict(weighting=ROW[1], read=ROW[1] @ seen)
                recorder.step(input=[1], memory=memory, read0=read0,
                              write0=dict(weighting=ROW[1], erase=[1, 1], add=[1, 2]))
            recorder.save(self.path("t.npz"))
            # A weighting alone cannot be checked; the reads and the memories can.
            said = self.run_program("verify", "t.npz", code=3)
            self.assertIn("read0.weighting (read0.sharpening and read0.shifted are absent)", said)
            np.testing.assert_array_equal(recorder.trace().memory(2), memory)
        self.refused("did you mean `write-first`?", Recorder, "mine", order="writefirst")

    def test_heads_in_turn_keep_their_order_and_write_one_after_the_other(self):
        recorder = Recorder("mine", memory=np.ones((4, 2)), order="in-turn", read0=ROW[0] * 0, write0=None, read1=None,
                            write1=None)
        write = dict(weighting=ROW[1], erase=[0.5, 0.5], add=[1, 0])
        recorder.step(input=[1], read0=dict(weighting=ROW[0]), write0=write, read1=dict(weighting=ROW[0]), write1=write)
        trace = recorder.trace()
        self.assertEqual(trace.heads, ["read0", "write0", "read1", "write1"])
        np.testing.assert_array_equal(trace.memory(1)[1], [(1 * 0.5 + 1) * 0.5 + 1, 0.25])
        np.testing.assert_array_equal(trace["read0.initial"], np.zeros(4))

    def test_a_batch_is_refused_with_the_index_to_take(self):
        recorder = Recorder("mine", memory=np.zeros((1, 4, 2)))
        read0 = dict(weighting=ROW[:1], gate=[[0.5]], key=[[1, 2]])
        recorder.step(input=[[0, 1, 0]], hidden=[[1, 2]], memory=np.zeros((1, 4, 2)), read0=read0)
        self.assertEqual(recorder.trace()["read0.key"].shape, (1, 2))
        two = np.zeros((2, 3))
        for given, words in (
            (dict(input=two), "step 1: `input`: has the shape [2, 3], a batch of 2; a trace is one episode; expected one "
                              "axis: give `input[0]`, and the same index of everything else"),
            (dict(input=two[0], memory=np.zeros((2, 4, 2))), "give `memory[0]`"),
            (dict(input=two[0], hidden=two[:, :2]), ("layers=2", "of a batch of 2 give `hidden[0]`")),
            (dict(input=two[0], read0=dict(weighting=ROW[:2], gate=0.5)), "step 1, read0: `weighting`: has the shape [2, 4]"),
            (dict(input=two[0], read0=dict(weighting=ROW[0], gate=[0.5, 0.5])), "one number: give `gate[0]`"),
        ):
            self.refused(words, recorder.step, **{"hidden": [1, 2], "memory": np.zeros((4, 2)), "read0": read0, **given})
        self.refused("give `memory[0]`", Recorder, "mine", memory=np.zeros((2, 4, 2)))
        self.refused("give `read0[0]`", Recorder, "mine", read0=np.ones((2, 4)) / 4)

    def test_layers_stay_layers_where_they_are_declared(self):
        recorder = Recorder("mine", layers=2)
        hidden, cell = np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 1, 3)  # as PyTorch's LSTM has it
        read0 = dict(weighting=ROW[0])
        recorder.step(input=[1], output=[1], hidden=hidden, cell=cell, read0=read0)
        self.refused("expected [layers, units], with layers=2", recorder.step, input=[1], output=[1], hidden=hidden[0],
                     cell=cell, read0=read0)
        self.refused("give `hidden[:, 0]`", recorder.step, input=[1], output=[1], hidden=np.zeros((2, 5, 3)), cell=cell,
                     read0=read0)
        self.refused("as in `layers`", recorder.step, input=[1], output=[1], hidden=np.zeros((3, 3)), cell=cell, read0=read0)
        recorder.save(self.path("t.ntmtrace.json"))
        trace = load(self.path("t.ntmtrace.json"))
        self.assertEqual(trace.dims["controller.hidden"], ("t", "l", "c"))
        np.testing.assert_array_equal(trace["controller.cell"], [hidden])
        self.assertEqual(trace.meta["axes"]["l"], {"size": 2})
        self.run_program("diff", "t.ntmtrace.json", "t.ntmtrace.json")

    def test_misspelt_names_are_refused_with_what_was_meant(self):
        for given, words in (
            (dict(memroy=np.zeros((4, 2))), "did you mean `memory`?"),
            (dict(wirte0=ROW[0]), "did you mean `write0`?"),
            (dict(orders="read-first"), "did you mean `order`?"),
            (dict(read1=ROW[0]), "expected `read0` next"),
            (dict(shifts=[0, 1, 2]), "expected the numbers from -k to k"),
            (dict(similarity="cosine-clamped"), ("`similarity`: is 'cosine-clamped'", "did you mean `cosine-clamped-norms`?")),
        ):
            self.refused(words, Recorder, "copy", **given)
        recorder = Recorder("copy", params={"bits": 2}, read0=ROW[0])
        good = dict(input=[0, 1, 0], read0=dict(weighting=ROW[0], gate=0.5))
        recorder.step(**good)
        for given, words in (
            (dict(good, outptu=[1, 0]), "did you mean `output`?"),
            (dict(good, red0=dict(weighting=ROW[0])), "did you mean `read0`?"),
            (dict(good, read0=dict(weighting=ROW[0], gates=0.5)), "a read head has no `gates`; did you mean `gate`?"),
            (dict(good, read0=dict(weighting=ROW[0], erase=[1])), "a read head has no `erase`"),
            (dict(good, write0=dict(weighting=ROW[0])), "`write0`: was not declared before the first step"),
            (dict(good, input=[0, 1]), "has the shape [2]"),
        ):
            self.refused(words, recorder.step, **given)

    def test_values_that_no_machine_of_the_kind_has_are_refused(self):
        good = dict(input=[1], output=[1], read0=dict(weighting=ROW[0]))
        Recorder("mine").step(**good)
        nan = float("nan")
        for part, value, words in (
            ("weighting", [1, 1, 1, 0], "sums to 3; expected 1"),
            ("weighting", [1, 0.5, -0.5, 0], "has the value -0.5; expected 0 to 1"),
            ("weighting", [nan, 0, 0, 0], "has the value nan"),
            ("weighting", [0.5, 0.2, 0, 0], "sums to 0.7; expected 1 (partial_weightings=True allows less)"),
            ("content", [0.5, 0.2, 0, 0], "sums to 0.7; expected 1"),
            ("shift", [0.5, 0.2, 0], "sums to 0.7; expected 1"),
            ("gate", 1.5, "has the value 1.5; expected 0 to 1"),
            ("strength", -1, "has the value -1; expected 0 or more"),
            ("sharpening", 0.5, "has the value 0.5; expected 1 or more"),
            ("similarity", [2, 0, 0, 0], "has the value 2; expected -1 to 1"),
        ):
            given = dict(good, read0={"weighting": ROW[0], part: value})
            self.refused(("step 0, read0: `" + part, words), Recorder("mine").step, **given)
        self.refused("`output`: has the value 5; expected 0 to 1, a probability; the value before the sigmoid is `logit`",
                     Recorder("mine").step, **dict(good, output=[5]))
        self.refused("`mask`: has the value 2; expected 0 to 1", Recorder("mine").step, **good, mask=2)
        self.refused("`read0`: sums to 3", Recorder, "mine", read0=np.ones(3))
        Recorder("mine", similarity="dot product").step(
            **dict(good, read0=dict(weighting=ROW[0], similarity=[2, 0, 0, 0])))
        Recorder("mine", partial_weightings=True).step(**dict(good, read0=dict(weighting=ROW[0] / 2)))
        # A gate of 0.3 on a first weighting of zeros.
        zeros = Recorder("mine", read0=np.zeros(4))
        half = dict(good, read0=dict(weighting=ROW[0], gated=ROW[0] * 0.3, shifted=ROW[0] * 0.3))
        zeros.step(**half)
        self.refused("step 1, read0: `gated`: sums to 0.3", zeros.step, **half)

    def test_attention_over_a_source_is_recorded_and_recomputed(self):
        """Plain additive attention (Bahdanau 2015) over rows that nobody writes to: no gate, no shift, no sharpening."""
        random = np.random.default_rng(5)
        memory, of_key, of_row, v = (random.normal(size=shape) for shape in ((4, 3), (3, 2), (3, 2), (2,)))
        attention = {"score": "additive", "strength": "one", "gate": "off", "sharpening": "off"}
        recorder = Recorder("mine", memory=memory, read0=None, attention=attention, shift_form="none",
                            learned={"read0": {"additive_key": of_key, "additive_row": of_row, "additive_vector": v}})
        for _ in range(3):
            key = random.normal(size=3)
            energies = np.tanh(key @ of_key + memory @ of_row) @ v
            w = np.exp(energies) / np.exp(energies).sum()
            recorder.step(input=[1], memory=memory, read0=dict(key=key, similarity=energies, content=w, weighting=w, read=w @ memory))
        recorder.save(self.path("t.npz"))
        said = self.run_program("verify", "t.npz")
        self.assertIn("every stage holds", said)
        trace = load(self.path("t.npz"))
        self.assertEqual(trace.meta["model"]["heads"]["attention"], attention)
        trace.arrays["read0.additive_row"][0, 1] += 0.1
        trace.save(self.path("false.npz"))
        self.assertIn("read0.similarity", self.run_program("verify", "false.npz", code=1))

    def test_a_source_is_a_memory_that_grows_by_a_row_in_each_step(self):
        for kind, options in WITH_SOURCE:
            recorder, rows, weightings = with_source(kind, **options)
            self.assertEqual(recorder.steps, 7)
            recorder.save(self.path("t.npz"))
            trace = load(self.path("t.npz"))
            for step in range(8):
                np.testing.assert_array_equal(trace.memory(step), np.where(np.arange(4)[:, None] < step, rows, 0))
            np.testing.assert_array_equal(trace["read0.weighting"], np.concatenate([np.zeros((4, 4)), weightings]))
            self.assertEqual(trace.phases, ["input"] * 4 + ["answer"] * 3)
            np.testing.assert_array_equal(trace["mask"], [0, 0, 0, 0, 1, 1, 1])
            np.testing.assert_allclose(trace["output"][:4], 0.25)
            self.assertIn("every stage holds", self.run_program("verify", "t.npz"))
            self.assertIn("mine", self.run_program("render", "t.npz", "--layout", "debug", "--out", "t.svg"))
            # The tensors that a score follows from are not in the trace; the weighting follows from it.
            for array, at, found in (("memory.last", (2, 1), "memory"), ("read0.similarity", (5, 1), "read0.content"),
                                     ("read0.key", (4, 0), "read0.key"), ("read0.read", (6, 5), "read0.read")):
                false = load(self.path("t.npz"))
                false.arrays[array][at] += 0.1
                false.save(self.path("false.npz"))
                self.assertIn(found, self.run_program("verify", "false.npz", code=1))

    def test_a_machine_that_manages_its_memory_is_recorded_and_recomputed(self):
        for heads in MANAGED:
            managed(heads).save(self.path("t.npz"))
            trace = load(self.path("t.npz"))
            self.assertEqual(trace.meta["model"], {"kind": "dnc", "heads": {**heads, "similarity_epsilon": 0}})
            self.assertIn("every stage holds", self.run_program("verify", "t.npz"))
            self.run_program("render", "t.npz", "--layout", "debug", "--out", "t.svg")
            for array in ("read1.backward", "read0.forward", "read1.content", "read0.weighting", "read1.read", "write0.usage",
                          "write0.allocation", "write0.content", "write0.weighting", "write0.precedence", "memory"):
                false = load(self.path("t.npz"))
                if array in false:
                    false.arrays[array][3].flat[2] += 0.01
                    false.save(self.path("false.npz"))
                    self.assertIn(f"step {2 if array == 'memory' else 3}: {array}", self.run_program("verify", "false.npz", code=1))

    def test_what_is_left_out_of_managed_memory_follows_or_is_said(self):
        derived = ("backward", "forward", "precedence", "usage", "allocation", "content", "similarity")
        managed(leave_out=derived).save(self.path("t.npz"))
        self.assertIn("not recorded, computed from other arrays: ", self.run_program("verify", "t.npz"))
        whole, few = managed().trace(), load(self.path("t.npz"))
        self.assertEqual(set(whole) - set(few), {f"{head}.{part}" for head in whole.heads for part in derived} & set(whole))
        # Without what was before the first step, its own values are lost, and later ones are not.
        managed(read0=None, read1=None, write0=None).save(self.path("t.npz"))
        said = self.run_program("verify", "t.npz", code=3)
        self.assertIn("write0.usage (step 0 needs read0.initial, which is absent)", said)
        trace = load(self.path("t.npz"))
        del trace.arrays["write0.initial_usage"], trace.arrays["write0.usage"]
        trace.save(self.path("t.npz"))
        self.assertIn("write0.allocation (write0.usage is absent)", self.run_program("verify", "t.npz", code=3))
        managed(leave_out=("read_modes", "erase")).save(self.path("t.npz"))
        self.assertIn("read0.weighting (read0.read_modes is absent)", self.run_program("verify", "t.npz", code=3))

    def test_managed_memory_is_rebuilt_from_the_writes(self):
        trace = managed().trace()
        memory = trace.arrays.pop("memory")
        trace.arrays["memory.last"] = memory[-1]
        for step in range(7):
            np.testing.assert_allclose(trace.memory(step), memory[step], atol=1e-6)

    def test_a_constant_first_memory_is_compared_with_what_is_declared(self):
        for constant, code in ((0.5, 0), (0.25, 1)):
            recorder = Recorder("mine", kind="dnc", memory=np.full((4, 2), 0.5))
            recorder.step(input=[1], memory=np.full((4, 2), 0.5), read0=dict(weighting=ROW[0], read=[0.5, 0.5]),
                          write0=dict(weighting=ROW[0] * 0, erase=[0, 0], add=[0, 0], write_gate=0))
            trace = recorder.trace()
            trace.meta["model"]["memory"] = {"initial": {"constant": constant}}
            trace.save(self.path("t.npz"))
            said = self.run_program("verify", "t.npz", code=code or 3)
            self.assertEqual("memory.initial" in said, bool(code), said)

    def test_a_name_that_is_no_text_is_refused(self):
        for given in ([], {"a": 1}, 7, None, b"copy"):
            for name in ("task", "similarity"):
                with self.assertRaises(TapescopeError) as raised:
                    Recorder(**{"task": "copy", name: given})
                self.assertEqual(str(raised.exception), f"`{name}`: is {given!r}; expected a name")

    def test_managed_memory_that_does_not_fit_is_refused(self):
        def of(read=(), write=(), **options):
            recorder = Recorder("mine", kind="dnc", **options)
            recorder.step(input=[1], read0={"weighting": ROW[0] / 2, **dict(read)}, write0={"weighting": ROW[0] / 2, **dict(write)})
            return recorder

        self.assertEqual(of().trace()["write0.initial_usage"].tolist(), [0, 0, 0, 0])
        self.assertNotIn("write0.initial_usage", of(heads={"allocation": "off"}).trace())
        for words, call in (
            ("`order`: is not an option of `dnc`", lambda: of(order="write-first")),
            ("`usage`: is given, but the machine does not allocate", lambda: Recorder("mine", usage=ROW[0])),
            ("`usage`: is given, but the machine does not allocate", lambda: of(usage=ROW[0], heads={"allocation": "off"})),
            ("`heads`: is not an option of `luong`", lambda: Recorder("mine", kind="luong", heads={})),
            ("`usage`: has the value 2; expected 0 to 1", lambda: of(usage=[2, 0, 0, 0])),
            ("a read head has no `gate`", lambda: of(read=dict(gate=1))),
            ("a write head has no `usage`", lambda: of(write=dict(usage=ROW[0]), heads={"allocation": "off"})),
            ("a read head has no `free_gate`", lambda: of(read=dict(free_gate=1), heads={"allocation": "off"})),
            ("a write head has no `usage`", lambda: Recorder("mine").step(input=[1], write0=dict(weighting=ROW[0], usage=ROW[0]))),
            ("`read_modes`: has the shape [2]; expected 3 in place of 2, as in `backward, content, forward`",
             lambda: of(read=dict(read_modes=[0.5, 0.5]))),
            ("`read_modes`: sums to 1.5; expected 1", lambda: of(read=dict(read_modes=[0.5, 0.5, 0.5]))),
            ("`weighting`: sums to 2; expected at most 1", lambda: of(write=dict(weighting=ROW[0] + ROW[1]))),
            ("`precedence`: sums to 2; expected at most 1", lambda: of(write=dict(precedence=ROW[0] + ROW[1]))),
            ("`content`: sums to 0.5; expected 1", lambda: of(write=dict(content=ROW[0] / 2))),
            ("the heads: are read0; expected read0, … and one write head, write0", lambda: of(read0=ROW[0])),
            ("the source: a machine of the kind `dnc` has none", lambda: of().source(ROW, ROW)),
        ):
            self.refused(words, call)

    def test_rows_that_no_encoder_makes_are_recorded_as_they_are(self):
        recorder, rows, _ = with_source("bahdanau", scale=-3)
        recorder.save(self.path("t.npz"))
        trace = load(self.path("t.npz"))
        np.testing.assert_array_equal(trace.memory(3), np.where(np.arange(4)[:, None] < 3, rows, 0))
        self.assertIn("holds in part", self.run_program("verify", "t.npz", code=3))

    @unittest.skipUnless(importlib.util.find_spec("jsonschema"), "needs jsonschema")
    def test_recordings_validate_against_the_published_schema(self):
        import jsonschema

        with open(os.path.join(HERE, "..", "..", "docs", "ntm-trace-2.0.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        for recorder in (self.recorded(), managed(), *(with_source(kind, **options)[0] for kind, options in WITH_SOURCE)):
            recorder.save(self.path("t.ntmtrace.json"))
            with open(self.path("t.ntmtrace.json"), encoding="utf-8") as file:
                jsonschema.validate(json.load(file), schema)

    @needs("torch")
    def test_a_machine_of_pytorch_with_attention_is_recorded(self):
        import torch

        machine = example("attention_from_torch").Attention(4, 5)
        source, target = torch.eye(4)[:, None], torch.eye(5)[:, None]
        recorder = Recorder("mine", kind="bahdanau", answer="symbols", attention={"score": "additive"})
        with torch.no_grad():
            logits = machine(source, 5, target, recorder=recorder)
            states = machine.encoder(source)[0][:, 0].numpy()
        recorder.save(self.path("t.ntmtrace.json"))
        trace = load(self.path("t.ntmtrace.json"))
        for step in range(trace.steps + 1):
            np.testing.assert_array_equal(trace.memory(step), np.where(np.arange(4)[:, None] < step, states, 0))
        np.testing.assert_array_equal(trace["logit"][4:], logits[:, 0])
        of_key, of_row, v = (part.weight.detach().numpy().T for part in (machine.query, machine.row, machine.score))
        energies = np.tanh(trace["read0.key"][4:, None] @ of_key + states @ of_row)
        weights = torch.softmax(torch.tensor(energies @ v[:, 0]), 1)
        np.testing.assert_allclose(trace["read0.weighting"][4:], weights, atol=1e-6)
        self.assertIn("every stage holds", self.run_program("verify", "t.ntmtrace.json"))

    def test_a_source_that_does_not_fit_is_refused_with_what_was_expected(self):
        def of(kind="bahdanau", **options):
            return Recorder("mine", kind=kind, **options)

        for words, call in (
            ("`kind`: is 'bahdanou'; did you mean `bahdanau`?", lambda: of("bahdanou")),
            ("`answer`: is 'symbol'; did you mean `symbols`?", lambda: of(answer="symbol")),
            ("`order`: is not an option of `luong`", lambda: of("luong", order="write-first")),
            ("`read0`: is not an option of `bahdanau`", lambda: of(read0=ROW[0])),
            ("`encoder`: is not an option of `ntm`", lambda: of("ntm", encoder={})),
            ("`learned`: is not an option of `luong`", lambda: of("luong", learned={"read0": {"bilinear": ROW}})),
            ("the source: a machine of the kind `ntm` has none", lambda: of("ntm").source(ROW, ROW)),
            ("the source: `rows`: has the shape [3, 4]; expected 4 in place of 3, as in `inputs`", lambda: of().source(ROW, ROW[:3])),
            ("the source: `inputs`: has the shape [4]; expected [source steps, inputs]", lambda: of().source([0, 1, 2, 3], ROW)),
            ("the source: `inputs`: has the shape [4, 2, 3], a batch of 4", lambda: of().source(np.ones((4, 2, 3)), ROW)),
            ("the source: has no steps; expected one or more", lambda: of().source(ROW[:0], ROW[:0])),
            ("the source: `rows`: has 3 columns; expected an even number", lambda: of().source(ROW, ROW[:, :3])),
            ("step 0: there is no source; expected source(inputs, rows)", lambda: of().step(read0=dict(weighting=ROW[0]))),
        ):
            self.refused(words, call)
        recorder = of()
        recorder.source(ROW, ROW / 2, hidden=[1, 2, 3])
        self.refused("the source: was recorded before", recorder.source, ROW, ROW)
        good = dict(output=[1], target=[1], hidden=[0, 0, 0], read0=dict(weighting=ROW[0], key=[1, 2, 3]))
        for given, words in (
            (dict(read0=dict(weighting=ROW[0][:3], key=[1, 2, 3])), "step 4, read0: `weighting`: has the shape [3]; expected 4 in place of 3, as in `inputs`"),
            (dict(read0=dict(weighting=ROW[0], key=[1, 2])), "step 4, read0: `key`: has the shape [2]; expected 3 in place of 2, as in `hidden`"),
            (dict(read0=dict(weighting=ROW[0], gate=1)), "step 4, read0: a read head has no `gate`"),
            (dict(write0=dict(weighting=ROW[0])), "`write0`: was not declared"),
            (dict(memory=ROW), "step 4: `memory`: is that of the source"),
            (dict(input=[1]), "step 4: `input`: has the shape [1]; expected 4"),
        ):
            self.refused(words, recorder.step, **{**good, **given})
        recorder.step(**good)
        self.assertEqual(recorder.trace().dims["read0.key"], ("t", "k"))
        self.refused("step 0: `input`: is missing", Recorder("mine").step, read0=dict(weighting=ROW[0]))
        symbols = of(answer="symbols")
        symbols.source(ROW, ROW)
        self.refused("step 4: `output`: sums to 1.5; expected 1", symbols.step, output=[0.5, 1], read0=dict(weighting=ROW[0]))
        only = of()
        only.source(ROW, ROW, hidden=[1])
        only.step(read0=dict(weighting=ROW[0]))
        self.refused("the source: `hidden`: is given for the source only", only.trace)

    def test_what_is_said_of_attention_is_checked(self):
        step = dict(input=[1], output=[1])
        for words, call in (
            ("`sampling`: is 'often'", lambda: Recorder("mine", sampling="often")),
            ("learned, read0: `bilinera`: is not a learned tensor of a head; did you mean `bilinear`?",
             lambda: Recorder("mine", learned={"read0": {"bilinera": 1}})),
            ("learned, read0: `bilinear`: has the shape [2, 3]",
             lambda: Recorder("mine", learned={"read0": {"bilinear": np.ones((2, 3))}})),
            ("learned: `read1`: is not a head of the recording", lambda: self.recorded(learned={"read1": {"bilinear": np.eye(2)}}).trace()),
            ("`attention.weighting`: is a list of 2; expected one word for all heads, or a list of 1",
             lambda: self.recorded(attention={"weighting": ["hard", "soft"]})),
            ("step 0, read0: `draw`: has the value 2; expected 0 to 1",
             lambda: Recorder("mine").step(**step, read0=dict(weighting=ROW[0], draw=2))),
            ("step 0, read0: `distribution`: sums to 0.5; expected 1",
             lambda: Recorder("mine").step(**step, read0=dict(weighting=ROW[0], distribution=ROW[0] / 2))),
        ):
            self.refused(words, call)
        # What a Gaussian takes away is nobody's.
        partial = self.recorded(attention={"weighting": "local-predictive", "window": 2}, sampling="drawn", weighting=ROW[0] / 2)
        self.assertEqual(partial.trace().meta["task"]["sampling"], "drawn")

    def recorded(self, weighting=ROW[0], **options):
        recorder = Recorder("mine", **options)
        recorder.step(input=[1], output=[1], read0=dict(weighting=weighting))
        return recorder

    def test_a_logit_gives_its_output(self):
        recorder = Recorder("mine")
        recorder.step(input=[1], logit=[0, 100], read0=dict(weighting=ROW[0]))
        trace = recorder.trace()
        np.testing.assert_array_equal(trace["output"], [[0.5, 1.0]])
        self.assertEqual((trace.dims["logit"], trace["logit"][0, 1]), (("t", "y"), 100))

    def test_phases_follow_from_the_steps(self):
        recorder = Recorder("mine")
        for phase in ("input", "input", "answer"):
            recorder.step(input=[1], phase=phase, read0=dict(weighting=ROW[0]))
        self.assertEqual(recorder.trace().phases, ["input", "input", "answer"])
        self.refused("`phase`: is given in some steps only", recorder.step, input=[1], read0=dict(weighting=ROW[0]))
        for phases in ([("a", 0, 2)], [("a", 0, 2), ("b", 1, 3)], [("a", 0, 4)]):
            self.refused("one after the other from 0 to 3", recorder.trace, phases)

    def test_one_number_stands_for_a_range_of_any_task(self):
        for task, params in (("caption", {"glyphs": 3}), ("frames", {"duration": 2, "length": 4}), ("span", {"span": 2, "length": 9}),
                             ("graph", {"edges": 6, "path": 2}), ("aspects", {"aspects": 2}), ("copy", {"bits": 3})):
            Recorder(task, params=params)

    def test_the_size_of_an_episode_is_said_not_guessed(self):
        """17 steps of copy are 8 vectors when they are said to be, and else 17 steps."""
        for given, said in ((dict(length=8), "copy, length 8"), ({}, "copy, steps 17")):
            recorder = Recorder("copy", params={"bits": 2}, **given)
            for _ in range(17):
                recorder.step(input=[0, 1, 0], output=[0, 1], read0=dict(weighting=ROW[0]))
            recorder.save(self.path("t.ntmtrace.json"))
            self.assertIn(said, self.run_program("render", "t.ntmtrace.json", "--out", "t.svg"))

    @needs_extension
    def test_options_are_checked_as_in_a_preset(self):
        for words, call in (
            (("`params.bit`", "did you mean `bits`?"), lambda: Recorder("copy", params={"bit": 3})),
            ("`params.bits`: is 0; allowed: 1 to 1024", lambda: Recorder("copy", params={"bits": 0})),
            ("`params.bits`: is missing; expected a number of bits", lambda: Recorder("copy", params={"length": 3})),
            ("`params.glyphs`", lambda: Recorder("caption", params={"glyphs": [17]})),
            ("`params.symbols`", lambda: Recorder("copy", params={"symbols": 3})),
            ("`attention.score`: is `aditive`; did you mean `additive`? expected one of `cosine`, `additive`", lambda: Recorder("mine", attention={"score": "aditive"})),
            (("`attention.scor`", "did you mean `score`?"), lambda: Recorder("mine", attention={"scor": "additive"})),
            ("`encoder.cell`: is `rnn`; expected one of `lstm`, `gru`", lambda: Recorder("mine", kind="luong", encoder={"cell": "rnn"})),
            ("`attention.gate`: ", lambda: Recorder("mine", kind="luong", attention={"gate": "off"})),
            ("`heads.links`: is `of`; did you mean `off`? expected one of `on`, `off`", lambda: Recorder("mine", kind="dnc", heads={"links": "of"})),
            (("`heads.link`: ", "did you mean `links`?"), lambda: Recorder("mine", kind="dnc", heads={"link": "off"})),
            ("has 2 channels; expected 3", lambda: Recorder("copy", params={"bits": 2}).step(input=[0, 1], read0=dict(weighting=ROW[0]))),
            ("the source: `input`: has 4 channels; expected 5, as `transduce` with",
             lambda: Recorder("transduce", kind="luong", params={"symbols": 4}).source(ROW, ROW)),
        ):
            self.refused(words, call)

    @needs_extension
    def test_what_the_program_refuses_is_not_written(self):
        for given, heads, place in (({}, 144, "`model.heads.read`: is 144"), ({"length": 1.5}, 1, "`task.length`"),
                                    ({"epsilon": -1}, 1, "`model.heads.similarity_epsilon`: is -1"),
                                    ({"sharpening_epsilon": -1}, 1, "`conventions.sharpening_epsilon`: is -1")):
            recorder = Recorder("mine", **given)
            recorder.step(input=[0, 1], **{f"read{head}": dict(weighting=ROW[0]) for head in range(heads)})
            for name in ("t.ntmtrace.json", "t.json.gz", "t.npz"):
                with self.assertRaisesRegex(FormatError, place):
                    recorder.save(self.path(name))
                self.assertFalse(os.path.exists(self.path(name)), (name, place))

    def test_without_the_extension_a_trace_is_written_with_a_warning(self):
        recorder = Recorder("mine")
        recorder.step(input=[0, 1], read0=dict(weighting=ROW[0]))
        with mock.patch.object(trace_module, "is_built", lambda: False):
            with self.assertWarnsRegex(UserWarning, "t.npz: is not checked"):
                recorder.save(self.path("t.npz"))
            self.assertEqual(load(self.path("t.npz")).steps, 1)

    def test_weightings_may_sum_to_what_the_epsilon_of_the_sharpening_explains(self):
        shifted = np.full(4, 0.25)

        def step(recorder, weighting, gated=None):
            mixed = {} if gated is None else dict(gated=gated, shifted=gated, sharpening=1.0)
            recorder.step(input=[0], read0=dict(weighting=weighting, **mixed))

        recorder = Recorder("mine", memory=np.ones((4, 3)), read0=shifted, sharpening_epsilon=0.01)
        for total in (1, 1 / 1.01, 0.992):
            gated = shifted * total
            step(recorder, gated / (total + 0.01), gated)
        recorder.save(self.path("t.npz"))
        self.assertIn("12 values compared, largest difference 0", self.run_program("verify", "t.npz", code=3))
        for weighting, gated, words in ((shifted, shifted, "`weighting`: sums to 1; expected 0.990099"),
                                        (shifted * 0.9, shifted, "`weighting`: sums to 0.9; expected 0.990099 (partial"),
                                        (shifted * 0.99, shifted * 0.9, "`gated`: sums to 0.9; expected 0.99")):
            self.refused(words, step, recorder, weighting, gated)
        # The powers are not known.
        recorder = Recorder("mine", read0=shifted * 0.995, sharpening_epsilon=0.01)
        step(recorder, shifted * 0.995)
        self.refused("`weighting`: sums to 1.1; expected 0 to 1", step, recorder, shifted * 1.1)
        self.refused("`weighting`: sums to 0.995; expected 1 (partial", step, Recorder("mine", read0=shifted), shifted * 0.995)

    def test_a_sum_of_the_sharpening_with_a_small_number_holds_if_it_is_said(self):
        rows, gamma = 128, 7.5
        w = 1 + 1e-3 * np.random.default_rng(0).random(rows)
        shifted = (w / w.sum()).astype(np.float32).astype(float)
        powers = shifted ** gamma
        head = dict(gate=0.0, shift=[0, 1, 0], sharpening=gamma, strength=1.0, key=np.ones(4), gated=shifted, shifted=shifted,
                    weighting=powers / (powers.sum() + 1e-16))
        for epsilon, code in ((1e-16, 0), (0.0, 1)):
            recorder = Recorder("copy", memory=np.zeros((rows, 4)), read0=shifted, write0=shifted, partial_weightings=True,
                                sharpening_epsilon=epsilon)
            recorder.step(input=np.zeros(3), memory=np.zeros((rows, 4)), read0=head,
                          write0=dict(head, erase=np.zeros(4), add=np.zeros(4)))
            recorder.save(self.path("t.ntmtrace.json"))
            self.run_program("verify", "t.ntmtrace.json", code=code)

    @needs("torch")
    def test_tensors_of_every_precision_are_taken(self):
        import torch

        recorder = Recorder("mine", memory=torch.ones(4, 2, requires_grad=True))
        for kind in (torch.float64, torch.bfloat16, torch.float16, torch.int64):
            recorder.step(input=torch.ones(1, 3, dtype=kind), read0=dict(weighting=torch.tensor(ROW[0]).to(kind)))
        np.testing.assert_array_equal(recorder.trace()["input"], np.ones((4, 3)))


if __name__ == "__main__":
    unittest.main()
