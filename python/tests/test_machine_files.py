"""Machines whose equations stand in a file: trained, recorded, changed and read by the names of the file."""

import json
import os
import pickle
import unittest

import numpy as np

import support
import tapescope as ts

FILE = """machine "Own"
input  x[steps, inputs]
target y[steps, outputs]
size   rows  = 4 in 1..4096 "rows"
size   units = 6 in 1..64 "units"
heads  read  = 2 in 1..8 "read heads"
constant rate = 0.5 in 0..10 "rate"
switch more = off | on
start  h, c[units] = 0
start  M[rows, units] = 0.1

along steps
  h[units], c = lstm[units](x; h[-1], c[-1])     "controller.hidden, controller.cell"
  for read
    k = linear[units](h)                         "key"
    w = softmax[rows](dot[units](k, M[-1]))      "weighting"
    r = sum[rows](w * M[-1])                     "read"
  g = softmax[rows](linear[rows](h))             "usage"
  M = M[-1] + rate * g * h                       "memory"
  if more is on b = tanh(linear[units](h))       "extra"
  z = linear[outputs](h, r)                      "logit"
"""
OWN = {
    "name": "own", "task": {"kind": "copy", "bits": 3, "length": [1, 3]},
    "model": {"kind": "equations", "file": "own.machine", "sizes": {"units": 5}, "heads": {"read": 2},
              "switches": {"more": "on"}, "constants": {"rate": 0.25}},
    "training": {"batch": 4, "sequences": 80, "validation_every": 40, "validation_episodes": 4, "seed": 3},
}
NAMES = ("h.weight", "h.bias", "read.k.weight", "g.weight", "z.bias")
STEPS, ROWS, UNITS = 7, 4, 5


class Test(support.Test):
    def setUp(self):
        super().setUp()
        for name, text in (("own.machine", FILE), ("own.json", json.dumps(OWN))):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)

    def machine(self):
        return ts.machine(self.path("own.machine"), task=OWN)


@support.needs_extension
class Training(Test):
    def test_a_preset_may_be_a_file_or_a_dictionary_with_the_name_or_the_text(self):
        os.chdir(self.folder)
        of_text = {**OWN, "model": {**OWN["model"], "text": FILE}}
        machines = [ts.train(preset, progress=False) for preset in (self.path("own.json"), OWN, of_text)]
        for machine in machines:
            self.assertEqual(machine.sha256, machines[0].sha256)
            self.assertEqual(machine.preset["model"]["text"], FILE)
            self.assertEqual(machine.preset["model"]["constants"], {"rate": 0.25})
        with self.assertRaisesRegex(ts.FormatError, 'own.machine: is a machine file, not a preset.*"kind": "equations"'):
            ts.train("own.machine")
        self.assertLess(machines[0].validation["bits_per_sequence"], 100)
        elsewhere = {**OWN, "model": {**OWN["model"], "file": self.path("own.machine")}}
        os.chdir("..")
        self.assertEqual(ts.train(elsewhere, progress=False).sha256, machines[0].sha256)

    def test_a_run_is_that_of_the_program_and_can_be_repeated(self):
        os.chdir(self.folder)
        self.run_program("train", "own.json", "--out", "program")
        machine = ts.train(OWN, out="mine", progress=False)
        self.assertEqual(ts.machine("program").sha256, machine.sha256)
        os.remove("own.machine")
        self.run_program("train", "--repeat", "mine", "--out", "again")
        self.assertEqual(ts.machine("again").sha256, machine.sha256)

    def test_included_files_have_their_names(self):
        preset = {**OWN, "model": {"kind": "equations", "file": "tape_reader.machine", "sizes": {"units": 4}}}
        machine = ts.train(preset, sequences=8, set={"model.sizes.units": 3}, progress=False)
        self.assertEqual(machine.preset["model"]["sizes"]["units"], 3)

    def test_what_is_wrong_is_said_with_its_place(self):
        os.chdir(self.folder)
        with open("wrong.machine", "w", encoding="utf-8") as file:
            file.write(FILE.replace("dot[units](k, M[-1])", "dot[units](q, M[-1])"))
        for model, *expected in (
                ({"file": "wrong.machine"}, "wrong.machine:16:", "unknown name q"),
                ({"file": "owm.machine"}, "`model.file`", "no such file", "the path of a machine file"),
                ({"file": "nowhere/own.machine"}, "nowhere/own.machine", "cannot be read"),
                ({"text": FILE}, "`model.file`"),
                ({"file": "own.machine", "sizes": {"unitz": 3}}, "`model.sizes.unitz`", "units"),
                ({"file": "own.machine", "sizes": {"units": 0}}, "`model.sizes.units`", "1 to 64"),
                ({"file": "own.machine", "switches": {"more": "maybe"}}, "`model.switches.more`"),
                ({"file": "own.machine", "memory": {"rows": 3}}, "`model.memory")):
            with self.assertRaises(ts.TapescopeError, msg=str(model)) as caught:
                ts.train({**OWN, "model": {"kind": "equations", **model}}, progress=False)
            for words in expected:
                self.assertIn(words, str(caught.exception))


