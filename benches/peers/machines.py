"""The parameters of the three machines: their start, and golden values in float64. It needs NumPy alone.

Maps are [inputs, outputs]. Gates of an LSTM are in the order input, forget, output, candidate, so that one sigmoid
covers three of them. Head parameters of the same activation stand side by side for the same reason.
"""

import json
import pathlib
from dataclasses import dataclass, field

import numpy as np

from peer import BITS

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
CASES = TESTS.parents[1] / "src" / "core" / "tests" / "cases"


@dataclass(frozen=True)
class Ntm:
    """Sizes and variants of a Neural Turing Machine."""

    controller: str = "lstm"
    units: int = 100
    rows: int = 128
    columns: int = 20
    reads: int = 1
    writes: int = 1
    inputs: int = BITS + 1
    outputs: int = BITS
    bounded: bool = False  # tanh of keys and adds
    epsilon: float = 1e-8  # of the cosine
    least: float = 1e-16  # added to a weight before its logarithm

    @property
    def heads(self):
        return self.reads + self.writes

    @property
    def cuts(self):
        """Ends of keys and adds; strengths and sharpnesses; gates and erases. Shifts follow."""
        vectors = (self.heads + self.writes) * self.columns
        positive = vectors + 2 * self.heads
        return vectors, positive, positive + self.heads + self.writes * self.columns

    @property
    def head_width(self):
        return self.cuts[-1] + 3 * self.heads


@dataclass(frozen=True)
class Dnc:
    """Sizes of a Differentiable Neural Computer."""

    units: int = 100
    rows: int = 128
    columns: int = 20
    reads: int = 1
    inputs: int = BITS + 1
    outputs: int = BITS
    epsilon: float = 1e-6  # added to squared norms

    @property
    def widths(self):
        """Of the parts of the interface, in the order of the paper."""
        reads, columns = self.reads, self.columns
        return reads * columns, reads, columns, 1, columns, columns, reads, 1, 1, 3 * reads


@dataclass(frozen=True)
class Attention:
    """Sizes of an encoder-decoder with additive attention (Bahdanau 2015)."""

    encoder: int = 50  # units in each direction
    units: int = 100
    score: int = 64
    inputs: int = BITS + 1
    outputs: int = BITS


@dataclass
class Golden:
    """An episode of one sequence with its parameters, outputs, loss and gradients."""

    name: str
    sizes: object
    inputs: np.ndarray
    targets: np.ndarray
    parameters: dict
    gradients: dict
    outputs: np.ndarray
    loss: float
    updated: dict = field(default_factory=dict)  # parameters after five updates of RMSProp, where there are any


def glorot(draw, *shape):
    limit = np.sqrt(6 / sum(shape[-2:]))
    return draw.uniform(-limit, limit, shape)


def single(parameters):
    return {name: np.asarray(value, np.float32) for name, value in parameters.items()}


def ntm_start(sizes, seed):
    draw = np.random.default_rng(seed)
    gates, has_cell = (4 * sizes.units, True) if sizes.controller == "lstm" else (sizes.units, False)
    read = sizes.reads * sizes.columns
    start = {
        "input.weight": glorot(draw, sizes.inputs, gates), "input.bias": np.zeros(gates),
        "recurrent": glorot(draw, read + has_cell * sizes.units, gates),
        "heads.weight": glorot(draw, sizes.units, sizes.head_width), "heads.bias": np.zeros(sizes.head_width),
        "output.weight": glorot(draw, sizes.units + read, sizes.outputs), "output.bias": np.zeros(sizes.outputs),
        "read.start": draw.normal(0, 0.01, read), "weighting.start": np.zeros((sizes.heads, sizes.rows)),
    }
    if has_cell:
        start |= {name: draw.normal(0, 0.05, sizes.units) for name in ("hidden.start", "cell.start")}
    return single(start)


def dnc_start(sizes, seed):
    draw = np.random.default_rng(seed)
    read, interface = sizes.reads * sizes.columns, sum(sizes.widths)
    return single({
        "input.weight": glorot(draw, sizes.inputs, 4 * sizes.units), "input.bias": np.zeros(4 * sizes.units),
        "recurrent": glorot(draw, read + sizes.units, 4 * sizes.units),
        "interface.weight": glorot(draw, sizes.units, interface), "interface.bias": np.zeros(interface),
        "output.weight": glorot(draw, sizes.units + read, sizes.outputs), "output.bias": np.zeros(sizes.outputs),
    })


def attention_start(sizes, seed):
    draw = np.random.default_rng(seed)
    encoder, units, both = 4 * sizes.encoder, sizes.units, 2 * sizes.encoder
    return single({
        "encoder.input": glorot(draw, 2, sizes.inputs, encoder), "encoder.bias": np.zeros((2, encoder)),
        "encoder.recurrent": glorot(draw, 2, sizes.encoder, encoder), "start": glorot(draw, sizes.encoder, units),
        "query": glorot(draw, units, sizes.score), "key": glorot(draw, both, sizes.score),
        "score": draw.uniform(-1, 1, sizes.score) / np.sqrt(sizes.score),
        "feedback.weight": glorot(draw, sizes.outputs, 4 * units), "feedback.bias": np.zeros(4 * units),
        "decoder": glorot(draw, both + units, 4 * units),
        "output.weight": glorot(draw, units + both, sizes.outputs), "output.bias": np.zeros(sizes.outputs),
    })


def swap_gates(array):
    """Swaps the last two of four gates on the last axis: from input, forget, candidate, output, and back."""
    first, second, third, fourth = np.split(array, 4, -1)
    return np.concatenate([first, second, fourth, third], -1)


def read_json(path):
    return json.loads(path.read_text())


