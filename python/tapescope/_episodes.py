"""Episodes of a task of one's own, for a preset with `"task": {"kind": "episodes", "file": …}`; see docs/tasks.md."""

from __future__ import annotations

import atexit
import io
import os
import shutil
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from .errors import TapescopeError
from .files import Path, write_atomically

# Inputs [T, X], targets [T, Y], mask [T]; a mask of None: every step is scored.
Episode = Tuple[npt.ArrayLike, npt.ArrayLike, Optional[npt.ArrayLike]]
Generator = Callable[[np.random.Generator], Episode]


class EpisodesError(TapescopeError, ValueError):
    """Episodes that no machine can learn from: the array, the episode and the step, and what was expected."""


def write_episodes(path: Path, episodes: Union[Generator, Iterable[Episode]], *, count: Optional[int] = None,
                   seed: int = 0, input_names: Optional[Sequence[str]] = None,
                   target_names: Optional[Sequence[str]] = None) -> int:
    """Writes the episodes of a task of one's own as an npz; returns how many. Whole or not at all.

    `episodes`: a function `episode(rng)` that returns inputs [T, X], targets [T, Y] and mask [T], called `count`
    times, for episode i with `numpy.random.default_rng([seed, i])`: so an episode depends on seed and number alone. Or
    the episodes themselves: anything that gives one such triple after the other. T may differ; X and Y may not.
    Inputs are finite numbers; targets are 0 or 1 where the mask is 1; a mask of None scores every step.
    `input_names`, `target_names`: what the channels are called in the window, X and Y of them.

    Raises EpisodesError, with the array, the episode and the step, for what no machine can learn from.
    """
    if callable(episodes):
        if count is None or count < 1:
            raise EpisodesError(f"is {count}", place="`count`", expected="how many episodes to make, at least 1")
        make = episodes
        episodes = (make(np.random.default_rng([seed, number])) for number in range(count))
    elif count is not None:
        raise EpisodesError("is given with episodes that are there", place="`count`",
                            expected="it with a function only")
    inputs: List[npt.NDArray[np.float32]] = []
    targets: List[npt.NDArray[np.float32]] = []
    masks: List[npt.NDArray[np.float32]] = []
    for number, episode in enumerate(episodes):
        one = _checked(number, episode, inputs[0].shape[1] if inputs else None, targets[0].shape[1] if targets else None)
        for to, array in zip((inputs, targets, masks), one):
            to.append(array)
    if not inputs:
        raise EpisodesError("there is no episode", expected="at least 2, so that one can be held out")
    arrays = {"inputs": _small(np.concatenate(inputs)), "targets": np.concatenate(targets).astype(np.uint8),
              "mask": np.concatenate(masks).astype(np.uint8), "lengths": np.array([len(mask) for mask in masks], "<i4")}
    for key, names, channels in (("input_names", input_names, inputs[0].shape[1]),
                                 ("target_names", target_names, targets[0].shape[1])):
        if names is not None:
            if len(names) != channels:
                raise EpisodesError(f"has {len(names)} names", place=f"`{key}`", expected=f"{channels}, one per channel")
            arrays[key] = np.array(list(names), dtype=np.str_)
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)  # type: ignore[arg-type]
    write_atomically(os.fspath(path), data.getvalue())
    return len(masks)


def episodes(given: Union[Generator, Iterable[Episode]], *, count: Optional[int] = None, seed: int = 0,
             path: Optional[Path] = None, input_names: Optional[Sequence[str]] = None,
             target_names: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """The `task` of a preset of one's own episodes: `train({"task": episodes(make, count=2000)})`.

    `given`, `count`, `seed` and the names are those of `write_episodes`, which writes them to `path`. Without one they
    are in a file that is removed when Python ends: weights that are to be measured later need one that stays.
    """
    if path is None:
        folder = tempfile.mkdtemp(prefix="tapescope-")
        atexit.register(_remove, folder, os.getpid())
        path = os.path.join(folder, "episodes.npz")
    write_episodes(path, given, count=count, seed=seed, input_names=input_names, target_names=target_names)
    with np.load(path) as arrays:
        inputs, outputs = arrays["inputs"].shape[1], arrays["targets"].shape[1]
    return {"kind": "episodes", "file": os.path.abspath(path), "inputs": inputs, "outputs": outputs}


def _remove(folder: str, process: int) -> None:
    """Removes a folder where this is the process that made it, not a child of that."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _small(array: npt.NDArray[np.float32]) -> npt.NDArray[np.generic]:
    """Bits as bytes; other numbers as they are."""
    return array.astype(np.uint8) if np.isin(array, (0, 1)).all() else array


def _checked(number: int, episode: Episode, x: Optional[int],
             y: Optional[int]) -> Tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    try:
        inputs, targets, mask = episode
    except (TypeError, ValueError) as error:
        raise EpisodesError("is not three arrays", place=f"episode {number}",
                            expected="inputs [T, X], targets [T, Y], mask [T]") from error
    inputs = _array(number, "inputs", inputs, (None, x))
    targets = _array(number, "targets", targets, (len(inputs), y))
    mask = np.ones(len(inputs), np.float32) if mask is None else _array(number, "mask", mask, (len(inputs),))
    is_bit = np.isin(mask, (0, 1))
    if not is_bit.all():
        _refuse(number, "mask", mask, ~is_bit, "1 where the answer is scored, else 0")
    if not mask.any():
        raise EpisodesError("is 0 in every step", place=f"`mask` of episode {number}", expected="a step that is scored")
    if not np.isfinite(inputs).all():
        _refuse(number, "inputs", inputs, ~np.isfinite(inputs), "a finite number")
    wrong = (mask[:, None] > 0) & ~np.isin(targets, (0, 1))
    if wrong.any():
        _refuse(number, "targets", targets, wrong, "0 or 1, because the step is scored")
    return inputs, np.where(mask[:, None] > 0, targets, 0), mask


def _array(number: int, name: str, given: npt.ArrayLike, shape: Tuple[Optional[int], ...]) -> npt.NDArray[np.float32]:
    place = f"`{name}` of episode {number}"
    try:
        array = np.ascontiguousarray(given, np.float32)
    except (TypeError, ValueError) as error:
        raise EpisodesError(f"is no array of numbers: {error}", place=place) from error
    if array.ndim != len(shape) or 0 in array.shape \
            or any(size is not None and size != found for size, found in zip(shape, array.shape)):
        letters = ["steps", "channels"]
        expected = ", ".join(letter if size is None else str(size) for letter, size in zip(letters, shape))
        raise EpisodesError(f"has the shape {list(array.shape)}", place=place, expected=f"[{expected}]")
    return array


def _refuse(number: int, name: str, array: npt.NDArray[np.float32], wrong: npt.NDArray[np.bool_], expected: str) -> None:
    step, *channel = (int(at) for at in np.argwhere(wrong)[0])
    of = f", channel {channel[0]}" if channel else ""
    value = float(array[(step, *channel)])
    raise EpisodesError(f"is {value:g}", place=f"`{name}` of episode {number}, step {step}{of}", expected=expected)
