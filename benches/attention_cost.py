#!/usr/bin/env python3
"""What soft, local, hard and Bayesian attention cost and give on sources of up to 500 steps.

    cargo build --release
    python3 benches/attention_cost.py [--out sweeps/attention_cost] [--jobs N] [--only frames/hard calibration ...] [--collect]

Cost: on `frames` and `transduce`, every weighting is trained on short sources and then on sources of up to 500 steps
(three seeds, one thread a run), measured at several lengths, and timed without training up to 2,000 source steps.
Calibration: soft and Bayesian weights on `transduce`, with and without ambiguous symbols, five seeds: the expected
calibration error, and the spread over samples. Writes OUT/attention_cost.json and tables in Markdown; with --only the other
parts have the results of the runs that are there.
"""

import glob
import json
import os
import statistics
import subprocess

from alignment import asked, bahdanau, measured, name_of, of_file, preset, processor_seconds, sweep

# The lengths of short and long sources and of measurements, in symbols: a symbol of `frames` lasts 3 to 8 steps.
TASKS = {
    "frames": ({"kind": "frames"}, [1, 8], [1, 90], [20, 45, 90], [90, 180, 360]),
    "transduce": ({"kind": "transduce", "symbols": 16, "order": "same", "fertility": 1, "silent": 0.0, "ambiguous": 0.0,
                   "dictionary": 1}, [1, 40], [1, 500], [100, 250, 500], [500, 1000, 2000]),
}


def reader(weighting, **constants):
    """Luong's attention with input feeding on an encoder in both directions."""
    switches = {"encoder": {"direction": "both"}, "feeding": "input", "attention": {"score": "general", "weighting": weighting}}
    return of_file("luong", {"encoder": {"units": 32}, "combined": 64}, switches, **constants)


def hard():
    """The same with sampled rows: the weights of reward and entropy are constants of the file."""
    machine = reader("hard")
    machine["constants"] = {"attention": {"drawn": {"lambda_r": 0.1, "lambda_e": 0.01}}}
    return machine


HARD = {"hard": {"expected": 0.5}}
WEIGHTINGS = {
    "soft": (reader("soft"), {}),
    "local monotonic": (reader("local_monotonic", D=8), {}),
    "local predictive": (reader("local_predictive", D=8), {}),
    "hard": (hard(), HARD),
}
# Sequences; and rates on long sources, of which the first one that does not diverge is taken.
SHORT, LONG = 20000, {"frames": 8000, "transduce": 2500}
RATES = [4e-3, 2e-3, 1e-3, 5e-4]

UNCERTAIN = {"transduce": 0.0, "transduce, ambiguous": 0.25}
BAYESIAN = {"bayesian": {"warmup": 10000}}


def bayesian(weighting):
    machine = bahdanau(weighting=weighting)
    machine["constants"] = {"attention": {"rho": 1e-3}}
    return machine



WEIGHTS = {
    "soft": (bahdanau(), {}),
    "Weibull": (bayesian("weibull"), BAYESIAN),
    "lognormal": (bayesian("lognormal"), BAYESIAN),
}


def folder(options, *parts):
    return os.path.join(options.out, *map(name_of, parts))


def runs(path):
    found = sorted(glob.glob(os.path.join(path, "*/")))
    return [run for run in found if os.path.exists(run + "weights.safetensors")]


def train_cost(options, task, weighting):
    of, short, long, *_ = TASKS[task]
    model, training = WEIGHTINGS[weighting]
    path = folder(options, task, weighting)
    first = preset(path + "/short.json", f"{task}, {weighting}", {**of, "length": short}, model, sequences=SHORT, **training)
    sweep(options, first, path + "/short", "--seeds", "1..3")
    for run in runs(path + "/short"):
        seed = run.rstrip("/").split("seed=")[1]
        out = os.path.join(path, "long", f"seed={seed}/")
        if not os.path.exists(out + "long.json"):
            train_long(options, path, run, out, seed, {**of, "length": long}, model, {"sequences": LONG[task], **training})


def train_long(options, path, run, out, seed, task, model, training):
    """Trains a run further on long sources, and keeps its rate and the processor seconds."""
    for rate in RATES:
        more = {"optimizer": {"kind": "adam", "learning_rate": rate}, "validation_every": 500, "validation_episodes": 20}
        long = preset(path + "/long.json", "long sources", task, model, **more, **training)
        command = [options.binary, "train", long, "--from", run, "--seed", seed, "--out", out, "--threads", "1", "--force"]
        try:
            seconds = processor_seconds(command)
        except subprocess.CalledProcessError:
            continue
        with open(out + "long.json", "w") as to:
            json.dump({"rate": rate, "seconds": seconds}, to)
        return


def inference(options, run, length):
    """Processor milliseconds of one sequence without training: the difference between evaluations of 12 and of 2."""
    def used(episodes):
        return processor_seconds([options.binary, "eval", run, "--lengths", str(length), "--episodes", str(episodes), "--threads", "1"])
    return statistics.median(100 * (used(12) - used(2)) for _ in range(3))


