#!/usr/bin/env python3
"""An encoder-decoder with additive attention (Bahdanau 2015) in JAX, tuned for a processor without a graphics card.

    python jax_attention.py --check
    python jax_attention.py --batch 1 --threads 1

Prints one JSON object with sequences per second of training (`--mode forward`: of the forward pass). Needs `pip install jax`.
The encoder is an LSTM in both directions; the decoder is an LSTM that sees the target of the step before and the context.
For speed, both directions take a step together, and inputs, keys and outputs are one product each. Gradients of weights are
made after the scan. The backward passes of the LSTM and of the decoder are written by hand: they save activations, not
pre-activations, and make every sum over steps after the scan.
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
    units = cell.shape[-1]
    gates, candidate = jax.nn.sigmoid(z[..., : 3 * units]), jnp.tanh(z[..., 3 * units :])
    i, f, o = jnp.split(gates, 3, -1)
    after = f * cell + i * candidate
    squashed = jnp.tanh(after)
    return (o * squashed, after), (gates, candidate, squashed, cell)


@jax.custom_vjp
def lstm(z, cell):
    """Pre-activations [..., 4 units] and cell -> hidden state and cell."""
    return lstm_kept(z, cell)[0]


def lstm_back(kept, d):
    gates, candidate, squashed, cell = kept
    i, f, o = jnp.split(gates, 3, -1)
    d_hidden, d_cell = d
    d_cell = d_cell + d_hidden * o * (1 - squashed**2)
    d_gates = jnp.concatenate([d_cell * candidate, d_cell * cell, d_hidden * squashed], -1) * gates * (1 - gates)
    return jnp.concatenate([d_gates, d_cell * i * (1 - candidate**2)], -1), d_cell * f


lstm.defvjp(lstm_kept, lstm_back)


def program(sizes, loss_of=jax_peer.cross_entropy):
    """Returns loss_and_gradients and forward of a machine of these sizes."""

    def encode(times, drives):
        """-> hidden states [steps, 2, batch, units], the second direction from the end of the source."""
        def step(state, drive):
            hidden, cell = state
            state = lstm(drive + times["encoder.recurrent"](hidden), cell)
            return state, state[0]

        zero = jnp.zeros((2, drives.shape[2], sizes.encoder), drives.dtype)
        return lax.scan(step, (zero, zero), drives)[1]

    def decoder(p, times):
        """Returns a function with a hand-written gradient; its sums over steps follow the scan."""
        query_back, decoder_back = (jax_peer.transposed(p[name]) for name in ("query", "decoder"))

        def scan(rows, keys, score, first, drives):
            def step(state, drive):
                hidden, cell = state
                activations = jnp.tanh(keys + times["query"](hidden)[:, None])
                weights = jax.nn.softmax(activations @ score, 1)
                context = jnp.einsum("bn,bnh->bh", weights, rows)
                z = drive + times["decoder"](jnp.concatenate([context, hidden], 1))
                state, kept = lstm_kept(z, cell)
                return state, ((state[0], context), (kept, weights, activations))

            return lax.scan(step, (first, jnp.zeros_like(first)), drives["decoder"])[1]

        @jax.custom_vjp
        def decode(*inputs):
            """Rows, keys, score, first hidden state and drives -> hidden states and contexts of all steps.

            The drive of the query is zero, so it is not added; it has a gradient nevertheless.
            """
            return scan(*inputs)[0]

        def keep(rows, keys, score, first, drives):
            answer, kept = scan(rows, keys, score, first, drives)
            return answer, (rows, score, kept)

        def back(saved, d_answer):
            rows, score, (lstm_saved, weights, activations) = saved

            def summed(d_energies, activations, axis):
                return score * (d_energies[..., None] * (1 - activations**2)).sum(axis)

            def step(d_state, at):
                (d_hidden, d_cell), ((d_later, d_context), kept, weights, activations) = d_state, at
                d_z, d_cell = lstm_back(kept, (d_hidden + d_later, d_cell))
                d_seen = d_z @ decoder_back
                d_context = d_context + d_seen[:, : rows.shape[2]]
                d_weights = jnp.einsum("bh,bnh->bn", d_context, rows)
                d_energies = weights * (d_weights - (weights * d_weights).sum(1, keepdims=True))
                d_query = summed(d_energies, activations, 1)
                d_hidden = d_seen[:, rows.shape[2] :] + d_query @ query_back
                return (d_hidden, d_cell), ({"query": d_query, "decoder": d_z}, d_context, d_energies)

            zero = jnp.zeros_like(d_answer[0][0])
            steps = (d_answer, lstm_saved, weights, activations)
            (d_first, _), (d_drives, d_contexts, d_energies) = lax.scan(step, (zero, zero), steps, reverse=True)
            d_rows = jnp.einsum("tbn,tbh->bnh", weights, d_contexts)
            d_score = d_energies.ravel() @ jax_peer.flat(activations)
            return d_rows, summed(d_energies, activations, 0), d_score, d_first, d_drives

        decode.defvjp(keep, back)
        return decode

    def drives_of(p, inputs, targets):
        both = jnp.stack([inputs, inputs[::-1]], 1)
        feedback = jnp.concatenate([jnp.zeros_like(targets[:1]), targets[:-1]])
        encoder = jnp.einsum("tdbi,dig->tdbg", both, p["encoder.input"]) + p["encoder.bias"][:, None]
        return {"encoder.recurrent": encoder, "decoder": feedback @ p["feedback.weight"] + p["feedback.bias"],
                "query": jnp.zeros((*targets.shape[:2], sizes.score), encoder.dtype)}

    def run(p, drives, inputs, targets):
        times = jax_peer.products(p, PRODUCTS)
        encoded = encode(times, drives["encoder.recurrent"])
        rows = jnp.concatenate([encoded[:, 0], encoded[::-1, 1]], 2).transpose(1, 0, 2)
        first = jnp.tanh(encoded[-1, 1] @ p["start"])
        decoder_drives = {name: drives[name] for name in ("query", "decoder")}
        hidden, context = decoder(p, times)(rows, rows @ p["key"], p["score"], first, decoder_drives)
        before = jax_peer.shifted(first, hidden)
        logits = jnp.concatenate([hidden, context], 2) @ p["output.weight"] + p["output.bias"]
        return logits, {"encoder.recurrent": jax_peer.shifted(jnp.zeros_like(encoded[0]), encoded),
                        "decoder": jnp.concatenate([context, before], 2), "query": before}

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
