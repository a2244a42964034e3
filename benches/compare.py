#!/usr/bin/env python3
"""Tapescope beside PyTorch and JAX on the same work, in turns, as ratios.

    cargo bench --no-default-features --bench throughput --no-run
    python3 benches/compare.py --peers ../shared/peers [--rounds 5] [--cpu 1] [--work attention]

Needs `pip install jax torch`. The table holds sequences per second, medians over the rounds with the
spread, and the median of the ratios within each round. The work is a Neural Turing Machine, or an
encoder-decoder with attention.
"""

from beside import parser, ratio, spread, start, take_turns

# Options of everyone.
CASES = {
    "ntm": {f"{controller}, {batch}": ["--controller", controller, "--batch", batch]
            for controller, batch in [("lstm", 1), ("ff", 1), ("lstm", 16), ("ff", 16)]},
    "attention": {f"bahdanau, {batch}": ["--batch", batch] for batch in (1, 32)},
}
SPECIAL = {"attention": {"tapescope": ["--machine", "bahdanau"]}}


def main():
    options = parser(__doc__, seconds=1)
    options.add_argument("--work", choices=CASES, default="ntm")
    a = options.parse_args()
    print("| controller or machine, batch | Tapescope | JAX | PyTorch | × JAX | × PyTorch |")
    print("|---|---|---|---|---|---|")
    for name, case in CASES[a.work].items():
        runners = start(a, case, special=SPECIAL.get(a.work), work=a.work)
        rates = take_turns(runners, a.rounds)
        for runner in runners.values():
            runner.close()
        ours, jax, torch = rates.values()
        cells = [*(spread(rate, 0) for rate in rates.values()), ratio(ours, jax), ratio(ours, torch)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
