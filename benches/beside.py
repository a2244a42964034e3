"""Tapescope and its peers side by side: processes that time a window of work whenever they are asked to.

All of them stay alive and take turns on one processor, so that whatever else the machine does falls on all
of them, and compiling and importing is paid once. `compare.py` and `growth.py` use this; run as a program,
it is a peer: `beside.py SCRIPT <options of the peer's script>`, such as `jax_ntm`, in the folder with that script.
Other folders of peers than `benches/peers` have scripts of the same names, whose `main` times with `measure`.
"""

import argparse
import glob
import importlib
import json
import os
import statistics
import subprocess
import sys
import time

PEERS = ("jax", "torch")
OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")


class Runner:
    """A process that has done its warm-up and waits."""

    def __init__(self, command, cpu, folder=None):
        prefix = ["taskset", "-c", cpu] if cpu else []
        self.process = subprocess.Popen(prefix + command, cwd=folder, text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.line()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"it ended early: {' '.join(self.process.args)}")
        return line

    def rate(self):
        """Sequences per second in one more window."""
        self.process.stdin.write("go\n")
        return json.loads(self.line())["seqs_per_s"]

    def close(self):
        """Ends it; returns the most memory it has held, in MiB (Linux; elsewhere not a number)."""
        try:
            with open(f"/proc/{self.process.pid}/status") as status:
                peak = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
        except OSError:
            peak = float("nan")
        self.process.stdin.close()
        self.process.wait()
        return peak


def take_turns(runners, rounds, longest=float("inf")):
    """Rates of every runner, {name: [one per round]}; one that needs longer than this for a window runs once."""
    rates, slow = {name: [] for name in runners}, set()
    for _ in range(rounds):
        for name in [name for name in runners if name not in slow]:
            start = time.perf_counter()
            rates[name].append(runners[name].rate())
            if time.perf_counter() - start > longest:
                slow.add(name)
    return rates


def spread(values, digits=None):
    """Median (least to most), to three figures unless told."""
    middle = statistics.median(values)
    if digits is None:
        digits = 0 if middle >= 100 else 1 if middle >= 10 else 2 if middle >= 1 else 3
    cell = f"{middle:,.{digits}f}"
    return cell if len(values) == 1 else f"{cell} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def ratio(ours, theirs):
    """How many times as fast: the median over the rounds that both ran."""
    return f"{statistics.median(o / p for o, p in zip(ours, theirs)):.1f}"


def bench_binary():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(here, "target"))
    found = [f for f in glob.glob(os.path.join(target, "release/deps/throughput-*")) if os.access(f, os.X_OK)]
    if not found:
        sys.exit("build it first: cargo bench --no-default-features --bench throughput --no-run")
    return max(found, key=os.path.getmtime)


def parser(description, seconds):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--peers", default=OWN, help="the folder with torch_ntm.py, jax_ntm.py and others; default: benches/peers")
    parser.add_argument("--python", default=sys.executable, help="a Python with jax and torch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=seconds, help="length of a window")
    parser.add_argument("--cpu", default="0", help="the processor everything runs on")
    return parser


def start(a, options, forward=False, special=None, work="ntm", peers=None):
    """Everyone, warmed up, on the same work: {name: Runner}, Tapescope first. `special` holds options of one of them."""
    options, special = [str(option) for option in [*options, "--seconds", a.seconds]], special or {}
    ours = [bench_binary(), *options, "--on-request", *special.get("tapescope", [])] + (["--forward"] if forward else [])
    runners = {"tapescope": Runner(ours, a.cpu)}
    for name in peers or PEERS:
        mode = ["--mode", "forward" if forward else "train", *special.get(name, [])]
        runners[name] = Runner([a.python, os.path.abspath(__file__), f"{name}_{work}", *options, *mode], a.cpu, a.peers)
    return runners


def on_request(one, seconds, *rest):
    """Stands in for `measure` in a peer's script: one() does work and says how many sequences it was.

    The last argument waits until the work is done, where that is not so when one() returns.
    """
    sync = rest[-1] if callable(rest[-1]) else lambda: None
    clock, calls, begin = time.perf_counter, 1, time.perf_counter()
    one()
    sync()
    # Waiting for a result after every call would cost the fast ones; queueing for a whole window, the slow ones.
    calls = max(1, int(0.1 * seconds / (clock() - begin)))
    print("ready", flush=True)
    for _ in sys.stdin:
        sequences, begin = 0, clock()
        while sequences == 0 or clock() - begin < seconds:
            sequences += sum(one()[0] for _ in range(calls))
            sync()
        print(json.dumps({"seqs_per_s": sequences / (clock() - begin)}), flush=True)
    sys.exit()


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    script = importlib.import_module(sys.argv.pop(1))
    script.measure = on_request
    script.main()
