"""OPL214."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings

HEADER = (
    "#pragma once\n#include <torch/library.h>\n"
    'TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("scale(Tensor x) -> Tensor"); }\n'
)


def source(name: str) -> str:
    return f'#include "ops.h"\nat::Tensor {name}(const at::Tensor& x) {{ return x; }}\n'


def test_two_sources() -> None:
    (finding,) = findings("OPL214", {"ops.h": HEADER, "a.cpp": source("a"), "b.cpp": source("b")})
    assert (finding.place.path, finding.place.line) == ("ops.h", 3)
    assert finding.message == (
        "a.cpp and b.cpp both include this TORCH_LIBRARY_FRAGMENT block, so a library with both aborts when it is "
        "loaded: move it to a source file"
    )
    assert [related.place.path for related in finding.related] == ["a.cpp", "b.cpp"]


def test_kernels_are_registered_again() -> None:
    header = (
        "#pragma once\n#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &f); }\n'
    )
    (finding,) = findings("OPL214", {"ops.h": header, "a.cpp": source("a"), "b.cpp": source("b")})
    assert "so each registers its kernels" in finding.message


def test_through_another_header() -> None:
    files = {"ops.h": HEADER, "all.h": '#pragma once\n#include "ops.h"\n'}
    sources = {name: f'#include "all.h"\nint {name[0]};\n' for name in ("a.cpp", "b.cpp")}
    (finding,) = findings("OPL214", {**files, **sources})
    assert finding.place.path == "ops.h"


@pytest.mark.parametrize(
    "files",
    [
        {"ops.h": HEADER, "a.cpp": source("a")},
        {"ops.h": HEADER, "a.cpp": source("a"), "b.h": '#include "ops.h"\n'},
        {"ops.h": HEADER, "ops_cpu.cpp": source("a"), "ops_cuda.cpp": source("b")},
        {"ops.h": "#pragma once\n", "a.cpp": source("a"), "b.cpp": source("b")},
        {"ops.inc": HEADER, "a.cpp": '#include "ops.inc"\n', "b.cpp": "int b;\n"},
    ],
)
def test_one_source_of_one_library(files: dict[str, str]) -> None:
    assert findings("OPL214", files) == []


def test_a_source_may_choose() -> None:
    """What it defines before the `#include` decides."""
    header = "#pragma once\n#ifdef MAIN\n" + HEADER.partition("\n")[2] + "#endif\n"
    sources = {"a.cpp": "#define MAIN\n" + source("a"), "b.cpp": source("b")}
    assert findings("OPL214", {"ops.h": header, **sources}) == []


def test_a_function_that_takes_the_library_registers_nothing_by_itself() -> None:
    helper = '#pragma once\n#include <torch/library.h>\ninline void add(torch::Library& m) { m.def("f() -> ()"); }\n'
    files = {"ops.h": helper, "a.cpp": source("a"), "b.cpp": source("b")}
    assert findings("OPL214", files) == findings("OPL208", files) == []
