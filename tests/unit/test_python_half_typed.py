"""A file with broken statements is read without them, and nothing is concluded from what they may hold."""

from __future__ import annotations

import ast
import codecs
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from op_lint.facts import Definition, FileFacts, Implementation
from op_lint.python import read_python
from op_lint.python.mended import mended
from tests.check import check, write_project
from tests.unit.python_facts import at, defined


def read(text: str | bytes) -> FileFacts:
    return read_python("ops.py", text if isinstance(text, bytes) else text.encode())


def registered(facts: FileFacts) -> list[Definition | Implementation]:
    return [*facts.definitions, *facts.implementations]


def left_out(text: str) -> list[str]:
    """What is left out of a text."""
    lines = text.splitlines(keepends=True)
    found = mended(text)
    assert found is not None
    ast.parse(found.text)
    return ["".join(lines[each.lines.first - 1 : each.lines.last]).strip() for each in found.broken]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = f(\nb = 1\n", ["a = f("]),
        ("a = 1\nb = 'x\nc = 2\n", ["b = 'x"]),
        ("@register('a')\n\nx = 1\n", ["@register('a')"]),
        ("@a(\n    1,\n)\n@b\ndef f(x\n\nx = 1\n", ["@a(\n    1,\n)\n@b\ndef f(x"]),
        ("def f():\ndef g():\n    pass\n", ["def f():"]),
        ("def f(\n    x,\n    *,\n    y,\n):\n    a = (\n    return x\nz = 1\n", ["a = ("]),
        ("if x:\n    a = 1\n    b = f(1 2)\nelse:\n    c = 3\n", ["b = f(1 2)"]),
        ("try:\n    a = 1\nexcept E:\n    b = [\n    c = 1\nfinally:\n    d = )\n", ["b = [", "d = )"]),
        ("class C:\n    x = 1\n\n    def f(self):\n        return self.\n\n    def g(self): ...\n", ["return self."]),
        ("try:\n    a = 1\nb = 2\n", ["try:\n    a = 1"]),
        ("if x\n    a = 1\nb = 2\n", ["if x\n    a = 1"]),
        ("f(\na,\nb\n)\ng(\n", ["g("]),
        ('x = """\ndef f(:\n"""\ny = )\n', ["y = )"]),
        ('x = f("""\ntext\nvoid f(int a) {\n}\n""")\ny = )\n', ["y = )"]),
        ('def f():\n    """Half\n    return 1\n\n\ndef g():\n    """Whole."""\n', ['"""Half']),
        ("# comment\nx = (  # another\n# third\ny = 1\n", ["x = (  # another"]),
        ("x = 1 + \\\n2\ny = )\n", ["y = )"]),
        ("  x = 1\ny = 2\n", ["x = 1"]),
        ("x = 1\n    y = 2\nz = 3\n", ["y = 2"]),
        ("match x:\n    case 1:\n        a = (\n", ["match x:\n    case 1:\n        a = ("]),
        ("a = 1\r\nb = (\r\nc = 1\r\n", ["b = ("]),
        ("with a:\n\tb = (\n\tc = 1\n", ["b = ("]),
        ("a = 1\nb = \0\nc = 1\n", ["b = \0"]),
    ],
)
def test_a_statement_is_left_out_and_no_more(text: str, expected: list[str]) -> None:
    assert left_out(text) == expected


LINES = (
    "x = 1", "y = f(", "def g():", "    return (", "    z = 2", "class C:", "    def h(self):", "        pass", "@d",
    "if a:", "else:", "try:", "except E:", '"""', "'", ")", "]", "# note", "", "    # note", "  odd", "\tb = 1",
    "import m", "a = 1 \\", "print 'x'", "{% if x %}", "match x:", "    case _:", "f'{x'", "\f", "é = 'ü'",
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=14), st.sampled_from(("\n", "\r\n", "\r")))
def test_what_is_left_parses_and_stands_where_it_was(lines: list[str], ending: str) -> None:
    text = ending.join(lines)
    found = mended(text)
    if found is None:
        return
    ast.parse(found.text)
    data = codecs.BOM_UTF8 + text.encode()
    after = found.applied(data)
    assert after.decode("utf-8-sig").splitlines() != lines or not found.broken
    assert len(after) == len(data)
    broken = {number for each in found.broken for number in range(each.lines.first, each.lines.last + 1)}
    pairs = zip(data.splitlines(), after.splitlines(), strict=True)
    for number, (before, now) in enumerate(pairs, 1):
        assert before == now or number in broken
    for each in found.broken:
        assert each.statement.first <= each.lines.first <= each.line <= each.lines.last <= each.statement.last


GOOD = """\
import torch

lib = torch.library.Library("ns", "DEF")  # größe
lib.define("f(Tensor x) -> Tensor")


@torch.library.register_fake("ns::f")
def fake(x):
    y = x.new_empty(x.shape)
    return y


def use(x):
    return torch.ops.ns.f(x)
"""


