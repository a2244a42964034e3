"""The programs that speed is compared with, in benches/peers: they agree with the golden values."""

import os
import subprocess
import sys
import unittest

import support

PEERS = os.path.join(support.HERE, "..", "..", "benches", "peers")
sys.path.insert(0, PEERS)


class Golden(unittest.TestCase):
    def test_a_machine_starts_with_the_tensors_of_its_golden_values(self):
        import machines

        given = {"memory.start", "usage.start"}
        families = [(machines.ntm_start, machines.ntm_golden, 8), (machines.dnc_start, machines.dnc_golden, 2),
                    (machines.attention_start, machines.attention_golden, 2)]
        for start, golden, count in families:
            cases = list(golden())
            self.assertEqual(len(cases), count)
            for case in cases:
                shapes = {name: value.shape for name, value in case.parameters.items() if name not in given}
                self.assertEqual({name: value.shape for name, value in start(case.sizes, seed=1).items()}, shapes, case.name)
                self.assertEqual(set(case.gradients), set(case.parameters))

    def test_a_changed_number_fails(self):
        import numpy as np
        from peer import Check

        golden = {"loss": 2.5, "outputs": np.ones((3, 2))}
        for change, is_found in [(0, False), (1e-6, True), (np.nan, True)]:
            check = Check()
            check.compare("case", {**golden, "outputs": golden["outputs"] + [[0, change], [0, 0], [0, 0]]}, golden)
            self.assertEqual(check.failed, is_found)
        with self.assertRaises(KeyError):
            Check().compare("case", {"loss": 2.5}, golden)


@support.needs("torch")
class PyTorch(unittest.TestCase):
    def test_outputs_loss_and_gradients_are_the_golden_ones(self):
        for name, cases in [("torch_ntm", 8), ("torch_attention", 2)]:
            with self.subTest(name):
                done = subprocess.run([sys.executable, os.path.join(PEERS, name + ".py"), "--check"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("largest difference"), cases)


if __name__ == "__main__":
    unittest.main()
