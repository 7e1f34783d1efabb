"""The spellings of torch 2.0 to 2.3, which still work."""

import warnings

import torch
from torch import Tensor
from torch.library import Library, impl
from torch._custom_op.impl import custom_op as old_custom_op

lib = Library("shapes_legacy", "DEF")
lib.define("one(Tensor x) -> Tensor")
lib.define("two(Tensor x) -> Tensor")
lib.define("four(Tensor x) -> Tensor")


@impl(lib, "one", "CPU")
def one_cpu(x):
    return x.clone()


@torch.library.impl(lib, "one", "CUDA")
@torch.no_grad()
def one_cuda(x):
    return x.clone()


@impl(lib, name="two", dispatch_key="CompositeExplicitAutograd")
def two(x):
    return x.clone()


@impl(lib, "four")
def four(x):
    return x.clone()


@torch.library.define(lib, "three(Tensor x) -> Tensor")
def three(x):
    return x.clone()


with warnings.catch_warnings():
    warnings.simplefilter("ignore")

    @torch.library.impl_abstract("shapes_legacy::one")
    def one_abstract(x):
        return torch.empty_like(x)

    torch.library.impl_abstract("shapes_legacy::two", one_abstract)

    @torch._custom_ops.custom_op("shapes_legacy::old")
    def old(x: Tensor) -> Tensor:
        raise NotImplementedError

    torch._custom_ops.custom_op("shapes_legacy::old_schema", "(Tensor x) -> Tensor")

    @torch._custom_ops.impl("shapes_legacy::old")
    def old_impl(x):
        return x.clone()

    @torch._custom_ops.impl("shapes_legacy::old_schema", device_types="cpu")
    def old_schema_impl(x):
        return x.clone()

    @torch._custom_ops.impl_abstract("shapes_legacy::old")
    def old_abstract(x):
        return torch.empty_like(x)

    @old_custom_op("shapes_legacy::older")
    def older(x: Tensor) -> Tensor:
        raise NotImplementedError

    @older.impl("cpu")
    def older_cpu(x):
        return x.clone()

    @older.impl_abstract()
    def older_abstract(x):
        return torch.empty_like(x)
