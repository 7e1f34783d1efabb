"""Where Python names operators, loads libraries and imports modules."""

from __future__ import annotations

import pytest

from op_lint.facts import RunTime, UseKind
from op_lint.python import is_candidate, read_python, scan_imports
from tests.unit.python_facts import at, python, read, use, uses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.ops.ns.f(x)", ["ns::f* call"]),
        ("torch.ops.ns.f.default(x)", ["ns::f call"]),
        ("torch.ops.ns.f.out(x, out=y)", ["ns::f.out call"]),
        ("f = torch.ops.ns.f", ["ns::f* reference"]),
        ("ops = torch.ops.ns\nops.f(x)", ["ns::f* call"]),
        ("from torch import ops\nops.ns.f(x)", ["ns::f* call"]),
        ("from torch import ops as O\nns = O.ns\ng = ns.f\ng(x)", ["ns::f* reference", "ns::f* call"]),
        ('getattr(torch.ops.ns, "f")(x)', ["ns::f* reference", "ns::f* call"]),
        ('getattr(torch.ops, "ns").f(x)', ["ns::f* call"]),
        ('getattr(torch.ops.ns, "f", None)', ["ns::f* guard"]),
        ('hasattr(torch.ops.ns, "f")', ["ns::f* guard"]),
        ('getattr(getattr(torch.ops, "ns"), "f").default(x)', ["ns::f* reference", "ns::f call"]),
        ("torch.ops.ns.f = lambda x: x", ["ns::f* assignment"]),
        ('setattr(torch.ops.ns, "f", lambda x: x)', ["ns::f* assignment"]),
        ("setattr(torch.ops.ns, name, f)\nsetattr(torch.ops, 'ns', f)\nsetattr(x, 'f', 1)", []),
        ('torch.library.register_fake("ns::f", fn)', ["ns::f string"]),
        ('torch.library.get_kernel("ns::f.out", "CPU")', ["ns::f.out string"]),
        ("torch.library.opcheck(torch.ops.ns.f.default, ())", ["ns::f reference"]),
        ("torch.ops.ns.f.overloads()", ["ns::f* reference"]),
        ("torch.ops.ns.f.default._schema", ["ns::f reference"]),
        ("torch.ops.aten.__and__.Tensor(x, y)", ["aten::__and__.Tensor call"]),
        ("call(torch.ops.ns.f, [torch.ops.ns.g.out for _ in x])", ["ns::f* reference", "ns::g.out reference"]),
        ("x = {torch.ops.ns.f: 1, **more, **{torch.ops.ns.g: 2}}", ["ns::f* reference", "ns::g* reference"]),
        ("match x:\n    case torch.ops.ns.f.default:\n        pass", ["ns::f reference"]),
        ("def f(x=torch.ops.ns.f):\n    return lambda y: torch.ops.ns.g(y)", ["ns::f* reference", "ns::g* call"]),
        ("async def f(x):\n    await torch.ops.ns.f(x)\n    yield torch.ops.ns.g(x)", ["ns::f* call", "ns::g* call"]),
        (
            "class C:\n    op = torch.ops.ns.f\n    def g(self): return torch.ops.ns.g(self)",
            ["ns::f* reference", "ns::g* call"],
        ),
        ("@torch.library.custom_op('ns::f', mutates_args=())\ndef f(x: int) -> int: ...\nf(1)", ["ns::f call"]),
        ("torch.ops.ns", []),
        ("torch.ops.load_library('x')", []),
        ("print('torch.ops.ns.f')  # torch.ops.ns.f", []),
        ("import torch.ops.ns.f", []),
        ("if False:\n    torch.ops.ns.f(x)", []),
    ],
)
def test_uses(text: str, expected: list[str]) -> None:
    assert uses(read(text + "\n")) == expected


def test_where_and_how_an_operator_is_called() -> None:
    text = (
        "import torch\ny = torch.ops.ns.f.out(x, 1, 2.0, 'a', None, True, [1], (), {}, -3, *rest, out=f'{y}', **more)\n"
    )
    (found,) = python(read_python("ops.py", text.encode())).uses
    assert at(text.encode(), found.place) == "torch.ops.ns.f.out"
    assert at(text.encode(), found.name_place) == "f"
    assert found.arguments is not None
    assert [(argument.name, argument.kind) for argument in found.arguments] == [
        (None, ""),
        (None, "int"),
        (None, "float"),
        (None, "str"),
        (None, "None"),
        (None, "bool"),
        (None, "list"),
        (None, "tuple"),
        (None, "dict"),
        (None, "int"),
        (None, "*"),
        ("out", "str"),
        (None, "**"),
    ]


def test_when_a_use_runs_and_what_guards_it() -> None:
    facts = read(
        """
        torch.ops.ns.a(x)
        if __name__ == "__main__":
            torch.ops.ns.b(x)
        def f():
            try:
                torch.ops.ns.c(x)
            except (AttributeError, RuntimeError):
                pass
            if hasattr(torch.ops.ns, "d"):
                torch.ops.ns.d(x)
        """
    )
    a, b, c, guard, d = python(facts).uses
    assert [found.run for found in (a, b, c)] == [RunTime.IMPORT, RunTime.MAIN, RunTime.FUNCTION]
    assert a.function is None
    assert c.function is not None
    assert c.caught == ("AttributeError", "RuntimeError")
    assert not d.caught
    assert str(d.condition) == "hasattr(torch.ops.ns, 'd')"
    assert (guard.kind, guard.api) == (UseKind.GUARD, "hasattr")


