"""What runs, trains, checks and draws machines, held against the program."""

import copy
import gc
import importlib.metadata
import io
import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import threading
import unittest
import warnings
from unittest import mock

import numpy as np

import support
import tapescope as ts

SMALL = {
    "name": "small", "task": {"kind": "copy", "bits": 3, "length": [1, 3]},
    "model": {"memory": {"rows": 8, "columns": 5}, "controller": {"size": 7, "layers": 2}, "heads": {"read": 2}},
    "training": {"batch": 4, "sequences": 400, "validation_every": 80, "validation_episodes": 10},
}
REVERSED = {
    "name": "reversed", "task": {"kind": "transduce", "symbols": 4, "order": "reverse", "length": [1, 4]},
    "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 3}, "units": 5, "attention": {"units": 6}}},
    "training": {"batch": 4, "sequences": 400, "validation_every": 20, "validation_episodes": 10},
}
WRONG = [
    {"task": {"kind": "copi", "bits": 8, "length": [1, 20]}},
    {"task": {"kind": "copy", "bits": 0, "length": [1, 20]}},
    {"task": {"kind": "copy", "bits": 8, "length": [20, 1]}},
    {"task": {"kind": "copy", "bits": 8, "length": [1, 20]}, "model": {"memory": {"rowz": 3}}},
    {"task": {"kind": "copy", "bits": 8, "length": [1, 20]}, "model": {"controller": {"kind": 3}}},
    {"task": {"kind": "copy", "bits": 8, "length": [1, 20]}, "training": {"optimizer": {"learning_rate": -1}}},
    {"model": {}},
]


def random_weights(preset, seed=0):
    random = np.random.default_rng(seed)
    return {name: random.normal(0, 0.5, shape) for name, shape in ts.tensor_shapes(preset).items()}


