"""The adapter for pytorch-ntm, on a machine with its conventions and attributes."""

import json
import os
import unittest
import unittest.mock

import numpy as np

from support import HERE, Test, needs, needs_extension
from tapescope import FormatError, RecordError, WeightsError, load, pytorch_ntm, read_weights

COPY = {"kind": "copy", "bits": 5, "length": [1, 20]}


def machine(pairs=1, layers=1, seed=1):
    import torch
    from stand_in import EncapsulatedNTM

    torch.manual_seed(seed)
    net = EncapsulatedNTM(6, 5, 12, layers, pairs, 16, 7)
    bits = torch.randint(0, 2, (4, 1, 5)).float()
    inputs = torch.zeros(5, 1, 6)
    inputs[:4, :, :5], inputs[4, :, 5] = bits, 1
    return net, inputs, bits


def run(net, inputs, steps):
    """The outputs of the machine alone."""
    import torch

    net.init_sequence(1)
    with torch.no_grad():
        outputs = [net(x)[0] for x in [*inputs, *[torch.zeros(1, inputs.shape[2])] * steps]]
    return torch.cat(outputs).numpy()


def largest_difference(trace):
    """Of every stage, the reads and the memory from what is recomputed in float64, head after head.

    Every stage follows from the one before as it was recorded; what the first step adds is the weighting before it.
    """
    at = lambda name, t: trace[name][t].astype(np.float64)
    shifts, memory, worst = trace.shifts, trace["memory.initial"].astype(np.float64), {}

    def compare(name, computed, recorded):
        worst[name] = max(worst.get(name, 0), np.abs(computed - recorded).max())

    for t in range(trace.steps):
        for head in trace.heads:
            part = lambda name: at(f"{head}.{name}", t)
            before = at(f"{head}.weighting", t - 1) if t else trace[f"{head}.initial"].astype(np.float64)
            compare("similarity", memory @ part("key") / np.linalg.norm(memory, axis=1) / np.linalg.norm(part("key")),
                    part("similarity"))
            content = np.exp(part("strength") * part("similarity"))
            compare("content", content / content.sum(), part("content"))
            compare("gated", part("gate") * part("content") + (1 - part("gate")) * before, part("gated"))
            compare("shifted", sum(s * np.roll(part("gated"), by) for s, by in zip(part("shift"), shifts)), part("shifted"))
            sharp = part("shifted") ** part("sharpening")
            compare("weighting", sharp / sharp.sum(), part("weighting"))
            if head.startswith("read"):
                compare("read", part("weighting") @ memory, part("read"))
            else:
                w = part("weighting")[:, None]
                memory = memory * (1 - w * part("erase")) + w * part("add")
        compare("memory", memory, at("memory", t + 1))
    compare("output", 1 / (1 + np.exp(-trace["logit"].astype(np.float64))), trace["output"])
    return worst


