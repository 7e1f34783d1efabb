"""Whatever stands in a Python file: facts and problems, never an exception."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from op_lint.facts import FileFacts
from op_lint.python import is_candidate, read_python, resolve, scan_imports
from tests.unit.python_facts import at, defined

GOOD = 'import torch\nlib = torch.library.Library("ns", "DEF")\nlib.define("f(Tensor x) -> Tensor")\n'


def problems(data: bytes) -> list[str]:
    facts = read_python("ops.py", data)
    assert resolve((facts,))
    return [problem.code for problem in facts.problems]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", []),
        (b"import torch.ops as\n", ["syntax-error"]),
        (b"print 'python 2', torch.ops.ns.f\n", ["syntax-error"]),
        (b"torch.ops.ns.f(\n", ["syntax-error"]),
        (b"  torch.ops.ns.f\n", ["syntax-error"]),
        (b"{% for x in y %}\ntorch.ops.ns.{{ x }}()\n{% endfor %}\n", ["syntax-error"]),
        (b"torch.ops.ns.f\0\n", ["syntax-error"]),
        (b"# -*- coding: no-such-code -*-\ntorch.ops.ns.f\n", ["not-text"]),
        (b"# -*- coding: ascii -*-\ntorch.ops.ns.f  # \xe9\n", ["not-text"]),
        (b"torch.ops.ns.f  # \xe9\n", ["not-text"]),
        (codecs.BOM_UTF8 + b"# -*- coding: latin-1 -*-\ntorch.ops.ns.f\n", ["not-text"]),
        ("torch.ops.ns.f\n".encode("utf-16"), []),  # no mark of an operator is found in it
        (b"torch.ops.ns.f\n" + b"#" * 20_000_000, ["too-large"]),
        (b"torch.ops.ns.f\n" + b"(" * 5000 + b")" * 5000, ["syntax-error"]),
        (b"torch.ops.ns.f\n" + b"-" * 100_000 + b"1", ["syntax-error"]),
        (b"torch.ops.ns.f\n" + b"1+" * 50_000 + b"1", ["syntax-error"]),
        (b"torch.ops.ns.f\nx" + b".y" * 50_000, ["syntax-error"]),
        (b"torch.ops.ns.f\nif a: pass\n" + b"elif b: pass\n" * 20_000, ["syntax-error"]),
        (b"torch.ops.ns.f\n" + b"'x' " * 50_000 + b"\n", []),
        (b"torch.ops.ns.f\nx = [" + b"1, " * 100_000 + b"]\n", []),
    ],
)
def test_one_problem_says_what_cannot_be_read(data: bytes, expected: list[str]) -> None:
    assert problems(data) == expected


def test_a_problem_is_where_the_parser_stops() -> None:
    data = b"import torch\n\nx = torch.ops.ns.f(1 2)\n"
    (problem,) = read_python("ops.py", data).problems
    assert problem.place.line == 3
    assert problem.place.start >= data.index(b"x = ")
    assert problem.message.startswith("not valid Python: ")


def test_a_broken_file_still_has_its_imports() -> None:
    facts = read_python("ops.py", b"from torch import ops\nimport other\ndef f(:\n")
    assert facts.python is not None
    assert [found.module for found in facts.python.imports] == ["torch", "other"]


@pytest.mark.parametrize(
    "nested",
    [
        "f(" * 180 + ")" * 180,
        "[" * 180 + "]" * 180,
        "not " * 900 + "x",
        "-" * 900 + "x",
        "x" + "[0]" * 900,
        "x" + "()" * 900,
        "lambda: " * 180 + "x",
        " + ".join(["'x'"] * 900),
        " if y else ".join(["x"] * 180),
    ],
)
def test_deep_nesting_that_the_parser_accepts(nested: str) -> None:
    facts = read_python("ops.py", f"{GOOD}torch.ops.ns.f({nested})\n".encode())
    assert {problem.code for problem in facts.problems} <= {"syntax-error", "too-complex"}
    if not facts.problems:
        assert defined(facts) == ["ns::f(Tensor x) -> Tensor"]


def test_functions_that_call_each_other_without_end() -> None:
    text = GOOD + "".join(
        f"def f{index}(name):\n    f{(index + 1) % 40}(name + '{index}')\n    f{(index + 2) % 40}(name)\n"
        f"    torch.library.define('ns::' + name, '(Tensor x) -> Tensor')\n"
        for index in range(40)
    )
    facts = read_python("ops.py", f"{text}f0('a')\n".encode())
    assert "ns::f(Tensor x) -> Tensor" in defined(facts)


def test_loops_in_loops_have_a_limit() -> None:
    rounds = "".join(f"{'    ' * index}for i{index} in range(500):\n" for index in range(6))
    facts = read_python("ops.py", f"{GOOD}{rounds}{'    ' * 6}lib.define(f'f{{i0}}() -> ()')\n".encode())
    assert [problem.code for problem in facts.problems] == ["too-complex"]
    assert defined(facts)[-1] == "ns::f(Tensor x) -> Tensor" or len(facts.definitions) > 1


def test_a_function_that_is_too_complex_costs_only_itself() -> None:
    rounds = "".join(f"{'    ' * (index + 1)}for i{index} in range(500):\n" for index in range(6))
    text = f"{GOOD}def f():\n{rounds}{'    ' * 7}lib.define(f'f{{i0}}() -> ()')\ndef g():\n    torch.ops.ns.g(1)\n"
    facts = read_python("ops.py", text.encode())
    assert [problem.code for problem in facts.problems] == ["too-complex"]
    assert facts.python is not None
    assert [str(use.operator) for use in facts.python.uses] == ["ns::g"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1251"])
def test_places_are_bytes_whatever_the_encoding(ending: str, encoding: str) -> None:
    word = {"latin-1": "größe", "cp1251": "имя"}.get(encoding, "名前 größe")
    first = "" if encoding.startswith("utf") else f"# -*- coding: {encoding} -*-\n"
    library = f'import torch; "{word}"; lib = torch.library.Library("ns", "DEF")\n'
    text = f'{first}{library}"{word}"; lib.define("f(Tensor x) -> Tensor")\n'
    data = text.replace("\n", ending).encode(encoding)
    facts = read_python("ops.py", data)
    assert not facts.problems
    (definition,) = facts.definitions
    assert at(data, definition.place) == 'lib.define("f(Tensor x) -> Tensor")'
    assert at(data, definition.name_place) == "f"
    assert definition.place.line == (2 if encoding.startswith("utf") else 3)
    assert at(data, facts.units[0].place) == 'torch.library.Library("ns", "DEF")'


FRAGMENTS = [
    "import torch",
    "from torch.library import *",
    "from . import x as y",
    "lib = torch.library.Library(name, 'DEF')",
    "lib.define(f'{a}(Tensor x) -> Tensor')",
    "lib.impl('f', lambda *a, **k: torch.ops.ns.f(*a), key='CPU')",
    "torch.library.custom_op('ns::f', mutates_args='unknown')(f)",
    "@torch.library.register_fake('ns::f')",
    "def f(x, /, y: 'T' = 1, *z, k: int = {}, **w) -> None: return f(*z, **w)",
    "class C(torch.library.Library): a = b = lib; __init__ = f",
    "x = y = C('ns', 'DEF').a.b[c](*d, **e)",
    "for a, (b, *c) in x.items(): lib.define(a + b)",
    "while (n := n + 1): x[n] += n",
    "with torch.library._scoped_library('ns', 'DEF') as lib, open(f) as (g, h): pass",
    "try: import a.b.c\nexcept* (E, F): raise\nfinally: x = 1",
    "if x and not y or z is None: global q; q = x",
    "match x:\n case {'a': [b, *c], **d} if b: pass\n case C(e=1) | _: pass",
    "async def g():\n async for i in x: yield i\n async with y as z: await z\n return [i async for i in z]",
    "del x, y.z, w[0]",
    "assert f'{x!r:>{w}} {y=}' % ('a', *b), lambda: (yield)",
    "f(x := 1, *[], **{})",
    "torch.library.infer_schema(f, mutates_args=x)",
    "getattr(torch.ops.ns, x, y)(z)",
    "setattr(torch.ops, 'ns', x)",
    "functools.partial(torch.library.define, lib=lib)('ns::f', '() -> ()')",
    "'%s %d' % (x, 1); '{} {a}'.format(1, a=x); ''.join(x for x in 'abc')",
    "super().__init__(); type(x)(); (lambda f: f(f))(lambda f: f(f))",
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(FRAGMENTS), st.integers(0, 2)), max_size=12), st.booleans())
def test_any_program_is_read(lines: list[tuple[str, int]], cut: bool) -> None:
    text = "import torch\n"
    for fragment, depth in lines:
        for level in range(depth):
            text += " " * level + "if x:\n"
        text += "".join(" " * depth + line + "\n" for line in fragment.split("\n"))
        if fragment.startswith("@"):
            text += " " * depth + "def f(): ...\n"
    data = text.encode()
    facts = read_python("a/b.py", data[: len(data) // 2] if cut else data)
    assert isinstance(resolve((facts, read_python("a/x.py", data)))[0], FileFacts)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=200), st.integers(0, len(GOOD)))
def test_any_bytes_are_read(noise: bytes, where: int) -> None:
    data = GOOD.encode()
    data = data[:where] + noise + data[where:]
    facts = read_python("ops.py", data)
    assert len(facts.problems) <= 1
    assert scan_imports("ops.py", data).python is not None
    assert is_candidate(data) in (True, False)
    for definition in facts.definitions:
        assert 0 <= definition.place.start <= definition.place.end <= len(data)
