"""Functions that register what their callers name."""

from typing import Callable, List, Optional

import torch
from torch.library import Library, infer_schema

default_lib = Library("shapes_wrap", "FRAGMENT")


def direct_register(
    op_name: str,
    op_func: Callable,
    mutates_args: Optional[List[str]] = None,
    fake_impl: Optional[Callable] = None,
    target_lib: Optional[Library] = None,
    dispatch_key: str = "CPU",
):
    if mutates_args is None:
        mutates_args = []
    schema = infer_schema(op_func, mutates_args=mutates_args)
    my_lib = target_lib or default_lib
    my_lib.define(op_name + schema)
    my_lib.impl(op_name, op_func, dispatch_key=dispatch_key)
    if fake_impl is not None:
        my_lib._register_fake(op_name, fake_impl)


def fake_for(name):
    def decorator(function):
        return torch.library.register_fake(f"shapes_wrap::{name}")(function)

    return decorator


def define_named_after(lib):
    def decorator(function):
        name = function.__name__
        if name[0] == "_":
            name = name[1:]
        lib.define(name + infer_schema(function, mutates_args=()))
        lib.impl(name, function, "CompositeExplicitAutograd")
        return function

    return decorator


def local(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


direct_register("here", local)
direct_register(op_name="here_fake", op_func=local, fake_impl=local, dispatch_key="CompositeExplicitAutograd")


@define_named_after(default_lib)
def _named(x: torch.Tensor, n: int = 2) -> torch.Tensor:
    return x + n


@fake_for("here")
def _(x):
    return torch.empty_like(x)
