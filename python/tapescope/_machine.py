"""Trained machines: run, measured, taken apart."""

from __future__ import annotations

import copy
import json
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import display, window
from ._extension import native, options, pair
from .errors import ArgumentError, Whole
from .files import Path, expecting, file_name, to_json
from .preset import Preset, as_dictionary
from .trace import Trace
from .weights import Tensors, to_bytes, write_bytes

# Whole numbers, one or several, or words of the command line such as "10,20..22".
Sizes = Union[Whole, str, Iterable[Whole]]
# What there can be to read.
A_MACHINE = "the name of a machine that is included, a weights file, or the folder of a run"


class Machine:
    """A machine with its weights: `tapescope.machine("copy")`, or what `tapescope.train` returns. It never changes."""

    stopped_after: Optional[int]
    """Of a training that was stopped, the sequences it had seen; None otherwise."""

    def __init__(self, handle: Any, stopped_after: Optional[int] = None) -> None:
        """For this module: `handle` is a `_native.Machine`."""
        self._handle, self.stopped_after = handle, stopped_after
        self._preset: Dict[str, Any] = json.loads(handle.preset)

    @property
    def name(self) -> str:
        """What it was called when it was asked for."""
        return str(self._handle.name)

    @property
    def preset(self) -> Dict[str, Any]:
        """The experiment that made it, with every default; see docs/formats.md."""
        return copy.deepcopy(self._preset)

    @property
    def weights(self) -> Tensors:
        """Every tensor by its name, float32: linear maps [inputs, outputs], biases [outputs]. They are read-only and share
        the memory of the machine: nothing is copied. See `tensor_shapes` for the names."""
        return dict(self._handle.tensors())

    @property
    def history(self) -> List[Dict[str, Any]]:
        """Its learning curve, that of all its training, one dictionary a validation: `sequences`, `seconds`, `training_bits` and, under
        `validation`, `bits_per_sequence`, `wrong_bits`, `perfect`."""
        return [numbers(point) for point in json.loads(self._handle.history)]

    @property
    def validation(self) -> Optional[Dict[str, Any]]:
        """The validation of these very weights; None where it is not known."""
        found = self._handle.evaluation
        return None if found is None else numbers(json.loads(found))

    @property
    def command(self) -> str:
        """The command that made it, as it is typed; empty where it is not known. What was in no file is named as one:
        `preset.json`, a dictionary; `start.safetensors`, the machine that the training began with. Both are there in the
        folder of the run, where it has one."""
        return str(self._handle.command)

    @property
    def sha256(self) -> str:
        """The hash of its weights, as in traces: equal weights have equal hashes."""
        return str(self._handle.sha256())

    def trace(self, length: Optional[Whole] = None, *, items: Optional[Whole] = None, repeats: Optional[Whole] = None,
              seed: Optional[Whole] = None, episode: Optional[Whole] = None, sample: Optional[Whole] = None, input: Any = None,
              rows: Optional[Whole] = None, gradient: Union[str, Tuple[Whole, Whole], None] = None) -> Trace:
        """One episode, every stage of every step.

        length    vectors of the sequence, or `items`, for tasks that have those; None: drawn as in training
        repeats   for tasks that have them; None: drawn as in training
        seed      of the episode; None: 1000000, far from those of training
        episode   which one of that seed, from 0; those of a task of your own come as in their file, and behind the last one
                  that is held out the first again
        sample    of the noise, where heads draw; None: none, a hard head takes its most likely row
        input     [vectors, bits] of 0 and 1 instead of random ones, or a dictionary {"bits": …} with what else the task
                  needs: "repeats", "query", "priorities"
        rows      of the memory, instead of those of the training
        gradient  "loss", or (step, channel) of an output bit: beside every array `gradient.NAME`, of the same shape, the
                  derivative by it, of the loss in bits or of the logit of that bit

        Its arrays are read-only and share the memory of the recording: nothing is copied. Raises ArgumentError for what
        the task does not allow, FormatError for such an input.
        """
        bit = gradient if isinstance(gradient, str) else pair(
            "gradient", gradient, "bit:{},{}", '"loss", or the (step, channel) of an output bit')
        given = None if input is None else to_json("`input`", _episode(input))
        asked = options(length=length, items=items, repeats=repeats, seed=seed, episode=episode, sample=sample,
                        rows=rows, gradient=bit)
        recorded = self._handle.trace(given, asked)
        overrun = recorded.overrun()
        if overrun:
            warnings.warn(f"{self.name}: {overrun}", stacklevel=2)
        return Trace.of_native(recorded)

    def evaluate(self, lengths: Optional[Sizes] = None, *, items: Optional[Sizes] = None,
                 repeats: Optional[Sizes] = None, episodes: Optional[Whole] = None, seed: Optional[Whole] = None,
                 rows: Optional[Whole] = None, samples: Optional[Whole] = None,
                 threads: Optional[Whole] = None) -> List[Dict[str, Any]]:
        """How well it does on episodes that it was not trained on, one dictionary for every size (a pandas data frame is
        `pandas.DataFrame` of the list).

        lengths, items, repeats   sizes: 20, [10, 20], range(10, 21); None: those of the preset
        episodes                  of each size; None: those of the preset
        seed                      of the episodes; None: 1000000
        rows                      of the memory, instead of those of the training
        samples                   draws of every episode, where heads draw
        threads                   None: one for each processor; the result does not depend on it

        `bits_per_sequence` is the mean of the summed cross-entropy of an answer, `bits_half_width` half the 95 % interval
        about it, `bits_median` its median, `wrong_bits` the answer bits on the wrong side of one half, of `scored_bits`,
        `perfect` the share of episodes without one: docs/formats.md has all. Ctrl-C ends it between two episodes.
        """
        asked = options(lengths=lengths, items=items, repeats=repeats, episodes=episodes, seed=seed, rows=rows,
                        samples=samples, threads=threads)
        return [numbers(json.loads(line)) for line in self._handle.evaluate(asked)]

    def save(self, path: Path) -> None:
        """Writes a weights file, `.safetensors`, that `tapescope eval`, `trace`, `view` and `machine` open. Whole or not at
        all."""
        write_bytes(path, self._handle.to_bytes())

    def view(self, *, wait: bool = False) -> None:
        """Opens the window on this machine. `wait`: until it is closed. Raises DisplayError where there is no display."""
        window.show("machine.safetensors", self._handle.to_bytes(), wait)

    def curve(self, *, dark: Optional[bool] = None) -> display.Figure:
        """Its learning curve: bits per sequence over sequences. `dark`: None is as the notebook."""
        return display.Figure(display.only_svg(self._handle.curve), dark)

    def __reduce__(self) -> Tuple[Any, ...]:
        # As its file has it: its learning curve ends with these weights.
        return _unpickled, (bytes(self._handle.to_bytes()), self.name, self.stopped_after)

    def __repr__(self) -> str:
        found = self.validation
        validated = "" if found is None else f"; {found['bits_per_sequence']:.3g} bits per sequence in validation"
        stopped = "" if self.stopped_after is None else f"; stopped after {self.stopped_after:,} sequences"
        return f"<Machine {self.name}: {self.words()}{validated}{stopped}>"

    def words(self) -> str:
        """What it is made of, in words."""
        config = self._preset["model"]
        controller, memory = config["controller"], config.get("memory")
        layers = controller.get("layers", 1)
        what = {"lstm": "LSTM", "feedforward": "feedforward"}[controller.get("kind", "lstm")]
        parts = [f"{what} of {controller['size']} units" + (f" in {layers} layers" if layers > 1 else "")]
        if memory:
            heads = config["heads"]
            parts += [_count(heads["read"], "read head"), _count(heads["write"], "write head"),
                      f"memory {memory['rows']} × {memory['columns']}"]
        size = sum(tensor.size for tensor in self.weights.values())
        return f"{', '.join(parts)}; {size:,} weights"

    def _repr_html_(self) -> str:
        return display.machine_html(self)


