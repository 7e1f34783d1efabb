"""The functions of `torch.library` that take an operator's name."""

import torch
import torch.library as tl
from torch import library
from torch.library import define, impl, register_autograd, register_fake, register_kernel, register_vmap

torch.library.define("shapes_name::one", "(Tensor x) -> Tensor")
library.define("shapes_name::two", "(Tensor x, int n) -> Tensor", tags=torch.Tag.pt2_compliant_tag)
tl.define("shapes_name::three.over", schema="(Tensor x) -> Tensor")
define("shapes_name::four", "(Tensor x) -> Tensor")
define("shapes_name::" + "five", "(Tensor x)" " -> Tensor")
kept = tl.Library("shapes_name", "FRAGMENT")
define("shapes_name::six", "(Tensor x) -> Tensor", lib=kept)


def clone(x):
    return x.clone()


@torch.library.impl("shapes_name::one", "cpu")
def one(x):
    return x.clone()


@impl("shapes_name::two", ["cpu", "cuda", "meta"])
def two(x, n):
    return x + n


impl("shapes_name::three.over", "default", clone)
impl("shapes_name::four", "CompositeImplicitAutograd", func=clone)
impl("shapes_name::five", ("CPU", "xpu"))(clone)
impl("shapes_name::six", "cpu", clone, lib=kept)


@register_kernel("shapes_name::one", "cuda")
def _(x):
    return x.clone()


register_kernel("shapes_name::five", None, clone)


@register_fake("shapes_name::one")
def one_fake(x):
    return torch.empty_like(x)


register_fake("shapes_name::five", one_fake)
register_fake(torch.ops.shapes_name.six.default, one_fake, lib=kept)


def backward(ctx, grad):
    return grad


def setup(ctx, inputs, output):
    pass


register_autograd("shapes_name::one", backward, setup_context=setup)
torch.library.register_autograd("shapes_name::six", backward)


@register_vmap("shapes_name::one")
def one_vmap(info, in_dims, x):
    return x, in_dims[0]


torch.library.register_autocast("shapes_name::one", "cpu", torch.bfloat16)


@torch.ops.shapes_name.six.default.py_impl(torch._C.DispatchKey.AutocastCPU)
def six_autocast(x):
    return x.clone()
