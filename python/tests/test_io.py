"""Traces, weights and the examples, with files of the program."""

import io
import json
import os
import pathlib
import pickle
import re
import subprocess
import unittest
import warnings
import zipfile
from unittest import mock

import numpy as np

from support import HERE, Test, is_built, needs, needs_extension
from tapescope import (FileError, FormatError, NotRecordedError, StepError, WeightsError, check, check_preset, files, load, lstm_tensors,
                       read_weights, tensor_shapes, write_episodes, write_weights)
from tapescope.preset import TASKS, channels

PRESET = {"name": "mine", "task": {"kind": "copy", "bits": 3, "length": [1, 4]},
          "model": {"memory": {"rows": 9, "columns": 5}, "controller": {"kind": "lstm", "size": 7},
                    "heads": {"read": 2, "write": 1, "shift": {"range": 2}, "initial_weighting": "learned"}}}


def presets():
    """Of machines with every tensor that there can be, and without."""
    base = PRESET["model"]
    heads = base["heads"]
    for model in (
        {},
        {"controller": {"kind": "feedforward", "size": 7, "layers": 2}, "heads": {**heads, "order": "write-first"}},
        {"controller": {"kind": "lstm", "size": 5, "layers": 2},
         "heads": {"read": 1, "write": 2, "shift": {"form": "scalar", "range": 2}, "key_activation": "identity",
                   "add_activation": "identity", "similarity_epsilon": 0.01}},
        {"memory": {"rows": 9, "columns": 5, "initial": "learned"}, "heads": {"read": 0, "write": 1}},
        {"heads": {"read": 2, "write": 0, "initial_weighting": "learned"}},
        {"heads": {"read": 4, "write": 1, "shift": {"form": ["none", "softmax", "scalar", "softmax", "none"], "range": 2},
                   "attention": {"score": ["additive", "general", "location", "scaled-dot", "dot"], "units": 3,
                                 "weighting": ["hard", "weibull", "lognormal", "local-predictive", "soft"],
                                 "gate": ["on", "off", "on", "on", "off"], "sharpening": ["off", "on", "on", "on", "on"],
                                 "strength": ["one", "emitted", "one", "emitted", "one"],
                                 "erase": ["on", "on", "on", "on", "off"],
                                 "window": 2, "position_units": 4, "prior": "code", "prior_units": 2}}},
        # With the sizes that hold where none are said.
        {"heads": {"read": 2, "write": 0, "attention": {"score": "additive", "weighting": ["weibull", "local-predictive"]}}},
    ):
        yield {**PRESET, "model": {**base, **model}}
    # A machine without heads is that of a machine file.
    yield {**PRESET, "model": {**base, "heads": {"read": 0, "write": 0}}}
    yield {**PRESET, "model": {"kind": "equations", "file": "plain.machine", "sizes": {"units": 7, "upper": 1}}}


