"""Run in `examples/pairwise` after it is built: import it, use it, and print what it has put into the dispatcher.

The dispatcher names the file and line of each C++ block. For Python it names the line that makes the
`torch.library.Library`, which is in torch itself for most of torch.library: so the line of the package that is running
when something is registered is noted as well.
"""

from __future__ import annotations

import functools
import importlib
import json
import traceback
from collections.abc import Callable
from typing import Any

import torch

Called = tuple[str, str, str, int]
"""Operator, key (empty for a definition), path and line."""

called: list[Called] = []


def dumps() -> dict[str, str]:
    return {name: torch._C._dispatch_dump(name) for name in torch._C._dispatch_get_all_op_names()}


def noted(method: Callable[..., Any], key_of: Callable[..., str]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapped(library: torch.library.Library, operator: Any, *args: Any, **kwargs: Any) -> Any:
        name = operator if isinstance(operator, str) else operator.name()
        # The module that is being imported, which may be inside of functions that it calls.
        frame = [frame for frame in traceback.extract_stack() if frame.name == "<module>"][-1]
        name = f"{library.ns}::{name.partition('(')[0].rpartition('::')[2]}"
        called.append((name, key_of(library, *args, **kwargs), frame.filename, frame.lineno or 0))
        return method(library, operator, *args, **kwargs)

    return wrapped


def key_of_impl(library: torch.library.Library, function: object, dispatch_key: str = "", **_: object) -> str:
    return dispatch_key or library.dispatch_key


def main() -> None:
    before = dumps()
    torch.library.Library.impl = noted(torch.library.Library.impl, key_of_impl)
    torch.library.Library.define = noted(torch.library.Library.define, lambda *_, **__: "")
    importlib.import_module("pairwise")
    registered = {name: dump for name, dump in dumps().items() if before.get(name) != dump}
    print(json.dumps({"dumps": registered, "called": called}))
    use()


def use() -> None:
    """What the README says of the package: it is right."""
    ops = torch.ops.pairwise
    x, y = (torch.rand(rows, 3, dtype=torch.double, requires_grad=True) for rows in (4, 5))
    for p in (1.5, 2.0, 3.0):
        torch.testing.assert_close(ops.distance(x, y, p), torch.cdist(x, y, p))
        torch.autograd.gradcheck(functools.partial(ops.distance, p=p), (x, y))
    torch.autograd.gradcheck(functools.partial(ops.similarity, scale=0.5), (x, y))
    batch = torch.rand(6, 4, 3, dtype=torch.double)
    for dims in ((0, None), (None, 0), (0, 0)):
        args = [batch if dim is not None else side for dim, side in zip(dims, (x, y), strict=True)]
        torch.testing.assert_close(torch.vmap(ops.distance, dims)(*args), torch.vmap(torch.cdist, dims)(*args))
    with torch.autocast("cpu"):
        assert ops.distance(x.detach().bfloat16(), y.detach().bfloat16()).dtype is torch.float32
    check_operators(x, y)


def check_operators(x: torch.Tensor, y: torch.Tensor) -> None:
    ops, a, b = torch.ops.pairwise, x.detach(), y.detach()
    total = torch.zeros_like(a)
    calls: dict[str, tuple[object, ...]] = {
        "distance": (x, y, 2.0),
        "distance_backward": (torch.rand(4, 5, dtype=torch.double), a, b, 2.0),
        "clip_norms_": (a.clone(), 0.5),
        "mean_distance": (x, y),
        "count_within": (ops.distance(a, b), 0.5),
        "nearest": (a, b, 2),
        "shift_": (a.clone(), 1.0),
        "closest": (x, y),
        "farthest": (x, y),
        "similarity": (x, y, 0.5),
        "accumulate": (a, total),
    }
    assert {name.partition("::")[2] for name in dumps() if name.startswith("pairwise::")} == set(calls)
    for name, args in calls.items():
        torch.library.opcheck(getattr(ops, name).default, args)


if __name__ == "__main__":
    main()
