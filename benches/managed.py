#!/usr/bin/env python3
"""NTM, DNC and SAM on the same tasks, with the same controller and one search of the learning rate for each machine.

    cargo build --release
    python3 benches/managed.py --search                 # factors of the learning rate, one seed
    python3 benches/managed.py --factor ntm=2 --factor dnc=2   # five seeds each, with the factors of the search
    python3 benches/managed.py --ablation               # the DNC without one mechanism

Every machine has a memory of 32 × 20, an LSTM controller of 100 units, and the read heads in the table below. Task
and training are those of the preset; SAM has one head, which reads four rows, and the optimizer, clip and batch of
`copy_sam`, as it seldom learns with those of the others. In priority sort all machines have controller, read heads,
optimizer, clip and batch of the preset, and the NTM its learned initial memory. The factor multiplies the learning rate in every task.
Prints a line for each run: sequences until the first validation (100 episodes) below 0.1 bits, processor time of the whole run, and the best weights
on 500 fresh episodes of the largest size. Runs in `--folder` that are there are not made again.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile

import logs

# Task: the preset of its training, read heads, sequences, the option and size of the evaluation.
TASKS = {
    "copy": ("copy_dnc", 1, 50_000, ["--lengths", "20"]),
    "repeat_copy": ("repeat_copy_dnc", 2, 100_000, ["--lengths", "10", "--repeats", "10"]),
    "recall": ("recall_dnc", 2, 100_000, ["--items", "6"]),
    "reuse": ("reuse_dnc", 1, 100_000, ["--items", "30"]),
    "graph": ("graph_dnc", 2, 400_000, ["--items", "12"]),
    "priority_sort": ("priority_sort", 5, 250_000, ["--items", "20"]),
}
NTM_HEADS = {"shift": {"form": "softmax", "range": 1}, "key_activation": "tanh", "add_activation": "tanh",
             "similarity_epsilon": 1e-6, "initial_weighting": "one-hot"}
ABLATIONS = [("copy", "links"), ("copy", "allocation"), ("recall", "links"), ("repeat_copy", "links"),
             ("reuse", "free_gates"), ("reuse", "allocation"), ("graph", "links"), ("graph", "allocation")]


def experiment(machine, task, factor, without):
    """The preset of a task with a machine of a kind in place of its own."""
    preset, read, sequences, _ = TASKS[task]
    stored = json.loads((pathlib.Path("tasks") / f"{preset}.json").read_text())
    model = stored["model"]
    if task != "priority_sort":
        model["controller"] = {"kind": "lstm", "size": 100, "layers": 1}
    if machine == "ntm":
        model.pop("kind", None)
        write = 5 if task == "priority_sort" else 1
        model["heads"] = {"read": read, "write": write, **NTM_HEADS}
    else:
        model["kind"] = machine
        model["heads"] = {"read": read} if machine == "dnc" else {"count": 1, "rows": 4}
        model["memory"]["initial"] = {"constant": 1e-6}
        if machine == "sam" and task != "priority_sort":
            own = json.loads(pathlib.Path("tasks/copy_sam.json").read_text())["training"]
            stored["training"].update({key: own[key] for key in ("optimizer", "clip", "batch")})
    if without:
        model["heads"][without] = "off"
    stored["training"]["optimizer"]["learning_rate"] *= factor
    stored["training"]["sequences"] = sequences
    return stored


def run(binary, folder, machine, task, seed, factor, without=None):
    """Trains and measures once; the result of an earlier call if there is one."""
    name = "-".join([task, machine, f"x{factor:g}", str(seed)] + ([f"without-{without}"] if without else []))
    kept = folder / f"{name}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    with tempfile.TemporaryDirectory() as work:
        preset, out = pathlib.Path(work) / f"{task}.json", pathlib.Path(work) / "run"
        preset.write_text(json.dumps(experiment(machine, task, factor, without)))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # A run that diverges ends with an error, but has a log.
        trained = subprocess.run([binary, "train", preset, "--seed", str(seed), "--out", out, "--threads", "1"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if not out.exists():
            raise SystemExit(trained.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        points = logs.validations(out)
        if not points:
            raise SystemExit(trained.stderr)
        fresh = subprocess.run([binary, "eval", out, *TASKS[task][3], "--episodes", "500", "--json"],
                               stdout=subprocess.PIPE, text=True, check=True)
        measured = json.loads(fresh.stdout)
    result = {
        "machine": machine, "task": task, "seed": seed, "factor": factor, "without": without,
        "learned": logs.first_below(points, 0.1),
        "best": logs.bits(logs.best(points)),
        "seconds": after.ru_utime - before.ru_utime,
        "fresh": measured,
    }
    kept.write_text(json.dumps(result))
    return result


def line(results):
    """One line of the table, for all seeds of a machine on a task."""
    first = results[0]
    learned = [result["learned"] for result in results if result["learned"]]
    after = f"{statistics.median(learned):,.0f} ({max(learned):,})" if learned else "-"
    perfect = sorted(result["fresh"]["perfect"] for result in results)
    name = first["machine"] + (f" without {first['without']}" if first["without"] else "")
    return (f"| {first['task']} | {name} | ×{first['factor']:g} | {len(learned)} of {len(results)} | {after} | "
            f"{statistics.median(result['best'] for result in results):.2f} | "
            f"{100 * statistics.median(perfect):.1f} ({100 * perfect[0]:.1f}) | "
            f"{statistics.median(result['seconds'] for result in results):.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=logs.program, default="target/release/tapescope")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("runs/managed"))
    parser.add_argument("--machines", default="ntm,dnc,sam")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--seeds", type=logs.seeds, default="1-5")
    parser.add_argument("--factor", action="append", default=[], help="MACHINE=FACTOR")
    parser.add_argument("--search", action="store_true", help="copy and recall with factors 0.5, 1, 2 and 4, seed 11")
    parser.add_argument("--ablation", action="store_true", help="the DNC without links, allocation or free gates")
    a = parser.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    machines, tasks = a.machines.split(","), a.tasks.split(",")
    factors = {machine: 1.0 for machine in machines}
    factors.update((name, float(value)) for name, value in (pair.split("=") for pair in a.factor))
    print("| task | machine | rate | learned | after sequences, median (worst) | best validation, bits | "
          "perfect, % (worst) | seconds |\n|---|---|---|---|---:|---:|---:|---:|", flush=True)
    if a.search:
        cases = [(machine, task, None, factor, [11]) for machine in machines for task in ("copy", "recall")
                 for factor in (0.5, 1.0, 2.0, 4.0)]
    elif a.ablation:
        cases = [("dnc", task, without, factors.get("dnc", 1.0), a.seeds)
                 for task, without in ABLATIONS if task in tasks]
    else:
        cases = [(machine, task, None, factors[machine], a.seeds) for task in tasks for machine in machines]
    for machine, task, without, factor, seeds in cases:
        print(line([run(a.binary, a.folder, machine, task, seed, factor, without) for seed in seeds]), flush=True)


if __name__ == "__main__":
    main()
