"""The interpreter of machine files in tests/recompute.py: it agrees with the program, and finds a number that was changed."""

import json
import os
import subprocess
import sys
import unittest

import support

ROOT = os.path.join(support.HERE, "..", "..")
# An array that follows from others in a trace of each machine, none of a quantity that no trace has.
MACHINES = {
    "copy": "write0.gated", "copy_dnc": "write0.allocation", "copy_sam": "read0.weighting", "copy_lstm": "output", "copy_lstmn": "attended_cell",
    "copy_multi_head": "read5.similarity", "transduce": "read0.read", "transduce_luong": "encoder.annotations", "caption": "read0.fertility",
    "aspects_structured": "redundancy", "span_coattention": "context", "span_attention_over_attention": "importance",
}
# Files that no included weights belong to.
FILES = ("fast_weights", "ntm_in_turn", "titans", "tape_reader")


class Test(support.Test):
    def recompute(self, *arguments, code=0):
        script = os.path.join(ROOT, "tests", "recompute.py")
        done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def traced(self, name):
        path = self.path("t.ntmtrace.json")
        self.run_program("trace", name, "--seed", "1", "--out", path)
        return path


class Recompute(Test):
    def test_every_array_of_every_machine_follows_from_others_and_the_weights(self):
        for name in MACHINES:
            with self.subTest(name):
                trace = self.traced(name)
                self.assertIn(" output ", self.recompute(trace))
                weights = os.path.join(ROOT, "assets", name + ".safetensors")
                self.assertIn("as recorded: nothing", self.recompute("--weights", weights, trace))

    def test_files_without_included_weights_hold_as_well(self):
        for name in FILES:
            with self.subTest(name):
                preset = {"task": {"kind": "copy", "bits": 3, "length": [3, 3]}, "model": {"kind": "equations", "file": name + ".machine"},
                          "training": {"sequences": 4, "batch": 2, "validation_every": 4, "validation_episodes": 1}}
                with open(self.path("p.json"), "w", encoding="utf-8") as file:
                    json.dump(preset, file)
                self.run_program("train", "p.json", "--out", "run", "--force", "--threads", "1")
                found = self.recompute("--weights", self.path("run/weights.safetensors"), self.traced("run"))
                self.assertIn("as recorded: nothing", found)

    def test_a_changed_number_is_found(self):
        for name, array in MACHINES.items():
            with self.subTest(name):
                path = self.traced(name)
                with open(path, encoding="utf-8") as file:
                    trace = json.load(file)
                data = trace["arrays"][array]["data"]
                place = max(range(len(data)), key=lambda i: abs(data[i]) if isinstance(data[i], float) else 0)
                data[place] += 1e-3 * max(1, abs(data[place]))
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(trace, file)
                self.recompute(path, code=1)


if __name__ == "__main__":
    unittest.main()