class Io(Test):
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

    @needs_extension
    def test_heads_that_attend_otherwise_have_their_arrays_with_their_axes(self):
        preset = list(presets())[5]
        random = np.random.default_rng(3)
        tensors = {name: random.normal(size=shape) for name, shape in tensor_shapes(preset).items()}
        write_weights(self.path("w.safetensors"), tensors, preset)
        self.run_program("trace", "w.safetensors", "--length", "3", "--sample", "2", "--out", "t.npz")
        self.run_program("verify", "t.npz", "--weights", "w.safetensors")
        trace = load(self.path("t.npz"))
        task, heads = trace.meta["task"], trace.meta["model"]["heads"]
        self.assertEqual((task["sampling"], task["sample"]), ("drawn", "2"))
        self.assertEqual(heads["attention"]["weighting"], preset["model"]["heads"]["attention"]["weighting"])
        steps, rows, columns = trace.steps, 9, 5
        for head, part, dims, shape in (
            ("read0", "draw", ("t",), (steps,)), ("read0", "distribution", ("t", "n"), (steps, rows)),
            ("read0", "additive_key", ("m", "a"), (columns, 3)), ("read0", "additive_vector", ("a",), (3,)),
            ("read1", "bilinear", ("m", "m"), (columns, columns)), ("read1", "noise", ("t", "n"), (steps, rows)),
            ("read1", "prior_weight", ("m", "h"), (columns, 2)), ("read1", "divergence", ("t",), (steps,)),
            ("read2", "location", ("m", "n"), (columns, rows)), ("read2", "normal", ("t", "n"), (steps, rows)),
            ("read2", "prior", ("t", "n"), (steps, rows)), ("read3", "centre", ("t",), (steps,)),
            ("read3", "position_weight", ("m", "p"), (columns, 4)), ("read3", "position_vector", ("p",), (4,)),
        ):
            name = f"{head}.{part}"
            self.assertEqual((name, trace.dims[name], trace[name].shape), (name, dims, shape))
            self.assertIs(trace.head(head)[part], trace[name])
            tensor = tensors.get(name)
            if tensor is not None:
                np.testing.assert_array_equal(np.ravel(trace[name]), np.ravel(tensor).astype(np.float32))
        for name in ("read0.strength", "read0.sharpening", "read0.shift", "read1.gated", "write0.gate", "write0.erase"):
            self.assertNotIn(name, trace)
        # The rows that u draws from α, and the score that the constants make.
        alpha, w = trace["read0.distribution"], trace["read0.weighting"]
        drawn = (np.cumsum(alpha, 1) <= trace["read0.draw"][:, None]).sum(1)
        np.testing.assert_array_equal(w, np.eye(rows)[drawn])
        memory = np.stack([trace.memory(step) for step in range(steps)])
        score = np.tanh((trace["read0.key"] @ trace["read0.additive_key"])[:, None] + memory @ trace["read0.additive_row"])
        np.testing.assert_allclose(score @ trace["read0.additive_vector"], trace["read0.similarity"], atol=1e-4)
        trace.save(self.path("again.json.gz"))
        self.run_program("diff", "t.npz", "again.json.gz", "--tolerance", "0")

    def test_derivatives_are_arrays_like_any_other(self):
        for name in ("t.ntmtrace.json", "t.npz"):
            trace = self.traced(name, "--gradient", "bit:7,2")
            self.assertEqual(trace.meta["gradient"], {"of": "logit", "step": 7, "channel": 2, "unit": "nats"})
            for of in ("input", "logit", "memory.initial", "write0.weighting", "write0.add", "read0.read"):
                self.assertEqual(trace["gradient." + of].shape, trace[of].shape)
                self.assertEqual(trace.dims["gradient." + of], trace.dims[of])
            by_logit = np.zeros_like(trace["logit"])
            by_logit[7, 2] = 1
            np.testing.assert_array_equal(trace["gradient.logit"], by_logit)
            # Nothing that comes after the bit mattered for it.
            self.assertFalse(trace["gradient.write0.add"][7:].any())
            self.assertTrue(trace["gradient.write0.add"][:4].any())
            self.assertNotIn("gradient.output", trace)
            self.assertNotIn("gradient.target", trace)

    def test_memory_is_rebuilt(self):
        trace = self.traced("t.npz", "--full-memory")
        full = trace.arrays.pop("memory")
        for step in (0, 1, trace.steps, -1, -2, -trace.steps - 1):
            np.testing.assert_allclose(trace.memory(step), full[step], atol=1e-6)
        for there in (trace, self.traced("t.npz", "--full-memory")):
            for step in (trace.steps + 1, -trace.steps - 2):
                with self.assertRaisesRegex(StepError, "expected 0 to 9, or -10 to -1"):
                    there.memory(step)
        self.assertTrue(issubclass(StepError, IndexError))

    @needs("pandas")
    def test_frames(self):
        frame = self.traced("t.npz").frames()["write0"]
        self.assertEqual(len(frame), 9)
        self.assertEqual(frame["phase"].iloc[4], "delimiter")
        for column in ("strength", "shift -1", "shift 0", "shift +1", "row", "key[0]", "erase[19]"):
            self.assertIn(column, frame)

    def test_what_is_not_there_is_said_with_what_is(self):
        trace = self.traced("t.npz")
        for get, words in ((lambda: trace["read0.wieghting"], "there is no array `read0.wieghting`; did you mean `read0.weighting`?"),
                           (lambda: trace.head("raed0"), "there is no head `raed0`; did you mean `read0`? known: read0, write0")):
            with self.assertRaises(KeyError) as caught:
                get()
            self.assertIsInstance(caught.exception, NotRecordedError)
            self.assertIn(words, str(caught.exception))
        with self.assertRaisesRegex(FormatError, "t.pkl: cannot be written under this name; expected one that ends in"):
            trace.save(self.path("t.pkl"))
        self.assertEqual(repr(trace), "<Trace of copy: 9 steps, read0, write0, memory 16 × 20>")
        self.run_program("trace", "copy_lstm", "--length", "4", "--out", "p.npz")
        plain = load(self.path("p.npz"))
        self.assertEqual((repr(plain), plain.heads, plain.shifts), ("<Trace of copy: 9 steps>", [], []))

    def test_texts_for_terminals_contain_no_control_characters(self):
        name, shown = "a\x1b[31m\n\x7f\x9b\u202e", "a\ufffd[31m" + 4 * "\ufffd"
        trace = self.traced("t.npz")
        trace.meta["task"]["name"] = name
        self.assertEqual(repr(trace), f"<Trace of {shown}: 9 steps, read0, write0, memory 16 × 20>")
        trace.save(self.path(f"{name}.json"))
        if is_built():
            self.assertTrue(str(trace.check()).startswith(f"{shown}: every stage holds"))
            self.assertTrue(str(check(self.path(f"{name}.json"))).startswith(self.path(f"{shown}.json: every stage holds")))
        with open(self.path(f"{name}.json"), "w") as file:
            json.dump({**trace.meta, "arrays": {name: 3}}, file)
        with self.assertRaises(FormatError) as caught:
            load(self.path(f"{name}.json"))
        self.assertEqual(str(caught.exception), self.path(f"{shown}.json: `arrays.{shown}`: is 3; expected an object"))
        self.assertEqual(caught.exception.file, self.path(f"{name}.json"))

    def test_a_trace_that_lacks_something_is_refused_by_its_place(self):
        self.traced("t.ntmtrace.json")
        with open(self.path("t.ntmtrace.json")) as file:
            source = file.read()
        for change, words in (
            (lambda trace: trace.update(model=[]), r"`model`: is \[\]; expected an object"),
            (lambda trace: trace.update(conventions={"shifts": 3}), r"`conventions.shifts`: is 3; expected a list"),
            (lambda trace: trace["axes"].pop("t"), "`axes.t.size`: is missing; expected a whole number"),
            (lambda trace: trace["axes"]["t"].update(phases=1), r"`axes.t.phases`: is 1; expected a list"),
            (lambda trace: trace["model"].update(heads="read0"), '`model.heads`: is "read0"; expected an object'),
            (lambda trace: trace["arrays"]["input"].pop("data"), "`arrays.input.data`: is missing; expected a list"),
            (lambda trace: trace["arrays"]["input"].update(dtype="number"), "`arrays.input`: .*number"),
            (lambda trace: trace["arrays"].update(input=3), "`arrays.input`: "),
            (lambda trace: trace["axes"]["t"].update(size=5), r"`arrays.input`: has the shape \[9, 9\]; expected t on its first"),
        ):
            trace = json.loads(source)
            change(trace)
            with open(self.path("t.json"), "w") as file:
                json.dump(trace, file)
            with self.assertRaisesRegex(FormatError, "t.json: " + words) as caught:
                load(self.path("t.json"))
            self.assertEqual(caught.exception.file, self.path("t.json"))

    def test_errors_name_the_file(self):
        for text, said in [("{}", "`format`"), ("what", "is not (JSON|a trace)"),
                           ('{"format": "ntm-trace", "version": "1.1"}', "`version`: is '1.1'; expected '2.0'")]:
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
        header = lambda entry: (lambda text: len(text).to_bytes(8, "little") + text)(json.dumps(entry).encode())
        for data, said in ((b"\xff" * 20, "is not a safetensors file"), (header([]), "the header is not an object"),
                           (header({"a": {}}), "`a`: is {}; expected a whole F32 tensor"),
                           (header({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}), "`a`: is "),
                           (header({"__metadata__": {"experiment": "{"}}), "`__metadata__.experiment`: is not JSON")):
            with open(self.path("w"), "wb") as file:
                file.write(data)
            with self.assertRaisesRegex(FormatError, "w: " + said):
                read_weights(self.path("w"))

    def with_member(self, name, data):
        """Writes t.npz again as changed.npz, with this member."""
        self.traced("t.npz")
        with zipfile.ZipFile(self.path("t.npz")) as old, zipfile.ZipFile(self.path("changed.npz"), "w") as new:
            for member in {name: data, **{old_name: old.read(old_name) for old_name in old.namelist() if old_name != name}}.items():
                new.writestr(*member)
        return self.path("changed.npz")

    def test_members_that_are_no_arrays_are_ignored(self):
        names = [*self.traced("t.npz")]
        for name in ("README.txt", "input", "folder/", "other.npy"):
            path = self.with_member(name, b"" if name == "folder/" else b"text")
            self.run_program("verify", path)
            self.assertEqual([*load(path)], names)
        self.assertEqual([*load(self.with_member("other.npy", b""))], names)

    def test_an_unreadable_npz_names_the_member_and_what_is_expected(self):
        def array(shape, values):
            file = io.BytesIO()
            np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
            return file.getvalue() + bytes(4 * values)

        for data in (b"", b"text", array((9, 9), 80), array((-9, 9), 81), array((1 << 40, 9), 81)):
            self.refused(self.with_member("input.npy", data), "`arrays.input`", "an array of numbers in the member input.npy")
        path = self.with_member("input.npy", array((9, 9), 81))
        load(path)
        with open(path, "rb") as file:
            whole = bytearray(file.read())
        for start, offset in ((b"PK\1\2", 8), (b"PK\3\4", 6)):  # the bit of an encrypted member
            for found in re.finditer(re.escape(start), bytes(whole)):
                whole[found.start() + offset] |= 1
        with open(path, "wb") as file:
            file.write(whole)
        self.refused(path, "`meta.json`", "the description of a trace, as JSON", "is encrypted")

    def test_an_entry_that_is_no_array_is_named_with_what_is_expected(self):
        self.traced("t.json")
        with open(self.path("t.json")) as file:
            source = file.read()
        whole = "float32 numbers that fill its `shape`"
        for change, place, found, expected in (
            ([1, 2], "", r"is \[1, 2\]", "an object"), ({"shape": "12x5"}, ".shape", 'is "12x5"', "a list"),
            ({"shape": None}, ".shape", "is missing", "a list"), ({"data": None}, ".data", "is missing", "a list"),
            ({"dims": 3}, ".dims", "is 3", "a list"), ({"dtype": "int99"}, "", "'int99' not understood", whole),
            ({"shape": [9, 8]}, "", "array of size 81 into shape", whole), ({"shape": [-9, 9]}, "", r"shape is \[-9, 9\]", whole),
            ({"data": ["x"] * 81}, "", "could not convert", whole),
        ):
            trace = json.loads(source)
            array = trace["arrays"]["input"]
            trace["arrays"]["input"] = {**array, **change} if isinstance(change, dict) else change
            with open(self.path("t.json"), "w") as file:
                json.dump(trace, file)
            self.refused(self.path("t.json"), f"`arrays.input{place}`", expected, found)

    def test_a_cut_gzip_file_is_named_as_one(self):
        self.traced("t.json.gz")
        with open(self.path("t.json.gz"), "rb+") as file:
            file.truncate(1000)
        self.refused(self.path("t.json.gz"), None, "a trace: JSON, gzipped JSON or npz", "is not a complete gzip file")

    def refused(self, path, place, expected, words=""):
        """Checks what the refusal of a file names, with the extension and without it."""
        for built in {is_built(), False}:
            with mock.patch("tapescope.trace.is_built", lambda: built), self.assertRaisesRegex(FormatError, words) as caught:
                load(path)
            error = caught.exception
            self.assertEqual((error.file, error.place, error.expected), (path, place, expected))
            self.assertTrue(error.problem)

    @unittest.skipUnless(os.path.exists("/dev/zero"), "needs a device without an end")
    def test_a_file_without_an_end_is_refused_by_its_first_bytes(self):
        for read in (load, read_weights, *([check] if is_built() else [])):
            with self.assertRaisesRegex(FormatError, "/dev/zero: is not "):
                read("/dev/zero")

    def test_a_large_file_is_refused_before_it_is_read(self):
        with open(self.path("large.json"), "wb") as file:
            file.truncate(1 << 40)
        with open(self.path("large.json"), "r+b") as file:
            file.write(b"{")
        with self.assertRaisesRegex(FormatError, "large.json: is larger than the limit of 2048 MB"):
            load(self.path("large.json"))

    @unittest.skipUnless(hasattr(os, "mkfifo"), "needs named pipes")
    def test_a_pipe_is_read_up_to_the_limit(self):
        os.mkfifo(self.path("pipe"))
        with mock.patch.object(files, "LARGEST", 10_000), subprocess.Popen(["dd", "if=/dev/zero", f"of={self.path('pipe')}"],
                                                                           stderr=subprocess.DEVNULL):
            with self.assertRaisesRegex(FormatError, "pipe: is larger than the limit"):
                files.read(self.path("pipe"), "a trace", lambda *_: None)

    def test_the_page_loads_its_shortest_trace_with_three_lines(self):
        page = pathlib.Path(HERE, "../../docs/formats/traces.md").read_text(encoding="utf-8")
        lines, shortest = (page.partition(f"```{language}\n")[2].partition("```")[0] for language in ("python", "json"))
        with open(self.path("copy.ntmtrace.json"), "w") as file:
            file.write(shortest)
        found = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # the page leaves its file open
            exec(lines.replace("copy.ntmtrace.json", self.path("copy.ntmtrace.json")), found)
        trace = load(self.path("copy.ntmtrace.json"))
        self.assertEqual([*found["A"]], [*trace])
        for name, array in found["A"].items():
            self.assertEqual(array.dtype, np.float32)
            np.testing.assert_array_equal(array, trace[name])

    def test_a_trace_may_begin_with_a_byte_order_mark(self):
        self.run_program("trace", "copy", "--length", "2", "--out", "t.ntmtrace.json")
        with open(self.path("t.ntmtrace.json"), "rb") as plain, open(self.path("marked.json"), "wb") as marked:
            marked.write(b"\xef\xbb\xbf" + plain.read())
        self.assertEqual(load(self.path("marked.json")).steps, load(self.path("t.ntmtrace.json")).steps)
        if is_built():
            self.assertTrue(check(self.path("marked.json")))

    @unittest.skipUnless(is_built(), "needs the extension")
    def test_what_the_program_refuses_is_not_loaded(self):
        for change, place in ((lambda meta: meta["task"].update(length=1.5), "`task.length`"),
                              (lambda meta: meta.update(conventions={"shifts": [0.5]}), r"`conventions.shifts\[0\]`"),
                              (lambda meta: meta.update(conventions={"order": 7}), "`conventions.order`"),
                              (lambda meta: meta["axes"]["t"].update(phases=[1]), r"`axes.t.phases\[0\]`")):
            self.assertRegex(self.load_changed(change), place)

    def load_changed(self, change):
        """Returns the error of a trace that is changed."""
        self.run_program("trace", "copy", "--length", "2", "--out", "t.ntmtrace.json")
        with open(self.path("t.ntmtrace.json")) as file:
            meta = json.load(file)
        change(meta)
        with open(self.path("t.ntmtrace.json"), "w") as file:
            json.dump(meta, file)
        with self.assertRaises(FormatError) as caught:
            load(self.path("t.ntmtrace.json"))
        return str(caught.exception)

    def test_what_the_system_refuses_names_the_file_and_what_was_expected(self):
        os.mkdir(self.path("folder"))
        good = self.traced("t.npz")
        trace, weights = "a trace: JSON, gzipped JSON or npz", "a weights file: safetensors"
        name = "the name of a file in a writable folder"
        save, episodes = (lambda path: good.save(path)), [([[0.0]], [[0]], None)] * 2
        for ask, file, kind, said, expected in (
            (load, "no.npz", FileNotFoundError, "cannot be read: No such file or directory", trace),
            (load, "folder", IsADirectoryError, "cannot be read: Is a directory", trace),
            (read_weights, "no", FileNotFoundError, "cannot be read: No such file or directory", weights),
            (save, os.path.join("no", "t.npz"), FileNotFoundError, "cannot be written: No such file or directory", name),
            (lambda path: write_episodes(path, episodes), "folder", IsADirectoryError, "cannot be written: Is a directory", name),
        ):
            with self.assertRaises(FileError) as caught:
                ask(self.path(file))
            self.assertIsInstance(caught.exception, kind)
            self.assertEqual(str(caught.exception), f"{self.path(file)}: {said}; expected {expected}")
            self.assertEqual((caught.exception.filename, caught.exception.file), (self.path(file),) * 2)
            self.assertIsInstance(pickle.loads(pickle.dumps(caught.exception)), kind)
        self.assertEqual(sorted(os.listdir(self.folder)), ["folder", "t.npz"])

    def test_a_path_may_be_bytes_or_a_path(self):
        trace = self.traced("t.npz")
        for path in (os.fsencode(self.path("a.npz")), pathlib.Path(self.path("a.npz"))):
            trace.save(path)
            self.assertEqual(load(path).meta, trace.meta)

    @needs("torch")
    def test_a_file_of_pytorch_is_answered_with_the_way_to_convert_it(self):
        import torch

        tensors = {"fc.weight": torch.ones(3, 2)}
        torch.save(tensors, self.path("new.pt"))
        torch.save(tensors, self.path("old.pth"), _use_new_zipfile_serialization=False)
        with open(self.path("p.pkl"), "wb") as file:
            pickle.dump({"fc.weight": [1.0]}, file)
        for name in ("new.pt", "old.pth", "p.pkl"):
            for command in (["eval", name], ["verify", name], ["trace", "copy", "--weights", name, "--out", "t.npz"]):
                said = self.run_program(*command, code=2)
                self.assertIn(f"{name}: is a pickle of Python or PyTorch", said)
                self.assertIn("tapescope.write_weights", said)
            for read in (load, read_weights):
                with self.assertRaisesRegex(FormatError, f"{name}: is a pickle of Python or PyTorch; .*write_weights"):
                    read(self.path(name))

    @needs_extension
    def test_weights_of_every_machine_travel_both_ways(self):
        random = np.random.default_rng(1)
        for preset in presets():
            tensors = {name: random.normal(size=shape).astype(np.float32)
                       for name, shape in tensor_shapes(preset).items()}
            write_weights(self.path("w.safetensors"), tensors, preset, "by hand")
            again, metadata = read_weights(self.path("w.safetensors"))
            # Of a machine file, the weights have its text.
            written = metadata["experiment"]["model"]
            text = {"text": written["text"]} if "text" in written else {}
            expected = {**preset, "model": {**preset["model"], **text}}
            self.assertEqual((metadata["experiment"], metadata["command"]), (expected, "by hand"))
            self.assertEqual(sorted(again), sorted(tensors))
            for name in tensors:
                np.testing.assert_array_equal(again[name], tensors[name])
            # The program takes no tensor too many, too few or of another shape.
            self.run_program("trace", "w.safetensors", "--length", "3", "--out", "t.npz")
            self.run_program("verify", "t.npz")

    @needs_extension
    def test_biases_may_be_rows_and_what_does_not_fit_is_named(self):
        tensors = {name: np.ones(shape, np.float32) for name, shape in tensor_shapes(PRESET).items()}
        for name in tensors:
            if name.endswith(".bias"):
                tensors[name] = tensors[name][None]
        write_weights(self.path("w.safetensors"), tensors, PRESET)
        self.assertEqual(read_weights(self.path("w.safetensors"))[0]["read0.bias"].shape, (13,))
        self.run_program("eval", "w.safetensors", "--episodes", "1", "--lengths", "2")
        wide = tensors["output.weight"]
        for name, value, words in (
            ("output.bias", None, "`output.bias`: is missing; expected the shape [3]"),
            ("output.weigth", wide, "`output.weigth`: does not belong to this machine; did you mean `output.weight`?"),
            ("output.weight", wide.T, "`output.weight`: has the shape [3, 17]; expected [17, 3]; it looks transposed"),
            ("output.weight", wide * np.nan, "`output.weight`: has values that are not finite"),
            ("output.weight", "abc", "`output.weight`: is not an array of numbers"),
        ):
            given = {key: tensor for key, tensor in {**tensors, name: value}.items() if tensor is not None}
            with self.assertRaises(WeightsError) as caught:
                write_weights(self.path("w.safetensors"), given, PRESET)
            self.assertIn(words, str(caught.exception))

    @needs_extension
    def test_a_preset_is_checked_for_what_shapes_follow_from(self):
        task = {"kind": "copy", "bits": 8, "length": [1, 20]}

        def headed(attention):
            return {"task": task, "model": {"heads": {"attention": attention}}}

        for preset, words in (
            ({}, "preset: has no `task`; expected an object such as"),
            ({"task": {}}, "`task`: has no `kind`; expected an object such as"),
            ({"task": {"kind": "cpoy"}}, "`task.kind`: is `cpoy`; did you mean `copy`? expected one of `copy`, "),
            ({"task": {"kind": "copy", "bits": 8}}, "`task.length`: is missing; expected [lowest, highest]"),
            ({"task": {"kind": "episodes", "file": "own.npz"}}, "`task`: does not give the channels of its file; expected `inputs` and"),
            ({"task": {**task, "bit": 3}}, "`task.bit`: unknown key; did you mean `bits`?"),
            ({"task": task, "modle": {}}, "`modle`: unknown key; did you mean `model`?"),
            ({"task": task, "model": {"memory": {"row": 3}}}, "`model.memory.row`: unknown key; did you mean `rows`?"),
            ({"task": task, "model": {"memory": {"rows": 0}}}, "`model.memory.rows`: is 0; allowed: 1 to 1048576"),
            ({"task": task, "model": {"controller": {"size": 2.5}}}, "`model.controller.size`: invalid type: floating point `2.5`, expected"),
            ({"task": task, "model": {"controller": {"kind": "gru"}}}, "is `gru`; expected one of `lstm`, `feedforward`"),
            (headed({"score": "aditive"}), "`model.heads.attention.score`: is `aditive`; did you mean `additive`? expected one of `cosine`, `additive`"),
            (headed({"gate": ["on"]}), "`model.heads.attention.gate`: is a list of 1; allowed: one word for all heads, or "),
            (headed({"weighting": []}), "`model.heads.attention.weighting`: is []; expected one of `soft`, "),
            (headed({"window": 0}), "`model.heads.attention.window`: does not apply to this experiment (see `tapescope tasks --keys`)"),
            (headed({"weighting": "weibull", "weibull_shape": 0}), "`model.heads.attention.weibull_shape`: is 0; allowed: 0.001 to"),
            ({"task": task, "model": 3}, "`model`: is 3; expected an object"),
            ({"task": task, "model": {"kind": "equations", "memory": {}}}, "`model.file`: is missing; expected"),
            ({"task": task, "training": {"sequence": 5}}, "`training.sequence`: unknown key; did you mean `sequences`?"),
        ):
            for ask in (tensor_shapes, lambda preset: write_weights(self.path("w.safetensors"), {}, preset)):
                with self.assertRaises(FormatError) as caught:
                    ask(preset)
                self.assertIn(words, str(caught.exception))

    def own_task(self, kind):
        """A preset of a task without included weights; episodes have three inputs and two outputs."""
        write_episodes(self.path("own.npz"), [(np.ones((2, 3)), np.ones((2, 2)), None)] * 10)
        with open(self.path("own.tsv"), "w", encoding="utf-8") as file:
            file.write("a b\tB A\n" * 10)
        with open(self.path("own.txt"), "w", encoding="utf-8") as file:
            file.write("a b c\n" * 10)
        files = {"episodes": {"file": "own.npz"}, "pairs": {"file": "own.tsv"}, "text": {"file": "own.txt"}}
        task = {"kind": kind, **files.get(kind, {})}
        preset = {"task": task, "training": {"sequences": 1, "batch": 1}}
        with open(self.path("own.json"), "w", encoding="utf-8") as file:
            json.dump(preset, file)
        return "own.json"

    @needs_extension
    def test_every_task_has_the_channels_and_sizes_of_its_episodes(self):
        for kind, row in TASKS.items():
            source = machine = kind
            if kind in ("episodes", "pairs", "text", "transduce", "caption", "frames", "aspects", "span", "reuse", "graph"):
                source, machine = self.own_task(kind), self.path(f"run-{kind}")
                self.run_program("train", source, "--out", machine)
            preset = json.loads(self.run_program("tasks", source))
            check_preset(preset)
            self.assertEqual({*preset["task"]} & {"length", "items", "repeats"}, {*row["sizes"]})
            self.run_program("trace", machine, "--out", "t.npz")
            trace = load(self.path("t.npz"))
            self.assertEqual(channels(preset["task"]), (trace["input"].shape[1], trace["output"].shape[1]))
            self.assertEqual(trace.meta["task"].get("answer", "bits"), row["answer"])

    def test_the_memory_of_a_machine_file_with_heads_has_the_rows_that_they_see(self):
        self.run_program("trace", "copy_lstmn", "--length", "2", "--seed", "1", "--out", "t.npz")
        trace = load(self.path("t.npz"))
        for step in range(trace.steps + 1):
            rows = np.where(np.arange(trace.steps)[:, None] < step, trace["controller.hidden"], 0)
            np.testing.assert_array_equal(trace.memory(step), rows)

    @needs("torch")
    def test_a_torch_machine_runs_to_the_same_outputs(self):
        for more in ([], ["--write-first"]):
            self.run_example("from_torch.py", "w.safetensors", "e.ntmtrace.json", *more)
            self.run_program("trace", "copy", "--weights", "w.safetensors",
                             "--input", "bits.json", "--out", "ours.npz")
            theirs, ours = load(self.path("e.ntmtrace.json")), load(self.path("ours.npz"))
            np.testing.assert_allclose(ours["output"], theirs["output"], atol=1e-4)
            self.run_program("verify", "ours.npz")
            self.assertIn("every stage holds", self.run_program("verify", "e.ntmtrace.json"))
            # All but the one convention that differs.
            said = self.run_program("diff", "e.ntmtrace.json", "ours.npz", "--tolerance", "1e-3", code=1)
            self.assertRegex(said, "metadata differs\n(?:  params: .*\n)?  model.heads.similarity_epsilon: 1e-8 and 0\n"
                                   "  conventions.similarity: cosine-plus-epsilon and none\n.* values compared")

    @needs_extension
    @needs("torch")
    def test_a_torch_machine_with_attention_runs_to_the_same_outputs(self):
        said = self.run_example("attention_from_torch.py", "w.safetensors", "e.npz", "--seconds", "1")
        self.assertIn("largest difference of an output in 100 episodes", said)
        self.run_program("trace", "w.safetensors", "--out", "ours.npz")
        theirs, ours = load(self.path("e.npz")), load(self.path("ours.npz"))
        for name in ("output", "encoder.backward.hidden", "controller.hidden", "read0.weighting", "memory.last"):
            expected = ours.memory(-1) if name == "memory.last" else ours[name]
            np.testing.assert_allclose(theirs[name], expected, atol=1e-4)
        self.assertIn("every stage holds", self.run_program("verify", "e.npz"))
        said = self.run_program("verify", "e.npz", "--weights", "w.safetensors", "--tolerance", "1e-4", code=3)
        self.assertIn("with w.safetensors reproduced", said)

    @needs("torch")
    def test_a_torch_machine_that_manages_its_memory_runs_to_the_same_outputs(self):
        for reads in ("1", "3"):
            said = self.run_example("dnc_from_torch.py", "w.safetensors", "e.npz", "--seconds", "1", "--reads", reads)
            self.assertIn("compared" if not is_built() else "largest difference of an output", said)
            self.run_program("trace", "w.safetensors", "--input", "bits.json", "--out", "ours.npz")
            theirs, ours = load(self.path("e.npz")), load(self.path("ours.npz"))
            self.assertEqual(set(ours) - set(theirs), {"target", "mask", "loss"})
            np.testing.assert_allclose(theirs["output"], ours["output"], atol=1e-4)
            self.assertIn("every stage holds", self.run_program("verify", "e.npz"))

    @needs("torch")
    def test_only_an_lstm_has_the_tensors_of_an_lstm(self):
        from torch import nn

        plain = nn.LSTM(3, 2, num_layers=2, bias=False)
        self.assertEqual({name: tensor.shape for name, tensor in lstm_tensors("controller1", plain, 1).items()},
                         {"controller1.weight": (4, 8), "controller1.bias": (8,)})
        self.assertFalse(lstm_tensors("a", plain)["a.bias"].any())
        both = nn.LSTMCell(3, 2)
        np.testing.assert_array_equal(lstm_tensors("a", both)["a.bias"], (both.bias_ih + both.bias_hh).detach())
        for module, options, words in (
            (nn.GRU(3, 2), {}, "`a`: is a GRU with the shape [6, 2] of weight_hh; expected [4 units, units]"),
            (nn.LSTM(3, 4, proj_size=2), {}, "without projections"), (nn.Linear(3, 2), {}, "expected an LSTM or LSTMCell"),
            (plain, dict(layer=2), "has no attribute 'weight_ih_l2'; expected"), (plain, dict(reverse=True), "weight_ih_l0_reverse"),
        ):
            with self.assertRaises(WeightsError) as caught:
                lstm_tensors("a", module, **options)
            self.assertIn(words, str(caught.exception))

    @needs_extension
    @needs("torch")
    def test_our_weights_run_in_torch(self):
        random = np.random.default_rng(2)
        # The example has the heads of the paper only.
        def fits(heads):
            return "attention" not in heads and heads.get("read", 1) + heads.get("write", 1) > 0

        for preset in (preset for preset in presets() if fits(preset["model"].get("heads", {"read": 0, "write": 0}))):
            tensors = {name: random.normal(size=shape).astype(np.float32)
                       for name, shape in tensor_shapes(preset).items()}
            write_weights(self.path("w.safetensors"), tensors, preset)
            self.run_program("trace", "w.safetensors", "--length", "4", "--out", "t.npz")
            said = self.run_example("to_torch.py", "w.safetensors", "t.npz")
            self.assertIn("largest difference", said)

    @needs("matplotlib")
    def test_figure_6(self):
        self.traced("t.npz")
        self.run_example("figure6.py", "t.npz", "f.png")
        self.assertGreater(os.path.getsize(self.path("f.png")), 1000)


if __name__ == "__main__":
    unittest.main()
