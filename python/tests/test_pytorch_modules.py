"""The modules that `tapescope pytorch` writes: the numbers of the program and golden values, for every included machine."""

import glob
import itertools
import json
import os
import re
import textwrap
import unittest
from unittest import mock

import numpy as np

import support
import tapescope as ts

CORE = os.path.join(support.HERE, "..", "..", "src", "core")
MACHINES = {os.path.basename(path)[:-len(".machine")] for path in glob.glob(os.path.join(CORE, "machines", "*.machine"))}
COPY, TRANSDUCE = {"kind": "copy", "bits": 3, "length": [1, 4]}, {"kind": "transduce", "symbols": 6, "length": [2, 5]}
# The task of each machine file that is not about copying. The data of memory_network have more axes than those of any task.
TASKS = {"attention_over_attention": {"kind": "span", "asked_for": "symbol"}, "coattention": {"kind": "span", "rounds": 4},
         "structured_self_attention": {"kind": "aspects"}, "memory_network": None,
         **dict.fromkeys(["bahdanau", "caption", "fixed_context", "lstmn_fusion", "luong"], TRANSDUCE)}
# The rows of its memory are alike at first, and rounding decides which of them is free first.
LEARNED = {"dnc": {"memory": "learned"}}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def alike(found, expected):
    return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-5, atol=1e-5)


def has(array, value):
    """Whether some rows and columns of an array are a value, whose axes may have another order."""
    value = value[(None,) * (array.ndim - value.ndim)]
    for axes in itertools.permutations(range(value.ndim)):
        own = value.transpose(axes)
        if own.ndim == array.ndim and all(a <= b for a, b in zip(own.shape, array.shape)):
            starts = [range(b - a + 1) for a, b in zip(own.shape, array.shape)]
            for at in itertools.product(*starts):
                if alike(own, array[tuple(slice(start, start + size) for start, size in zip(at, own.shape))]):
                    return True
    return False


@support.needs("torch")
class Test(support.Test):
    def module(self, *arguments):
        """Returns the class that a module defines, and its text."""
        text = self.run_program("pytorch", *arguments)
        self.assertEqual([line for line in text.splitlines() if len(line) > 120], [])
        names = {}
        exec(compile(text, "module.py", "exec"), names)
        return names["Machine"], text

    def example(self, made, text):
        """Runs the first lines of code that the description of a module shows; returns their names."""
        import torch
        code = re.search(r"\n\n    (import torch.*?)\n\n\S", text, re.S)[1]
        names = {"Machine": made}
        torch.manual_seed(1)
        exec(textwrap.dedent("    " + code), names)
        return names