def cost(options):
    results = []
    for task, (_, _, _, lengths, timed) in TASKS.items():
        for weighting in WEIGHTINGS:
            of = [run for run in runs(folder(options, task, weighting) + "/long") if os.path.exists(run + "long.json")]
            if not of:
                continue
            lines = [measured(options, run, lengths) for run in of]
            known = folder(options, task, weighting) + "/inference.json"
            if not os.path.exists(known):
                with open(known, "w") as to:
                    json.dump([inference(options, of[0], length) for length in timed], to)
            with open(known) as file:
                milliseconds = json.load(file)
            kept = [json.load(open(run + "long.json")) for run in of]
            results.append({
                "task": task, "weighting": weighting, "seeds": len(of), "rates": [one["rate"] for one in kept],
                "seconds": statistics.median(one["seconds"] for one in kept),
                "milliseconds": dict(zip(timed, milliseconds)),
                "wrong": {length: [line[at]["wrong_bits"] / line[at]["scored_bits"] for line in lines]
                          for at, length in enumerate(lengths)},
                "error_rate": {length: [line[at]["alignment"]["error_rate"] for line in lines]
                               for at, length in enumerate(lengths)},
            })
    return results


def train_calibration(options, task, weights):
    model, training = WEIGHTS[weights]
    of = {**TASKS["transduce"][0], "order": "swap_pairs", "fertility": 2, "silent": 0.125, "length": [1, 10],
          "ambiguous": UNCERTAIN[task]}
    path = folder(options, "calibration", task, weights)
    sweep(options, preset(path + ".json", f"{task}, {weights}", of, model, **training), path, "--seeds", "1..5")


def calibration(options):
    results = []
    for task in UNCERTAIN:
        for weights in WEIGHTS:
            of = runs(folder(options, "calibration", task, weights))
            sampling = [] if weights == "soft" else ["--samples", "20"]
            lines = [measured(options, run, [10, 15], "lengths.json", *sampling) for run in of]
            for at, length in enumerate([10, 15] if of else []):
                results.append({
                    "task": task, "weights": weights, "length": length,
                    "perfect": [line[at]["perfect"] for line in lines],
                    "calibration_error": [line[at]["calibration_error"] for line in lines],
                    "bits": [line[at]["bits_per_sequence"] for line in lines],
                    "sampled": [line[at].get("sampled") for line in lines],
                })
    return results


def of_seeds(values, form):
    return f"{form(statistics.median(values))} ({form(min(values))}–{form(max(values))})"


def percent(share):
    return f"{100 * share:.1f} %"


def tables(costs, calibrations):
    text = []
    for task, (*_, lengths, timed) in TASKS.items():
        text += [f"{task}", "", "| weighting | rates | training | " + " | ".join(f"wrong at {length}" for length in lengths)
                 + f" | AER at {lengths[-1]} | " + " | ".join(f"inference at {length}" for length in timed) + " |",
                 "|---|---:|---:|" + "---:|" * (len(lengths) + 1 + len(timed))]
        for one in costs:
            if one["task"] == task:
                cells = [of_seeds(one["wrong"][length], percent) for length in lengths]
                cells.append(of_seeds(one["error_rate"][lengths[-1]], lambda rate: f"{rate:.2f}"))
                cells += [f"{milliseconds:.1f} ms" for milliseconds in one["milliseconds"].values()]
                text.append(f"| {one['weighting']} | {', '.join(map(str, one['rates']))} | {one['seconds']:.0f} s | " + " | ".join(cells) + " |")
        text.append("")
    text += ["| task | weights | length | perfect | bits | ECE | ECE of 20 samples | spread, bits |", "|---|---|---:|---:|---:|---:|---:|---:|"]
    for one in calibrations:
        sampled = [of for of in one["sampled"] if of]
        error = of_seeds([of["calibration_error"] for of in sampled], lambda x: f"{x:.3f}") if sampled else "–"
        spread = f"{statistics.median(of['bits_spread'] for of in sampled):.2f}" if sampled else "–"
        text.append(f"| {one['task']} | {one['weights']} | {one['length']} | {of_seeds(one['perfect'], percent)} | "
                    f"{of_seeds(one['bits'], lambda x: f'{x:.2f}')} | "
                    f"{of_seeds(one['calibration_error'], lambda x: f'{x:.3f}')} | {error} | {spread} |")
    return "\n".join(text) + "\n"


def main():
    only = "TASK/WEIGHTING, TASK, /WEIGHTING or calibration"
    options, wanted = asked(__doc__, "attention_cost", only, TASKS, WEIGHTINGS)
    for task, weighting in [] if options.collect else wanted:
        train_cost(options, task, weighting)
        print(f"{task} {weighting}", flush=True)
    if not options.collect and (not options.only or "calibration" in options.only):
        for task in UNCERTAIN:
            for weights in WEIGHTS:
                train_calibration(options, task, weights)
                print(f"{task} {weights}", flush=True)
    costs, calibrations = cost(options), calibration(options)
    os.makedirs(options.out, exist_ok=True)
    for name, content in [("json", json.dumps([costs, calibrations], indent=1)), ("md", tables(costs, calibrations))]:
        with open(os.path.join(options.out, "attention_cost." + name), "w") as to:
            to.write(content)
    print(tables(costs, calibrations))


if __name__ == "__main__":
    main()
