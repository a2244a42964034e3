"""Presets: their keys, and the tensors of their machines; see docs/formats.md."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union

from .attention import CHOICES, LAYERS, SHIFT_FORMS, chosen, learned, of_head
from ._extension import MissingExtensionError, is_built, native
from .errors import ArgumentError, WeightsError, is_whole, meant
from .files import Path, expecting, file_name, to_json

Preset = Mapping[str, Any]
Shape = Tuple[int, ...]
A_PRESET = "the name of a preset, a JSON file, or a dictionary"
# Returns None for a valid value, otherwise the expected value.
Check = Callable[[Any], Optional[str]]


def _whole(low: int, high: int) -> Check:
    return lambda value: None if is_whole(value) and low <= value <= high else f"{low} to {high}, a whole number"


def _number(low: float, high: float) -> Check:
    def check(value: Any) -> Optional[str]:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        return None if is_number and low <= value <= high else f"a number from {low:g} to {high:g}"
    return check


def _one_of(*words: str) -> Check:
    return lambda value: None if value in words else " or ".join(f"`{word}`" for word in words)


def _each(*words: str) -> Check:
    """Checks for one of the words for all heads, or a list with one for each."""
    def check(value: Any) -> Optional[str]:
        listed = value if isinstance(value, (list, tuple)) and value else [value]
        fits = all(isinstance(word, str) and word in words for word in listed)
        return None if fits else f"{', '.join(f'`{word}`' for word in words)}, or a list with one of them for each head"
    return check


def _ends(low: int, high: int) -> Check:
    def check(value: Any) -> Optional[str]:
        fits = (isinstance(value, (list, tuple)) and len(value) == 2 and all(map(is_whole, value))
                and low <= value[0] <= value[1] <= high)
        return None if fits else f"[lowest, highest] in {low} to {high}"
    return check


def _text(value: Any) -> Optional[str]:
    return None if isinstance(value, str) else "text"


def _left_to_the_program(value: Any) -> Optional[str]:
    """Accepts any value: keys that do not affect tensors are checked by the program."""
    return None


def _memory_initial(value: Any) -> Optional[str]:
    if value == "learned" or isinstance(value, Mapping) and list(value) == ["constant"] \
            and _number(-1e6, 1e6)(value["constant"]) is None:
        return None
    return '"learned" or {"constant": number}'


# For every kind of task: its keys, the required ones, and the channels (inputs, outputs) besides its bits.
TASKS: Dict[str, Dict[str, Check]] = {
    "copy": {"bits": _whole(1, 1024), "length": _ends(1, 100_000)},
    "repeat_copy": {"bits": _whole(1, 1024), "length": _ends(1, 100_000), "repeats": _ends(1, 10_000)},
    "associative_recall": {"bits": _whole(1, 1024), "item_length": _whole(1, 1000), "items": _ends(2, 10_000)},
    "ngrams": {"context": _whole(1, 16), "length": _ends(1, 100_000)},
    "priority_sort": {"bits": _whole(1, 1024), "items": _ends(1, 10_000), "sorted": _whole(1, 10_000)},
    "episodes": {"file": _text, "inputs": _whole(1, 1024), "outputs": _whole(1, 1024), "length": _ends(1, 100_000),
                 "held_out": _left_to_the_program, "sha256": _text},
}
_REQUIRED = {"copy": ("bits", "length"), "repeat_copy": ("bits", "length", "repeats"),
             "episodes": ("file", "inputs", "outputs")}
_BITS = {"associative_recall": 6, "ngrams": 1, "priority_sort": 8}
_BESIDE = {"copy": (1, 0), "repeat_copy": (2, 1), "associative_recall": (2, 0), "ngrams": (0, 0),
           "priority_sort": (2, 0)}

_OPEN = _left_to_the_program
KEYS: Dict[str, Any] = {
    "name": _text, "title": _text, "description": _text,
    "task": {},
    "model": {
        "kind": _one_of("ntm", "plain"),
        "memory": {"rows": _whole(1, 1_048_576), "columns": _whole(1, 4096), "initial": _memory_initial},
        "controller": {"kind": _one_of("lstm", "feedforward"), "size": _whole(1, 16_384), "layers": _whole(1, 16)},
        "heads": {
            "read": _whole(0, 64), "write": _whole(0, 64),
            "shift": {"form": _each(*SHIFT_FORMS), "range": _whole(0, 64)},
            "key_activation": _one_of("tanh", "identity"), "add_activation": _one_of("tanh", "identity"),
            "similarity_epsilon": _number(0, math.inf),
            "initial_weighting": _one_of("one-hot", "learned"), "order": _one_of("read-first", "write-first"),
            "attention": {
                **{key: _each(*words) for key, words in CHOICES.items()},
                **{key: _whole(1, 1024) for key, _ in LAYERS.values()},
                "window": _whole(1, 1_048_576), "prior": _one_of("text", "code"),
                **dict.fromkeys(("weibull_shape", "gamma_rate", "lognormal_sigma", "prior_sigma"), _number(1e-3, 1e5)),
            },
        },
    },
    "training": {
        "optimizer": dict.fromkeys(("kind", "learning_rate", "decay", "momentum", "epsilon", "beta1", "beta2"), _OPEN),
        "final_lr_factor": _OPEN, "lr_drop_below": _OPEN, "lr_drop_factor": _OPEN,
        "clip": {"kind": _one_of("elementwise", "global_norm", "none"), "limit": _OPEN},
        "redundancy": {"kind": _one_of("none", "read", "write", "both"), "weight": _OPEN},
        "hard": dict.fromkeys(("reward", "entropy", "expected"), _OPEN),
        "bayesian": dict.fromkeys(("weight", "warmup"), _OPEN),
        "batch": _OPEN, "sequences": _OPEN, "seed": _OPEN, "validation_every": _OPEN, "validation_episodes": _OPEN,
    },
    "evaluation": dict.fromkeys(("lengths", "items", "repeats", "episodes"), _OPEN),
}


def read_preset(source: Union[Path, Preset]) -> Dict[str, Any]:
    """Reads and checks a preset and returns it as a dictionary with every default.

    `source`: the name of a preset, a JSON file, or a dictionary. Raises ArgumentError for an unknown name, and FormatError
    for an invalid preset, with the key and the allowed values. Needs the extension.

        read_preset("copy")["training"]["batch"]
    """
    name, text = named(source)
    with expecting({name: A_PRESET}):
        read: Dict[str, Any] = json.loads(native().preset(name, text))
    return read


def named(source: Union[Path, Preset]) -> Tuple[str, Optional[str]]:
    """Returns the name of a preset, and its JSON if it is a dictionary."""
    if isinstance(source, Mapping):
        return "preset", to_json("the preset", source)
    if not isinstance(source, (str, bytes, os.PathLike)):
        raise ArgumentError(f"the preset is a {type(source).__name__}", expected=A_PRESET)
    return file_name("preset", source, A_PRESET), None


def as_dictionary(preset: Union[Path, Preset]) -> Preset:
    """Returns a preset as a dictionary. Names and files are read by the extension."""
    if not isinstance(preset, (str, bytes, os.PathLike)):
        return preset
    if not is_built():
        raise MissingExtensionError(f"{preset!r} is a preset name or a file; reading it needs the extension, which is not "
                                    "installed", expected="the preset as a dictionary")
    return read_preset(preset)


def check_preset(preset: Union[Path, Preset]) -> None:
    """Checks a preset; raises WeightsError for an unknown key, a wrong type or a value out of range.

    `preset`: a name, a JSON file, or a dictionary. Values under `training` and `evaluation` do not affect the shapes of
    tensors, so only their keys are checked.
    """
    preset = as_dictionary(preset)
    _check_keys("", preset, KEYS)
    model = preset.get("model", {})
    for key in ("memory", "heads") if model.get("kind") == "plain" else ():
        if key in model:
            raise WeightsError("is not a key of `plain`", place=f"`model.{key}`", expected="kind, controller")
    heads = model.get("heads", {})
    count = heads.get("read", 1) + heads.get("write", 1)
    listed = {"shift.form": heads.get("shift", {}).get("form")}
    listed.update({f"attention.{key}": heads.get("attention", {}).get(key) for key in CHOICES})
    for key, words in listed.items():
        if isinstance(words, (list, tuple)) and len(words) != count and count > 0:
            raise WeightsError(f"is a list of {len(words)}", place=f"`model.heads.{key}`",
                               expected=f"one word for all heads, or a list of {count}, read heads first")
    check_task(preset.get("task"))


def check_task(task: Any) -> None:
    """Checks the `task` of a preset; raises WeightsError if it is incomplete or invalid."""
    kind = task.get("kind") if isinstance(task, Mapping) else None
    if kind is None:
        raise WeightsError("has no kind" if isinstance(task, Mapping) else "is missing", place="`task`",
                           expected='an object such as {"kind": "copy", "bits": 8, "length": [1, 20]}')
    if not isinstance(kind, str) or kind not in TASKS:
        raise WeightsError(f"is {kind!r}{meant(kind, TASKS)}", place="`task.kind`")
    known = TASKS[kind]
    _check_keys("task.", task, {"kind": _text, **known})
    for key in _REQUIRED.get(kind, ()):
        if key not in task:
            raise WeightsError("is missing", place=f"`task.{key}`", expected=known[key](None))


def _check_keys(place: str, given: Any, known: Mapping[str, Any]) -> None:
    if not isinstance(given, Mapping):
        raise WeightsError(f"is {given!r}", place=f"`{place.rstrip('.') or 'preset'}`",
                           expected=f"an object with {', '.join(known)}")
    for key, value in given.items():
        if key not in known:
            raise WeightsError(f"unknown key{meant(key, known)}", place=f"`{place}{key}`")
        check = known[key]
        if isinstance(check, dict):
            if check:
                _check_keys(f"{place}{key}.", value, check)
            continue
        expected = check(value)
        if expected is not None:
            raise WeightsError(f"is {value!r}", place=f"`{place}{key}`", expected=expected)


def channels(task: Mapping[str, Any]) -> Tuple[int, int]:
    """Returns the numbers of inputs and outputs of the `task` of a preset."""
    if task["kind"] == "episodes":
        return task["inputs"], task["outputs"]
    bits = task.get("bits", _BITS.get(task["kind"], 1))
    inputs, outputs = _BESIDE[task["kind"]]
    return bits + inputs, bits + outputs


def tensor_shapes(preset: Union[Path, Preset]) -> Dict[str, Shape]:
    """Returns the name and the shape of every tensor of the machine of a preset.

    `preset`: a name, a JSON file, or a dictionary. Linear maps are [inputs, outputs], biases [outputs]; docs/formats.md
    lists their columns. Raises WeightsError for an unknown key or a value out of range.

        tensor_shapes({"task": {"kind": "copy", "bits": 8, "length": [1, 20]}})["output.bias"]     # (8,)
    """
    preset = as_dictionary(preset)
    check_preset(preset)
    model = preset.get("model", {})
    memory, controller, heads = (model.get(key, {}) for key in ("memory", "controller", "heads"))
    n, m = memory.get("rows", 128), memory.get("columns", 20)
    lstm = controller.get("kind", "lstm") == "lstm"
    c, layers = controller.get("size", 100), controller.get("layers", 1)
    reads, writes = heads.get("read", 1), heads.get("write", 1)
    if model.get("kind", "ntm") == "plain":
        reads = writes = 0
    if reads + writes == 0:  # controller only: all other keys of memory and heads are ignored
        memory, heads = {}, {}
    shift, attention = heads.get("shift", {}), heads.get("attention", {})
    x, y = channels(preset["task"])
    shapes: Dict[str, Shape] = {}

    def linear(name: str, inputs: int, outputs: int) -> None:
        shapes[name + ".weight"], shapes[name + ".bias"] = (inputs, outputs), (outputs,)

    for layer in range(layers):
        below = c if layer else x + reads * m
        linear(f"controller{layer}", below + c * lstm, 4 * c if lstm else c)
    for head in range(reads + writes):
        name = f"read{head}" if head < reads else f"write{head - reads}"
        form = of_head(shift.get("form"), head, "softmax")
        s = {"softmax": 2 * shift.get("range", 1) + 1, "scalar": 1, "none": 0}[form]
        one = sum(chosen(attention, key, head) == CHOICES[key][0] for key in ("strength", "gate", "sharpening"))
        written = 0 if head < reads else 1 + (chosen(attention, "erase", head) == "on")
        linear(name, c, m + one + s + written * m)
        for part, shape in learned(attention, head, n, m).items():
            shapes[f"{name}.{part}"] = shape
    linear("output", c + reads * m, y)
    if reads:
        shapes["initial.read"] = (reads, m)
    if lstm:
        shapes["initial.hidden"] = shapes["initial.cell"] = (layers, c)
    if memory.get("initial") == "learned":
        shapes["initial.memory"] = (n, m)
    if heads.get("initial_weighting") == "learned":
        shapes["initial.weighting"] = (reads + writes, n)
    return shapes
