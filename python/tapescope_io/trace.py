"""Trace files: JSON, gzipped JSON and npz, under the same names."""

import gzip
import io
import json
import math
import os
import tempfile
import zipfile
import zlib

import numpy as np

FORMAT = "ntm-trace"
VERSION = "1.0"
# Every member of an npz has this date: the same trace gives the same bytes.
NO_DATE = (1980, 1, 1, 0, 0, 0)


class FormatError(ValueError):
    """A file that is not what it should be; the message names the file and the place in it."""


class Trace:
    """One episode: `arrays` by name, and in `meta` everything else of the file.

    `dims` has the names of every array's axes, such as ("t", "n").
    """

    def __init__(self, meta, arrays, dims=None):
        self.meta = {key: value for key, value in meta.items() if key != "arrays"}
        self.arrays = dict(arrays)
        described = meta.get("arrays", {})
        self.dims = dims or {name: tuple(described.get(name, {}).get("dims", ())) for name in self.arrays}

    def __getitem__(self, name):
        return self.arrays[name]

    def __contains__(self, name):
        return name in self.arrays

    @property
    def steps(self):
        return self.meta["axes"]["t"]["size"]

    @property
    def heads(self):
        """Names of the heads, read heads first."""
        return list(self.meta["model"]["config"]["heads"])

    @property
    def shifts(self):
        """The offset that each column of a `shift` array stands for."""
        return list(self.meta["model"]["config"]["shifts"])

    @property
    def phases(self):
        """The name of the phase of every step."""
        names = [""] * self.steps
        for name, start, end in self.meta["axes"]["t"].get("phases", []):
            names[start:end] = [name] * (end - start)
        return names

    def head(self, name):
        """The arrays of one head, without its name: `head("read0")["weighting"]`."""
        start = name + "."
        return {key[len(start):]: array for key, array in self.arrays.items() if key.startswith(start)}

    def frame(self, name):
        """One head as a pandas data frame, a row per step: its parameters, and where it attends."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Trace.frame needs pandas: pip install pandas") from error
        head = self.head(name)
        if not head:
            raise KeyError(f"there is no head {name!r}; heads: {', '.join(self.heads)}")
        columns = {"phase": self.phases}
        for part in ("strength", "gate", "sharpening"):
            if part in head:
                columns[part] = head[part]
        for index, offset in enumerate(self.shifts if "shift" in head else []):
            columns[f"shift {offset:+d}" if offset else "shift 0"] = head["shift"][:, index]
        if "weighting" in head:
            columns["row"] = head["weighting"].argmax(1)
            columns["weight"] = head["weighting"].max(1)
        for part in ("key", "read", "erase", "add"):
            for index, column in enumerate(head[part].T if part in head else []):
                columns[f"{part}[{index}]"] = column
        return pandas.DataFrame(columns, index=pandas.RangeIndex(self.steps, name="step"))

    def frames(self):
        """A data frame for every head, by its name."""
        return {name: self.frame(name) for name in self.heads}

    def memory(self, step):
        """The memory after `step` steps, [rows, columns]; rebuilt where the file leaves it out."""
        if "memory" in self:
            return self["memory"][step]
        every = self.meta["axes"].get("f", {}).get("every", 64)
        start, memory = 0, self["memory.initial"]
        frames = self.arrays.get("memory.keyframes", ())
        if step >= every and len(frames):
            frame = min(step // every, len(frames))
            start, memory = frame * every, frames[frame - 1]
        for t in range(start, step):
            kept, added = np.ones_like(memory), np.zeros_like(memory)
            for name in self.heads:
                if name.startswith("write"):
                    w = self[f"{name}.weighting"][t][:, None]
                    kept *= 1 - w * self[f"{name}.erase"][t]
                    added += w * self[f"{name}.add"][t]
            memory = memory * kept + added
        return memory

    def save(self, path):
        """Writes the trace: `.npz`, `.json.gz` or JSON, by the end of the name. Whole or not at all."""
        path = os.fspath(path)
        if path.endswith(".npz"):
            data = self._npz()
        elif path.endswith(".gz"):
            data = gzip.compress(self._json().encode(), mtime=0)
        else:
            data = self._json().encode()
        write_atomically(path, data)

    def _described(self, name):
        array = self.arrays[name]
        return {"dims": list(self.dims.get(name, ())), "dtype": "float32", "shape": list(array.shape)}

    def _json(self):
        parts = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in self.meta.items()]
        arrays = []
        for name, array in self.arrays.items():
            described = json.dumps(self._described(name))[:-1]
            rows = np.asarray(array, np.float32).reshape(-1, array.shape[-1]) if array.size else []
            lines = ",\n".join(",".join(map(number, row)) for row in rows)
            start = "\n" if lines else ""
            arrays.append(f'{json.dumps(name)}: {described}, "data": [{start}{lines}]}}')
        parts.append('"arrays": {\n' + ",\n".join(arrays) + "\n}")
        return "{\n" + ",\n".join(parts) + "\n}\n"

    def _npz(self):
        meta = dict(self.meta, arrays={name: self._described(name) for name in self.arrays})
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
            members.writestr(member("meta.json"), json.dumps(meta, indent=1))
            for name, array in self.arrays.items():
                data = io.BytesIO()
                np.lib.format.write_array(data, np.ascontiguousarray(array, "<f4"), version=(1, 0))
                members.writestr(member(name + ".npy"), data.getvalue())
        return file.getvalue()


def member(name):
    info = zipfile.ZipInfo(name, NO_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def number(value):
    """The shortest decimal of a float32; what JSON does not have is a string."""
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    text = str(value)
    return text[:-2] if text.endswith(".0") and value != 0 else text


def load(path):
    """Reads a trace: JSON, gzipped JSON or npz, whatever its name is."""
    path = os.fspath(path)
    with open(path, "rb") as file:
        start = file.read(2)
    if start == b"PK":
        return _load_npz(path)
    opened = gzip.open(path, "rt", encoding="utf-8") if start == b"\x1f\x8b" else open(path, encoding="utf-8")
    with opened as file:
        try:
            meta = json.load(file)
        except (ValueError, EOFError, gzip.BadGzipFile, zlib.error, RecursionError) as error:
            raise FormatError(f"{path}: is not JSON: {error}") from error
    check(path, meta)
    arrays = {}
    for name, array in meta.get("arrays", {}).items():
        try:
            data = np.array(array["data"], array.get("dtype", "float32"))
            arrays[name] = data.reshape(array["shape"])
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path}: `arrays.{name}`: {error}") from error
    return Trace(meta, arrays)


def _load_npz(path):
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as members:
            if len(set(members.files)) < len(members.files):
                raise FormatError(f"{path}: has members of the same name")
            if "meta.json" not in members.files:
                raise FormatError(f"{path}: is not a trace: it has no member `meta.json`")
            meta = json.loads(members["meta.json"])
            check(path, meta)
            names = [name for name in members.files if name != "meta.json"]
            known = list(meta.get("arrays", {}))
            names.sort(key=lambda name: known.index(name) if name in known else len(known))
            return Trace(meta, {name: members[name] for name in names})
    except FormatError:
        raise
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise FormatError(f"{path}: is not a whole npz file: {error}") from error


def check(path, meta):
    """Refuses what is no trace, and a trace of a later major version."""
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        found = meta.get("format") if isinstance(meta, dict) else type(meta).__name__
        raise FormatError(f"{path}: `format`: is {found!r}; expected {FORMAT!r}")
    if str(meta.get("version")).split(".")[0] != VERSION.split(".")[0]:
        raise FormatError(f"{path}: `version`: is {meta.get('version')!r}; this module reads 1.x")


def write_atomically(path, data):
    """Writes beside `path` and renames: readers see the old file or the new one, never half of it."""
    folder = os.path.dirname(os.path.realpath(path))
    handle, temporary = tempfile.mkstemp(prefix=".tapescope-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, os.path.realpath(path))
    except BaseException:
        os.unlink(temporary)
        raise


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
