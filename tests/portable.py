"""Runs the program on several platforms and compares every file that it writes (called by .ci/portable).

    python3 tests/portable.py FOLDER x86-64=PROGRAM windows='wine PROGRAM.EXE' aarch64='qemu-aarch64 PROGRAM'

The first platform is the reference. On each of them every machine below is trained and traced, and the files are
compared byte by byte. Left out are the seconds that a training took, which logs and weights files carry (`"seconds":`
followed by a number), and the checksum of a weights file, which covers them. On the one called windows a run is then stopped, killed, resumed, locked and
replaced.
"""

import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TASKS = Path(__file__).resolve().parent.parent / "tasks"
SEQUENCES = 300
# A machine whose sizes fill no vector register.
SMALL = {
    "task": {"kind": "copy", "bits": 3, "length": [1, 5]},
    "model": {"memory": {"rows": 13, "columns": 5}, "controller": {"size": 11}},
    "training": {
        "sequences": SEQUENCES, "seed": 3, "final_lr_factor": 0.01, "validation_every": 100, "validation_episodes": 10,
    },
}
HEADS = {"read": 4, "write": 4}
EVERY_SCORE = ["additive", "general", "location", "cosine"] * 2
EVERY_WEIGHTING = ["hard", "local-predictive", "weibull", "lognormal"] * 2


class Platform:
    def __init__(self, name, command, folder):
        self.name, self.command, self.folder = name, shlex.split(command), folder / name
        self.folder.mkdir()

    def start(self, *arguments, **streams):
        return subprocess.Popen([*self.command, *map(str, arguments)], cwd=self.folder, **streams)

    def run(self, *arguments, code=0):
        """The output of a command, which must end with this exit code."""
        process = self.start(*arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, error = process.communicate(timeout=1800)
        if process.returncode != code:
            words = " ".join(map(str, arguments))
            sys.exit(f"{self.name}: `{words}` ended with {process.returncode} instead of {code}:\n{error.decode()}")
        return (out + error).decode().replace("\r\n", "\n")

    def keep(self, name, *arguments):
        """Keeps what a command prints as a file that is compared."""
        (self.folder / name).write_text(self.run(*arguments), newline="\n")


def choices(reference):
    """Changes of SMALL: every word of every key, each score with each weighting, and a few numbers."""
    keys = {}
    for line in reference.run("tasks", "--keys").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        words = re.findall(r"`([a-z_-]+)`", cells[3]) if len(cells) > 4 else []
        # A machine file is named beside its kind.
        words = [word for word in words if word != "equations"]
        key = cells[0].strip("`")
        if key.startswith(("model.", "training.")) and words:
            keys[key] = (cells[1], words)
    of = {word: [f"{key}={word}"] for key, (_, words) in keys.items() for word in words}
    of["ntm"] = []
    for key, (kind, words) in keys.items():
        # A key that only some machines have comes with what makes it one of them.
        for need in [of[word] for word in kind.split(", ") if word in of] or [[]]:
            yield from ([*need, f"{key}={word}"] for word in words)
    for score in keys["model.heads.attention.score"][1]:
        for weighting in keys["model.heads.attention.weighting"][1]:
            yield [f"model.heads.attention.score={score}", f"model.heads.attention.weighting={weighting}"]
    yield ["model.memory.initial=learned"]
    yield ["model.controller.layers=2", "model.heads.shift.range=3", "training.batch=4"]
    yield ["model.controller.kind=feedforward", "model.controller.layers=2", "model.heads.read=3"]
    heads = [f"model.heads.{kind}={count}" for kind, count in HEADS.items()]
    mixed = {"score": EVERY_SCORE, "weighting": EVERY_WEIGHTING}
    yield heads + [f"model.heads.attention.{key}={json.dumps(words)}" for key, words in mixed.items()]


def machines(reference):
    """Name, preset and arguments of each training."""
    for changes in choices(reference):
        name = re.sub(r"[^a-z0-9=._-]+", "-", "-".join(changes))
        name = re.sub(r"model\.|training\.|heads\.|attention\.", "", name)[:80]
        yield name, "../small.json", [word for change in changes for word in ("--set", change)]
    for preset in sorted(path.stem for path in TASKS.glob("*.json")):
        few = ["--sequences", "4", "--set", "training.validation_every=2", "--set", "training.validation_episodes=1"]
        yield preset, preset, few


def everywhere(work, all_of_it):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda item: work(*item), all_of_it))


def train(platform, machine):
    name, preset, changes = machine
    platform.run("train", preset, *changes, "--threads", 1, "--out", name)


def trace(platform, machine):
    # Of the weights of the reference: a trace carries the checksum of the weights file, which carries seconds.
    name = machine[0]
    weights = f"../weights/{name}.safetensors"
    platform.run("trace", weights, "--episode", 2, "--gradient", "loss", "--out", f"{name}.npz")
    platform.keep(f"{name}.verify.txt", "verify", f"{name}.npz", "--weights", weights)


def included(platform, machine):
    platform.run("trace", machine, "--seed", 7, "--out", f"{machine}.ntmtrace.json")
    platform.run("trace", machine, "--seed", 7, "--out", f"{machine}.ntmtrace.json.gz")
    platform.run("render", machine, "--seed", 7, "--out", f"{machine}.svg")
    platform.keep(f"{machine}.eval.json", "eval", machine, "--episodes", 2, "--json", "--threads", 1)


def pictures(platform, *arguments):
    platform.run("render", *arguments)


def without_seconds(path):
    """The bytes of a file without the times in it."""
    data = path.read_bytes()
    number = rb'(\\*"seconds\\*":)[0-9.eE+-]+'
    if path.suffix == ".jsonl":
        return re.sub(number, rb"\1", data)
    if path.suffix == ".safetensors":
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(re.sub(number, rb"\1 0", data[8 : 8 + length]))
        del header["__metadata__"]["checksum"]
        return json.dumps(header, sort_keys=True).encode() + data[8 + length :]
    return data