@support.needs_extension
class Untrained(Test):
    def test_a_file_is_a_machine_with_random_weights(self):
        machine = ts.machine(self.path("own.machine"), seed=1)
        trace = machine.trace(length=3)
        self.assertEqual((machine.name, machine.preset["task"]["kind"], machine.stopped_after), ("own", "copy", 0))
        self.assertEqual(trace["read0.weighting"].shape, (STEPS, ROWS))
        self.assertEqual(machine.sha256, ts.machine(self.path("own.machine"), seed=1).sha256)
        self.assertNotEqual(machine.sha256, ts.machine(self.path("own.machine"), seed=2).sha256)
        self.assertRegex(repr(machine), "own.machine with rows 4, units 6, read 2; .* weights; untrained>")

    def test_the_task_is_a_name_a_task_or_a_preset(self):
        path = self.path("own.machine")
        self.assertEqual(ts.machine(path, task="transduce").preset["task"]["kind"], "transduce")
        self.assertEqual(ts.machine(path, task=OWN["task"]).preset["task"]["bits"], 3)
        machine = ts.machine(path, task=self.path("own.json"), set={"model.sizes.units": 7})
        self.assertEqual(machine.preset["model"]["sizes"], {"rows": 4, "units": 7})
        self.assertEqual(machine.preset["model"]["switches"], {"more": "on"})
        self.assertEqual(ts.train(OWN | {"model": machine.preset["model"]}, start=machine, progress=False).stopped_after, None)

    def test_the_arguments_of_a_file_are_for_a_file(self):
        with self.assertRaisesRegex(ts.ArgumentError, "machine file"):
            ts.machine("copy", seed=1)
        with self.assertRaisesRegex(ts.FormatError, "no such file.*did you mean `ntm.machine`"):
            ts.machine("ntn.machine")

    def test_sizes_without_tensors_can_be_others(self):
        machine = ts.machine(self.path("own.machine"), task=OWN)
        with self.assertRaisesRegex(ts.ArgumentError, "size units=7"):
            machine.trace(length=2, sizes={"units": 7})
        reader = ts.machine("ntm_one_page.machine", seed=1)
        self.assertEqual(reader.trace(length=2, sizes={"rows": 9})["memory"].shape[1], 9)
        self.assertEqual(len(reader.evaluate(2, episodes=2, sizes={"rows": 9})), 1)


