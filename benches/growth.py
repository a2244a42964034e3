#!/usr/bin/env python3
"""How time and memory grow with the machine's memory, beside PyTorch and JAX, in turns.

    cargo bench --no-default-features --bench throughput --no-run
    python3 benches/growth.py [--peers benches/peers] [--rows 128,1024] [--columns 20,64] [--rounds 5] [--cpu 1]

Needs `pip install jax torch`. The table holds milliseconds per sequence (LSTM, batch 1), medians over the
rounds with the spread; the median of the ratios within each round; and the most memory each process held.
A runner that needs more than `--longest` seconds for a window runs once.
"""

from beside import parser, ratio, spread, start, take_turns


def jax_options(rows, columns):
    """Its fastest settings. The defaults of the script were found with 20 columns; many wide rows want the memory
    as rows, and then go 4 (forward, 8,192 × 64) to 10 times (training, 1,024 × 64) as fast."""
    if rows < 1024 or columns < 64:
        return []
    return ["--layout", "nm", "--content", "vjp"]


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    options = parser(__doc__, seconds=0.5)
    options.add_argument("--rows", type=numbers, default=[128, 1024, 8192, 65536])
    options.add_argument("--columns", type=numbers, default=[20, 64])
    options.add_argument("--longest", type=float, default=2, help="seconds of a window that is not repeated")
    a = options.parse_args()
    print("| rows × columns | | Tapescope, ms | JAX, ms | PyTorch, ms | × JAX | × PyTorch | peak MiB: Tapescope, JAX, PyTorch |")
    print("|---|---|---|---|---|---|---|---|")
    for columns in a.columns:
        for rows in a.rows:
            for forward in (True, False):
                jax = {"jax": jax_options(rows, columns)}
                runners = start(a, ["--n", rows, "--m", columns], forward, jax)
                rates = take_turns(runners, a.rounds, a.longest)
                peaks = ", ".join(f"{runner.close():,.0f}" for runner in runners.values())
                ours, jax, torch = rates.values()
                times = [spread([1000 / rate for rate in rates_of]) for rates_of in rates.values()]
                cells = [f"{rows:,} × {columns}", "forward" if forward else "training", *times,
                         ratio(ours, jax), ratio(ours, torch), peaks]
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
