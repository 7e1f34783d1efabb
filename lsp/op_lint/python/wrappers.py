"""Functions that the configuration describes, as the source of a function that does the same."""

from __future__ import annotations

from op_lint.python.linkage import LinkCode
from op_lint.python.options import Wrapper

WRAPPERS_PATH = "<configuration>"
"""The file that such functions are said to be in."""


def wrapper_code(wrapper: Wrapper) -> LinkCode:
    """A function with the wrapper's parameters that registers what the wrapper is said to register."""
    head = ", ".join(f"{name}=None" for name in wrapper.parameters)
    lines = [f"def wrapper({head}):", f"    name = {wrapper.operator}"]
    if wrapper.library:
        lines.append(f"    name = name if {wrapper.library} is None else {wrapper.library}.ns + '::' + name")
    if wrapper.namespace is not None:
        lines.append(f"    name = name if '::' in name else {wrapper.namespace + '::'!r} + name")
    lines += [f"    {line}" for line in _definition(wrapper)]
    if wrapper.function:
        lines.append(f"    torch.library.impl(name, {wrapper.key or repr('default')}, {wrapper.function})")
    if wrapper.fake:
        lines += [f"    if {wrapper.fake} is not None:", f"        torch.library.register_fake(name, {wrapper.fake})"]
    return LinkCode("wrapper", "\n".join(lines), "utf-8", 1, 0, wrapped=False, postponed=False)


def _definition(wrapper: Wrapper) -> list[str]:
    if wrapper.schema:
        return [f"torch.library.define(name, {wrapper.schema})"]
    if wrapper.function is None:
        return []
    mutates = f"() if {wrapper.mutates_args} is None else {wrapper.mutates_args}" if wrapper.mutates_args else "()"
    return [f"torch.library.define(name, torch.library.infer_schema({wrapper.function}, mutates_args={mutates}))"]