def shaped(arrays):
    return {name: np.array(array["data"], float).reshape(array["shape"]) for name, array in arrays.items()}


def ntm_golden():
    for path in sorted(TESTS.glob("*.json")):
        case = read_json(path)
        sizes = Ntm(case["controller"], case["hidden"], case["N"], case["M"], case["read_heads"], case["write_heads"],
                    case["width"] + 1, case["width"], case["key_add_act"] == "tanh", 0.0, 0.0)
        length, targets = case["L"], np.array(case["bits"], float)[:, None]
        inputs = np.zeros((2 * length + 1, 1, sizes.inputs))
        inputs[:length, :, :-1], inputs[length, :, -1] = targets, 1
        logits = np.array([step["logit"] for step in case["steps"][-length:]])[:, None]
        yield Golden(path.stem, sizes, inputs, targets, _ntm(case["params"], sizes), _ntm(case["grads"], sizes), logits,
                     case["loss"], _ntm(case["train"]["rmsprop"]["params"], sizes))


def _ntm(arrays, sizes):
    """The tensors of a golden file, by head, as those of the machine."""
    arrays = {name: np.array(array) for name, array in arrays.items()}
    writes = [f"write{head}" for head in range(sizes.writes)]
    heads = [f"read{head}" for head in range(sizes.reads)] + writes
    columns = sizes.columns
    # key, strength, gate, shift, sharpness; heads that write: erase, add
    ends = np.cumsum([columns, 1, 1, 3, 1, columns, columns])
    of = dict(zip(("key", "strength", "gate", "shift", "sharpness", "erase", "add"), zip([0, *ends[:-1]], ends)))
    order = [(heads, "key"), (writes, "add"), (heads, "strength"), (heads, "sharpness"), (heads, "gate"), (writes, "erase"),
             (heads, "shift")]

    def joined(tensor):
        return np.concatenate([arrays[f"{head}.{tensor}"][slice(*of[part])] for group, part in order for head in group])

    arrange = swap_gates if sizes.controller == "lstm" else np.asarray
    controller = arrange(arrays["ctrl.W"].T)
    found = {
        "input.weight": controller[: sizes.inputs], "recurrent": controller[sizes.inputs :],
        "input.bias": arrange(arrays["ctrl.b"]), "heads.weight": joined("W").T, "heads.bias": joined("b"),
        "output.weight": arrays["out.W"].T, "output.bias": arrays["out.b"], "read.start": arrays["init.read"].ravel(),
        "weighting.start": arrays["init.w"], "memory.start": arrays["init.mem"],
    }
    if sizes.controller == "lstm":
        found |= {"hidden.start": arrays["init.h"], "cell.start": arrays["init.c"]}
    return found


def dnc_golden():
    for path in sorted((TESTS / "dnc").glob("dnc_*.json")):
        case = read_json(path)
        inputs, gradients = shaped(case["inputs"]), shaped(case["gradients"])
        of = case["sizes"]
        sizes = Dnc(of["C"], of["N"], of["W"], of["R"], of["X"], of["Y"], 0.0)
        arrays = shaped(case["parameters"])
        start = {"memory.start": inputs["memory"], "usage.start": inputs["usage"]}
        d_start = {"memory.start": gradients["memory"], "usage.start": gradients["usage"]}
        yield Golden(path.stem, sizes, inputs["x"][:, None], inputs["target"][:, None], _dnc(arrays, sizes) | start,
                     _dnc(gradients, sizes) | d_start, shaped(case["outputs"])["logits"][:, None], case["objective"])


def _dnc(arrays, sizes):
    controller = swap_gates(arrays["controller.W"].T)
    return {
        "input.weight": controller[: sizes.inputs], "recurrent": controller[sizes.inputs :],
        "input.bias": swap_gates(arrays["controller.b"]), "interface.weight": arrays["interface.W"].T,
        "interface.bias": arrays["interface.b"], "output.weight": arrays["out.W"].T, "output.bias": arrays["out.b"],
    }


def attention_golden():
    """The cases of `bahdanau.machine` with the additive score; their targets are words, and their loss that of a softmax."""
    for number, case in enumerate(read_json(CASES / "bahdanau.json")):
        if case["choices"] != {"attention.score": "additive", "attention.biases": "none"}:
            continue
        of, inputs = case["numbers"], shaped(case["inputs"])
        sizes = Attention(of["encoder.units"], of["units"], of["attention.units"], of["symbols"], of["words"])
        outputs = shaped({output["name"]: output for output in case["outputs"]})
        yield Golden(f"bahdanau, case {number}", sizes, inputs["x"][:, None], inputs["y"][:, None],
                     _attention(shaped(case["parameters"]), sizes), _attention(shaped(case["gradients"]), sizes),
                     outputs["z"][:, None], float(outputs["loss"]))


def _attention(arrays, sizes):
    def gates(name):
        array = arrays[name]
        return swap_gates(array.reshape(array.shape[0] * array.shape[1], *array.shape[2:]).T)

    encoder = np.stack([gates("encoder.h.weight"), gates("encoder.h_b.weight")])
    decoder, score = gates("s.weight"), arrays["attention.e.weight"].T
    return {
        "encoder.input": encoder[:, : sizes.inputs], "encoder.recurrent": encoder[:, sizes.inputs :],
        "encoder.bias": np.stack([gates("encoder.h.bias"), gates("encoder.h_b.bias")]), "start": arrays["s.start.weight"].T,
        "query": score[: sizes.units], "key": score[sizes.units :], "score": arrays["attention.v"],
        "feedback.weight": decoder[: sizes.outputs], "feedback.bias": gates("s.bias"), "decoder": decoder[sizes.outputs :],
        "output.weight": arrays["z.weight"].T, "output.bias": arrays["z.bias"],
    }
