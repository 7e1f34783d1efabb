"""Build files that nobody should have written: a note with a file and a line, never a crash, never without end."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from op_lint.build import BuildGraph, read_build
from tests.check import write_project

OPS = "#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {}\n"
GARBAGE = bytes(random.Random(1).randrange(256) for _ in range(20_000))
TARGET = "add_library(m SHARED a.cpp)\n"


def read(folder: Path, files: dict[str, str | bytes]) -> BuildGraph:
    write_project(folder, {"a.cpp": OPS, **files})
    return read_build(folder, sorted(files), ["a.cpp"], registering=["a.cpp"])


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("CMakeLists.txt", 'project(x\nadd_library(m SHARED a.cpp\nset("abc', "build-syntax"),
        ("CMakeLists.txt", GARBAGE, "build-syntax"),
        ("CMakeLists.txt", TARGET + "a(\n" * 50_000, "build-syntax"),
        ("CMakeLists.txt", TARGET + "#[[\n" * 100_000, "build-syntax"),
        ("CMakeLists.txt", f"project(x) {TARGET}", "build-syntax"),
        ("setup.py", b"a = 1\0\nb", "build-syntax"),
        ("setup.py", "x = " + "(" * 50_000 + ")" * 50_000, "build-syntax"),
        ("CMakeLists.txt", f"include(${{CMAKE_CURRENT_LIST_FILE}})\n{TARGET}", "recursion"),
        ("CMakeLists.txt", f"add_subdirectory(. again)\n{TARGET}", "recursion"),
        ("CMakeLists.txt", f"macro(g)\ng()\nendmacro()\ng()\n{TARGET}", "recursion"),
        ("CMakeLists.txt", f"while(TRUE)\nset(x ${{x}}a)\nendwhile()\n{TARGET}", "recursion"),
    ],
)
def test_what_cannot_be_read_is_noted(name: str, content: str | bytes, code: str, tmp_path: Path) -> None:
    problems = read(tmp_path, {name: content}).problems
    assert [(each.code, each.place.path) for each in problems] == [(code, name)]


def test_what_grows_without_end(tmp_path: Path) -> None:
    script = "from setuptools import Extension, setup\ns = 'a' * 10**10\ns = 10**10**10\ns = 2 << 10**10\n"
    script += (
        "t = '%1000000000d' % 3\nfor i in range(10**12):\n  pass\nsetup(ext_modules=[Extension('m', ['a.cpp'])])\n"
    )
    (target,) = read(tmp_path, {"setup.py": script}).targets
    assert [source.path for source in target.sources] == ["a.cpp"]
