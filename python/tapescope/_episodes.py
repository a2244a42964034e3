"""Episode files for your own task: presets with `"task": {"kind": "episodes", "file": …}`; see docs/tasks.md."""

from __future__ import annotations

import atexit
import io
import os
import shutil
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._extension import is_built, native
from .errors import FormatError, TapescopeError, Whole, whole
from .files import Path, file_name, write_atomically

# Inputs [T, X], targets [T, Y], mask [T]; with a mask of None every step is scored.
Episode = Tuple[npt.ArrayLike, npt.ArrayLike, Optional[npt.ArrayLike]]
Generator = Callable[[np.random.Generator], Episode]
Numbers = npt.NDArray[np.float32]


class EpisodesError(TapescopeError, ValueError):
    """Invalid episodes, with the array, the episode, the step and the expected value. Also raised if an episode function
    fails; its exception is then the cause."""


def write_episodes(path: Path, episodes: Union[Generator, Iterable[Episode]], *, count: Optional[Whole] = None,
                   seed: Whole = 0, input_names: Optional[Sequence[str]] = None,
                   target_names: Optional[Sequence[str]] = None) -> int:
    """Writes the episodes of your own task as an npz file, atomically, and returns their number.

    path          name of the file
    episodes      a function `episode(rng)` that returns inputs [T, X], targets [T, Y] and mask [T]; or an iterable of such
                  triples. T may differ between episodes, X and Y may not. Inputs are finite numbers. Targets are 0
                  or 1 where the mask is 1, or finite numbers for a task with "answer": "values". A mask of None scores
                  every step
    count         number of calls of the function, at least 1; only with a function
    seed          episode i is made with `numpy.random.default_rng([seed, i])`, so it depends on seed and i alone
    input_names, target_names
                  names of the X and Y channels in the window; optional

    At least 2 episodes are needed. By default a training holds out the last of every ten. With fewer than ten, the `task`
    has to name the held-out ones: {"kind": "episodes", "file": …, "held_out": {"kind": "last", "count": 1}}.

    Raises EpisodesError for invalid episodes, with the array, the episode and the step. An exception in `episode(rng)` is
    its cause. Raises FileError if the file cannot be written. Without the extension, the values are written unchecked, with
    a warning.

        def episode(rng):
            bits = rng.integers(0, 2, (5, 1))
            return bits, 1 - bits, None
        write_episodes("invert.npz", episode, count=1000)
    """
    path = file_name("path", path)
    if callable(episodes):
        if count is None or whole("count", count) < 1:
            raise EpisodesError(f"is {count}", place="`count`", expected="how many episodes to make, at least 1")
        make, base = episodes, whole("seed", seed)
        episodes = (make(np.random.default_rng([base, number])) for number in range(count))
    elif count is not None:
        raise EpisodesError("is given, but `episodes` is not a function", place="`count`",
                            expected="`count` together with a function only")
    elif not hasattr(episodes, "__iter__"):
        raise EpisodesError(f"is {episodes!r}", place="`episodes`",
                            expected="a function episode(rng), or an iterable of episodes")
    inputs: List[Numbers] = []
    targets: List[Numbers] = []
    masks: List[Numbers] = []
    for number, episode in _numbered(episodes):
        one = _shaped(number, episode, inputs[0].shape[1] if inputs else None, targets[0].shape[1] if targets else None)
        for to, array in zip((inputs, targets, masks), one):
            to.append(array)
    if len(masks) < 2:
        raise EpisodesError(f"there is {['no', 'one'][len(masks)]} episode", expected="at least 2, so that one can be held out")
    arrays: Dict[str, Any] = {"inputs": _small(np.concatenate(inputs)), "targets": _small(np.concatenate(targets)),
              "mask": _small(np.concatenate(masks)), "lengths": np.array([len(mask) for mask in masks], "<i4")}
    for key, names in (("input_names", input_names), ("target_names", target_names)):
        if names is not None:
            arrays[key] = np.array(list(names), dtype=np.str_)
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    if is_built():
        try:
            native().check_episodes(data.getvalue(), path)
        except FormatError as error:
            raise EpisodesError(error.problem, place=error.place, expected=error.expected) from None
    else:
        warnings.warn(f"{path!r}: its values are not checked, because the extension is missing", stacklevel=2)
    write_atomically(path, data.getvalue())
    return len(masks)


