"""Child process: the key sets that real tensors carry. Standard output: JSON, label to the names of the keys."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.truth.dispatcher.layouts import LAYOUTS

C = torch._C


def names(tensor: Any) -> list[str]:
    inner = C._dispatch_keyset_to_string(C._dispatch_keys(tensor))[len("DispatchKeySet(") : -1]
    return sorted(inner.split(", "))


def layouts() -> dict[str, Any]:
    dense = torch.ones(2, 2)
    return {
        **{name: make(dense) for name, make in LAYOUTS.items()},
        "conjugate": torch.ones(2, dtype=torch.cfloat).conj(),
        "negative": torch._neg_view(torch.ones(2)),
        "zero": torch._efficientzerotensor(2),
    }


def transformed() -> dict[str, list[str]]:
    """The wrappers of functorch: what the function inside is given."""
    seen: dict[str, list[str]] = {}

    def look(label: str) -> Any:
        def inside(tensor: Any) -> Any:
            seen[label] = names(tensor)
            return tensor.sum()

        return inside

    tensors = {"cpu": torch.ones(1, 1), "meta": torch.ones(1, 1, device="meta"), "sparse": torch.ones(1, 1).to_sparse()}
    for label, tensor in tensors.items():
        torch.func.functionalize(look(f"functionalize {label}"))(tensor)
        torch.func.grad(look(f"grad {label}"))(tensor)
        if label != "sparse":
            torch.vmap(look(f"vmap {label}"))(tensor)
    torch.vmap(torch.func.grad(look("vmap grad")))(torch.ones(1, 1))
    torch.vmap(torch.vmap(look("vmap vmap")))(torch.ones(1, 1))
    return seen


def main() -> None:
    warnings.simplefilter("ignore")
    answer = {label: names(tensor) for label, tensor in layouts().items()}
    with torch.inference_mode():
        answer.update({f"inference {label}": names(tensor) for label, tensor in layouts().items()})
    with FakeTensorMode():
        for device in ("cpu", "cuda", "meta", "xpu"):
            answer[f"fake {device}"] = names(torch.empty(1, device=device))
    json.dump({**answer, **transformed()}, sys.stdout)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
