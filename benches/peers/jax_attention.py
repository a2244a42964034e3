#!/usr/bin/env python3
"""An encoder-decoder with additive attention (Bahdanau 2015) in JAX, tuned for a processor without a graphics card.

    python jax_attention.py --check
    python jax_attention.py --batch 1 --threads 1

Prints one JSON object with sequences per second of training (`--mode forward`: of the forward pass). Needs `pip install jax`.
The encoder is an LSTM in both directions; the decoder is an LSTM that sees the target of the step before and the context.
For speed, both directions take a step together, and inputs, keys and outputs are one product each. Gradients of weights are
made after the scan. The backward pass of an LSTM is written by hand: it saves activations, not pre-activations.
"""

import sys

import jax_peer
import machines
import peer
from jax_peer import jax, jnp, lax
from peer import measure


# The weights that every step multiplies by.
PRODUCTS = ("encoder.recurrent", "decoder", "query")


def lstm_kept(z, cell):
    i, f, o = jnp.split(jax.nn.sigmoid(z[..., : 3 * cell.shape[-1]]), 3, -1)
    candidate = jnp.tanh(z[..., 3 * cell.shape[-1] :])
    after = f * cell + i * candidate
    squashed = jnp.tanh(after)
    return (o * squashed, after), (i, f, o, candidate, squashed, cell)


@jax.custom_vjp
def lstm(z, cell):
    """Pre-activations [..., 4 units] and cell -> hidden state and cell."""
    return lstm_kept(z, cell)[0]


def lstm_back(kept, d):
    i, f, o, candidate, squashed, cell = kept
    d_hidden, d_cell = d
    d_cell = d_cell + d_hidden * o * (1 - squashed**2)
    parts = (d_cell * candidate * i * (1 - i), d_cell * cell * f * (1 - f), d_hidden * squashed * o * (1 - o),
             d_cell * i * (1 - candidate**2))
    return jnp.concatenate(parts, -1), d_cell * f


lstm.defvjp(lstm_kept, lstm_back)


def program(sizes, loss_of=jax_peer.cross_entropy):
    """Returns loss_and_gradients and forward of a machine of these sizes."""

    def encode(times, drives):
        """-> rows of the source [batch, source, both], the first hidden state of the second direction, what was seen."""
        def step(state, drive):
            hidden, cell = state
            state = lstm(drive + times["encoder.recurrent"](hidden), cell)
            return state, (state[0], hidden)

        zero = jnp.zeros((2, drives.shape[2], sizes.encoder), drives.dtype)
        hidden, seen = lax.scan(step, (zero, zero), drives)[1]
        rows = jnp.concatenate([hidden[:, 0], hidden[::-1, 1]], 2).transpose(1, 0, 2)
        return rows, hidden[-1, 1], seen

    def decode(p, times, drives, rows, first):
        keys = rows @ p["key"]

        def step(state, drive):
            hidden, cell = state
            query = drive["query"] + times["query"](hidden)
            weights = jax.nn.softmax(jnp.tanh(keys + query[:, None]) @ p["score"], 1)
            context = jnp.einsum("bn,bnh->bh", weights, rows)
            seen = jnp.concatenate([context, hidden], 1)
            after, cell = lstm(drive["decoder"] + times["decoder"](seen), cell)
            return (after, cell), (after, context, seen, hidden)

        hidden = jnp.tanh(first @ p["start"])
        return lax.scan(step, (hidden, jnp.zeros_like(hidden)), {name: drives[name] for name in ("query", "decoder")})[1]

    def drives_of(p, inputs, targets):
        both = jnp.stack([inputs, inputs[::-1]], 1)
        feedback = jnp.concatenate([jnp.zeros_like(targets[:1]), targets[:-1]])
        encoder = jnp.einsum("tdbi,dig->tdbg", both, p["encoder.input"]) + p["encoder.bias"][:, None]
        return {"encoder.recurrent": encoder, "decoder": feedback @ p["feedback.weight"] + p["feedback.bias"],
                "query": jnp.zeros((*targets.shape[:2], sizes.score), encoder.dtype)}

    def run(p, drives, inputs, targets):
        times = jax_peer.products(p, PRODUCTS)
        rows, first, seen = encode(times, drives["encoder.recurrent"])
        hidden, context, decoder_seen, before = decode(p, times, drives, rows, first)
        logits = jnp.concatenate([hidden, context], 2) @ p["output.weight"] + p["output.bias"]
        return logits, {"encoder.recurrent": seen, "decoder": decoder_seen, "query": before}

    def forward(p, inputs, targets):
        return run(p, drives_of(p, inputs, targets), inputs, targets)[0]

    return jax_peer.after_the_scan(drives_of, run, PRODUCTS, loss_of), forward


def softmax_loss(logits, targets):
    return -(targets * jax.nn.log_softmax(logits, 2)).sum()


def main():
    options = peer.read_options(__doc__, {"encoder": 50, "hidden": 100, "score": 64})
    if options.check:
        # The targets of the golden values are words.
        sys.exit(jax_peer.check(machines.attention_golden(), lambda sizes: program(sizes, softmax_loss)))
    sizes = machines.Attention(options.encoder, options.hidden, options.score)
    jax_peer.time_program(options, machines.attention_start(sizes, options.seed), *program(sizes),
                          peer.episodes(options, blank_steps=False), measure)


if __name__ == "__main__":
    main()
