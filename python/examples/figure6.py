"""Draws the paper's figure 6 from a trace: adds and reads above their weightings.

    tapescope trace copy --length 20 --out copy.npz
    python figure6.py copy.npz figure6.png

Needs matplotlib and the tapescope module: `pip install ./python matplotlib`.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from tapescope import load


def main(source: str, target: str) -> None:
    trace = load(source)
    write = next(name for name in trace.heads if name.startswith("write"))
    read = next(name for name in trace.heads if name.startswith("read"))
    # Only rows that a head touches, as in the paper.
    touched = (trace[f"{write}.weighting"].max(0) > 0.1) | (trace[f"{read}.weighting"].max(0) > 0.1)
    panels = [
        ("inputs", trace["input"], "gray", (0, 1)),
        ("outputs", trace["output"], "gray", (0, 1)),
        ("adds", trace[f"{write}.add"], "RdBu_r", (-1, 1)),
        ("reads", trace[f"{read}.read"], "RdBu_r", (-1, 1)),
        ("write weightings", trace[f"{write}.weighting"][:, touched], "gray", (0, 1)),
        ("read weightings", trace[f"{read}.weighting"][:, touched], "gray", (0, 1)),
    ]
    figure, axes = plt.subplots(3, 2, figsize=(9, 9), sharex=True, constrained_layout=True)
    for axis, (title, values, colours, (low, high)) in zip(axes.flat, panels):
        axis.imshow(values.T, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest")
        axis.set_title(title)
        axis.yaxis.get_major_locator().set_params(integer=True)
        for _, start, _ in trace.meta["axes"]["t"]["phases"][1:]:
            axis.axvline(start - 0.5, color="tab:orange", linewidth=0.8)
    for axis in axes[-1]:
        axis.set_xlabel("time")
    for row, label in zip(axes, ["channel", "column of the memory", "memory row"]):
        row[0].set_ylabel(label)
    figure.savefig(target, dpi=120)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
