"""Neural Turing Machines in NumPy: run, train, draw and record them.

    import tapescope as ts
    m = ts.machine("copy")                  # a trained machine; ts.machines() lists the included ones
    t = m.trace(length=20, seed=1)          # one episode, every stage of every step
    t["write0.weighting"]                   # [steps, rows], not copied
    t.figure()                              # as in the paper; a notebook shows it
    m.evaluate(lengths=[20, 50, 120])       # loss and errors at several lengths
    ts.train("copy", seed=7)                # as fast as the program

`attention` makes a trace of the weights of other programs, such as those of transformers, with their tokens. Reading, writing and
recording traces and weights (`load`, `Recorder`, `read_weights`, `write_weights`) needs NumPy only.
Running, training, checking and drawing, presets and the shapes of tensors need the extension of the wheel. docs/formats.md of
Tapescope specifies the files.
`tapescope.pytorch` converts machines to PyTorch modules and back; `tapescope.pytorch_attention` records models with
nn.MultiheadAttention; `tapescope.pytorch_ntm` records and converts machines of pytorch-ntm. All need torch.
"""

from ._episodes import EpisodesError, episodes, write_episodes
from ._extension import MissingExtensionError
from ._machine import Machine, machine, machine_from, machines, presets
from ._training import Progress, train
from ._version import __version__
from .attentions import attention
from .display import Figure
from .errors import (
    ArgumentError, DisplayError, FileError, FormatError, NotRecordedError, RecordError, StepError, TapescopeError,
    TrainingError, WeightsError,
)
from .preset import check_preset, read_preset, tensor_shapes
from .recorder import Recorder
from .trace import Check, Trace, check, load
from .weights import lstm_tensors, read_weights, write_weights

__all__ = [
    "ArgumentError", "Check", "DisplayError", "EpisodesError", "Figure", "FileError", "FormatError", "Machine",
    "MissingExtensionError", "NotRecordedError", "Progress", "RecordError", "Recorder", "StepError", "TapescopeError",
    "Trace", "TrainingError", "WeightsError", "__version__", "attention", "check", "check_preset", "episodes", "load", "lstm_tensors",
    "machine", "machine_from", "machines", "presets", "read_preset", "read_weights", "tensor_shapes", "train",
    "write_episodes", "write_weights",
]