class Program(Test):
    def check(self, machine, weights):
        """Compares an episode of a weights file with its module; returns the tensors of the module, and the preset."""
        import torch
        path = self.path("episode.npz")
        self.run_program("trace", weights, "--seed", "1", "--out", path)
        trace, (tensors, metadata) = ts.load(path), ts.read_weights(weights)
        os.remove(path)
        made, text = self.module("own.json")
        module = self.example(made, text)["machine"]
        module.load_state_dict({name: torch.tensor(tensor) for name, tensor in tensors.items()})
        x, first = torch.tensor(trace["input"]), int(np.argmax(trace["mask"] > 0))
        task = TASKS.get(machine, COPY)
        inputs, answers = ([x], {}) if task is COPY else ([x[:first]], {})
        if task is TRANSDUCE:
            answers = {"n_answer": len(x) - first}
        if task["kind"] == "span":
            width = trace["target"].shape[-1] if "asked_for" in task else x.shape[-1]
            # Behind a document and behind a question stands a delimiter.
            question = first - 1 - trace.meta["task"]["params"]["question"]
            inputs = [part[:, :width] for part in (x[:question - 1], x[question:first - 1])]
        with torch.no_grad():
            answer, arrays = module(*inputs, **answers)
        # A machine that points answers with its last rounds.
        answer = answer.reshape(-1, answer.shape[-1])[-(len(x) if task is COPY else len(x) - first):].numpy()
        self.assertTrue(has(trace["logit"], np.log(np.maximum(answer, np.finfo(np.float32).tiny)) if "probability" in arrays else answer), machine)
        for name in re.findall(r'^"(\S+)" is that of the first head', text, re.M):
            self.assertIn(name, trace)
        for name, array in arrays.items():
            value, (start, _, end) = array.numpy(), name.partition(".") if "." in name else ("read", ".", name)
            # The parts of an encoder, and the stages of heads that pictures know, have other names than in the file.
            end = "content" if end == "content.weighting" and f"{start}0.content" in trace else end
            ends = [end, end.split(".")[-1]]
            names = [name, *ends, *(f"{part}.{end}" for end in ends for part in ("encoder", "read0", "read1", "controller"))]
            known = [own for own in names if own in trace]
            heads = [own for own in trace if re.fullmatch(rf"{start}\d+\.{re.escape(end)}|turn\d+\.{re.escape(name)}", own)]
            if name not in trace and len(heads) > ("." not in name):
                count, head = len(heads), value
                axis = next((axis for axis, size in enumerate(value.shape) if size == count), None)
                head = value.reshape(count, *value.shape[2:]) if axis is None else np.moveaxis(value, axis, 0)
                same = [has(trace[own], head[int(re.search(r"\d+", own)[0])]) for own in heads]
                self.assertTrue(all(same), f"{machine}: {name}: {same}")
            elif known:
                # Each round of a machine that points is two steps of the trace.
                rounds = [value, value.reshape(-1, value.shape[-1]), value.reshape(-1)] if task["kind"] == "span" else [value]
                same = [has(trace[own][rows], one) for own in known for rows in (slice(None), slice(first, None, 2)) for one in rounds]
                self.assertTrue(any(same), f"{machine}: {name}")
            elif name.rsplit(".")[-1] not in ("top", "sharpened"):
                # These two repeat another array, and a trace has that one.
                self.fail(f"{machine}: no array {name} in the trace")
        return module, metadata["experiment"]

    def test_every_machine_computes_the_arrays_of_the_program(self):
        import torch
        for machine in sorted(MACHINES):
            task = TASKS.get(machine, COPY)
            if task is None:
                continue
            with self.subTest(machine):
                model = {"kind": "equations", "file": f"{machine}.machine", "switches": LEARNED.get(machine, {})}
                with open(self.path("own.json"), "w", encoding="utf-8") as file:
                    json.dump({"task": task, "model": model, "training": {"batch": 2, "sequences": 2}}, file)
                self.run_program("train", "own.json", "--out", "run", "--force")
                module, preset = self.check(machine, self.path("run/weights.safetensors"))
                # Written back, the program reads them.
                with torch.no_grad():
                    for parameter in module.parameters():
                        parameter += 0.01 * torch.randn_like(parameter)
                # The extension knows the shapes of a machine file.
                shapes = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
                with mock.patch("tapescope.weights.tensor_shapes", lambda _: shapes):
                    ts.write_weights(self.path("changed.safetensors"), module.state_dict(), preset)
                self.check(machine, self.path("changed.safetensors"))


class Example(Test):
    def test_the_example_of_every_machine_runs_in_each_type_and_as_a_batch(self):
        import torch
        for machine in sorted(MACHINES):
            # The rows of this memory are alike at first, and rounding decides which of them is free first.
            more = ["--set", "model.switches.memory=learned"] if machine == "dnc" else []
            with self.subTest(machine), torch.no_grad():
                made, text = self.module(f"{machine}.machine", *more)
                names = self.example(made, text)
                call = re.search(r"= machine\((.*)\)", text)[1]
                inputs, answers = eval(f"(lambda *own, **more: (own, more))({call})", {"torch": torch})
                module = names["machine"]
                answer = module(*inputs, **answers)[0]
                scale = max(1, answer.abs().max())
                if hasattr(torch, "vmap"):
                    batch = torch.vmap(lambda *own: module(*own, **answers)[0])(*(torch.stack([own, own]) for own in inputs))
                    self.assertTrue(alike(batch / scale, torch.stack([answer, answer]) / scale), machine)
                double, arrays = module.double()(*(own.double() for own in inputs), **answers)
                self.assertEqual({name: own.dtype for name, own in arrays.items() if own.dtype != torch.float64}, {})
                self.assertTrue(alike(double / scale, answer / scale), machine)


