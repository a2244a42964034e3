"""Presets: their keys, and the tensors of their machines; see docs/formats.md."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from .attention import CHOICES, chosen, learned, of_head
from ._extension import MissingExtensionError, is_built, native
from .errors import ArgumentError, FormatError, WeightsError, meant
from .files import Path, expecting, file_name, system_says, to_json
from .keys import KEYS, Key, tree

Preset = Mapping[str, Any]
Shape = Tuple[int, ...]
A_PRESET = "the name of a preset, a JSON file, or a dictionary"
A_MACHINE_FILE = "the path of a machine file, the name of an included one, or the text of the file as `text`"
_KIND = next(key for key in KEYS if key.path == "task.kind")
# The keys of every kind of task, and the channels (inputs, outputs) besides its bits.
TASKS: Dict[str, Dict[str, Any]] = {kind: tree([key for key in KEYS if key.task == kind], "task.") for kind in _KIND.words}
_BESIDE = {"copy": (1, 0), "repeat_copy": (2, 1), "associative_recall": (2, 0), "ngrams": (0, 0),
           "priority_sort": (2, 0), "reuse": (1, 0)}
# The keys of the values of a source step of tasks that name symbols; a patch has its square, its row and its column.
_VALUES = {"transduce": "symbols", "caption": "patch", "frames": "channels", "aspects": "symbols", "span": "symbols"}
# The keys of all presets; those of a task depend on its kind.
TREE: Dict[str, Any] = {**tree([key for key in KEYS if key.task is None]), "task": {}}


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

# The keys of `model` of every kind of machine.
_SECTIONS = {"ntm": ("memory", "controller", "heads"), "dnc": ("memory", "controller", "heads"), "sam": ("memory", "controller", "heads"),
             "equations": ("file", "text", "sizes", "heads", "switches", "constants")}


def named(source: Union[Path, Preset]) -> Tuple[str, Optional[str]]:
    """Returns the name of a preset, and its JSON if it is a dictionary."""
    if isinstance(source, Mapping):
        return "preset", to_json("the preset", _with_text(source))
    if not isinstance(source, (str, bytes, os.PathLike)):
        raise ArgumentError(f"the preset is a {type(source).__name__}", expected=A_PRESET)
    return file_name("preset", source, A_PRESET), None


def changes(given: Optional[Mapping[str, Any]]) -> List[str]:
    """Returns the argument `set`, values of a preset by their paths, as options of the command line."""
    if not isinstance(given or {}, Mapping):
        raise ArgumentError(f"is {given!r}", place="`set`", expected='a dictionary such as {"model.memory.rows": 64}')
    return [f"--set={path}={to_json(f'set: `{path}`', value)}" for path, value in (given or {}).items()]


def as_dictionary(preset: Union[Path, Preset]) -> Preset:
    """Returns a preset as a dictionary. Names and files are read by the extension."""
    if not isinstance(preset, (str, bytes, os.PathLike)):
        return _with_text(preset) if isinstance(preset, Mapping) else preset
    if not is_built():
        raise MissingExtensionError(f"{preset!r} is a preset name or a file; reading it needs the extension, which is not "
                                    "installed", expected="the preset as a dictionary")
    return read_preset(preset)


def of_file(preset: Preset) -> Preset:
    """Returns the `model` of a preset if its equations stand in a machine file, otherwise an empty dictionary."""
    model = preset.get("model")
    return model if isinstance(model, Mapping) and model.get("kind") == "equations" else {}


def _with_text(preset: Preset) -> Preset:
    """Returns a preset with the text of its machine file, which is found from the current folder."""
    model = of_file(preset)
    if model.get("text") or not isinstance(model.get("file"), (str, os.PathLike)):
        return preset
    path = file_name("file", model["file"], A_MACHINE_FILE)
    folder, name = os.path.split(path)
    if folder:
        with system_says(path, "cannot be read", A_MACHINE_FILE):
            os.stat(path)
    try:
        text = native().machine_text((folder or ".") if os.path.exists(path) else None, name)
        return {**preset, "model": {**model, "file": name, "text": text}}
    except FormatError as error:
        error.expected = A_MACHINE_FILE if error.place else None
        raise


def check_preset(preset: Union[Path, Preset]) -> None:
    """Checks a preset; raises WeightsError for an unknown key, a wrong type or a value out of range.

    `preset`: a name, a JSON file, or a dictionary.
    """
    preset = as_dictionary(preset)
    # The keys that a machine file declares are checked by the extension.
    is_of_file = bool(of_file(preset))
    known = {**TREE, "model": {**TREE["model"], **dict.fromkeys(_SECTIONS["equations"][2:], {})}}
    check_keys("", preset, known if is_of_file else TREE)
    model = preset.get("model", {})
    kind = model.get("kind", "ntm")
    for key in model:
        if key not in ("kind", *_SECTIONS[kind]):
            raise WeightsError(f"is not a key of `{kind}`", place=f"`model.{key}`",
                               expected=", ".join(("kind", *_SECTIONS[kind])))
    heads = _with_defaults({} if is_of_file else model, TREE["model"])["heads"]
    count = heads["read"] + heads["write"]
    listed = {"shift.form": heads["shift"]["form"], **{f"attention.{key}": heads["attention"][key] for key in CHOICES}}
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
    check_keys("task.", task, {"kind": _KIND, **known})
    for name, key in known.items():
        # The program reads the channels from the file of the task.
        is_needed = isinstance(key, Key) and key.is_required or name in ("inputs", "outputs", "source_symbols", "target_symbols")
        if is_needed and name not in task:
            raise WeightsError("is missing", place=f"`task.{name}`", expected=key.check(None))


def check_keys(place: str, given: Any, known: Mapping[str, Any]) -> None:
    if not isinstance(given, Mapping):
        raise WeightsError(f"is {given!r}", place=f"`{place.rstrip('.') or 'preset'}`",
                           expected=f"an object with {', '.join(known)}")
    for key, value in given.items():
        if key not in known:
            raise WeightsError(f"unknown key{meant(key, known)}", place=f"`{place}{key}`")
        inner = known[key]
        if isinstance(inner, dict):
            if inner:
                check_keys(f"{place}{key}.", value, inner)
            continue
        expected = inner.check(value)
        if expected is not None:
            raise WeightsError(f"is {value!r}", place=f"`{place}{key}`", expected=expected)


def has_bits(kind: str) -> bool:
    """Returns whether the vectors of a kind of task consist of bits, not of symbols or numbers."""
    return kind in _BESIDE


def _symbols(task: Mapping[str, Any], key: str) -> int:
    """Returns the number of symbols in a vocabulary."""
    text: str = task[key]
    return len(text) if task.get("tokens") == "characters" else len([word for word in text.split(" ") if word])


def channels(task: Mapping[str, Any]) -> Tuple[int, int]:
    """Returns the numbers of inputs and outputs of the `task` of a preset."""
    kind = task["kind"]
    if kind == "episodes":
        return task["inputs"], task["outputs"]
    if kind == "pairs":
        # An unknown symbol, and a delimiter or the end symbol.
        return _symbols(task, "source_symbols") + 2, _symbols(task, "target_symbols") + 2
    if kind == "text":
        # An unknown symbol, and the start or the end symbol.
        return (_symbols(task, "text_symbols") + 2,) * 2
    if kind in _VALUES:
        whole = {**{key: field.default for key, field in TASKS[kind].items()}, **task}
        values = whole[_VALUES[kind]]
        if kind == "aspects":
            # A mark and a delimiter.
            return values + 2, values
        if kind == "span":
            # The end of a span and two delimiters.
            return values + 3, whole["positions"]
        return (values ** 2 + 2 * whole["grid"] if kind == "caption" else values) + 1, whole["symbols"] + 1
    if kind == "graph":
        whole = {**{key: field.default for key, field in TASKS[kind].items()}, **task}
        return 2 * whole["nodes"] + whole["labels"] + 1, whole["nodes"]
    # N-grams have one bit, and no key for it.
    bits = task.get("bits", TASKS[kind]["bits"].default if "bits" in TASKS[kind] else 1)
    inputs, outputs = _BESIDE[kind]
    return bits + inputs, bits + outputs


def _with_defaults(given: Mapping[str, Any], known: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: _with_defaults(given.get(name, {}), key) if isinstance(key, dict) else given.get(name, key.default)
            for name, key in known.items()}


def tensor_shapes(preset: Union[Path, Preset]) -> Dict[str, Shape]:
    """Returns the name and the shape of every tensor of the machine of a preset.

    `preset`: a name, a JSON file, or a dictionary. Linear maps are [inputs, outputs], biases [outputs]; docs/formats.md
    lists their columns. Raises WeightsError for an unknown key or a value out of range.

        tensor_shapes({"task": {"kind": "copy", "bits": 8, "length": [1, 20]}})["output.bias"]     # (8,)
    """
    preset = as_dictionary(preset)
    check_preset(preset)
    given = preset.get("model", {})
    if of_file(preset):
        listed = native().tensor_shapes(named(preset)[1])
        return {str(name): tuple(shape)[name.endswith(".bias"):] for name, shape in listed}
    model = _with_defaults(given, TREE["model"])
    if model["kind"] in ("dnc", "sam"):
        return _managed_shapes(model, *channels(preset["task"]))
    memory, controller, heads = model["memory"], model["controller"], model["heads"]
    shift, attention = heads["shift"], heads["attention"]
    n, m, c, layers = memory["rows"], memory["columns"], controller["size"], controller["layers"]
    lstm = controller["kind"] == "lstm"
    reads, writes = heads["read"], heads["write"]
    if reads + writes == 0:
        # A controller only: all other keys of memory and heads are ignored.
        alone = {"kind": "equations", "file": "plain.machine", "sizes": {"units": c, "upper": layers - 1}, "switches": {"controller": controller["kind"]}}
        return tensor_shapes({**preset, "model": alone})
    x, y = channels(preset["task"])
    shapes: Dict[str, Shape] = {}

    def linear(name: str, inputs: int, outputs: int) -> None:
        shapes[name + ".weight"], shapes[name + ".bias"] = (inputs, outputs), (outputs,)

    for layer in range(layers):
        below = c if layer else x + reads * m
        linear(f"controller{layer}", below + c * lstm, 4 * c if lstm else c)
    for head in range(reads + writes):
        name = f"read{head}" if head < reads else f"write{head - reads}"
        s = {"softmax": 2 * shift["range"] + 1, "scalar": 1, "none": 0}[of_head(shift["form"], head)]
        one = sum(chosen(attention, key, head) == CHOICES[key][0] for key in ("strength", "gate", "sharpening"))
        written = 0 if head < reads else 1 + (chosen(attention, "erase", head) == "on")
        linear(name, c, m + one + s + written * m)
        for part, shape in learned(attention, head, n, m, m).items():
            shapes[f"{name}.{part}"] = shape
    linear("output", c + reads * m, y)
    if reads:
        shapes["initial.read"] = (reads, m)
    if lstm:
        shapes["initial.hidden"] = shapes["initial.cell"] = (layers, c)
    if reads + writes and memory["initial"] == "learned":
        shapes["initial.memory"] = (n, m)
    if reads + writes and heads["initial_weighting"] == "learned":
        shapes["initial.weighting"] = (reads + writes, n)
    return shapes


def _managed_shapes(model: Mapping[str, Any], x: int, y: int) -> Dict[str, Shape]:
    """Returns the shapes of a Differentiable Neural Computer, or of sparse access memory."""
    controller, heads, m = model["controller"], model["heads"], model["memory"]["columns"]
    c, layers, lstm, is_sparse = controller["size"], controller["layers"], controller["kind"] == "lstm", model["kind"] == "sam"
    reads = heads["count" if is_sparse else "read"]
    allocates = heads["allocation"] == "on"
    of_read = m + 1 + (allocates and heads["free_gates"] == "on") + 3 * (heads["links"] == "on")
    maps = [(f"controller{layer}", (c if layer else x + reads * m) + c * lstm, 4 * c if lstm else c) for layer in range(layers)]
    maps += [(f"read{head}", c, m + 1 if is_sparse else of_read) for head in range(reads)]
    maps += [(f"write{head}", c, m + 2) for head in range(reads)] if is_sparse else [("write0", c, 3 * m + 2 + allocates)]
    maps += [("output", c + reads * m, y)]
    shapes: Dict[str, Shape] = {}
    for name, inputs, outputs in maps:
        shapes[name + ".weight"], shapes[name + ".bias"] = (inputs, outputs), (outputs,)
    if lstm:
        shapes["initial.hidden"] = shapes["initial.cell"] = (layers, c)
    if is_sparse and model["memory"]["initial"] == "learned":
        shapes["initial.memory"] = (model["memory"]["rows"], m)
    return shapes