@pytest.mark.parametrize(
    ("text", "path", "swallowed", "caught"),
    [
        ("torch.ops.load_library('a.so')", "a.so", False, ()),
        ("torch.classes.load_library(path='a.so')", "a.so", False, ()),
        ("import os\ntorch.ops.load_library(os.path.join(HERE, 'a.so'))", None, False, ()),
        ("import os\ntorch.ops.load_library(os.path.join('lib', 'a.so'))", "lib/a.so", False, ()),
        ("try:\n    torch.ops.load_library('a.so')\nexcept OSError:\n    pass", "a.so", True, ("OSError",)),
        (
            "try:\n    torch.ops.load_library('a.so')\nexcept OSError as e:\n    raise X from e",
            "a.so",
            False,
            ("OSError",),
        ),
        ("try:\n    torch.ops.load_library('a.so')\nexcept:\n    log()", "a.so", True, ("BaseException",)),
        (
            "import contextlib\nwith contextlib.suppress(OSError):\n    torch.ops.load_library('a.so')",
            "a.so",
            True,
            ("OSError",),
        ),
        ("from torch.utils.cpp_extension import load\nload(name='ext', sources=['a.cpp'])", "ext", False, ()),
        ("torch.ops.import_module('pkg.ops')", "pkg.ops", False, ()),
        ("load = torch.ops.load_library\nload('a.so')", "a.so", False, ()),
    ],
)
def test_loads(text: str, path: str | None, swallowed: bool, caught: tuple[str, ...]) -> None:
    (load,) = python(read(text + "\n")).loads
    assert (load.path, load.swallowed, load.caught) == (path, swallowed, caught)


def test_loads_through_a_function() -> None:
    facts = read(
        """
        from pathlib import Path
        def load(name, optional=False):
            path = Path(__file__).parent / f"lib{name}.so"
            if path.exists():
                torch.ops.load_library(str(path))
        load("a")
        load("b")
        """
    )
    loads = python(facts).loads
    assert [(load.place.line, load.path) for load in loads] == [(8, None), (9, None)]
    assert all("exists()" in str(load.condition) for load in loads)


def test_imports() -> None:
    text = """
    import torch.library as tl, os.path
    from . import a
    from ..b.c import (
        d as e,
        f,
    )
    from g import *
    if TYPE_CHECKING:
        import typed
    try:
        import h
    except ImportError:
        h = None
    def later():
        import importlib
        importlib.import_module("i.j")
    """
    facts = read("from typing import TYPE_CHECKING\n" + "\n".join(line[4:] for line in text.splitlines()), "x/y/z.py")
    imports = {(found.module, found.name, found.bound, found.relative): found for found in python(facts).imports}
    assert list(imports) == [
        ("torch", None, "torch", False),
        ("typing", "TYPE_CHECKING", "TYPE_CHECKING", False),
        ("torch.library", None, "tl", False),
        ("os.path", None, "os", False),
        ("x.y", "a", "a", True),
        ("x.b.c", "d", "e", True),
        ("x.b.c", "f", "f", True),
        ("g", "*", "*", False),
        ("h", None, "h", False),
        ("importlib", None, "importlib", False),
        ("i.j", None, "", False),
    ]
    assert imports["h", None, "h", False].caught == ("ImportError",)
    assert imports["i.j", None, "", False].run is RunTime.FUNCTION


def test_scanned_imports_are_those_of_the_parser() -> None:
    text = (
        "import os, sys as system\nfrom a.b import (c,\n  d as e,  # why\n)\nfrom . import f\nfrom ..g import h as i\n"
        "def later():\n    import j.k\n\tfrom l import *\n"
    ).replace("\t", "    ")
    parsed = python(read_python("x/y/z.py", (text + "import torch.library\n").encode())).imports[:-1]
    scanned = python(scan_imports("x/y/z.py", text.encode())).imports
    shape = [(found.module, found.name, found.bound, found.run, found.relative) for found in scanned]
    assert shape == [(found.module, found.name, found.bound, found.run, found.relative) for found in parsed]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch\ntorch.ops.ns.f(x)\n", True),
        ("from torch.library import Library\n", True),
        ("from torch import library\n", True),
        ("from torch import (\n    nn,\n    ops,\n)\n", True),
        ("from pkg.utils import direct_register_custom_op\n", True),
        ("from pkg import TorchLibraryFragment\nlib = TorchLibraryFragment('ns')\n", True),
        ('NAMES = {"ns::f": 1}\n', True),
        ('KERNELS = {"f": {"CPU": f, "CUDA": g}}\n', True),
        ("import torch\nx = torch.ones(2)\n", False),
        ("from torch import nn\nclass M(nn.Module):\n    def __init__(self): self.register_buffer('x', y)\n", False),
        ("import numpy\n", False),
        ("", False),
    ],
)
def test_candidates(text: str, expected: bool) -> None:
    assert is_candidate(text.encode()) is expected


def test_a_use_is_said_once() -> None:
    facts = read("for _ in (1, 2):\n    torch.ops.ns.f(x)\ndef g(y):\n    return torch.ops.ns.f(y)\ng(1)\ng(2)\n")
    assert [use(found) for found in python(facts).uses] == ["ns::f* call", "ns::f* call"]
