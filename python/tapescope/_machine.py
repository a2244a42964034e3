"""Trained machines: run them, evaluate them, read their weights."""

from __future__ import annotations

import copy
import html
import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy.typing as npt

from . import display, window
from ._interventions import Interventions, texts
from ._extension import native, options, pair
from .errors import ArgumentError, Whole, harmless
from .files import Path, expecting, file_name, to_json
from .preset import Preset, as_dictionary, changes, named, of_file
from .trace import Trace
from .weights import Tensors, to_bytes, write_bytes

if TYPE_CHECKING:
    from .widget import Player

# One or several whole numbers, or the syntax of the command line such as "10,20..22".
Sizes = Union[Whole, str, Iterable[Whole]]
# What `machine` accepts.
A_MACHINE = "the name of an included machine, a weights file, or a run folder"


def _sized(sizes: Optional[Mapping[str, Whole]]) -> List[str]:
    return changes(sizes, "sizes", "size", '{"rows": 64}')


def _options(interventions: List[str]) -> List[str]:
    return [f"--intervene={text}" for text in interventions]


class Machine:
    """A machine with its weights, immutable: from `tapescope.machine("copy")`, `tapescope.train` or `machine_from`."""

    stopped_after: Optional[int]
    """Number of sequences trained if the training was stopped, otherwise None."""

    def __init__(self, handle: Any, stopped_after: Optional[int] = None) -> None:
        """Internal: `handle` is a `_native.Machine`."""
        self._handle, self.stopped_after = handle, stopped_after
        self._preset: Dict[str, Any] = json.loads(handle.preset)

    @property
    def name(self) -> str:
        """Name under which the machine was requested."""
        return str(self._handle.name)

    @property
    def preset(self) -> Dict[str, Any]:
        """Preset that the machine was trained with, with every default, as a dictionary; see docs/formats/presets.md."""
        return copy.deepcopy(self._preset)

    @property
    def weights(self) -> Tensors:
        """Tensors by name, float32: linear maps [inputs, outputs], biases [outputs]. The arrays are read-only and share
        the memory of the machine; nothing is copied. `tensor_shapes` lists the names."""
        return dict(self._handle.tensors())

    @property
    def history(self) -> List[Dict[str, Any]]:
        """Learning curve of the whole training, one dictionary per validation: `sequences`, `seconds`, `training_bits` and,
        under `validation`, `bits_per_sequence`, `wrong_bits`, `perfect`."""
        return [numbers(point) for point in json.loads(self._handle.history)]

    @property
    def validation(self) -> Optional[Dict[str, Any]]:
        """Validation of exactly these weights, or None if it is unknown."""
        found = self._handle.evaluation
        return None if found is None else numbers(json.loads(found))

    @property
    def command(self) -> str:
        """Command line that made the machine; empty if it is unknown. Objects that were in no file appear as files: a
        dictionary as `preset.json`, the initial machine as `start.safetensors`. If there is a run folder, it has both."""
        return str(self._handle.command)

    @property
    def sha256(self) -> str:
        """SHA-256 of the weights, as in traces: equal weights have equal hashes."""
        return str(self._handle.sha256())

    def trace(self, length: Optional[Whole] = None, *, items: Optional[Whole] = None, repeats: Optional[Whole] = None,
              seed: Optional[Whole] = None, episode: Optional[Whole] = None, sample: Optional[Whole] = None, input: Any = None,
              rows: Optional[Whole] = None, sizes: Optional[Mapping[str, Whole]] = None,
              gradient: Union[str, Tuple[Whole, Whole], None] = None, intervene: Optional[Interventions] = None) -> Trace:
        """Runs one episode and returns its trace, with every stage of every step.

        length    number of vectors, at least 1; None: sampled as in training
        items     number of items, for tasks that have items; None: sampled as in training
        repeats   number of repeats, for tasks that have them; None: sampled as in training
        seed      seed of the episode; None: 1000000, which differs from the training seeds, or 0 for an episode file
        episode   index of the episode of that seed, from 0. With an episode file, an index into its held-out episodes,
                  which starts again after the last one
        sample    index of the noise sample, for hard and Bayesian heads; None: no noise, a hard head takes its most likely
                  row
        input     [vectors, bits] of 0 and 1 instead of random bits; or a dictionary {"bits": …} with the other values that
                  the task needs: "repeats", "query", "priorities". For tasks of symbols a list of their numbers, [3, 1, 4];
                  for `caption` one for every patch, or None for a blank patch; for `aspects` {"symbols": …, "marked": [0, 2]};
                  for `span` {"symbols": …, "question": [3]}; for `text` a line: "the cat"; for `pairs` a source: "the cat",
                  or with its target: "the cat\\tle chat"
        rows      number of memory rows; None: as in training
        sizes     sizes of a machine file on which no tensor depends, by name: {"depth": 64}
        gradient  "loss", or (step, channel) of an output bit. Adds for every array an array `gradient.NAME` of the same
                  shape: the derivative of the loss (bits) or of the logit of that bit with respect to it
        intervene values that are changed while the episode runs: a dictionary {"12:read0.gate": 1}, with STEP, FROM-TO or
                  FROM- before the name of an array, and a number, a list, "row(5)", "swap(3,4)", "negate" or
                  "from(FILE)"; see "Interventions" in docs/formats/traces.md. A function (step, arrays so far) is called in each
                  of its steps; it returns the new value, or None for no change. The trace lists all of them as values

        The arrays of the trace are read-only and share the memory of the recording; nothing is copied. Warns if the
        memory wrapped around. Raises ArgumentError for values that the task does not allow, and FormatError for an invalid
        input.

            machine("copy").trace(length=8, gradient=(12, 3))["gradient.input"]
            machine("copy").trace(length=8, intervene={"4:write0.gate": 1, "9-:read0.read": "negate"})
        """
        bit = gradient if isinstance(gradient, str) else pair(
            "gradient", gradient, "bit:{},{}", '"loss", or the (step, channel) of an output bit')
        given = None if input is None else to_json("`input`", input)
        asked = options(length=length, items=items, repeats=repeats, seed=seed, episode=episode, sample=sample,
                        rows=rows, gradient=bit) + _sized(sizes)
        changes = [] if intervene is None else texts(
            intervene, lambda changes: self._handle.trace(given, asked + _options(changes)), self._handle.advance)
        recorded = self._handle.trace(given, asked + _options(changes))
        wrap_around = recorded.wrap_around()
        if wrap_around:
            warnings.warn(f"{self.name}: {wrap_around}", stacklevel=2)
        return Trace.of_native(recorded)

    def widget(self, layout: Union[str, Sequence[str]] = "debug", *, step: Optional[Whole] = None, **episode: Any) -> Player:
        """Runs an episode and returns it as a widget with a player and a slider for every gate. A moved slider runs the episode
        again with that value and assigns the new `trace` of the widget.

        layout, step   as in `Trace.widget`
        episode        arguments of `trace`: length, seed, intervene and the others

            player = machine("copy").widget(length=8, seed=1)
            player.change("12:read0.gate", 0.5)             # the trace with this value; the player shows it
        """
        from .widget import Player
        before = episode.pop("intervene", None) or {}

        def run(changes: Mapping[str, Any]) -> Trace:
            return self.trace(**episode, intervene={**before, **changes} or None)
        return Player(run({}), lambda trace, first: trace.figure(layout, step=first).page(), run, step)

    def evaluate(self, lengths: Optional[Sizes] = None, *, items: Optional[Sizes] = None,
                 repeats: Optional[Sizes] = None, episodes: Optional[Whole] = None, seed: Optional[Whole] = None,
                 rows: Optional[Whole] = None, sizes: Optional[Mapping[str, Whole]] = None, samples: Optional[Whole] = None,
                 measure: Optional[str] = None, by: Optional[str] = None, threads: Optional[Whole] = None) -> List[Dict[str, Any]]:
        """Evaluates the machine on episodes that it was not trained on and returns one dictionary per size.

        lengths, items, repeats   sizes: 20, [10, 20] or range(10, 21); None: those of the preset
        episodes                  episodes per size; None: as in the preset
        seed                      seed of the episodes; None: 1000000
        rows                      number of memory rows; None: as in training
        sizes                     sizes of a machine file on which no tensor depends, by name: {"depth": 64}
        samples                   noise samples per episode, for hard and Bayesian heads
        measure                   an expression such as "entropy(read0.weighting)" (docs/expressions.md): one dictionary per step
                                  and phase instead, with `median`, quantiles and `mean` over the episodes
        by                        "position" or "channel": wrong bits by position in the answer, or by output channel
        threads                   None: one per processor; the result does not depend on it

        Keys of a dictionary: `bits_per_sequence` is the mean of the summed cross-entropy of an answer, or with real values the
        mean squared error,
        `bits_half_width` half of its 95 % interval, and `bits_median` the median. `wrong_bits` counts the answer bits on the
        wrong side of one half, out of `scored_bits`. `perfect` is the fraction of episodes without a wrong bit. If the
        machine attends to a source whose true alignment is known, `alignment` compares the two.
        docs/formats/tables.md lists all keys. `pandas.DataFrame` accepts the list. Ctrl-C stops the evaluation between two
        episodes (KeyboardInterrupt). Raises ArgumentError for sizes that the task does not allow.
        """
        asked = options(lengths=lengths, items=items, repeats=repeats, episodes=episodes, seed=seed, rows=rows,
                        samples=samples, measure=measure, by=by, threads=threads) + _sized(sizes)
        return [numbers(json.loads(line)) for line in self._handle.evaluate(asked)]

    def save(self, path: Path) -> None:
        """Writes a weights file, atomically; `machine` and `tapescope eval`, `trace` and `view` open it.

        `path` ends in .safetensors. Raises FormatError for another ending and FileError if it cannot be written.
        """
        write_bytes(path, self._handle.to_bytes())

    def view(self, *, wait: bool = False) -> None:
        """Opens the window with this machine. With `wait`, returns when it is closed. Raises DisplayError without a display."""
        window.show("machine.safetensors", self._handle.to_bytes(), wait)

    def curve(self, *, dark: Optional[bool] = None) -> display.Figure:
        """Returns the learning curve, bits or mean squared error per sequence. `dark`: True, False, or None for the theme of the notebook."""
        return display.Figure(display.only_svg(self._handle.curve), dark)

    def __reduce__(self) -> Tuple[Any, ...]:
        # The weights file: its learning curve ends with these weights.
        return _unpickled, (bytes(self._handle.to_bytes()), self.name, self.stopped_after)

    @property
    def _is_real(self) -> bool:
        return bool(self._preset["task"].get("answer") == "values")

    def __repr__(self) -> str:
        found = self.validation
        validated = "" if found is None else f"; {loss(found['bits_per_sequence'], '.3g', self._is_real)} per sequence in validation"
        stopped = "" if self.stopped_after is None else f"; stopped after {self.stopped_after:,} sequences"
        stopped = "; untrained" if self.stopped_after == 0 else stopped
        return harmless(f"<Machine {self.name}: {self.words()}{validated}{stopped}>")

    def words(self) -> str:
        """Returns a description of controller, heads and memory, or the machine file with its sizes."""
        model = self._preset["model"]
        if of_file(self._preset):
            sizes = ", ".join(part for key in ("sizes", "heads") for part in _listed(model.get(key, {})))
            parts = [model["file"] + (f" with {sizes}" if sizes else "")]
        else:
            controller, memory, heads = model["controller"], model["memory"], model["heads"]
            kind = "LSTM" if controller["kind"] == "lstm" else "feedforward"
            layers = f" in {controller['layers']} layers" if controller.get("layers", 1) > 1 else ""
            # Sparse access memory has as many heads of each kind, and a DNC one write head.
            read, write = heads.get("read", heads.get("count")), heads.get("write", heads.get("count", 1))
            parts = [f"{kind} of {controller['size']} units{layers}", _count(read, "read head"), _count(write, "write head"),
                     f"memory {memory['rows']} × {memory['columns']}"]
        size = sum(tensor.size for tensor in self.weights.values())
        return f"{', '.join(parts)}; {size:,} weights"

    def _repr_html_(self) -> str:
        """Returns the machine as an HTML table with its learning curve."""
        found, history = self.validation, self.history
        rows: List[Tuple[str, str]] = [("task", self.preset["task"]["kind"]), ("machine", self.words())]
        if found is not None:
            rows.append(("validation", f"{loss(found['bits_per_sequence'], '.3g', self._is_real)} and {found['wrong_bits']:.3g} wrong "
                                       f"{'values' if self._is_real else 'bits'} per sequence, {100 * found['perfect']:.4g} % perfect"))
        if self.stopped_after is not None:
            rows.append(("stopped", f"after {self.stopped_after:,} of {self.preset['training']['sequences']:,} sequences"))
        cells = "".join(f'<tr><th style="text-align: left">{name}</th><td style="text-align: left">{html.escape(value)}</td></tr>'
                        for name, value in rows)
        curve = self.curve()._repr_html_() if len(history) > 1 else ""
        return f"<b>{html.escape(self.name)}</b><table>{cells}</table>{curve}"


