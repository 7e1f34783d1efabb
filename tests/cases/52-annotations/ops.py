import enum
from typing import Optional

import pytest
import torch


def no_annotation(x) -> torch.Tensor:  # expect: OPL605
    return x.clone()


def rest(x: torch.Tensor, *more: int) -> torch.Tensor:  # expect: OPL605
    return x.clone()


def returns_text(x: torch.Tensor) -> str:  # expect: OPL605
    return "x"


def right(x: torch.Tensor, sizes: list[int], s: Optional[float] = None) -> tuple[torch.Tensor, int]:
    return x.clone(), 1


torch.library.infer_schema(no_annotation, mutates_args=())
torch.library.infer_schema(rest, mutates_args=())
torch.library.infer_schema(returns_text, mutates_args=())
torch.library.infer_schema(right, mutates_args=["out"])  # expect: OPL605
torch.library.infer_schema(right, mutates_args=["x"])


def test_that_torch_refuses():
    with pytest.raises(ValueError):
        torch.library.infer_schema(no_annotation, mutates_args=())


@torch.library.custom_op("demo::with_schema", mutates_args=(), schema="(Tensor x) -> Tensor")
def with_schema(x):
    return x.clone()
