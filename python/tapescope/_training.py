"""Training, as fast as in the program."""

from __future__ import annotations

import json
import shutil
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, TextIO, Union

import numpy as np

from ._extension import flags, native, options
from .errors import TrainingError, Whole
from .files import Path, expecting, file_name
from ._machine import A_MACHINE, Machine, loss, numbers
from .preset import A_PRESET, Preset, changes, named

# Seconds between two checks of a run, and so the reaction time to Ctrl-C.
LOOK = 0.1


class Progress(NamedTuple):
    """Progress of a training."""

    sequences: int
    """Sequences trained so far."""
    total: int
    """Sequences in the whole run."""
    bits: float
    """Mean loss of the last batch before its update: bits per sequence, or the mean squared error of real values."""
    wrong: float
    """Mean wrong bits of the last batch before its update, per sequence."""
    seconds: float
    """Seconds since the start."""
    validation: Optional[Dict[str, Any]]
    """Last validation, as in `Machine.history`; None before the first. Every validation since the previous call gets its own
    call."""
    machine: Callable[[], Machine]
    """Returns the best machine so far: `progress.machine().trace(length=5)`."""
    is_real: bool = False
    """True if targets are real values, whose loss is an error."""

    def __str__(self) -> str:
        share = self.sequences / max(self.total, 1)
        rate = self.sequences / max(self.seconds, 1e-9)
        left = f"{(self.total - self.sequences) / rate:.0f} s left" if rate else ""
        bar = ("#" * int(24 * share)).ljust(24, "-")
        return f"{bar} {self.sequences:,}/{self.total:,} sequences  {rate:,.0f}/s  {left}  {self.answered()}"

    def answered(self) -> str:
        """Returns the result of the last validation as text, or of the last batch before the first validation."""
        if self.validation is None:
            return f"{loss(self.bits, '.1f', self.is_real)}, {self.wrong:.1f} wrong"
        found = self.validation["validation"]
        return f"{loss(found['bits_per_sequence'], '.3f', self.is_real)}, {found['wrong_bits']:.2f} wrong per sequence"


def train(preset: Union[Path, Preset], *, seed: Optional[Whole] = None, sequences: Optional[Whole] = None,
          set: Optional[Mapping[str, Any]] = None, start: Union[Machine, Path, None] = None, out: Optional[Path] = None,
          force: bool = False, threads: Optional[Whole] = None,
          progress: Union[bool, None, Callable[[Progress], Any]] = True) -> Machine:
    """Trains a machine and returns the best one by validation. The result equals that of `tapescope train` bit for bit.

    preset     the name of a preset, a JSON file, or a dictionary: see `read_preset`
    seed       seed of the initial weights and of every episode; None: as in the preset
    sequences  training sequences in the whole run; None: as in the preset
    set        other values by their paths: {"model.memory.rows": 64}
    start      initial weights instead of random ones: a machine, the name of an included one, a weights file or a run folder
    out        run folder for the results, as `tapescope train` writes it; None: no folder
    force      replace an earlier run in `out`
    threads    None: one per processor; the result does not depend on it
    progress   True: a bar in a terminal or a notebook, otherwise one line per validation. A function: called with a
               `Progress` about ten times a second and after every validation; the training stops if it returns False.
               Its method `end`, if it has one, is called at the end. `tapescope.widget.Curve()` draws a curve that grows.
               None or False: no output

    Ctrl-C stops the training after the current update and returns the best machine so far; its `stopped_after` is the number
    of sequences trained. With `out` the run can be resumed (`tapescope train --resume`).

    Raises ArgumentError or FormatError, with the allowed values, before the training begins. Raises TrainingError if numbers
    are no longer finite; its `machine` is the best one before.

        train("copy", seed=7, sequences=20000, out="runs/mine")
    """
    name, text = named(preset)
    first, file = (start._handle, None) if isinstance(start, Machine) else (None, start)
    file = None if file is None else file_name("start", file, A_MACHINE)
    folder = None if out is None else file_name("out", out)
    asked = flags(force=force) + options(seed=seed, sequences=sequences, out=folder, threads=threads, from_=file) + changes(set)
    with expecting({name: A_PRESET, **({} if file is None else {file: A_MACHINE})}):
        run = native().Run.begin(name, text, first, asked)
    tell = teller(progress)
    try:
        stopped = _go(run, tell)
        return Machine(run.machine(), run.sequences()[0] if stopped else None)
    finally:
        tell.end()
        run.end()


