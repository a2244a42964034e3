"""Run by `cargo test` (tests/python.rs), or: python -m unittest discover python/tests

TAPESCOPE names the program whose files are read and written.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tapescope_io import FormatError, Recorder, load, read_weights, tensor_shapes, write_weights

PROGRAM = os.environ.get("TAPESCOPE", "tapescope")
PRESET = {"name": "mine", "task": {"kind": "copy", "bits": 3, "length": [1, 4]},
          "model": {"memory": {"rows": 9, "columns": 5}, "controller": {"kind": "lstm", "size": 7},
                    "heads": {"read": 2, "write": 1, "shift": {"range": 2}, "initial_weighting": "learned"}}}


def has(module):
    return importlib.util.find_spec(module) is not None


class Io(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_program(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_example(self, name, *arguments):
        paths = [os.path.dirname(HERE), os.environ.get("PYTHONPATH", "")]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, paths)))
        example = os.path.join(HERE, "..", "examples", name)
        done = subprocess.run([sys.executable, example, *arguments], cwd=self.folder, env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def path(self, name):
        return os.path.join(self.folder, name)

    def traced(self, name, *more):
        self.run_program("trace", "copy", "--length", "4", "--seed", "1", "--rows", "16", "--out", name, *more)
        return load(self.path(name))

    def test_all_forms_are_the_same_trace(self):
        traces = [self.traced(name) for name in ("t.ntmtrace.json", "t.ntmtrace.json.gz", "t.npz")]
        self.assertEqual(traces[0].heads, ["read0", "write0"])
        for trace in traces:
            self.assertEqual(list(trace.arrays), list(traces[0].arrays))
            self.assertEqual(trace.dims["write0.weighting"], ("t", "n"))
            for name, array in traces[0].arrays.items():
                self.assertEqual(trace[name].dtype, np.float32)
                np.testing.assert_array_equal(trace[name], array)

    def test_what_is_saved_is_what_was_loaded(self):
        trace = self.traced("t.ntmtrace.json")
        trace["read0.gate"][0] = np.nan
        trace["loss"][1] = -np.inf
        for name in ("a.ntmtrace.json", "a.ntmtrace.json.gz", "a.npz"):
            trace.save(self.path(name))
            self.run_program("diff", "a.ntmtrace.json", name)
            again = load(self.path(name))
            for key in trace.arrays:
                np.testing.assert_array_equal(trace[key], again[key])

    def test_memory_is_rebuilt(self):
        trace = self.traced("t.npz", "--full-memory")
        full = trace.arrays.pop("memory")
        for step in (0, 1, trace.steps):
            np.testing.assert_allclose(trace.memory(step), full[step], atol=1e-6)

    @unittest.skipUnless(has("pandas"), "needs pandas")
    def test_frames(self):
        frame = self.traced("t.npz").frames()["write0"]
        self.assertEqual(len(frame), 9)
        self.assertEqual(frame["phase"].iloc[4], "delimiter")
        for column in ("strength", "shift -1", "shift 0", "shift +1", "row", "key[0]", "erase[19]"):
            self.assertIn(column, frame)

    def test_errors_name_the_file(self):
        for text, said in [("{}", "`format`"), ("what", "is not JSON"),
                           ('{"format": "ntm-trace", "version": "2.0"}', "`version`")]:
            with open(self.path("t.json"), "w") as file:
                file.write(text)
            with self.assertRaisesRegex(FormatError, "t.json: .*" + said):
                load(self.path("t.json"))
        for name in ("t.npz", "t.ntmtrace.json.gz"):
            self.traced(name)
            with open(self.path(name), "rb") as file:
                data = file.read()
            with open(self.path(name), "wb") as file:
                file.write(data[:-40])
            with self.assertRaisesRegex(FormatError, name + ": is not "):
                load(self.path(name))
        with open(self.path("w"), "wb") as file:
            file.write(b"\xff" * 20)
        with self.assertRaisesRegex(FormatError, "w: is not a safetensors file"):
            read_weights(self.path("w"))

    def test_weights_travel_both_ways(self):
        random = np.random.default_rng(1)
        tensors = {name: random.normal(size=shape).astype(np.float32)
                   for name, shape in tensor_shapes(PRESET).items()}
        write_weights(self.path("w.safetensors"), tensors, PRESET, "by hand")
        again, metadata = read_weights(self.path("w.safetensors"))
        self.assertEqual((metadata["experiment"], metadata["command"]), (PRESET, "by hand"))
        self.assertEqual(sorted(again), sorted(tensors))
        for name in tensors:
            np.testing.assert_array_equal(again[name], tensors[name])
        self.run_program("trace", "w.safetensors", "--length", "3", "--out", "t.npz")
        self.run_program("verify", "t.npz")
        del tensors["output.bias"]
        with self.assertRaisesRegex(ValueError, "`output.bias` is missing"):
            write_weights(self.path("w.safetensors"), tensors, PRESET)

    def test_a_foreign_machine_is_recorded_in_parts(self):
        recorder = Recorder("mine", read0=np.eye(4)[0])
        for t in range(3):
            recorder.step(input=[t, 1], output=[0.5], read0=dict(weighting=np.eye(4)[t], gate=0.5),
                          write0=dict(weighting=np.eye(4)[t], erase=[0, 0], add=[1, 0]))
        recorder.save(self.path("t.ntmtrace.json"))
        # Of weightings alone nothing follows: that is said, and is no success.
        said = self.run_program("verify", "t.ntmtrace.json", code=1)
        self.assertIn("nothing in it can be recomputed", said)
        self.assertIn("not compared", said)
        with self.assertRaisesRegex(ValueError, "`weighting` is missing"):
            recorder.step(input=[0, 1], read0=dict(gate=0.5))

    def test_a_refused_step_says_where_and_leaves_nothing_behind(self):
        recorder = Recorder("mine", memory=np.zeros((4, 3)))
        good = dict(input=[0, 1], read0=dict(weighting=np.eye(4)[0], key=[1, 2, 3]))
        recorder.step(**good)
        for refused, words in (
            (dict(input=[0, 1]), "step 1: `read0.weighting` is missing; it was given before"),
            (dict(good, output=[1]), "step 1: `output` was not given in every step before"),
            (dict(good, input=[0, 1, 2]), "step 1: `input` has 3 values; expected 2, as in `input`"),
            (dict(good, read0=dict(weighting=np.eye(5)[0], key=[1, 2, 3])),
             "step 1: `read0.weighting` has 5 values; expected 4"),
            (dict(good, read0=dict(weighting=np.eye(4)[0], key=[1, 2, 3, 4])),
             "step 1: `read0.key` has 4 values; expected 3"),
            (dict(good, red0=dict(weighting=np.eye(4)[0])), "step 1, red0: heads are called"),
            (dict(good, memory=np.zeros((4, 2))), r"step 1: `memory` has the shape \[4, 2\]; expected \[4, 3\]"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                recorder.step(**refused)
        recorder.step(**good)
        recorder.save(self.path("t.npz"))
        self.assertEqual(load(self.path("t.npz"))["input"].shape, (2, 2))
        self.run_program("verify", "t.npz", code=1)

    def test_a_machine_that_writes_first_is_recorded_as_such(self):
        for write_first in (False, True):
            recorder = Recorder("mine", memory=np.zeros((4, 2)), write_first=write_first)
            memory, one, two = np.zeros((4, 2)), np.eye(4)[1], np.array([[0, 0], [1, 2], [0, 0], [0, 0]])
            for _ in range(2):
                before, memory = memory, memory * (1 - one[:, None]) + two
                recorder.step(input=[1], memory=memory, write0=dict(weighting=one, erase=[1, 1], add=[1, 2]),
                              read0=dict(weighting=one, read=one @ (memory if write_first else before)))
            recorder.save(self.path("t.npz"))
            self.run_program("verify", "t.npz")
            np.testing.assert_array_equal(recorder.trace().memory(2), memory)

    @unittest.skipUnless(has("torch"), "needs torch")
    def test_a_torch_machine_runs_to_the_same_outputs(self):
        for more in ([], ["--write-first"]):
            self.run_example("from_torch.py", "w.safetensors", "e.ntmtrace.json", *more)
            self.run_program("trace", "copy", "--weights", "w.safetensors",
                             "--input", "bits.json", "--out", "ours.npz")
            theirs, ours = load(self.path("e.ntmtrace.json")), load(self.path("ours.npz"))
            np.testing.assert_allclose(ours["output"], theirs["output"], atol=1e-4)
            self.run_program("verify", "ours.npz")
            self.run_program("verify", "e.ntmtrace.json", "--tolerance", "1e-3")
            self.run_program("diff", "e.ntmtrace.json", "ours.npz", "--tolerance", "1e-3")

    @unittest.skipUnless(has("torch"), "needs torch")
    def test_our_weights_run_in_torch(self):
        random = np.random.default_rng(2)
        base = PRESET["model"]
        heads = base["heads"]
        variants = [
            {},
            {"controller": {"kind": "feedforward", "size": 7, "layers": 2}, "heads": {**heads, "order": "write-first"}},
            {"controller": {"kind": "lstm", "size": 5, "layers": 2},
             "heads": {"read": 1, "write": 2, "shift": {"form": "scalar", "range": 2}, "key_activation": "identity",
                       "add_activation": "identity", "similarity_epsilon": 0.01}},
            {"memory": {"rows": 9, "columns": 5, "initial": "learned"}, "heads": {"read": 0, "write": 1}},
            {"heads": {"read": 2, "write": 0, "initial_weighting": "learned"}},
            {"heads": {"read": 0, "write": 0}},
        ]
        for variant in variants:
            preset = {**PRESET, "model": {**base, **variant}}
            tensors = {name: random.normal(size=shape).astype(np.float32)
                       for name, shape in tensor_shapes(preset).items()}
            write_weights(self.path("w.safetensors"), tensors, preset)
            self.run_program("trace", "w.safetensors", "--length", "4", "--out", "t.npz")
            said = self.run_example("to_torch.py", "w.safetensors", "t.npz")
            self.assertIn("largest difference", said)

    @unittest.skipUnless(has("matplotlib"), "needs matplotlib")
    def test_figure_6(self):
        self.traced("t.npz")
        self.run_example("figure6.py", "t.npz", "f.png")
        self.assertGreater(os.path.getsize(self.path("f.png")), 1000)


if __name__ == "__main__":
    unittest.main()
