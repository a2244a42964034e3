"""Attention of other programs, as traces: the weights alone, with the tokens that they are of."""

from __future__ import annotations

import io
import os
from typing import Any, Dict, List, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._extension import is_built, native
from .arrays import float32
from .errors import FormatError, RecordError
from .files import read
from .recorder import SUM_SLACK, meta_of
from .trace import Trace

MACHINE = "multi_head_layers.machine"
# What the machine file allows, what a task of words allows, and the most bytes of weights.
MOST_LAYERS, MOST_HEADS, MOST_TOKENS, MOST_BYTES = 16, 64, 1022, 1 << 31
Array = npt.NDArray[np.float32]


def attention(tokens: Union[Sequence[str], os.PathLike[str]], attentions: Any, *, average: bool = False, task: str = "text") -> Trace:
    """Returns a trace with the attention of another program, to be viewed, drawn or saved.

        output = model(**inputs, output_attentions=True)                  # of the library transformers
        tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        tapescope.attention(tokens, output.attentions).save("attention.npz")

    tokens      the token of each step; or the pathlib.Path of a text file, whose tokens are separated by blanks and lines
    attentions  the weights of each layer, [heads, steps, steps] or with a batch of 1 before; of one head [steps, steps]. Each
                row is a step and has its weights of all tokens, which sum to 1. Or those of each generated token, a sequence of
                layers for each, as `generate` returns them: the first has the steps of the prompt, each other one has one step.
                Or the pathlib.Path of a .npy file, or of a text file with the matrix of one head, a step in each line
    average     True: the mean over the heads of each layer, in the place of all heads

    The heads are read0, read1, ... from the first layer to the last. A memory row is a token. Raises RecordError with what to
    pass for attentions that are None, for a batch of several, for padding, and for cross attention.
    """
    if isinstance(tokens, os.PathLike):
        tokens = _text(tokens).split()
    if isinstance(attentions, os.PathLike):
        attentions = _matrix(attentions)
    names, steps = _names(tokens), len(tokens)
    layers = [_averaged(layer) if average else layer for layer in _layers(attentions, steps)]
    if len({len(layer) for layer in layers}) > 1:
        raise RecordError(f"have {sorted({len(layer) for layer in layers})} heads", place="`attentions`",
                          expected="the same number in all layers; or average=True")
    count = len(layers[0])
    for what, found, most in (("layers", len(layers), MOST_LAYERS), ("heads in a layer", count, MOST_HEADS)):
        if found > most:
            raise RecordError(f"has {found} {what}", place="`attentions`", expected=f"at most {most}: some of them, as in attentions[:8], or average=True for one head of each layer")
    known = list(dict.fromkeys(names))
    shown = np.zeros((steps, len(known) + 2), np.float32)
    shown[np.arange(steps), [known.index(name) for name in names]] = 1
    arrays: Dict[str, Array] = {"input": shown}
    dims: Dict[str, Tuple[str, ...]] = {"input": ("t", "x")}
    for index, weights in enumerate(head for layer in layers for head in layer):
        for part in ("content", "weighting"):
            arrays[f"read{index}.{part}"], dims[f"read{index}.{part}"] = weights, ("t", "n")
    is_causal = steps > 1 and not any(np.triu(layer, 1).any() for layer in layers)
    model = {"kind": "equations", "file": MACHINE, **({"text": native().machine_text(None, MACHINE)} if is_built() else {}),
             "sizes": {"layers": len(layers), "positions": steps}, "heads": {"read": count},
             "switches": {"mask": "causal" if is_causal else "full"}}
    params = {"file": "tokens", "sha256": "0" * 64, "number": None, "tokens": "words", "text_symbols": " ".join(known)}
    of = {"name": task, "params": params, "length": steps, "seed": None, "episode": None}
    axes = {"t": {"size": steps, "phases": [["input", 0, steps]]}, "n": {"size": steps}}
    return Trace(meta_of(of, model, axes), arrays, dims)


def _text(path: os.PathLike[str]) -> str:
    data = read(os.fspath(path), "a text file", lambda *_: None)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        raise FormatError("is not UTF-8 text", file=os.fspath(path), expected="a text file") from reason


def _matrix(path: os.PathLike[str]) -> Array:
    """Returns the weights in a .npy file, or in the lines of a text file."""
    name = os.fspath(path)
    if name.endswith(".npy"):
        try:
            return float32(np.load(io.BytesIO(read(name, "a .npy file", lambda *_: None)), allow_pickle=False), f"`{name}`")
        except (ValueError, EOFError) as reason:
            raise FormatError(f"is not an array: {reason}", file=name, expected="numbers, as numpy.save writes them") from reason
    lines = [line.replace(",", " ").split() for line in _text(path).splitlines() if line.strip()]
    for number, line in enumerate(lines, 1):
        if len(line) != len(lines[0]):
            raise FormatError(f"has {len(line)} numbers", file=name, place=f"line {number}", expected=f"{len(lines[0])}, as in the first line")
    return float32(lines, f"`{name}`")


