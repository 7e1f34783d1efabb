import contextlib

import pytest
import torch

import ops

scale = torch.ops.demo.scale_rows


def misspelt(x):
    return torch.ops.demo.scale_row(x, 2.0)  # expect: OPL601


def missing(x):
    return torch.ops.demo.rotate(x)  # expect: OPL601


def other_overload(x):
    return torch.ops.demo.norm.names(x, 0)  # expect: OPL601


def of_torch(x):
    return torch.ops.aten.adds.Tensor(x, x)  # expect: OPL601


def of_torchscript():
    return torch.ops.aten.add.default(1, 2), torch.ops.aten.sym_size.default


def of_a_package_that_is_not_here(x):
    return torch.ops.stranger.scale(x)


def tested(x):
    if hasattr(torch.ops.demo, "fast_scale"):
        return torch.ops.demo.fast_scale(x)
    return getattr(torch.ops.demo, "faster_scale", scale)(x)


def tested_with_and(x):
    return hasattr(torch.ops.demo, "turbo") and torch.ops.demo.turbo(x)


def tried(x):
    try:
        return torch.ops.demo.scaled(x)
    except AttributeError:
        return None


def suppressed(x):
    with contextlib.suppress(AttributeError):
        return torch.ops.demo.scales(x)


def test_that_it_is_not_there():
    with pytest.raises(AttributeError):
        torch.ops.demo.scal_rows


def on_a_platform(x):
    if torch.version.hip is not None:
        return torch.ops.demo.only_hip(x)
    return x


def by_name(x, name):
    return getattr(torch.ops.demo, name)(x)
