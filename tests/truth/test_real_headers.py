"""What is read with the overlay against what is read with the headers of the installed torch: the same facts.

Only the spelling of a type that was resolved may differ: the real headers reach the same type through other aliases.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from clang import cindex

from op_lint.cpp import CppOptions, CppReader
from op_lint.cpp.overlay_header import overlay_macros
from op_lint.facts import FileFacts
from tests.truth.registration_sources import (
    PREFIX,
    SOURCES,
    RegistrationSource,
    include_flags,
    project_files,
    registration_sources,
    torch_folder,
    why_nothing_compiles,
)

REASON = why_nothing_compiles()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

COMPILED = registration_sources("load", "read")
LANGUAGE = ("-std=c++20", "-w")


@pytest.fixture(scope="module")
def headers() -> list[str]:
    """The compiler arguments that make the headers of g++ and of torch known to libclang, which comes without any."""
    command = ["g++", "-E", "-v", "-x", "c++", "-"]
    lines = subprocess.run(command, input="", capture_output=True, text=True, check=True).stderr.splitlines()
    listed = lines[lines.index("#include <...> search starts here:") + 1 : lines.index("End of search list.")]
    return ["-nostdinc", "-nostdinc++", *(f"-isystem{folder.strip()}" for folder in listed), *include_flags()]


@pytest.fixture(scope="module")
def precompiled(headers: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What most sources include, read once: without it each of them takes as long as this."""
    folder = tmp_path_factory.mktemp("precompiled")
    prefix = folder / "prefix.h"
    prefix.write_text(PREFIX)
    unit = cindex.Index.create().parse(
        str(prefix), ["-x", "c++-header", *LANGUAGE, *headers], options=cindex.TranslationUnit.PARSE_INCOMPLETE
    )
    assert [str(diagnostic) for diagnostic in unit.diagnostics] == []
    unit.save(str(folder / "prefix.pch"))
    return folder / "prefix.pch"


@pytest.fixture(scope="module")
def overlay() -> CppReader:
    return CppReader(SOURCES, project_files())


@pytest.mark.parametrize("source", COMPILED, ids=lambda source: source.name)
def test_overlay_and_real_headers_give_the_same_facts(
    source: RegistrationSource, overlay: CppReader, headers: list[str], precompiled: Path
) -> None:
    # A precompiled header serves only sources in its own language.
    system = headers if source.name.endswith(".cu") else ["-include-pch", str(precompiled), *headers]
    real = CppReader(SOURCES, project_files(), CppOptions(headers="real", system=tuple(system)))
    assert list(differences(overlay.read(source.name), real.read(source.name))) == []


def test_the_macros_of_autocast_are_known() -> None:
    header = torch_folder() / "include" / "ATen" / "autocast_mode.h"
    macros = set(re.findall(rb"^#define (KERNEL\w*)\(", header.read_bytes(), re.MULTILINE))
    assert macros <= overlay_macros()


def differences(overlay: FileFacts, real: FileFacts) -> Iterator[str]:
    """Each field that differs, with both values."""
    return _differences("", msgspec.to_builtins(overlay), msgspec.to_builtins(real))


def _differences(where: str, first: Any, second: Any) -> Iterator[str]:
    if isinstance(first, dict) and isinstance(second, dict):
        resolved = "spelling" in first and first["name"] != "?"
        for name in first.keys() | second.keys():
            if not (resolved and name == "spelling"):
                yield from _differences(f"{where}.{name}", first.get(name), second.get(name))
    elif isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from _differences(f"{where}[{index}]", one, other)
    elif first != second:
        yield f"{where}: overlay {first!r}, real {second!r}"
