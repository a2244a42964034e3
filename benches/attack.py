#!/usr/bin/env python3
"""Bad input in bulk: runs the program on thousands of damaged or senseless inputs and reports every answer that breaks a rule.

    cargo build --release
    python3 benches/attack.py [--program target/release/tapescope] [--seed 1] [--runs 500] [--only AREA ...] [--jobs 2]

Each area below makes RUNS inputs from the seed. The rules: the exit code is documented, nothing panics, nothing takes longer
than LONGEST seconds or more than MEMORY bytes, an error of exit code 2 says `error:`; and the rules of the area itself.
Prints a table of counts by area and every broken rule with the command that breaks it. Needs NumPy; the area `python` needs the
extension of the module as well (python/README.md).
"""

import argparse
import concurrent.futures
import gzip
import io
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST, MEMORY = 20, 6 << 30
META = "meta.json"
CODES = {0, 1, 2, 3, 4}
MACHINES = {  # small episodes, so that a run takes little
    "copy": ["--length", "3"], "copy_lstm": ["--length", "2"], "repeat_copy": ["--length", "2", "--repeats", "2"],
    "associative_recall": ["--items", "2"], "copy_dnc": ["--length", "2"], "copy_sam": ["--length", "2"],
    "copy_hard": ["--length", "2"], "transduce": ["--length", "3"], "transduce_luong": ["--length", "3"],
    "transduce_fixed_context": ["--length", "3"], "caption": [], "copy_lstmn": ["--length", "2"], "copy_multi_head": ["--length", "2"],
    "copy_self_attention": ["--length", "2"], "aspects_structured": [], "span_coattention": [],
    "span_attention_over_attention": [], "recall_bayesian_weibull": ["--items", "2"], "frames_local_predictive": [],
}
ODD = [0, -0.0, -1, 1, 2, 0.5, 1e-6, 1e-45, 1e38, 7.5, 1 << 31, 1 << 53, -(1 << 63), 1e308]
ODD_JSON = [None, True, "", "x", "NaN", "\u0000", [], {}, [[]], [1], {"a": 1}, -1, 0, 1.5, 1e400, 1 << 64, "1e9", "é", "a̠"]


class Attack:
    """One input: a command, what else must hold of its answer, and the program where it is another one."""

    def __init__(self, area, command, check=None, stdin=None, program=None):
        self.area, self.command, self.check, self.stdin, self.program = area, command, check, stdin, program


class Answer:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program, command, folder, stdin=None):
    began = time.time()
    try:
        done = subprocess.run([program, *command], cwd=folder, input=stdin, capture_output=True, timeout=LONGEST, preexec_fn=limits,
                              stdin=None if stdin is not None else subprocess.DEVNULL)
        return Answer(done.returncode, done.stdout, done.stderr.decode("utf8", "replace"), time.time() - began)
    except subprocess.TimeoutExpired:
        return Answer(None, b"", "", LONGEST)


def general(answer):
    """The rules of every command: a broken one as text, or None."""
    if answer.code is None:
        return f"takes more than {LONGEST} s"
    if "panicked" in answer.err or answer.code not in CODES:
        return f"exit code {answer.code}: {answer.err[-300:]}"
    if answer.code == 2 and "error" not in answer.err:
        return "exit code 2 without an error"
    return None


