"""OPL508."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check import Findings, check, run, write_project

OPS = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {\n  m.def("f(Tensor x) -> Tensor");\n}\n'
SETUP = (
    "from setuptools import setup\nfrom torch.utils.cpp_extension import CppExtension\n"
    'setup(ext_modules=[CppExtension("demo_ops", ["ops.cpp"])])\n'
)
USE = "import torch\nimport demo_ops\n"
PROJECT = {"ops.cpp": OPS, "setup.py": SETUP, "use.py": USE}


def found(folder: Path, files: dict[str, str]) -> Findings:
    write_project(folder, {**files})
    return check(folder, "--no-torch", "--select", "OPL508")


def where(found: Findings) -> list[tuple[str, int]]:
    return [(each["path"], each["line"]) for each in found]


def repair(folder: Path) -> None:
    run(folder, "check", "--no-torch", "--no-cache", "--select", "OPL508", "--fix", "--unsafe-fixes")


def test_an_import_of_what_only_registers(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, PROJECT)
    assert where([finding]) == [("use.py", 2)]
    assert finding["severity"] == "warning"
    assert finding["message"] == (
        "`demo_ops` (setup.py:3) has no PyInit_demo_ops, so this import fails: load it with torch.ops.load_library, or"
        " add an empty module to its sources"
    )
    assert [(each["path"], each["line"]) for each in finding["related"]] == [("setup.py", 3), ("ops.cpp", 2)]
    assert 'dynamic module does not define module export function (PyInit_demo_ops)"' in finding["notes"][0]


def test_the_fix_makes_it_a_module(tmp_path: Path) -> None:
    assert len(found(tmp_path, PROJECT)) == 1
    repair(tmp_path)
    text = (tmp_path / "ops.cpp").read_text()
    assert text.startswith("#include <Python.h>\n" + OPS.removesuffix("\n"))
    assert "\nPyMODINIT_FUNC PyInit_demo_ops() {\n" in text
    assert check(tmp_path, "--no-torch", "--select", "OPL508") == []


@pytest.mark.parametrize("end", ["", "\n", " // demo\n"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_module_comes_right_behind_the_block(end: str, line_end: str, tmp_path: Path) -> None:
    text = (OPS.removesuffix("\n") + end).replace("\n", line_end)
    write_project(tmp_path, {**PROJECT, "ops.cpp": text.encode()})
    repair(tmp_path)
    after = (tmp_path / "ops.cpp").read_bytes().decode()
    assert f"}}{line_end * 2}PyMODINIT_FUNC" in after
    assert after.endswith("}" + end.replace("\n", line_end))
    assert after.count("\n") == after.count(line_end)


def test_of_a_package(tmp_path: Path) -> None:
    """Python looks for a function with the last part of the name."""
    files = {**PROJECT, "setup.py": SETUP.replace("demo_ops", "demo._C"), "demo/__init__.py": "from . import _C\n"}
    (finding,) = found(tmp_path, files)
    assert where([finding]) == [("demo/__init__.py", 1)]
    assert "has no PyInit__C, so" in finding["message"]


@pytest.mark.parametrize(
    "use", ["def f():\n    import demo_ops\n", "try:\n    f()\nexcept E: pass\nif f:\n    import demo_ops\n"]
)
def test_imports_that_nothing_guards(use: str, tmp_path: Path) -> None:
    assert where(found(tmp_path, {**PROJECT, "use.py": use})) == [("use.py", use.count("\n"))]


@pytest.mark.parametrize("imports", ["import demo._C\n", "from demo import _C\n", "from demo._C import f\n"])
def test_ways_to_import(imports: str, tmp_path: Path) -> None:
    files = {**PROJECT, "setup.py": SETUP.replace("demo_ops", "demo._C"), "demo/__init__.py": "", "use.py": imports}
    assert where(found(tmp_path, files)) == [("use.py", 1)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("ops.cpp", OPS + "PyMODINIT_FUNC PyInit_demo_ops() { return nullptr; }\n"),
        ("ops.cpp", OPS + "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n"),
        ("ops.cpp", OPS + "NB_MODULE(demo_ops, m) {}\n"),
        ("ops.cpp", OPS + '#include "module.h"\nMAKE_MODULE(demo_ops)\n'),
        ("ops.cpp", "int nothing_registered() { return 1; }\n"),
        ("setup.py", SETUP.replace('"ops.cpp"', '"ops.cpp", "bind.cpp"')),
        ("setup.py", SETUP.replace('["ops.cpp"]', '["ops.cpp"] + more()')),
        ("setup.py", SETUP.replace("demo_ops", "other")),
        ("setup.py", SETUP.replace('"demo_ops"', "name()")),
        ("setup.py", SETUP[:-20]),
        ("setup.py", ""),
        ("use.py", "import torch\ntry:\n    import demo_ops\nexcept ImportError:\n    demo_ops = None\n"),
        ("use.py", '"""Use it so:\n\n    import demo_ops\n\nimport demo_ops\n"""\n'),
        (
            "use.py",
            "import torch\nwith contextlib.suppress(ImportError):\n    # in some builds\n\n    import demo_ops\n",
        ),
        ("use.py", "def f():\n    try:\n        if f:\n            import demo_ops\n    except ImportError: pass\n"),
        ("use.py", 'import torch\ntorch.ops.load_library("demo_ops.so")\n'),
        ("use.py", "import torch\nimport demo_ops_more\n"),
        ("use.py", "import torch\nimport demo_o"),
        ("demo_ops.py", "def f(): pass\n"),
        ("demo_ops/__init__.py", "def f(): pass\n"),
    ],
)
def test_a_module_or_perhaps_one_or_not_imported(path: str, text: str, tmp_path: Path) -> None:
    bind = {"bind.cpp": "#include <torch/extension.h>\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n"}
    assert where(found(tmp_path, {**PROJECT, **bind, path: text})) == []


def test_a_package_that_does_without(tmp_path: Path) -> None:
    files = {**PROJECT, "setup.py": SETUP.replace("demo_ops", "demo._C"), "use.py": "from demo import _C\n"}
    guarded = "try:\n    from . import _C\nexcept ImportError:\n    _C = None\n"
    assert where(found(tmp_path, {**files, "demo/__init__.py": guarded})) == []
    assert where(found(tmp_path, {**files, "demo/__init__.py": "from . import _C\n"})) == [
        ("demo/__init__.py", 1),
        ("use.py", 1),
    ]


def test_a_namesake_that_is_a_module(tmp_path: Path) -> None:
    """Which of two is imported depends on what is installed."""
    more = {
        "more/bind.cpp": "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n",
        "more/setup.py": SETUP.replace("ops.cpp", "bind.cpp"),
    }
    assert where(found(tmp_path, {**PROJECT, **more})) == []


def test_no_module_in_a_block_under_a_condition(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, {**PROJECT, "ops.cpp": f"#ifdef USE_DEMO\n{OPS}#endif\n"})
    assert finding["fix"] is None


class TestCMake:
    """Only the last part of the name of a module that CMake makes is known."""

    CMAKE = "cmake_minimum_required(VERSION 3.18)\nproject(demo CXX)\npybind11_add_module({} MODULE ops.cpp)\n"

    def found(self, folder: Path, name: str, use: str) -> Findings:
        files = {"ops.cpp": OPS, "CMakeLists.txt": self.CMAKE.format(name), "demo/__init__.py": "", "use.py": use}
        return found(folder, files)

    def test_of_a_package(self, tmp_path: Path) -> None:
        (finding,) = self.found(tmp_path, "_demo_C", "from demo import _demo_C\n")
        assert where([finding]) == [("use.py", 1)]
        assert finding["fix"] is None

    def test_a_library_that_is_called_like_a_package(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, "kernels", "from demo import kernels\n") == []


class TestJit:
    LOAD = 'from torch.utils.cpp_extension import load\n\nmodule = load("demo", ["ops.cpp"]{})\n'

    def found(self, folder: Path, more: str = "", ops: str = OPS) -> Findings:
        return found(folder, {"ops.cpp": ops, "use.py": self.LOAD.format(more)})

    def test_what_is_said_and_done(self, tmp_path: Path) -> None:
        (finding,) = self.found(tmp_path)
        assert where([finding]) == [("use.py", 3)]
        assert finding["message"] == (
            "the sources of `demo` define no PyInit_demo, so `load` fails to import it: pass is_python_module=False"
        )
        repair(tmp_path)
        assert (tmp_path / "use.py").read_text() == self.LOAD.format(", is_python_module=False")
        assert check(tmp_path, "--no-torch", "--select", "OPL508") == []

    @pytest.mark.parametrize(
        "more", [", is_python_module=False", ", is_python_module=python", ", **options", ", is_standalone=True"]
    )
    def test_what_is_not_imported(self, more: str, tmp_path: Path) -> None:
        assert where(self.found(tmp_path, more)) == []

    def test_a_module(self, tmp_path: Path) -> None:
        assert where(self.found(tmp_path, ops=OPS + "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}\n")) == []

    def test_a_macro_that_may_make_one(self, tmp_path: Path) -> None:
        assert where(self.found(tmp_path, ops=OPS + '#include "module.h"\nREGISTER_EXTENSION(demo)\n')) == []
