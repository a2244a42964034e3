#!/usr/bin/env python3
"""A Differentiable Neural Computer in JAX, tuned for a processor without a graphics card.

    python jax_dnc.py --check
    python jax_dnc.py --reads 1 --batch 1 --threads 1

Prints one JSON object with sequences per second of training (`--mode forward`: of the forward pass).
Needs `pip install jax`. A step is written for one episode; `vmap` turns it into one of a batch. As in jax_ntm.py, gradients
of weights are made after the scan, and the scan saves pre-activations only.
"""

import sys

import jax_peer
import machines
import numpy as np
import peer
from jax_peer import jax, jnp, lax
from jax.ad_checkpoint import checkpoint_name
from peer import measure

# The weights that every step multiplies by.
PRODUCTS = ("recurrent", "interface.weight")


def save(value):
    return checkpoint_name(value, "saved")


def program(sizes):
    """Returns loss_and_gradients and forward of a machine of these sizes."""
    rows, columns, reads, units = sizes.rows, sizes.columns, sizes.reads, sizes.units
    others = 1 - np.eye(rows)

    def content(memory, keys, strengths):
        """Cosines of keys [heads, columns] with the rows, as weightings [heads, rows]."""
        def length(vectors):
            return jnp.sqrt((vectors**2).sum(-1) + sizes.epsilon)
        cosine = save(keys @ memory.T) / (length(keys)[:, None] * length(memory))
        return jax.nn.softmax(strengths[:, None] * cosine, -1)

    def allocation(usage):
        """Weights of free rows: the least used first. Their order has no derivative."""
        order = save(jnp.argsort(lax.stop_gradient(usage)))
        ascending = usage[order]
        product = jnp.cumprod(ascending)
        earlier = jnp.concatenate([jnp.ones_like(product[:1]), product[:-1]])
        return jnp.zeros_like(usage).at[order].set((1 - ascending) * earlier, unique_indices=True)

    def step(times, state, drives):
        hidden, cell, read, memory, usage, link, precedence, write, weightings = state
        seen = jnp.concatenate([read, hidden])
        z = save(drives["recurrent"] + times["recurrent"](seen))
        i, f, o = jnp.split(jax.nn.sigmoid(z[: 3 * units]), 3)
        cell = f * cell + i * jnp.tanh(z[3 * units :])
        hidden = o * jnp.tanh(cell)

        raw = save(drives["interface.weight"] + times["interface.weight"](hidden))
        parts = jnp.split(raw, np.cumsum(sizes.widths)[:-1])
        read_keys, read_strengths, write_key, write_strength, erase, add, free, allocate, gate, modes = parts
        erase, free, allocate, gate = map(jax.nn.sigmoid, (erase, free, allocate, gate))
        modes = jax.nn.softmax(modes.reshape(reads, 3), 1)

        usage = (usage + write - usage * write) * (1 - free[:, None] * weightings).prod(0)
        found = content(memory, write_key[None], 1 + jax.nn.softplus(write_strength))[0]
        write = gate * (allocate * allocation(usage) + (1 - allocate) * found)
        memory = memory * (1 - write[:, None] * erase) + write[:, None] * add
        link = others * ((1 - write[:, None] - write) * link + write[:, None] * precedence)
        precedence = (1 - write.sum()) * precedence + write

        found = content(memory, read_keys.reshape(reads, columns), 1 + jax.nn.softplus(read_strengths))
        backward, forward = save(weightings @ link), save(weightings @ link.T)
        weightings = modes[:, :1] * backward + modes[:, 1:2] * found + modes[:, 2:] * forward
        read = (weightings @ memory).ravel()
        return (hidden, cell, read, memory, usage, link, precedence, write, weightings), (hidden, read)

    def start(p, inputs):
        zeros = lambda *shape: jnp.zeros(shape, inputs.dtype)
        memory = p.get("memory.start", jnp.full((rows, columns), 1e-6, inputs.dtype))
        first = (zeros(units), zeros(units), zeros(reads * columns), memory, p.get("usage.start", zeros(rows)),
                 zeros(rows, rows), zeros(rows), zeros(rows), zeros(reads, rows))
        return tuple(jnp.broadcast_to(value, (inputs.shape[1], *value.shape)) for value in first)

    def drives_of(p, inputs, _):
        return {"recurrent": inputs @ p["input.weight"] + p["input.bias"],
                "interface.weight": jnp.broadcast_to(p["interface.bias"], (*inputs.shape[:2], sum(sizes.widths)))}

    def run(p, drives, inputs, targets):
        times = jax_peer.products(p, PRODUCTS)
        policy = jax.checkpoint_policies.save_only_these_names("saved")
        of_batch = jax.vmap(lambda state, at: step(times, state, at))
        body = jax.checkpoint(of_batch, prevent_cse=False, policy=policy)
        first = start(p, inputs)
        hidden, read = lax.scan(body, first, drives)[1]
        seen = jnp.concatenate([jax_peer.shifted(first[2], read), jax_peer.shifted(first[0], hidden)], 2)
        answer = jnp.concatenate([hidden, read], 2)[-len(targets) :]
        return answer @ p["output.weight"] + p["output.bias"], {"recurrent": seen, "interface.weight": hidden}

    def forward(p, inputs, targets):
        return run(p, drives_of(p, inputs, targets), inputs, targets)[0]

    return jax_peer.after_the_scan(drives_of, run, PRODUCTS), forward


def main():
    options = peer.read_options(__doc__, {"reads": 1, "n": 128, "m": 20, "hidden": 100})
    if options.check:
        sys.exit(jax_peer.check(machines.dnc_golden(), program))
    sizes = machines.Dnc(options.hidden, options.n, options.m, options.reads)
    jax_peer.time_program(options, machines.dnc_start(sizes, options.seed), *program(sizes),
                          peer.episodes(options, blank_steps=True), measure)


if __name__ == "__main__":
    main()