@support.needs_extension
class Traces(Test):
    def test_arrays_have_the_names_and_axes_of_the_file(self):
        trace = self.machine().trace(length=3, seed=1)
        for end in (".npz", ".ntmtrace.json", ".ntmtrace.json.gz"):
            trace.save(self.path("t" + end))
            read = ts.load(self.path("t" + end))
            self.assertEqual(list(read), list(trace))
            # Heads, memory and controller have the axes of all machines.
            for name, dims in (("read1.key", ("t", "m")), ("read0.weighting", ("t", "n")), ("usage", ("t", "rows")),
                               ("memory", ("t+1", "n", "m")), ("memory.initial", ("n", "m")),
                               ("controller.hidden", ("t", "c")), ("extra", ("t", "units"))):
                np.testing.assert_array_equal(read[name], trace[name], name)
                self.assertEqual(read.dims[name], dims)
                sizes = {"t+1": STEPS + 1, **{axis: own["size"] for axis, own in read.meta["axes"].items()}}
                self.assertEqual(read[name].shape, tuple(sizes[axis] for axis in dims))
            self.assertEqual(read.meta["model"]["text"], FILE)
            self.assertTrue(read.check(0))
        self.assertTrue(ts.check(self.path("t.npz"), 0))
        self.assertEqual((trace.heads, list(trace.head("read0"))), (["read0", "read1"], ["initial", "key", "weighting", "read"]))
        self.assertEqual(repr(trace), f"<Trace of copy: {STEPS} steps, read0, read1, memory {ROWS} × {UNITS}>")

    def test_the_memory_follows_its_equation(self):
        trace = self.machine().trace(length=3)
        np.testing.assert_array_equal(trace.memory(0), np.full((ROWS, UNITS), 0.1, np.float32))
        for step in range(STEPS):
            added = 0.25 * trace["usage"][step][:, None] * trace["controller.hidden"][step]
            np.testing.assert_allclose(trace.memory(step + 1), trace.memory(step) + added, atol=1e-6)
        np.testing.assert_array_equal(trace.memory(-1), trace["memory"][-1])

    def test_interventions_and_derivatives_are_by_the_names_of_the_file(self):
        machine = self.machine()
        before = machine.trace(length=3, seed=1, gradient="loss")
        self.assertEqual(before["gradient.usage"].shape, (STEPS, ROWS))
        seen = []

        def twice(step, arrays):
            seen.append((arrays["usage"].shape, arrays["memory"].shape, arrays["memory.initial"].shape))
            return (2 * arrays["usage"][step]).tolist()
        after = machine.trace(length=3, seed=1, intervene={"2:read0.read": 0, "4:usage": twice})
        self.assertEqual(seen, [((5, ROWS), (6, ROWS, UNITS), (ROWS, UNITS))])
        np.testing.assert_array_equal(after["logit"][:2], before["logit"][:2])
        self.assertFalse(after["read0.read"][2].any())
        np.testing.assert_allclose(after["usage"][4], 2 * before["usage"][4], rtol=1e-6)
        self.assertTrue(after.check(0))
        after.save(self.path("after.npz"))
        before.save(self.path("before.npz"))
        self.assertIn("read0.read", self.run_program("diff", self.path("before.npz"), self.path("after.npz"), code=1))

    def test_a_changed_value_is_found(self):
        trace = self.machine().trace(length=3)
        trace.arrays["memory"] = trace["memory"] + np.float32(0.25)
        self.assertEqual(trace.check().outcome, "differs")

    def test_they_are_pickled_and_drawn(self):
        machine = self.machine()
        trace = machine.trace(length=3)
        again = pickle.loads(pickle.dumps(machine))
        self.assertEqual(again.sha256, machine.sha256)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(trace))["logit"], again.trace(length=3)["logit"])
        self.assertIn("<svg", trace.figure("quantities").svg)
        self.assertIn("<svg", trace.figure().svg)


@support.needs_extension
class Weights(Test):
    def test_tensors_have_the_names_of_the_equations(self):
        os.chdir(self.folder)
        machine, shapes = self.machine(), ts.tensor_shapes(OWN)
        self.assertEqual({name: tensor.shape for name, tensor in machine.weights.items()}, shapes)
        self.assertEqual([name for name in NAMES if name not in shapes], [])
        self.assertEqual(ts.machine_from(machine.weights, OWN).sha256, machine.sha256)
        ts.write_weights("own.safetensors", {**machine.weights, "z.bias": np.ones(3)}, OWN)
        os.remove("own.machine")
        tensors, metadata = ts.read_weights("own.safetensors")
        self.assertEqual(metadata["experiment"]["model"]["text"], FILE)
        np.testing.assert_array_equal(ts.machine("own.safetensors").weights["z.bias"], tensors["z.bias"])
        with self.assertRaisesRegex(ts.WeightsError, "z.wait.*did you mean `z.weight`"):
            ts.machine_from({"z.wait": 1}, machine.preset)


@support.needs_extension
class Presets(Test):
    def test_a_preset_has_the_keys_of_the_file(self):
        whole = {**OWN, "model": {**OWN["model"], "text": FILE}}
        ts.check_preset(whole)
        for key, value in (("memory", {"rows": 3}), ("size", {}), ("file", 3)):
            with self.assertRaisesRegex(ts.FormatError, f"model.{key}"):
                ts.check_preset({**whole, "model": {**whole["model"], key: value}})


if __name__ == "__main__":
    unittest.main()
