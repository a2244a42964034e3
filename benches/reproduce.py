#!/usr/bin/env python3
"""Which included machines the stored commands reproduce, bit for bit, and how long each takes.

    cargo build --release
    python3 benches/reproduce.py [NAME ...] [--most-seconds 60]

Trains every machine in assets/ again with `tapescope train --repeat`, those with the shortest stored time first, and
prints a table. `--most-seconds` leaves out those whose stored time is longer. The exit code is 1 if one differs or cannot be repeated.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import logs

ASSETS = pathlib.Path(__file__).resolve().parent.parent / "assets"


def stored_seconds(path):
    """Seconds until the stored weights, by the learning curve of the file."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        metadata = json.loads(file.read(length))["__metadata__"]
    history = json.loads(metadata["history"])
    return history[-1]["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="machines in assets/ [default: all]")
    parser.add_argument("--binary", type=logs.program, default="target/release/tapescope")
    parser.add_argument("--most-seconds", type=float, default=float("inf"))
    parser.add_argument("--threads", default="1")
    a = parser.parse_args()
    paths = [ASSETS / f"{name}.safetensors" for name in a.names] or ASSETS.glob("*.safetensors")
    if a.names and (unknown := [path.stem for path in paths if not path.is_file()]):
        parser.error(f"{', '.join(unknown)}: not in {ASSETS.name}/; known: " +
                     ", ".join(sorted(path.stem for path in ASSETS.glob("*.safetensors"))))
    found = sorted((stored_seconds(path), path) for path in paths)
    print("| machine | stored seconds | seconds | result |\n|---|---|---|---|", flush=True)
    differ = False
    for seconds, path in found:
        if seconds > a.most_seconds:
            continue
        with tempfile.TemporaryDirectory() as folder:
            command = [a.binary, "train", "--repeat", path, "--out", f"{folder}/run", "--threads", a.threads]
            start = time.perf_counter()
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            took = time.perf_counter() - start
        # 1 is a difference; every other code but 0 an error.
        said = (done.stdout if done.returncode in (0, 1) else done.stderr).splitlines()
        result = said[-1] if said else f"error: ended with {done.returncode}"
        differ |= done.returncode != 0
        print(f"| {path.stem} | {seconds:.0f} | {took:.0f} | {result} |", flush=True)
    sys.exit(differ)


if __name__ == "__main__":
    main()
