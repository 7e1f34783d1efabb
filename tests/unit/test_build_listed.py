"""Sources added to and taken out of the lists of build files: the text as it is after the edit."""

from __future__ import annotations

from pathlib import Path

import pytest

from op_lint.build import BuildGraph, read_build
from op_lint.build.model import Listed, Source
from tests.check import write_project

OPS = "#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {}\n"


def graph_of(folder: Path, name: str, text: str) -> BuildGraph:
    write_project(folder, {name: text, "a.cpp": OPS, "b.cpp": OPS, "c.cpp": OPS})
    return read_build(folder, [name], ["a.cpp", "b.cpp", "c.cpp"], registering=["a.cpp", "b.cpp", "c.cpp"])


def source_of(graph: BuildGraph, path: str) -> Source:
    (source,) = (each for target in graph.targets for each in target.sources if each.path == path)
    return source


def without(text: str, listed: Listed | None) -> str | None:
    """The build file once the source is taken out; None where it cannot be."""
    if listed is None or listed.removal is None:
        return None
    data = text.encode()
    return (data[: listed.removal.start] + data[listed.removal.end :]).decode()


def extended(text: str, source: Source) -> str | None:
    """The build file once `new.cpp` is added behind a source; None where it cannot be."""
    listed = source.listed
    if listed is None:
        return None
    word = listed.text.replace(source.path, "new.cpp")
    return text[: listed.place.end] + listed.separator + word + text[listed.place.end :]


SETUP = "from setuptools import setup, Extension\nimport os\nsetup(ext_modules=[Extension('m', {})])\n"


@pytest.mark.parametrize(
    ("lists", "added", "removed"),
    [
        ("['a.cpp']", "['a.cpp', 'new.cpp']", "[]"),
        ("['a.cpp', 'b.cpp']", "['a.cpp', 'new.cpp', 'b.cpp']", "['b.cpp']"),
        ("['b.cpp', 'a.cpp']", "['b.cpp', 'a.cpp', 'new.cpp']", "['b.cpp']"),
        ("['b.cpp', 'a.cpp',]", "['b.cpp', 'a.cpp', 'new.cpp',]", "['b.cpp',]"),
        (
            "[\n  'b.cpp',\n  'a.cpp',  # the first\n  'c.cpp',\n]",
            "[\n  'b.cpp',\n  'a.cpp',\n  'new.cpp',  # the first\n  'c.cpp',\n]",
            "[\n  'b.cpp',\n  'c.cpp',\n]",
        ),
        ("['a.cpp',]", "['a.cpp', 'new.cpp',]", None),  # a comma would be left alone
        ("[('a.cpp'), 'b.cpp']", "[('a.cpp', 'new.cpp'), 'b.cpp']", None),
        ("[os.path.join('.', 'a.cpp')]", None, None),
        ("[f'a.cpp']", None, None),
        ("['a' '.cpp']", None, None),
    ],
)
def test_lists_of_python(lists: str, added: str | None, removed: str | None, tmp_path: Path) -> None:
    text = SETUP.format(lists)
    source = source_of(graph_of(tmp_path, "setup.py", text), "a.cpp")
    assert extended(text, source) == (None if added is None else SETUP.format(added))
    assert without(text, source.listed) == (None if removed is None else SETUP.format(removed))


LISTS = "project(p)\nset(DIR ${{CMAKE_CURRENT_SOURCE_DIR}})\nadd_library(m SHARED {})\n"


@pytest.mark.parametrize(
    ("words", "added", "removed"),
    [
        ("a.cpp", "a.cpp new.cpp", ""),
        ("a.cpp b.cpp", "a.cpp new.cpp b.cpp", " b.cpp"),
        ('"a.cpp"', '"a.cpp" "new.cpp"', ""),
        ("\n  a.cpp  # first\n  b.cpp", "\n  a.cpp\n  new.cpp  # first\n  b.cpp", "\n  b.cpp"),
        ("\n\tb.cpp\n\ta.cpp)", "\n\tb.cpp\n\ta.cpp new.cpp)", "\n\tb.cpp\n)"),
        ("${{DIR}}/a.cpp", None, None),
        ("[[a.cpp]]", None, None),
    ],
)
def test_lists_of_cmake(words: str, added: str | None, removed: str | None, tmp_path: Path) -> None:
    def file(written: str) -> str:
        return LISTS.format(written.format()).replace("))", ")")

    text = file(words)
    source = source_of(graph_of(tmp_path, "CMakeLists.txt", text), "a.cpp")
    assert extended(text, source) == (None if added is None else file(added))
    expected = (
        None if removed is None else file(removed).replace("SHARED )", "SHARED)").replace("SHARED  b", "SHARED b")
    )
    assert without(text, source.listed) == expected


def test_a_pattern_is_no_list(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, "CMakeLists.txt", "project(p)\nfile(GLOB s a.c*)\nadd_library(m SHARED ${s})\n")
    assert source_of(graph, "a.cpp").listed is None


@pytest.mark.parametrize("more", ["is_python_module=True", "**options"])
def test_nothing_is_added_to_a_call_that_may_have_it(more: str, tmp_path: Path) -> None:
    text = f"from torch.utils.cpp_extension import load\nload('m', ['a.cpp'], {more})\n"
    write_project(tmp_path, {"use.py": text, "a.cpp": OPS})
    graph = read_build(tmp_path, [], ["a.cpp"], registering=["a.cpp"], scripts=["use.py"])
    assert [target.last_argument for target in graph.targets] == [None]
