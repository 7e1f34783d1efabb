"""A module further down, which imports from above."""

import torch

from ..constants import NAMESPACE
from ..wrappers import direct_register

torch.library.define(f"{NAMESPACE}::deep", "(Tensor x) -> Tensor")


def deep(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


torch.library.impl(NAMESPACE + "::deep", "cpu", deep)
direct_register("deep", deep)
