"""Whether the build gives a macro a value: a search for its name in the files that the project is built from.

A search for words and no more: it tells that nothing in the project defines a macro, never which value it gets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from op_lint.facts import FileFacts
from op_lint.files import DEFAULT_EXCLUDE

TORCH_EXTENSION_NAME = "TORCH_EXTENSION_NAME"
"""The macro that `torch.utils.cpp_extension` defines for every extension that it builds."""

_HELPERS = re.compile(rb"cpp_extension|CppExtension|CUDAExtension|SyclExtension|BuildExtension")
"""What a Python file says that lets `torch.utils.cpp_extension` build."""

_BUILDS = ("CMakeLists.txt", "setup.py", "BUCK", "TARGETS", "BUILD", "BUILD.bazel", "meson.build", "Makefile")
"""Files that make binaries of sources."""

_SPEAKS = (
    *_BUILDS, "*.bat", "*.bazel", "*.bzl", "*.cfg", "*.cmake", "*.gn", "*.gni", "*.in", "*.mk", "*.ps1", "*.py", "*.sh",
    "*.toml",
)  # fmt: skip
"""Files that may define a macro."""

_COMMENT = re.compile(rb"(?:^|(?<=\s))#.*$", re.MULTILINE)
"""A comment in every language of these files but in C (`config.h.in`), where `#define` is what is looked for."""

_LARGEST = 1 << 20
"""Bytes. No file that a person writes to build something is larger."""


class Mention(msgspec.Struct, frozen=True, order=True):
    """A file, relative to the project's root, that names a macro so many times.

    `helper` says that it has torch's build helpers define the macro.
    """

    path: str
    times: int
    helper: bool = False


class MacroSearch(msgspec.Struct, frozen=True):
    """What came of the search for one macro.

    `builds` are the files that build the project, relative to its root, sorted; `mentions` are the files of the project
    that speak of the macro, or leave its definition to torch's build helpers, sorted.
    """

    macro: str
    builds: tuple[str, ...]
    mentions: tuple[Mention, ...] = ()

    @property
    def defined(self) -> bool:
        """Whether something in the project may define the macro."""
        return bool(self.mentions)


def search_macros(root: Path, files: Iterable[FileFacts]) -> tuple[MacroSearch, ...]:
    """Search for each macro that names a namespace in `files`. Reads nothing where there is none."""
    return search_named(
        root, sorted({unit.namespace_macro for file in files for unit in file.units if unit.namespace_macro})
    )


def search_named(root: Path, macros: Sequence[str]) -> tuple[MacroSearch, ...]:
    """Search for each of `macros`. Reads nothing where there is none."""
    if not macros:
        return ()
    builds: list[str] = []
    found: dict[str, list[Mention]] = {macro: [] for macro in macros}
    for path, name in _files(root):
        if name in _BUILDS:
            builds.append(path)
        data = _content(root / path)
        if not name.endswith(".in"):
            data = _COMMENT.sub(b"", data)
        for macro in macros:
            found[macro] += _mentions(macro, path, name, data)
    return tuple(MacroSearch(macro, tuple(sorted(builds)), tuple(sorted(found[macro]))) for macro in macros)


def _files(root: Path) -> Iterator[tuple[str, str]]:
    """The path from the root and the name of each file that may define a macro."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if not any(fnmatch(name, pattern) for pattern in DEFAULT_EXCLUDE)]
        for name in names:
            if any(fnmatch(name, pattern) for pattern in _SPEAKS):
                yield Path(folder, name).relative_to(root).as_posix(), name


def _content(file: Path) -> bytes:
    """Nothing where the file cannot be read: then it does not build anything either."""
    try:
        return file.read_bytes() if file.stat().st_size <= _LARGEST else b""
    except OSError:
        return b""


def _mentions(macro: str, path: str, name: str, data: bytes) -> Iterator[Mention]:
    helper = macro == TORCH_EXTENSION_NAME and name.endswith(".py") and _HELPERS.search(data) is not None
    times = len(re.findall(rb"(?:[-/]D|(?<!\w))" + re.escape(macro.encode()) + rb"(?!\w)", data))
    if helper or times:
        yield Mention(path, times, helper)
