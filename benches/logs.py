"""What the log of a run says: its validations, for the scripts that compare runs."""

import argparse
import json
import math
import pathlib


def validations(run):
    """The sequences and the measurement of every validation in the folder of a run; numbers that are not finite are floats."""
    lines = (pathlib.Path(run) / "history.ntmlog.jsonl").read_text().splitlines(keepends=True)
    # A line that is being written has no end yet.
    points = [json.loads(line) for line in lines if line.endswith("\n")]
    return [(point["sequences"], {key: number(value) for key, value in point["validation"].items()})
            for point in points if "validation" in point]


def number(value):
    """A number of a log, in which NaN and infinity are words."""
    return float(value) if isinstance(value, str) else value


def bits(validation):
    """Bits per sequence; infinite where they are not a number."""
    found = validation["bits_per_sequence"]
    return math.inf if math.isnan(found) else found


def first_below(points, threshold):
    """Sequences until the first validation below the threshold; None where there is none."""
    return next((sequences for sequences, validation in points if bits(validation) < threshold), None)


def best(points):
    """The validation with the fewest bits per sequence; None where there is none."""
    return min((validation for _, validation in points), key=bits, default=None)


def seeds(text):
    """The seeds of an option: one, or a range such as 1-10."""
    ends = text.split("-")
    if len(ends) > 2 or not all(end.isdecimal() for end in ends) or int(ends[0]) > int(ends[-1]):
        raise argparse.ArgumentTypeError(f"{text!r}; expected a seed, or a range such as 1-10")
    return range(int(ends[0]), int(ends[-1]) + 1)


def program(text):
    """The path of the program that an option names."""
    if not pathlib.Path(text).is_file():
        raise argparse.ArgumentTypeError(f"{text} is not there; build it with: cargo build --release")
    return text
