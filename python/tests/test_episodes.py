"""Tasks of one's own: episodes that Python writes and the program learns from."""

import json
import os
import sys
import unittest
from unittest import mock

import numpy as np

from support import Test, needs_extension
from tapescope import EpisodesError, _episodes, read_weights, tensor_shapes, write_episodes, write_weights


def episode(rng):
    """A bit, and in the next step the same bit."""
    bit = rng.integers(0, 2)
    return [[bit, 0.5], [0, 1]], [[0.25], [bit]], [0, 1]


TASK = {"kind": "episodes", "file": "e.npz", "inputs": 2, "outputs": 1}
PRESET = {"task": TASK, "model": {"memory": {"rows": 4, "columns": 2}, "controller": {"size": 3}},
          "training": {"sequences": 40, "batch": 4, "validation_every": 20}}


class Episodes(Test):
    def write(self, episodes=episode, **more):
        return write_episodes(self.path("e.npz"), episodes, **more)

    @unittest.skipUnless(hasattr(os, "mkfifo"), "needs named pipes")
    def test_a_pipe_is_written_to_and_a_private_file_stays_private(self):
        self.write(count=2)
        os.chmod(self.path("e.npz"), 0o600)
        self.write(count=2)
        self.assertEqual(os.stat(self.path("e.npz")).st_mode & 0o777, 0o600)
        with open(self.path("e.npz"), "rb") as file:
            data = file.read()
        os.remove(self.path("e.npz"))
        os.mkfifo(self.path("e.npz"))
        reader = os.open(self.path("e.npz"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.write(count=2)
        self.assertEqual(os.read(reader, 1 << 16), data)

    def test_an_episode_depends_on_seed_and_number_alone(self):
        self.assertEqual(self.write(count=30, seed=4, input_names=["bit", "half"]), 30)
        all_of = dict(np.load(self.path("e.npz")))
        self.write(count=20, seed=4)
        some = dict(np.load(self.path("e.npz")))
        np.testing.assert_array_equal(some["inputs"], all_of["inputs"][:40])
        np.testing.assert_array_equal(some["targets"], all_of["targets"][:40])
        self.assertEqual(list(all_of["lengths"]), [2] * 30)
        self.assertEqual(list(all_of["input_names"]), ["bit", "half"])
        self.write(count=30, seed=5)
        self.assertFalse(np.array_equal(np.load(self.path("e.npz"))["targets"], all_of["targets"]))
        # What is not scored is no target.
        self.assertEqual(set(all_of["targets"][::2].ravel()), {0})

    def test_what_no_machine_can_learn_from_is_named_with_its_place(self):
        good = ([[0.0], [1.0]], [[0], [1]], None)
        for bad, said in [
            (([[0.0, 1.0]], [[0]], None), "`inputs` of episode 1: has the shape [1, 2]; expected [steps, 1]"),
            (([[0.0]], [[0], [1]], None), "`targets` of episode 1: has the shape [2, 1]; expected [1, 1]"),
            ((np.zeros((0, 1)), np.zeros((0, 1)), None), "`inputs` of episode 1: has the shape [0, 1]"),
            (("a", [[0]], None), "`inputs` of episode 1: is not an array of numbers"),
            (([[0.0]], [[0]]), "episode 1: is not three arrays"),
        ]:
            with self.assertRaises(EpisodesError) as caught:
                self.write([good, bad])
            self.assertTrue(str(caught.exception).startswith(said), str(caught.exception))
        for wrong, said in [(dict(), "`count`: is None"), (dict(count=0), "`count`: is 0")]:
            with self.assertRaisesRegex(EpisodesError, said):
                self.write(**wrong)
        for wrong in (None, 3):
            with self.assertRaisesRegex(EpisodesError, f"`episodes`: is {wrong}; expected a function"):
                self.write(wrong)
        for all_of, more in [([], {}), ([good], {}), ([good, good], {"count": 1})]:
            with self.assertRaises(EpisodesError):
                self.write(all_of, **more)
        self.assertFalse(os.path.exists(self.path("e.npz")))

    @needs_extension
    def test_what_training_would_refuse_is_not_written(self):
        good = ([[0.0], [1.0]], [[0], [1]], [0, 1])
        for bad, said in [
            (([[0.0], [np.nan]], [[0], [1]], [0, 1]),
             "`inputs`: episode 1, step 1, channel 0 is NaN; expected a finite number"),
            (([[0.0], [np.inf]], [[0], [1]], [0, 1]),
             "`inputs`: episode 1, step 1, channel 0 is infinite or more than 32 bits can hold; expected a finite number"),
            (([[0.0], [1.0]], [[0], [np.nan]], [0, 1]),
             "`targets`: episode 1, step 1, channel 0 is NaN; expected a finite number, because the step is scored"),
            (([[0.0], [1.0]], [[0], [1]], [0, 0]),
             "`mask`: episode 1 is 0 in every step; expected at least one step that is scored"),
            (([[0.0], [1.0]], [[0], [1]], [0, 0.25]),
             "`mask`: episode 1, step 1 is 0.25; expected 1 where the answer is scored, else 0"),
            (([[0.0], [1e300]], [[0], [1]], None),
             "`inputs` of episode 1: value [1, 0] is 1e+300; expected numbers of 32 bits, 3.4e+38 at most"),
            (([[0.0], [1 + 2j]], [[0], [1]], None),
             "`inputs` of episode 1: has complex numbers; expected real numbers"),
        ]:
            with self.subTest(said), self.assertRaises(EpisodesError) as caught:
                self.write([good, bad])
            self.assertEqual(str(caught.exception), said)
        for count in (1, 3):
            with self.assertRaises(EpisodesError) as caught:
                self.write(count=3, input_names=["bit"] * count)
            self.assertEqual(str(caught.exception),
                             f"`input_names`: has {count} names; expected 2, one for each channel, or none")
        self.assertFalse(os.path.exists(self.path("e.npz")))

    @needs_extension
    def test_an_episode_is_as_large_as_the_program_allows(self):
        long, wide = (np.zeros((100_001, 1)), np.zeros((100_001, 1)), None), (np.zeros((1, 1025)), [[0]], None)
        for bad, said in [(long, "`lengths`: episode 0 is 100001; "), (wide, "`inputs`: has 1025 channels; ")]:
            with self.assertRaises(EpisodesError) as caught:
                self.write([bad, bad])
            self.assertTrue(str(caught.exception).startswith(said), str(caught.exception))

    def test_without_the_extension_values_are_written_with_a_warning(self):
        with mock.patch.object(_episodes, "is_built", lambda: False):
            with self.assertWarnsRegex(UserWarning, "e.npz': its values are not checked"):
                self.assertEqual(self.write([([[0.0]], [[0.5]], None)] * 2), 2)
            with self.assertRaisesRegex(EpisodesError, "expected \\[steps, 1\\]"):
                self.write([([[0.0]], [[0]], None), ([[0.0, 1.0]], [[0]], None)])

    def test_what_an_episode_raises_says_which_it_was(self):
        def third(rng, made=[]):
            made.append(1)
            return episode(rng) if len(made) < 4 else 1 / 0

        def listed():
            yield episode(np.random.default_rng(1))
            raise KeyError("bits")

        for wrong, more, said, cause in [
            (third, {"count": 9}, "episode 3: raised ZeroDivisionError: division by zero", ZeroDivisionError),
            (listed(), {}, "episode 1: raised KeyError: 'bits'", KeyError),
        ]:
            with self.assertRaises(EpisodesError) as caught:
                self.write(wrong, **more)
            self.assertEqual(str(caught.exception), said)
            self.assertIsInstance(caught.exception.__cause__, cause)

    @needs_extension
    def test_weights_made_in_python_learn_on_from_them(self):
        self.write(count=30)
        with open(self.path("p.json"), "w", encoding="utf-8") as file:
            json.dump(PRESET, file)
        rng = np.random.default_rng(3)
        tensors = {name: rng.normal(size=shape) / 4 for name, shape in tensor_shapes(PRESET).items()}
        write_weights(self.path("w.safetensors"), tensors, PRESET)
        said = self.run_program("train", "p.json", "--from", "w.safetensors", "--out", "run")
        self.assertIn("e.npz: 27 training episodes, 3 held out (one of every 10)", said)
        learned, metadata = read_weights(self.path("run/weights.safetensors"))
        self.assertEqual(metadata["experiment"]["task"]["held_out"], {"kind": "every", "step": 10})
        before = tensors["output.weight"].astype(np.float32)
        self.assertLess(0, abs(learned["output.weight"] - before).max())
        self.assertLess(abs(learned["output.weight"] - before).max(), 0.2)
        # They are a machine as they are, too.
        self.assertIn("episodes per line: at most 3", self.run_program("eval", "w.safetensors"))

    def test_the_examples_are_learned(self):
        for name in ("reversal", "automaton"):
            self.assertIn("20000 episodes", self.run_example(f"{name}.py"))
            said = self.run_program("train", f"{name}.json", "--sequences", "64", "--out", name)
            self.assertIn("18000 training episodes" if name == "reversal" else " held out", said)

    @unittest.skipUnless(sys.platform == "linux", "reads /proc/stat")
    def test_a_recording_of_this_computer_is_learned(self):
        self.run_example("record_load.py", "load.csv", "--seconds", "0.33", "--every", "0.001")
        said = self.run_example("csv_bits.py", "load.csv")
        self.assertIn("load.npz: 10 pieces, the last 1 held out", said)
        self.run_program("train", "load.json", "--sequences", "32", "--out", "load")
        with open(self.path("load.csv"), "a", encoding="ascii") as file:
            file.write("0,2\n")
        with self.assertRaisesRegex(AssertionError, "load.csv: line 332: is 0,2; expected"):
            self.run_example("csv_bits.py", "load.csv")


if __name__ == "__main__":
    unittest.main()
