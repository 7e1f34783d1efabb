"""OPL206."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines

HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"


def test_in_a_definition() -> None:
    source = HEAD + 'TORCH_LIBRARY(demo, m) {\n  m.def("old::scale(Tensor x) -> Tensor");\n}\n'
    (finding,) = findings("OPL206", {"ops.cpp": source})
    assert finding.message == (
        "`old::` does not fit this block, which is for `demo` (line 3): write the name without it, or move it to a "
        "block of `old`"
    )
    assert source.encode()[finding.place.start : finding.place.end] == b"old"
    assert [related.place.line for related in finding.related] == [3]


@pytest.mark.parametrize(
    "block",
    [
        'TORCH_LIBRARY(demo, m) { m.def("old::scale", &f); }\n',
        'TORCH_LIBRARY(demo, m) { m.def(torch::schema("old::scale(Tensor x) -> Tensor")); }\n',
        'TORCH_LIBRARY_FRAGMENT(demo, m) { m.impl("old::scale", torch::kCPU, &f); }\n',
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("old::scale", &f); }\n',
        'TORCH_LIBRARY_IMPL(_, CPU, m) { m.impl("old::scale", &f); }\n',
    ],
)
def test_in_every_block(block: str) -> None:
    assert lines(findings("OPL206", {"ops.cpp": HEAD + block})) == ["ops.cpp:3"]


@pytest.mark.parametrize(
    "block",
    [
        'TORCH_LIBRARY(demo, m) { m.def("demo::scale(Tensor x) -> Tensor"); }\n',
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("demo::scale", &f); }\n',
        'TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("demo::scale(Tensor x) -> Tensor"); }\n',
        'static auto registry = torch::RegisterOperators().op("demo::scale(Tensor x) -> Tensor", &f);\n',
        # There the definition itself is wrong, which is another rule's.
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.def("old::scale(Tensor x) -> Tensor"); }\n',
    ],
)
def test_what_is_right_or_not_known(block: str) -> None:
    assert findings("OPL206", {"ops.cpp": HEAD + block}) == []


def test_python() -> None:
    source = (
        'import torch\nlib = torch.library.Library("demo", "FRAGMENT")\nlib.define("old::scale(Tensor x) -> Tensor")\n'
        'lib.impl("old::scale", lambda x: x, "CPU")\nlib.define("demo::shift(Tensor x) -> Tensor")\n'
    )
    assert lines(findings("OPL206", {"ops.py": source})) == ["ops.py:3", "ops.py:4"]


def test_python_by_name() -> None:
    source = 'import torch\ntorch.library.define("demo::scale", "(Tensor x) -> Tensor")\n'
    assert findings("OPL206", {"ops.py": source}) == []


def test_a_block_for_every_namespace_takes_no_name() -> None:
    """OPL211 says what comes of a name without one there."""
    text = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
    (finding,) = findings("OPL206", {"ops.cpp": text + 'TORCH_LIBRARY_IMPL(_, CPU, m) { m.impl("old::f", &f); }\n'})
    assert finding.message.endswith("(line 3): move it to a block of `old`")