def _go(run: Any, tell: Teller) -> bool:
    """Trains to the end and reports progress; returns whether the training was stopped."""
    begun, points, validation = time.monotonic(), 0, None
    before, is_real = run.sequences()[0], run.is_real()
    try:
        while True:
            last = run.go(LOOK)
            if last is None:
                return False
            new: List[Optional[Dict[str, Any]]] = [numbers(point) for point in json.loads(run.history(points))]
            points += len(new)
            sequences, total = run.sequences()
            bits, wrong = last
            for validation in new or [validation]:
                state = Progress(sequences - before, total - before, bits, wrong, time.monotonic() - begun, validation,
                                 lambda: Machine(run.machine()), is_real)
                answer = tell(state)
                # None is no answer; the False of NumPy counts too.
                if isinstance(answer, (bool, np.bool_)) and not answer:
                    return bool(sequences < total)
    except KeyboardInterrupt:
        return True
    except TrainingError as error:
        error.machine = Machine(run.machine()) if points else None
        raise


class Teller:
    """Reports the progress of a training; this base class reports nothing."""

    def __call__(self, progress: Progress) -> Any:
        return None

    def end(self) -> None:
        """Ends the report; the last output stays."""


class _Called(Teller):
    def __init__(self, function: Callable[[Progress], Any]) -> None:
        self._function = function

    def __call__(self, progress: Progress) -> Any:
        return self._function(progress)

    def end(self) -> None:
        getattr(self._function, "end", Teller().end)()


class _Terminal(Teller):
    """One line that is overwritten; without a terminal, one line per validation."""

    def __init__(self, to: TextIO) -> None:
        # A replacement of standard error may lack `isatty`.
        self._to, self._is_terminal = to, hasattr(to, "isatty") and to.isatty()
        self._last: Optional[Dict[str, Any]] = None

    def __call__(self, progress: Progress) -> None:
        is_new = progress.validation is not self._last
        self._last = progress.validation
        if self._is_terminal:
            # A wrapped line would not be overwritten.
            line = str(progress)[:shutil.get_terminal_size().columns - 1]
            self._to.write(f"\r\x1b[2K{line}")
        elif is_new and progress.validation is not None:
            # The validation was some updates earlier.
            at = progress.validation["sequences"]
            self._to.write(f"{at}/{progress.total} sequences: {progress.answered()}\n")
        self._to.flush()

    def end(self) -> None:
        if self._is_terminal:
            self._to.write("\n")
            self._to.flush()


class _Notebook(Teller):
    """A progress bar in the output of a cell."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._shown: Any = None

    def __call__(self, progress: Progress) -> None:
        bar = f'<progress value="{progress.sequences}" max="{progress.total}"></progress> '
        words = str(progress).partition(" ")[2]
        data = {"text/plain": str(progress), "text/html": f"{bar}<code>{words}</code>"}
        if self._shown is None:
            self._shown = self._display(data, raw=True, display_id=True)
        else:
            self._shown.update(data, raw=True)


class _Beside(Teller):
    """Wraps a teller so that its errors, such as a broken pipe, end the report and not the training."""

    def __init__(self, make: Callable[[], Teller]) -> None:
        self._teller = Teller()
        self._try(lambda: setattr(self, "_teller", make()))

    def __call__(self, progress: Progress) -> None:
        self._try(lambda: self._teller(progress))

    def end(self) -> None:
        self._try(lambda: self._teller.end())

    def _try(self, what: Callable[[], Any]) -> None:
        try:
            what()
        except Exception:
            self._teller = Teller()


def teller(progress: Union[bool, None, Callable[[Progress], Any]]) -> Teller:
    """Returns the teller for a `progress` argument."""
    if callable(progress):
        return _Called(progress)
    if not progress:
        return Teller()
    # Outside of a notebook this module is not imported.
    kernel = sys.modules.get("ipykernel.zmqshell")
    if kernel is not None and kernel.ZMQInteractiveShell.initialized():
        from IPython.display import display
        return _Beside(lambda: _Notebook(display))
    # A program without a terminal, such as pythonw, has no standard error.
    return Teller() if sys.stderr is None else _Beside(lambda: _Terminal(sys.stderr))