def episodes(given: Union[Generator, Iterable[Episode]], *, count: Optional[Whole] = None, seed: Whole = 0,
             path: Optional[Path] = None, input_names: Optional[Sequence[str]] = None,
             target_names: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """Writes an episode file and returns the `task` section of a preset that uses it.

    The arguments are those of `write_episodes`; `given` are its `episodes`. Without a `path` the file is temporary and is
    removed when Python ends. Give a `path` if you want to evaluate the weights later. Where targets are not all 0 or 1, the
    task has `"answer": "values"`: its loss is the mean squared error.

        train({"task": episodes(make, count=2000, path="mine.npz")})
    """
    if path is None:
        folder = tempfile.mkdtemp(prefix="tapescope-")
        atexit.register(_remove, folder, os.getpid())
        path = os.path.join(folder, "episodes.npz")
    write_episodes(path, given, count=count, seed=seed, input_names=input_names, target_names=target_names)
    with np.load(path) as arrays:
        inputs, outputs = arrays["inputs"].shape[1], arrays["targets"].shape[1]
        is_real = not np.isin(arrays["targets"], (0, 1)).all()
    task = {"kind": "episodes", "file": os.path.abspath(path), "inputs": inputs, "outputs": outputs}
    return {**task, "answer": "values"} if is_real else task


def _remove(folder: str, process: int) -> None:
    """Removes a folder, but only in the process that made it, not in its children."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _small(array: Numbers) -> npt.NDArray[np.generic]:
    """Returns bits as bytes and other numbers unchanged."""
    return array.astype(np.uint8) if np.isin(array, (0, 1)).all() else array


def _numbered(episodes: Iterable[Episode]) -> Iterator[Tuple[int, Episode]]:
    """Yields the episodes with their numbers. Exceptions become EpisodesErrors with the number."""
    number = 0
    try:
        for number, episode in enumerate(episodes):
            yield number, episode
            number += 1
    except EpisodesError:
        raise
    except Exception as error:
        raise EpisodesError(f"raised {type(error).__name__}: {error}", place=f"episode {number}") from error


def _shaped(number: int, episode: Episode, x: Optional[int], y: Optional[int]) -> Tuple[Numbers, Numbers, Numbers]:
    """Returns inputs, targets and mask as arrays of matching shapes. The program checks the values."""
    try:
        inputs, targets, mask = episode
    except (TypeError, ValueError) as error:
        raise EpisodesError("is not three arrays", place=f"episode {number}",
                            expected="inputs [T, X], targets [T, Y], mask [T]") from error
    inputs = _array(number, "inputs", inputs, (None, x))
    targets = _array(number, "targets", targets, (len(inputs), y))
    mask = np.ones(len(inputs), np.float32) if mask is None else _array(number, "mask", mask, (len(inputs),))
    return inputs, np.where(mask[:, None] == 0, 0, targets), mask


def _array(number: int, name: str, given: npt.ArrayLike, shape: Tuple[Optional[int], ...]) -> Numbers:
    place = f"`{name}` of episode {number}"
    try:
        as_given = np.asarray(given)
        wide = np.asarray(as_given.real, np.float64)
    except (TypeError, ValueError) as error:
        raise EpisodesError(f"is not an array of numbers: {error}", place=place) from error
    if np.iscomplexobj(as_given):
        raise EpisodesError("has complex numbers", place=place, expected="real numbers")
    for at in np.argwhere(np.isfinite(wide) & (np.abs(wide) > np.finfo(np.float32).max))[:1]:
        raise EpisodesError(f"value {at.tolist()} is {wide[tuple(at)]:g}", place=place,
                            expected="numbers of 32 bits, 3.4e+38 at most")
    array = np.ascontiguousarray(wide, np.float32)
    if array.ndim != len(shape) or 0 in array.shape \
            or any(size is not None and size != found for size, found in zip(shape, array.shape)):
        letters = ["steps", "channels"]
        expected = ", ".join(letter if size is None else str(size) for letter, size in zip(letters, shape))
        raise EpisodesError(f"has the shape {list(array.shape)}", place=place, expected=f"[{expected}]")
    return array
