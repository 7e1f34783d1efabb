"""Tensors of every layout that `op_lint.dispatch.call.Layout` names, made of a dense one. For the child processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "strided": lambda tensor: tensor,
    "sparse": lambda tensor: tensor.to_sparse(),
    "sparse-csr": lambda tensor: tensor.to_sparse_csr(),
    "quantized": lambda tensor: torch.quantize_per_tensor(tensor, 1.0, 0, torch.qint8),
    "nested": lambda tensor: torch.nested.nested_tensor([tensor, tensor]),
    "jagged": lambda tensor: torch.nested.nested_tensor([tensor, tensor], layout=torch.jagged),
    "mkldnn": lambda tensor: tensor.to_mkldnn(),
}
