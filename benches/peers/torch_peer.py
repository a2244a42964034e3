"""What the PyTorch programs share: the loss, the update, the clock and the comparison with golden values."""

import peer

# After peer, which sets the number of threads.
import torch
import torch.nn.functional as F


class Machine(torch.nn.Module):
    """A machine whose parameters have the names and shapes of machines.py; it is called with inputs and targets, for logits."""

    def __init__(self, sizes, parameters):
        super().__init__()
        self.sizes = sizes
        # PyTorch allows no dots in names.
        self.p = torch.nn.ParameterDict({name.replace(".", "_"): torch.tensor(value) for name, value in parameters.items()})

    def gradients(self):
        return {name: self.p[name.replace(".", "_")].grad for name in self.names()}

    def names(self):
        return [name.replace("_", ".") for name in self.p]


def cross_entropy(logits, targets):
    """Of sigmoid outputs, in nats: the sum over steps and bits, the mean over the batch."""
    return F.binary_cross_entropy_with_logits(logits, targets, reduction="sum") / logits.shape[1]


def time_program(options, build, batches, measure):
    """Times updates or forward passes and prints the rates; build() -> a machine."""
    torch.set_num_threads(options.threads)
    machine = build()
    trained = [parameter for parameter in machine.parameters() if parameter.requires_grad]
    optimizer = torch.optim.RMSprop(trained, foreach=True, **peer.RMSPROP)

    def one():
        inputs, targets = map(torch.from_numpy, next(batches))
        if options.mode == "forward":
            with torch.inference_mode():
                machine(inputs, targets)
        else:
            optimizer.zero_grad(set_to_none=True)
            cross_entropy(machine(inputs, targets), targets).backward()
            torch.nn.utils.clip_grad_value_(trained, peer.CLIP)
            optimizer.step()
        return options.batch, options.batch * len(inputs)

    for _ in range(3):
        one()
    rates = measure(one, options.seconds, options.windows)
    peer.report(options, rates, framework="torch", version=torch.__version__)


def check(cases, build, loss_of=cross_entropy):
    """Compares outputs, loss and gradients with golden values; build(sizes, parameters) -> a machine. Returns an exit code."""
    torch.set_default_dtype(torch.float64)
    found = peer.Check()
    for case in cases:
        machine = build(case.sizes, case.parameters)
        inputs, targets = torch.tensor(case.inputs), torch.tensor(case.targets)
        outputs = machine(inputs, targets)
        loss = loss_of(outputs, targets)
        loss.backward()
        found.compare(case.name, {"loss": loss.item(), "outputs": outputs.detach(), **machine.gradients()},
                      {"loss": case.loss, "outputs": case.outputs, **case.gradients})
    return int(found.failed)
