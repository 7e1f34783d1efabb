"""A reader that reads thousands of sources keeps what they share, and nothing of each of them."""

from __future__ import annotations

from pathlib import Path

from op_lint.cpp import CppReader

_SOURCE = b"""
#include "common.h"
#ifdef WITH_%d
TORCH_LIBRARY(ns%d, m) { m.def("f(Tensor x) -> Tensor"); }
#else
TORCH_LIBRARY(other%d, m) { m.def("f(Tensor x) -> Tensor"); }
#endif
"""


def test_sources_are_forgotten_and_headers_kept(tmp_path: Path) -> None:
    (tmp_path / "common.h").write_bytes(b"#pragma once\n#include <torch/library.h>\n")
    sources = tuple(f"ops{number}.cpp" for number in range(4))
    for number, path in enumerate(sources):
        (tmp_path / path).write_bytes(_SOURCE % (number, number, number))
    reader = CppReader(tmp_path, ("common.h", *sources))
    for path in sources:
        assert len(reader.read(path).definitions) == 2
    assert set(reader._files._scanned) == {"common.h"}
    assert {path for path, *_ in reader._files.rewritten} == {"common.h"}


def test_a_source_can_be_read_again(tmp_path: Path) -> None:
    (tmp_path / "ops.cpp").write_bytes(_SOURCE % (1, 1, 1))
    reader = CppReader(tmp_path, ("ops.cpp",))
    assert reader.read("ops.cpp") == reader.read("ops.cpp")
