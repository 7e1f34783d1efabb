"""Operators that are defined in Python."""

import torch

NAMESPACE = "pairwise"
lib = torch.library.Library(NAMESPACE, "FRAGMENT")


def direct_register(name, function, mutates_args, fake_impl, key="CompositeExplicitAutograd"):
    """Define an operator by its function's annotations, with one kernel and a fake.

    It costs less at each call than `torch.library.custom_op`, and offers no more than these.
    """
    schema = torch.library.infer_schema(function, mutates_args=mutates_args)
    lib.define(name + schema)
    lib.impl(name, function, dispatch_key=key)
    lib._register_fake(name, fake_impl)


def nearest(x: torch.Tensor, y: torch.Tensor, k: int = 1) -> torch.Tensor:
    """For each row of `x`, the indices of the `k` rows of `y` that are nearest."""
    return torch.ops.pairwise.distance(x, y).topk(k, largest=False).indices


def nearest_fake(x, y, k=1):
    return x.new_empty((x.shape[0], k), dtype=torch.int64)


direct_register("nearest", nearest, [], nearest_fake)

lib.define("shift_(Tensor(a!) x, float by) -> ()")


@torch.library.impl(lib, "shift_", "CompositeExplicitAutograd")
def shift_(x, by):
    x.add_(by)


# The distance to the nearest and to the farthest: two operators of one shape.
for name, reduce in (("closest", torch.amin), ("farthest", torch.amax)):
    lib.define(f"{name}(Tensor x, Tensor y) -> Tensor")
    lib.impl(name, lambda x, y, of=reduce: of(torch.ops.pairwise.distance(x, y), 1), "CompositeImplicitAutograd")


@torch.library.custom_op(f"{NAMESPACE}::similarity", mutates_args=())
def similarity(x: torch.Tensor, y: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """Ones where rows are equal, falling with their distance."""
    return torch.exp(-torch.ops.pairwise.distance(x, y) * scale)


@similarity.register_fake
def _(x, y, scale=1.0):
    return x.new_empty(x.shape[0], y.shape[0])


@similarity.register_kernel("cuda")
def similarity_cuda(x, y, scale=1.0):
    return torch.exp(-torch.cdist(x, y) * scale)


def similarity_setup(ctx, inputs, output):
    x, y, ctx.scale = inputs
    ctx.save_for_backward(x, y, output)


def similarity_backward(ctx, grad):
    x, y, output = ctx.saved_tensors
    to_distance = -ctx.scale * grad * output
    return *torch.ops.pairwise.distance_backward(to_distance, x, y, 2.0), None


similarity.register_autograd(similarity_backward, setup_context=similarity_setup)


@torch.library.custom_op(f"{NAMESPACE}::accumulate", mutates_args={"total"}, device_types="cpu")
def accumulate(x: torch.Tensor, total: torch.Tensor) -> None:
    """Add `x` to `total`."""
    total.add_(x)


torch.library.register_fake("pairwise::accumulate", lambda x, total: None)
