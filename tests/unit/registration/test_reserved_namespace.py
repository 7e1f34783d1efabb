"""OPL208."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch

HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
DEF = 'm.def("scale(Tensor x) -> Tensor");'


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (f"TORCH_LIBRARY(prim, m) {{ {DEF} }}", "reserved for the TorchScript interpreter"),
        (f"TORCH_LIBRARY_FRAGMENT(prim, m) {{ {DEF} }}", "reserved for the TorchScript interpreter"),
        (f"TORCH_LIBRARY_FRAGMENT(aten, m) {{ {DEF} }}", "a later version may define `aten::scale`"),
        (f"TORCH_LIBRARY(_, m) {{ {DEF} }}", "nothing can be defined in `_`"),
        ("TORCH_LIBRARY_FRAGMENT(_, m) {}", "nothing can be defined in `_`"),
    ],
)
def test_reserved(block: str, words: str) -> None:
    (finding,) = findings("OPL208", {"ops.cpp": HEAD + block})
    assert words in finding.message
    assert finding.place.line == 3


@pytest.mark.parametrize(
    "block",
    [
        'TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("relu", &f); }',
        'TORCH_LIBRARY_FRAGMENT(aten, m) { m.impl("relu", torch::kPrivateUse1, &f); }',
        "TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }",
        f"TORCH_LIBRARY(primitive, m) {{ {DEF} }}",
        f"TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {{ {DEF} }}",
    ],
)
def test_not_reserved(block: str) -> None:
    assert findings("OPL208", {"ops.cpp": HEAD + block}) == []


def test_what_torch_has_is_another_mistake() -> None:
    source = HEAD + 'TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("mv(Tensor x, Tensor v) -> Tensor"); }'
    assert findings("OPL208", {"ops.cpp": source}, torch()) == []
    assert lines(findings("OPL208", {"ops.cpp": source})) == ["ops.cpp:3"]


def test_pytorch_itself_may() -> None:
    source = HEAD + f"TORCH_LIBRARY_FRAGMENT(aten, m) {{ {DEF} }}"
    assert findings("OPL208", {"aten/src/ATen/native/ops.cpp": source}) == []


class TestPython:
    @pytest.mark.parametrize(
        "line",
        [
            'lib = torch.library.Library("prim", "FRAGMENT")',
            'lib = torch.library.Library("prim", "DEF")',
            'lib = torch.library.Library("_", "FRAGMENT")',
            'torch.library.define("prim::scale", "(Tensor x) -> Tensor")',
            'torch.library.define("aten::scale", "(Tensor x) -> Tensor")',
            'lib = torch.library.Library("my-ops", "DEF")',
        ],
    )
    def test_reserved(self, line: str) -> None:
        assert lines(findings("OPL208", {"ops.py": f"import torch\n{line}\n"})) == ["ops.py:2"]

    @pytest.mark.parametrize(
        "line",
        [
            'lib = torch.library.Library("prim", "IMPL")',
            'lib = torch.library.Library("aten", "FRAGMENT")',
            'lib = torch.library.Library("_", "IMPL")',
        ],
    )
    def test_not_reserved(self, line: str) -> None:
        assert findings("OPL208", {"ops.py": f"import torch\n{line}\n"}) == []
