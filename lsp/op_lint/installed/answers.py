"""Makes values of what the probe said."""

from __future__ import annotations

from collections import Counter

import msgspec

from op_lint.dispatch.keys import KeyFacts
from op_lint.installed.cache import CachedTorch, stamp
from op_lint.installed.child import ProbeOutput
from op_lint.installed.dump import Relative, parse_fallbacks, parse_operator, relative_to_torch
from op_lint.installed.model import Extension, InstalledKernel, InstalledOperator, InstalledTorch, Load


def torch_said(output: ProbeOutput) -> CachedTorch | None:
    """The torch that the probe read; None where it did not come so far."""
    if "torch" not in output.said or "location" not in output.said:
        return None
    location, said = output.said["location"], output.said["torch"]
    relative, operators = relative_to_torch(location["package"]), said["operators"]
    torch = InstalledTorch(
        said["version"],
        said["cuda"],
        said["hip"],
        said["git"],
        said["debug"],
        said["cxx11_abi"],
        msgspec.convert(said["keys"], KeyFacts),
        {name: _operator(name, dump, tags, module, said["jagged"], relative) for name, dump, tags, module in operators},
        parse_fallbacks(said["fallbacks"], relative),
        {namespace: relative(origin) for namespace, origin in said["libraries"].items()},
    )
    return CachedTorch(location["package"], stamp(location["stamps"]), torch)


def _operator(
    name: str, dump: str, tags: list[str], module: str | None, jagged: list[str] | None, relative: Relative
) -> InstalledOperator:
    operator = parse_operator(name, dump, tuple(tags), relative)
    is_jagged = None if jagged is None else name in jagged
    return msgspec.structs.replace(operator, python_module=module, jagged=is_jagged)


def extension_said(output: ProbeOutput, read: CachedTorch) -> Extension | None:
    """What loading changed; None where the child did not come to say."""
    said = output.said.get("extension")
    if said is None:
        return None
    relative = relative_to_torch(read.package)
    operators: dict[str, InstalledOperator] = {}
    added: dict[str, tuple[InstalledKernel, ...]] = {}
    defined: list[str] = []
    for name, dump, tags, module, before in said["operators"]:
        operator, new = _changed(name, dump, tuple(tags), before, relative)
        installed = read.torch.operators.get(name)
        jagged = installed.jagged if installed is not None else False
        operators[name] = msgspec.structs.replace(operator, python_module=module, jagged=jagged)
        if new:
            added[name] = new
        if operator.schema is not None and "\nschema: (none)\n" in (before or "\nschema: (none)\n"):
            defined.append(name)
    known = {fallback.key for fallback in read.torch.fallbacks}
    fallbacks = tuple(kernel for kernel in parse_fallbacks(said["fallbacks"], _as_is) if kernel.key not in known)
    loads = tuple(Load(load["what"], load["error"]) for load in said["loads"])
    return Extension(loads, operators, added, tuple(defined), fallbacks)


def _as_is(origin: str) -> str:
    return origin


def _changed(
    name: str, dump: str, tags: tuple[str, ...], before: str | None, relative: Relative
) -> tuple[InstalledOperator, tuple[InstalledKernel, ...]]:
    """An operator after loading, and its new kernels. What was there before is torch's: only that is made relative."""
    after = parse_operator(name, dump, tags, _as_is)
    old = Counter(_place(kernel) for kernel in parse_operator(name, before or "", (), _as_is).kernels)
    kernels: list[InstalledKernel] = []
    new: list[InstalledKernel] = []
    for kernel in after.kernels:
        if old[_place(kernel)] > 0:
            old[_place(kernel)] -= 1
            kernels.append(msgspec.structs.replace(kernel, origin=relative(kernel.origin)))
        else:
            kernels.append(kernel)
            new.append(kernel)
    origin = after.origin
    if origin is not None and before is not None and f"\ndebug: {origin}\n" in before:
        origin = relative(origin)
    return msgspec.structs.replace(after, kernels=tuple(kernels), origin=origin), tuple(new)


def _place(kernel: InstalledKernel) -> tuple[str, str, str | None]:
    """What stays the same of a kernel when another replaces it."""
    return kernel.key, kernel.origin, kernel.signature