@settings(max_examples=150, deadline=None)
@given(st.integers(1, len(GOOD.splitlines())), st.integers(0, 40), st.sampled_from(("", "(", "'", '"""', " 1 2", "[")))
def test_what_stands_outside_of_the_break_is_as_it_was(line: int, column: int, typed: str) -> None:
    """A line is cut, and something is typed there: the facts of all other statements stay, with their places."""
    lines = GOOD.splitlines(keepends=True)
    before = lines[line - 1]
    lines[line - 1] = before[:column].rstrip("\n") + typed + "\n"
    data = "".join(lines).encode()
    facts, whole = read(data), read(GOOD)
    if not facts.problems:
        return
    assert [problem.code for problem in facts.problems] == ["syntax-error"]
    assert facts.python is not None
    (broken,) = facts.python.broken if len(facts.python.broken) == 1 else (None,)
    if broken is None:
        return
    if line in (1, 3):
        return  # without the name of the library, or of torch, nothing is known of what follows
    grown = len(data) - len(GOOD.encode())
    expected = set()
    for fact in registered(whole):
        if fact.place.end <= broken.outermost.start:
            expected.add((fact.place.start, fact.operator))
        elif fact.place.start >= broken.outermost.end - grown:
            expected.add((fact.place.start + grown, fact.operator))
    assert expected <= {(fact.place.start, fact.operator) for fact in registered(facts)}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_places_are_bytes_of_the_file(encoding: str) -> None:
    text = f"# -*- coding: {encoding.removesuffix('-sig')} -*-\nname = 'größe' +\n{GOOD}"
    data = text.encode(encoding)
    facts = read(data)
    (problem,) = facts.problems
    assert (problem.place.line, at(data, problem.place)) == (2, "")
    (definition,) = facts.definitions
    assert at(data, definition.place) == 'lib.define("f(Tensor x) -> Tensor")'
    (fake,) = facts.implementations
    assert at(data, fake.name_place) == "f"


def test_the_message_says_what_is_missing() -> None:
    (problem,) = read("import torch\nx = torch.ops.ns.f(1,\ny = )\nz = torch.ops.ns.g(2)\n").problems
    assert problem.message == (
        "not valid Python: '(' was never closed; op-lint reads the file without line 2 and 1 more statement"
    )
    (problem,) = read("import torch\nif torch.ops.ns.f\n    x = 1\n").problems
    assert problem.message == "not valid Python: expected ':'; op-lint reads the file without lines 2 to 3"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "import torch.ops\n\nif a:\n    if b:\n    c = 1\n",
            "expected an indented block after 'if' statement on line 4",
        ),
        ("import torch.ops\n\nx = [1,\n     2)\n", "')' does not match opening parenthesis '[' on line 3"),
        ("import torch.ops\n\ndef f():\n    x = '''a\n    b\n", "(detected at line 4)"),
    ],
)
def test_lines_in_the_message_are_those_of_the_file(text: str, words: str) -> None:
    (problem,) = read(text).problems
    assert words in problem.message


def test_what_may_hide_a_registration_is_unresolved() -> None:
    hides = "import torch\nlib = torch.library.Library('ns', 'DEF')\ndef f():\n    {}\n    return 1\n"
    assert [fact.what for fact in read(hides.format("lib.define('f")).unresolved] == ["statement"]
    assert not read(hides.format("x = (")).unresolved
    at_module_level = hides.format("pass") + "from somewhere import (register,\nx = 1\n"
    assert [fact.place.line for fact in read(at_module_level).unresolved] == [6]


def test_the_imports_of_a_broken_statement_are_known() -> None:
    facts = read("import torch.library\nif x:\n    import a\n    from .b import (c,\n")
    assert facts.python is not None
    assert [found.module for found in facts.python.imports] == ["torch.library", "a", "b"]


def test_of_a_broken_function_no_result_is_known() -> None:
    text = (
        "import torch\n@torch.library.custom_op('ns::f', mutates_args=())\n"
        "def f(x: torch.Tensor) -> torch.Tensor:\n    {}\n    return x\n"
    )
    for line, known in (("pass", 1), ("x = x.clone(", 0)):
        facts = read(text.format(line))
        assert facts.python is not None
        assert [len(function.results) for function in facts.python.functions] == [known]
        assert defined(facts) == ["ns::f(Tensor x) -> Tensor"]


FAKES = """\
import torch

lib = torch.library.Library("demo", "FRAGMENT")
lib.define("twice(Tensor x) -> Tensor")


@torch.library.register_fake("demo::scale")
def scale(x):
    return x.new_empty(x.shape)


@torch.library.impl(lib, "twice", "CompositeImplicitAutograd")
def twice(x):
    return torch.ops.demo.scale(x) + x
"""

PROJECT: dict[str, str | bytes] = {
    "fakes.py": FAKES,
    "ops.cpp": """\
#include <torch/library.h>
TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(demo, CUDA, m) { m.impl("scale", &scale); }
TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &scale); }
""",
    "uses.py": """\
import torch

import fakes


def f(x):
    return torch.ops.demo.twice(torch.ops.demo.scale(x))
""",
}


def test_a_whole_project_of_these_files_has_no_finding(tmp_path: Path) -> None:
    assert check(write_project(tmp_path, PROJECT), "--torch-version", "2.13") == []


@pytest.mark.parametrize("line", range(1, FAKES.count("\n") + 1))
def test_while_a_line_is_typed_nothing_else_is_found(line: int, tmp_path: Path) -> None:
    lines = FAKES.splitlines(keepends=True)
    typed = lines[line - 1].rstrip("\n")
    project = write_project(tmp_path, PROJECT)
    for length in range(5, len(typed), 17):
        text = "".join((*lines[: line - 1], typed[:length] + "\n", *lines[line:]))
        try:
            ast.parse(text)
        except SyntaxError:
            (project / "fakes.py").write_text(text)
            found = check(project, "--torch-version", "2.13")
            assert [finding["code"] for finding in found] == ["OPL902"], (text, found)


@pytest.mark.parametrize("front", ["command line", "server"])
def test_a_comment_behind_the_break_still_speaks(front: str, tmp_path: Path) -> None:
    text = (
        "import torch\n\n\ndef f(x):\n    y = 'a\n\n\n"
        "lib = torch.library.Library('aten', 'DEF')  # op-lint: ignore[OPL208] a test\n"
        "lib.define('f(')\n"
    )
    found = check(write_project(tmp_path, {"ops.py": text}), "--no-torch", front=front)
    assert {finding["code"] for finding in found} == {"OPL101", "OPL902"}
