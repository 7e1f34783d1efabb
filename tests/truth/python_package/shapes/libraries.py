"""`torch.library.Library` objects of every kind."""

import torch
from torch.library import Library, fallthrough_kernel
from torch.library import Library as Lib

full = torch.library.Library("shapes_full", "DEF")
fragment = Library("shapes_full", "FRAGMENT")
impls = Lib("shapes_full", "IMPL", "CPU")
other = Lib(
    "shapes_full",
    "IMPL",
)
chained = (
    torch
    .library
    .Library("shapes_full", "IMPL", "CompositeExplicitAutograd")
)

full.define("f(Tensor x) -> Tensor")
full.define("f.named(Tensor x, int n=3) -> Tensor")
full.define(schema="mutating(Tensor(a!) x) -> ()", tags=(torch.Tag.needs_fixed_stride_order,))
fragment.define("g(Tensor x, *, float scale=1.0) -> Tensor")
fragment.define(
    "long("
    "Tensor x, "
    "int[2] size"
    ") -> Tensor"
)
fragment.define("""multi(
    Tensor x,
    Tensor y
) -> (Tensor, Tensor)""")


def f_cpu(x):
    return x.clone()


impls.impl("f", f_cpu)
impls.impl("g", lambda x, *, scale=1.0: x * scale)
impls.impl("shapes_full::multi", lambda x, y: (x, y))
other.impl("f.named", lambda x, n=3: x + n, "CPU")
other.impl("f", fallthrough_kernel, "AutocastCPU")
other.impl(dispatch_key="Meta", fn=lambda x, *, scale=1.0: torch.empty_like(x), op_name="g")
other.impl("mutating", lambda x: None, "CPU")
other.impl(torch.ops.shapes_full.f.named, lambda x, n=3: torch.empty_like(x), "Meta")
other._register_fake("f", f_cpu)
chained.impl("long", lambda x, size: x.clone())
full.impl("multi", lambda x, y: (x.clone(), y.clone()))

wildcard = Library("_", "IMPL")
