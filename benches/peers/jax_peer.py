"""What the JAX programs share: settings of XLA, the loss, gradients of weights after a scan, RMSProp, timing, the check.

Import it before JAX: it sets the flags of XLA.
"""

import ctypes
import os
import sys
import time

import peer

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Kernels are small here: rewritten reductions and YNNPACK fusions cost more than they save. `XLA_FLAGS=` keeps both.
os.environ.setdefault("XLA_FLAGS", "--xla_disable_hlo_passes=tree-reduction-rewriter,tree_reduction_rewriter "
                                   "--xla_cpu_experimental_ynn_fusion_type=")

import jax
import jax.numpy as jnp
from jax import lax
from jax.flatten_util import ravel_pytree


def cross_entropy(logits, targets):
    """Of sigmoid outputs, in nats: the sum over steps and bits, the mean over the batch."""
    return (jax.nn.softplus(logits) - targets * logits).sum() / logits.shape[1]


@jax.custom_vjp
def _times(inputs, weight, _transposed):
    return inputs @ weight


def _back(kept, d):
    weight, transposed = kept
    return d @ transposed, jnp.zeros_like(weight), jnp.zeros_like(transposed)


_times.defvjp(lambda inputs, weight, transposed: (inputs @ weight, (weight, transposed)), _back)


def transposed(weight):
    """Transposes a weight before a scan, in which the barrier keeps XLA from doing it at every step."""
    return lax.optimization_barrier(weight.mT)


def shifted(first, later):
    """Returns the value of the step before, for every step; `first` stands before the first."""
    return jnp.concatenate([first[None], later[:-1]])


def products(parameters, names):
    """Returns {name: inputs -> inputs times the weight}. The backward pass transposes each weight once, before its scan."""
    pairs = {name: (parameters[name], transposed(parameters[name])) for name in names}
    return {name: lambda inputs, pair=pair: _times(inputs, *pair) for name, pair in pairs.items()}


def flat(array):
    return array.reshape(-1, array.shape[-1])


def after_the_scan(drives_of, run, names, loss_of=cross_entropy):
    """Returns (parameters, inputs, targets) -> loss, gradients. Weights in `names` get theirs in one product each.

    A scan that differentiates a weight adds to its whole gradient in every step. Here each product of the scan has a
    summand, its `drive`. The gradient w.r.t. the drives of all steps, times the inputs of all steps, is that of the weight.
    drives_of(parameters, inputs, targets) -> {name: [steps, batch, outputs]}
    run(parameters, drives, inputs, targets) -> logits, {name: [steps, batch, inputs]}
    """

    def loss_and_gradients(parameters, inputs, targets):
        constant = {name: parameters[name] for name in names}

        def loss(parameters, drives):
            logits, seen = run({**parameters, **constant}, drives, inputs, targets)
            return loss_of(logits, targets), seen

        drives, back_to_parameters = jax.vjp(lambda p: drives_of(p, inputs, targets), parameters)
        value, back, seen = jax.vjp(loss, parameters, drives, has_aux=True)
        direct, d_drives = back(jnp.ones_like(value))
        gradients = jax.tree.map(jnp.add, direct, back_to_parameters(d_drives)[0])
        return value, gradients | {name: product(seen[name], d_drives[name]) for name in names}

    def product(seen, d_drive):
        # [steps, batch, …]; with directions: [steps, directions, batch, …]
        if seen.ndim == 4:
            return jnp.einsum("tdbi,tdbo->dio", seen, d_drive)
        return flat(seen).T @ flat(d_drive)

    return loss_and_gradients


def rmsprop(parameters, gradients, state, lr, alpha, momentum, eps, centered):
    """torch.optim.RMSprop with clipped gradients. The moments are flat vectors: a few large kernels, not a few per tensor."""
    square, mean, velocity = state
    gradient, by_name = ravel_pytree(gradients)
    gradient = jnp.clip(gradient, -peer.CLIP, peer.CLIP)
    square = alpha * square + (1 - alpha) * gradient**2
    variance = square
    if centered:
        mean = alpha * mean + (1 - alpha) * gradient
        variance = jnp.maximum(square - mean**2, 0)
    velocity = momentum * velocity + gradient / (jnp.sqrt(variance) + eps)
    return jax.tree.map(lambda p, v: p - lr * v, parameters, by_name(velocity)), (square, mean, velocity)


def moments(parameters):
    return tuple(jnp.zeros_like(ravel_pytree(parameters)[0]) for _ in range(3))


def keep_pages():
    """XLA allocates its buffers in every call: lets glibc keep their pages (M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, 1 GiB)."""
    if sys.platform == "linux":
        for threshold in (-3, -1):
            getattr(ctypes.CDLL(None), "mallopt", lambda *_: 0)(threshold, 1 << 30)


def time_program(options, parameters, loss_and_gradients, forward, batches, measure):
    """Compiles an update or a forward pass, times it and prints the rates; forward(parameters, inputs, targets) -> logits."""
    os.environ["PJRT_NPROC"] = str(options.threads)  # read by XLA when it starts, at the first array
    if options.threads == 1:  # with two threads it is no faster
        keep_pages()
    parameters = jax.tree.map(jnp.array, parameters)

    def update(state, inputs, targets):
        parameters, moments = state
        loss, gradients = loss_and_gradients(parameters, inputs, targets)
        return rmsprop(parameters, gradients, moments, **peer.RMSPROP), loss

    is_training = options.mode == "train"
    call = jax.jit(update, donate_argnums=0) if is_training else jax.jit(forward)
    latest = [(parameters, moments(parameters)) if is_training else parameters, None]

    def one():
        batch = next(batches)
        if is_training:
            latest[:] = call(latest[0], *batch)
        else:
            latest[1] = call(latest[0], *batch)
        return options.batch, options.batch * len(batch[0])

    start = time.perf_counter()
    one()
    jax.block_until_ready(latest)
    compile_s = time.perf_counter() - start
    rates = measure(one, options.seconds, options.windows, lambda: jax.block_until_ready(latest[1]))
    peer.report(options, rates, framework="jax", version=jax.__version__, compile_s=round(compile_s, 2))


def check(cases, program):
    """Compares outputs, loss and gradients with golden values and returns an exit code.

    program(sizes) -> loss_and_gradients, forward
    """
    jax.config.update("jax_enable_x64", True)
    found = peer.Check()
    for case in cases:
        loss_and_gradients, forward = map(jax.jit, program(case.sizes))
        parameters = jax.tree.map(jnp.array, case.parameters)
        loss, gradients = loss_and_gradients(parameters, case.inputs, case.targets)
        found.compare(case.name, {"loss": loss, "outputs": forward(parameters, case.inputs, case.targets), **gradients},
                      {"loss": case.loss, "outputs": case.outputs, **case.gradients})
        if case.updated:
            found.compare(f"{case.name}, five updates", five_updates(case, parameters, loss_and_gradients), case.updated)
    return int(found.failed)


def five_updates(case, parameters, loss_and_gradients):
    """The golden updates are of the mean over the bits, with a learning rate of 0.01, not centred."""
    state = moments(parameters)
    for _ in range(5):
        gradients = loss_and_gradients(parameters, case.inputs, case.targets)[1]
        mean = jax.tree.map(lambda gradient: gradient / case.targets.size, gradients)
        parameters, state = rmsprop(parameters, mean, state, **{**peer.RMSPROP, "lr": 0.01, "centered": False})
    return parameters