def _unpickled(data: bytes, name: str, stopped_after: Optional[int]) -> Machine:
    return Machine(native().Machine.from_bytes(data, name), stopped_after)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _episode(given: Any) -> Any:
    """What the file of an input would say."""
    if isinstance(given, Mapping):
        return {key: _bits(value) if key == "bits" else value for key, value in given.items()}
    return _bits(given)


def _bits(given: Any) -> List[List[float]]:
    """Rows of whole numbers: 1.0 is 1."""
    try:
        rows = np.atleast_2d(np.asarray(given, np.float64))
    except (TypeError, ValueError, RecursionError):
        rows = np.array(np.nan)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ArgumentError("is no array of numbers", place="`input`", expected="[vectors, bits] of 0 and 1")
    return [[int(bit) if bit.is_integer() else bit for bit in row] for row in rows.tolist()]


def numbers(read: Dict[str, Any]) -> Dict[str, Any]:
    """What JSON does not have is written as text: back to numbers."""
    words = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}

    def number(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return numbers(value)
        return int(value) if key == "seed" else words.get(value, value) if isinstance(value, str) else value
    return {key: number(key, value) for key, value in read.items()}


def machine(source: Path) -> Machine:
    """A trained machine: the name of a preset whose weights are included (`machines()` lists them), a weights file, or the
    folder of a run. Raises ArgumentError or FormatError."""
    name = file_name("source", source, A_MACHINE)
    with expecting({name: A_MACHINE}):
        return Machine(native().Machine.find(name))


def machine_from(weights: Mapping[str, npt.ArrayLike], preset: Union[Path, Preset]) -> Machine:
    """The machine of these tensors: arrays by name, or PyTorch tensors, as `Machine.weights` has them.

    `preset`: the experiment they belong to, as `Machine.preset`. Raises WeightsError, with the name, where one does not fit
    the other.
    """
    preset = as_dictionary(preset)
    data = to_bytes(weights, preset, "tapescope.machine_from")
    return Machine(native().Machine.from_bytes(data, str(preset.get("name", "machine"))))


def machines() -> List[str]:
    """The names of the machines that are included."""
    return list(native().machines())


def presets() -> List[str]:
    """The names of all presets."""
    return list(native().presets())
