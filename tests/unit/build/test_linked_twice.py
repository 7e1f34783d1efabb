"""OPL503."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check import Findings, check, run, write_project
from tests.unit.builders import findings, lines

OPS = '#include <torch/library.h>\nTORCH_LIBRARY_FRAGMENT(demo, m) {\n  m.def("f(Tensor x) -> Tensor");\n}\n'
KERNELS = (
    "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
    'TORCH_LIBRARY_IMPL(demo, CPU, m) {\n  m.impl("f", &f);\n}\n'
)
SOURCES = {
    "ops.cpp": OPS,
    "core.cpp": "int core() { return 3; }\n",
    "bind.cpp": "int core();\nint bind() { return core(); }\n",
}
HEAD = "cmake_minimum_required(VERSION 3.18)\nproject(demo CXX)\n"
TWICE = (
    "add_library(demo_core SHARED core.cpp ops.cpp)\nadd_library(_demo MODULE bind.cpp ops.cpp)\n"
    "target_link_libraries(_demo PRIVATE demo_core)\n"
)


def found(folder: Path, cmake: str, **more: str) -> Findings:
    """What the rule says of a project with these build statements from line 3 on."""
    write_project(folder, {**SOURCES, **{name.replace("_dot_", "."): text for name, text in more.items()}})
    write_project(folder, {"CMakeLists.txt": HEAD + cmake})
    return check(folder, "--no-torch", "--select", "OPL503")


def where(found: Findings) -> list[tuple[str, int]]:
    return [(each["path"], each["line"]) for each in found]


def test_a_source_of_a_library_and_of_what_loads_it(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, TWICE)
    assert where([finding]) == [("CMakeLists.txt", 4)]
    assert finding["severity"] == "error"
    assert finding["message"] == (
        "`_demo` and `demo_core`, which it loads, both hold TORCH_LIBRARY_FRAGMENT(demo) (ops.cpp:2), so loading the"
        " second one aborts: take it out of one of them"
    )
    assert [(each["path"], each["line"]) for each in finding["related"]] == [("CMakeLists.txt", 3), ("ops.cpp", 2)]
    run(tmp_path, "check", "--no-torch", "--no-cache", "--select", "OPL503", "--fix", "--unsafe-fixes")
    assert "add_library(_demo MODULE bind.cpp)\n" in (tmp_path / "CMakeLists.txt").read_text()
    assert check(tmp_path, "--no-torch", "--select", "OPL503") == []


def test_kernels_alone_replace_each_other(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, TWICE, ops_dot_cpp=KERNELS)
    assert finding["severity"] == "warning"
    assert "TORCH_LIBRARY_IMPL(demo, CPU) (ops.cpp:3), so its kernels are registered twice" in finding["message"]


def test_through_another_library(tmp_path: Path) -> None:
    between = (
        "add_library(demo_core SHARED core.cpp ops.cpp)\nadd_library(between SHARED between.cpp)\n"
        "target_link_libraries(between PRIVATE demo_core)\nadd_library(_demo MODULE bind.cpp ops.cpp)\n"
        "target_link_libraries(_demo PRIVATE between)\n"
    )
    texts = {"between_dot_cpp": "int core();\nint between() { return core(); }\n"}
    texts["bind_dot_cpp"] = "int between();\nint bind() { return between(); }\n"
    assert where(found(tmp_path, between, **texts)) == [("CMakeLists.txt", 6)]


def test_by_an_archive(tmp_path: Path) -> None:
    """The place is the link that brings the block in; there is no word to take out."""
    archive = (
        "add_library(objects OBJECT ops.cpp)\nadd_library(demo_core SHARED core.cpp)\n"
        "target_link_libraries(demo_core PRIVATE objects)\nadd_library(_demo MODULE bind.cpp)\n"
        "target_link_libraries(_demo PRIVATE demo_core objects)\n"
    )
    (finding,) = found(tmp_path, archive)
    assert where([finding]) == [("CMakeLists.txt", 7)]
    assert finding["fix"] is None


@pytest.mark.parametrize(
    "cmake",
    [
        TWICE.replace("target_link_libraries(_demo PRIVATE demo_core)\n", ""),
        TWICE.replace("bind.cpp ops.cpp", "bind.cpp"),
        TWICE.replace("demo_core SHARED", "demo_core STATIC"),
        TWICE.replace("_demo MODULE", "_demo STATIC"),
        TWICE.replace("_demo MODULE bind.cpp", "_demo MODULE other.cpp"),
        "if(USE_CUDA)\n" + TWICE.replace("\nadd_library(_demo", "\nelse()\nadd_library(_demo") + "endif()\n",
        TWICE.replace("_demo MODULE bind.cpp ops.cpp", "_demo MODULE bind.cpp ${SOURCES}"),
        TWICE.replace("bind.cpp ops.cpp", "bind.cpp ops.cpp ${OTHERS}/more.cpp $ENV{MORE}"),
        TWICE.replace("core.cpp ops.cpp", "core.cpp ${SOURCES}"),
        "",
    ],
    ids=["apart", "once", "an archive", "an archive of it", "not needed", "in alternatives", "not known",
         "not known entirely", "not known of it", "no target"],
)  # fmt: skip
def test_once_or_not_together(cmake: str, tmp_path: Path) -> None:
    assert where(found(tmp_path, cmake, other_dot_cpp="int other() { return 1; }\n")) == []


def test_a_source_that_registers_nothing(tmp_path: Path) -> None:
    assert where(found(tmp_path, TWICE, ops_dot_cpp="int ops() { return 1; }\n")) == []


def test_the_only_source_is_not_taken_out(tmp_path: Path) -> None:
    cmake = TWICE.replace("bind.cpp ops.cpp", "ops.cpp")
    ops = f"int core();\nint bind() {{ return core(); }}\n{OPS}"
    (finding,) = found(tmp_path, cmake, ops_dot_cpp=ops)
    assert finding["fix"] is None


def test_statements_that_are_being_typed(tmp_path: Path) -> None:
    for end in (4, 20, len(TWICE) - 12):
        assert where(found(tmp_path, TWICE[:end])) == []


class TestSecondCopies:
    """`load_library` of a file whose namesake package an import above has loaded."""

    CPP = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("f(Tensor x) -> Tensor"); }\n'
    LOAD = 'torch.ops.load_library("/srv/exported/libdemo.so")\n'

    def found(self, text: str, cpp: str = CPP) -> list[str]:
        return lines(findings("OPL503", {"ops.cpp": cpp, "load.py": f"import torch\n{text}"}))

    def test_what_is_said(self) -> None:
        source = {"ops.cpp": self.CPP, "load.py": f"import torch\nimport demo.ops\n{self.LOAD}"}
        (finding,) = findings("OPL503", source)
        assert finding.message == (
            "`demo.ops` (line 2) has loaded this library already, and a copy of it from another path registers"
            " TORCH_LIBRARY(demo) again, which aborts: load the file that the package has"
        )
        assert [(each.place.path, each.place.line) for each in finding.related] == [("load.py", 2), ("ops.cpp", 2)]

    @pytest.mark.parametrize("name", ["libdemo.so", "demo.so", "demo.cpython-311-x86_64-linux-gnu.so", "demo.dll"])
    def test_names_of_libraries(self, name: str) -> None:
        assert self.found(f'import demo\ntorch.ops.load_library("/srv/{name}")\n') == ["load.py:3"]

    @pytest.mark.parametrize(
        "text",
        [
            "import demo\n" + LOAD.replace("/srv/exported/", ""),
            "import demo\n" + LOAD.replace("/srv/exported/", "build/"),
            "import demo\n" + LOAD.replace("libdemo", "libother"),
            "import demo\n" + LOAD.replace(".so", ".txt"),
            "import demo\ntorch.ops.load_library(path())\n",
            LOAD + "import demo\n",
            LOAD,
            "import demonstration\n" + LOAD,
            "from . import demo\n" + LOAD,
            "try:\n    import demo\nexcept ImportError:\n    " + LOAD,
            "import demo\ndef load():\n    " + LOAD,
        ],
    )
    def test_another_library_or_no_copy(self, text: str) -> None:
        assert self.found(text) == []

    def test_the_package_loads_its_own(self) -> None:
        for path, expected in (("demo/load.py", []), ("load.py", ["load.py:3"])):
            imports = "from . import version" if path.startswith("demo") else "from demo import version"
            files = {"ops.cpp": self.CPP, path: f"import torch\n{imports}\n{self.LOAD}"}
            assert lines(findings("OPL503", files)) == expected

    def test_nobody_knows_the_library(self) -> None:
        kernels = self.CPP.replace("TORCH_LIBRARY(demo,", "TORCH_LIBRARY_IMPL(demo, CPU,").replace("def", "impl")
        assert self.found("import demo\n" + self.LOAD, kernels) == []
        assert self.found("import demo\n" + self.LOAD, self.CPP.replace("demo", "other")) == []


def test_a_project_without_build_files() -> None:
    assert findings("OPL503", {"ops.cpp": OPS, "core.cpp": ""}) == []
