"""OPL304."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch
from tests.unit.sources import HEAD, UNREAD, define, fallthrough, implement, under

ALONE = HEAD + define("a(Tensor x) -> Tensor")


def test_no_kernel_anywhere() -> None:
    (finding,) = findings("OPL304", {"ops.cpp": ALONE})
    assert finding.place.line == 5
    assert finding.message == (
        "`demo::a` has no kernel, so every call raises NotImplementedError: register one, "
        '`TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("a", &kernel); }`, or remove the definition'
    )


@pytest.mark.parametrize(
    "more",
    [
        implement("CPU", "a"),
        implement("Meta", "a"),
        under("USE_CUDA", implement("CUDA", "a")),
        UNREAD,
        "void register_all(torch::Library&);\nTORCH_LIBRARY_IMPL(demo, CPU, m) { register_all(m); }\n",
    ],
)
def test_there_is_one_or_may_be(more: str) -> None:
    assert findings("OPL304", {"ops.cpp": ALONE + more}) == []


def test_a_fallthrough_is_none() -> None:
    """Torch finds no key that is left: "There were no tensor arguments to this function"."""
    (finding,) = findings("OPL304", {"ops.cpp": ALONE + fallthrough("CPU", "a") + fallthrough("Autograd", "a")})
    assert finding.place.line == 5


def test_in_another_language() -> None:
    python = 'import torch\nlib = torch.library.Library("demo", "IMPL")\nlib.impl("a", lambda x: x, "CPU")\n'
    assert findings("OPL304", {"ops.cpp": ALONE, "ops.py": python}) == []


def test_calls_of_a_class_in_python() -> None:
    """A class with `__torch_dispatch__` may take every call that there is."""
    python = 'import torch\n@torch.library.register_torch_dispatch("demo::a", Mode)\ndef a(mode, func, *rest): ...\n'
    assert findings("OPL304", {"ops.cpp": ALONE, "ops.py": python}) == []
    assert len(findings("OPL304", {"ops.cpp": ALONE, "ops.py": python.replace("::a", "::b")})) == 1


def test_another_overload_is_another_operator() -> None:
    source = HEAD + define("a.one(Tensor x) -> Tensor", "a.two(Tensor x) -> Tensor") + implement("CPU", "a.one")
    (finding,) = findings("OPL304", {"ops.cpp": source})
    assert "`demo::a.two`" in finding.message


def test_a_condition_is_said() -> None:
    (finding,) = findings("OPL304", {"ops.cpp": HEAD + under("USE_ROCM", define("a(Tensor x) -> Tensor"))})
    assert finding.message.endswith("when `USE_ROCM`")


def test_python() -> None:
    source = 'import torch\nlib = torch.library.Library("demo", "DEF")\nlib.define("a(Tensor x) -> Tensor")\n'
    (finding,) = findings("OPL304", {"ops.py": source})
    assert 'torch.library.impl("demo::a", "cpu", kernel)' in finding.message


def test_an_operator_that_torch_has() -> None:
    source = HEAD + 'TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("mv(Tensor self, Tensor vec) -> Tensor"); }\n'
    assert findings("OPL304", {"ops.cpp": source}, torch()) == []


def test_a_file_that_could_not_be_read_to_its_end() -> None:
    assert lines(findings("OPL304", {"ops.cpp": ALONE, "more.cpp": "int x;\n"})) == ["ops.cpp:5"]
