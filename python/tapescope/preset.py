"""Presets, and what the extension knows of them; see docs/formats/presets.md."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from ._extension import native
from .errors import ArgumentError, FormatError
from .files import Path, expecting, file_name, system_says, to_json

Preset = Mapping[str, Any]
Shape = Tuple[int, ...]
A_PRESET = "the name of a preset, a JSON file, or a dictionary"
A_MACHINE_FILE = "the path of a machine file, the name of an included one, or the text of the file as `text`"
# The tasks of the program by name: the form of their answers, and which sizes of an episode are among their keys.
TASKS: Dict[str, Dict[str, Any]] = {
    row["task"]: row for row in json.loads(files(__package__).joinpath("tasks.json").read_text(encoding="utf-8"))}


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
        return "preset", to_json("the preset", _with_text(source))
    if not isinstance(source, (str, bytes, os.PathLike)):
        raise ArgumentError(f"the preset is a {type(source).__name__}", expected=A_PRESET)
    return file_name("preset", source, A_PRESET), None


def changes(given: Optional[Mapping[str, Any]], name: str = "set", option: str = "set",
            example: str = '{"model.memory.rows": 64}') -> List[str]:
    """Returns values by their paths, of the argument `name`, as options of the command line."""
    if not isinstance(given or {}, Mapping):
        raise ArgumentError(f"is {given!r}", place=f"`{name}`", expected=f"a dictionary such as {example}")
    return [f"--{option}={path}={to_json(f'{name}: `{path}`', value)}" for path, value in (given or {}).items()]


def as_dictionary(preset: Union[Path, Preset]) -> Preset:
    """Returns a preset as a dictionary. Names and files are read by the extension."""
    return _with_text(preset) if isinstance(preset, Mapping) else read_preset(preset)


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
    """Checks a preset; raises FormatError for an unknown key, a wrong type or a value out of range.

    `preset`: a name, a JSON file, or a dictionary. Needs the extension.
    """
    read_preset(preset)


def channels(task: Mapping[str, Any]) -> Tuple[int, int]:
    """Returns the numbers of inputs and outputs of the `task` of a preset.

    A number may stand for a range whose ends are equal, and sizes of the episodes may be missing. Raises FormatError for an
    invalid task. Needs the extension.
    """
    found: Tuple[int, int] = native().channels(to_json("the task", task))
    return found


def tensor_shapes(preset: Union[Path, Preset]) -> Dict[str, Shape]:
    """Returns the name and the shape of every tensor of the machine of a preset.

    `preset`: a name, a JSON file, or a dictionary. Linear maps are [inputs, outputs], biases [outputs]; docs/formats/weights.md
    lists their columns. Raises FormatError for an unknown key or a value out of range. Needs the extension.

        tensor_shapes({"task": {"kind": "copy", "bits": 8, "length": [1, 20]}})["output.bias"]     # (8,)
    """
    shapes = native().tensor_shapes(to_json("the preset", as_dictionary(preset)))
    return {str(name): tuple(shape)[name.endswith(".bias"):] for name, shape in shapes}