class Golden(Test):
    def test_every_choice_of_every_machine_gives_the_golden_values(self):
        import torch
        constants = {name for path in glob.glob(os.path.join(CORE, "machines", "*"))
                     for name in re.findall(r"^constant\s+(\w+)", read(path), re.M)}
        compared = set()
        for path in sorted(glob.glob(os.path.join(CORE, "tests", "cases", "*.json"))):
            for number, case in enumerate(json.loads(read(path))):
                choices, machine = case.get("choices", {}), case.get("machine")
                # Without a file it is a part of a machine. A row that is drawn is none of the module's choice.
                if machine is None or choices.get("attention.weighting") == "hard":
                    continue
                with self.subTest(machine, case=number):
                    set_ = [f"model.switches.{name}={value}" for name, value in choices.items()]
                    sizes = {f"n_{name.replace('.', '_')}": value for name, value in case["numbers"].items()}
                    _, text = self.module(f"{machine}.machine", *itertools.chain(*(["--set", own] for own in set_)))
                    names = set(re.findall(r"n_\w+", text.split("super()")[0].split("__init__")[1]))
                    set_ += [f"model.{'constants' if name.split('.')[-1] in constants else 'sizes'}.{name}={value}"
                             for name, value in case["numbers"].items() if f"n_{name.replace('.', '_')}" not in names
                             and (name.split(".")[-1] in constants or name == "upper")]
                    made, text = self.module(f"{machine}.machine", *itertools.chain(*(["--set", own] for own in set_)))
                    module = made(**{name: value for name, value in sizes.items() if name in names})
                    self.load(module, case["parameters"])
                    tensors = {name: torch.tensor(own["data"], dtype=torch.float32).reshape(own["shape"])
                               for name, own in [*case["inputs"].items(), *case.get("noise", {}).items()]}
                    head = re.search(r"def forward\(self, (.*)\)", text)[1]
                    inputs = {name: tensors[name] for name in re.findall(r"\b[a-z]\b", head)}
                    inputs.update({name: len(tensors["y"]) for name in re.findall(r"n_\w+", head)})
                    if "noise" in head:
                        inputs["noise"] = {f"read0.{name}": tensors[f"attention.{own}"] for own, name in
                                           (("t", "noise"), ("n", "normal")) if f"attention.{own}" in tensors}
                    with torch.no_grad():
                        answer, arrays = module(**inputs)
                    compared.add(machine)
                    outputs = {output["name"]: output for output in case["outputs"]}
                    output = outputs.get("z", outputs.get("p"))
                    if output is None:
                        continue
                    expected = np.reshape(np.array(output["data"], np.float32), output["shape"])
                    scale = max(1, np.abs(expected).max())
                    self.assertTrue(has(expected / scale, answer.numpy() / scale))
        self.assertEqual(MACHINES - compared, {"tape_reader"})

    def load(self, module, parameters):
        """Takes the parameters of a case; a start that it does not have is 0."""
        import torch
        own = module.state_dict()
        self.assertEqual({name for name in own if name not in parameters and not name.endswith("start")}, set())
        module.load_state_dict({
            name: torch.tensor(parameters[name]["data"], dtype=torch.float32).reshape(tensor.shape) if name in parameters
            else torch.zeros_like(tensor) for name, tensor in own.items()})


if __name__ == "__main__":
    unittest.main()
