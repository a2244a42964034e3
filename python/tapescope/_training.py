"""Training, at the speed of the program."""

from __future__ import annotations

import json
import shutil
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, TextIO, Union

import numpy as np

from ._extension import flags, native, options
from .errors import ArgumentError, TrainingError, Whole
from .files import Path, expecting, file_name, to_json
from ._machine import A_MACHINE, Machine, numbers
from .preset import A_PRESET, Preset, named

# Seconds between two looks at a run: how soon Ctrl-C is heard.
LOOK = 0.1


class Progress(NamedTuple):
    """How far a training is."""

    sequences: int
    """Sequences seen."""
    total: int
    """Sequences of the whole run."""
    bits: float
    """Mean loss of the last batch before its update, bits per sequence."""
    wrong: float
    """Mean wrong bits of the last batch before its update, per sequence."""
    seconds: float
    """Seconds since it began."""
    validation: Optional[Dict[str, Any]]
    """The last validation, as in `Machine.history`, or one of several since the last call, each of which has a call of its
    own; None before the first."""

    def __str__(self) -> str:
        share = self.sequences / max(self.total, 1)
        rate = self.sequences / max(self.seconds, 1e-9)
        left = f"{(self.total - self.sequences) / rate:.0f} s left" if rate else ""
        bar = ("#" * int(24 * share)).ljust(24, "-")
        return f"{bar} {self.sequences:,}/{self.total:,} sequences  {rate:,.0f}/s  {left}  {self.answered()}"

    def answered(self) -> str:
        """How well it answers, in words: in the last validation, or before the first in the last batch."""
        if self.validation is None:
            return f"{self.bits:.1f} bits, {self.wrong:.1f} wrong"
        found = self.validation["validation"]
        return f"{found['bits_per_sequence']:.3f} bits, {found['wrong_bits']:.2f} wrong per sequence"


def train(preset: Union[Path, Preset], *, seed: Optional[Whole] = None, sequences: Optional[Whole] = None,
          set: Optional[Mapping[str, Any]] = None, start: Union[Machine, Path, None] = None, out: Optional[Path] = None,
          force: bool = False, threads: Optional[Whole] = None,
          progress: Union[bool, None, Callable[[Progress], Any]] = True) -> Machine:
    """Trains a machine, to the same bits as `tapescope train`, and returns the best one by validation.

    preset     the name of one, a JSON file, or a dictionary: see `read_preset`
    seed       of the initial weights and of every episode; None: that of the preset
    sequences  of the whole run; None: those of the preset
    set        other values, by their paths: {"model.memory.rows": 64}
    start      a machine to begin with instead of random weights, or what it is called
    out        a folder for the results, as `tapescope train` leaves it; `force` replaces those of an earlier run
    threads    None: one for each processor; the result does not depend on it
    progress   True: a bar in a terminal or a notebook, elsewhere a line for every validation, for as long as that can be
               written; or a function that is called with a `Progress` about ten times a second and for every
               validation, and ends the training where it returns False

    Ctrl-C ends it after the update it is at, and the best machine so far is returned: its `stopped_after` says when, and
    with `out` it can be gone on with (`tapescope train --resume`). Raises ArgumentError and FormatError, with what is
    allowed, before it begins, and TrainingError where its numbers are no longer finite: its `machine` is the best before.
    """
    name, text = named(preset)
    if not isinstance(set or {}, Mapping):
        raise ArgumentError(f"is {set!r}", place="`set`", expected='a dictionary such as {"model.memory.rows": 64}')
    first, file = (start._handle, None) if isinstance(start, Machine) else (None, start)
    file = None if file is None else file_name("start", file, A_MACHINE)
    folder = None if out is None else file_name("out", out)
    asked = flags(force=force) + options(seed=seed, sequences=sequences, out=folder, threads=threads, from_=file)
    asked += [f"--set={path}={to_json(f'set: `{path}`', value)}" for path, value in (set or {}).items()]
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
    """Trains to the end, and tells; returns whether it was stopped."""
    begun, points, validation = time.monotonic(), 0, None
    before = run.sequences()[0]
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
                state = Progress(sequences - before, total - before, bits, wrong, time.monotonic() - begun, validation)
                answer = tell(state)
                # None says nothing; one of NumPy is a False, too.
                if isinstance(answer, (bool, np.bool_)) and not answer:
                    return bool(sequences < total)
    except KeyboardInterrupt:
        return True
    except TrainingError as error:
        error.machine = Machine(run.machine()) if points else None
        raise


class Teller:
    """Tells how far a training is; this one tells nobody."""

    def __call__(self, progress: Progress) -> Any:
        return None

    def end(self) -> None:
        """What was told last stays."""


class _Called(Teller):
    def __init__(self, function: Callable[[Progress], Any]) -> None:
        self._function = function

    def __call__(self, progress: Progress) -> Any:
        return self._function(progress)


class _Terminal(Teller):
    """A line that is written over; where nobody looks, one for every validation."""

    def __init__(self, to: TextIO) -> None:
        # What stands for standard error need not be able to say.
        self._to, self._is_terminal = to, hasattr(to, "isatty") and to.isatty()
        self._last: Optional[Dict[str, Any]] = None

    def __call__(self, progress: Progress) -> None:
        is_new = progress.validation is not self._last
        self._last = progress.validation
        if self._is_terminal:
            # A line that is broken would not be written over.
            line = str(progress)[:shutil.get_terminal_size().columns - 1]
            self._to.write(f"\r\x1b[2K{line}")
        elif is_new and progress.validation is not None:
            # That of some updates before.
            at = progress.validation["sequences"]
            self._to.write(f"{at}/{progress.total} sequences: {progress.answered()}\n")
        self._to.flush()

    def end(self) -> None:
        if self._is_terminal:
            self._to.write("\n")
            self._to.flush()


class _Notebook(Teller):
    """A bar in the output of a cell."""

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
    """Another one that a training does not fall with: once it cannot tell, as through a pipe that is broken, it is silent."""

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
    """Who is told how far a training is."""
    if callable(progress):
        return _Called(progress)
    if not progress:
        return Teller()
    # Where no notebook is, nobody imported this.
    kernel = sys.modules.get("ipykernel.zmqshell")
    if kernel is not None and kernel.ZMQInteractiveShell.initialized():
        from IPython.display import display
        return _Beside(lambda: _Notebook(display))
    # A program without a terminal, such as pythonw, has no standard error.
    return Teller() if sys.stderr is None else _Beside(lambda: _Terminal(sys.stderr))
