#!/usr/bin/env python3
"""Measures the included machines at the sizes of their presets and beyond: the data of the tables in docs/results.

    cargo build --release
    python3 benches/suite.py
    UPDATE_TABLES=1 cargo test --test library results

Runs `tapescope eval` and writes its lines of JSON into OUT/suite.jsonl and OUT/beyond.jsonl. Takes two minutes of
processor time, most of it for copies of 10,000 vectors.
"""

import argparse
import pathlib
import subprocess

import logs

OUT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "results" / "data"
BEYOND = [
    "copy --lengths 500",
    "copy --lengths 500 --rows 1024",
    "copy --lengths 1000 --rows 4096 --episodes 10",
    "copy --lengths 5000 --rows 8192 --episodes 10",
    "copy --lengths 10000 --rows 32768 --episodes 10",
    "copy_feedforward --lengths 120,200 --rows 512",
    "repeat_copy --lengths 10 --repeats 10 --rows 512",
    "repeat_copy --lengths 20 --repeats 10 --rows 256",
    "repeat_copy --lengths 5,10 --repeats 11,12 --rows 128",
    "associative_recall --items 30,100",
    "associative_recall --items 30,100 --rows 1024",
    "associative_recall --items 200 --rows 1024 --episodes 10",
    "associative_recall --items 300 --rows 1536 --episodes 10",
    "associative_recall --items 500 --rows 2560 --episodes 10",
    "associative_recall --items 1000 --rows 8192 --episodes 10",
    "associative_recall --items 1000 --rows 16384 --episodes 10",
    "copy_dnc --lengths 20,100 --rows 256",
    "copy_sam --lengths 40",
    "copy_sam --lengths 20 --rows 1048576",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=logs.program, default="target/release/tapescope", help="default: %(default)s")
    parser.add_argument("--out", type=pathlib.Path, default=OUT, help="default: docs/results/data")
    a = parser.parse_args()
    for name, commands in [("suite", ["--suite"]), ("beyond", BEYOND)]:
        measured = [subprocess.run([a.binary, "eval", *command.split(), "--format", "json"], stdout=subprocess.PIPE, check=True).stdout
                    for command in commands]
        (a.out / f"{name}.jsonl").write_bytes(b"".join(measured))


if __name__ == "__main__":
    main()
