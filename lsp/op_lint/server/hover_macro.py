"""Hover on the macro that opens a registration block: what it stands for, and who loads it."""

from __future__ import annotations

import re

from op_lint.facts import Place, Unit, UnitKind
from op_lint.server import hover_build
from op_lint.server.markdown import Link, link_to, where
from op_lint.server.site import MacroSite
from op_lint.server.snapshot import Snapshot
from op_lint.text import SourceText

_MEANING = {
    UnitKind.LIBRARY: "the block that owns the namespace: one in a whole process. It defines operators and may give"
    " them kernels.",
    UnitKind.FRAGMENT: "a block that adds definitions to a namespace. Any number of them may exist.",
    UnitKind.IMPL: "a block of kernels at one dispatch key. The operators may be defined elsewhere, before or after.",
    UnitKind.LEGACY: "the old way to register: `TORCH_LIBRARY` and `TORCH_LIBRARY_IMPL` do the same.",
}
_KINDS = {UnitKind.LIBRARY: "DEF", UnitKind.FRAGMENT: "FRAGMENT", UnitKind.IMPL: "IMPL"}
_OF_TORCH = re.compile(r"(?:STABLE_)?TORCH_LIBRARY(?:_FRAGMENT|_IMPL|_EXPAND|_IMPL_EXPAND)?")
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:[^\n\\]|\\(?:\r?\n|.))*", re.MULTILINE)
_MOST_LINES = 15


def about_macro(snapshot: Snapshot, site: MacroSite, link: Link) -> str:
    """The block that the macro opens: what it is, the macro's expansion, when its code runs."""
    unit = site.unit
    parts = [f"**{unit.macro}** — {_MEANING.get(unit.kind, 'registers operators')}"]
    own = _definition(snapshot, unit.macro)
    if own is not None:
        place, text = own
        parts.append(f"defined at {link_to(where(place), place, link)}\n```cpp\n{text}\n```")
    if unit.kind in _KINDS:
        parts.append(f"```cpp\n{_expansion(snapshot, unit)}\n```")
        parts.append("It runs when the library is loaded. An exception that it throws ends the process.")
    compiled = hover_build.compiled_into(snapshot, snapshot.program.file_of(unit))
    if compiled:
        parts.append(compiled)
    return "\n\n".join(parts)


def _expansion(snapshot: Snapshot, unit: Unit) -> str:
    """What the block's macro expands to in torch 2.13, without the numbers that make its names unique."""
    text = snapshot.text(unit.place.path)
    used = " ".join(text.data[unit.place.start : unit.place.end].decode("utf-8", "replace").split())
    name = unit.namespace or "_"
    names = "_".join(part for part in (name, unit.key) if part)
    if unit.stable:
        library, maker = "torch::stable::detail::StableLibrary", "torch::stable::detail::StableTorchLibraryInit"
        kind, key = f"{library}::Kind::{_KINDS[unit.kind]}", f'"{unit.key}"' if unit.key else "nullptr"
    else:
        library, maker, kind = (
            "torch::Library",
            "torch::detail::TorchLibraryInit",
            f"torch::Library::{_KINDS[unit.kind]}",
        )
        key = f"std::make_optional(c10::DispatchKey::{unit.key})" if unit.key else "std::nullopt"
    init = f"init_{names}"
    return (
        f"// {used}\n"
        f"static void {init}({library}&);\n"
        f"static const {maker} static_{init}(\n"
        f'    {kind}, &{init}, "{name}", {key}, __FILE__, __LINE__);\n'
        f"void {init}({library}& {_variable(used)})  // and your block"
    )


def _variable(used: str) -> str:
    """The name that the block gives its library: the macro's last argument."""
    last = used.rpartition(",")[2].rstrip(") ").strip()
    return last if last.isidentifier() else "m"


def _definition(snapshot: Snapshot, macro: str) -> tuple[Place, str] | None:
    """Where the project defines a macro of its own, and its definition."""
    if _OF_TORCH.fullmatch(macro):
        return None
    name = macro.encode()
    for path in snapshot.project.tree.cpp:
        data = snapshot.text(path).data
        if name not in data:
            continue
        for found in _DEFINE.finditer(data):
            if found.group(1) == name:
                place = Place(path, SourceText(data).line_of(found.start(1)), found.start(1), found.end(1))
                return place, _shown(found.group().decode("utf-8", "replace"))
    return None


def _shown(definition: str) -> str:
    lines = [line.rstrip() for line in definition.splitlines()]
    return "\n".join([*lines[:_MOST_LINES], "..."] if len(lines) > _MOST_LINES else lines)
