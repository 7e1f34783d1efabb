"""Registrations that depend on several `#if` arms: each way in which these go together is read, with its condition."""

from __future__ import annotations

import random
from itertools import product

import pytest

from op_lint.cpp.views import holds
from op_lint.facts import FileFacts, UnitKind
from tests.unit.cpp_reading import HEAD, read

_ATOMS = ("A", "B", "C")
_HEAD = HEAD + "void f(); void g();\n"


def _under(facts: FileFacts, assignment: dict[str, bool]) -> list[str]:
    """What a file registers in the builds in which just these macros are defined."""
    there = {unit.id for unit in facts.units if unit.kind is not UnitKind.HELPER and holds(unit.condition, assignment)}
    definitions = (row for row in facts.definitions if row.unit in there and holds(row.condition, assignment))
    kernels = (row for row in facts.implementations if row.unit in there and holds(row.condition, assignment))
    found = {f"def {row.operator} {row.text.value}" for row in definitions}
    return sorted(found | {f"impl {row.operator} {row.key}" for row in kernels})


def _is_read_whole(source: str) -> None:
    """Hold one reading of a source against readings of each of its builds."""
    facts = read(_HEAD + source)
    assert facts.unresolved == (), source
    for values in product((False, True), repeat=len(_ATOMS)):
        assignment = dict(zip(_ATOMS, values, strict=True))
        settings = "".join(f"#{'define' if value else 'undef'} {name}\n" for name, value in assignment.items())
        build = read(settings + _HEAD + source)
        assert _under(facts, assignment) == _under(build, assignment), (assignment, source)


_HEADS = "#ifdef A\nTORCH_LIBRARY_IMPL(demo, CPU, m) {\n#else\nTORCH_LIBRARY_IMPL(demo, CUDA, m) {\n#endif\n"
_ARMS = '#ifdef B\n  m.impl("g", g);\n#else\n  m.impl("h", g);\n#endif\n'
_KEYS = "#ifdef A\n#define KEY CPU\n#else\n#define KEY CUDA\n#endif\n"
_NAMES = '#ifdef C\n#define NAME "x"\n#else\n#define NAME "y"\n#endif\n'


@pytest.mark.parametrize(
    "source",
    [
        _HEADS + '  m.impl("f", f);\n' + _ARMS + "}\n",
        _HEADS + '  m.impl("f", f);\n' + _ARMS + "}\n" + _HEADS.replace("demo", "other") + _ARMS + "}\n",
        _KEYS + 'TORCH_LIBRARY_IMPL(demo, KEY, m) {\n  m.impl("f", f);\n' + _ARMS + "}\n",
        _KEYS + _NAMES + "TORCH_LIBRARY_IMPL(demo, KEY, m) {\n#ifdef B\n  m.impl(NAME, f);\n#endif\n}\n",
        _NAMES + _HEADS + "#ifdef B\n  m.impl(NAME, f);\n#endif\n}\n",
        _KEYS + '#define AT KEY\nTORCH_LIBRARY_IMPL(demo, AT, m) { m.impl("f", f); }\n',
        "#define KEY CPU\n#ifdef A\n#undef KEY\n#define KEY CUDA\n#endif\nTORCH_LIBRARY_IMPL(demo, KEY, m) {\n"
        + _ARMS
        + "}\n",
        'TORCH_LIBRARY(demo, m) {\n  m.def("f("\n#ifdef A\n    "int x"\n#else\n    "int y"\n#endif\n'
        '#ifdef B\n    ", int z"\n#endif\n    ") -> ()");\n}\n',
        "void add(torch::Library& m) {\n" + _ARMS + "}\n#ifdef A\nTORCH_LIBRARY_IMPL(demo, CPU, m) { add(m); }\n#else\n"
        "TORCH_LIBRARY_IMPL(demo, CUDA, m) { add(m); }\n#endif\n",
        '#ifdef A\nvoid add(torch::Library& m) { m.def("x() -> ()"); }\n#else\n'
        'void add(torch::Library& m) { m.def("y() -> ()"); }\n#endif\n'
        "TORCH_LIBRARY(demo, m) {\n#ifdef B\nadd(m);\n#endif\n}\n",
        '#ifdef A\n#define ADD(n) m.def(n "() -> ()")\n#else\n#define ADD(n) m.def(n "(int x) -> ()")\n#endif\n'
        'TORCH_LIBRARY(demo, m) {\nADD("f");\n#ifdef B\nADD("g");\n#endif\n#ifdef C\nADD("h");\n#endif\n}\n',
        "#if defined(A)\nTORCH_LIBRARY(one, m) {\n#elif defined(B)\nTORCH_LIBRARY(two, m) {\n#else\n"
        'TORCH_LIBRARY(three, m) {\n#endif\n  m.def("f() -> ()");\n#ifndef C\n  m.def("g() -> ()");\n#endif\n}\n',
    ],
)
def test_what_goes_together(source: str) -> None:
    _is_read_whole(source)


