"""The search of build files for macros that name namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from op_lint.facts import FileFacts, UnitKind
from op_lint.macros import MacroSearch, Mention, search_macros
from tests.check import write_project
from tests.unit.builders import File

NAME = "TORCH_EXTENSION_NAME"


def using(macro: str | None = NAME) -> list[FileFacts]:
    file = File("csrc/ops.cpp")
    file.unit(UnitKind.LIBRARY, macro or "demo", namespace_macro=macro)
    return [file.facts()]


def search(folder: Path, files: dict[str, str | bytes], macro: str = NAME) -> MacroSearch:
    (found,) = search_macros(write_project(folder, files), using(macro))
    return found


def test_no_macro_no_search(tmp_path: Path) -> None:
    assert search_macros(tmp_path / "nowhere", using(None)) == ()


def test_a_build_that_defines_nothing(tmp_path: Path) -> None:
    build = "add_library(demo SHARED ops.cpp)\n"
    files: dict[str, str | bytes] = {"CMakeLists.txt": build, "cmake/CMakeLists.txt": "", "README.md": NAME}
    assert search(tmp_path, files) == MacroSearch(NAME, ("CMakeLists.txt", "cmake/CMakeLists.txt"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CMakeLists.txt", f"target_compile_definitions(demo PRIVATE {NAME}=demo)"),
        ("cmake/utils.cmake", f'"-D{NAME}=${{MOD_NAME}}"'),
        ("defs.bzl", f'copts = ["-D{NAME}=demo"]'),
        ("build.sh", f"g++ -D{NAME}=demo ops.cpp"),
        ("config.h.in", f"#define {NAME} @NAME@"),
        ("setup.py", "from torch.utils.cpp_extension import CppExtension"),
        ("demo/jit.py", "torch.utils.cpp_extension.load(name='demo', sources=['ops.cpp'])"),
    ],
)
def test_what_defines_it(tmp_path: Path, name: str, text: str) -> None:
    assert search(tmp_path, {"CMakeLists.txt": "", name: text}).defined


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.py", "from setuptools import Extension, setup"),
        ("CMakeLists.txt", f"# no -D{NAME} here\nadd_library(demo SHARED ops.cpp)  # {NAME}\n"),
        ("csrc/ops.cpp", f"TORCH_LIBRARY({NAME}, m) {{}}"),
        ("CMakeLists.txt", f"MY_{NAME} {NAME}_OLD"),
        ("build/setup.py", f"-D{NAME}=demo"),
        (".venv/setup.py", f"-D{NAME}=demo"),
        ("big.py", f"{NAME}\n" * 100_000),
    ],
)
def test_what_does_not(tmp_path: Path, name: str, text: str) -> None:
    assert not search(tmp_path, {name: text}).defined


def test_who_speaks_of_it_and_how_often(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "CMakeLists.txt": f"add_definitions(-D{NAME}=a)  # {NAME}\ntarget_compile_definitions(b PRIVATE {NAME}=b)\n",
        "setup.py": "from torch.utils.cpp_extension import CppExtension",
    }
    assert search(tmp_path, files).mentions == (Mention("CMakeLists.txt", 2), Mention("setup.py", 0, helper=True))


def test_the_helpers_define_no_other_macro(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"setup.py": "from torch.utils.cpp_extension import CppExtension"}
    assert search(tmp_path, files, "MY_NAMESPACE") == MacroSearch("MY_NAMESPACE", ("setup.py",))


def test_there_is_no_build(tmp_path: Path) -> None:
    assert search(tmp_path, {"demo.py": ""}) == MacroSearch(NAME, ())
