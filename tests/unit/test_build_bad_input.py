"""Build files that nobody should have written: a note with a file and a line, never a crash, never without end."""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path

import pytest

from op_lint.build import BuildGraph, read_build
from op_lint.build.questions import Questions
from tests.check import write_project

OPS = "#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {}\n"
GARBAGE = bytes(random.Random(1).randrange(256) for _ in range(20_000))
TARGET = "add_library(m SHARED a.cpp)\n"


def read(folder: Path, files: dict[str, str | bytes]) -> BuildGraph:
    write_project(folder, {"a.cpp": OPS, **files})
    return read_build(folder, sorted(files), ["a.cpp"], registering=["a.cpp"])


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("CMakeLists.txt", 'project(x\nadd_library(m SHARED a.cpp\nset("abc', "build-syntax"),
        ("CMakeLists.txt", GARBAGE, "build-syntax"),
        ("CMakeLists.txt", TARGET + "a(\n" * 50_000, "build-syntax"),
        ("CMakeLists.txt", TARGET + "#[[\n" * 100_000, "build-syntax"),
        ("CMakeLists.txt", f"project(x) {TARGET}", "build-syntax"),
        ("setup.py", b"a = 1\0\nb", "build-syntax"),
        ("setup.py", "x = " + "(" * 50_000 + ")" * 50_000, "build-syntax"),
        ("CMakeLists.txt", f"{TARGET}endif()\n", "build-syntax"),
        ("CMakeLists.txt", f"{TARGET}if(X)\n", "build-syntax"),
        ("CMakeLists.txt", f"{TARGET}if(X)\nforeach(i a)\nendif()\nendforeach()\n", "build-syntax"),
        ("CMakeLists.txt", f"{TARGET}include(cmake/gone.cmake)\n", "build-missing"),
        ("CMakeLists.txt", TARGET + "if(X)\n" * 5_000 + "endif()\n" * 5_000, "recursion"),
        ("pyproject.toml", "[project]\nname = demo\n", "build-syntax"),
        ("CMakeLists.txt", f"include(${{CMAKE_CURRENT_LIST_FILE}})\n{TARGET}", "recursion"),
        ("CMakeLists.txt", f"add_subdirectory(. again)\n{TARGET}", "recursion"),
        ("CMakeLists.txt", f"macro(g)\ng()\nendmacro()\ng()\n{TARGET}", "recursion"),
        ("CMakeLists.txt", f"while(TRUE)\nset(x ${{x}}a)\nendwhile()\n{TARGET}", "recursion"),
    ],
)
def test_what_cannot_be_read_is_noted(name: str, content: str | bytes, code: str, tmp_path: Path) -> None:
    problems = read(tmp_path, {name: content}).problems
    assert [(each.code, each.place.path) for each in problems] == [(code, name)]


@pytest.mark.parametrize(
    ("name", "content", "line", "words"),
    [
        ("setup.py", "from setuptools import setup\n\nsetup(ext_modules=[\n", 3, "'[' was never closed"),
        ("setup.py", "from setuptools import setup\r\npath = <HERE>\r\n", 2, "invalid syntax"),
        ("pyproject.toml", "[project]\nname = demo\n", 2, "Invalid value"),
    ],
)
def test_where_it_cannot_be_read(name: str, content: str, line: int, words: str, tmp_path: Path) -> None:
    (problem,) = read(tmp_path, {name: content}).problems
    starts = (0, *(found.end() for found in re.finditer(r"\r?\n", content)))
    assert (problem.place.line, problem.place.start) == (line, starts[line - 1])
    assert words in problem.message


def test_what_was_configured_and_is_broken(tmp_path: Path) -> None:
    write_project(tmp_path, {"build/compile_commands.json": '[\n{"file": \n'})
    graph = read(tmp_path, {"CMakeLists.txt": TARGET})
    assert [(each.code, each.place.path, each.place.line) for each in graph.problems] == [
        ("build-configured", "build/compile_commands.json", 3)
    ]
    assert [target.name for target in graph.targets] == ["m"]


