"""Trace files: JSON, gzipped JSON and npz."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import math
import re
import warnings
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import window
from ._extension import flags, is_built, native, options, pair
from .arrays import PARTS
from .heads import head_order, of_head
from .display import Figure
from .errors import ArgumentError, FormatError, NotRecordedError, StepError, Whole, harmless, meant, whole
from .files import LARGEST, Path, check_ending, file_name, read, refuse_pickle, to_json, write_atomically

if TYPE_CHECKING:
    import pandas

    from .widget import Player

FORMAT = "ntm-trace"
VERSION = "2.0"
# Every member of an npz has this date: the same trace gives the same bytes.
NO_DATE = (1980, 1, 1, 0, 0, 0)
# Expected contents of a trace file.
EXPECTED = "a trace: JSON, gzipped JSON or npz"
# The metadata that `Trace` reads: required, and optional.
REQUIRED = {"task.name": str, "axes.t.size": int, "axes.t.phases": list, "arrays": dict}
KINDS = {**REQUIRED, "model": dict, "model.heads": dict, "model.heads.attention": dict, "conventions": dict,
         "conventions.shifts": list}
OF_ARRAY = {"dims": list, "dtype": str, "shape": list, "data": list}
EXPECTED_OF = {str: "text", int: "a whole number", list: "a list", dict: "an object"}
HEAD_WEIGHTING = re.compile(r"(read|write)[0-9]+\.weighting")
Array = npt.NDArray[Any]


class Check(NamedTuple):
    """Result of checking a trace. It is true if nothing differs from the recomputed values."""

    outcome: str
    """One of "holds", "in part" (something could not be checked), "differs", "nothing" (nothing could be checked)."""
    report: str
    """Text: what was recomputed, the first difference, and what was taken as recorded."""

    def __bool__(self) -> bool:
        return self.outcome in ("holds", "in part")

    def __repr__(self) -> str:
        return self.report.rstrip()


class Trace:
    """One episode with every stage of every step: `trace["read0.weighting"]` is [steps, rows].

    `arrays`: arrays by name. `meta`: everything else in the file. `dims`: the axes of every array, such as ("t", "n"):
    t steps, n memory rows, m memory columns, x inputs, y outputs, c controller units, l layers, s shifts.
    docs/formats/traces.md lists the arrays. Arrays of a machine file have the names and axes of the file; `meta["axes"]` has the
    sizes of all axes.
    """

    meta: Dict[str, Any]
    arrays: Dict[str, Array]
    dims: Dict[str, Tuple[str, ...]]
    # The episode of the extension and its arrays.
    _native_episode: Optional[Tuple[Any, Dict[str, Array]]]

    def __init__(self, meta: Mapping[str, Any], arrays: Mapping[str, Array],
                 dims: Optional[Mapping[str, Tuple[str, ...]]] = None) -> None:
        self._native_episode = None
        self.meta = {key: value for key, value in meta.items() if key != "arrays"}
        self.arrays = dict(arrays)
        described = meta.get("arrays", {})
        self.dims = dict(dims) if dims else {
            name: tuple(described.get(name, {}).get("dims", ())) for name in self.arrays}

    @classmethod
    def of_native(cls, recorded: Any) -> Trace:
        """Internal: returns the trace of a `_native.Episode`."""
        trace = cls(json.loads(recorded.meta()), dict(recorded.arrays()))
        trace._native_episode = recorded, dict(trace.arrays)
        return trace

    def _as_recorded(self) -> Any:
        """Returns the episode of the extension, or None if this trace has been changed since."""
        if self._native_episode is None:
            return None
        recorded, arrays = self._native_episode
        before = Trace(json.loads(recorded.meta()), arrays)
        is_same = arrays.keys() == self.arrays.keys() and all(self.arrays[name] is array for name, array in arrays.items())
        return recorded if is_same and (before.meta, before.dims) == (self.meta, self.dims) else None

    def _native(self) -> Any:
        """Returns the episode of the extension; makes a new one if this trace has been changed."""
        return self._as_recorded() or native().Episode.from_bytes(self._npz(), self._name)

    @property
    def _name(self) -> str:
        return harmless(str(self.meta["task"]["name"]))

    def __getitem__(self, name: str) -> Array:
        """Returns an array by name. Raises NotRecordedError, a KeyError, with the known names."""
        if name not in self.arrays:
            raise NotRecordedError(f"there is no array `{name}`{meant(name, self.arrays)}")
        return self.arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names of the arrays."""
        return iter(self.arrays)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Trace, (self.meta, self.arrays, self.dims)

    def __repr__(self) -> str:
        axes = self.dims.get("memory.initial", ()) if self._of_file else ("n", "m")
        sizes = [self.meta["axes"].get(axis, {}).get("size") for axis in axes]
        size = f", {', '.join(self.heads)}" if self.heads else ""
        size += f", memory {' × '.join(map(str, sizes))}" if sizes and all(sizes) else ""
        return f"<Trace of {self._name}: {self.steps} steps{size}>"

    @property
    def steps(self) -> int:
        """Number of steps T."""
        return int(self.meta["axes"]["t"]["size"])

    @property
    def heads(self) -> List[str]:
        """Names of the heads: read heads first, or the order in which they act if they act in turn. A controller-only
        machine has none."""
        heads = {name[:-len(".weighting")] for name in self.arrays if HEAD_WEIGHTING.fullmatch(name)}
        return self._in_turn or sorted(heads, key=head_order)

    @property
    def shifts(self) -> List[int]:
        """Offset in rows of each column of a `shift` array; empty without such an array."""
        widths = [array.shape[1] for name, array in self.arrays.items() if name.endswith(".shift")]
        span = range(-(widths[0] // 2), widths[0] // 2 + 1) if widths else range(0)
        return list(self.meta.get("conventions", {}).get("shifts", span))

    @property
    def _in_turn(self) -> List[str]:
        """Names of the heads in the order in which they act, if they act in turn."""
        order = self.meta.get("conventions", {}).get("order")
        return list(order) if isinstance(order, list) else []

    @property
    def _of_file(self) -> bool:
        """Whether the equations of the machine stand in a machine file."""
        return bool(self.meta.get("model", {}).get("kind") == "equations")

    @property
    def _has_source(self) -> bool:
        """Whether every source step appends a memory row, and nothing else writes."""
        return self.meta.get("model", {}).get("kind", "ntm") not in ("ntm", "dnc")

    @property
    def phases(self) -> List[str]:
        """Names of the phases, one per step."""
        names = [""] * self.steps
        for name, start, end in self.meta["axes"]["t"].get("phases", []):
            names[start:end] = [name] * (end - start)
        return names

    def head(self, name: str) -> Dict[str, Array]:
        """Returns the arrays of one head by their short names: `head("read0")["weighting"]` is [steps, rows].

        Raises NotRecordedError, a KeyError, for an unknown head.
        """
        if name not in self.heads:
            raise NotRecordedError(f"there is no head `{name}`{meant(name, self.heads)}")
        start = name + "."
        return {key[len(start):]: array for key, array in self.arrays.items() if key.startswith(start)}

    def frame(self, name: str) -> pandas.DataFrame:
        """Returns one head as a pandas data frame, one row per step.

        Columns: the phase, the parameters of the head, the row of the largest weight and that weight, and the values of
        vectors such as `key[0]`. Needs pandas.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Trace.frame needs pandas: pip install pandas") from error
        head = self.head(name)
        columns: Dict[str, Any] = {"phase": self.phases}
        for part, array in PARTS.items():
            if array.dims == ("t",) and part in head and head[part].ndim == 1:
                columns[part] = head[part]
        for index, offset in enumerate(self.shifts if "shift" in head else []):
            columns[f"shift {offset:+d}" if offset else "shift 0"] = head["shift"][:, index]
        if "weighting" in head and head["weighting"].ndim == 2:
            columns["row"] = head["weighting"].argmax(1)
            columns["weight"] = head["weighting"].max(1)
        for part, array in PARTS.items():
            for index, column in enumerate(head[part].T if array.dims == ("t", "m") and part in head and head[part].ndim == 2 else []):
                columns[f"{part}[{index}]"] = column
        return pandas.DataFrame(columns, index=pandas.RangeIndex(self.steps, name="step"))

    def frames(self) -> Dict[str, pandas.DataFrame]:
        """Returns a data frame for every head, by name. Needs pandas."""
        return {name: self.frame(name) for name in self.heads}

    def memory(self, step: Whole) -> Array:
        """Returns the memory [rows, columns] after `step` steps.

        `step`: 0 to T; negative numbers count from the end. The memory is rebuilt from the writes if the file does not have
        it. Raises StepError, an IndexError, for other steps.
        """
        last, step = self.steps, whole("step", step)
        if not -last - 1 <= step <= last:
            raise StepError(f"there is no memory after {step} steps", expected=f"0 to {last}, or -{last + 1} to -1")
        step = step % (last + 1)
        if "memory" in self:
            axis, memory = (self.dims.get("memory") or ("t+1",))[0], self["memory"]
            if axis == "t":  # in some machine files as any other quantity: one for every step, and one before the first
                memory = memory[step - 1] if step else self["memory.initial"]
            elif axis == "t+1":
                memory = memory[step]
            return memory
        if step == last and "memory.last" in self:
            return self["memory.last"]
        if self._has_source and "memory.last" in self:
            rows = self["memory.last"]
            written: Array = np.where(np.arange(len(rows))[:, None] < step, rows, self["memory.initial"])
            return written
        if "embedded" in self:  # a row for every step; without a causal head all rows from the first step on
            rows = self["embedded"]
            is_causal = self.meta["model"].get("switches", {}).get("mask") == "causal"
            seen = step if is_causal else len(rows) * (step > 0)
            appended: Array = np.where(np.arange(len(rows))[:, None] < seen, rows, np.zeros_like(rows))
            return appended
        every = self.meta["axes"].get("f", {}).get("every", 64)
        memory, start = self["memory.initial"], 0
        frames: Sequence[Array] = list(self.arrays.get("memory.keyframes", ()))
        if step >= every and len(frames):
            frame = min(step // every, len(frames))
            start, memory = frame * every, frames[frame - 1]
        for t in range(start, step):
            memory = self._written(t, memory)
        return memory

    def _written(self, t: int, memory: Array) -> Array:
        """Returns the memory after the writes of step t: head by head if they act in turn, else all erases, then all adds."""
        kept, added = np.ones_like(memory), np.zeros_like(memory)
        attention = self.meta.get("model", {}).get("heads", {}).get("attention", {})
        in_order = sorted(self.heads, key=head_order)
        for name in self.heads:
            if name.startswith("write"):
                w = self[f"{name}.weighting"][t][:, None]
                erases = of_head(attention.get("erase"), in_order.index(name), "on") == "on"
                factor, term = 1 - w * self[f"{name}.erase"][t] if erases else 1, w * self[f"{name}.add"][t]
                if self._in_turn:
                    memory = memory * factor + term
                else:
                    kept *= factor
                    added += term
        if not self._in_turn:
            memory = memory * kept + added
        return memory

    def save(self, path: Path) -> None:
        """Writes the trace, atomically.

        The ending of `path` selects the format: `.npz`, `.json.gz` or `.json`. Arrays and keys that you added are written
        too; `load` returns them, and the program ignores them. What `load` and the program refuse is not written. Raises
        FormatError for another ending, for an array that is not of real numbers, and, with the place, for an invalid trace;
        FileError if the file cannot be written. Without the extension the trace is written unchecked, with a warning.
        """
        path = file_name("path", path)
        check_ending(path, ".json", ".json.gz", ".npz")
        name, recorded = path.lower(), self._as_recorded()
        if recorded is not None:
            recorded.write(path)
            return
        data = self._npz() if name.endswith(".npz") else self._json().encode()
        if is_built():
            native().Episode.from_bytes(data, path)
        else:
            warnings.warn(f"{path}: is not checked, because the extension is missing; check it with: tapescope verify {path}",
                          stacklevel=2)
        write_atomically(path, gzip.compress(data, mtime=0) if name.endswith(".gz") else data)

    def figure(self, layout: Union[str, Sequence[str], None] = None, *, step: Optional[Whole] = None,
               steps: Optional[Tuple[Whole, Whole]] = None, heads: Optional[Sequence[str]] = None, dark: Optional[bool] = None,
               log: bool = False, rows: str = "touched", orientation: Optional[str] = None,
               size: Optional[Tuple[Whole, Whole]] = None) -> Figure:
        """Returns the episode as a figure, as `tapescope render` draws it. A notebook shows it; `Figure.save` writes it.

        layout       "paper" (figure 6 of the paper), "debug" (everything over time, and the stages of one head), "closeup"
                     (one head at a few rows), or pictures by name: input, target, output, error, adds, erases, reads,
                     weightings, usage, precedence, age, modes, links, patches, memory, stages, scalars, overlap, redundancy,
                     uncertainty, hidden, cells, quantities. Not every machine has each; uncertainty needs the samples of
                     `tapescope render --samples`
        step         step to mark and to show in pictures of one step, from 0
        steps        (first, last) step to draw, both included
        heads        heads to draw, such as "W0" or ["W0", "R1"]
        dark         True or False; None: the theme of the notebook, or light
        log          True: weightings on a logarithmic scale, 1e-6 to 1
        rows         memory rows to draw: "touched" by some head, or "all"
        orientation  "paper" (row 0 at the bottom) or "screen"
        size         (width, height) of the page

        Needs the extension. Raises ArgumentError for steps, heads or pictures that the episode does not have.

            trace.figure("debug", step=12).save("step12.svg")
        """
        episode = self._native()
        asked = flags(log=log) + options(
            layout=layout, step=step, steps=pair("steps", steps, "{}..{}", "(first, last), both of them drawn"),
            head=heads, show_rows=rows, orientation=orientation,
            size=pair("size", size, "{}x{}", "(width, height)"))

        def draw(path: str, dark: bool, more: List[str]) -> bytes:
            return bytes(episode.render(self._name, [*asked, *flags(dark=dark), *options(out=path), *more]))
        return Figure(draw, dark)

    def widget(self, layout: Union[str, Sequence[str], None] = None, *, compare: Optional[Trace] = None,
               step: Optional[Whole] = None, **options: Any) -> Player:
        """Returns the episode as a widget with a player, whose step, stage, head and selected value can be observed and set. A
        notebook shows it; without a kernel it shows the page that `figure(layout).save("x.html")` writes.

        layout   as in `figure`; None: "debug"
        compare  a trace with the same numbers of input and output channels, drawn beside this one with the difference of the
                 steps, rows and arrays that both have: second minus first
        step     the first step on screen, from 0; negative numbers count from the end
        options  those of `figure`: heads, steps, log, rows, orientation, size; not with `compare`

        Needs the extension and anywidget. Raises StepError for another step, ArgumentError as `figure`, and for traces that
        cannot be compared.

            player = trace.widget(); player.observe(print, "step")
        """
        from .widget import Player, compared
        if not isinstance(compare, (Trace, type(None))):
            raise ArgumentError(f"is {compare!r}", place="`compare`", expected="a Trace")
        if compare is not None and (layout is not None or options):
            raise ArgumentError("has a layout of its own", place="`compare`", expected="no `layout` and no other options")

        def draw(trace: Trace, first: Optional[int]) -> str:
            if compare is not None:
                return compared(trace, compare)
            return trace.figure("debug" if layout is None else layout, step=first, **options).page()
        return Player(self, draw, step=step)

    def check(self, tolerance: float = 1e-5) -> Check:
        """Checks the format and recomputes every stage from what the heads emitted, as `tapescope verify` does.

        tolerance   largest allowed difference, 0 to 1; relative for values above 1, and for all weightings, memories, reads,
                    gradients and learned constants

        Needs the extension. Raises FormatError, with the place, for an invalid trace.
        """
        recorded = self._as_recorded()
        data = bytes(recorded.to_bytes()) if recorded else self._npz()
        return Check(*native().verify(data, self._name, options(tolerance=tolerance)))

    def view(self, *, wait: bool = False) -> None:
        """Opens the window with this episode. With `wait`, returns when it is closed. Raises DisplayError without a display."""
        window.show("episode.npz", bytes(self._native().to_bytes()), wait)

    def _repr_html_(self) -> Optional[str]:
        # Without the extension a notebook shows the repr.
        return self.figure()._repr_html_() if is_built() else None

    def _repr_svg_(self) -> Optional[str]:
        return self.figure().svg if is_built() else None

    def _written_arrays(self) -> Iterator[Tuple[str, Dict[str, Any], Array]]:
        """Yields name, description and values of every array."""
        for name, given in self.arrays.items():
            array = np.asarray(given)
            if array.dtype.kind not in "fiub":
                raise FormatError(f"is an array of {array.dtype}", place=f"`arrays[{name!r}]`", expected="real numbers")
            described = {"dims": list(self.dims.get(name, ())), "dtype": "float32", "shape": list(array.shape)}
            yield name, described, np.asarray(array, "<f4", order="C")

    def _json(self) -> str:
        parts = [f"{json.dumps(key)}: {to_json(f'meta[{key!r}]', value)}" for key, value in self.meta.items()]
        arrays = []
        for name, about, array in self._written_arrays():
            described = json.dumps(about)[:-1]
            rows: Any = array.reshape(-1, (array.shape or (1,))[-1]) if array.size else []
            lines = ",\n".join(",".join(map(_decimal, row)) for row in rows)
            start = "\n" if lines else ""
            arrays.append(f'{json.dumps(name)}: {described}, "data": [{start}{lines}]}}')
        parts.append('"arrays": {\n' + ",\n".join(arrays) + "\n}")
        return "{\n" + ",\n".join(parts) + "\n}\n"

    def _npz(self) -> bytes:
        arrays = list(self._written_arrays())
        meta = dict(self.meta, arrays={name: about for name, about, _ in arrays})
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
            members.writestr(_member("meta.json"), to_json("meta", meta, indent=1))
            for name, _, array in arrays:
                data = io.BytesIO()
                np.save(data, array, allow_pickle=False)
                members.writestr(_member(name + ".npy"), data.getvalue())
        return file.getvalue()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, NO_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _decimal(value: np.float32) -> str:
    """Returns the shortest decimal of a float32; NaN and infinities become strings."""
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    text = str(value)
    return text[:-2] if text.endswith(".0") and value != 0 else text


def load(path: Path) -> Trace:
    """Reads a trace: JSON, gzipped JSON or npz. The contents decide, not the file name. With the extension, what the program
    refuses is refused here too, and attention of other programs is read: a .npy, a text matrix or Pharaoh links, whose tokens
    `attention` takes.

    Raises FormatError for an invalid trace, with the file and the place in it, and FileError for an unreadable file.

        load("copy.npz")["write0.weighting"]
    """
    path = file_name("path", path)
    try:
        data = read(path, EXPECTED, _refuse)
    except FormatError:
        if not is_built():
            raise
        # Weights, or what the program refuses as well.
        return Trace.of_native(native().Episode.of_attention(path, [None, None, None], None, 0, None))
    trace = _load_npz(path, data) if data.startswith(b"PK") else _load_json(path, data)
    for name, dims in trace.dims.items():
        shape, steps = trace[name].shape, trace.steps
        if dims[:1] in (("t",), ("t+1",)) and shape[:1] != (steps + (dims[0] == "t+1"),):
            raise FormatError(f"has the shape {list(shape)}", file=path, place=f"`arrays.{name}`",
                              expected=f"{dims[0]} on its first axis, where t is {steps}")
    if is_built():
        native().Episode.from_bytes(data, path)
    return trace


def check(path: Path, tolerance: float = 1e-5) -> Check:
    """Checks a trace file as `tapescope verify` does: see `Trace.check`. Needs the extension."""
    path = file_name("path", path)
    return Check(*native().verify(read(path, EXPECTED, _refuse), harmless(path), options(tolerance=tolerance)))


def _refuse(path: str, start: bytes) -> None:
    """Raises FormatError for a file that does not begin as a trace."""
    refuse_pickle(path, start)
    text = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if text and not text.startswith((b"PK", b"\x1f\x8b", b"{", b"[")):
        raise FormatError("is not JSON, gzip or npz", file=path, expected=EXPECTED)


def _unpacked(path: str, data: bytes) -> bytes:
    """Returns gzipped data. Raises FormatError for more than LARGEST bytes, and for data that is not complete."""
    with _unreadable(path, "is not a complete gzip file"), gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        whole = file.read(LARGEST + 1)
    if len(whole) > LARGEST:
        raise FormatError(f"unpacks to more than the limit of {LARGEST >> 20} MB", file=path)
    return whole


@contextmanager
def _unreadable(path: str, problem: str, place: Optional[str] = None, expected: str = EXPECTED) -> Iterator[None]:
    """Turns every error of a reader of Python or NumPy into a FormatError with this problem and the reason."""
    try:
        yield
    except FormatError:
        raise
    except Exception as error:
        raise FormatError(f"{problem}: {error}", file=path, place=place, expected=expected) from error


def _load_json(path: str, data: bytes) -> Trace:
    data = _unpacked(path, data) if data.startswith(b"\x1f\x8b") else data
    with _unreadable(path, "is not JSON"):
        meta = json.loads(data)
    _check(path, meta, ("shape", "data"))
    arrays = {}
    for name, array in meta["arrays"].items():
        with _unreadable(path, "is not an array", f"`arrays.{name}`", "float32 numbers that fill its `shape`"):
            arrays[name] = np.array(array["data"], array.get("dtype", "float32")).reshape(array["shape"])
            if list(arrays[name].shape) != array["shape"]:
                raise ValueError(f"its shape is {array['shape']}")
    return Trace(meta, arrays)


def _load_npz(path: str, data: bytes) -> Trace:
    """Reads the arrays of `meta.json`, and other members that are arrays of numbers; the rest is ignored."""
    with _unreadable(path, "is not a complete npz file"), zipfile.ZipFile(io.BytesIO(data)) as packed:
        if sum(member.file_size for member in packed.infolist()) > LARGEST:
            raise FormatError(f"unpacks to more than the limit of {LARGEST >> 20} MB", file=path)
        names = packed.namelist()
        if len(set(names)) < len(names):
            raise FormatError("has members of the same name", file=path, expected="every name once")
        with _unreadable(path, "cannot be read", "`meta.json`", "the description of a trace, as JSON"):
            meta = json.loads(packed.read("meta.json"))
        _check(path, meta)
        arrays = {}
        others = [name[:-len(".npy")] for name in names if name.endswith(".npy")]
        for name in dict.fromkeys([*meta["arrays"], *others]):
            try:
                with _unreadable(path, "cannot be read", f"`arrays.{name}`", f"an array of numbers in the member {name}.npy"), \
                        packed.open(f"{name}.npy") as member:
                    arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
            except FormatError:
                if name in meta["arrays"]:
                    raise
        return Trace(meta, arrays)


def _check(path: str, meta: Any, of_array: Sequence[str] = ()) -> None:
    """Raises FormatError unless this is a trace of this version with the keys that `Trace` needs. `of_array`: those of each array."""
    found = meta.get("format") if isinstance(meta, dict) else type(meta).__name__
    if found != FORMAT:
        raise FormatError(f"is {found!r}", file=path, place="`format`", expected=repr(FORMAT))
    if meta.get("version") != VERSION:
        raise FormatError(f"is {meta.get('version')!r}", file=path, place="`version`", expected=repr(VERSION))
    for place, kind in KINDS.items():
        value = meta
        for key in place.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        _check_kind(path, place, value, kind, place in REQUIRED)
    for name, array in meta["arrays"].items():
        _check_kind(path, f"arrays.{name}", array, dict, True)
        for key, kind in OF_ARRAY.items():
            _check_kind(path, f"arrays.{name}.{key}", array.get(key), kind, key in of_array)


def _check_kind(path: str, place: str, value: Any, kind: type, is_required: bool) -> None:
    """Raises FormatError for a value of another kind. The program also checks its contents."""
    if is_required if value is None else type(value) is not kind:
        found = "is missing" if value is None else f"is {json.dumps(value)[:80]}"
        raise FormatError(found, file=path, place=f"`{place}`", expected=EXPECTED_OF[kind])
