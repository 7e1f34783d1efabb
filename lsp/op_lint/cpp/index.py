"""The workspace's C++ files: which one an `#include` means, which macros register, which files may register."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from op_lint.cpp.scan import DEFINE, blank_comments_and_literals

_MOST_EDITED = 16
"""Texts of which is remembered what they mean to others: those of a file before an edit were those after the last."""

_REGISTERS = re.compile(
    rb"TORCH_LIBRARY|TorchLibraryInit|RegisterOperators|torch::Library\b|StableLibrary\b|\bLibrary\s*&"
)
"""What a file that registers operators says somewhere, unless a macro of the project says it in its place."""

_BLOCK = re.compile(rb"^[ \t]*(?:STABLE_)?TORCH_LIBRARY(?:_FRAGMENT|_IMPL)?[ \t]*\(", re.MULTILINE)
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
_CALLS = re.compile(rb"\.\s*(?:def|impl|fallback|op)\s*\(")
_WORD = re.compile(rb"[A-Za-z_]\w*")

HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl", ".ipp", ".def", ".tcc")
_OVERLAID = ("torch/", "ATen/", "c10/", "caffe2/", "TH/", "THC/")
_C_HEADERS = {
    "assert.h", "ctype.h", "errno.h", "fcntl.h", "float.h", "inttypes.h", "limits.h", "math.h", "omp.h", "signal.h",
    "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "sys/stat.h", "sys/types.h",
    "time.h", "unistd.h",
}  # fmt: skip


def is_overlaid(name: str) -> bool:
    """Whether the overlay stands in for the header `name` (PyTorch's own, the C++ and C standard libraries)."""
    return name.startswith(_OVERLAID) or "." not in posixpath.basename(name) or name in _C_HEADERS


class IncludeIndex:
    """Finds project headers by the name that an `#include` uses, without any `-I`.

    The order: beside the includer, in the configured folders, then any file of the workspace whose path ends in the
    name; of several the one nearest to the includer in the tree. Names that the overlay stands in for are never
    looked up: a project's own `torch/...` would hide it.
    """

    def __init__(self, paths: Iterable[str], include_dirs: Sequence[str] = ()) -> None:
        self._paths = set(paths)
        self._dirs = tuple(include_dirs)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._paths):
            self._by_name[posixpath.basename(path)].append(path)
        self._answers: dict[tuple[str, str, bool], str | None] = {}

    def resolve(self, includer: str, name: str, angled: bool) -> str | None:
        """The path of the file that `includer` means by `name`, or None."""
        folder = posixpath.dirname(includer)
        key = (folder, name, angled)
        if key not in self._answers:
            self._answers[key] = self._resolve(folder, name, angled)
        return self._answers[key]

    def _resolve(self, folder: str, name: str, angled: bool) -> str | None:
        if is_overlaid(name) and (angled or name.startswith(_OVERLAID)):
            return None
        if not angled:
            beside = posixpath.normpath(posixpath.join(folder, name))
            if beside in self._paths:
                return beside
        for directory in self._dirs:
            path = posixpath.normpath(posixpath.join(directory, name))
            if path in self._paths:
                return path
        plain = posixpath.normpath(name).lstrip("./")
        if is_overlaid(plain):
            return None
        suffix = "/" + plain
        found = [p for p in self._by_name.get(posixpath.basename(plain), ()) if p == plain or p.endswith(suffix)]
        return min(found, key=lambda path: (-_shared(folder, path), path.count("/"), path)) if found else None


def _shared(folder: str, path: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for first, second in zip(folder.split("/"), path.split("/")[:-1], strict=False):
        if first != second:
            break
        count += 1
    return count


def registering_macros(contents: Mapping[str, bytes]) -> frozenset[bytes]:
    """The names of all macros in which a registration is hidden, directly or through another such macro."""
    bodies: dict[bytes, list[frozenset[bytes]]] = defaultdict(list)
    found: set[bytes] = set()
    for data in contents.values():
        if b"define" not in data:
            continue
        for match in DEFINE.finditer(data):
            name, body = match.group(1), match.group(2)
            if _REGISTERS.search(body) or _CALLS.search(body):
                found.add(name)
            elif b"(" in body or len(body) < 80:
                bodies[name].append(frozenset(_WORD.findall(body)))
    grew = bool(found)
    while grew:
        more = {name for name, sets in bodies.items() if name not in found and any(s & found for s in sets)}
        found |= more
        grew = bool(more)
    return frozenset(found)


def registering_files(contents: Mapping[str, bytes], macros: frozenset[bytes]) -> tuple[str, ...]:
    """The files that may register: they say so themselves, or use a macro that does outside of a `#define`."""
    pattern = any_word(macros)
    return tuple(sorted(path for path, data in contents.items() if _registers(data, pattern)))


@lru_cache(maxsize=_MOST_EDITED)
def registers(data: bytes, macros: frozenset[bytes]) -> bool:
    """Whether one file may register by itself: see `registering_files`."""
    return _registers(data, any_word(macros))


def _registers(data: bytes, macro: re.Pattern[bytes] | None) -> bool:
    if _REGISTERS.search(data):
        return True
    return macro is not None and macro.search(data) is not None and _uses(data, macro)


def including_files(contents: Mapping[str, bytes], index: IncludeIndex) -> frozenset[str]:
    """The files that include a header with a block in it, directly or through others: they register, too."""
    wanted = {path for path, data in contents.items() if path.endswith(HEADERS) and _has_block(data)}
    found: set[str] = set()
    while wanted:
        wanted = {path for path, data in contents.items() if path not in found and _includes(path, data, wanted, index)}
        found |= wanted
    return frozenset(found)


@lru_cache(maxsize=_MOST_EDITED)
def shape(path: str, data: bytes) -> tuple[object, ...]:
    """What of a file matters to others: its macros, what it includes, whether it is a header with a block in it."""
    return (
        DEFINE.findall(data) if b"define" in data else [],
        _INCLUDE.findall(data),
        path.endswith(HEADERS) and _has_block(data),
    )


def _has_block(data: bytes) -> bool:
    return b"TORCH_LIBRARY" in data and _BLOCK.search(DEFINE.sub(b"", blank_comments_and_literals(data))) is not None


def _includes(path: str, data: bytes, headers: set[str], index: IncludeIndex) -> bool:
    """Whether the file at `path` includes one of `headers` itself."""
    if not any(posixpath.basename(header).encode() in data for header in headers):
        return False
    return any(
        index.resolve(path, match[2].decode(errors="replace"), match[1] == b"<") in headers
        for match in _INCLUDE.finditer(data)
    )


def _uses(data: bytes, pattern: re.Pattern[bytes]) -> bool:
    return pattern.search(DEFINE.sub(b"", blank_comments_and_literals(data))) is not None


def any_word(words: Iterable[bytes]) -> re.Pattern[bytes] | None:
    """A pattern that finds each of `words` as a whole identifier; None where there are none."""
    ordered = sorted(words)
    if not ordered:
        return None
    return re.compile(rb"(?<!\w)(?:" + b"|".join(map(re.escape, ordered)) + rb")(?!\w)")


def mention(macros: frozenset[bytes]) -> re.Pattern[bytes]:
    """A pattern for text that registers something: the API itself, or a macro of the project that hides it."""
    hidden = any_word(macros)
    own = _REGISTERS.pattern + b"|" + _CALLS.pattern
    return re.compile(own if hidden is None else own + b"|" + hidden.pattern)
