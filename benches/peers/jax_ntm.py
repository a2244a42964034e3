#!/usr/bin/env python3
"""A Neural Turing Machine in JAX, tuned for a processor without a graphics card.

    python jax_ntm.py --check
    python jax_ntm.py --controller lstm --batch 1 --threads 1

Prints one JSON object with sequences per second of training (`--mode forward`: of the forward pass).
Needs `pip install jax`. For speed, gradients of weights are made after the scan. The scan saves pre-activations only; the
backward pass computes the rest of a step again. The memory is [columns, rows], and products with it are sums of broadcast
products, which XLA fuses. With many wide rows, `--layout nm --content vjp` is faster: rows first, matrix products.
"""

import sys

import jax_peer
import machines
import peer
from jax_peer import jax, jnp, lax
from jax.ad_checkpoint import checkpoint_name
from peer import measure

# The weights that every step multiplies by.
PRODUCTS = ("recurrent", "heads.weight")


def contract(a, memory, axis):
    """[batch, heads, K] with this axis of the memory, of size K -> [batch, heads, the other axis]."""
    return (jnp.expand_dims(a, 4 - axis) * memory[:, None]).sum(axis + 1)


def outer(a, b, axis):
    """The sum over heads of outer products, a along this axis of the memory, b along the other."""
    wide, high = jnp.expand_dims(a, 4 - axis), jnp.expand_dims(b, axis + 1)
    return sum(wide[:, head] * high[:, head] for head in range(a.shape[1]))


def matrix_contract(a, memory, axis):
    """The same as one matrix product. The gradient w.r.t. the memory is still a sum of broadcast products, which XLA fuses."""

    def product(a, memory):
        return jnp.einsum("bhk,bkn->bhn" if axis == 1 else "bhk,bnk->bhn", a, memory)

    def back(kept, d):
        a, memory = kept
        return product_back(d, memory), outer(a, d, axis)

    def product_back(d, memory):
        return jnp.einsum("bhn,bkn->bhk" if axis == 1 else "bhn,bnk->bhk", d, memory)

    function = jax.custom_vjp(product)
    function.defvjp(lambda a, memory: (product(a, memory), (a, memory)), back)
    return function(a, memory)


def program(sizes, layout="mn", content="mulsum"):
    """Returns loss_and_gradients and forward of a machine of these sizes."""
    column_axis, row_axis = (1, 2) if layout == "mn" else (2, 1)
    product = contract if content == "mulsum" else matrix_contract
    heads, reads, columns, units = sizes.heads, sizes.reads, sizes.columns, sizes.units
    is_lstm = sizes.controller == "lstm"

    def per_head(array):
        return array.reshape(len(array), -1, columns)

    def controller(times, drive, read, state):
        if not is_lstm:
            return jnp.tanh(checkpoint_name(drive + times["recurrent"](read), "saved")), ()
        hidden, cell = state
        seen = jnp.concatenate([read, hidden], 1)
        z = checkpoint_name(drive + times["recurrent"](seen), "saved")
        i, f, o = jnp.split(jax.nn.sigmoid(z[:, : 3 * units]), 3, 1)
        cell = f * cell + i * jnp.tanh(z[:, 3 * units :])
        hidden = o * jnp.tanh(cell)
        return hidden, (hidden, cell)

    def address(memory, key, strength, gate, shift, sharpness, before):
        norms = jnp.sqrt((memory**2).sum(column_axis) + 1e-30)[:, None]
        key_norm = jnp.sqrt((key**2).sum(2, keepdims=True) + 1e-30)
        cosine = product(key, memory, column_axis) / (key_norm * norms + sizes.epsilon)
        content = jax.nn.softmax(strength * cosine, 2)
        gated = before + gate * (content - before)
        shifted = sum(shift[:, :, by + 1, None] * jnp.roll(gated, by, 2) for by in (-1, 0, 1))
        return jax.nn.softmax(sharpness * jnp.log(shifted + sizes.least), 2)

    def step(times, state, drives):
        memory, weighting, read, *rest = state
        hidden, rest = controller(times, drives["recurrent"], read, rest)
        raw = checkpoint_name(drives["heads.weight"] + times["heads.weight"](hidden), "saved")
        vectors, positive, unit, shift = jnp.split(raw, sizes.cuts, 1)
        vectors = per_head(jnp.tanh(vectors) if sizes.bounded else vectors)
        positive, unit = jax.nn.softplus(positive)[..., None], jax.nn.sigmoid(unit)
        shift = jax.nn.softmax(shift.reshape(-1, heads, 3), 2)
        weighting = address(memory, vectors[:, :heads], positive[:, :heads], unit[:, :heads, None], shift,
                            1 + positive[:, heads:], weighting)
        read = product(weighting[:, :reads], memory, row_axis).reshape(len(read), -1)
        write, erase, add = weighting[:, reads:], per_head(unit[:, heads:]), vectors[:, heads:]
        for head in range(sizes.writes):
            at = slice(head, head + 1)
            memory = memory * (1 - outer(write[:, at], erase[:, at], row_axis))
        memory = memory + outer(write, add, row_axis)
        return (memory, weighting, read, *rest), (hidden, read)

    def start(p, batch):
        memory = p.get("memory.start", jnp.full((sizes.rows, columns), 1e-6, jnp.float32))
        first = [memory if layout == "nm" else memory.T, jax.nn.softmax(p["weighting.start"], 1), p["read.start"]]
        first += [p["hidden.start"], p["cell.start"]] if is_lstm else []
        return tuple(jnp.broadcast_to(value, (batch, *value.shape)) for value in first)

    def drives_of(p, inputs, _):
        steps, batch, _ = inputs.shape
        return {"recurrent": inputs @ p["input.weight"] + p["input.bias"],
                "heads.weight": jnp.broadcast_to(p["heads.bias"], (steps, batch, sizes.head_width))}

    def run(p, drives, inputs, targets):
        times = jax_peer.products(p, PRODUCTS)
        policy = jax.checkpoint_policies.save_only_these_names("saved")
        body = jax.checkpoint(lambda state, at: step(times, state, at), prevent_cse=False, policy=policy)
        first = start(p, inputs.shape[1])
        hidden, read = lax.scan(body, first, drives)[1]
        seen = [jax_peer.shifted(first[2], read)] + ([jax_peer.shifted(first[3], hidden)] if is_lstm else [])
        answer = jnp.concatenate([hidden, read], 2)[-len(targets) :]
        return answer @ p["output.weight"] + p["output.bias"], {"recurrent": jnp.concatenate(seen, 2), "heads.weight": hidden}

    def forward(p, inputs, targets):
        return run(p, drives_of(p, inputs, targets), inputs, targets)[0]

    return jax_peer.after_the_scan(drives_of, run, PRODUCTS), forward


def main():
    choices = {"controller": ["lstm", "ff"], "layout": ["mn", "nm"], "content": ["mulsum", "vjp"]}
    options = peer.read_options(__doc__, {"n": 128, "m": 20, "hidden": 100}, choices)
    if options.check:
        sys.exit(jax_peer.check(machines.ntm_golden(), lambda sizes: program(sizes, options.layout, options.content)))
    sizes = machines.Ntm(options.controller, options.hidden, options.n, options.m)
    jax_peer.time_program(options, machines.ntm_start(sizes, options.seed), *program(sizes, options.layout, options.content),
                          peer.episodes(options, blank_steps=True), measure)


if __name__ == "__main__":
    main()
