def stack(values, *counts):
    """The values of all steps as one tensor. `counts` are the numbers of steps, the outermost first."""
    keys = itertools.product(*map(range, counts))
    return torch.stack([values[key if len(counts) > 1 else key[0]] for key in keys]).unflatten(0, counts)


def padded(values, count):
    """The values of all steps as one tensor; 0 where the first axis of one is shorter than the longest."""
    values = [values[i] for i in range(count)]
    longest = max(map(len, values))
    return torch.stack([torch.cat([own, own.new_zeros(longest - len(own), *own.shape[1:])]) for own in values])


def past(values, count, none):
    """The values of the first steps as one tensor; `none` if there are none."""
    return torch.stack([values[i] for i in range(count)]) if count else none


def layer(linear, number, count):
    """One of `count` maps whose weights stand one after another."""
    bias = None if linear.bias is None else linear.bias.chunk(count)[number]
    return lambda x: F.linear(x, linear.weight.chunk(count)[number], bias)


def per_head(y):
    """The map of each head for its own input: of [..., heads, heads * outputs] the entries [..., heads, outputs]."""
    return y.unflatten(-1, (y.shape[-2], -1)).diagonal(0, -3, -2).transpose(-2, -1)


def lstm(linear, x, h, c):
    """Long short-term memory: hidden state and cell."""
    i, f, g, o = linear(torch.cat([x, h], -1)).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def gru(gates, candidate, x, h):
    """Gated recurrent unit: the hidden state."""
    z, r = torch.sigmoid(gates(torch.cat([x, h], -1))).chunk(2, -1)
    return h + z * (torch.tanh(candidate(torch.cat([x, r * h], -1))) - h)


def log_softmax(x, *axes):
    """x - log(sum of exp(x)) over several axes."""
    return x - x.logsumexp(axes, keepdim=True)


def sharpen(w, gamma, axis):
    """w ** gamma, divided by its sum."""
    return (gamma * w.clamp_min(torch.finfo(w.dtype).tiny).log()).softmax(axis)


def cosine(a, b, epsilon=0):
    """The cosine of the angle between a and b along the last axis; 0 if one of them is 0."""
    norms = ((a * a).sum(-1) + epsilon).sqrt() * ((b * b).sum(-1) + epsilon).sqrt()
    return (a * b).sum(-1) / norms.clamp_min(torch.finfo(norms.dtype).tiny)


def rank(x, axis):
    """The number of smaller entries, equal ones in order."""
    return x.argsort(dim=axis, stable=True).argsort(axis).to(x.dtype)


def allocation(u, axis):
    """1 - u, times the product of all smaller u."""
    u, order = u.sort(dim=axis, stable=True)
    smaller = torch.cat([torch.ones_like(u.narrow(axis, 0, 1)), u.narrow(axis, 0, u.shape[axis] - 1)], axis)
    return torch.zeros_like(u).scatter(axis, order, (1 - u) * smaller.cumprod(axis))


def shift(w, s):
    """The circular convolution of w with s along the last axes; the middle of s is the offset 0."""
    return sum(s[..., j, None] * w.roll(j - s.shape[-1] // 2, -1) for j in range(s.shape[-1]))


def pick(x, index):
    """The entries of the last axis of x that an index names, and 0 outside of it."""
    index = torch.as_tensor(index, device=x.device)
    shape = torch.broadcast_shapes(x.shape[:-1], index.shape)
    is_inside = (index >= 0) & (index < x.shape[-1])
    index = torch.where(is_inside, index, 0).long().expand(shape)
    return x.expand(*shape, -1).gather(-1, index[..., None])[..., 0] * is_inside


def onehot(index, count, like):
    """1 at an index along a new last axis, else 0, in the type of `like`."""
    index = torch.as_tensor(index, device=like.device)
    return (torch.arange(count, device=like.device) == index.floor()[..., None]).to(like)


def window(x, count):
    """The values around each entry of the last axis of x, along a new last axis; 0 outside."""
    return F.pad(x, (count // 2, count)).unfold(-1, count, 1)[..., : x.shape[-1], :]
