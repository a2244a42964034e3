#!/usr/bin/env python3
"""Tapescope beside PyTorch and JAX on the same work, in turns, as ratios.

    cargo bench --no-default-features --bench throughput --no-run
    python3 benches/compare.py [--peers benches/peers] [--rounds 5] [--cpu 1] [--work attention|dnc]

Needs `pip install jax torch`. The table holds sequences per second, medians over the rounds with the
spread, and the median of the ratios within each round. The work is a Neural Turing Machine, an
encoder-decoder with attention, or a Differentiable Neural Computer (JAX only).
"""

from beside import parser, ratio, spread, start, take_turns

# Options of everyone.
CASES = {
    "ntm": {f"{controller}, {batch}": ["--controller", controller, "--batch", batch]
            for controller, batch in [("lstm", 1), ("ff", 1), ("lstm", 16), ("ff", 16)]},
    "attention": {f"bahdanau, {batch}": ["--batch", batch] for batch in (1, 32)},
    "dnc": {f"{reads} read heads, {batch}": ["--reads", reads, "--batch", batch] for reads in (1, 4) for batch in (1, 16)},
}
SPECIAL = {"attention": {"tapescope": ["--machine", "bahdanau"]}, "dnc": {"tapescope": ["--machine", "dnc"]}}
# Those that have the machine.
PEERS = {"dnc": ("jax",)}


def main():
    options = parser(__doc__, seconds=1)
    options.add_argument("--work", choices=CASES, default="ntm")
    a = options.parse_args()
    names = {"jax": "JAX", "torch": "PyTorch"}
    peers = [names[peer] for peer in PEERS.get(a.work, names)]
    print(f"| controller or machine, batch | Tapescope | {' | '.join(peers)} | {' | '.join(f'× {peer}' for peer in peers)} |")
    print("|---" * (2 + 2 * len(peers)) + "|")
    for name, case in CASES[a.work].items():
        runners = start(a, case, special=SPECIAL.get(a.work), work=a.work, peers=PEERS.get(a.work))
        rates = take_turns(runners, a.rounds)
        for runner in runners.values():
            runner.close()
        ours, *others = rates.values()
        cells = [*(spread(rate, 0) for rate in rates.values()), *(ratio(ours, other) for other in others)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