def _names(tokens: Sequence[str]) -> List[str]:
    """Returns the tokens as words without blanks."""
    if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens) or not len(tokens):
        raise RecordError("is not a list of texts", place="`tokens`", expected="a token for each step: [\"the\", \"cat\"]")
    names = [token.replace(" ", "\N{OPEN BOX}") or "\N{EMPTY SET}" for token in tokens]
    if len(set(names)) > MOST_TOKENS:
        raise RecordError(f"has {len(set(names))} different tokens", place="`tokens`", expected=f"at most {MOST_TOKENS}")
    return names


def _layers(attentions: Any, steps: int) -> List[Array]:
    """Returns the weights of each layer, [heads, steps, steps]."""
    if attentions is None:
        raise RecordError("is None", place="`attentions`", expected="those of model(…, output_attentions=True)")
    if hasattr(attentions, "shape") and len(attentions.shape) < 4:
        attentions = [attentions]
    attentions = list(attentions)
    if not attentions or any(layer is None for layer in attentions):
        raise RecordError("has a layer that is None" if attentions else "is empty", place="`attentions`",
                          expected="weights of each layer; attention that is computed in one piece has none: load the model with "
                                   "attn_implementation=\"eager\"")
    if isinstance(attentions[0], (list, tuple)) and hasattr(attentions[0][0], "shape"):
        attentions = _of_generated(attentions)
    shapes = [tuple(layer.shape) for layer in attentions if hasattr(layer, "shape")]
    size = sum(4 * int(np.prod(shape)) for shape in shapes)
    if size > MOST_BYTES:
        raise RecordError(f"have {size >> 20} MB", place="`attentions`",
                          expected=f"at most {MOST_BYTES >> 20} MB: fewer layers, or fewer tokens")
    return [_layer(layer, f"`attentions[{index}]`", steps) for index, layer in enumerate(attentions)]


def _of_generated(attentions: List[Any]) -> List[Array]:
    """Returns the layers of a generated text, from those of each token."""
    counts = {len(token) for token in attentions}
    if len(counts) > 1:
        raise RecordError(f"has {sorted(counts)} layers", place="`attentions`", expected="as many for each token")
    layers = []
    for index in range(counts.pop()):
        parts = [_one_episode(float32(token[index], f"`attentions[{step}][{index}]`"), f"`attentions[{step}][{index}]`")
                 for step, token in enumerate(attentions)]
        steps = parts[-1].shape[-1]
        whole = [np.pad(part, ((0, 0), (0, 0), (0, steps - part.shape[-1]))) for part in parts]
        layers.append(np.concatenate(whole, 1))
    return layers


def _one_episode(weights: Array, place: str) -> Array:
    """Returns weights as [heads, steps, tokens]."""
    if weights.ndim == 4:
        if len(weights) != 1:
            raise RecordError(f"is a batch of {len(weights)}", place=place,
                              expected="one sequence: [layer[:1] for layer in attentions], without its padding")
        weights = weights[0]
    if weights.ndim == 2:
        weights = weights[None]
    if weights.ndim != 3:
        raise RecordError(f"has the shape {list(weights.shape)}", place=place, expected="[heads, steps, tokens]")
    return weights


def _layer(layer: Any, place: str, steps: int) -> Array:
    """Returns the checked weights of a layer."""
    weights = _one_episode(float32(layer, place), place)
    if weights.shape[1] != weights.shape[2]:
        raise RecordError(f"has the weights of {weights.shape[2]} tokens in {weights.shape[1]} steps", place=place,
                          expected="self-attention; record attention to another sequence with tapescope.Recorder")
    if weights.shape[1] != steps:
        raise RecordError(f"has {weights.shape[1]} steps; there are {steps} tokens", place=place,
                          expected="a token for each step, those of a prompt and of padding, too")
    if not np.isfinite(weights).all():
        raise RecordError("has weights that are not numbers", place=place, expected="steps without padding")
    wrong = np.abs(weights.sum(2) - 1).max(0)
    if wrong.max() > 5 * SUM_SLACK or weights.min() < 0:
        step = int(wrong.argmax())
        raise RecordError(f"step {step} has weights that sum to {weights[:, step].sum(1).min():.3g}", place=place,
                          expected="weights after the softmax, which sum to 1, without dropout and without padding")
    shares: Array = weights / weights.sum(2, keepdims=True)
    return shares


def _averaged(layer: Array) -> Array:
    mean: Array = layer.mean(0, keepdims=True, dtype=np.float32)
    return mean
