"""Traces and weights of Tapescope in NumPy.

    from tapescope import load
    trace = load("copy.ntmtrace.json")      # or .json.gz, or .npz
    trace["write0.weighting"]               # [steps, rows]
    trace.frame("write0")                   # a pandas data frame, where pandas is there

The files are specified in docs/formats.md of Tapescope. Needs nothing but NumPy.
`tapescope.pytorch_ntm` records and converts machines of pytorch-ntm; it needs torch.
"""

from ._version import __version__
from .episodes import EpisodesError, write_episodes
from .errors import FormatError, NotRecordedError, RecordError, StepError, TapescopeError, WeightsError
from .preset import check_preset, tensor_shapes
from .recorder import Recorder
from .trace import Trace, load
from .weights import read_weights, write_weights

__all__ = [
    "EpisodesError", "FormatError", "NotRecordedError", "RecordError", "Recorder", "StepError", "TapescopeError", "Trace",
    "WeightsError", "__version__", "check_preset", "load", "read_weights", "tensor_shapes", "write_episodes",
    "write_weights",
]