class Maker:
    """Makes the inputs of all areas in a folder."""

    def __init__(self, program, folder, seed):
        self.program, self.folder, self.random = program, folder, random.Random(seed)
        self.traces, self.count = {}, 0

    def path(self, ending):
        self.count += 1
        return f"f{self.count}{ending}"

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return name

    def machine(self):
        return self.random.choice(list(MACHINES))

    def trace(self, machine):
        """The recorded episode of a machine: the arrays of its npz."""
        if machine not in self.traces:
            name = f"{machine}.npz"
            answer = run(self.program, ["trace", machine, *MACHINES[machine], "--seed", "7", "--out", name], self.folder)
            assert answer.code == 0, answer.err
            with np.load(os.path.join(self.folder, name)) as file:
                self.traces[machine] = {key: file[key] for key in file.files}
            self.traces[machine][META] = json.loads(self.traces[machine][META])
        return self.traces[machine]

    def save(self, arrays, ending=".npz"):
        buffer = io.BytesIO()
        meta = arrays.get(META)
        np.savez(buffer, **{name: array for name, array in arrays.items() if name != META})
        if meta is not None:
            with zipfile.ZipFile(buffer, "a") as file:
                file.writestr(META, meta if isinstance(meta, str) else json.dumps(meta).replace("Infinity", "1e400"))
        return self.write(self.path(ending), buffer.getvalue())

    # Areas: each returns one Attack.

    def tampered(self):
        """One value of a trace is changed: verify must not say that every stage holds."""
        machine = self.machine()
        arrays = dict(self.trace(machine))
        names = [name for name in arrays if name != META and arrays[name].size and arrays[name].dtype.kind == "f"]
        name = self.random.choice(names)
        array = arrays[name].copy()
        place = tuple(self.random.randrange(size) for size in array.shape)
        before = float(array[place])
        value = self.random.choice([before + 0.5, before + 5, -before - 1, 0.0 if abs(before) > 0.1 else 0.7, float("nan"), 1e30])
        array[place] = value
        arrays[name] = array
        file = self.save(arrays)

        def check(answer):
            # What only the weights can check is listed, by the names of its arrays.
            unchecked = " ".join(line for line in answer.out.decode().splitlines() if line.startswith("not checked"))
            if answer.code in (0, 3) and name.split(".", 1)[-1] not in unchecked and name not in unchecked:
                return f"{machine}: {name}{list(place)} changed from {before} to {value}: exit code {answer.code}, and {name} is not listed"
            return None

        return Attack("verify", ["verify", file], check)

    def described(self):
        """The metadata of a trace are changed: verify must find out, refuse or say what it cannot check."""
        machine = self.machine()
        arrays = dict(self.trace(machine))
        meta = json.loads(json.dumps(arrays[META]))
        found = []

        def walk(value, path):
            items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            for key, inner in items:
                found.append((value, key, path + [key]))
                walk(inner, path + [key])

        walk(meta, [])
        holder, key, path = self.random.choice(found)
        old = holder[key]
        new = self.random.choice([v for v in [*ODD_JSON, *ODD] if v != old])
        if isinstance(old, (int, float)) and not isinstance(old, bool) and self.random.random() < 0.5:
            new = old + 1
        holder[key] = new
        arrays[META] = meta
        file = self.save(arrays)

        command = self.random.choice(["verify", "render"])

        def check(answer):
            if command == "verify" and path[0] == "task" and path[1:2] != ["name"] and answer.code in (0, 3) and isinstance(old, (int, float)) and path[-1] in ("seed", "episode", "length", "items", "repeats"):
                return f"{machine}: {path} changed from {old} to {new}, exit code {answer.code}"
            return None

        return Attack("metadata", [command, file, *(["--out", self.path(".svg")] if command == "render" else [])], check)

    def interventions(self):
        """Values are changed while an episode runs: applied, so that the trace verifies and differs, or refused."""
        machine = self.machine()
        arrays = self.trace(machine)
        names = [n for n in arrays if n not in (META, "target", "mask", "loss", "input", "output") and arrays[n].shape[:1] == arrays["input"].shape[:1]]
        name = self.random.choice(names) if self.random.random() < 0.9 else self.random.choice(["x", "read9.gate", "memory", "", "read0", "links", "output"])
        steps = arrays["input"].shape[0]
        span = self.random.choice([str(self.random.randrange(steps)), str(self.random.randrange(steps)), f"{self.random.randrange(steps)}-", "0-", f"0-{steps - 1}", "3-2", "99-", "-1",
                                   "18446744073709551615", "18446744073709551615-", "0-18446744073709551615", "1.5", ""])
        size = arrays[name].shape[1:] if name in arrays else ()
        n = int(np.prod(size)) if size else 1
        value = self.random.choice(["1", "0", "0.5", "1", "0.25", "row(0)", "negate", "row(0)", "row(999)", "row(-1)", "swap(0,1)", "swap(0,99)", "nan", "inf", "1e39", "[]",
                                    json.dumps([0.25] * n) if n < 3000 else "0.25", "[[1,0]]", "from(nothing.npz)", "x"])
        out = self.path(".npz")
        command = ["trace", machine, *MACHINES[machine], "--seed", "7", "--intervene", f"{span}:{name}={value}", "--out", out]

        def check(answer):
            if answer.code != 0:
                return None
            with np.load(os.path.join(self.folder, out)) as file:
                now = {key: file[key] for key in file.files}
            verified = run(self.program, ["verify", out, "--weights", machine], self.folder)
            if verified.code != 0:
                return f"verify --weights of the program's own trace: exit code {verified.code}: {(verified.out.decode() + verified.err)[-300:]}"
            same = all(key == META or (key in now and np.array_equal(now[key], arrays[key], equal_nan=True)) for key in arrays)
            if same and "nothing" not in answer.err and "already" not in answer.err and not answer.err.strip():
                return "changes no value, and nothing says so"
            return None

        return Attack("interventions", command, check)

    def expression(self, depth=0):
        pick = self.random.choice
        atoms = ["wrong", "answer", "step", "read0.gate", "max(read0.weighting)", "argmax(write0.weighting)", "read0.weighting[0]", "read0.weighting[-1]",
                 "read0.weighting[99999]", "read0.weighting[1.5]", "memory[0][0]", "memory[0]", "memory[-1][0]", "memory[0][999]", "row -1", "row 1.5",
                 "writes(row 0)", "writes(row 99999)", "writes(row -1)", "writes(row 0.5)", "entropy(read0.weighting)", "read0.weighting[2:2]", "read0.weighting[3:1]",
                 "read0.weighting[0:2]", "read0.weighting[0:99999]", "1", "-1", "0.5", "1e400", "nan", "infinity", "x", "loss", "output[0]", "output[99]", "controller.hidden[0]", "(", ")", "[", "'", "π"]
        if depth > 3 or self.random.random() < 0.4:
            return pick(atoms)
        op = pick(["+", "-", "*", "/", "<", ">", "=", "!=", "and", "or", "not", "max", "changes", "abs", "[]"])
        if op in ("max", "changes", "abs", "not"):
            return f"{op}({self.expression(depth + 1)})"
        if op == "[]":
            return f"{self.expression(depth + 1)}[{self.expression(depth + 1)}]"
        return f"{self.expression(depth + 1)} {op} {self.expression(depth + 1)}"

    def expressions(self):
        """Expressions with constants outside their axis are errors; others run."""
        machine = self.random.choice(["copy", "copy_dnc", "transduce", "copy_sam", "span_coattention"])
        text = self.expression()
        command = self.random.choice([
            ["find", machine, *MACHINES[machine], "--episodes", "2", "--", text] if text.startswith("-") else ["find", machine, text, *MACHINES[machine], "--episodes", "2"],
            ["eval", machine, "--episodes", "2", *lengths(machine), f"--measure={text}", "--json"]])

        def check(answer):
            if answer.code in (0, 1) and re.search(r"\[(-1|99999|999|1\.5|99)\]|row (-1|1\.5|99999|0\.5)|\[3:1\]|\[2:2\]|\[0:99999\]", text):
                return f"exit code {answer.code} for an index outside of its axis: {answer.out[-200:]!r}"
            return None

        return Attack("expressions", command, check)

    def numbers(self):
        """A number of JSON or CSV is the shortest text of the same number: it equals what the trace has."""
        machine = self.random.choice(["copy", "copy_dnc", "copy_lstm", "repeat_copy", "associative_recall", "transduce"])
        arrays = self.trace(machine)
        lanes = [n for n in arrays if n != META and arrays[n].ndim >= 2 and arrays[n].dtype.kind == "f" and n not in ("memory", "target", "input", "gradient") and arrays[n].shape[0] == arrays["input"].shape[0]]
        name = self.random.choice(lanes)
        place = tuple(self.random.randrange(size) for size in arrays[name].shape[1:])
        quantity = name + "".join(f"[{i}]" for i in place)
        how = self.random.choice(["json", "csv"])
        command = ["eval", machine, "--episodes", "1", "--seed", "7", *lengths(machine), "--measure", quantity, "--format", how]

        def check(answer):
            if answer.code == 2:
                return None if "measure" in answer.err else f"refused: {answer.err[-200:]}"
            text = answer.out.decode()
            said = [float(t) for t in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", text)]
            values = arrays[name][(slice(None), *place)]
            missing = [float(v) for v in values if np.isfinite(v) and not any(np.float32(s) == v for s in said)]
            if missing:
                return f"{quantity}: {missing[0]!r} of the trace is not in the output"
            longer = [t for t in re.findall(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?(?![\w.])", text) if len(t) > len(repr(float(t))) + 1]
            return f"{longer[0]} is not the shortest text of its number" if longer else None

        return Attack("numbers", command, check)

    def presets(self):
        """Presets with odd values at random keys."""
        base = self.random.choice(["copy", "copy_dnc", "copy_sam", "repeat_copy", "transduce", "caption", "copy_multi_head", "span_coattention", "ngrams", "copy_hard", "aspects_structured", "graph_dnc"])
        keys = self.keys(base)
        preset = json.loads(json.dumps(keys))
        for _ in range(self.random.choice([1, 1, 2, 3])):
            holder = preset
            while True:
                key = self.random.choice(list(holder))
                if isinstance(holder[key], dict) and holder[key] and self.random.random() < 0.9:
                    holder = holder[key]
                    continue
                break
            holder[key if self.random.random() < 0.9 else "odd"] = self.random.choice([*ODD_JSON, *ODD])
        text = json.dumps(preset).replace("Infinity", "1e400")
        if self.random.random() < 0.1:
            text = text[: self.random.randrange(len(text))]
        name = self.write(self.path(".json"), text)
        return Attack("presets", self.random.choice([["tasks", name], ["train", name, "--sequences", "2", "--threads", "1", "--out", self.path("")]]))

    def keys(self, base):
        if ("keys", base) not in self.traces:
            self.traces["keys", base] = json.loads(run(self.program, ["tasks", base], self.folder).out)
        return self.traces["keys", base]

    def data(self):
        """Pairs and episodes of a user's own."""
        if self.random.random() < 0.6:
            letters = ["a", "b", "c", "end", "unknown", "|", "–", "가", "a̠", "a", "\u0301", "\ufeff", "𝄞", "\u202e", "\u200b", "<b>", "&", '"', "\\", "\x07", "é", "\U0010ffff"]
            lines = []
            if self.random.random() < 0.6:  # well-formed, so that it trains and is drawn
                letters = letters[:14]
                words = lambda: " ".join(self.random.choice(letters) for _ in range(self.random.randrange(1, 6)))
                lines = [f"{words()}\t{words()}" for _ in range(12)]
            for _ in range(0 if lines else self.random.choice([0, 1, 2, 5, 12])):
                line = " ".join(self.random.choice(letters) for _ in range(self.random.randrange(6)))
                line += self.random.choice(["\t"] * 6 + ["", "\t\t"])
                line += " ".join(self.random.choice(letters) for _ in range(self.random.randrange(6)))
                line += self.random.choice([""] * 8 + ["\t0-0", "\t0-99", "\t1p1", "\t-1--1", "\tx"])
                lines.append(line)
            text = self.random.choice(["\n", "\n", "\r\n", "\r"]).join(lines).encode()
            if self.random.random() < 0.1:
                text = b"\xef\xbb\xbf" + text
            if self.random.random() < 0.1:
                text = text.replace(b"a", b"\xff")
            file = self.write(self.path(".tsv"), text)
            task = {"kind": "pairs", "file": file}
            if self.random.random() < 0.2:
                task["tokens"] = self.random.choice(["characters", "words", "x"])
            if self.random.random() < 0.2:
                task["held_out"] = self.random.choice([{"kind": "last", "count": self.random.choice([0, 1, 5, 99])}, {"kind": "share", "share": 2}, 3])
        else:
            arrays = {}
            steps, channels, episodes = self.random.choice([0, 1, 5]), self.random.choice([0, 1, 3]), self.random.choice([0, 1, 4])
            for name in ("inputs", "targets", "input", "target", "mask", "lengths"):
                if self.random.random() < 0.7:
                    shape = (episodes, steps, channels) if self.random.random() < 0.7 else (steps, channels)
                    arrays[name] = np.full(shape, self.random.choice([0.0, 1.0, np.nan, 2.5, 1e30]), self.random.choice(["f4", "f8", "f2", "i8", "u1", "c8", "?"]))
            file = self.save(arrays)
            task = {"kind": "episodes", "file": file}
            for key in ("inputs", "answer", "held_out"):
                if self.random.random() < 0.3:
                    task[key] = self.random.choice([1, 3, 4, "symbols", "bits", {"kind": "last", "count": 1}])
        model = self.random.choice([{}, {"kind": "equations", "file": "bahdanau.machine"}, {"kind": "equations", "file": "luong.machine"}, {"kind": "equations", "file": "caption.machine", "switches": {"attention": {"score": self.random.choice(["dot", "cosine", "scaled_dot", "additive"])}}},
                                    {"kind": "ntm"}, {"kind": "equations", "file": "plain.machine"}, {"kind": "equations", "file": "lstmn_fusion.machine"}])
        preset = {"task": task}
        if model:
            preset["model"] = model
        name = self.write(self.path(".json"), json.dumps(preset))
        out = self.path("")

        def check(answer):
            if answer.code in (0, 4) and task["kind"] == "pairs" and not re.search(r"held.out", answer.err + answer.out.decode()):
                return "no summary of the lines"
            if answer.code == 0 and task["kind"] == "pairs":
                drawn = run(self.program, ["render", out, "--episode", "0", "--layout", "weightings", "--out", self.path(".png")], self.folder)
                return general(drawn)
            return None

        return Attack("data", ["train", name, "--sequences", "2", "--threads", "1", "--out", out], check)

    def names(self):
        """Files whose names say nothing, or the wrong thing, about their contents."""
        machine = self.random.choice(["copy", "transduce"])
        kind = self.random.choice(["npz", "json", "gz", "other", "empty", "folder", "weights"])
        name = self.path(self.random.choice(["", ".json", ".npz", ".ntmtrace.json", ".gz", ".safetensors", ".txt", ".ntmtrace.json.gz"]))
        out = "made.ntmtrace.json"
        source = os.path.join(self.folder, f"{machine}-{out}")
        if not os.path.exists(source):
            run(self.program, ["trace", machine, *MACHINES[machine], "--seed", "7", "--out", source], self.folder)
        self.trace(machine)
        text = open(source, "rb").read()
        if kind == "npz":
            shutil.copy(os.path.join(self.folder, f"{machine}.npz"), os.path.join(self.folder, name))
        elif kind == "folder":
            os.mkdir(os.path.join(self.folder, name))
        else:
            self.write(name, {"json": text, "gz": gzip.compress(text), "other": bytes(self.random.randrange(256) for _ in range(50)), "empty": b"",
                              "weights": struct.pack("<Q", 2) + b"{}"}[kind])
        command = self.random.choice([["verify", name], ["provenance", name, "--of", "read0:4"], ["render", name, "--out", self.path(".svg")],
                                      ["diff", name, source], ["diff", source, name]])
        if command[0] == "provenance" and machine != "copy":
            command = ["verify", name]

        def check(answer):
            if kind in ("npz", "json", "gz") and answer.code == 2:
                return f"a {kind} trace named {name} is refused: {answer.err[-200:]}"
            if kind in ("other", "empty", "folder", "weights") and answer.code != 2:
                return f"exit code {answer.code} for {kind}"
            return None

        return Attack("names", command, check)

    def weights(self):
        """Weights files with damaged bytes or metadata."""
        machine = self.random.choice(["copy", "copy_dnc", "transduce", "copy_lstmn"])
        source = os.path.join(os.path.dirname(HERE), "assets", f"{machine}.safetensors")
        if not os.path.exists(source):
            source = os.path.join(os.environ.get("ASSETS", "assets"), f"{machine}.safetensors")
        data = bytearray(open(source, "rb").read())
        length = struct.unpack("<Q", data[:8])[0]
        how = self.random.choice(["bytes", "header", "cut", "meta", "changes"])
        if how == "bytes":
            for _ in range(self.random.choice([1, 5, 50])):
                data[self.random.randrange(len(data))] = self.random.randrange(256)
        elif how == "cut":
            data = data[: self.random.randrange(len(data))]
        elif how == "header":
            for _ in range(self.random.choice([1, 5])):
                data[8 + self.random.randrange(length)] = self.random.randrange(32, 127)
        else:
            header = json.loads(bytes(data[8:8 + length]))
            meta = header.get("__metadata__", {})
            key = self.random.choice(list(meta) or ["x"])
            if how == "meta":
                meta[key] = self.random.choice(["", "{}", "[]", "null", "x", meta.get(key, "")[:-1], "1e999", "9" * 5000, "[" * 5000])
            else:
                for k in meta:
                    if "changes" in meta[k]:
                        inner = json.loads(meta[k])
                        if isinstance(inner, dict) and "changes" in inner:
                            inner["changes"] = [{"after": i, "set": {"training.optimizer.learning_rate": 1e-4}} for i in range(self.random.choice([1, 100, 20000]))]
                            meta[k] = json.dumps(inner)
            header["__metadata__"] = meta
            text = json.dumps(header).encode()
            data = struct.pack("<Q", len(text)) + text + data[8 + length:]
        name = self.write(self.path(".safetensors"), bytes(data))
        return Attack("weights", self.random.choice([["eval", name, "--episodes", "1"], ["trace", name, "--out", self.path(".npz")], ["train", "--repeat", name, "--sequences", "1", "--out", self.path("")]][:2]))

    def inputs(self):
        """Input files and options of episodes."""
        machine = self.machine()
        value = self.random.choice([[[0, 1, 0, 1, 0, 1, 0, 1]], [[0, 1]], [], [[]], {"bits": [[1] * 8]}, {"bits": [[0.5] * 8]}, {"x": 1}, "a b", "", "가", ["a"], [0, 1, 2], None,
                                    {"bits": [[1] * 8], "repeats": 1 << 60}, {"bits": [[1] * 6] * 3, "query": 99}, [[2] * 8], [[-1] * 8], [[None]], {"priorities": ["x"]}, 1e400])
        text = json.dumps(value).replace("Infinity", "1e400")
        if self.random.random() < 0.2:
            text = "\ufeff" + text
        name = self.write(self.path(".json"), text)
        options = self.random.choice([["--input", name], ["--input", name, "--length", "3"], ["--episode", str(self.random.choice([0, -1, 1 << 40, 1 << 63, 1 << 64]))],
                                      ["--rows", str(self.random.choice([0, 1, 2, 1 << 22, 1 << 40]))], ["--length", str(self.random.choice([0, 1, 1 << 20, 1 << 40, -1]))],
                                      ["--seed", str(self.random.choice([-1, 1 << 64, "x"]))], ["--gradient", self.random.choice(["loss", "bit:0,0", "bit:99,99", "bit:-1,0", "x"])],
                                      ["--sample", str(self.random.choice([0, 1, -1, 1 << 64]))]])
        return Attack("inputs", ["trace", machine, *options, "--out", self.path(".npz")])

    def bytes_of_traces(self):
        """Traces with damaged bytes, in all three forms."""
        machine = self.machine()
        self.trace(machine)
        source = os.path.join(self.folder, f"{machine}.ntmtrace.json")
        if not os.path.exists(source):
            run(self.program, ["trace", machine, *MACHINES[machine], "--seed", "7", "--out", source], self.folder)
        data = bytearray(open(self.random.choice([source, os.path.join(self.folder, f"{machine}.npz")]), "rb").read())
        for _ in range(self.random.choice([1, 1, 3, 20])):
            place = self.random.randrange(min(len(data), self.random.choice([400, 4000, 1 << 30])))
            if self.random.random() < 0.3:
                del data[place:place + self.random.randrange(1, 30)]
            else:
                data[place] = self.random.randrange(256)
        if self.random.random() < 0.2:
            data = gzip.compress(bytes(data))[: self.random.choice([20, 1 << 30])]
        name = self.write(self.path(self.random.choice([".npz", ".json", "", ".gz"])), bytes(data))
        return Attack("trace bytes", self.random.choice([["verify", name], ["render", name, "--out", self.path(".svg")], ["diff", name, f"{machine}.npz"]]))

    def outputs(self):
        """Outputs that cannot be written, or are there already."""
        out = self.random.choice(["/dev/full", "/nothing/x.npz", "", ".", "x.npz/y.npz", "a" * 300 + ".npz", "ok.txt", "-", "/proc/x.json", "\n.json"])
        command = self.random.choice([["trace", "copy", "--length", "2", "--out", out], ["render", "copy", "--length", "2", "--out", out],
                                      ["eval", "copy", "--episodes", "1", "--by", "position", "--figure", out], ["train", "copy", "--sequences", "2", "--out", out]])

        def check(answer):
            return f"exit code 0 for {out!r}" if answer.code == 0 and out in ("/dev/full", "/nothing/x.npz", "", "x.npz/y.npz", "ok.txt", "/proc/x.json") and command[0] != "train" else None

        return Attack("outputs", command, check)

    def calls(self):
        """Calls of the Python module with odd arguments, and numbers that must come back."""
        pick, machine = self.random.choice, self.machine()
        sizes = {option[2:]: int(value) for option, value in zip(MACHINES[machine][::2], MACHINES[machine][1::2])}
        odd = lambda: pick([repr(value) for value in [*ODD, *ODD_JSON, float("nan")]])
        options = lambda names: ", ".join(f"{name}={odd()}" for name in self.random.sample(names, pick([1, 1, 2])))
        kind = pick(["numbers", "trace", "evaluate", "intervene", "function", "load", "read", "record", "train", "draw"])
        arrays = self.trace(machine)
        array = pick([name for name in arrays if name != META])
        t = f"t = ts.machine({machine!r}).trace(seed=7, **{sizes})"
        if kind == "numbers":
            asked = [name for name in arrays if sizes and name.rsplit(".", 1)[-1] in ("gate", "strength", "sharpening", "read", "weighting", "output")]
            call = NUMBERS.format(machine=machine, seed=self.random.randrange(99), sizes=sizes, asked_sizes={{"length": "lengths"}.get(size, size): value for size, value in sizes.items()}, file=self.path(pick([".json", ".json.gz", ".npz"])), asked=asked)
        elif kind == "trace":
            call = f"ts.machine({machine!r}).trace({options(['length', 'items', 'repeats', 'seed', 'episode', 'sample', 'input', 'rows', 'gradient', 'intervene'])})"
        elif kind == "evaluate":
            call = f"ts.machine({machine!r}).evaluate({options(['lengths', 'items', 'repeats', 'seed', 'rows', 'samples', 'measure', 'by', 'threads'])}, episodes=2)"
        elif kind == "intervene":
            place = f"{pick(['0', '1', '0-', '3-2', '-1', '99', 'x', ''])}:{array}"
            call = f"ts.machine({machine!r}).trace(seed=7, intervene={{{place!r}: {odd()}}}, **{sizes})"
        elif kind == "function":
            value = pick([odd(), "so_far['input'][:9]", "so_far[9]", "np.zeros(3)", "'row(999)'", "lambda: 1"])
            call = f"ts.machine({machine!r}).trace(seed=7, intervene={{'{pick(['1', '0-', '2-1', '77-'])}:{array}': lambda step, so_far: {value}}}, **{sizes})"
        elif kind == "load":
            data = dict(arrays)
            data[array] = pick([np.full_like(data[array], np.nan), data[array][:-1], data[array].astype(np.float64), np.asfortranarray(data[array]),
                                data[array].astype(str), np.zeros(0), data[array][None]])
            call = f"t = ts.load({self.save(data)!r}); t.check(); t.save({self.path('.json')!r})"
        elif kind == "read":
            call = f"{t}; t.{pick(['memory', 'head', 'frame', '__getitem__', 'figure', 'save', 'check'])}({odd()})"
        elif kind == "draw":
            call = f"{t}; t.figure({options(['layout', 'step', 'head', 'dark', 'stage'])})"
        elif kind == "train":
            base = pick(["copy", "transduce", "copy_dnc", "caption"])
            key = pick(["model.memory.rows", "task.length", "training.batch", "model.kind", "training.optimizer.learning_rate", "x", "model.controller.units"])
            call = f"ts.train({base!r}, set={{{key!r}: {odd()}}}, sequences=2, threads=1, progress=None)"
        else:
            weighting = pick(["[1, 0, 0]", "[0.5, 0.5, 0]", "[2, 0, 0]", odd(), "np.eye(3)"])
            made = self.path(".json")
            call = (f"r = ts.Recorder({pick([repr('mine'), odd()])}, memory={pick(['np.zeros((3, 2))', odd()])}, read0={pick(['[1, 0, 0]', odd()])})\n"
                    f"    r.step(input={pick(['[1, 0]', odd()])}, output={pick(['[0.5]', odd()])}, read0=dict(weighting={weighting}, gate={pick(['0.5', odd()])}))\n"
                    f"    r.save({made!r}); assert ts.load({made!r}).steps == 1; ts.check({made!r})")
        module = os.path.join(os.path.dirname(HERE), "python")
        check = lambda answer: f"an exception of Python: {answer.err[-400:]}" if answer.code == 1 else None
        return Attack("python", ["-W", "ignore", "-c", CALL.format(module=module, call=call)], check, program=sys.executable)


# One call of the module: an error of the module is exit code 2, any other exception is a broken rule.
CALL = """
import json, math, sys
sys.path.insert(0, {module!r})
import numpy as np, tapescope as ts
nan, inf = math.nan, math.inf
try:
    {call}
except (ts.TapescopeError, TypeError) as error:
    sys.exit(print("error:", error, file=sys.stderr) or 2)
"""
# Every number comes back: from the trace that the program wrote, through JSON, and as an array of the recording.
NUMBERS = """
    t = ts.machine({machine!r}).trace(seed={seed}, **{sizes})
    t.save({file!r})
    again = ts.load({file!r})
    for name in t:
        assert np.array_equal(t[name], again[name], equal_nan=True), name
    known = [name for name in t if t[name].ndim == 2 and name in {asked}]
    for name in known:
        measured = ts.machine({machine!r}).evaluate(seed={seed}, episodes=1, measure=name + "[0]", **{asked_sizes})
        medians = np.float32([row["median"] for row in measured])
        assert np.isin(t[name][:, 0], medians).all(), (name, t[name][:, 0], medians)
"""


def lengths(machine):
    """The size of the episodes of `trace` as options of `eval`."""
    options = MACHINES[machine]
    return [{"--length": "--lengths"}.get(option, option) for option in options]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(os.path.dirname(HERE), "target/release/tapescope"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=500, help="inputs of each area")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shown", type=int, default=15, help="broken rules to print in full for each area")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    areas = {"verify": "tampered", "metadata": "described", "interventions": "interventions", "expressions": "expressions", "numbers": "numbers",
             "presets": "presets", "data": "data", "names": "names", "weights": "weights", "inputs": "inputs", "trace bytes": "bytes_of_traces", "outputs": "outputs",
             "python": "calls"}
    broken_at_all = 0
    print(f"{'area':<14} {'runs':>5} {'exit 0':>6} {'1':>5} {'2':>5} {'3':>5} {'4':>4} {'slowest':>8} {'broken':>6}", flush=True)
    for area, method in areas.items():
        if options.only and area not in options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            maker = Maker(program, folder, f"{options.seed} {area}")
            codes, broken, slowest = Counter(), [], 0.0
            attacks = [getattr(maker, method)() for _ in range(options.runs)]

            def one(attack):
                answer = run(attack.program or program, attack.command, folder, attack.stdin)
                said = general(answer)
                if said is None and attack.check:
                    said = attack.check(answer)
                return answer, said

            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                for attack, (answer, said) in zip(attacks, pool.map(one, attacks)):
                    codes[answer.code] += 1
                    slowest = max(slowest, answer.seconds)
                    if said:
                        broken.append((attack.command, said))
                        if os.environ.get("KEEP"):
                            for word in attack.command:
                                if os.path.isfile(os.path.join(folder, word)) and "/" not in word:
                                    shutil.copy(os.path.join(folder, word), os.environ["KEEP"])
            print(f"{area:<14} {options.runs:>5} {codes[0]:>6} {codes[1]:>5} {codes[2]:>5} {codes[3]:>5} {codes[4]:>4} {slowest:>7.1f}s {len(broken):>6}", flush=True)
            for command, said in broken[: options.shown]:
                print("   ", " ".join(map(repr, command)), "\n        ", said, flush=True)
            broken_at_all += len(broken)
    sys.exit(1 if broken_at_all else 0)


if __name__ == "__main__":
    main()