def _unpickled(data: bytes, name: str, stopped_after: Optional[int]) -> Machine:
    return Machine(native().Machine.from_bytes(data, name), stopped_after)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _listed(sizes: Mapping[str, Any], place: str = "") -> List[str]:
    """Returns names and sizes; those of a component have its name before theirs."""
    return [part for name, size in sizes.items() for part in (
        _listed(size, f"{place}{name}.") if isinstance(size, Mapping) else [f"{place}{name} {size}"])]


def loss(value: float, form: str, is_real: bool) -> str:
    """Returns a loss as text: bits in this format, or the mean squared error of real values."""
    return f"error {value:.3g}" if is_real else f"{value:{form}} bits"


def numbers(read: Dict[str, Any]) -> Dict[str, Any]:
    """Converts the strings for NaN and infinities back to numbers."""
    words = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}

    def number(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return numbers(value)
        return int(value) if key == "seed" else words.get(value, value) if isinstance(value, str) else value
    return {key: number(key, value) for key, value in read.items()}


def machine(source: Path, *, task: Union[Path, Preset, None] = None, seed: Optional[Whole] = None,
            set: Optional[Mapping[str, Any]] = None) -> Machine:
    """Loads a trained machine, or makes an untrained one from a machine file.

    source   the name of an included machine (`machines()` lists them), a weights file, or a run folder; or the path of a
             machine file, which ends in .machine, or the name of an included one: then the weights are random

    These are for a machine file only:

    task     the name of a preset, a JSON file, or a dictionary: a preset, or only its `task`; None: "copy"
    seed     seed of the random weights; None: as in the preset
    set      other values by their paths: {"model.sizes.units": 64}

    Raises ArgumentError for an unknown name, FormatError for an invalid file and FileError for an unreadable one.

        machine("stack.machine", task="transduce", seed=1).trace(length=5)["memory"]
    """
    name = file_name("source", source, A_MACHINE)
    if name.endswith(".machine"):
        preset = task if isinstance(task, Mapping) else as_dictionary("copy" if task is None else task)
        preset = preset if "task" in preset else {"task": preset}
        own = of_file(preset)
        base = os.path.basename(name)
        stem = os.path.splitext(base)[0]
        # Sizes and switches of another machine, and the training of another kind, may have keys of their own.
        is_same = os.path.basename(str(own.get("file", name))) == base
        model = {**(own if is_same else {}), "kind": "equations", "file": name, "text": ""}
        is_own = "model" not in preset or bool(own) and is_same
        kept = {key: preset[key] for key in ("task", "evaluation", *["training"] * is_own) if key in preset}
        whole = {**kept, "name": stem, "model": model}
        run = native().Run.begin(*named(whole), None, options(seed=seed) + changes(set))
        return Machine(run.machine(), 0)
    if (task, seed, set) != (None, None, None):
        raise ArgumentError(f"is {source!r}", place="`source`", expected="a .machine file for `task`, `seed` and `set`")
    with expecting({name: A_MACHINE}):
        return Machine(native().Machine.find(name))


def machine_from(weights: Mapping[str, npt.ArrayLike], preset: Union[Path, Preset]) -> Machine:
    """Makes a machine from tensors and a preset.

    weights   arrays or PyTorch tensors by name, with the shapes of `tensor_shapes(preset)`, as in `Machine.weights`
    preset    a name, a JSON file, or a dictionary such as `Machine.preset`

    Raises WeightsError, with the name, for a tensor that does not fit the preset.
    """
    preset = as_dictionary(preset)
    data = to_bytes(weights, preset, "tapescope.machine_from")
    return Machine(native().Machine.from_bytes(data, str(preset.get("name", "machine"))))


def machines() -> List[str]:
    """Returns the names of the included machines."""
    return list(native().machines())


def presets() -> List[str]:
    """Returns the names of all presets."""
    return list(native().presets())