@support.needs_extension
class Traces(support.Test):
    def assert_same(self, trace, file):
        read = ts.load(self.path(file))
        self.assertEqual(list(trace.arrays), list(read.arrays))
        for name, array in read.arrays.items():
            np.testing.assert_array_equal(trace[name], array, name)
        self.assertEqual((trace.meta, trace.dims), (read.meta, read.dims))

    def test_an_episode_is_that_of_the_program(self):
        self.run_program("trace", "copy", "--length", "9", "--seed", "3", "--full-memory", "--out", "t.npz")
        self.assert_same(ts.machine("copy").trace(length=9, seed=3), "t.npz")

    def test_machines_with_a_source_are_those_of_the_program(self):
        own = {"kind": "equations", "file": "bahdanau.machine"}
        both = {"encoder": {"units": 3}, "units": 5}
        for model in ({**own, "sizes": both},
                      {**own, "sizes": {**both, "attention": {"prior": 3}}, "switches": {"attention": {"score": "general", "weighting": "lognormal"}}},
                      {**own, "sizes": {**both, "attention": {"places": 9}}, "switches": {"attention": {"score": "location"}}},
                      {**own, "sizes": {**both, "attention": {"centre": 5}}, "switches": {"attention": {"weighting": "local_predictive"}}},
                      {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"embedding": 4}}, "switches": {"encoder": {"cell": "gru", "embedded": "yes"}}},
                      {"kind": "equations", "file": "bahdanau.machine", "sizes": {"coverage": {"units": 3}, "attention": {"markov": 3, "fertility": 1}}, "switches": {"coverage": {"kind": "fertility"}, "attention": {"biases": "weights_and_places"}}},
                      {"kind": "dnc"}, {"kind": "dnc", "heads": {"read": 3, "free_gates": "off"}, "controller": {"layers": 2}},
                      {"kind": "dnc", "heads": {"links": "off", "allocation": "off"}, "controller": {"kind": "feedforward"}},
                      {"kind": "sam"}, {"kind": "sam", "heads": {"count": 2, "rows": 3}, "memory": {"rows": 9, "initial": "learned"}},
                      {"kind": "equations", "file": "fixed_context.machine"}, {"kind": "equations", "file": "fixed_context.machine", "switches": {"encoder": {"cell": "gru", "direction": "both"}}},
                      {"kind": "equations", "file": "luong.machine"}, {"kind": "equations", "file": "luong.machine", "sizes": {"encoder": {"units": 3}, "combined": 7}, "switches": {"feeding": "input"}},
                      {"kind": "equations", "file": "multi_head_layers.machine"}):
            self.assert_shapes_and_traces({"task": SMALL["task"], "model": model})
        asked = {"kind": "span", "symbols": 4, "positions": 9, "length": [3, 9], "question": 1}
        for task, model in (({**asked, "span": [1, 1]}, {"kind": "equations", "file": "coattention.machine", "sizes": {"units": 3, "fusion": {"units": 2}}}),
                            ({**asked, "asked_for": "symbol"},
                             {"kind": "equations", "file": "attention_over_attention.machine", "sizes": {"units": 3, "embedding": 2}})):
            self.assert_shapes_and_traces({"task": task, "model": model}, 6)

    def assert_shapes_and_traces(self, preset, length=3):
        machine = ts.machine_from(random_weights(preset), preset)
        self.assertEqual({name: tensor.shape for name, tensor in machine.weights.items()}, ts.tensor_shapes(preset))
        machine.save(self.path("a.safetensors"))
        self.run_program("trace", "a.safetensors", "--length", str(length), "--episode", "5", "--full-memory", "--out", "a.npz")
        self.assert_same(machine.trace(length=length, episode=5), "a.npz")

    def test_machines_with_a_source_learn_and_show_their_alignment(self):
        machine = ts.train(REVERSED, sequences=40, progress=None)
        self.assertIn("bahdanau.machine",
                      repr(machine))
        self.assertIn("<th style", machine._repr_html_())
        (measured,) = machine.evaluate(lengths=3, episodes=2)
        self.assertEqual((measured["alignment"]["steps"], measured["alignment"]["offsets"]), (6, [-2, -1, 0, 1, 2]))
        self.assertEqual(pickle.loads(pickle.dumps(machine)).sha256, machine.sha256)
        # A hand-made episode.
        for symbols in ([2, 0, 1], np.array([2, 0, 1]), {"symbols": (2, 0, 1)}):
            trace = machine.trace(input=symbols, gradient="loss")
            np.testing.assert_array_equal(trace["input"][:3, :4].argmax(1), [2, 0, 1])
        self.assertTrue(trace.check())
        self.assertEqual(trace["gradient.encoder.forward.hidden"].shape, trace["encoder.forward.hidden"].shape)
        self.assertIn("svg", trace.figure().svg)
        for wrong, words in (([2, 4], r"`symbols\[1\]`: is 4; allowed: 0 to 3"), ([], "has 0 values; allowed: 1 to"),
                             ("abc", "expected symbols such as"), ({"bits": [[1]]}, "the task `transduce` has no bits")):
            with self.assertRaisesRegex(ts.FormatError, words):
                machine.trace(input=wrong)
        caption = {"task": {"kind": "caption", "grid": 2, "glyphs": [1, 2]}, "model": {"kind": "equations", "file": "caption.machine"}}
        trace = ts.machine_from(random_weights(caption), caption).trace(input=[None, 3, None, 1])
        self.assertEqual(trace["target"].argmax(1)[trace["mask"] > 0].tolist(), [3, 1, 8])

    def test_rows_of_a_source_are_appended_step_by_step(self):
        trace = ts.machine_from(random_weights(REVERSED), REVERSED).trace(length=3)
        last = ts.Trace(trace.meta, {name: array for name, array in trace.arrays.items() if name != "memory"}, trace.dims)
        last.arrays["memory.last"] = trace["memory"][-1]
        for step in range(trace.steps + 1):
            np.testing.assert_array_equal(last.memory(step), trace.memory(step))
            rows = np.concatenate([trace["encoder.forward.hidden"], trace["encoder.backward.hidden"]], 1)[:4]
            np.testing.assert_array_equal(trace.memory(step), np.where(np.arange(4)[:, None] < step, rows, 0))

    def test_layers_heads_and_derivatives_are_those_of_the_program(self):
        machine = ts.machine_from(random_weights(SMALL), SMALL)
        machine.save(self.path("m.safetensors"))
        options = ["--length", "3", "--episode", "5", "--rows", "12", "--gradient", "bit:5,1", "--full-memory"]
        self.run_program("trace", "m.safetensors", *options, "--out", "t.npz")
        trace = machine.trace(length=3, episode=5, rows=12, gradient=(5, 1))
        self.assert_same(trace, "t.npz")
        self.assertEqual(trace["controller.hidden"].shape, (7, 2, 7))
        self.assertEqual(trace["gradient.read1.weighting"].shape, (7, 12))

    def test_a_machine_without_memory_has_a_trace(self):
        self.run_program("trace", "copy_lstm", "--length", "4", "--out", "t.npz")
        self.assert_same(ts.machine("copy_lstm").trace(length=4), "t.npz")

    def test_bits_may_be_given(self):
        bits = np.eye(8)[:3]
        for given in (bits, bits.astype(int), bits > 0, bits.tolist()):
            trace = ts.machine("copy").trace(input=given)
            np.testing.assert_array_equal(trace["target"][4:7], bits)
        both = ts.machine("repeat_copy").trace(input={"bits": bits, "repeats": np.int64(2)})
        self.assertEqual(both.meta["task"]["repeats"], 2)

    def test_interventions_are_in_the_trace_and_the_rest_follows(self):
        copy = ts.machine("copy")
        plain = copy.trace(length=4, seed=3)
        zero = np.zeros(20)
        changed = copy.trace(length=4, seed=3, intervene={"3:write0.erase": zero, "5-:read0.gate": 1, "2:read0.weighting": "row(5)"})
        np.testing.assert_array_equal(changed["write0.erase"][3], zero)
        np.testing.assert_array_equal(changed["read0.gate"][5:], 1)
        self.assertEqual(changed["read0.weighting"][2].argmax(), 5)
        np.testing.assert_array_equal(changed["write0.key"][:2], plain["write0.key"][:2])
        self.assertEqual(changed.meta["interventions"][0][:14], "3:write0.erase")
        self.assertTrue(changed.check(0))
        listed = copy.trace(length=4, seed=3, intervene=["5-:read0.gate=1"])
        np.testing.assert_array_equal(listed["read0.gate"][5:], 1)

    def test_a_function_intervenes_step_by_step_with_what_was_computed(self):
        copy, seen = ts.machine("copy"), []

        def opened(step, arrays):
            seen.append((step, len(arrays["read0.gate"]), len(arrays["memory"])))
            gate = arrays["read0.gate"][-1]
            return None if step == 3 else 1 - gate

        plain = copy.trace(length=2, seed=3)
        changed = copy.trace(length=2, seed=3, intervene={"2-:read0.gate": opened})
        self.assertEqual(seen, [(step, step + 1, step + 2) for step in (2, 3, 4)])
        np.testing.assert_array_equal(changed["read0.gate"][2], np.float32(1 - plain["read0.gate"][2]))
        self.assertEqual(len(changed.meta["interventions"]), 2)
        self.assertTrue(changed.check(0))

    def test_a_step_is_run_again_once_after_a_function_changed_a_value(self):
        copy, steps = ts.machine("copy"), []
        handle = copy._handle

        class Counted:
            trace = staticmethod(handle.trace)

            def advance(self, episode, changes, step):
                steps.append(step)
                return handle.advance(episode, changes, step)

        changed = {4: 0.25}  # nothing is run again before, and this runs the next step, which the last one needs
        given = {"0-:read0.gate": lambda step, arrays: changed.get(step)}
        with mock.patch.object(copy, "_handle", Counted()):
            copy.trace(length=3, seed=3, intervene=given)
        self.assertEqual(steps, [4, 5])

    def test_quantities_and_wrong_bits_of_many_episodes(self):
        copy = ts.machine("copy")
        rows = copy.evaluate(3, episodes=4, seed=5, measure="max(write0.weighting)")
        traces = [copy.trace(length=3, seed=5, episode=episode) for episode in range(4)]
        first = sorted(float(trace["write0.weighting"][0].max()) for trace in traces)
        self.assertEqual((len(rows), rows[0]["step"], rows[0]["episodes"]), (7, 0, 4))
        self.assertIn(round(rows[0]["median"], 4), [round(value, 4) for value in first])
        self.assertEqual(sum(row["scored"] for row in copy.evaluate(3, episodes=4, by="position")), 96)
        with self.assertRaisesRegex(ts.ArgumentError, "read0.gat"):
            copy.evaluate(3, measure="read0.gat")

    def test_arrays_are_not_copied_and_outlive_what_made_them(self):
        trace = ts.machine("copy").trace(length=5, seed=1)
        for name, array in trace.arrays.items():
            self.assertFalse(array.flags.owndata or array.flags.writeable, name)
        weighting, memory = trace["write0.weighting"], trace["memory"]
        self.assertIs(weighting.base, memory.base)
        kept = weighting.copy(), memory.copy()
        del trace
        gc.collect()
        others = [ts.machine("copy").trace(length=5, seed=seed) for seed in range(20)]
        np.testing.assert_array_equal(weighting, kept[0])
        np.testing.assert_array_equal(memory, kept[1])
        self.assertEqual(len(others), 20)
        with self.assertRaises(ValueError):
            weighting[0, 0] = 1

    def test_what_the_task_does_not_allow_is_refused_in_the_names_of_python(self):
        copy, circle = ts.machine("copy"), {}
        circle["in"] = circle
        for said, ask in [
            ("`length`: is '0'; expected a whole number, 1 to 100000", lambda: copy.trace(length=0)),
            ("items: the task `copy` has no items; use length", lambda: copy.trace(items=3)),
            ("gradient bit:99,0: the episode has steps 0 to 4", lambda: copy.trace(length=2, gradient=(99, 0))),
            ("intervene: `2:read0.gat=1`: has no array `read0.gat`", lambda: copy.trace(length=2, intervene={"2:read0.gat": 1})),
            ("expected STEP:ARRAY, FROM-TO:ARRAY or FROM-:ARRAY", lambda: copy.trace(length=2, intervene={"gate": lambda *_: 1})),
            ("`intervene`: is 'x'", lambda: copy.trace(length=2, intervene="x")),
            ("`lengths`: is '100001'; expected a whole number, 1 to 100000", lambda: copy.evaluate(lengths=[10, 100001])),
            ("did you mean `copy`?", lambda: ts.machine("cpoy")),
            ("tapescope train copy_paper", lambda: ts.machine("copy_paper")),
            ("step 9: the episode has steps 0 to 4", lambda: copy.trace(length=2).figure(step=9)),
            ("`length`: is 'True'; expected a whole number", lambda: copy.trace(length=True)),
            ("`episodes`: is 'False'; expected a whole number", lambda: copy.evaluate(5, episodes=False)),
            ("`lengths`: is 'True'", lambda: copy.evaluate([3, np.bool_(True)])),
            ("`tolerance`: is 'nan'; expected a number, 0 to 1", lambda: copy.trace(2).check(float("nan"))),
            ("`tolerance`: is '-1'; expected a number, 0 to 1", lambda: copy.trace(2).check(-1)),
            ("`tolerance`: is 'inf'", lambda: copy.trace(2).check(np.inf)),
            ("`tolerance`: is 'True'", lambda: copy.trace(2).check(True)),
            ("`rows`: is 'foo'; expected one of touched, all", lambda: copy.trace(2).figure(rows="foo")),
            ("`layout`: `foo` is not a picture; expected paper, debug", lambda: copy.trace(2).figure("foo")),
            ('`gradient`: is (3,); expected "loss", or the (step, channel)', lambda: copy.trace(2, gradient=(3,))),
            ("`steps`: is (1, 2, 3); expected (first, last)", lambda: copy.trace(2).figure(steps=(1, 2, 3))),
            ("`steps`: is 4; expected (first, last)", lambda: copy.trace(2).figure(steps=4)),
            ("`size`: is [900]; expected (width, height)", lambda: copy.trace(2).figure(size=[900])),
            ("`step`: is 1.5; expected a whole number", lambda: copy.trace(2).memory(1.5)),
            ("`input` cannot be written as JSON: Out of range float", lambda: copy.trace(input=[[np.nan]])),
            ("the preset cannot be written as JSON", lambda: ts.read_preset(circle)),
            ("set: `task` cannot be written as JSON", lambda: ts.train("copy", set={"task": circle})),
        ]:
            with self.assertRaises(ts.ArgumentError) as error:
                ask()
            self.assertIn(said, str(error.exception))
            self.assertEqual(str(pickle.loads(pickle.dumps(error.exception))), str(error.exception))
        for bits, said in (([[0, 2, 0, 0, 0, 0, 0, 0]], "input: `bits[0]`: contains 2; allowed: 0 and 1"),
                           (np.full((1, 8), 0.5), "input: `bits[0]`: contains 0.5; allowed: 0 and 1"),
                           ([[0] * 8, [0]], "input: `bits[1]`: has 1 values; expected 8"),
                           ([0, 1], "expected rows of 0 and 1 such as [[0,1],[1,1]]")):
            with self.assertRaises(ts.FormatError) as error:
                copy.trace(input=bits)
            self.assertIn(said, str(error.exception))

    def test_docstrings_have_the_pictures_and_the_tolerances_of_the_program(self):
        trace = ts.machine("copy").trace(2)
        with self.assertRaises(ts.ArgumentError) as layout:
            trace.figure("foo")
        with self.assertRaises(ts.ArgumentError) as tolerance:
            trace.check(2)
        words = " ".join(ts.Trace.figure.__doc__.split())
        self.assertIn(f"pictures by name: {layout.exception.expected.partition('pictures: ')[2]}. Not", words)
        self.assertIn(f"difference, {tolerance.exception.expected.partition(', ')[2]};", ts.Trace.check.__doc__)

    def test_check_compares_every_recorded_array(self):
        path = self.path("a.json")
        ts.machine("copy").trace(2).save(path)
        trace = ts.load(path)
        self.assertTrue(trace.check())
        trace.arrays["memory.initial"] = np.full_like(trace["memory"][0], 7)
        self.assertIn("memory.initial", str(trace.check()))
        self.assertFalse(trace.check())

    def test_a_trace_is_written_and_checked_as_by_the_program(self):
        trace = ts.machine("copy").trace(length=4, seed=1)
        for name in ("t.npz", "t.ntmtrace.json", "t.json.gz"):
            trace.save(self.path(name))
            self.run_program("trace", "copy", "--length", "4", "--seed", "1", "--full-memory", "--out", "p-" + name)
            with open(self.path(name), "rb") as ours, open(self.path("p-" + name), "rb") as theirs:
                self.assertEqual(ours.read(), theirs.read(), name)
        check = trace.check()
        self.assertTrue(check)
        said = self.run_program("verify", "t.npz")
        self.assertEqual(repr(ts.check(self.path("t.npz"))).replace(self.folder + os.sep, ""), said.rstrip())
        self.assertEqual(check.report.replace("copy:", "t.npz:", 1), said)

    def test_what_is_saved_is_what_is_there(self):
        def added(trace):
            trace.arrays["mine"] = np.arange(18, dtype=np.int64).reshape(9, 2)
            trace.dims["mine"] = ("t", "k")

        def changed(trace):
            trace.arrays["read0.gate"] = trace["read0.gate"] / 2

        for change in (lambda trace: trace.meta.update(note="of mine", shape=np.int64(3)), added, changed,
                       lambda trace: trace.arrays.update(one=np.float64(0.5), is_first=np.arange(9) == 0),
                       lambda trace: trace.arrays.pop("loss")):
            for name in ("t.npz", "t.NTMTRACE.JSON.GZ", "t.json"):
                trace = ts.machine("copy").trace(length=4, seed=1)
                change(trace)
                trace.save(self.path(name))
                read = ts.load(self.path(name))
                self.assertEqual(list(read.arrays), list(trace.arrays))
                for key, array in trace.arrays.items():
                    np.testing.assert_array_equal(read[key], np.asarray(array, np.float32), key)
                self.assertEqual(read.meta, trace.meta)
                self.assertEqual({key: dims for key, dims in read.dims.items() if dims},
                                 {key: dims for key, dims in trace.dims.items() if key in trace})
                # The program passes by what it does not know.
                self.assertIn("values compared", self.run_program("verify", name, "--tolerance", "1"))
        trace.arrays["words"] = np.array(["a"])
        with self.assertRaises(ts.FormatError) as error:
            trace.save(self.path("words.npz"))
        self.assertEqual(str(error.exception), "`arrays['words']`: is an array of <U1; expected real numbers")

    def test_what_differs_is_found(self):
        trace = ts.machine("copy").trace(length=4, seed=1)
        weighting = trace["read0.weighting"].copy()
        weighting[3] = np.roll(weighting[3], 2)
        trace.arrays["read0.weighting"] = weighting
        check = trace.check()
        self.assertEqual((check.outcome, bool(check)), ("differs", False))
        self.assertIn("read0.weighting", check.report)
        trace.arrays["mask"] = trace["mask"][:-1]
        with self.assertRaises(ts.FormatError):
            trace.check()