@needs("torch")
class PytorchNtm(Test):
    def test_a_recording_that_is_refused_leaves_the_machine_as_it_was(self):
        net, inputs, bits = machine()
        with self.assertRaises(RecordError):
            pytorch_ntm.record(net, inputs, bits, task=7)
        self.assertFalse([module for module in net.modules() if module._forward_hooks or module._forward_pre_hooks])

    def test_a_run_is_recorded_as_the_machine_does_it(self):
        for pairs, layers in ((1, 1), (2, 1), (1, 2), (3, 2)):
            net, inputs, bits = machine(pairs, layers)
            alone = run(net, inputs, 4)
            recorder = pytorch_ntm.record(net, inputs, bits)
            recorder.save(self.path("t.ntmtrace.json"))
            self.assertIn("every stage holds", self.run_program("verify", "t.ntmtrace.json"))
            np.testing.assert_array_equal(run(net, inputs, 4), alone)  # nothing stays in the machine
            trace = load(self.path("t.ntmtrace.json"))
            np.testing.assert_allclose(trace["output"], alone, atol=1e-6)
            self.assertEqual(trace.phases, ["input"] * 5 + ["answer"] * 4)
            self.assertEqual(trace.shifts, [1, 0, -1])
            self.assertEqual(trace.heads, [f"{kind}{pair}" for pair in range(pairs) for kind in ("read", "write")])
            self.assertEqual(trace.meta["conventions"].get("order"), trace.heads if pairs > 1 else None)
            for name, difference in largest_difference(trace).items():
                self.assertLess(difference, 1e-5, (pairs, layers, name))
            np.testing.assert_array_equal(trace["read0.initial"], np.zeros(16))
            np.testing.assert_array_equal(trace["mask"], [0] * 5 + [1] * 4)
            np.testing.assert_array_equal(trace["target"][5:], bits[:, 0])

    def test_its_weights_give_its_outputs_where_conventions_agree(self):
        for layers in (1, 2):
            net, inputs, bits = machine(layers=layers)
            theirs = pytorch_ntm.record(net, inputs, bits).trace()
            converted = pytorch_ntm.convert(net, COPY, first=inputs[0])
            self.assertEqual(len(converted.differences), 1)
            self.assertIn("in others the first step differs", converted.differences[0])
            converted.save(self.path("w.safetensors"))
            with open(self.path("bits.json"), "w") as file:
                json.dump(bits[:, 0].int().tolist(), file)
            self.run_program("trace", "w.safetensors", "--input", "bits.json", "--out", "ours.npz")
            ours = load(self.path("ours.npz"))
            np.testing.assert_allclose(ours["output"], theirs["output"], atol=1e-4)
            np.testing.assert_allclose(ours["write0.weighting"], theirs["write0.weighting"], atol=1e-4)
            np.testing.assert_allclose(ours["write0.shift"], theirs["write0.shift"][:, ::-1], atol=1e-5)

    def test_a_machine_with_other_equations_is_refused_by_its_first_array(self):
        import torch
        from stand_in import Memory

        relu, tanh = torch.relu, torch.tanh
        cases = {  # the array, and what replaces a function of torch while the machine runs
            "write0.strength": lambda net: other(net.ntm.heads[1], strength=relu),
            "read0.strength": lambda net: other(net.ntm.heads[0], strength=relu),
            "write0.key": lambda net: other(net.ntm.heads[1], key=tanh),
            "write0.gate": lambda net: other(net.ntm.heads[1], gate=relu),
            "write0.shift": lambda net: other(net.ntm.heads[1], shift=relu),
            "write0.weighting": lambda net: other(net.ntm.heads[1], sharpening=relu),
            "write0: memory": lambda net: other(net.ntm.heads[1], add=relu),
            "output": lambda net: net.register_forward_hook(lambda module, given, made: (tanh(made[0]), made[1])),
        }

        def other(head, **activations):
            usual = {"key": lambda x: x, "strength": torch.nn.functional.softplus, "gate": torch.sigmoid,
                     "shift": lambda x: torch.softmax(x, 1), "sharpening": torch.nn.functional.softplus,
                     "erase": torch.sigmoid, "add": lambda x: x, **activations}

            def forward(hidden, before):
                made = dict(zip(usual, head.linear(hidden).split(head.lengths, 1)))
                made = {name: usual[name](value) for name, value in made.items()}
                memory = head.memory
                content = memory._similarity(made["key"], made["strength"])
                gated = memory._interpolate(before, content, made["gate"])
                sharp = memory._shift(gated, made["shift"]) ** (1 + made["sharpening"])
                weighting = sharp / (sharp.sum(1, keepdim=True) + 1e-16)
                if head.is_read_head():
                    return (weighting[:, None] @ memory.memory)[:, 0], weighting
                column = weighting[:, :, None]
                memory.memory = memory.memory * (1 - column * made["erase"][:, None]) + column * made["add"][:, None]
                return weighting
            head.forward = forward

        for array, change in cases.items():
            net, inputs, bits = machine()
            change(net)
            for use in (lambda: pytorch_ntm.record(net, inputs, bits), lambda: pytorch_ntm.convert(net, COPY)):
                with self.assertRaises(RecordError, msg=array) as raised:
                    use()
                self.assertIn(f"`{array}`", str(raised.exception))
            self.assertFalse(set(vars(net.memory)) & set(vars(Memory)) & {"_similarity", "_interpolate", "_shift"})
        net, inputs, bits = machine()
        other(net.ntm.heads[0])
        other(net.ntm.heads[1])
        pytorch_ntm.record(net, inputs, bits)  # the same equations in other words

    def test_the_lines_of_the_readme_run(self):
        import torch

        with open(os.path.join(HERE, "..", "README.md"), encoding="utf-8") as file:
            lines = file.read().split("from tapescope import pytorch_ntm\n")[1].split("```")[0]
        net, inputs, target = machine()
        torch.save(net.state_dict(), self.path("copy.model"))
        lines = lines.replace('"bits": 8', '"bits": 5').replace("copy.model", self.path("copy.model"))
        lines = lines.replace("theirs.ntmtrace.json", self.path("t.npz")).replace("theirs.safetensors", self.path("w.safetensors"))
        printed = []
        exec(lines, {"net": net, "inputs": inputs, "target": target, "torch": torch, "pytorch_ntm": pytorch_ntm,
                     "print": printed.append})
        self.assertEqual((len(printed[0]), load(self.path("t.npz")).steps), (1, 9))
        self.assertEqual(read_weights(self.path("w.safetensors"))[1]["experiment"]["name"], "pytorch_ntm")

    def test_what_does_not_agree_is_said(self):
        net, _, _ = machine(pairs=2)
        converted = pytorch_ntm.convert(net, COPY)
        self.assertIn("one after the other", converted.differences[1])
        self.assertIn("begin with the input [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", converted.differences[0])
        converted.save(self.path("w.safetensors"))  # runs, otherwise
        self.run_program("trace", "w.safetensors", "--length", "3", "--out", "t.npz")

    @needs_extension
    def test_a_task_that_does_not_fit_is_refused(self):
        net, _, _ = machine()
        with self.assertRaisesRegex(WeightsError, r"`task`: has \(9, 8\) inputs and outputs; expected \(6, 5\)"):
            pytorch_ntm.convert(net, {"kind": "copy", "bits": 8, "length": [1, 20]})
        with self.assertRaisesRegex(FormatError, "`task.length`: is missing"):
            pytorch_ntm.convert(net, {"kind": "copy", "bits": 5})

    @needs_extension
    def test_a_converted_machine_is_run_beside_the_original(self):
        net, inputs, _ = machine()
        pytorch_ntm.convert(net, COPY, first=inputs[0])
        for make, tensor, array in (("_heads", "read0.bias", r"read0\.strength"),
                                    ("lstm_tensors", "controller0.bias", r"controller\.hidden")):
            right = getattr(pytorch_ntm, make)

            def wrong(*given):
                tensors = right(*given)
                tensors[tensor] = tensors[tensor] + np.where(np.arange(len(tensors[tensor])) == net.M, 0.5, 0).astype(np.float32)
                return tensors

            with unittest.mock.patch.object(pytorch_ntm, make, wrong):
                with self.assertRaisesRegex(RecordError, f"`{array}`, step 0: is [-\\d.]+ in the converted machine"):
                    pytorch_ntm.convert(net, COPY, first=inputs[0])

    def test_a_batch_is_refused_with_the_index_to_take(self):
        net, inputs, bits = machine()
        with self.assertRaisesRegex(RecordError, r"a batch of 2; expected one episode: give `inputs\[:, 0\]`"):
            pytorch_ntm.record(net, inputs.repeat(1, 2, 1), bits)
        with self.assertRaisesRegex(RecordError, r"`target`: has the shape \[4, 4\]; expected \[steps, 5\]"):
            pytorch_ntm.record(net, inputs, bits[:, 0, :4])


if __name__ == "__main__":
    unittest.main()
