"""Reads what torch prints of its dispatcher (`torch._C._dispatch_dump` and `_dispatch_dump_table`).

The form of the text is that of `OperatorEntry::dumpState` and `dumpComputedTable`
(aten/src/ATen/core/dispatch/OperatorEntry.cpp, torch 2.4 to 2.14).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from op_lint.facts import KernelKind
from op_lint.installed.model import InstalledKernel, InstalledOperator

Relative = Callable[[str], str]

_KERNEL = re.compile(
    r"(?P<key>\w+)(?:\[alias\])?(?P<inactive> \(inactive\))?: (?P<origin>.*) :: (?P<signature>.*) \[ (?P<form>[\w ]*)\]"
)
_ENTRY = re.compile(r"(?P<key>\w+): (?P<fallthrough>fallthrough )?(?P<origin>.*) \[(?P<reason>[\w ]+)\]")
_TORCH_SOURCE = re.compile(r"(?<=registered at )(?:\.\./|/.*?/)?(?=(?:build/)?(?:aten/src|torch/csrc)/)")


def relative_to_torch(package: str) -> Relative:
    """Makes the files of torch in a dump's text relative to its source tree.

    `package` is the folder of the installed torch: its Python files become `torch/...`. C++ files are named as the
    compiler of that build was given them: `/somewhere/aten/src/...` or `../aten/src/...` becomes `aten/src/...`;
    generated ones keep a leading `build/` where they have it.
    """
    python = re.compile(rf"(?<=registered at ){re.escape(package)}[/\\](?P<file>.*)")

    def relative(origin: str) -> str:
        if (match := python.search(origin)) is not None:
            return f"{origin[: match.start()]}torch/{match['file']}".replace("\\", "/")
        return _TORCH_SOURCE.sub("", origin, count=1)

    return relative


def parse_operator(name: str, dump: str, tags: tuple[str, ...], relative: Relative) -> InstalledOperator:
    """The operator in what `_dispatch_dump(name)` printed; lines that are no registration are left out."""
    head: dict[str, str] = {}
    kernels: list[InstalledKernel] = []
    for line in dump.splitlines():
        if (match := _KERNEL.fullmatch(line)) is not None:
            kernels.append(_kernel(match, relative))
        else:
            field, _, value = line.partition(": ")
            head.setdefault(field, value)
    schema = head.get("schema")
    analysis = head.get("alias analysis kind", "").partition(" ")[0]
    # The dump lists the newest kernel of a key first.
    return InstalledOperator(
        name,
        None if schema == "(none)" else schema,
        relative(head["debug"]) if "debug" in head else None,
        analysis or None,
        tags,
        tuple(reversed(kernels)),
    )


def _kernel(match: re.Match[str], relative: Relative) -> InstalledKernel:
    form = match["form"].split()
    if "fallthrough" in form:
        kind = KernelKind.FALLTHROUGH
    else:
        kind = KernelKind.KERNEL if "unboxed" in form else KernelKind.BOXED
    signature = None if match["signature"] == "(none)" else match["signature"]
    return InstalledKernel(match["key"], relative(match["origin"]), signature, kind, match["inactive"] is None)


def parse_fallbacks(table: str, relative: Relative) -> tuple[InstalledKernel, ...]:
    """The backend fallbacks in the computed table of an operator that has no kernel, lowest priority first."""
    return tuple(
        InstalledKernel(
            match["key"],
            relative(match["origin"]),
            None,
            KernelKind.FALLTHROUGH if match["fallthrough"] else KernelKind.BOXED,
        )
        for match in map(_ENTRY.fullmatch, table.splitlines())
        if match is not None
    )
