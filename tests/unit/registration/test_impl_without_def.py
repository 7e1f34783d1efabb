"""OPL201."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, fixed, lines, torch

HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
DEFINED = HEAD + 'TORCH_LIBRARY(demo, m) { m.def("scale_rows(Tensor x) -> Tensor"); }\n'
MISSPELT = DEFINED + 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale_row", &f); }\n'
PYTHON = "import torch\n"


def test_a_slip_of_the_pen() -> None:
    (finding,) = findings("OPL201", {"ops.cpp": MISSPELT})
    assert finding.message == (
        "`demo::scale_row` has a CPU kernel here, but nothing defines it; did you mean `scale_rows` (line 3)?"
    )
    assert [related.place.line for related in finding.related] == [3]
    assert finding.fix is not None
    assert not finding.fix.safe
    repaired = fixed(finding, {"ops.cpp": MISSPELT})
    assert repaired["ops.cpp"] == MISSPELT.replace('"scale_row"', '"scale_rows"')
    assert findings("OPL201", repaired) == []


def test_every_key_is_reported() -> None:
    source = MISSPELT + 'TORCH_LIBRARY_IMPL(demo, CUDA, m) { m.impl("scale_row", &f); }\n'
    assert lines(findings("OPL201", {"ops.cpp": source})) == ["ops.cpp:4", "ops.cpp:5"]


def test_another_overload() -> None:
    source = HEAD + (
        'TORCH_LIBRARY(demo, m) { m.def("scale.rows(Tensor x) -> Tensor"); }\n'
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &f); }\n'
    )
    (finding,) = findings("OPL201", {"ops.cpp": source})
    assert finding.place.line == 4


def test_the_right_name_in_the_wrong_namespace() -> None:
    source = HEAD + (
        'TORCH_LIBRARY(my_demo, m) { m.def("scale(Tensor x) -> Tensor"); }\n'
        'TORCH_LIBRARY(demo, m) { m.def("shift(Tensor x) -> Tensor"); }\n'
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &f); }\n'
    )
    (finding,) = findings("OPL201", {"ops.cpp": source})
    assert "did you mean `my_demo::scale` (line 3)?" in finding.message
    assert finding.fix is None


def test_a_name_in_two_literals_is_not_renamed() -> None:
    source = MISSPELT.replace('"scale_row"', '"scale" "_row"')
    (finding,) = findings("OPL201", {"ops.cpp": source})
    assert finding.fix is None


def test_definitions_anywhere_count() -> None:
    files = {
        "csrc/ops.cpp": HEAD + 'TORCH_LIBRARY(demo, m) { m.def("f(Tensor x) -> Tensor"); }\n',
        "csrc/cuda/ops.cu": HEAD + 'TORCH_LIBRARY_IMPL(demo, CUDA, m) { m.impl("f", &f); m.impl("g", &f); }\n',
        "tests/more.cpp": HEAD + 'TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("g(Tensor x) -> Tensor"); }\n',
    }
    assert findings("OPL201", files) == []


@pytest.mark.parametrize(
    "definition",
    [
        'm.def(std::getenv("SCHEMA"));',
        "for (const auto& schema : schemas()) m.def(schema);",
    ],
)
def test_a_definition_without_a_name_may_be_the_missing_one(definition: str) -> None:
    source = MISSPELT + f"TORCH_LIBRARY_FRAGMENT(demo, m) {{ {definition} }}\n"
    assert findings("OPL201", {"ops.cpp": source}) == []
    other = MISSPELT + f"TORCH_LIBRARY_FRAGMENT(other, m) {{ {definition} }}\n"
    assert lines(findings("OPL201", {"ops.cpp": other})) == ["ops.cpp:4"]


class TestWrappers:
    """A Python function that defines what it is given may define anything, but hardly what is misspelt."""

    WRAPPER = "import torch\n\ndef define(name, schema):\n    torch.library.define(name, schema)\n"

    def test_a_slip_is_a_slip(self) -> None:
        files = {"ops.cpp": MISSPELT, "wrapper.py": self.WRAPPER}
        assert lines(findings("OPL201", files)) == ["ops.cpp:4"]

    def test_a_name_of_its_own(self) -> None:
        files = {"ops.cpp": MISSPELT.replace('"scale_row"', '"shift"'), "wrapper.py": self.WRAPPER}
        assert findings("OPL201", files) == []

    def test_a_name_whose_neighbour_has_the_kernel(self) -> None:
        source = MISSPELT + 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale_rows", &f); }\n'
        assert findings("OPL201", {"ops.cpp": source, "wrapper.py": self.WRAPPER}) == []


def test_a_file_that_is_a_template_may_hold_it() -> None:
    template = (
        "{% for name in names %}\nTORCH_LIBRARY_FRAGMENT(demo, m) {\n"
        '  m.def("{{ name }}(Tensor x) -> Tensor");\n}\n{% endfor %}\n'
    )
    other = MISSPELT.replace('"scale_row"', '"shift"')
    assert lines(findings("OPL201", {"ops.cpp": other})) == ["ops.cpp:4"]
    assert findings("OPL201", {"ops.cpp": other, "more.cpp": template}) == []
    assert lines(findings("OPL201", {"ops.cpp": MISSPELT, "more.cpp": template})) == ["ops.cpp:4"]


@pytest.mark.parametrize(
    ("defined", "implemented", "expected"),
    [
        ("grouped_dynamic", "grouped_dyanmic", True),
        ("scale_rows", "scale_row", True),
        ("attention_fwd", "attention_bwd", False),
        ("gather_forward", "gather_backward", False),
        ("matmul_int4", "matmul_int8", False),
        ("conv2d", "conv3d", False),
        ("scale", "scale_", False),
        ("scale", "scale.out", False),
    ],
)
def test_what_is_a_slip_in_a_fragment(defined: str, implemented: str, expected: bool) -> None:
    source = HEAD + (
        f'TORCH_LIBRARY_FRAGMENT(demo, m) {{ m.def("{defined}(Tensor x) -> Tensor"); }}\n'
        f'TORCH_LIBRARY_IMPL(demo, CPU, m) {{ m.impl("{implemented}", &f); }}\n'
    )
    assert bool(findings("OPL201", {"ops.cpp": source})) is expected


class TestOwnership:
    """Only who owns a namespace knows what is not in it."""

    def test_of_another_package(self) -> None:
        source = HEAD + 'TORCH_LIBRARY_IMPL(torchvision, PrivateUse1, m) { m.impl("nms", &f); }\n'
        assert findings("OPL201", {"ops.cpp": source}) == []

    def test_with_a_few_fragments_in_it(self) -> None:
        source = HEAD + (
            'TORCH_LIBRARY_FRAGMENT(torchvision, m) { m.def("mine(Tensor x) -> Tensor"); }\n'
            'TORCH_LIBRARY_IMPL(torchvision, PrivateUse1, m) { m.impl("mine", &f); m.impl("nms", &f); }\n'
        )
        assert findings("OPL201", {"ops.cpp": source}) == []

    def test_a_name_that_is_nearly_right(self) -> None:
        source = HEAD + (
            'TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("scale_rows(Tensor x) -> Tensor"); }\n'
            'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale_row", &f); }\n'
        )
        assert lines(findings("OPL201", {"ops.cpp": source})) == ["ops.cpp:4"]

    def test_with_fragments_only(self) -> None:
        source = HEAD + (
            'TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("f(Tensor x) -> Tensor"); m.def("g(Tensor x) -> Tensor"); }\n'
            'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", &f); m.impl("g", &f); m.impl("h", &f); }\n'
        )
        assert lines(findings("OPL201", {"ops.cpp": source})) == ["ops.cpp:4"]

    def test_that_has_the_name_of_an_imported_package(self) -> None:
        source = HEAD + (
            'TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("f(Tensor x) -> Tensor"); m.def("g(Tensor x) -> Tensor"); }\n'
            'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", &f); m.impl("g", &f); m.impl("h", &f); }\n'
        )
        files = {"ops.cpp": source, "plugin/__init__.py": "import demo.ops\n"}
        assert findings("OPL201", files) == []
        own = {**files, "demo/__init__.py": "", "demo/ops.py": ""}
        assert lines(findings("OPL201", own)) == ["ops.cpp:4"]

    def test_of_torch(self) -> None:
        source = HEAD + 'TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("relu", &f); m.impl("relux", &f); }\n'
        (finding,) = findings("OPL201", {"ops.cpp": source}, torch())
        assert "did you mean torch's `aten::relu`?" in finding.message
        assert findings("OPL201", {"ops.cpp": source}) == []

    def test_of_torch_of_another_version(self) -> None:
        source = HEAD + (
            "TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {\n"
            '#if TORCH_VERSION_MINOR < 5\n  m.impl("relux", &f);\n#endif\n}\n'
        )
        assert findings("OPL201", {"ops.cpp": source}, torch()) == []


class TestMacros:
    """A namespace that the build gives may be any."""

    BLOCK = "#define LIBRARY(ns, m) TORCH_LIBRARY(ns, m)\n#define IMPL(ns, k, m) TORCH_LIBRARY_IMPL(ns, k, m)\n"

    def test_the_same_symbol_everywhere(self) -> None:
        source = HEAD + self.BLOCK
        files = {
            "ops.cpp": source + 'LIBRARY(MY_NAMESPACE, m) { m.def("scale(Tensor x) -> Tensor"); }\n',
            "cuda.cu": source + 'IMPL(MY_NAMESPACE, CUDA, m) { m.impl("scale", &f); m.impl("scalee", &f); }\n',
        }
        assert lines(findings("OPL201", files)) == ["cuda.cu:5"]

    def test_a_symbol_may_be_the_literal(self) -> None:
        source = HEAD + self.BLOCK
        files = {
            "ops.cpp": source + 'LIBRARY(demo, m) { m.def("scale(Tensor x) -> Tensor"); }\n',
            "cuda.cu": source + 'IMPL(MY_NAMESPACE, CUDA, m) { m.impl("scale", &f); }\n',
        }
        assert findings("OPL201", files) == []


class TestPython:
    def test_definitions_in_python_count(self) -> None:
        files = {
            "ops.cpp": HEAD + 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &f); }\n',
            "ops.py": PYTHON + 'lib = torch.library.Library("demo", "DEF")\nlib.define("scale(Tensor x) -> Tensor")\n',
        }
        assert findings("OPL201", files) == []

    def test_a_fake_for_nothing_raises(self) -> None:
        files = {
            "ops.cpp": DEFINED,
            "meta.py": PYTHON + '@torch.library.register_fake("demo::scale_row")\ndef _(x):\n    return x\n',
        }
        (finding,) = findings("OPL201", files)
        assert finding.place.path == "meta.py"
        assert finding.notes == ('torch raises RuntimeError: "operator demo::scale_row does not exist"',)
