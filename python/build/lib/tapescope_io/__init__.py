"""Traces and weights of Tapescope in NumPy.

    from tapescope_io import load
    trace = load("copy.ntmtrace.json")      # or .json.gz, or .npz
    trace["write0.weighting"]               # [steps, rows]
    trace.frame("write0")                   # a pandas data frame, where pandas is there

The files are specified in docs/formats.md of Tapescope. Needs nothing but NumPy.
"""

from .recorder import Recorder
from .trace import FormatError, Trace, load
from .weights import read_weights, tensor_shapes, write_weights

__all__ = ["FormatError", "Recorder", "Trace", "load", "read_weights", "tensor_shapes", "write_weights"]
