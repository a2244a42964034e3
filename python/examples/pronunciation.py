"""Your own pairs: pronounce words, letters in and sounds out, with a test set in a file of its own.

    python pronunciation.py             # writes words.tsv, words_test.tsv and a preset, pronunciation.json
    tapescope train pronunciation.json
    tapescope eval runs/pronunciation-1 --alignment
    tapescope view runs/pronunciation-1
"""

import json
import random

# Letters and their sounds; the longest one that fits is read first. A silent letter has no sound.
SPELLINGS = {"ch": "CH", "sh": "SH", "th": "TH", "ph": "F", "ck": "K", "ng": "NG", "qu": "K W", "kn": "N", "wr": "R",
             "ee": "EE", "ea": "EE", "oo": "UW", "ai": "EY", "ay": "EY", "oa": "OW", "ou": "AW", "ar": "AA R", "or": "AO R",
             "b": "B", "d": "D", "f": "F", "g": "G", "h": "HH", "j": "JH", "k": "K", "l": "L", "m": "M", "n": "N", "p": "P",
             "r": "R", "s": "S", "t": "T", "v": "V", "w": "W", "z": "Z"}
SHORT = {"a": "AE", "e": "EH", "i": "IH", "o": "AA", "u": "AH"}
LONG = {"a": "EY", "e": "EE", "i": "AY", "o": "OW", "u": "UW"}
STARTS = ["b", "ch", "d", "f", "g", "h", "j", "k", "kn", "l", "m", "n", "p", "ph", "qu", "r", "s", "sh", "st", "t", "th", "tr", "w", "wr"]
ENDS = ["b", "ck", "d", "g", "l", "m", "n", "ng", "p", "r", "sh", "st", "t", "th", "z"]
PAIRS = ["ee", "ea", "oo", "ai", "oa", "ou", "ar", "or"]


def word(rng):
    """Returns a word of one or two syllables; an `e` at its end makes the vowel before it long."""
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(STARTS) + rng.choice("aiou") + rng.choice(["d", "k", "l", "m", "n", "p", "t", "v", "z"]) + "e"
    if kind < 0.6:
        return rng.choice(STARTS) + rng.choice(PAIRS) + rng.choice(ENDS)
    if kind < 0.8:
        return rng.choice(STARTS) + rng.choice("aeiou") + rng.choice(ENDS)
    return rng.choice(STARTS) + rng.choice("aeiou") + rng.choice("bdlmnptz") + rng.choice(["ay", "oo", "ee"])


def sounds(word):
    """Returns the sounds of a word, and links from letters to sounds, both counted from 1."""
    made, links, vowel, at = [], [], 0, 0
    while at < len(word):
        if vowel and at == len(word) - 1 and word[at] == "e":  # silent: it only tells how the vowel sounds
            links.append(f"{at + 1}p{vowel}")
            break
        spelling = next((one for one in sorted(SPELLINGS, key=len, reverse=True) if word.startswith(one, at)), word[at])
        if spelling in SHORT:
            is_long = at == len(word) - 3 and word[-1] == "e"
            parts, vowel = [(LONG if is_long else SHORT)[spelling]], len(made) + 1
        else:
            parts = SPELLINGS[spelling].split()
        links += [f"{letter + 1}-{len(made) + place + 1}" for letter in range(at, at + len(spelling)) for place in range(len(parts))]
        made += parts
        at += len(spelling)
    return made, links


PRESET = {
    "title": "Pronunciation",
    "description": "Pronounce a word: letters in, sounds out.",
    "task": {"kind": "pairs", "file": "words.tsv", "test_file": "words_test.tsv", "tokens": "characters", "target_tokens": "words",
             "first_token": 1},
    "model": {"kind": "equations", "file": "bahdanau.machine", "sizes": {"encoder": {"units": 32}, "units": 64, "attention": {"units": 32}}},
    "training": {"sequences": 60_000, "batch": 8, "optimizer": {"kind": "adam", "learning_rate": 3e-3}, "validation_every": 1000,
                 "patience": 10},
}

if __name__ == "__main__":
    rng = random.Random(1)
    words = set()
    while len(words) < 900:
        words.add(word(rng))
    words = sorted(words)
    rng.shuffle(words)
    for name, some in [("words.tsv", words[:800]), ("words_test.tsv", words[800:])]:
        with open(name, "w", encoding="utf-8") as file:
            for own in some:
                made, links = sounds(own)
                file.write(f"{own}\t{' '.join(made)}\t{' '.join(links)}\n")
    with open("pronunciation.json", "w", encoding="utf-8") as file:
        json.dump(PRESET, file, indent=2)
    print("words.tsv: 800 words, words_test.tsv: 100; next: tapescope train pronunciation.json")