@support.needs_extension
class Machines(support.Test):
    def test_weights_go_out_and_in(self):
        copy = ts.machine("copy")
        tensors, metadata = ts.read_weights(os.path.join(support.HERE, "..", "..", "assets", "copy.safetensors"))
        self.assertEqual({name: tensor.shape for name, tensor in copy.weights.items()}, ts.tensor_shapes(copy.preset))
        for name, tensor in copy.weights.items():
            np.testing.assert_array_equal(tensor, tensors[name])
            self.assertFalse(tensor.flags.owndata or tensor.flags.writeable, name)
        again = ts.machine_from(copy.weights, copy.preset)
        self.assertEqual(again.sha256, copy.sha256)
        np.testing.assert_array_equal(again.trace(length=9)["output"], copy.trace(length=9)["output"])
        self.assertEqual(metadata["experiment"]["task"], copy.preset["task"])
        with self.assertRaises(ts.WeightsError) as error:
            ts.machine_from({**copy.weights, "read0.bias": np.zeros(3)}, copy.preset)
        self.assertEqual(str(error.exception), "`read0.bias`: has the shape [3]; expected [26]")

    def test_a_measurement_is_that_of_the_program(self):
        said = self.run_program("eval", "copy", "--lengths", "5,20", "--episodes", "20", "--json")
        expected = [{**json.loads(line), "seed": 1000000} for line in said.splitlines()]
        self.assertEqual(ts.machine("copy").evaluate(lengths=[5, 20], episodes=20), expected)
        sizes = ts.machine("repeat_copy").evaluate(lengths=range(3, 5), repeats=2, episodes=3, threads=1)
        self.assertEqual([size["length"] for size in sizes], [[3, 3], [4, 4]])

    def test_a_measurement_is_stopped_between_two_episodes(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        machine = ts.machine("copy")
        soon = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        self.addCleanup(soon.cancel)
        # Of one size, and many times as long as until the signal; where that is not heard it ends.
        with self.assertRaises(KeyboardInterrupt):
            soon.start()
            machine.evaluate(lengths=200, episodes=20_000)

    def test_a_machine_says_what_it_is(self):
        self.assertEqual(repr(ts.machine("copy")),
                         "<Machine copy: LSTM of 100 units, 1 read head, 1 write head, memory 128 × 20; 62,480 weights; "
                         "0.00292 bits per sequence in validation>")
        for name in ts.machines():
            self.assertIn("weights", repr(ts.machine(name)))
        self.assertIn("LSTM of 100 units, 2 read heads, 1 write head, memory 32 × 20;", repr(ts.machine("graph_dnc")))
        self.assertLess(set(ts.machines()), set(ts.presets()))

    def test_a_wrong_preset_is_refused_as_by_the_program(self):
        for wrong in WRONG:
            with open(self.path("preset.json"), "w") as file:
                json.dump(wrong, file)
            said = self.run_program("train", "preset.json", code=2)
            for ask in (ts.read_preset, ts.train):
                with self.assertRaises(ts.FormatError) as error:
                    ask(wrong)
                self.assertEqual(said.strip(), f"error: {error.exception}".replace("preset:", "preset.json:", 1))

    def test_numbers_of_numpy_and_anything_that_gives_numbers_are_numbers(self):
        machine = ts.machine("copy")
        whole = machine.trace(length=4, seed=2)
        same = machine.trace(length=np.int64(4), seed=np.arange(3)[2])
        np.testing.assert_array_equal(whole["output"], same["output"])
        whole = machine.evaluate(lengths=[3, 4], episodes=2)
        for lengths in ((n for n in (3, 4)), np.array([3, 4]), range(3, 5)):
            self.assertEqual(machine.evaluate(lengths=lengths, episodes=np.int64(2)), whole)

    def test_what_is_done_to_its_preset_is_not_done_to_the_machine(self):
        machine = ts.machine("copy")
        machine.preset["model"]["memory"]["rows"] = 3
        self.assertEqual(machine.preset["model"]["memory"]["rows"], 128)

    def test_a_file_that_is_not_there_is_named_with_what_was_expected(self):
        preset, machine = (f"the name of {what}" for what in (
            "a preset, a JSON file, or a dictionary", "an included machine, a weights file, or a run folder"))
        for ask, file, expected in ((ts.machine, "no.safetensors", machine), (ts.read_preset, "no.json", preset),
                                    (ts.train, "no.json", preset),
                                    (lambda path: ts.train("copy", start=path), "no.safetensors", machine)):
            with self.assertRaises(FileNotFoundError) as caught:
                ask(self.path(file))
            self.assertEqual(str(caught.exception),
                             f"{self.path(file)}: cannot be read: No such file or directory; expected {expected}")

    def test_machines_and_traces_can_be_pickled(self):
        machine = ts.machine("copy")
        trace = machine.trace(length=3)
        for again in (pickle.loads(pickle.dumps(machine)), copy.deepcopy(machine)):
            self.assertEqual((again.sha256, again.history, repr(again)), (machine.sha256, machine.history, repr(machine)))
        for again in (pickle.loads(pickle.dumps(trace)), copy.deepcopy(trace)):
            self.assertEqual((list(again), again.meta, again.dims), (list(trace), trace.meta, trace.dims))
            self.assertTrue(again.check())

    def test_a_figure_says_that_it_cannot_be_pickled(self):
        copied = ts.machine("copy")
        for figure in (copied.trace(length=2).figure(), copied.curve()):
            for refused in (pickle.dumps, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, "pickle its trace or machine"):
                    refused(figure)

    def test_weights_are_written_under_names_that_can_be_opened(self):
        machine = ts.machine("copy")
        for name in ("m.npz", "m.json", "m.ntmtrace.json", "m/", "m"):
            for save in (machine.save, lambda path: ts.write_weights(path, machine.weights, machine.preset)):
                with self.assertRaises(ts.FormatError) as error:
                    save(self.path(name))
                self.assertEqual(str(error.exception), f"{self.path(name)}: cannot be written under this name; expected one "
                                                       "that ends in .safetensors")
        self.assertEqual(os.listdir(self.folder), [])
        machine.save(self.path("M.SAFETENSORS"))
        self.assertEqual(ts.machine(self.path("M.SAFETENSORS")).sha256, machine.sha256)

    def test_what_names_no_file_is_refused(self):
        machine = ts.machine("copy")
        trace = machine.trace(length=2)
        for wrong in (None, 3, "a\0.npz", b"a\0.safetensors"):
            for ask in (ts.machine, ts.load, ts.check, ts.read_weights, machine.save, trace.save, trace.figure().save,
                        lambda path: ts.write_episodes(path, [([[0]], [[0]], None)] * 2),
                        lambda path: ts.write_weights(path, machine.weights, machine.preset)):
                with self.assertRaisesRegex(ts.ArgumentError, "`(path|source)`: is .*; expected the name of "):
                    ask(wrong)
        for wrong in (3, "a\0"):
            for name in ("out", "start"):
                with self.assertRaisesRegex(ts.ArgumentError, f"`{name}`: is .*; expected the name of "):
                    ts.train(SMALL, **{name: wrong})

    def test_a_preset_may_be_its_name_or_a_file_wherever_it_is_given(self):
        machine = ts.machine("copy")
        with open(self.path("small.json"), "w") as file:
            json.dump(SMALL, file)
        self.assertEqual(ts.tensor_shapes("copy"), ts.tensor_shapes(machine.preset))
        self.assertEqual(ts.tensor_shapes(self.path("small.json")), ts.tensor_shapes(SMALL))
        ts.check_preset("copy_lstm")
        again = ts.machine_from(machine.weights, "copy")
        self.assertEqual((again.name, again.sha256), ("copy", machine.sha256))
        ts.write_weights(self.path("w.safetensors"), random_weights(SMALL), self.path("small.json"))
        self.assertEqual(ts.machine(self.path("w.safetensors")).preset["task"], SMALL["task"])
        with self.assertRaisesRegex(ts.ArgumentError, "did you mean `copy`"):
            ts.check_preset("cpoy")

    def test_a_preset_has_every_default(self):
        whole = ts.read_preset(SMALL)
        self.assertEqual(whole, ts.read_preset(whole))
        self.assertEqual((whole["model"]["heads"]["write"], whole["model"]["controller"]["kind"]), (1, "lstm"))
        with self.assertRaises(ts.ArgumentError):
            ts.read_preset({"task": object()})


@support.needs_extension
class Training(support.Test):
    def test_a_training_is_that_of_the_program(self):
        with open(self.path("small.json"), "w") as file:
            json.dump(SMALL, file)
        self.run_program("train", "small.json", "--seed", "3", "--set", "training.batch=5", "--out", "run")
        told = []
        options = dict(seed=3, set={"training.batch": 5}, threads=1)
        ours = ts.train(SMALL, out=self.path("ours"), progress=told.append, **options)
        theirs = ts.machine(self.path("run"))
        self.assertEqual((ours.sha256, ours.stopped_after), (theirs.sha256, None))
        self.assertEqual(ts.machine(self.path("ours")).sha256, ours.sha256)
        self.assertEqual((ours.name, ours.validation), ("small", theirs.validation))
        self.assertEqual(len(ours.history), 5)
        self.assertEqual((told[-1].sequences, told[-1].total), (400, 400))
        self.assertEqual(told[-1].validation["sequences"], 400)
        self.assertEqual([progress.validation["sequences"] for progress in told if progress.validation][-5:],
                         [80, 160, 240, 320, 400])
        with self.assertRaises(ts.FormatError) as error:
            ts.train(SMALL, out=self.path("ours"), progress=None, **options)
        self.assertEqual(str(error.exception), f"{self.path('ours')}: contains a run of 400/400 sequences; choose another folder with "
                                               "out, or replace it with force=True")
        with self.assertRaises(ts.FormatError) as error:
            ts.train(SMALL, set={"model.memory.rowz": 3})
        self.assertEqual((error.exception.file, error.exception.place), ("set", "`model.memory.rowz`"))
        # A name keeps what looks like an option in it.
        with open(self.path("a--set b.json"), "w") as file:
            file.write('{"task": {"kind": "copi"}}')
        with self.assertRaises(ts.FormatError) as error:
            ts.train(self.path("a--set b.json"))
        self.assertEqual(error.exception.file, self.path("a--set b.json"))

    def test_ctrl_c_ends_it_with_the_weights_so_far(self):
        def stop(progress):
            signal.raise_signal(signal.SIGINT)
        # Where the tests run in the background the signal may be ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        machine = ts.train("copy", sequences=10_000_000, threads=1, progress=stop, out=self.path("run"))
        self.assertGreater(machine.stopped_after, 0)
        self.assertLess(machine.stopped_after, 10_000_000)
        self.assertIn("stopped after", repr(machine))
        self.assertEqual(machine.trace(length=2).steps, 5)
        # What it takes to go on is there.
        self.assertIn("checkpoint.safetensors", os.listdir(self.path("run")))

    def test_where_nobody_looks_a_line_is_of_a_validation(self):
        with mock.patch.object(sys, "stderr", io.StringIO()) as told:
            found = ts.train(SMALL, seed=2).history
        lines = told.getvalue().splitlines()
        every = [f"{point['sequences']}/400 sequences: {point['validation']['bits_per_sequence']:.3f} bits, "
                 f"{point['validation']['wrong_bits']:.2f} wrong per sequence" for point in found]
        # A short run has several between two looks.
        self.assertEqual(lines, every)

    def test_without_standard_error_nobody_is_told(self):
        class Broken(io.StringIO):
            def write(self, text):
                raise BrokenPipeError(32, "Broken pipe")

        class BrokenTerminal(Broken):
            def isatty(self):
                return True

        class WriteOnly:
            def __init__(self):
                self.told = ""

            def write(self, text):
                self.told += text

            def flush(self):
                pass
        closed = io.StringIO()
        closed.close()
        told = WriteOnly()
        for error in (None, closed, Broken(), BrokenTerminal(), object(), told):
            with mock.patch.object(sys, "stderr", error):
                self.assertEqual(ts.train(SMALL, sequences=4).history[-1]["sequences"], 4)
        self.assertIn("4/4 sequences: ", told.told)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_on_a_full_disk_it_trains_on(self):
        with open("/dev/full", "w") as full, mock.patch.object(sys, "stderr", full):
            self.assertEqual(ts.train(SMALL, sequences=4).history[-1]["sequences"], 4)
            # What is left of it in the buffer.
            with self.assertRaises(OSError):
                full.close()

    def test_who_is_told_may_end_it(self):
        for no in (False, np.False_):
            machine = ts.train("copy", sequences=10_000_000, threads=1, progress=lambda progress: no)
            self.assertLess(machine.stopped_after, 10_000_000)
        for silent in (None, 0, True, np.True_):
            self.assertIsNone(ts.train(SMALL, sequences=8, progress=lambda progress: silent).stopped_after)
        with self.assertRaises(ZeroDivisionError):
            ts.train("copy", sequences=10_000_000, threads=1, progress=lambda progress: 1 / 0)

    def test_it_begins_with_the_weights_of_a_machine(self):
        first = ts.machine_from(random_weights(SMALL), SMALL)
        begun = ts.train(SMALL, sequences=4, start=first, set={"training.optimizer.learning_rate": 1e-12}, progress=None)
        for name, tensor in first.weights.items():
            np.testing.assert_allclose(begun.weights[name], tensor, atol=1e-6)
        with self.assertRaises(ts.ArgumentError) as error:
            ts.train("copy", start=first, progress=None)
        self.assertIn("start small: shapes differ: `controller0.weight` is [21, 28] there", str(error.exception))

    def test_its_command_can_be_typed_and_repeats_it(self):
        first = ts.machine_from(random_weights(SMALL), SMALL)
        first.save(self.path("first.safetensors"))
        found = ts.machine(self.path("first.safetensors"))
        options = dict(set={"training.batch": 5}, seed=3, sequences=160, progress=None)
        for number, start in enumerate((None, first, found, self.path("first.safetensors"))):
            out = self.path(f"run{number}")
            machine = ts.train(SMALL, out=out, start=start, **options)
            with open(os.path.join(out, "history.ntmlog.jsonl"), encoding="utf-8") as log:
                command = json.loads(log.readline())["command"]
            self.assertEqual(command, machine.command)
            words = shlex.split(command)
            self.assertEqual(words[:3], ["tapescope", "train", os.path.join(out, "preset.json")])
            begun = {None: None, first: os.path.join(out, "start.safetensors")}.get(start, self.path("first.safetensors"))
            self.assertEqual([word for word in words if word.startswith("--from")], [f"--from={begun}"] if begun else [])
            words[words.index(f"--out={out}")] = f"--out={self.path(f'typed{number}')}"
            self.run_program(*words[1:])
            self.assertEqual(ts.machine(self.path(f"typed{number}")).sha256, machine.sha256)
            # What lies in the folder is found there.
            repeated = ["--from", begun] if begun and start is not first else []
            said = self.run_program("train", "--repeat", out, *repeated, "--out", f"again{number}")
            self.assertIn("identical to", said)
            self.assertEqual(ts.machine(self.path(f"again{number}")).sha256, machine.sha256)
        # Without a folder the same names stand for what is in memory.
        machine = ts.train(SMALL, start=first, **options)
        self.assertEqual(machine.command, "tapescope train preset.json --seed=3 --sequences=160 --set=training.batch=5 "
                                          "--from=start.safetensors")
        self.assertEqual(ts.train("copy", sequences=8, start="copy", progress=None).command,
                         "tapescope train copy --sequences=8 --from=copy")

    def test_numbers_that_are_no_longer_finite_are_an_error(self):
        with self.assertRaises(ts.TrainingError) as error:
            ts.train(SMALL, set={"training.optimizer.learning_rate": 1e30, "training.clip": {"kind": "none"}}, progress=None)
        self.assertIn("try a smaller training.optimizer.learning_rate", str(error.exception))


@support.needs_extension
class OwnTasks(support.Test):
    def test_a_function_makes_the_episodes(self):
        def reversal(rng):
            bits = rng.integers(0, 2, (rng.integers(1, 4), 2))
            rest = np.zeros_like(bits)
            return np.concatenate([bits, rest]), np.concatenate([rest, bits[::-1]]), [0] * len(bits) + [1] * len(bits)
        task = ts.episodes(reversal, count=40, seed=3)
        self.assertEqual((task["kind"], task["inputs"], task["outputs"]), ("episodes", 2, 2))
        machine = ts.train({**SMALL, "task": task}, progress=None)
        found = machine.evaluate()
        self.assertEqual((len(found), found[0]["task"]), (1, "episodes"))
        trace = machine.trace(episode=1)
        np.testing.assert_array_equal(trace["target"][trace["mask"] > 0], trace["input"][trace["mask"] == 0][::-1])
        again = ts.machine_from(machine.weights, machine.preset)
        self.assertEqual(again.evaluate(), [{**found[0], "machine": again.name}])

    def test_episodes_that_nobody_can_learn_from_are_refused(self):
        good = ([[0.0], [1.0]], [[0], [1]], None)
        for bad, said in [
            (([[0.0]], [[np.nan]], [1]), "`targets`: episode 1, step 0, channel 0 is NaN; expected a finite number"),
            (([[0.0]], [[0]], [2]), "`mask`: episode 1, step 0 is 2; expected 1 where the answer is scored, else 0"),
            (([[0.0]], [[0]], [0.5]), "`mask`: episode 1, step 0 is 0.5; expected 1 where"),
            (([[0.0]], [[0]], [0]), "`mask`: episode 1 is 0 in every step"),
            (([[np.nan]], [[0]], None), "`inputs`: episode 1, step 0, channel 0 is NaN; expected a finite number"),
            ((np.zeros((100_001, 1)), np.zeros((100_001, 1)), None), "`lengths`: episode 1 is 100001; expected 1 to 100000"),
        ]:
            with self.assertRaises(ts.EpisodesError) as error:
                ts.write_episodes(self.path("e.npz"), [good, bad])
            self.assertEqual(str(error.exception)[:len(said)], said)
        wide = np.zeros((1, 1025))
        for wrong, more in [([(wide, [[0]], None)] * 2, {}), ([([[0]], wide, None)] * 2, {}),
                            ([good, good], {"input_names": ["a", "b"]})]:
            with self.assertRaises(ts.EpisodesError):
                ts.write_episodes(self.path("e.npz"), wrong, **more)
        self.assertFalse(os.path.exists(self.path("e.npz")))
        few = ts.episodes([good] * 5)
        with self.assertRaises(ts.FormatError) as error:
            ts.train({**SMALL, "task": few})
        self.assertIn('none of 5 episodes is held out; {"kind": "last", "count": 1} holds out the last', str(error.exception))
        ts.train({**SMALL, "task": {**few, "held_out": {"kind": "last", "count": 1}}}, sequences=4, progress=None)
        with self.assertRaises((ts.FormatError, ts.FileError)):
            ts.train({**SMALL, "task": {"kind": "episodes", "file": self.path("none.npz"), "inputs": 2, "outputs": 2}})


@support.needs_extension
@support.needs("torch")
class PyTorch(support.Test):
    def test_a_machine_goes_to_pytorch_and_back(self):
        import torch
        from tapescope.pytorch import Module
        for name in ("copy", "copy_feedforward", "repeat_copy"):
            machine = ts.machine(name)
            module, trace = Module.of(machine), machine.trace(length=5)
            with torch.no_grad():
                outputs = module(torch.tensor(trace["input"])).numpy()
            np.testing.assert_allclose(outputs, trace["output"], atol=1e-4)
            self.assertEqual(module.machine().sha256, machine.sha256)
        small = Module(random_weights(SMALL), SMALL)
        small(torch.zeros(3, 4)).sum().backward()
        with torch.no_grad():
            for weight in small.parameters():
                weight -= 0.1 * weight.grad
        trained = small.machine()
        np.testing.assert_array_equal(trained.weights["read1.bias"], small.tensors()["read1.bias"])
        self.assertFalse(np.array_equal(trained.weights["read1.bias"], random_weights(SMALL)["read1.bias"].astype(np.float32)))
        self.assertEqual(ts.machine_from(small.weights_by_name(), SMALL).sha256, trained.sha256)
        with self.assertRaises(ts.WeightsError):
            Module.of(ts.machine("copy_hard"))
        with self.assertRaisesRegex(ts.WeightsError, "`model.kind`: is 'equations'; expected `ntm`"):
            Module(random_weights(REVERSED), REVERSED)

    def test_a_machine_of_pytorch_with_attention_is_ours(self):
        said = self.run_example("attention_from_torch.py", "w.safetensors", "e.npz", "--seconds", "2")
        self.assertIn("largest difference of an output in 100 episodes", said)
        # It learns on, and its recording is an episode like any other.
        learned = ts.train(self.preset_of("w.safetensors"), start=self.path("w.safetensors"), progress=None)
        self.assertEqual(learned.history[-1]["sequences"], 40)
        trace = ts.load(self.path("e.npz"))
        self.assertTrue(trace.check())
        self.assertIn("words", repr(trace.figure()))

    def preset_of(self, weights):
        preset = ts.read_weights(self.path(weights))[1]["experiment"]
        task = {**preset["task"], "file": self.path("words.npz")}
        return {**preset, "task": task, "training": {"sequences": 40, "validation_every": 20, "validation_episodes": 5}}

    def test_a_machine_of_pytorch_ntm_learns_a_task_of_ones_own_on(self):
        from test_pytorch_ntm import machine
        from tapescope import pytorch_ntm

        def echo(rng):
            bits = rng.integers(0, 2, (rng.integers(1, 4), 5))
            shown, rest = np.pad(bits, ((0, 0), (0, 1))), np.zeros((len(bits), 6))
            return np.concatenate([shown, rest]), np.concatenate([rest[:, :5], bits]), [0] * len(bits) + [1] * len(bits)
        net, inputs, _ = machine()
        task = ts.episodes(echo, count=200, path=self.path("echo.npz"))
        theirs = pytorch_ntm.convert(net, task, first=inputs[0])
        first = theirs.machine()
        self.assertEqual(first.evaluate()[0]["episodes"], 20)
        preset = {**theirs.preset, "training": {"sequences": 600, "batch": 4, "validation_every": 200}}
        learned = ts.train(preset, start=first, out=self.path("run"), progress=None)
        self.assertLess(learned.validation["bits_per_sequence"], first.evaluate()[0]["bits_per_sequence"])
        self.assertTrue(learned.trace(episode=3).check())
        # The program does the same with the file.
        theirs.save(self.path("theirs.safetensors"))
        with open(self.path("echo.json"), "w") as file:
            json.dump(preset, file)
        self.run_program("train", "echo.json", "--from", "theirs.safetensors", "--out", "typed")
        self.assertEqual(ts.machine(self.path("typed")).sha256, learned.sha256)
        self.assertIn("identical to", self.run_program("train", "--repeat", "run", "--out", "again"))
        # What repeats it keeps the beginning, too.
        self.assertIn("identical to", self.run_program("train", "--repeat", "again", "--out", "once more"))


@support.needs_extension
@support.needs("nbclient")
@support.needs("anywidget")
class Notebook(support.Test):
    TOUR = os.path.join(support.HERE, "..", "examples", "tour.ipynb")

    def test_the_outputs_of_the_tour_are_stored(self):
        import nbformat
        notebook = nbformat.read(self.TOUR, as_version=4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.assertEqual([cell.source for cell in cells if not cell.outputs], [])
        self.assertEqual([cell.execution_count for cell in cells], list(range(1, len(cells) + 1)))
        self.assertEqual(sorted(notebook.metadata), ["kernelspec", "language_info"])
        self.assertEqual([cell.metadata for cell in notebook.cells if cell.metadata], [])
        self.assertLess(os.path.getsize(self.TOUR), 1_500_000)
        pages = [output.data["text/html"] for cell in cells for output in cell.outputs if "<iframe" in output.get("data", {}).get("text/html", "")]
        self.assertEqual(len(pages), 1)

    def test_the_tour_runs_from_top_to_bottom(self):
        import nbclient
        import nbformat
        notebook = nbformat.read(self.TOUR, as_version=4)
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": self.folder}}).execute()
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        self.assertFalse([output for output in outputs if output.output_type == "error"])
        shown = [output.data for output in outputs if "data" in output]
        self.assertGreaterEqual(sum("tapescope-dark" in data.get("text/html", "") for data in shown), 4)
        self.assertTrue(any("<progress" in data.get("text/html", "") for data in shown))
        if os.environ.get("TAPESCOPE_NOTEBOOK"):
            nbformat.write(notebook, os.environ["TAPESCOPE_NOTEBOOK"])


@support.needs_extension
class Figures(support.Test):
    def test_a_figure_is_that_of_the_program(self):
        trace = ts.machine("copy").trace(length=6, seed=2)
        for options, typed in [
            (dict(), []),
            (dict(dark=True, layout="debug", step=7, heads="W0"), ["--dark", "--layout", "debug", "--step", "7", "--head", "W0"]),
            (dict(layout=["input", "memory"], rows="all", steps=(2, 9), size=(900, 700), log=True),
             ["--layout", "input,memory", "--show-rows", "all", "--steps", "2..9", "--size", "900x700", "--log"]),
        ]:
            self.run_program("render", "copy", "--length", "6", "--seed", "2", *typed, "--out", "f.svg")
            with open(self.path("f.svg"), encoding="utf-8") as file:
                self.assertEqual(trace.figure(**options).svg, file.read())
        trace.figure(layout="input").save(self.path("f.png"), scale=1)
        with open(self.path("f.png"), "rb") as file:
            self.assertTrue(file.read().startswith(b"\x89PNG"))

    def test_letters_without_a_font_are_named_once(self):
        with open(self.path("pairs.tsv"), "w", encoding="utf-8") as file:
            file.write("a \U0010fffd\tb\n" * 4)
        preset = {"task": {"kind": "pairs", "file": "pairs.tsv", "held_out": {"kind": "last", "count": 1}},
                  "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 4}, "units": 4, "attention": {"units": 4}}}}
        with open(self.path("pairs.json"), "w", encoding="utf-8") as file:
            json.dump(preset, file)
        figure = ts.train(self.path("pairs.json"), sequences=4, progress=None).trace().figure("weightings")
        with mock.patch.dict(os.environ, {"TAPESCOPE_FONTS": ""}):
            with self.assertWarnsRegex(UserWarning, r"no font draws .*\(U\+10FFFD\)"):
                figure.save(self.path("boxes.png"))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                figure.save(self.path("again.png"))

    def test_a_text_of_ones_own_needs_no_training_file(self):
        with open(self.path("pairs.tsv"), "w", encoding="utf-8") as file:
            file.write("a b\tx y\nb a\ty x\n" * 10)
        preset = {"task": {"kind": "pairs", "file": "pairs.tsv"},
                  "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 4}, "units": 4, "attention": {"units": 4}}}}
        with open(self.path("pairs.json"), "w", encoding="utf-8") as file:
            json.dump(preset, file)
        trained = ts.train(self.path("pairs.json"), sequences=4, progress=None)
        there = trained.trace(input="b a")
        trained.save(self.path("sent.safetensors"))
        os.remove(self.path("pairs.tsv"))
        machine = ts.machine(self.path("sent.safetensors"))
        for alone in (machine, pickle.loads(pickle.dumps(machine))):
            np.testing.assert_array_equal(alone.trace(input="b a")["input"], there["input"])
            for needs_it in (alone.trace, alone.evaluate):
                with self.assertRaisesRegex(ts.FormatError, "task.file"):
                    needs_it()

    def test_the_trace_of_another_program_has_a_figure(self):
        recorder = ts.Recorder("copy", memory=np.zeros((4, 2)), read0=[1, 0, 0, 0])
        recorder.step(input=[0, 1], output=[0.5], read0=dict(weighting=[0, 1, 0, 0]))
        self.assertIn("copy", repr(recorder.trace().figure()))

    def test_notebooks_show_light_and_dark(self):
        copy = ts.machine("copy")
        for shown in (copy, copy.trace(length=3), copy.curve()):
            html = shown._repr_html_()
            self.assertEqual((html.count("<img"), html.count("<style>")), (2, 1))
        self.assertEqual(copy.curve(dark=True)._repr_html_().count("<img"), 1)
        self.assertTrue(copy.trace(length=3)._repr_svg_().startswith("<svg"))
        with self.assertRaisesRegex(ts.FormatError, "c.png: .* expected one that ends in .svg"):
            copy.curve().save(self.path("c.png"))

    def test_a_figure_is_not_written_under_a_name_of_another_format(self):
        figure = ts.machine("copy").trace(length=2).figure()
        for name in ("f.pdf", "f", "f.svg.txt"):
            with self.assertRaises(ts.FormatError) as error:
                figure.save(self.path(name))
            self.assertEqual(str(error.exception), f"{self.path(name)}: unknown format; expected a file name that "
                                                   "ends in .svg, .png, .gif or .html")
        self.assertEqual(os.listdir(self.folder), [])
        figure.save(self.path("F.SVG"))

    def test_without_a_display_there_is_no_window(self):
        if not sys.platform.startswith("linux"):
            self.skipTest("elsewhere there always is a display")
        with mock.patch.dict(os.environ, DISPLAY="", WAYLAND_DISPLAY=""), self.assertRaises(ts.DisplayError):
            ts.machine("copy").view()


@support.needs_extension
class Program(support.Test):
    def run_module(self, *arguments, code=0):
        done = subprocess.run([sys.executable, "-m", "tapescope", *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_the_module_is_the_program(self):
        for arguments, code in [(["--version"], 0), (["tasks", "copy"], 0), (["cpoy"], 2), (["trace", "copy"], 2),
                                (["eval", "copy", "--lengths", "3", "--episodes", "4"], 0)]:
            self.assertEqual(self.run_module(*arguments, code=code), self.run_program(*arguments, code=code))

    def test_a_sweep_starts_it_again(self):
        with open(self.path("small.json"), "w") as file:
            json.dump(SMALL, file)
        self.run_module("sweep", "small.json", "--seeds", "1..2", "--out", "sweep")
        self.assertIn("100%", self.run_module("sweep", "--collect", "sweep", "--threshold", "1000"))

    def test_versions_are_one(self):
        origin = r"\((source|crate( [0-9a-f]{8})?|[0-9a-f]{8,} \d{4}-\d{2}-\d{2})\)"
        self.assertRegex(self.run_program("--version"), rf"^tapescope {re.escape(ts.__version__)} {origin}\n$")


@unittest.skipUnless(support.INSTALLED, "needs the wheel: .ci/wheel")
class Wheel(support.Test):
    def test_it_has_its_licences_and_no_link_that_leads_nowhere(self):
        wheel = importlib.metadata.distribution("tapescope")
        licences = {file.name: file.read_text() for file in wheel.files if "licenses" in file.parts}
        fonts = {"Inter-LICENSE.txt", "JetBrainsMono-LICENSE.txt", "Lucide-LICENSE.txt"}
        self.assertEqual({*licences}, {"LICENSE-MIT", "LICENSE-APACHE"} | fonts)
        # Not what a link on a system without them would leave.
        self.assertTrue(all(len(text) > 1000 for text in licences.values()))
        self.assertNotRegex(wheel.read_text("METADATA"), r"\]\((?!https?://)")


class WithoutTheExtension(support.Test):
    def run_without(self, code, expected=0):
        code = f"import sys; sys.modules['tapescope._native'] = None\n{code}"
        paths = [*map(os.path.abspath, filter(None, sys.path)), ""]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths[:-1]))
        done = subprocess.run([sys.executable, "-c", code], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, expected, done.stderr)
        return done

    def test_the_reader_works_and_the_rest_says_what_to_do(self):
        self.traced("t.npz")
        said = self.run_without(
            "import tapescope as ts\n"
            "trace = ts.load('t.npz'); print(trace, trace._repr_html_())\n"
            "for ask in (lambda: ts.machine('copy'), lambda: ts.train('copy'), trace.figure, trace.check, trace.view):\n"
            "    try: ask()\n"
            "    except ts.MissingExtensionError as error: print(error)\n").stdout.splitlines()
        self.assertEqual(said[0], "<Trace of copy: 9 steps, read0, write0, memory 16 × 20> None")
        self.assertEqual(len(said), 6)
        self.assertTrue(all("pip install ./python" in line for line in said[1:]))

    def test_presets_are_dictionaries(self):
        said = self.run_without(
            "import tapescope as ts\n"
            "for ask in (ts.check_preset, ts.tensor_shapes, lambda preset: ts.write_weights('w.safetensors', {}, preset)):\n"
            "    try: ask('copy')\n"
            "    except ts.MissingExtensionError as error: print(error)\n").stdout.splitlines()
        self.assertEqual(len(said), 3)
        self.assertTrue(all("with dictionaries as presets" in line and "pip install ./python" in line for line in said))

    def test_weights_are_written_without_a_comparison_and_it_says_so(self):
        preset = json.dumps({"task": {"kind": "copy", "length": [1, 2]}})
        done = self.run_without(
            "import tapescope as ts\n"
            f"ts.write_weights('w.safetensors', {{'b.bias': [[1, 2]], 'a': [[0.5]]}}, {preset})\n"
            "tensors, metadata = ts.read_weights('w.safetensors')\n"
            "print({name: tensor.tolist() for name, tensor in tensors.items()}, metadata['experiment']['task']['kind'])\n"
            "try: ts.write_weights('w.safetensors', {'a': [float('nan')]}, {})\n"
            "except ts.WeightsError as error: print(error)\n")
        self.assertEqual(done.stdout.splitlines(), ["{'a': [[0.5]], 'b.bias': [1.0, 2.0]} copy", "`a`: has values that are not finite"])
        self.assertIn("'w.safetensors': is not compared with its preset, because the extension is missing", done.stderr)

    def test_an_episode_is_recorded_without_a_check_of_the_options(self):
        done = self.run_without(
            "import tapescope as ts\n"
            "recorder = ts.Recorder('transduce', params={'symbols': 2}, length=1, attention={'score': 'any'})\n"
            "recorder.step(input=[0, 1, 0], logit=[0, 0, 0], read0=dict(weighting=[1, 0]))\n"
            "recorder.save('t.npz')\n"
            "print(ts.load('t.npz').meta['task'])\n")
        self.assertIn("'params': {'length': 1, 'symbols': 2}", done.stdout)
        self.assertIn("'answer': 'symbols'", done.stdout)
        self.assertIn("is not checked, because the extension is missing", done.stderr)

    def test_the_program_is_not_there_and_says_so_in_a_line(self):
        done = self.run_without("import sys, runpy; sys.argv[1:] = ['--help']\n"
                                "runpy.run_module('tapescope', run_name='__main__')\n", expected=1)
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))
        self.assertIn("error: ", done.stderr)
        self.assertIn("pip install ./python", done.stderr)


if __name__ == "__main__":
    unittest.main()
