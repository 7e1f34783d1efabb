"""Finished binaries: which registration units an ELF file or an archive holds, also where symbols were stripped.

A unit leaves four traces (torch 2.13, GCC 12). Its static variable is a local symbol `TORCH_LIBRARY_static_init_NS`
(or `..._IMPL_static_init_NS_KEY_N`), its initialiser `_GLOBAL__sub_I_...`; both are gone from a stripped file. The
macros also pass `__FILE__`, so the path that the compiler was given is a string in the read-only data, and they call a
function of torch, which is among the undefined dynamic symbols; stripping leaves these.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import BinaryIO

import msgspec
from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_MAGIC_ELF = b"\x7fELF"
_MAGIC_ARCHIVE = b"!<arch>\n"
_MAGIC_THIN = b"!<thin>\n"
_LARGEST = 512 * 1024 * 1024
_MOST_SYMBOLS = 2_000_000
_SOURCE_STRING = re.compile(rb"[\x20-\x7e]{0,1024}\.(?:cpp|cc|cxx|c\+\+|cu|hip|mm|cuh|h|hpp|inc)\0")
_INITIALISER = re.compile(r"TORCH_LIBRARY_(?:FRAGMENT_|IMPL_)?static_init_\w+|_GLOBAL__sub_I_\S+|_GLOBAL__I_\S+")


class BinaryKind(str, Enum):
    """What a file is."""

    SHARED = "shared library"
    EXECUTABLE = "executable"
    OBJECT = "object"
    ARCHIVE = "archive"


class BinaryFile(msgspec.Struct, frozen=True):
    """A binary, or one member of an archive (then `name` is the member's).

    `initialisers` are the symbols of registration units and static initialisers, empty in a stripped file. `sources`
    are the source paths among the strings, as the compiler was given them. `needed` are the libraries that loading it
    loads, `defines` and `undefined` the symbols that it offers and asks for.
    """

    name: str
    kind: BinaryKind
    stripped: bool
    initialisers: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    needed: tuple[str, ...] = ()
    defines: frozenset[str] = frozenset()
    undefined: frozenset[str] = frozenset()
    members: tuple[BinaryFile, ...] = ()

    @property
    def python_modules(self) -> frozenset[str]:
        """The Python modules that it is."""
        return frozenset(name.removeprefix("PyInit_") for name in self.defines if name.startswith("PyInit_"))


def read_binary(path: Path) -> BinaryFile | None:
    """What a file holds; None where it is no ELF file and no archive, or cannot be read. Never raises."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        with path.open("rb") as stream:
            magic = stream.read(8)
            stream.seek(0)
            if magic.startswith(_MAGIC_ELF):
                return _read_elf(stream, path.name)
            if magic in (_MAGIC_ARCHIVE, _MAGIC_THIN):
                members = tuple(_read_members(stream, path))
                return BinaryFile(path.name, BinaryKind.ARCHIVE, False, members=members)
    except (OSError, ELFError, ValueError, KeyError, IndexError, AttributeError, OverflowError, MemoryError):
        return None  # a damaged file is one of which nothing is known
    return None


_REGISTRARS = re.compile(r"5torch7Library|3c1017RegisterOperators|torch_library_init|aoti_torch_library_")
"""Parts of the (mangled) names of the functions of torch without which nothing is registered."""


def holds_unit(binary: BinaryFile, source: str, block: str | None = None) -> bool | None:
    """Whether a binary holds the registration units of the source at `source` (a path as facts have it).

    `block` is the name of one unit's variable (`TORCH_LIBRARY_static_init_demo`), where it is known: it decides in a
    file with symbols. None where the file has no trace that could tell: no source paths at all.
    """
    parts = binary.members or (binary,)
    found = [_holds(part, source, block) for part in parts]
    if True in found:
        return True
    return None if None in found else False


def _holds(binary: BinaryFile, source: str, block: str | None) -> bool | None:
    if any(_same_path(each, source) for each in binary.sources):
        return True
    if block is not None and not binary.stripped:
        return any(name.startswith(block) for name in binary.initialisers)
    registers = any(map(_REGISTRARS.search, binary.undefined | binary.defines))
    return None if registers and not binary.sources else False


def _same_path(compiled: str, source: str) -> bool:
    """Whether the path that a compiler was given is that source: one ends with the other, at a folder's name."""
    one, other = compiled.replace("\\", "/"), source.replace("\\", "/")
    shorter, longer = sorted((one.lstrip("./"), other.lstrip("./")), key=len)
    return longer == shorter or longer.endswith("/" + shorter)


def _read_elf(stream: BinaryIO, name: str) -> BinaryFile:
    elf = ELFFile(stream)
    kind = {"ET_REL": BinaryKind.OBJECT, "ET_EXEC": BinaryKind.EXECUTABLE}.get(elf["e_type"], BinaryKind.SHARED)
    needed: list[str] = []
    names: set[str] = set()
    defines: set[str] = set()
    undefined: set[str] = set()
    has_table = False
    interpreter = False
    for section in elf.iter_sections():
        interpreter |= section.name == ".interp"
        if isinstance(section, DynamicSection):
            needed += (tag.needed for tag in section.iter_tags("DT_NEEDED"))
        elif isinstance(section, SymbolTableSection) and section.num_symbols() <= _MOST_SYMBOLS:
            has_table |= section["sh_type"] == "SHT_SYMTAB"
            for symbol in section.iter_symbols():
                if not symbol.name:
                    continue
                names.add(symbol.name)
                if symbol["st_shndx"] == "SHN_UNDEF":
                    undefined.add(symbol.name)
                elif symbol["st_info"]["bind"] != "STB_LOCAL":
                    defines.add(symbol.name)
    return BinaryFile(
        name,
        BinaryKind.EXECUTABLE if interpreter and kind is BinaryKind.SHARED else kind,
        not has_table,
        frozenset(each for each in names if _INITIALISER.search(each)),
        frozenset(_source_strings(elf)),
        tuple(needed),
        frozenset(defines),
        frozenset(undefined),
    )


def _source_strings(elf: ELFFile) -> Iterator[str]:
    for section in elf.iter_sections():
        # With -fdata-sections and in objects the strings are in sections of their own: .rodata.str1.1 and the like.
        if section.name.startswith((".rodata", ".data.rel.ro")) and section["sh_size"] <= _LARGEST:
            data = section.data()
            for found in _SOURCE_STRING.finditer(b"\0" + data if isinstance(data, bytes) else b""):
                yield found.group()[:-1].decode("ascii")


def _read_members(stream: BinaryIO, path: Path) -> Iterator[BinaryFile]:
    """The ELF members of an archive in the format of GNU ar, thin ones among them."""
    thin = stream.read(8) == _MAGIC_THIN
    names = b""
    while len(header := stream.read(60)) == 60:
        raw = header[:16].rstrip()
        size = int(header[48:58])
        if size < 0 or size > _LARGEST:
            return
        is_table = raw in (b"/", b"/SYM64/", b"//")
        if thin and not is_table:
            member = path.parent / _member_name(raw, names)
            data = member.read_bytes() if member.is_file() else b""
        else:
            data = stream.read(size)
            stream.seek(size % 2, io.SEEK_CUR)
        if raw == b"//":
            names = data
        elif not is_table and data.startswith(_MAGIC_ELF):
            yield _read_elf(io.BytesIO(data), _member_name(raw, names))


def _member_name(raw: bytes, names: bytes) -> str:
    if raw[:1] == b"/" and raw[1:].isdigit():
        start = int(raw[1:])
        raw = names[start : names.find(b"\n", start)]
    return raw.rstrip(b"/\n").decode("utf-8", "replace")
