"""Your own pairs: read dates as people write them.

    python dates.py                     # writes dates.tsv and its preset, dates.json
    tapescope train dates.json
    tapescope eval runs/dates-1 --alignment
    tapescope view runs/dates-1
"""

import json
import random

MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december"]


def line(rng: random.Random) -> str:
    """Returns source, tab, target, tab and alignment, such as `3 jan 1987`, `1987-01-03`, `6-0 7-1 …`."""
    year, month, day = rng.randint(1900, 2099), rng.randint(1, 12), rng.randint(1, 28)
    name = rng.choice([MONTHS[month - 1], MONTHS[month - 1][:3]])
    source = rng.choice([f"{day} {name} {year}", f"{name} {day}, {year}"])
    # The source character of every digit: of a month all letters, of a leading 0 the digit after it.
    letters = range(source.index(name), source.index(name) + len(name))
    digit = 0 if source[0].isdigit() else len(name) + 1
    links = [(len(source) - 4 + place, place) for place in range(4)]
    links += [(letter, place) for letter in letters for place in (5, 6)]
    links += [(digit, 8), (digit + len(str(day)) - 1, 9)]
    return f"{source}\t{year}-{month:02}-{day:02}\t" + " ".join(f"{at}-{place}" for at, place in links)


PRESET = {
    "title": "Dates",
    "description": "Read dates as people write them.",
    "task": {"kind": "pairs", "file": "dates.tsv", "tokens": "characters"},
    "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 32}, "units": 64, "attention": {"units": 32}}},
    "training": {"sequences": 30_000, "batch": 8, "optimizer": {"kind": "adam", "learning_rate": 3e-3},
                 "final_lr_factor": 0.01},
}

if __name__ == "__main__":
    rng = random.Random(1)
    with open("dates.tsv", "w", encoding="utf-8") as file:
        file.writelines(line(rng) + "\n" for _ in range(2000))
    with open("dates.json", "w", encoding="utf-8") as file:
        json.dump(PRESET, file, indent=2)
    print("dates.tsv: 2000 pairs; next: tapescope train dates.json")
