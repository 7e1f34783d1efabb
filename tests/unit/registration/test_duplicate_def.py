"""OPL202."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines

HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
DEF = 'm.def("scale(Tensor x) -> Tensor");'
LIBRARY = f"TORCH_LIBRARY(demo, m) {{ {DEF} }}\n"
FRAGMENT = f"TORCH_LIBRARY_FRAGMENT(demo, m) {{ {DEF} }}\n"


def test_in_one_file() -> None:
    (finding,) = findings("OPL202", {"ops.cpp": HEAD + LIBRARY + FRAGMENT})
    assert finding.place.line == 4
    assert finding.message == (
        "`demo::scale` is already defined at line 3, so loading the library aborts: remove one definition, or give one "
        "an overload name of its own"
    )
    assert [related.place.line for related in finding.related] == [3]


def test_with_another_schema_or_kernel() -> None:
    source = HEAD + (
        'TORCH_LIBRARY(demo, m) {\n  m.def("scale(Tensor x) -> Tensor");\n'
        '  m.def("scale(Tensor x, int n) -> Tensor");\n  m.def("scale", &f);\n}\n'
    )
    assert lines(findings("OPL202", {"ops.cpp": source})) == ["ops.cpp:5", "ops.cpp:6"]


def test_another_overload_is_another_operator() -> None:
    source = HEAD + f'TORCH_LIBRARY(demo, m) {{ {DEF} m.def("scale.out(Tensor x, *, Tensor(a!) o) -> Tensor(a!)"); }}\n'
    assert findings("OPL202", {"ops.cpp": source}) == []


def test_another_namespace_is_another_operator() -> None:
    source = HEAD + LIBRARY + LIBRARY.replace("demo", "other")
    assert findings("OPL202", {"ops.cpp": source}) == []


def test_in_two_files() -> None:
    files = {"a.cpp": HEAD + LIBRARY, "b.cpp": HEAD + FRAGMENT}
    (finding,) = findings("OPL202", files)
    assert finding.place.path == "b.cpp"
    assert "already defined at a.cpp:3" in finding.message


def test_the_legacy_api_counts() -> None:
    legacy = 'static auto registry = torch::RegisterOperators().op("demo::scale(Tensor x) -> Tensor", &f);\n'
    assert lines(findings("OPL202", {"ops.cpp": HEAD + LIBRARY + legacy})) == ["ops.cpp:4"]


@pytest.mark.parametrize(
    "source",
    [
        f"#ifdef USE_ROCM\n{LIBRARY}#else\n{LIBRARY}#endif\n",
        f"TORCH_LIBRARY(demo, m) {{\n#ifdef USE_ROCM\n  {DEF}\n#else\n  {DEF}\n#endif\n}}\n",
        f"#ifdef USE_ROCM\n{LIBRARY}#endif\n#ifdef USE_CUDA\n{FRAGMENT}#endif\n",
        f"TORCH_LIBRARY(demo, m) {{\n  if (at::hasCUDA()) {{ {DEF} }} else {{ {DEF} }}\n}}\n",
    ],
)
def test_alternatives(source: str) -> None:
    assert findings("OPL202", {"ops.cpp": HEAD + source}) == []


def test_what_is_always_there_meets_what_is_sometimes() -> None:
    source = HEAD + LIBRARY + f"#ifdef USE_ROCM\n{FRAGMENT}#endif\n"
    (finding,) = findings("OPL202", {"ops.cpp": source})
    assert "loading the library aborts when `USE_ROCM`" in finding.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("csrc/ops_cpu.cpp", "csrc/ops_cuda.cpp"),
        ("csrc/cpu/ops.cpp", "csrc/cuda/ops.cpp"),
        ("csrc/ops.cpp", "examples/ops.cpp"),
        ("csrc/ops.cpp", "third_party/demo/csrc/ops.cpp"),
        ("csrc/torch_bindings.cpp", "csrc/moe/torch_bindings.cpp"),
    ],
)
def test_files_that_may_be_alternatives(first: str, second: str) -> None:
    assert findings("OPL202", {first: HEAD + LIBRARY, second: HEAD + FRAGMENT}) == []


class TestPython:
    def test_two_definitions(self) -> None:
        source = (
            'import torch\nlib = torch.library.Library("demo", "DEF")\n'
            'lib.define("scale(Tensor x) -> Tensor")\nlib.define("scale(Tensor x) -> Tensor")\n'
        )
        (finding,) = findings("OPL202", {"ops.py": source})
        assert finding.place.line == 4
        assert "so this raises RuntimeError" in finding.message

    def test_a_custom_op_may_be_made_anew(self) -> None:
        op = (
            '@torch.library.custom_op("demo::scale", mutates_args=())\n'
            "def scale(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n\n"
        )
        assert findings("OPL202", {"ops.py": "import torch\n\n" + op + op}) == []

    def test_made_anew_with_another_schema(self) -> None:
        op = (
            '@torch.library.custom_op("demo::scale", mutates_args={changed})\n'
            "def scale(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n\n"
        )
        define = 'torch.library.define("demo::scale", "(Tensor x) -> Tensor")\n'
        first, second = op.format(changed="()"), op.format(changed='{"y"}')
        assert findings("OPL111", {"ops.py": "import torch\n\n" + first + second}) == []
        assert lines(findings("OPL111", {"ops.py": "import torch\n\n" + first + define})) == ["ops.py:7"]

    def test_a_definition_that_is_run_in_a_loop(self) -> None:
        source = (
            "import torch\n\ndef setup():\n"
            '    torch.library.define("demo::scale", "(Tensor x) -> Tensor")\n\n'
            "for _ in range(2):\n    setup()\n"
        )
        (finding,) = findings("OPL202", {"ops.py": source})
        assert finding.place.line == 4
        assert [related.place.line for related in finding.related] == [7]

    def test_a_function_that_is_called_twice(self) -> None:
        source = (
            "import torch\n\ndef setup():\n"
            '    torch.library.define("demo::scale", "(Tensor x) -> Tensor")\n\nsetup()\nsetup()\n'
        )
        assert lines(findings("OPL202", {"ops.py": source})) == ["ops.py:4"]

    @pytest.mark.parametrize(
        "calls", ["setup()\n", "if torch.cuda.is_available():\n    setup()\nelse:\n    setup()\n", ""]
    )
    def test_a_function_that_is_called_once(self, calls: str) -> None:
        source = (
            f'import torch\n\ndef setup():\n    torch.library.define("demo::scale", "(Tensor x) -> Tensor")\n\n{calls}'
        )
        assert findings("OPL202", {"ops.py": source}) == []

    def test_a_library_of_the_function_is_gone_by_then(self) -> None:
        source = (
            'import torch\n\ndef setup():\n    lib = torch.library.Library("demo", "FRAGMENT")\n'
            '    lib.define("scale(Tensor x) -> Tensor")\n\nfor _ in range(2):\n    setup()\n'
        )
        assert findings("OPL202", {"ops.py": source}) == []

    def test_a_guarded_definition(self) -> None:
        source = (
            'import torch\n\ndef setup():\n    if not hasattr(torch.ops.demo, "scale"):\n'
            '        torch.library.define("demo::scale", "(Tensor x) -> Tensor")\n\nsetup()\nsetup()\n'
        )
        assert findings("OPL202", {"ops.py": source}) == []


class TestHelpers:
    HELPER = HEAD + f"static void add(torch::Library& m) {{ {DEF} }}\n"

    def test_called_twice_in_a_block(self) -> None:
        source = self.HELPER + "TORCH_LIBRARY(demo, m) {\n  add(m);\n  add(m);\n}\n"
        (finding,) = findings("OPL202", {"ops.cpp": source})
        assert finding.place.line == 6
        assert finding.message == (
            "`demo::scale` is already defined through the call at line 5, so loading the library aborts: make only one "
            "of the two calls"
        )
        assert [(related.place.line, related.message) for related in finding.related] == [
            (5, "`demo::scale` is first defined here"),
            (3, "the definition"),
        ]

    @pytest.mark.parametrize(
        "blocks",
        [
            "TORCH_LIBRARY(demo, m) { add(m); }\nTORCH_LIBRARY_FRAGMENT(demo, m) { add(m); }\n",
            "void more(torch::Library& m) { add(m); }\nTORCH_LIBRARY(demo, m) { add(m);\nmore(m); }\n",
            "void more(torch::Library& m) { add(m);\nadd(m); }\nTORCH_LIBRARY(demo, m) { more(m); }\n",
            "TORCH_LIBRARY(demo, m) { add(m);\n#ifdef USE_IT\nadd(m);\n#endif\n}\n",
        ],
    )
    def test_called_by_ways(self, blocks: str) -> None:
        (finding,) = findings("OPL202", {"ops.cpp": self.HELPER + blocks})
        assert "is already defined through the call at line" in finding.message

    @pytest.mark.parametrize(
        "blocks",
        [
            "TORCH_LIBRARY(demo, m) { add(m); }\nTORCH_LIBRARY(other, m) { add(m); }\n",
            "TORCH_LIBRARY(demo, m) {\n#ifdef A\nadd(m);\n#else\nadd(m);\n#endif\n}\n",
            "TORCH_LIBRARY(demo, m) {\n#ifdef A\nadd(m);\n#endif\n#ifdef B\nadd(m);\n#endif\n}\n",
            "TORCH_LIBRARY(demo, m) { if (at::hasCUDA()) add(m); else add(m); }\n",
        ],
    )
    def test_what_is_one_at_a_time(self, blocks: str) -> None:
        assert findings("OPL202", {"ops.cpp": self.HELPER + blocks}) == []

    def test_what_runs_only_the_first_time(self) -> None:
        once = "static const bool once = [&] { " + DEF + " return true; }();"
        source = HEAD + f"void add(torch::Library& m) {{ {once} }}\nTORCH_LIBRARY(demo, m) {{ add(m); add(m); }}\n"
        assert findings("OPL202", {"ops.cpp": source}) == []

    def test_in_a_file_of_its_own(self) -> None:
        declared = HEAD + "void add(torch::Library& m);\n"
        files = {
            "csrc/helper.cpp": HEAD + f"void add(torch::Library& m) {{ {DEF} }}\n",
            "csrc/a.cpp": declared + "TORCH_LIBRARY(demo, m) { add(m); }\n",
            "csrc/b.cpp": declared + "TORCH_LIBRARY_FRAGMENT(demo, m) { add(m); }\n",
        }
        (finding,) = findings("OPL202", files)
        assert finding.place.path == "csrc/b.cpp"
        assert "through the call at csrc/a.cpp:4" in finding.message
        # Whether two blocks meet is a matter of the files that they are in, not of the helper's.
        variants = {
            path.replace("b.cpp", "ops_rocm.cpp").replace("a.cpp", "ops_cuda.cpp"): text for path, text in files.items()
        }
        assert findings("OPL202", variants) == []

    def test_a_text_or_a_macro_twice(self) -> None:
        helper = HEAD + "void add(torch::Library& m, const char* text) { m.def(text); }\n"
        source = (
            helper
            + 'TORCH_LIBRARY(demo, m) { add(m, "scale() -> ()");\nadd(m, "scale() -> ()");\nadd(m, "f() -> ()"); }\n'
        )
        assert lines(findings("OPL202", {"ops.cpp": source})) == ["ops.cpp:5"]
        source = HEAD + f"#define BOTH {DEF} \\\n  {DEF}\nTORCH_LIBRARY(demo, m) {{ BOTH }}\n"
        (finding,) = findings("OPL202", {"ops.cpp": source})
        assert (finding.place.line, finding.related[0].place.line) == (5, 3)
