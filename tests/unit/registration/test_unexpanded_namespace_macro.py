"""OPL207."""

from __future__ import annotations

import pytest

from op_lint.macros import MacroSearch, Mention
from op_lint.program import Program
from tests.unit.builders import findings, lines, read, torch

HEAD = "#include <torch/library.h>\n"
BLOCK = "TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {}\n"
WRAPPED = "#define EXPANDED(ns, m) TORCH_LIBRARY(ns, m)\nEXPANDED(TORCH_EXTENSION_NAME, m) {}\n"


def searched(
    source: str, version: str | None, builds: tuple[str, ...] = ("CMakeLists.txt",), defined: bool = False
) -> Program:
    search = MacroSearch("TORCH_EXTENSION_NAME", builds, (Mention("build.sh", 1),) if defined else ())
    return Program(read({"ops.cpp": HEAD + source}), torch(version) if version else None, macros=(search,))


@pytest.mark.parametrize("version", [None, "2.4.0", "2.13.0"])
@pytest.mark.parametrize("source", [BLOCK, WRAPPED])
def test_nothing_defines_the_macro(source: str, version: str | None) -> None:
    found = findings("OPL207", searched(source, version))
    assert [finding.place.path for finding in found] == ["ops.cpp"]


def test_what_it_says() -> None:
    (finding,) = findings("OPL207", searched(BLOCK, "2.13.0"))
    assert finding.message == (
        "no build file defines `TORCH_EXTENSION_NAME`, so these operators land in `torch.ops.TORCH_EXTENSION_NAME`: "
        "define it for the target, or write the namespace here"
    )
    assert [related.place.path for related in finding.related] == ["CMakeLists.txt"]


def test_the_build_defines_it() -> None:
    assert findings("OPL207", searched(BLOCK, "2.13.0", defined=True)) == []


def test_there_is_no_build() -> None:
    assert findings("OPL207", searched(BLOCK, "2.13.0", builds=())) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (BLOCK, ["ops.cpp:2"]),
        (BLOCK.replace("LIBRARY", "LIBRARY_FRAGMENT"), ["ops.cpp:2"]),
        ("#define NAMESPACE demo\nTORCH_LIBRARY(NAMESPACE, m) {}\n", ["ops.cpp:3"]),
        (WRAPPED, []),
        ("TORCH_LIBRARY(demo, m) {}\n", []),
        ("TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {}\n", []),
    ],
)
def test_old_torch_does_not_expand_it(source: str, expected: list[str]) -> None:
    assert lines(findings("OPL207", searched(source, "2.4.0", defined=True))) == expected
    assert findings("OPL207", searched(source, "2.13.0", defined=True)) == []
