"""Interventions: values that are changed while an episode runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Sequence, Tuple, Union

from .errors import ArgumentError
from .files import to_json
from .trace import Array, Trace

if TYPE_CHECKING:
    from . import _native

# By STEPS:ARRAY: a number, a list, text such as "row(5)", or a function; or whole texts.
Interventions = Union[Mapping[str, Any], Sequence[str]]
# Runs the episode with interventions as the command line takes them.
Run = Callable[[List[str]], "_native.Episode"]
# Runs a step of an episode again with further interventions, and the next step.
Advance = Callable[["_native.Episode", List[str], int], "_native.Episode"]


class SoFar(Mapping[str, Array]):
    """What a machine has computed up to a step: the arrays of a trace, by name, [steps so far, …].

    Arrays of the last step that are computed after the changed one are as they would be without the change."""

    def __init__(self, trace: Trace, step: int) -> None:
        self._trace, self.step = trace, step

    def __getitem__(self, name: str) -> Array:
        array = self._trace[name]
        # The memory has a state before the first step, `t+1`.
        first = self._trace.dims[name][:1]
        return array[:self.step + 1 + (first == ("t+1",))] if first in (("t",), ("t+1",)) else array

    def __iter__(self) -> Iterator[str]:
        return iter(self._trace)

    def __len__(self) -> int:
        return len(list(self._trace))


def texts(given: Interventions, run: Run, advance: Advance) -> List[str]:
    """Returns interventions as the command line takes them; calls functions step by step."""
    if isinstance(given, str) or not isinstance(given, (Mapping, Sequence)):
        raise ArgumentError(f"is {given!r}", place="`intervene`", expected='a dictionary such as {"12:read0.gate": 1}')
    if not isinstance(given, Mapping):
        return [str(text) for text in given]
    fixed = [f"{place}={_value(place, value)}" for place, value in given.items() if not callable(value)]
    functions = {str(place): value for place, value in given.items() if callable(value)}
    return _called(functions, fixed, run, advance) if functions else fixed


def _value(place: str, value: Any) -> str:
    return value if isinstance(value, str) else to_json(f"the value of {place!r}", value)


def _called(functions: Dict[str, Callable[[int, SoFar], Any]], fixed: List[str], run: Run, advance: Advance) -> List[str]:
    """Calls every function in each of its steps, with what was computed up to there; None changes nothing."""
    episode, found = run(fixed), list(fixed)
    # The last step that was run again: the next one is up to date.
    run_again = None
    steps = Trace.of_native(episode).steps
    parts = {place: _steps(place, steps) for place in functions}
    end = max(last for _, last, _ in parts.values())
    for step in range(min(first for first, *_ in parts.values()), end + 1):
        for place, function in functions.items():
            first, last, array = parts[place]
            if first <= step <= last:
                value = function(step, SoFar(Trace.of_native(episode), step))
                if value is not None:
                    found.append(f"{step}:{array}={_value(place, value)}")
                    episode, run_again = advance(episode, found[-1:], step), step
        if run_again not in (None, step) and step < end:
            episode, run_again = advance(episode, [], step), step
    return found


def _steps(place: str, steps: int) -> Tuple[int, int, str]:
    match = re.fullmatch(r"(\d+)(?:(-)(\d*))?:(.*)", place)
    if not match:
        raise ArgumentError(f"has the key {place!r}", place="`intervene`", expected="STEP:ARRAY, FROM-TO:ARRAY or FROM-:ARRAY")
    first, is_range, last, array = match.groups()
    begin = int(first)
    end = int(last) if last else steps - 1 if is_range else begin
    if not 0 <= begin <= end < steps:
        raise ArgumentError(f"has the steps {begin} to {end}, in {place!r}", place="`intervene`", expected=f"steps from 0 to {steps - 1}")
    return begin, end, array
