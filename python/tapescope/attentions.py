"""Attention of other programs, as traces: the weights alone, with the tokens that they are of."""

from __future__ import annotations

import os
from typing import Any, List, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._extension import native
from .arrays import float32
from .errors import FormatError, RecordError
from .trace import Trace

Array = npt.NDArray[np.float32]
Words = Union[Sequence[str], "os.PathLike[str]"]
# The most bytes of all weights, as float32.
MOST_BYTES = 1 << 31


def attention(tokens: Optional[Words], attentions: Any, *, source: Optional[Words] = None, links: Union[str, Words, None] = None,
              average: bool = False, line: Optional[int] = None, first: int = 0, links_first: Optional[int] = None) -> Trace:
    """Returns a trace with the attention of another program, to be viewed, drawn or saved.

        output = model(**inputs, output_attentions=True)                  # of the library transformers
        tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        tapescope.attention(tokens, output.attentions).save("attention.npz")
        tapescope.attention(target_tokens, output.cross_attentions, source=source_tokens)

    tokens      the token of each step; or the pathlib.Path of a text file, whose tokens are separated by blanks and lines. None:
                the numbers of the steps
    attentions  the weights of each layer, [heads, steps, tokens] or with a batch of 1 before; of one head [steps, tokens]. Each
                step has its weights of all tokens, which sum to 1. Or those of each generated token, a sequence of
                layers for each, as `generate` returns them: the first has the steps of the prompt, each other one has one step.
                Or the pathlib.Path of a .npy file, of a text file with the matrix of one head, a step in each line, or of a file
                of links in the Pharaoh format, a pair of sentences in each line
    source      the tokens of another sequence, to which the steps attend: cross attention. As `tokens`
    links       the known links of source and target, for the alignment error rate: "0-0 1p2", where p is a possible link; or a
                pathlib.Path
    average     True: the mean over the heads of each layer, in the place of all heads
    line        the line of each text file, from 1, where each of its lines is a sentence. Default: 1 with links, otherwise a
                file is one text
    first       the number of the first token in links: 0 or 1
    links_first that of the known links. Default: the same

    The heads are read0, read1, ... from the first layer to the last; the arrays mean and maximum are over all of them. A memory
    row is a token. All heads together may be up to 2048, and their weights 2048 MB. Needs the extension. Raises RecordError with
    what to pass for attentions that are None, a batch of several, padding, and other numbers of tokens than the weights have;
    FormatError for a file.
    """
    if isinstance(tokens, str) or isinstance(source, str):
        raise RecordError("is a text", place="`tokens`" if isinstance(tokens, str) else "`source`",
                          expected="a token for each step: [\"the\", \"cat\"]")
    links = links.split() if isinstance(links, str) else links
    beside = [None if words is None else _words(words, what) for words, what in ((tokens, "tokens"), (source, "source"), (links, "links"))]
    if isinstance(attentions, os.PathLike):
        if average:
            raise RecordError("belongs to arrays", place="`average`", expected="attentions as an array: numpy.load(path)")
        return Trace.of_native(native().Episode.of_attention(os.fspath(attentions), beside, line, first, links_first))
    layers = _layers(attentions)
    layers = [layer.mean(0, keepdims=True, dtype=np.float32) for layer in layers] if average else layers
    shapes = {layer.shape for layer in layers}
    if len(shapes) > 1:
        raise RecordError(f"have layers of the shapes {sorted(map(list, shapes))}", place="`attentions`",
                          expected="the same number of heads, steps and tokens in all; or average=True for another number of heads")
    try:
        return Trace.of_native(native().Episode.of_attention(np.stack(layers), beside, line, first, links_first))
    except FormatError as error:
        if error.file in ("attentions", "tokens", "source", "links"):
            place = ": ".join(filter(None, (f"`{error.file}`", error.place and error.place.strip("`"))))
            raise RecordError(error.problem, place=place, expected=error.expected) from None
        raise


def _words(words: Any, what: str) -> Union[str, List[str]]:
    if isinstance(words, os.PathLike):
        return str(os.fspath(words))
    if not all(isinstance(word, str) for word in words):
        expected = "\"0-0 1p2\", or a list: [\"0-0\", \"1p2\"]" if what == "links" else "a token for each step: [\"the\", \"cat\"]"
        raise RecordError("is not a list of texts", place=f"`{what}`", expected=expected)
    return list(words)


def _layers(attentions: Any) -> List[Array]:
    """Returns the weights of each layer, [heads, steps, tokens]."""
    if attentions is None:
        raise RecordError("is None", place="`attentions`", expected="those of model(…, output_attentions=True)")
    if isinstance(attentions, (str, bytes)) or hasattr(attentions, "keys") or not hasattr(attentions, "__iter__"):
        raise RecordError(f"is a {type(attentions).__name__}", place="`attentions`",
                          expected="output.attentions, a sequence with an array for each layer; an array; or the pathlib.Path of a file")
    if hasattr(attentions, "shape") and len(attentions.shape) < 4:
        attentions = [attentions]
    attentions = list(attentions)
    if not attentions or any(layer is None for layer in attentions):
        raise RecordError("has a layer that is None" if attentions else "is empty", place="`attentions`",
                          expected="weights of each layer; attention that is computed in one piece has none: load the model with "
                                   "attn_implementation=\"eager\"")
    is_generated = isinstance(attentions[0], (list, tuple)) and bool(attentions[0]) and hasattr(attentions[0][0], "shape")
    each = [layer for token in attentions for layer in token] if is_generated else attentions
    size = sum(4 * int(np.prod(layer.shape)) for layer in each if hasattr(layer, "shape"))
    if size > MOST_BYTES:
        raise RecordError(f"have {size >> 20} MB", place="`attentions`",
                          expected=f"at most {MOST_BYTES >> 20} MB: fewer layers, or fewer tokens")
    return _of_generated(attentions) if is_generated else [_layer(layer, f"`attentions[{index}]`") for index, layer in enumerate(attentions)]


def _of_generated(attentions: List[Any]) -> List[Array]:
    """Returns the layers of a generated text, from those of each token."""
    counts = {len(token) for token in attentions}
    if len(counts) > 1:
        raise RecordError(f"has {sorted(counts)} layers", place="`attentions`", expected="as many for each token")
    layers = []
    for index in range(counts.pop()):
        one = "[[layer[:1] for layer in token] for token in attentions]"
        parts = [_layer(token[index], f"`attentions[{step}][{index}]`", one) for step, token in enumerate(attentions)]
        tokens = max(part.shape[-1] for part in parts)
        whole = [np.pad(part, ((0, 0), (0, 0), (0, tokens - part.shape[-1]))) for part in parts]
        if len({len(part) for part in whole}) > 1:
            raise RecordError(f"has {sorted({len(part) for part in whole})} heads", place="`attentions`", expected="as many for each token")
        layers.append(np.concatenate(whole, 1))
    return layers


def _layer(layer: Any, place: str, one: str = "[layer[:1] for layer in attentions]") -> Array:
    """Returns the weights of a layer as [heads, steps, tokens]."""
    weights = float32(layer, place)
    if weights.ndim == 4:
        if len(weights) != 1:
            raise RecordError(f"is a batch of {len(weights)}", place=place,
                              expected=f"one sequence, without its padding: {one}")
        weights = weights[0]
    if weights.ndim == 2:
        weights = weights[None]
    if weights.ndim != 3:
        raise RecordError(f"has the shape {list(weights.shape)}", place=place, expected="[heads, steps, tokens]")
    return weights
