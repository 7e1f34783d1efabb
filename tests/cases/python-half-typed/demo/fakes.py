import torch

library = torch.library.Library("demo", "FRAGMENT")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x + x, "CompositeImplicitAutograd")


@torch.library.register_fake("demo::scale")
def _(x):
    if x.dim() == 0:
        return x.new_empty(  # expect: OPL902
    return torch.empty_like(x)


# What is typed here may be the fake of anything.
@torch.library.register_fake("demo::

def unused(x):
    return torch.ops.demo.missing(x)  # op-lint: ignore[OPL601] it is made elsewhere


def other(x):
    library.define("three times(Tensor x) -> Tensor")  # expect: OPL101
    return torch.ops.demo.scale(x)
