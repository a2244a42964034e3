#!/usr/bin/env python3
"""Machines that attend to their own sequence beside the Neural Turing Machine: copy, recall and aspects, five seeds each.

    cargo build --release
    python3 benches/self_attention.py [--out sweeps/self_attention] [--jobs N] [--only copy/LSTMN ...] [--collect]

Works as benches/alignment.py: three learning rates with one seed on a third of the sequences, then five other seeds with
the rate of the smallest validation, each on one thread; the best weights measured at several sizes.
"""

import json
import os

import alignment

alignment.SEQUENCES = 60000
alignment.TASKS = {
    "copy": ({"kind": "copy", "bits": 8, "length": [1, 20]}, [10, 20, 30, 50]),
    "associative_recall": ({"kind": "associative_recall", "bits": 6, "item_length": 3, "items": [2, 6]}, [4, 6, 8, 12]),
    "aspects": ({"kind": "aspects", "symbols": 8, "length": [10, 20], "aspects": [4, 4]}, [10, 20, 30, 50]),
}
alignment.MACHINES = {
    "NTM": alignment.MACHINES["NTM"],
    "LSTM": alignment.MACHINES["LSTM"],
    "LSTMN": {"kind": "equations", "file": "lstmn.machine", "sizes": {"units": 100, "attention": {"units": 64}}},
    "multi-head, 2 layers": {"kind": "equations", "file": "multi_head_layers.machine", "switches": {"places": "sinusoidal"}},
    "multi-head, learned positions": {"kind": "equations", "file": "multi_head_layers.machine"},
    "self-attention": {"kind": "equations", "file": "self_attention.machine",
                       "sizes": {"encoder": {"units": 50}, "attention": {"units": 64}}},
    "structured, 4 heads": {"kind": "equations", "file": "structured_self_attention.machine",
                            "sizes": {"encoder": {"units": 50}, "depth": 64, "mlp": 64}},
}


def main():
    alignment.__doc__ = __doc__
    options, wanted = alignment.asked(__doc__, "self_attention", "TASK/MACHINE, TASK or /MACHINE", alignment.TASKS,
                                      alignment.MACHINES)
    for task, machine in [] if options.collect else wanted:
        # An answer of several steps cannot come from heads that do not move.
        if machine.startswith("structured") and task != "aspects":
            continue
        alignment.train(options, task, machine)
        print(f"{task} {machine}", flush=True)
    results = alignment.collect(options)
    for name, content in [("json", json.dumps(results, indent=1)), ("md", alignment.tables(results)),
                          ("svg", alignment.figure(results))]:
        with open(os.path.join(options.out, "self_attention." + name), "w") as to:
            to.write(content)
    print(alignment.tables(results))


if __name__ == "__main__":
    main()
