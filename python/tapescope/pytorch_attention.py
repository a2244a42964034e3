"""Episodes of PyTorch models with `nn.MultiheadAttention`, as traces. Needs torch.

    from tapescope import pytorch_attention

    trace = pytorch_attention.record(model, x)      # runs model(x); x holds one sequence
    trace.save("attention.npz")                     # tapescope view attention.npz

Every `nn.MultiheadAttention` in the model that attends to its own sequence is a layer, in the order of the calls. A memory row is
a position of the sequence. The weightings are those that PyTorch computed, of every head; queries, keys and values are the
projections of the module, with their biases. The equations of the trace are those of the included `multi_head_layers.machine`;
its tensors, and what the model does between its layers, are not recorded.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ._extension import is_built, native
from .arrays import float32
from .errors import RecordError, meant
from .recorder import meta_of
from .trace import Trace

# The machine file, the most heads and layers that it has, and the tolerance for weights that are computed again.
MACHINE, MOST_HEADS, MOST_LAYERS, SLACK = "multi_head_layers.machine", 64, 16, 1e-3
Array = npt.NDArray[np.float32]


class _Layer(NamedTuple):
    """One call of a module: [T, E], then [heads, T, d] and [heads, T, T]."""

    name: str
    rows: Array
    query: Array
    key: Array
    value: Array
    weights: Array


def record(model: nn.Module, *arguments: Any, modules: Optional[Sequence[str]] = None, input: Any = None,
           task: str = "attention", **named: Any) -> Trace:
    """Runs `model(*arguments, **named)` on one sequence and returns a trace of its attention.

    modules     names of the modules to record, as in `model.named_modules()`; None: every nn.MultiheadAttention
    input       [T, X] that the input picture shows, such as one-hot words; None: the rows that the first module receives
    task        name of the task

    The heads of a module must all have one size, and all modules the same number. Raises RecordError for a batch of several
    sequences, for attention to another sequence, and for weights with dropout, with what to change.
    """
    found = {name: module for name, module in model.named_modules() if isinstance(module, nn.MultiheadAttention)}
    for name in modules or ():
        if name not in found:
            raise RecordError(f"is not an nn.MultiheadAttention of the model{meant(name, list(found))}", place=f"modules: `{name}`")
    layers: List[_Layer] = []
    watched = {name: found[name] for name in (found if modules is None else modules)}
    own = {name: module.__dict__.get("forward") for name, module in watched.items()}
    fast = getattr(torch.backends, "mha", None)
    was_fast = fast.get_fastpath_enabled() if fast else True
    try:
        for name, module in watched.items():
            module.forward = _watching(name, module, module.forward, layers)
        if fast:
            fast.set_fastpath_enabled(False)
        with torch.enable_grad():  # without gradients nn.TransformerEncoderLayer calls no module
            model(*arguments, **named)
    finally:
        for name, module in watched.items():
            module.__dict__.pop("forward", None)
            if own[name] is not None:  # set before, by a hook of another library
                module.forward = own[name]
        if fast:
            fast.set_fastpath_enabled(was_fast)
    if not layers:
        raise RecordError("no nn.MultiheadAttention was called" if watched else "has no nn.MultiheadAttention", place="the model",
                          expected="a call of model(…) that uses one; nn.TransformerEncoderLayer in eval mode calls it only if "
                                   "some of its parameters require gradients")
    return _trace(layers, input, task)


def _watching(name: str, module: nn.MultiheadAttention, forward: Callable[..., Tuple[Tensor, Tensor]],
              layers: List[_Layer]) -> Callable[..., Tuple[Tensor, Optional[Tensor]]]:
    """Returns a `forward` that also records its call."""
    def watching(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Optional[Tensor] = None, need_weights: bool = True,
                 attn_mask: Optional[Tensor] = None, average_attn_weights: bool = True,
                 **others: Any) -> Tuple[Tensor, Optional[Tensor]]:
        place = f"`{name}`" if name else "the module"
        _check(place, module, query, key)
        answer, weights = forward(query, key, value, key_padding_mask=key_padding_mask, need_weights=True, attn_mask=attn_mask,
                                  average_attn_weights=False, **others)
        layers.append(_layer(name, module, (query, key, value), weights))
        _compare(place, module, layers[-1], answer)
        shown = weights.mean(-3) if average_attn_weights else weights
        return answer, shown if need_weights else None
    return watching


def _check(place: str, module: nn.MultiheadAttention, query: Tensor, key: Tensor) -> None:
    """Raises RecordError for a call that is no row for every step of one sequence."""
    if query.dim() == 3:
        batch, index = query.shape[0 if module.batch_first else 1], "x[:1]" if module.batch_first else "x[:, :1]"
        if batch != 1:
            raise RecordError(f"receives a batch of {batch}; a trace is one episode", place=place,
                              expected=f"one sequence: record(model, {index})")
    others = "leave it out: record(…, modules=[…]) with the names of the others"
    if key is not query and (key.shape != query.shape or not torch.equal(key, query)):
        axis = 0 if query.dim() == 2 or not module.batch_first else 1
        raise RecordError(f"attends from {query.shape[axis]} steps to another sequence of {key.shape[axis]}", place=place,
                          expected=f"self-attention, query and key the same; {others}")
    if module.bias_k is not None or module.add_zero_attn:
        raise RecordError("adds a row to the sequence (add_bias_kv or add_zero_attn)", place=place, expected=others)
    if module.training and module.dropout > 0:
        raise RecordError("drops weights at random", place=place, expected="model.eval() before the recording")


def _compare(place: str, module: nn.MultiheadAttention, layer: _Layer, answer: Tensor) -> None:
    """Raises RecordError if the output of a module is not that of its recorded weights and values."""
    reads = torch.from_numpy(layer.weights @ layer.value).transpose(0, 1).flatten(1)
    weight, bias = (None if x is None else x.detach().cpu().float() for x in (module.out_proj.weight, module.out_proj.bias))
    expected, found = float32(F.linear(reads, weight, bias)), float32(answer).reshape(len(reads), -1)
    if np.isfinite(expected).all() and not np.allclose(found, expected, rtol=SLACK, atol=SLACK * max(1, np.abs(expected).max())):
        raise RecordError("returns an output that its weights and values do not give", place=place,
                          expected="the forward pass of nn.MultiheadAttention; leave it out: record(…, modules=[…])")


def _layer(name: str, module: nn.MultiheadAttention, given: Tuple[Tensor, Tensor, Tensor], weights: Tensor) -> _Layer:
    """Returns a call with its projections by head."""
    inputs = [x if x.dim() == 2 else x[0] if module.batch_first else x[:, 0] for x in given]
    if module.in_proj_weight is not None:
        matrices = module.in_proj_weight.chunk(3)
    else:
        matrices = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    biases = (None,) * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
    query, key, value = (float32(F.linear(x, w, b).unflatten(-1, (module.num_heads, -1)).transpose(0, 1))
                         for x, w, b in zip(inputs, matrices, biases))
    return _Layer(name, float32(inputs[0]), query, key, value, float32(weights.reshape(-1, *weights.shape[-2:])))


def _trace(layers: Sequence[_Layer], input: Any, task: str) -> Trace:
    first, shapes = layers[0], [layer.query.shape for layer in layers]
    count, steps, size = shapes[0]
    for layer, shape in zip(layers, shapes):
        if shape != shapes[0]:
            raise RecordError(f"has [heads, steps, size] {list(shape)}, unlike `{first.name}` with {list(shapes[0])}",
                              place=f"`{layer.name}`", expected="record(…, modules=[…]) with modules that are alike")
    if count * len(layers) > MOST_HEADS:
        raise RecordError(f"has {len(layers)} layers of {count} heads", place="the model",
                          expected=f"at most {MOST_HEADS} heads in all: record(…, modules=[…]) with some of them")
    for layer in layers:
        if not np.isfinite(layer.weights).all():
            raise RecordError("has weights that are not numbers", place=f"`{layer.name}`",
                              expected="finite inputs, and a mask that leaves every step at least one row")
    if len(layers) > MOST_LAYERS:
        raise RecordError(f"has {len(layers)} layers", place="the model",
                          expected=f"at most {MOST_LAYERS}: record(…, modules=[…]) with some of them")
    rows = first.rows if input is None else float32(input, "`input`")
    if rows.ndim != 2 or len(rows) != steps:
        raise RecordError(f"has the shape {list(rows.shape)}", place="`input`", expected=f"[{steps}, channels]")
    above = np.triu(np.ones((steps, steps), bool), 1)
    is_causal = steps > 1 and not any(layer.weights[:, above].any() for layer in layers)
    arrays: Dict[str, Array] = {"input": rows, "embedded": first.rows}
    dims: Dict[str, Tuple[str, ...]] = {"input": ("t", "x"), "embedded": ("t", "embedding")}
    for index in range(count * len(layers)):
        layer, head = layers[index // count], index % count
        query, key, value, weights = (part[head] for part in (layer.query, layer.key, layer.value, layer.weights))
        scores = query @ key.T / np.sqrt(np.float32(size))
        seen = np.where(above, -np.inf, scores) if is_causal else scores
        again = np.exp(seen - seen.max(1, keepdims=True))
        parts = {"key": (query, "k"), "weighting": (weights, "n"), "read": (weights @ value, "r"), "row_value": (value, "r")}
        if np.abs(again / again.sum(1, keepdims=True) - weights).max() < SLACK:  # not so under another mask: then no scores
            parts.update(row_key=(key, "k"), similarity=(scores, "n"), content=(weights, "n"))
        for part, (array, axis) in parts.items():
            arrays[f"read{index}.{part}"], dims[f"read{index}.{part}"] = np.asarray(array, np.float32), ("t", axis)
    model = {"kind": "equations", "file": MACHINE, **({"text": native().machine_text(None, MACHINE)} if is_built() else {}),
             "sizes": {"embedding": first.rows.shape[1], "depth": size, "layers": len(layers), "positions": steps},
             "heads": {"read": count}, "switches": {"mask": "causal" if is_causal else "full"}}
    axes = {"t": {"size": steps, "phases": [["sequence", 0, steps]]}, "n": {"size": steps}}
    return Trace(meta_of({"name": task, "params": {}, "seed": None, "episode": None}, model, axes), arrays, dims)
