"""Loads weights of Tapescope as a PyTorch module and compares it with an episode that Tapescope recorded.

    tapescope trace copy --length 20 --out copy.npz
    python to_torch.py assets/copy.safetensors copy.npz

`tapescope.pytorch.Module` is an ordinary `nn.Module`: train it further, or use its parts in your own module.

Needs torch and the tapescope module: `pip install ./python torch`.
"""

import sys

import numpy as np
import torch

from tapescope import load, read_weights
from tapescope.pytorch import Module


def main(weights: str, trace: str) -> float:
    tensors, metadata = read_weights(weights)
    machine, trace = Module(tensors, metadata["experiment"]), load(trace)
    # The trace may have more rows than the machine was trained on.
    machine.rows = trace.meta["model"].get("memory", {}).get("rows", machine.rows)
    with torch.no_grad():
        outputs = machine(torch.tensor(trace["input"])).numpy()
    difference = float(np.abs(outputs - trace["output"]).max())
    print(f"{sum(tensor.size for tensor in tensors.values())} weights, {trace.steps} steps, "
          f"largest difference of an output: {difference:.1e}")
    return difference


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]) > 1e-4)
