"""When OPL501 and OPL502 speak, and the edits that they offer."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

from op_lint.facts import Place
from op_lint.findings import Edit
from op_lint.fixes import edited, fitted, merged
from op_lint.text import SourceText
from tests.check import check, run, write_project

OPS = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {\n  m.def("f(Tensor x) -> Tensor");\n}\n'
CUDA = "#include <torch/library.h>\nTORCH_LIBRARY_IMPL(demo, CUDA, m) {}\n"
SETUP = (
    "from setuptools import setup\nfrom torch.utils.cpp_extension import CUDAExtension\n"
    'setup(ext_modules=[CUDAExtension("demo._C", {})])\n'
)
LISTED = SETUP.format('["csrc/ops.cpp", "csrc/a.cu"]')
SOURCES: dict[str, str | bytes] = {"csrc/ops.cpp": OPS, "csrc/a.cu": "int a() { return 1; }\n", "csrc/left.cu": CUDA}


def found(folder: Path, files: dict[str, str | bytes], *codes: str) -> list[tuple[str, str]]:
    write_project(folder, files)
    findings = check(folder, "--torch-version", "2.13.0+cpu", "--select", ",".join(codes or ("OPL501",)))
    return [(each["code"], each["path"]) for each in findings]


@pytest.mark.parametrize(
    "files",
    [
        {"setup.py": LISTED},
        {"setup.py": LISTED, "third_party/other/setup.py": "print 'of another age'\n"},
        {"setup.py": LISTED, "vendor/CMakeLists.txt": "add_library(x ${SOMETHING})\nset(\n"},
        {"setup.py": LISTED, "docs/BUILD": "cc_library(name = 'x', srcs = \n"},
        {"setup.py": LISTED, "more/setup.py": "print 'of another age'\n"},
        {"setup.py": LISTED, "tests/jit.py": "from torch.utils.cpp_extension import load\n"
         "def made(sources):\n    return load(name='x', sources=sources)\n"},
        {"setup.py": SETUP.format('["csrc/ops.cpp", "other/a.cu"]'), "other/a.cu": ""},
    ],
    ids=["plain", "vendored script", "vendored project", "another package", "a script of another folder", "a test",
         "beside another kind"],
)  # fmt: skip
def test_a_kernel_that_no_target_compiles(files: dict[str, str | bytes], tmp_path: Path) -> None:
    assert found(tmp_path, {**SOURCES, **files}) == [("OPL501", "csrc/left.cu")]


@pytest.mark.parametrize(
    "files",
    [
        {"setup.py": SETUP.format('["csrc/ops.cpp"]')},
        {"setup.py": LISTED, "more/setup.py": "print '../csrc'\n"},
        {"setup.py": LISTED, "more.py": "from torch.utils.cpp_extension import load\n"
         "def made(sources):\n    return load(name='x', sources=sources)\n"},
        {"setup.py": LISTED, "csrc/BUILD": "cc_library(name = 'x', srcs = \n"},
        {"setup.py": LISTED, "csrc/left.cu": CUDA.replace("CUDA", "Cuda")},
    ],
    ids=["no kernel is built", "unread", "sources not known", "its own package", "a key of no torch"],
)  # fmt: skip
def test_a_kernel_that_some_target_may_compile(files: dict[str, str | bytes], tmp_path: Path) -> None:
    assert found(tmp_path, {**SOURCES, **files}) == []


LEFT: dict[str, str | bytes] = {"ops.cpp": OPS, "csrc/kept.cpp": "", "csrc/left.cpp": OPS.replace('"f(', '"g(')}
WITH = "add_library(demo SHARED ops.cpp csrc/kept.cpp {})\n"


@pytest.mark.parametrize(
    "files",
    [
        {"CMakeLists.txt": WITH.format("${CMAKE_CURRENT_BINARY_DIR}/generated.cpp")},
        {"CMakeLists.txt": WITH.format("generated.cpp")},
        {"CMakeLists.txt": WITH.format("${MKL_ROOT}/src/service.cpp")},
        {"CMakeLists.txt": WITH.format("other/${NAME}.cpp")},
        {"CMakeLists.txt": WITH.format("$<TARGET_PROPERTY:x,DIR>/x.cpp")},
        {"CMakeLists.txt": WITH.format("") + "add_subdirectory(sub)\n", "sub/CMakeLists.txt": "set(x\n"},
        {"CMakeLists.txt": WITH.format(""), "python/setup.py": "while = 1\n"},
        {"CMakeLists.txt": WITH.format(""), "tests/jit.py": "import torch.utils.cpp_extension\nload(\n"},
        {"CMakeLists.txt": WITH.format(""), "setup.py": "from setuptools import Extension, setup\n"
         "class CMakeExtension(Extension):\n  def __init__(self, name):\n    super().__init__(name, sources=[])\n"
         "setup(ext_modules=[CMakeExtension('demo')])\n"},
        {"CMakeLists.txt": WITH.format(""), "other/CMakeLists.txt":
         "macro(again)\nagain()\nendmacro()\nagain()\n"},
        {"CMakeLists.txt": WITH.format("")
         + "list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/cmake)\nfind_package(TBB)\n",
         "cmake/FindTBB.cmake": "find_package(TBB)\n"},
    ],
    ids=["made", "made here", "elsewhere", "of another folder", "generator expression", "subdirectory", "script",
         "a test's script", "handed to CMake", "another project", "package"],
)  # fmt: skip
def test_a_source_that_what_is_not_known_cannot_be(files: dict[str, str | bytes], tmp_path: Path) -> None:
    assert found(tmp_path, {**LEFT, **files}) == [("OPL501", "csrc/left.cpp")]


@pytest.mark.parametrize(
    "files",
    [
        {"CMakeLists.txt": WITH.format("${CMAKE_CURRENT_BINARY_DIR}/left.AVX2.cpp")},
        {"CMakeLists.txt": WITH.format("${CMAKE_CURRENT_BINARY_DIR}/${NAME}.cpp")},
        {"CMakeLists.txt": WITH.format("${FOLDER}/left.cpp")},
        {"CMakeLists.txt": WITH.format("csrc/${NAME}.cpp")},
        {"CMakeLists.txt": WITH.format("${MORE}")},
        {"CMakeLists.txt": WITH.format("${CMAKE_BINARY_DIR}/all.cpp")
         + "file(WRITE ${CMAKE_BINARY_DIR}/all.cpp \"#include <csrc/left.cpp>\\n\")\n"},
        {"CMakeLists.txt": WITH.format("${CMAKE_BINARY_DIR}/all.cpp") + "add_custom_command(OUTPUT all.cpp COMMAND cat"
         " DEPENDS csrc/left.cpp csrc/kept.cpp)\n"},
        {"CMakeLists.txt": WITH.format("") + "add_subdirectory(sub)\n", "sub/CMakeLists.txt": "set(x ../csrc\n"},
        {"CMakeLists.txt": WITH.format("") + "add_subdirectory(csrc)\n", "csrc/CMakeLists.txt": "set(x\n"},
        {"CMakeLists.txt": WITH.format("") + "add_subdirectory(csrc)\n",
         "csrc/CMakeLists.txt": "demo_add_kernels(demo left.cpp)\n"},
        {"CMakeLists.txt": WITH.format("") + "include(more.cmake)\n", "more.cmake": "set(x\n"},
        {"CMakeLists.txt": WITH.format("") + "macro(again)\nagain()\nendmacro()\nagain()\n"},
        {"CMakeLists.txt": WITH.format(""), "python/setup.py": "while = '../csrc'\n"},
    ],
    ids=["made", "made under any name", "anywhere", "of this folder", "any", "written", "made of it", "subdirectory",
         "its own folder", "unknown command", "included", "recursion", "script"],
)  # fmt: skip
def test_a_source_that_what_is_not_known_may_be(files: dict[str, str | bytes], tmp_path: Path) -> None:
    assert found(tmp_path, {**LEFT, **files}) == []


def test_a_key_that_no_torch_has_is_one_finding(tmp_path: Path) -> None:
    files = {**SOURCES, "setup.py": LISTED, "csrc/left.cu": CUDA.replace("CUDA", "Cuda")}
    assert found(tmp_path, files, "OPL501", "OPL210") == [("OPL210", "csrc/left.cu")]


CMAKE = (
    "cmake_minimum_required(VERSION 3.18)\nadd_library(demo_ops STATIC ops.cpp)\nadd_library(demo MODULE entry.cpp)\n"
    "target_link_libraries(demo PRIVATE demo_ops)\n"
)
ENTRY = "int e() { return 0; }\n"
ANCHOR = 'extern "C" int keep_demo_ops_ops'


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_an_anchor_is_offered_and_keeps_the_block(end: str, mark: bytes, tmp_path: Path) -> None:
    files = {
        name: mark + text.replace("\n", end).encode() for name, text in {"ops.cpp": OPS, "entry.cpp": ENTRY}.items()
    }
    write_project(tmp_path, {"CMakeLists.txt": CMAKE, **files})
    (finding,) = check(tmp_path, "--no-torch", "--select", "OPL502")
    (fix,) = finding["alternatives"]
    assert (fix["safe"], [edit["path"] for edit in fix["edits"]]) == (False, ["ops.cpp", "entry.cpp"])
    for edit in fix["edits"]:
        path = tmp_path / edit["path"]
        assert (edit["line"], edit["column"]) == (1, 2 if mark else 1)
        path.write_bytes(mark + edit["text"].encode() + files[edit["path"]].removeprefix(mark))
    assert (tmp_path / "ops.cpp").read_bytes().startswith(mark + f"{ANCHOR}() {{ return 0; }}{end}".encode())
    assert (tmp_path / "entry.cpp").read_bytes().startswith(mark + f"{ANCHOR}(); [[maybe_unused]]".encode())
    assert check(tmp_path, "--no-torch", "--select", "OPL502") == []


def test_no_anchor_where_a_symbol_would_be_missed(tmp_path: Path) -> None:
    write_project(tmp_path, {"CMakeLists.txt": f"{CMAKE}add_library(alone MODULE entry.cpp)\n"})
    write_project(tmp_path, {"ops.cpp": OPS, "entry.cpp": ENTRY})
    (finding,) = check(tmp_path, "--no-torch", "--select", "OPL502")
    assert finding["alternatives"] == []


def test_what_goes_in_front_stands_behind_the_mark() -> None:
    text = SourceText(codecs.BOM_UTF8 + b"a\r\nb\r\n")
    first = Edit(Place("x", 1, 0, 0), "new\n")
    assert fitted(text, first) == Edit(Place("x", 1, 3, 3), "new\r\n")
    assert edited(text.data, [first]) == codecs.BOM_UTF8 + b"new\r\na\r\nb\r\n"
    assert merged(text.data, [first]) == Edit(Place("x", 1, 3, 3), "new\r\n")


@pytest.mark.parametrize("format_", ["json", "sarif"])
def test_reports_have_the_line_ends_of_the_file(format_: str, tmp_path: Path) -> None:
    text = "add_library(more MODULE\r\n  left.cpp\r\n)\r\n"
    write_project(tmp_path, {"CMakeLists.txt": text, "left.cpp": ENTRY, "gone.cpp": OPS})
    options = ("--no-torch", "--no-cache", "--jobs", "0", "--select", "OPL501", "--output-format", format_)
    written = json.loads(run(tmp_path, "check", *options).out)
    if format_ == "json":
        (edit,) = written[0]["fix"]["edits"]
        assert edit["text"] == "\r\n  gone.cpp"
    else:
        (change,) = written["runs"][0]["results"][0]["fixes"][0]["artifactChanges"]
        assert change["replacements"][0]["insertedContent"]["text"] == "\r\n  gone.cpp"
