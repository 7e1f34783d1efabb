"""What torch must know of the operators that are defined in C++: fakes, the autograd formula, vmap and autocast."""

import torch


@torch.library.register_fake("pairwise::distance")
def distance_fake(x, y, p=2.0):
    torch._check(x.dim() == 2 and y.dim() == 2, lambda: "distance: expected two matrices")
    torch._check(x.shape[1] == y.shape[1], lambda: "distance: the rows differ in length")
    return x.new_empty(x.shape[0], y.shape[0])


@torch.library.register_fake("pairwise::distance_backward")
def distance_backward_fake(grad, x, y, p):
    return x.new_empty(x.shape), y.new_empty(y.shape)


def setup_context(ctx, inputs, output):
    x, y, ctx.p = inputs
    ctx.save_for_backward(x, y)


def backward(ctx, grad):
    x, y = ctx.saved_tensors
    return *torch.ops.pairwise.distance_backward(grad, x, y, ctx.p), None


torch.library.register_autograd("pairwise::distance", backward, setup_context=setup_context)
torch.library.register_autocast("pairwise::distance", "cpu", torch.float32)


@torch.library.register_vmap("pairwise::distance")
def distance_vmap(info, in_dims, x, y, p=2.0):
    """One call for all of a batch where only one side has it: its rows are put below each other."""
    x_dim, y_dim = in_dims[:2]  # an argument that equals its default is not passed
    if x_dim is not None and y_dim is not None:
        pairs = zip(x.unbind(x_dim), y.unbind(y_dim), strict=True)
        return torch.stack([torch.ops.pairwise.distance(a, b, p) for a, b in pairs]), 0
    if x_dim is not None:
        rows = x.movedim(x_dim, 0)
        return torch.ops.pairwise.distance(rows.flatten(0, 1), y, p).unflatten(0, rows.shape[:2]), 0
    columns = y.movedim(y_dim, 0)
    return torch.ops.pairwise.distance(x, columns.flatten(0, 1), p).unflatten(1, columns.shape[:2]), 1
