#!/usr/bin/env python3
"""What each kind of attention changes: three small tasks, every score and every weighting, five seeds each.

    cargo build --release
    python3 benches/attention.py [--out sweeps/attention] [--jobs N] [--only copy/hard ...] [--collect]

Trains what is not trained yet (`tapescope sweep`, on one thread a run), measures the best weights of every run on
sequences of three times the length (`tapescope eval`), and writes OUT/attention.json, a table in Markdown and a figure
(OUT/attention.svg). A run has learned its task at the first validation below 0.5 bits per sequence.
"""

import argparse
import glob
import json
import math
import os
import statistics
import subprocess

import logs

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TASKS = {"copy": 24, "repeat_copy": 12, "associative_recall": 12}
THRESHOLD = 0.5
ATTENTION = "model.heads.attention."
# What is changed, and how: the rest is as in the paper.
VARIANTS = {
    "cosine": [],
    "additive": [ATTENTION + "score=additive", ATTENTION + "units=16"],
    "location": [ATTENTION + "score=location"],
    "general": [ATTENTION + "score=general"],
    "dot": [ATTENTION + "score=dot"],
    "scaled-dot": [ATTENTION + "score=scaled-dot"],
    "local-monotonic": [ATTENTION + "weighting=local-monotonic"],
    "local-predictive": [ATTENTION + "weighting=local-predictive"],
    "hard": [ATTENTION + "weighting=hard", "training.hard.reward=0.1"],
    # Drawn in a fifth of the episodes, not in half of them.
    "hard, a fifth": [ATTENTION + "weighting=hard", "training.hard.reward=0.1", "training.hard.expected=0.8"],
    # Begins soft, as training with rows that are drawn from the start does not.
    "hard, warm-up": [ATTENTION + "weighting=hard", *("training.hard." + value for value in ("reward=0.01", "entropy=0", "expected=0", "warmup=20000"))],
    "hard, straight-through": [ATTENTION + "weighting=hard", *("training.hard." + value for value in ("estimator=straight-through", "entropy=0", "expected=0", "warmup=20000"))],
    "weibull": [ATTENTION + "weighting=weibull"],
    "lognormal": [ATTENTION + "weighting=lognormal"],
    "β = 1": [ATTENTION + "strength=one"],
    "no gate": [ATTENTION + "gate=off"],
    "no shift": ["model.heads.shift.form=none"],
    "no sharpening": [ATTENTION + "sharpening=off"],
    "plain": [ATTENTION + "gate=off", "model.heads.shift.form=none", ATTENTION + "sharpening=off"],
}


# Heads that are kept apart, or only measured: read heads of associative recall, and the weight of their penalty.
APART = {f"{heads} heads, {words}": [f"model.heads.read={heads}", "training.redundancy.kind=read",
                                     f"training.redundancy.weight={weight}", "training.sequences=100000"]
         for heads in (2, 4) for words, weight in (("measured", 0), ("penalty 0.01", 0.01), ("penalty 0.1", 0.1))}


def name_of(variant):
    return variant.replace(",", "").replace(" ", "-").replace("β-=-1", "beta-1")


def folder(out, task, variant, seed):
    """The folder of a run, whose name says what was changed; empty where there is none."""
    runs = glob.glob(os.path.join(glob.escape(os.path.join(out, task, name_of(variant))), f"*seed={seed}"))
    return runs[0] if runs else ""


