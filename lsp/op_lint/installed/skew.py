"""What a library that does not load tells of the torch that it was built against.

Its undefined symbols say which functions of torch it calls, with the types of their parameters. Where the installed
torch has a function of that name, and none with these parameters, the library was built against another one: nothing
else declares torch's functions. Names that this torch does not know at all prove nothing: a project may have functions
in torch's namespaces, too, and not link them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.hash import GNUHashSection

from op_lint.build.binary import read_binary
from op_lint.installed.model import Extension, InstalledTorch, Load, Skew

_FAILED = re.compile(r"undefined symbol: (\S+)")
_OF_TORCH = re.compile(r"_ZN[rVK]*[RO]?(?=2at|3c10|5torch|6caffe2)")
_ABI_TAG = "B5cxx11"
_OLD_STRING = re.compile(r"(?:^|[EKRPvibdlfmj_])Ss")
"""`std::string` before C++11 among the types of parameters, where it can be told from a part of a name."""

_NEW_STRING = "7__cxx11"


def with_skew(extension: Extension, package: str, torch: InstalledTorch) -> Extension:
    """The extension with what is known of the libraries in it that do not load into the torch in `package`."""
    loads = tuple(_examined(load, Path(package), torch) for load in extension.loads)
    return Extension(loads, extension.operators, extension.added, extension.defined, extension.fallbacks)


def _examined(load: Load, package: Path, torch: InstalledTorch) -> Load:
    failed = _FAILED.search(load.error or "")
    binary = read_binary(Path(load.what)) if failed is not None else None
    if binary is None:
        return load
    asked = [name for name in sorted(binary.undefined) if _OF_TORCH.match(name)]
    changed = tuple(_changed(asked, sorted((package / "lib").glob("*.so"))))
    if not changed:
        return load
    uses_new = any(_NEW_STRING in name for name in asked)
    uses_old = any(_OLD_STRING.search(name[len(_qualified(name) or "") :]) for name in changed)
    other_abi = (uses_old and not uses_new) if torch.cxx11_abi else any(_NEW_STRING in name for name in changed)
    return Load(load.what, load.error, Skew(changed, other_abi, tuple(sorted(binary.sources))))


def _changed(asked: list[str], libraries: list[Path]) -> Iterator[str]:
    """Of the symbols that are asked for those that torch's libraries have with other parameters only."""
    with ExitStack() as files:
        tables: list[GNUHashSection] = []
        names: list[bytes] = []
        for path in libraries:
            try:
                elf = ELFFile(files.enter_context(path.open("rb")))
                table, strings = elf.get_section_by_name(".gnu.hash"), elf.get_section_by_name(".dynstr")
            except (OSError, ELFError):
                return  # a library that cannot be read may have what is missing
            if not isinstance(table, GNUHashSection) or strings is None:
                return
            tables.append(table)
            names.append(strings.data())
        for name in asked:
            stem = _qualified(name)
            is_known = stem is not None and any(f"\0{stem}".encode() in each for each in names)
            if is_known and all(table.get_symbol(name) is None for table in tables):
                yield name


def _qualified(name: str) -> str | None:
    """The mangled name up to its parameters; None for operators, templates and the like."""
    start = _OF_TORCH.match(name)
    position = start.end() if start else len(name)
    while (number := re.compile(r"\d+").match(name, position)) is not None:
        position = number.end() + int(number[0])
        if name.startswith(_ABI_TAG, position):
            position += len(_ABI_TAG)
    if re.compile(r"[CD][0-3]").match(name, position):
        position += 2
    return name[: position + 1] if name[position : position + 1] == "E" else None
