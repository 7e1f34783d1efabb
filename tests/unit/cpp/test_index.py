"""Which file an `#include` means, and which files and macros register."""

from __future__ import annotations

import pytest

from op_lint.cpp.index import (
    IncludeIndex,
    including_files,
    is_overlaid,
    mention,
    registering_files,
    registering_macros,
    shape,
)

_PATHS = ("a/ops.cpp", "a/ops.h", "b/ops.h", "b/include/deep/ops.h", "c/x.h", "torch/library.h", "b/string.h")


@pytest.mark.parametrize(
    ("includer", "name", "angled", "path"),
    [
        ("a/ops.cpp", "ops.h", False, "a/ops.h"),
        ("b/k.cpp", "ops.h", False, "b/ops.h"),
        ("b/include/k.cpp", "deep/ops.h", True, "b/include/deep/ops.h"),
        ("a/ops.cpp", "../c/x.h", False, "c/x.h"),
        ("a/ops.cpp", "include/deep/ops.h", False, "b/include/deep/ops.h"),
        ("z/k.cpp", "x.h", True, "c/x.h"),
        ("z/k.cpp", "gone.h", True, None),
        ("a/ops.cpp", "torch/library.h", True, None),
        ("a/ops.cpp", "torch/library.h", False, None),
        ("b/k.cpp", "string.h", True, None),
        ("b/k.cpp", "string.h", False, "b/string.h"),
    ],
)
def test_resolution(includer: str, name: str, angled: bool, path: str | None) -> None:
    assert IncludeIndex(_PATHS).resolve(includer, name, angled) == path


def test_configured_folders_come_before_a_guess() -> None:
    paths = ("a/k.cpp", "a/sub/x.h", "include/x.h")
    assert IncludeIndex(paths).resolve("a/k.cpp", "x.h", True) == "a/sub/x.h"
    assert IncludeIndex(paths, ("include",)).resolve("a/k.cpp", "x.h", True) == "include/x.h"


def test_the_nearest_of_several() -> None:
    paths = ("p/one/include/x.h", "p/two/include/x.h")
    assert IncludeIndex(paths).resolve("p/two/src/k.cpp", "x.h", True) == "p/two/include/x.h"
    assert IncludeIndex(paths).resolve("p/one/src/k.cpp", "x.h", True) == "p/one/include/x.h"


def test_what_the_overlay_stands_in_for() -> None:
    assert all(map(is_overlaid, ("torch/extension.h", "ATen/ATen.h", "vector", "stdint.h")))
    assert not any(map(is_overlaid, ("cuda.h", "mytorch/x.h", "pybind11/pybind11.h")))


def test_macros_that_hide_a_registration() -> None:
    contents = {
        "a.h": b'#define REG(n) TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl(#n, n); }\n#define ONE(n) m.def("n")\n',
        "b.h": b"#define OUTER(n) REG(n##_cpu)\n#define OUTERMOST OUTER(f)\n#define UNRELATED(x) (x + 1)\n",
    }
    assert registering_macros(contents) == {b"REG", b"ONE", b"OUTER", b"OUTERMOST"}


def test_files_that_register() -> None:
    contents = {
        "block.cpp": b"TORCH_LIBRARY(demo, m) {}",
        "macro.cpp": b"REG(f)",
        "define_only.h": b"#define OTHER REG(f)\n",
        "comment.cpp": b"// REG(f)\n",
        "longer.cpp": b"REGULAR(f)",
        "none.cpp": b"int x;",
    }
    assert registering_files(contents, frozenset({b"REG"})) == ("block.cpp", "macro.cpp")


def test_files_that_include_a_block() -> None:
    contents = {
        "block.h": b"TORCH_LIBRARY(demo, m) {}\n",
        "macro.h": b"#define LIBRARY TORCH_LIBRARY(demo, m)\n",
        "middle.h": b'#include "block.h"\n',
        "a.cpp": b'#include "middle.h"\n',
        "b.cpp": b'#include "macro.h"\n',
        "c.cpp": b'// #include "block.h"\n',
    }
    assert including_files(contents, IncludeIndex(contents)) == {"middle.h", "a.cpp"}


def test_what_others_see_of_a_file() -> None:
    before = b'#include "x.h"\n#define A 1\nTORCH_LIBRARY(demo, m) {}\n'
    assert shape("a.cpp", before) == shape("a.cpp", before.replace(b"demo", b"other"))
    assert shape("a.cpp", before) != shape("a.cpp", before.replace(b"A 1", b"A 2"))
    assert shape("a.cpp", before) != shape("a.cpp", before.replace(b"x.h", b"y.h"))
    assert shape("a.h", before) != shape("a.h", before.replace(b"TORCH_LIBRARY", b"NOTHING"))


def test_mentions() -> None:
    assert mention(frozenset()).search(b"m.impl(f)")
    assert mention(frozenset({b"REG"})).search(b"REG(f)")
    assert not mention(frozenset()).search(b"REG(f)")