def train(binary, out, task, variant, seeds, jobs):
    command = [binary, "sweep", os.path.join(HERE, "attention", f"{task}.json"), "--seeds", seeds,
               "--out", os.path.join(out, task, name_of(variant)), "--jobs", str(jobs)]
    for setting in (VARIANTS | APART)[variant]:
        command += ["--set", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def history(path):
    return [(sequences, validation["bits_per_sequence"]) for sequences, validation in logs.validations(path)]


def measure(binary, path, task):
    """Bits per sequence, and per scored bit, on sequences of three times the length."""
    option = "--items" if task == "associative_recall" else "--lengths"
    found = subprocess.run([binary, "eval", path, option, str(TASKS[task]), "--json"],
                           check=True, capture_output=True, text=True).stdout
    line = json.loads(found.splitlines()[-1])
    return {key: line[key] for key in ("bits_per_sequence", "wrong_bits", "scored_bits")}


def collect(binary, out, seeds):
    results = []
    for task in TASKS:
        for variant in VARIANTS:
            for seed in seeds:
                path = folder(out, task, variant, seed)
                if not path or not os.path.exists(os.path.join(path, "weights.safetensors")):
                    continue
                known = os.path.join(path, "three_times.json")
                if not os.path.exists(known):
                    measured = json.dumps(measure(binary, path, task))
                    with open(known, "w") as to:
                        to.write(measured)
                points = history(path)
                learned = next((at for at, bits in points if bits < THRESHOLD), None)
                with open(known) as file:
                    results.append({"task": task, "variant": variant, "seed": seed, "learned": learned,
                                    "best": min(bits for _, bits in points), "three_times": json.load(file)})
    return results


def summary(results, task, variant):
    runs = [run for run in results if run["task"] == task and run["variant"] == variant]
    learned = [run["learned"] for run in runs if run["learned"] is not None]
    wrong = [100 * run["three_times"]["wrong_bits"] / run["three_times"]["scored_bits"] for run in runs]
    return {"runs": len(runs), "learned": len(learned), "sequences": statistics.median(learned) if learned else None,
            "best": statistics.median(run["best"] for run in runs) if runs else None,
            "wrong": statistics.median(wrong) if wrong else None}


def table(results):
    lines = ["| attention | " + " | ".join(f"{task.replace('_', ' ')}: learned | sequences | bits | wrong at 3×" for task in TASKS) + " |",
             "|---|" + "---:|" * 4 * len(TASKS)]
    for variant in VARIANTS:
        cells = []
        for task in TASKS:
            of = summary(results, task, variant)
            if of["runs"] == 0:
                cells += ["–"] * 4
                continue
            sequences = "–" if of["sequences"] is None else f"{of['sequences'] / 1000:.0f} k"
            cells += [f"{of['learned']}/{of['runs']}", sequences, f"{of['best']:.2f}", f"{of['wrong']:.1f} %"]
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def apart(out, seeds):
    """The redundancy of the heads and the bits at the best validation, with and without a penalty."""
    lines = ["| associative recall | learned | sequences | bits | redundancy ‖A·Aᵀ − I‖² |", "|---|---:|---:|---:|---:|"]
    for variant in APART:
        paths = [folder(out, "associative_recall", variant, seed) for seed in seeds]
        found = [logs.validations(path) for path in paths if path]
        if not found:
            continue
        best = [logs.best(points) for points in found]
        learned = [logs.first_below(points, THRESHOLD) for points in found]
        learned = [at for at in learned if at is not None]
        sequences = f"{statistics.median(learned) / 1000:.0f} k" if learned else "–"
        bits = statistics.median(one["bits_per_sequence"] for one in best)
        redundancy = statistics.median(one["redundancy"] for one in best)
        lines.append(f"| {variant} | {len(learned)}/{len(found)} | {sequences} | {bits:.2f} | {redundancy:.2f} |")
    return "\n".join(lines) + "\n"


def figure(results):
    """For each task, a row for each kind of attention: a dot for every run at the sequences until it had learned."""
    width, left, panel, row = 1180, 150, 320, 20
    top, rows = 56, len(VARIANTS)
    height = top + rows * row + 44
    low, high = math.log10(1000), math.log10(200000)
    text = []

    def say(x, y, words, anchor="start", size=12, colour="#333"):
        text.append(f'<text x="{x:.1f}" y="{y:.1f}" font-family="Inter, sans-serif" font-size="{size}" '
                    f'fill="{colour}" text-anchor="{anchor}">{words}</text>')

    text.append(f'<rect width="{width}" height="{height}" fill="#ffffff"/>')
    for index, task in enumerate(TASKS):
        x0 = left + index * (panel + 20)
        span = panel - 70
        say(x0, 20, task.replace("_", " "), size=14)
        say(x0 + span + 64, 40, "wrong at 3×", "end", 11, "#777")
        for tick in (1000, 10000, 100000):
            x = x0 + span * (math.log10(tick) - low) / (high - low)
            text.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 8}" y2="{top + rows * row}" stroke="#ddd"/>')
            say(x, top + rows * row + 16, f"{tick // 1000} k", "middle", 11, "#777")
        say(x0 + span / 2, top + rows * row + 34, "sequences until learned", "middle", 11, "#777")
        for line, variant in enumerate(VARIANTS):
            y = top + line * row + 6
            if index == 0:
                say(left - 12, y + 4, variant, "end")
            runs = [run for run in results if run["task"] == task and run["variant"] == variant]
            for run in runs:
                if run["learned"] is None:
                    continue
                x = x0 + span * (math.log10(run["learned"]) - low) / (high - low)
                text.append(f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="#2f6f9f" fill-opacity="0.55"/>')
            failed = sum(run["learned"] is None for run in runs)
            if failed:
                say(x0 + span - 4, y + 4, f"{failed} of {len(runs)} not", "end", 11, "#b04a2f")
            of = summary(results, task, variant)
            if of["wrong"] is not None:
                say(x0 + span + 64, y + 4, f"{of['wrong']:.1f} %", "end", 11)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
            + "\n".join(text) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "tapescope"))
    parser.add_argument("--out", default="sweeps/attention")
    parser.add_argument("--seeds", default="1..5")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", default=[], help="TASK/ATTENTION, TASK, /ATTENTION or apart")
    parser.add_argument("--collect", action="store_true", help="train nothing")
    options = parser.parse_args()
    first, last = options.seeds.split("..")
    wanted = [(task, variant) for task in TASKS for variant in VARIANTS
              if not options.only or any(one in (f"{task}/{variant}", task, f"/{variant}") for one in options.only)]
    wanted += [("associative_recall", variant) for variant in APART
               if not options.only or "apart" in options.only]
    for task, variant in [] if options.collect else wanted:
        train(options.binary, options.out, task, variant, options.seeds, options.jobs)
        print(f"{task} {variant}", flush=True)
    seeds = range(int(first), int(last) + 1)
    results = collect(options.binary, options.out, seeds)
    tables = table(results) + "\n" + apart(options.out, seeds)
    for name, content in [("attention.json", json.dumps(results, indent=1)), ("attention.md", tables),
                          ("attention.svg", figure(results))]:
        with open(os.path.join(options.out, name), "w") as to:
            to.write(content)
    print(tables)


if __name__ == "__main__":
    main()