def test_a_pipe_in_the_place_of_a_build_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / "sub" / "CMakeLists.txt")
    graph = read(tmp_path, {"CMakeLists.txt": f"{TARGET}add_subdirectory(sub)\n"})
    assert [(each.code, each.place.path) for each in graph.problems] == [("no-file", "sub/CMakeLists.txt")]


LISTS = {
    "undecided": "".join(f"if(X{i})\nlist(APPEND s b{i}.cpp)\nendif()\n" for i in range(1_500)),
    "long": "".join(f"list(APPEND s b{i}.cpp)\n" for i in range(10_000)),
    "returned": "function(f)\n" + "".join(f"if(X{i})\nset(v{i} 1)\nreturn()\nendif()\n" for i in range(300)),
    "matched": "".join(f'string(REGEX REPLACE "a*a*a*b" "" t "{"a" * 1_900}{i}")\n' for i in range(20)),
}


@pytest.mark.parametrize("kind", LISTS)
def test_what_costs_much_ends(kind: str, tmp_path: Path) -> None:
    """What was read before the limit stays; the limit is one of steps, or of ten seconds of this thread's time."""
    text = TARGET + LISTS[kind] + ("endfunction()\nf()\n" if kind == "returned" else "")
    start = time.thread_time()
    graph = read(tmp_path, {"CMakeLists.txt": text})
    assert time.thread_time() - start < 12
    assert [target.name for target in graph.targets] == ["m"]
    assert {problem.code for problem in graph.problems} <= {"build-limit"}


def test_what_grows_without_end(tmp_path: Path) -> None:
    script = "from setuptools import Extension, setup\ns = 'a' * 10**10\ns = 10**10**10\ns = 2 << 10**10\n"
    script += (
        "t = '%1000000000d' % 3\nfor i in range(10**12):\n  pass\nsetup(ext_modules=[Extension('m', ['a.cpp'])])\n"
    )
    (target,) = read(tmp_path, {"setup.py": script}).targets
    assert [source.path for source in target.sources] == ["a.cpp"]


def test_links_between_folders(tmp_path: Path) -> None:
    """A circle of links ends, each file is found once, and as what it is: the file that the facts speak of."""
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "round").symlink_to("..", target_is_directory=True)
    (tmp_path / "linked").symlink_to("csrc", target_is_directory=True)
    found = {}
    for name, arguments in {
        "followed": "GLOB_RECURSE s FOLLOW_SYMLINKS csrc/round/*.cpp",
        "below": "GLOB_RECURSE s csrc/*.cpp",
        "beside": "GLOB s linked/*.cpp",
        "through": "GLOB s link*/*.cpp",
    }.items():
        text = f"file({arguments})\nadd_library(m SHARED ${{s}})\n"
        graph = read(tmp_path, {"CMakeLists.txt": text, "csrc/b.cpp": OPS})
        assert graph.problems == ()
        found[name] = sorted(source.path for target in graph.targets for source in target.sources)
    assert found == {
        "followed": ["a.cpp", "csrc/b.cpp"],
        "below": ["csrc/b.cpp"],
        "beside": ["csrc/b.cpp"],
        "through": ["csrc/b.cpp"],
    }


def test_a_long_chain_of_libraries(tmp_path: Path) -> None:
    """Each library of the chain needs the one before: what decides about the unit is found in one pass."""
    count = 3_000
    lines = [f"add_library(l{number} SHARED a{number}.cpp)\n" for number in range(count)]
    lines += [f"target_link_libraries(l{number} PRIVATE l{number - 1})\n" for number in range(1, count)]
    write_project(tmp_path, {"CMakeLists.txt": "".join(lines), **{f"a{number}.cpp": "" for number in range(count)}})
    (tmp_path / "a0.cpp").write_text(OPS)
    graph = read_build(tmp_path, ["CMakeLists.txt"], ["a0.cpp"])
    started = time.process_time()
    assert len(Questions(graph).neighbours(frozenset({"a0.cpp"}))) == count
    assert time.process_time() - started < 2.0  # seconds; pair by pair it is a minute
