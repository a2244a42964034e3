"""Your own pairs: carry out commands, words in and actions out, with commands of a new kind in the test set.

    python commands.py                  # writes commands.tsv, commands_test.tsv and a preset, commands.json
    python commands.py 50               # with 50 commands of the new kind among those that are learned
    tapescope train commands.json
    tapescope eval runs/commands-1
    tapescope view runs/commands-1
"""

import itertools
import json
import random
import sys

VERBS = ["walk", "look", "run", "jump"]
TURNS = ["", "left", "right", "around left", "around right"]
TIMES = ["", "twice", "thrice"]
JOINS = ["", "and", "after"]


def actions(verb, turn, times):
    """Returns the actions of one part of a command."""
    once = [verb.upper()]
    if turn:
        side = f"TURN_{turn.split()[-1].upper()}"
        once = [side, *once] * (4 if "around" in turn else 1)
    return once * (1 + TIMES.index(times))


def command(first, join, second):
    """Returns a command and its actions: with `after` the second part comes first."""
    words = [" ".join(filter(None, part)) for part in (first, second)]
    made = [actions(*part) for part in (first, second)]
    if not join:
        return words[0], made[0]
    return f"{words[0]} {join} {words[1]}", made[1] + made[0] if join == "after" else made[0] + made[1]


PRESET = {
    "title": "Commands",
    "description": "Carry out commands: words in, actions out.",
    "task": {"kind": "pairs", "file": "commands.tsv", "test_file": "commands_test.tsv"},
    "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 32}, "units": 64, "attention": {"units": 32}}},
    "training": {"sequences": 60_000, "batch": 8, "optimizer": {"kind": "adam", "learning_rate": 3e-3}, "validation_every": 1000,
                 "patience": 10},
}

if __name__ == "__main__":
    rng = random.Random(1)
    parts = list(itertools.product(VERBS, TURNS, TIMES))
    alone = [command(part, "", part) for part in parts]
    joined = [command(first, join, second) for first, join, second in itertools.product(parts, JOINS[1:], parts)]
    # `jump` is learned alone, and asked for in combinations.
    known = [one for one in alone + joined if "jump" not in one[0] or one[0] == "jump"]
    new = [one for one in joined if "jump" in one[0]]
    learned = [("jump", ["JUMP"])] * 40 + rng.sample(known, 600)
    asked = rng.sample(new, 100)
    more = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    learned += rng.sample([one for one in new if one not in asked], more)
    for name, some in [("commands.tsv", learned), ("commands_test.tsv", asked)]:
        with open(name, "w", encoding="utf-8") as file:
            file.writelines(f"{words}\t{' '.join(made)}\n" for words, made in some)
    with open("commands.json", "w", encoding="utf-8") as file:
        json.dump(PRESET, file, indent=2)
    print(f"commands.tsv: {len(learned)} commands, commands_test.tsv: 100; next: tapescope train commands.json")
