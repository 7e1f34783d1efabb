"""Findings about the use of a macro name the lines of its body."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check import check

HEAD = "#include <torch/library.h>\n"
BAD = '#n "(Tensor x, intt y) -> Tensor"'


def related(folder: Path, **files: str) -> list[tuple[int, list[tuple[str, int, int, str]]]]:
    """The line of each OPL101, and what it says of other places."""
    (folder / "op-lint.toml").touch()
    for name, text in files.items():
        path = folder / name.replace("_", ".")
        path.write_text(text, newline="")
    return [
        (found["line"], [(each["path"], each["line"], each["column"], each["message"]) for each in found["related"]])
        for found in check(folder, "--select", "OPL101")
    ]


HERE = "the macro registers this here"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_in_the_same_file(tmp_path: Path, end: str) -> None:
    lines = f"#define DEFINE(n) \\\n  m.def({BAD});\nTORCH_LIBRARY(demo, m) {{\n  DEFINE(a)\n  DEFINE(b)\n}}\n"
    found = related(tmp_path, ops_cpp=(HEAD + lines).replace("\n", end))
    assert found == [(5, [("ops.cpp", 3, 3, HERE)]), (6, [("ops.cpp", 3, 3, HERE)])]


def test_in_a_header_and_through_another_macro(tmp_path: Path) -> None:
    header = f"#pragma once\n#define DEFINE(n) m.def({BAD})\n#define BOTH(n) DEFINE(n); m.impl(#n, f)\n"
    source = f'#include "reg.h"\n{HEAD}void f();\nTORCH_LIBRARY(demo, m) {{\n  BOTH(a);\n}}\n'
    assert related(tmp_path, reg_h=header, ops_cpp=source) == [
        (5, [("reg.h", 2, 19, HERE), ("reg.h", 3, 28, HERE)]),
    ]


def test_a_mistake_in_an_argument_is_where_it_stands(tmp_path: Path) -> None:
    source = f'{HEAD}#define DEFINE(s) m.def(s);\nTORCH_LIBRARY(demo, m) {{\n  DEFINE("a(intt x) -> ()")\n}}\n'
    assert related(tmp_path, ops_cpp=source) == [(4, [])]


def test_a_macro_of_many_registrations(tmp_path: Path) -> None:
    body = "".join(f'm.def("a{number}(intt x) -> ()"); ' for number in range(4))
    source = f"{HEAD}#define ALL {body}\nTORCH_LIBRARY(demo, m) {{\n  ALL\n}}\n"
    assert related(tmp_path, ops_cpp=source) == [(4, [])]


def test_without_a_macro(tmp_path: Path) -> None:
    assert related(tmp_path, ops_cpp=f'{HEAD}TORCH_LIBRARY(demo, m) {{ m.def("a(intt x) -> ()"); }}\n') == [(2, [])]
