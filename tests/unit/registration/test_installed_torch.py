"""OPL212 and OPL213: the operators and kernels that torch has itself."""

from __future__ import annotations

import pytest

from op_lint.rule import Need
from tests.unit.builders import findings, lines, rule, torch

HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"


@pytest.mark.parametrize("code", ["OPL212", "OPL213"])
def test_they_need_torch(code: str) -> None:
    assert rule(code).needs == {Need.TORCH}


class TestOperators:
    def test_a_definition(self) -> None:
        source = HEAD + 'TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("mv", &f); }\n'
        (finding,) = findings("OPL212", {"ops.cpp": source}, torch())
        assert finding.message == (
            "torch 2.13.0+cpu defines `aten::mv` itself, so loading the library aborts: to add a kernel, register it "
            "with `TORCH_LIBRARY_IMPL(aten, KEY, m)` and `m.impl`"
        )
        assert finding.notes[0].startswith("torch's own is aten::mv(Tensor self, Tensor vec) -> Tensor, registered at")

    @pytest.mark.parametrize("name", ["mv.mine(Tensor x) -> Tensor", "mvv(Tensor x) -> Tensor"])
    def test_another_operator(self, name: str) -> None:
        source = HEAD + f'TORCH_LIBRARY_FRAGMENT(aten, m) {{ m.def("{name}"); }}\n'
        assert findings("OPL212", {"ops.cpp": source}, torch()) == []

    def test_for_a_torch_that_lacks_it(self) -> None:
        source = HEAD + (
            '#ifndef HAS_MV\nTORCH_LIBRARY_FRAGMENT(aten, m) { m.def("mv(Tensor x, Tensor v) -> Tensor"); }\n#endif\n'
        )
        assert findings("OPL212", {"ops.cpp": source}, torch()) == []

    def test_in_pytorch_itself(self) -> None:
        source = HEAD + 'TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("mv", &f); }\n'
        assert findings("OPL212", {"aten/src/ATen/native/mv.cpp": source}, torch()) == []

    def test_python(self) -> None:
        source = 'import torch\ntorch.library.define("aten::mv", "(Tensor x, Tensor v) -> Tensor")\n'
        (finding,) = findings("OPL212", {"ops.py": source}, torch())
        assert "so this raises RuntimeError" in finding.message


class TestKernels:
    def test_a_kernel(self) -> None:
        source = HEAD + 'TORCH_LIBRARY_IMPL(aten, CPU, m) {\n  m.impl("relu", &f);\n}\n'
        (finding,) = findings("OPL213", {"ops.cpp": source}, torch())
        assert finding.place.line == 4
        assert finding.message == (
            "torch 2.13.0+cpu has a CPU kernel for `aten::relu` itself, which this one replaces for the whole process: "
            "define an operator of your own"
        )

    @pytest.mark.parametrize("key", ["PrivateUse1", "XLA", "AutogradPrivateUse2"])
    def test_a_free_key(self, key: str) -> None:
        source = HEAD + f'TORCH_LIBRARY_IMPL(aten, {key}, m) {{ m.impl("relu", &f); }}\n'
        assert findings("OPL213", {"ops.cpp": source}, torch()) == []

    def test_by_another_name_of_the_key(self) -> None:
        source = HEAD + 'TORCH_LIBRARY_IMPL(aten, CPUTensorId, m) { m.impl("relu", &f); }\n'
        assert lines(findings("OPL213", {"ops.cpp": source}, torch())) == ["ops.cpp:3"]

    def test_an_operator_of_its_own(self) -> None:
        source = HEAD + 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("relu", &f); }\n'
        assert findings("OPL213", {"ops.cpp": source}, torch()) == []

    def test_python(self) -> None:
        source = 'import torch\nlib = torch.library.Library("aten", "IMPL")\nlib.impl("relu", lambda x: x, "CPU")\n'
        assert lines(findings("OPL213", {"ops.py": source}, torch())) == ["ops.py:3"]
