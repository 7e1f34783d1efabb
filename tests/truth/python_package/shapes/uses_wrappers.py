"""Calls of another module's wrappers, libraries and aliases."""

from functools import partial
from typing import Optional

import torch

from . import classes, constants
from . import wrappers as w
from .constants import rf, shared
from .wrappers import define_named_after, direct_register, fake_for

mine = torch.library.Library("shapes_mine", "FRAGMENT")
register_mine = partial(direct_register, target_lib=mine)


def add(x: torch.Tensor, y: Optional[torch.Tensor], n: int = 1) -> torch.Tensor:
    return x + n


def scale_(x: torch.Tensor, factor: float) -> None:
    x.mul_(factor)


direct_register("add", add)
direct_register(
    op_name="scale_",
    op_func=scale_,
    mutates_args=["x"],
    fake_impl=lambda x, factor: None,
)
w.direct_register("through_module", add, dispatch_key="CUDA")
register_mine("partial", add)
direct_register("into_mine", add, target_lib=mine)


@fake_for("add")
def add_fake(x, y, n=1):
    return torch.empty_like(x)


@define_named_after(mine)
def _renamed(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


shared.impl("twice", lambda x: x * 2, "CPU")
constants.shared.define("thrice(Tensor x) -> Tensor")


@rf("shapes_shared::twice")
def _(x):
    return torch.empty_like(x)


other = classes.Fragment("shapes_other")
other.define("far(Tensor x) -> Tensor")
other.register("far", {"CPU": lambda x: x.clone(), "Meta": lambda x: torch.empty_like(x)})
