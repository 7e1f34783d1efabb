"""OPL204."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch

HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\nat::Tensor g(const at::Tensor& x);\n"
DEFINED = HEAD + 'TORCH_LIBRARY(demo, m) { m.def("scale(Tensor x) -> Tensor"); }\n'
CPU = 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &f); }\n'
META = CPU.replace("CPU", "Meta")
FAKE = 'import torch\n\n@torch.library.register_fake("demo::scale")\ndef _(x):\n    return torch.empty_like(x)\n'


def test_in_one_file_the_later_one_wins() -> None:
    (finding,) = findings("OPL204", {"ops.cpp": DEFINED + CPU + CPU})
    assert finding.place.line == 6
    assert finding.message == (
        "`demo::scale` already has a CPU kernel at line 5: this one wins, the other is never called; remove one"
    )


def test_in_one_block() -> None:
    block = 'TORCH_LIBRARY_IMPL(demo, CPU, m) {\n  m.impl("scale", &f);\n  m.impl("scale", &g);\n}\n'
    assert lines(findings("OPL204", {"ops.cpp": DEFINED + block})) == ["ops.cpp:7"]


def test_between_files_the_linker_decides() -> None:
    (finding,) = findings("OPL204", {"a.cpp": DEFINED + CPU, "b.cpp": HEAD + CPU})
    assert finding.place.path == "b.cpp"
    assert "the order in which the linker puts the files decides which one runs" in finding.message


def test_no_key_is_composite() -> None:
    source = HEAD + 'TORCH_LIBRARY(demo, m) {\n  m.def("scale(Tensor x) -> Tensor", &f);\n  m.impl("scale", &g);\n}\n'
    (finding,) = findings("OPL204", {"ops.cpp": source})
    assert finding.place.line == 6
    assert "already has a CompositeImplicitAutograd kernel" in finding.message


def test_one_key_by_two_names() -> None:
    both = CPU.replace("CPU", "Autocast") + CPU.replace("CPU", "AutocastCUDA")
    assert lines(findings("OPL204", {"ops.cpp": DEFINED + both}, torch())) == ["ops.cpp:6"]


def test_a_second_definition_is_the_worse_mistake() -> None:
    source = HEAD + (
        'TORCH_LIBRARY(demo, m) { m.def("scale(Tensor x) -> Tensor", &f); m.def("scale(Tensor x) -> Tensor", &g); }\n'
    )
    assert findings("OPL204", {"ops.cpp": source}) == []


@pytest.mark.parametrize(
    "kernels",
    [
        CPU + CPU.replace("CPU", "CUDA"),
        f"#ifdef USE_MKL\n{CPU}#else\n{CPU}#endif\n",
        f"#ifdef USE_MKL\n{CPU}#endif\n#ifdef USE_OPENBLAS\n{CPU}#endif\n",
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", HAVE_AVX ? &f : &g); }\n',
    ],
)
def test_what_does_not_meet(kernels: str) -> None:
    assert findings("OPL204", {"ops.cpp": DEFINED + kernels}) == []


@pytest.mark.parametrize("other", ["csrc/ops_avx512.cpp", "csrc/rocm/ops.cpp", "examples/ops.cpp"])
def test_files_that_may_be_alternatives(other: str) -> None:
    definitions = {"csrc/def.cpp": DEFINED, "lib/def.cpp": DEFINED}
    assert findings("OPL204", {**definitions, "csrc/ops.cpp": HEAD + CPU, other: HEAD + CPU}) == []


class TestFakes:
    def test_over_a_meta_kernel(self) -> None:
        (finding,) = findings("OPL204", {"csrc/ops.cpp": DEFINED + META, "pkg/meta.py": FAKE})
        assert (finding.place.path, finding.place.line) == ("pkg/meta.py", 3)
        assert finding.message == (
            "`demo::scale` already has a Meta kernel at csrc/ops.cpp:5: torch 2.13 replaces that one without a word, "
            "older versions raise RuntimeError; remove one"
        )
        assert finding.notes == ("torch prints nothing when a Meta kernel is replaced",)

    def test_over_a_composite_kernel(self) -> None:
        source = HEAD + 'TORCH_LIBRARY(demo, m) { m.def("scale(Tensor x) -> Tensor", &f); }\n'
        (finding,) = findings("OPL204", {"csrc/ops.cpp": source, "pkg/meta.py": FAKE})
        assert (finding.place.path, finding.place.line) == ("pkg/meta.py", 3)
        assert "so torch refuses this fake" in finding.message

    def test_beside_a_backend_kernel(self) -> None:
        assert findings("OPL204", {"csrc/ops.cpp": DEFINED + CPU, "pkg/meta.py": FAKE}) == []

    def test_under_a_guard(self) -> None:
        guarded = 'import torch\n\nif not torch._C._dispatch_has_kernel_for_dispatch_key("demo::scale", "Meta"):\n'
        guarded += "".join(f"    {line}\n" for line in FAKE.splitlines()[2:])
        assert findings("OPL204", {"csrc/ops.cpp": DEFINED + META, "pkg/meta.py": guarded}) == []


class TestPython:
    def test_two_kernels(self) -> None:
        source = (
            'import torch\nlib = torch.library.Library("demo", "FRAGMENT")\nlib.define("scale(Tensor x) -> Tensor")\n'
            'lib.impl("scale", lambda x: x, "CPU")\nlib.impl("scale", lambda x: x + 1, "CPU")\n'
        )
        (finding,) = findings("OPL204", {"ops.py": source})
        assert finding.place.line == 5
        assert "whichever is registered last wins from torch 2.13 on" in finding.message

    def test_over_a_kernel_of_the_library(self) -> None:
        source = 'import torch\nlib = torch.library.Library("demo", "IMPL")\nlib.impl("scale", lambda x: x, "CPU")\n'
        (finding,) = findings("OPL204", {"csrc/ops.cpp": DEFINED + CPU, "pkg/ops.py": source})
        assert "this one replaces it" in finding.message


@pytest.mark.parametrize(
    "blocks",
    [
        "TORCH_LIBRARY_IMPL(demo, CPU, m) { add(m);\nadd(m); }\n",
        "TORCH_LIBRARY_IMPL(demo, CPU, m) { add(m); }\nTORCH_LIBRARY_IMPL(demo, CPU, m) { add(m); }\n",
    ],
)
def test_a_helper_called_twice(blocks: str) -> None:
    helper = 'void add(torch::Library& m) { m.impl("scale", &f); }\n'
    (finding,) = findings("OPL204", {"ops.cpp": DEFINED + helper + blocks})
    assert finding.place.line == 7
    assert "already has a CPU kernel through the call at line 6" in finding.message
    other = "TORCH_LIBRARY_IMPL(demo, CPU, m) { add(m); }\nTORCH_LIBRARY_IMPL(demo, CUDA, m) { add(m); }\n"
    assert findings("OPL204", {"ops.cpp": DEFINED + helper + other}) == []
