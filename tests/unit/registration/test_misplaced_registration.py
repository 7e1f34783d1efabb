"""OPL211. What torch itself refuses is in tests/truth/test_load_errors.py; this is about how it is said, and Python."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch

HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
FALLTHROUGH = "torch::CppFunction::makeFallthrough()"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.def("scale(Tensor x) -> Tensor"); }',
            "`demo::scale` is defined in a block for kernels, so loading the library aborts: define it in "
            "`TORCH_LIBRARY(demo, m)`",
        ),
        (
            'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.class_<Stack>("Stack").def(torch::init<>()); }',
            "a class is defined in a block for kernels, so loading the library aborts: define it in "
            "`TORCH_LIBRARY(demo, m)`",
        ),
        (
            f"TORCH_LIBRARY_IMPL(demo, PrivateUse1, m) {{ m.fallback({FALLTHROUGH}); }}",
            "a fallback is for every namespace, not for `demo` alone, so loading the library aborts: move it to "
            "`TORCH_LIBRARY_IMPL(_, PrivateUse1, m)`",
        ),
        (
            f"TORCH_LIBRARY(demo, m) {{ m.fallback({FALLTHROUGH}); }}",
            "a block that defines operators holds a fallback, so loading the library aborts: move it to "
            "`TORCH_LIBRARY_IMPL(_, KEY, m)`",
        ),
        (
            'TORCH_LIBRARY_IMPL(_, CPU, m) { m.impl("scale", &f); }',
            "`scale` is in a block for every namespace (`_`), which can hold nothing but a fallback, so loading the "
            "library crashes: register the kernel in the block of its own namespace",
        ),
        (
            'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", torch::kCUDA, &f); }',
            "this kernel is for CUDA, and its block (line 3) for CPU, so loading the library aborts: move it to a "
            "block for CUDA",
        ),
        (
            'TORCH_LIBRARY(demo, m) { m.def("scale"); }',
            "`demo::scale` is defined by its name alone, so loading the library aborts: write the schema, "
            '"scale(Tensor x) -> Tensor"',
        ),
        (
            f'TORCH_LIBRARY(demo, m) {{ m.def("scale", {FALLTHROUGH}); }}',
            "`demo::scale` has no schema, and none can be inferred from a fallthrough kernel, so loading the library "
            "aborts: write the schema",
        ),
        (
            'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale(Tensor x) -> Tensor", &f); }',
            "`m.impl` takes the name of an operator and nothing else, so loading the library aborts: write `scale`",
        ),
        (
            'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale.default", &f); }',
            "no overload can be called `default`, so loading the library aborts: the overload without a name is just "
            "`scale`",
        ),
    ],
)
def test_what_it_says(block: str, message: str) -> None:
    (finding,) = findings("OPL211", {"ops.cpp": f"{HEAD}{block}\n"}, torch())
    assert finding.message == message
    assert finding.place.line == 3
    assert len(finding.related) == 1


@pytest.mark.parametrize("name", ["1scale", "scale-row", "scale(Tensor x) -> Tensor", "scale.default"])
def test_a_name_that_is_refused_is_not_called_undefined_as_well(name: str) -> None:
    source = HEAD + (
        'TORCH_LIBRARY(demo, m) { m.def("other(Tensor x) -> Tensor"); }\n'
        f'TORCH_LIBRARY_IMPL(demo, CPU, m) {{ m.impl("{name}", &f); }}\n'
    )
    assert lines(findings("OPL211", {"ops.cpp": source})) == ["ops.cpp:4"]
    assert findings("OPL201", {"ops.cpp": source}) == []


def test_in_a_function_that_is_given_the_library() -> None:
    source = HEAD + (
        'void add(torch::Library& m) { m.def("scale(Tensor x) -> Tensor"); }\n'
        "TORCH_LIBRARY_IMPL(demo, CPU, m) { add(m); }\n"
    )
    assert lines(findings("OPL211", {"ops.cpp": source})) == ["ops.cpp:3"]
    right = source.replace("LIBRARY_IMPL(demo, CPU, m)", "LIBRARY(demo, m)")
    assert findings("OPL211", {"ops.cpp": right}) == []


class TestPython:
    @pytest.mark.parametrize(
        "line",
        [
            'torch.library.Library("demo", "IMPL").define("scale(Tensor x) -> Tensor")',
            'torch.library.Library("demo", "DEF", "CPU")',
            'torch.library.Library("demo", "IMPL", "CPU").impl("scale", f, "CUDA")',
            'torch.library.Library("demo", "IMPL").fallback(f, "PrivateUse1")',
            'torch.library.Library("_", "IMPL").fallback(f)',
        ],
    )
    def test_refused(self, line: str) -> None:
        source = f"import torch\n\ndef f(*args):\n    pass\n\nlib = {line}\n"
        (finding,) = findings("OPL211", {"ops.py": source}, torch())
        assert finding.place.line == 6
        assert "so this raises RuntimeError" in finding.message

    @pytest.mark.parametrize(
        "line",
        [
            'torch.library.Library("demo", "FRAGMENT").define("scale(Tensor x) -> Tensor")',
            'torch.library.Library("demo", "IMPL", "CPU").impl("scale", f, "CPU")',
            'torch.library.Library("demo", "IMPL").impl("scale", f, "CUDA")',
            'torch.library.Library("demo", "FRAGMENT").impl("scale", f)',
            'torch.library.Library("_", "IMPL").fallback(f, "PrivateUse1")',
            'torch.library.Library("_", "IMPL", "PrivateUse1").fallback(f)',
            'torch.library.impl("demo::scale", "cpu", f)',
            'torch.library.register_fake("demo::scale", f)',
        ],
    )
    def test_right(self, line: str) -> None:
        source = f"import torch\n\ndef f(*args):\n    pass\n\nlib = {line}\n"
        assert findings("OPL211", {"ops.py": source}, torch()) == []