def test_an_arm_with_nothing_but_comments_is_not_read() -> None:
    arms = "#ifdef OFF\n// #define ADD(m, n) m.def(n)\n#else\n#define ADD(m, n) m.def(n)\n#endif\n"
    facts = read(_HEAD + arms + 'TORCH_LIBRARY(demo, m) {\n  ADD(m, "f() -> ()");\n}\n')
    assert (len(facts.definitions), facts.unresolved) == (1, ())


def test_more_ways_than_are_read_are_said() -> None:
    arms = "".join(f'#ifdef X{n}\n  "int x{n}"\n#endif\n' for n in range(6))
    facts = read(_HEAD + 'TORCH_LIBRARY(demo, m) {\n  m.def("f("\n' + arms + '  ") -> ()");\n}\n')
    assert len(facts.definitions) == 16
    assert {row.reason for row in facts.unresolved} == {"too many conditions: this arm was not read"}


@pytest.mark.parametrize("seed", range(16))
def test_made_up_sources(seed: int) -> None:
    _is_read_whole(_made_up(random.Random(seed)))


def _made_up(source: random.Random) -> str:
    """Blocks with heads, keys, names and calls that hang on `A`, `B` and `C`."""
    parts = []
    if source.random() < 0.5:
        parts.append(_KEYS.replace("#ifdef A", f"#if{source.choice(('', 'n'))}def {source.choice(_ATOMS)}"))
    else:
        parts.append("#define KEY CPU\n")
    parts.append(_NAMES.replace("#ifdef C", f"#ifdef {source.choice(_ATOMS)}"))
    helper = "".join(_statement(source, n, source.choice(_ATOMS)) for n in range(2))
    parts.append(f"void add(torch::Library& m) {{\n{helper}}}\n")
    for number in range(source.randint(1, 2)):
        head = f"TORCH_LIBRARY_IMPL(demo{number}, KEY, m) {{\n"
        if source.random() < 0.4:
            other = f"TORCH_LIBRARY_IMPL(demo{number}, XPU, m) {{\n"
            head = f"#ifdef {source.choice(_ATOMS)}\n{head}#else\n{other}#endif\n"
        body = "".join(_statement(source, 10 + n, source.choice(_ATOMS)) for n in range(3))
        call = (
            f"#ifdef {source.choice(_ATOMS)}\n  add(m);\n#endif\n"
            if number and source.random() < 0.5
            else "  add(m);\n"
        )
        parts.append(f"{head}{body}{call}}}\n")
    return "".join(parts)


def _statement(source: random.Random, number: int, atom: str) -> str:
    name = source.choice(("NAME", f'"n{number}"', f'NAME "{number}"'))
    text = f"  m.impl({name}, f);\n"
    return source.choice(
        (text, f"#ifdef {atom}\n{text}#endif\n", f'#ifndef {atom}\n{text}#else\n  m.impl("e{number}", g);\n#endif\n')
    )
