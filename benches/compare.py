#!/usr/bin/env python3
"""Tapescope beside PyTorch and JAX on the same work, in turns, as ratios.

    cargo bench --no-default-features --bench throughput --no-run
    python3 benches/compare.py --peers ../shared/peers [--rounds 5] [--cpu 1]

Needs `pip install jax torch`. The table holds sequences per second, medians over the rounds with the
spread, and the median of the ratios within each round.
"""

from beside import parser, ratio, spread, start, take_turns

CASES = [("lstm", 1), ("ff", 1), ("lstm", 16), ("ff", 16)]


def main():
    a = parser(__doc__, seconds=1).parse_args()
    print("| controller, batch | Tapescope | JAX | PyTorch | × JAX | × PyTorch |")
    print("|---|---|---|---|---|---|")
    for controller, batch in CASES:
        runners = start(a, ["--controller", controller, "--batch", batch])
        rates = take_turns(runners, a.rounds)
        for runner in runners.values():
            runner.close()
        ours, jax, torch = rates.values()
        cells = [*(spread(rate, 0) for rate in rates.values()), ratio(ours, jax), ratio(ours, torch)]
        print(f"| {controller}, {batch} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
