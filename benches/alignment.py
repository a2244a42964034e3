#!/usr/bin/env python3
"""Encoder-decoders beside the Neural Turing Machine: copy and transduce, the same number of sequences, five seeds each.

    cargo build --release
    python3 benches/alignment.py [--out sweeps/alignment] [--jobs N] [--only copy/ntm ...] [--collect]

For every task and machine, trains three learning rates with one seed on a third of the sequences, and then five other
seeds with the rate of the smallest validation (`tapescope sweep`, on one thread a run). Measures the best weights at
several lengths (`tapescope eval`), and writes OUT/alignment.json, a table in Markdown and a figure (OUT/alignment.svg).
Nothing is trained or measured twice; with --only the other parts have the results of the runs that are there.
"""

import argparse
import glob
import json
import os
import resource
import statistics
import subprocess

import logs

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SEQUENCES = 60000
RATES = ["1e-3", "3e-3", "1e-2"]
SEARCH_SEED = 100
TASKS = {
    "copy": ({"kind": "copy", "bits": 8, "length": [1, 20]}, [10, 20, 30, 50, 80, 120]),
    "transduce": ({"kind": "transduce", "symbols": 16, "length": [1, 10], "order": "swap_pairs", "fertility": 2,
                   "silent": 0.125, "ambiguous": 0.0, "dictionary": 1}, [5, 10, 15, 20, 30]),
}


def of_file(file, sizes, switches, **constants):
    """A machine file with these sizes, switches and constants of its attention."""
    return {"kind": "equations", "file": f"{file}.machine", "sizes": sizes, "switches": switches,
            **({"constants": {"attention": constants}} if constants else {})}


def luong(weighting="soft", feeding="no", score="general"):
    return of_file("luong", {"encoder": {"units": 100}, "combined": 100},
                   {"feeding": feeding, "attention": {"score": score, "weighting": weighting}})


def bahdanau(cell="lstm", sizes=(), **attention):
    return of_file("bahdanau", {"encoder": {"units": 50}, "units": 100, "attention": {"units": 64, **dict(sizes)}},
                   {"encoder": {"cell": cell}, "attention": {"score": "additive", **attention}})


MACHINES = {
    "NTM": {"memory": {"rows": 128, "columns": 20}, "controller": {"kind": "lstm", "size": 100},
            "heads": {"read": 1, "write": 1, "shift": {"form": "softmax", "range": 1}}},
    "LSTM": {"kind": "equations", "file": "plain.machine", "sizes": {"units": 200}},
    "fixed context": of_file("fixed_context", {"encoder": {"units": 128}}, {}),
    "Bahdanau": bahdanau(),
    "Bahdanau, GRU": bahdanau("gru"),
    "Bahdanau, position and Markov bias": bahdanau(biases="weights_and_places", sizes={"markov": 3, "fertility": 0}),
    "Luong": luong(),
    "Luong, dot": luong(score="dot"),
    "Luong, input feeding": luong(feeding="input"),
    "Luong, local monotonic": luong("local_monotonic"),
    "Luong, local predictive": luong("local_predictive"),
}


def name_of(machine):
    return machine.lower().replace(",", "").replace(" ", "-")


def preset(path, title, task, model, **training):
    """Writes the file of a preset and returns its path."""
    content = {
        "title": title, "description": title, "task": task, "model": model,
        "training": {"optimizer": {"kind": "adam", "learning_rate": 3e-3}, "final_lr_factor": 0.01,
                     "clip": {"kind": "global_norm", "limit": 5.0}, "batch": 8, "sequences": SEQUENCES, "seed": 1,
                     "validation_every": 2000, "validation_episodes": 100, **training},
        "evaluation": {"items" if "items" in task else "lengths": [10], "episodes": 200},
    }
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as to:
        json.dump(content, to, indent=2)
    return path


