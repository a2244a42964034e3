"""Machines in files: made, trained, recorded, checked, loaded."""

import json
import os
import tempfile
import unittest

import numpy as np

import tapescope as ts

FILE = """machine "Tape"
input  x[steps, inputs]
target y[steps, outputs]
size   units = 5 in 1..64 "units"
size   rows  = 3 in 1..64 "rows"
start  h, c[units] = 0
start  M[rows, units] = 0.1

along steps
  h[units], c = lstm[units](x; h[-1], c[-1])  "controller.hidden, controller.cell"
  w = softmax[rows](dot[units](h, M[-1]))     "weighting"
  M = M[-1] + w * h                           "memory"
  z = linear[outputs](h, sum[rows](w * M))    "logit"
"""
TASK = {"kind": "copy", "bits": 2, "length": [1, 3]}


class MachineFiles(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        with open("own.machine", "w", encoding="utf-8") as file:
            file.write(FILE)

    def preset(self, **model: object) -> dict:
        training = {"sequences": 8, "batch": 4, "validation_every": 4, "validation_episodes": 2}
        return {"task": TASK, "model": {"kind": "equations", "file": "own.machine", **model}, "training": training}

    def test_an_untrained_machine_records_an_episode(self) -> None:
        made = ts.machine("own.machine", task=TASK, model={"sizes": {"rows": 4}})
        trace = made.trace(length=3)
        self.assertEqual(trace["weighting"].shape, (7, 4))
        self.assertEqual(trace.dims["memory"], ("t", "rows", "units"))
        np.testing.assert_allclose(trace["weighting"].sum(1), 1, rtol=1e-5)
        self.assertTrue(trace.check(0))
        np.testing.assert_array_equal(trace.memory(0), trace["memory.initial"])
        np.testing.assert_array_equal(trace.memory(7), trace["memory"][6])
        self.assertEqual(made.weights["h.weight"].shape, (20, 8))
        self.assertEqual(ts.tensor_shapes(made.preset)["h.bias"], (20,))
        changed = made.trace(length=3, intervene={"2:weighting": [1, 0, 0, 0]})
        np.testing.assert_array_equal(changed["weighting"][2], [1, 0, 0, 0])
        self.assertEqual(made.sha256, ts.machine("own.machine", task=TASK, model={"sizes": {"rows": 4}}).sha256)

    def test_included_files_are_found_and_unknown_ones_named(self) -> None:
        self.assertIn("read0.weighting", ts.machine("ntm_one_page.machine", model={"sizes": {"rows": 8}}).trace(length=2))
        with self.assertRaisesRegex(ts.FormatError, "did you mean ntm.machine"):
            ts.machine("ntn.machine")
        with self.assertRaises(ts.ArgumentError):
            ts.machine("copy", task=TASK)

    def test_a_dictionary_and_a_preset_train_alike(self) -> None:
        one = ts.train(self.preset(sizes={"units": 4}), seed=3, progress=None)
        with open("own.json", "w", encoding="utf-8") as file:
            json.dump(self.preset(sizes={"units": 4}), file)
        other = ts.train("own.json", seed=3, progress=None)
        self.assertEqual(one.sha256, other.sha256)
        trace = one.trace(length=2)
        trace.save("own.npz")
        np.testing.assert_array_equal(ts.load("own.npz")["weighting"], trace["weighting"])
        again = ts.machine_from(one.weights, one.preset)
        self.assertEqual(again.sha256, one.sha256)

    def test_wrong_keys_name_their_path(self) -> None:
        with self.assertRaisesRegex(ts.FormatError, "model.sizes.columns"):
            ts.train(self.preset(sizes={"columns": 4}), progress=None)
        with self.assertRaisesRegex(ts.FormatError, "1 to 64"):
            ts.tensor_shapes(self.preset(sizes={"units": 99}))


if __name__ == "__main__":
    unittest.main()