def compare(reference, other, where=""):
    """Every file below a folder of the reference is the same on the other platform, and there are no others."""
    one, two = ({path.relative_to(platform.folder): path for path in (platform.folder / where).rglob("*")
                 if path.is_file()} for platform in (reference, other))
    wrong = [f"only one platform has {name}" for name in sorted(one.keys() ^ two.keys())]
    same = sorted(one.keys() & two.keys())
    wrong += [f"{name} differs" for name in same if without_seconds(one[name]) != without_seconds(two[name])]
    if wrong:
        sys.exit(f"{reference.name} and {other.name}:\n  " + "\n  ".join(wrong))
    print(f"{other.name}: {len(same)} files have the same bytes as on {reference.name}", flush=True)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


FINISHED = ["history.ntmlog.jsonl", "preset.json", "weights.safetensors"]
LONG = ["--sequences", "400000", "--set", "training.validation_every=4000"]


def wait_until(is_so, process, what):
    end = time.monotonic() + 120
    while not is_so():
        if process.poll() is not None or time.monotonic() > end:
            sys.exit(f"{what}: not before the end of the command (exit code {process.poll()})")
        time.sleep(0.02)


def run_folders(reference, platform):
    """Interrupts, kills, resumes, locks and replaces a run."""
    folder = platform.folder / "long"
    log = folder / "history.ntmlog.jsonl"
    train = ["train", "../small.json", *LONG, "--threads", 1, "--out", "long"]
    resume = ["train", "--resume", "long", "--threads", 1]
    reference.run(*train)

    def has_gone_on(since):
        return lambda: log.exists() and log.stat().st_size > since + 500

    def begin(*arguments, **environment):
        quiet = dict.fromkeys(["stdout", "stderr"], subprocess.DEVNULL)
        return platform.start(*arguments, stdin=subprocess.PIPE, env=os.environ | environment, **quiet)

    # As a sweep stops its runs. Ctrl-C cannot be tried: signal() of wine takes SIG_GET, which asks for the handler, for
    # a handler and calls it.
    first = begin(*train, TAPESCOPE_ENDS_WITH_STDIN="1")
    wait_until(lambda: log.exists() and log.read_bytes().count(b"\n") > 3, first, "a validation")
    first.stdin.close()
    code = first.wait(60)
    assert code == 130, f"exit code {code} of a run that was stopped"
    assert names(folder) == sorted([*FINISHED, "checkpoint.safetensors"]), f"after a stop: {names(folder)}"
    done = log.read_bytes().count(b"\n")
    assert 3 < done < 90, f"{done} lines after a stop"
    print(f"{platform.name}: a run that is stopped keeps a checkpoint and frees its folder ({done - 1} validations)", flush=True)

    size = log.stat().st_size
    second = begin(*resume)
    wait_until(has_gone_on(size), second, "a validation after --resume")
    for arguments in (resume, [*train, "--force"]):
        refused = platform.run(*arguments, code=2)
        assert re.search(r"is being written by process \d+: tapescope train --resume long", refused), refused
    print(f"{platform.name}: a second writer is refused: {refused.strip()}", flush=True)
    second.kill()
    second.wait(60)
    assert log.read_bytes().count(b"\n") < 90, "killed too late"
    platform.run(*resume)
    assert names(folder) == FINISHED, f"after the end: {names(folder)}"
    compare(reference, platform, "long")
    print(f"{platform.name}: an interrupted and killed run ends with the same bytes; no lock is left", flush=True)

    again = ["train", "../small.json", "--threads", 1, "--out", "long"]
    assert "--force" in platform.run(*again, code=2)
    compare(reference, platform, "long")
    for each in (reference, platform):
        each.run(*again, "--force")
    compare(reference, platform, "long")
    print(f"{platform.name}: --force replaces a finished run, and nothing else does", flush=True)
    for each in (reference, platform):
        shutil.rmtree(each.folder / "long")


def main():
    folder = Path(sys.argv[1]).resolve()
    start = time.monotonic()
    all_of_them = [argument.split("=", 1) for argument in sys.argv[2:]]
    for name in ["weights", *(name for name, _ in all_of_them)]:
        shutil.rmtree(folder / name, ignore_errors=True)
    reference, *others = [Platform(name, command, folder) for name, command in all_of_them]
    (folder / "weights").mkdir()
    (folder / "small.json").write_text(json.dumps(SMALL))
    trainings = list(dict((machine[0], machine) for machine in machines(reference)).values())
    ships = sorted(path.stem for path in (TASKS.parent / "assets").glob("*.safetensors"))
    for platform in [reference, *others]:
        everywhere(train, ((platform, machine) for machine in trainings))
        if platform is reference:
            for name, *_ in trainings:
                shutil.copy(reference.folder / name / "weights.safetensors", folder / "weights" / f"{name}.safetensors")
        everywhere(trace, ((platform, machine) for machine in trainings))
        everywhere(included, ((platform, machine) for machine in ships))
        pictures(platform, "copy", "--length", 2, "--motion", "--seconds", 3, "--out", "motion.gif")
        pictures(platform, "copy", "--length", 5, "--out", "figure.png")
        print(f"{platform.name}: {len(trainings)} trainings and as many traces, {len(ships)} included machines "
              f"(after {time.monotonic() - start:.0f} s)", flush=True)
        if platform is not reference:
            compare(reference, platform)
        if platform.name == "windows":
            run_folders(reference, platform)
    print(f"all the same (after {time.monotonic() - start:.0f} s)")


main()