def sweep(options, preset, out, *more):
    """Trains what is missing."""
    command = [options.binary, "sweep", preset, "--out", out, "--jobs", str(options.jobs), *more]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def processor_seconds(command):
    """Runs a command and returns the processor seconds that it used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def speed(options, task, machine):
    """Training sequences per processor second, on one thread: the median of three times 4,000, measured once."""
    folder = os.path.join(options.out, task, name_of(machine))
    known = os.path.join(folder, "speed.json")
    if not os.path.exists(known):
        command = [options.binary, "train", folder + ".json", "--sequences", "4000", "--threads", "1", "--force",
                   "--out", os.path.join(folder, "speed"), "--set", "training.validation_every=4000",
                   "--set", "training.validation_episodes=1"]
        with open(known, "w") as to:
            json.dump(4000 / statistics.median(processor_seconds(command) for _ in range(3)), to)
    with open(known) as file:
        return json.load(file)


def runs(options, task, machine, stage):
    return sorted(glob.glob(os.path.join(options.out, task, name_of(machine), stage, "*/")))


def rate(options, task, machine):
    """The rate of the smallest validation in the search."""
    def best(run):
        return logs.bits(logs.best(logs.validations(run)))
    found = [(best(run), run.split("learning_rate=")[1].split(",")[0])
             for run in runs(options, task, machine, "search") if os.path.exists(run + "history.ntmlog.jsonl")]
    return min(found)[1]


def train(options, task, machine):
    folder = os.path.join(options.out, task, name_of(machine))
    path = preset(folder + ".json", f"{task}: {machine}", TASKS[task][0], MACHINES[machine])
    grid = "training.optimizer.learning_rate=" + ",".join(RATES)
    sweep(options, path, os.path.join(folder, "search"), "--seeds", str(SEARCH_SEED), "--sequences", str(SEQUENCES // 3),
          "--grid", grid)
    chosen = "training.optimizer.learning_rate=" + rate(options, task, machine)
    sweep(options, path, os.path.join(folder, "seeds"), "--seeds", "1..5", "--set", chosen)


def measured(options, run, lengths, name="lengths.json", *more):
    """The measurements of a run at these lengths, kept in its folder under this name."""
    known = os.path.join(run, name)
    if not os.path.exists(known):
        option = "--items" if "associative_recall" in run else "--lengths"
        command = [options.binary, "eval", run, option, ",".join(map(str, lengths)), "--json", "--threads", "1", *more]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        with open(known, "w") as to:
            json.dump([json.loads(line) for line in lines], to)
    with open(known) as file:
        return json.load(file)


def parameters(run):
    """Weights of a machine, by the sizes in its file."""
    with open(os.path.join(run, "weights.safetensors"), "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    total = 0
    for name, tensor in header.items():
        if name != "__metadata__":
            size = 1
            for axis in tensor["shape"]:
                size *= axis
            total += size
    return total


def collect(options):
    results = []
    for task, machine in ((task, machine) for task in TASKS for machine in MACHINES):
        of = [run for run in runs(options, task, machine, "seeds") if os.path.exists(run + "weights.safetensors")]
        if not of:
            continue
        lengths = TASKS[task][1]
        lines = [measured(options, run, lengths) for run in of]
        results.append({
            "task": task, "machine": machine, "seeds": len(of), "rate": rate(options, task, machine),
            "parameters": parameters(of[0]), "speed": speed(options, task, machine),
            "perfect": {length: [line[index]["perfect"] for line in lines] for index, length in enumerate(lengths)},
            "error_rate": {length: [(line[index].get("alignment") or {}).get("error_rate") for line in lines]
                           for index, length in enumerate(lengths)},
        })
    return results


def percent(share):
    return f"{100 * share:.0f} %"


def tables(results):
    text = []
    for task, (_, lengths) in TASKS.items():
        of = [one for one in results if one["task"] == task]
        text += [f"{task}", "", "| machine | rate | weights | sequences/s | "
                 + " | ".join(f"perfect at {length}" for length in lengths) + " | AER |",
                 "|---|---:|---:|---:|" + "---:|" * (len(lengths) + 1)]
        for one in of:
            cells = []
            for length in lengths:
                shares = one["perfect"][length]
                low, middle, high = min(shares), statistics.median(shares), max(shares)
                low, high = f"{100 * low:.0f}", f"{100 * high:.0f}"
                spread = f" ({low}–{high})" if low != high else ""
                cells.append(percent(middle) + spread)
            errors = [error for error in one["error_rate"][lengths[1]] if error is not None]
            cells.append(f"{statistics.median(errors):.2f}" if errors else "–")
            text.append(f"| {one['machine']} | {float(one['rate']):g} | {one['parameters']:,} | {one['speed']:,.0f} | " + " | ".join(cells) + " |")
        text.append("")
    return "\n".join(text)


COLOURS = ["#1b1b1b", "#8a8a8a", "#b04a2f", "#2f6f9f", "#5fa2cf", "#123f5f", "#3f8f4f", "#8fbf7f", "#1f5f2f", "#c08a1f", "#7f4fa0"]


def figure(results):
    """For each task, a line for every machine: the median share of perfect sequences against the length."""
    panel, height, top, left = 400, 330, 40, 60
    width = len(TASKS) * panel + 330
    text = [f'<rect width="{width}" height="{height + 100}" fill="#ffffff"/>']

    def say(x, y, words, anchor="start", size=12, colour="#333"):
        text.append(f'<text x="{x:.1f}" y="{y:.1f}" font-family="Inter, sans-serif" font-size="{size}" '
                    f'fill="{colour}" text-anchor="{anchor}">{words}</text>')

    for index, (task, (of, lengths)) in enumerate(TASKS.items()):
        x0, span = left + index * (panel + 20), panel - 40
        place = {length: x0 + span * at / (len(lengths) - 1) for at, length in enumerate(lengths)}
        size = "items" if "items" in of else "length"
        say(x0, 22, f"{task}, trained on {size} {of[size][0]} to {of[size][1]}", size=14)
        for share in (0, 0.5, 1):
            y = top + height * (1 - share)
            text.append(f'<line x1="{x0}" x2="{x0 + span}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
            if index == 0:
                say(x0 - 8, y + 4, percent(share), "end", 11, "#777")
        for length, x in place.items():
            say(x, top + height + 18, str(length), "middle", 11, "#777")
        say(x0 + span / 2, top + height + 38, f"{size}; share of perfect sequences, median and range of five seeds", "middle", 11, "#777")
        for order, machine in enumerate(MACHINES):
            one = next((one for one in results if (one["task"], one["machine"]) == (task, machine)), None)
            if one is None:
                continue
            shift = (order - len(MACHINES) / 2) * 1.5
            points = []
            for length, x in place.items():
                shares = one["perfect"][length]
                low, middle, high = (top + height * (1 - of(shares)) for of in (min, statistics.median, max))
                text.append(f'<line x1="{x + shift:.1f}" x2="{x + shift:.1f}" y1="{low:.1f}" y2="{high:.1f}" '
                            f'stroke="{COLOURS[order]}" stroke-opacity="0.4"/>')
                points.append(f"{x + shift:.1f},{middle:.1f}")
            text.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{COLOURS[order]}" stroke-width="2"/>')
    for order, machine in enumerate(MACHINES):
        x, y = left + len(TASKS) * panel + 20, top + 12 + 22 * order
        text.append(f'<line x1="{x}" x2="{x + 22}" y1="{y}" y2="{y}" stroke="{COLOURS[order]}" stroke-width="3"/>')
        say(x + 30, y + 4, machine)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 100}" width="{width}" '
            f'height="{height + 100}">\n' + "\n".join(text) + "\n</svg>\n")


def asked(description, name, only, tasks, others):
    """The options of the command line, and the pairs of a task and another thing that they ask for."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "tapescope"))
    parser.add_argument("--out", default="sweeps/" + name)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", default=[], help=only)
    parser.add_argument("--collect", action="store_true", help="train nothing")
    options = parser.parse_args()
    return options, [(task, other) for task in tasks for other in others
                     if not options.only or any(one in (f"{task}/{other}", task, f"/{other}") for one in options.only)]


def main():
    options, wanted = asked(__doc__, "alignment", "TASK/MACHINE, TASK or /MACHINE", TASKS, MACHINES)
    for task, machine in [] if options.collect else wanted:
        train(options, task, machine)
        print(f"{task} {machine}", flush=True)
    results = collect(options)
    for name, content in [("json", json.dumps(results, indent=1)), ("md", tables(results)), ("svg", figure(results))]:
        with open(os.path.join(options.out, "alignment." + name), "w") as to:
            to.write(content)
    print(tables(results))


if __name__ == "__main__":
    main()
