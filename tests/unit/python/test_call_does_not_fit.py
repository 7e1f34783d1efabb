"""OPL608."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch

SCHEMA = "scale(Tensor x, float s, int[] dims, *, bool exact=False) -> Tensor"
DEFINED = f'import torch\nlib = torch.library.Library("demo", "DEF")\nlib.define("{SCHEMA}")\n'
PICKS = DEFINED.replace(f'lib.define("{SCHEMA}")', 'lib.define("pick.int(Tensor x, int i) -> Tensor")') + (
    'lib.define("pick.str(Tensor x, str s) -> Tensor")\n'
)


def found(call: str, defined: str = DEFINED) -> list[str]:
    """Where the rule speaks of a call in line 6 of a module."""
    return lines(findings("OPL608", {"ops.py": f"{defined}def run(x, given, more):\n    pass\n    {call}\n"}))


@pytest.mark.parametrize(
    ("arguments", "at", "what"),
    [
        ("x, 2.0, [0], True", "True", "`exact` can be given by name only: write `exact=...`"),
        ("x, 2.0, [0], True, 1", "1", "its schema has 4 arguments, and more are given"),
        ("x, 2.0", "scale", "the argument `dims` is missing: its schema has `int[] dims` without a default"),
        ("x, 2.0, [0], exakt=True", "exakt=True", "its schema has no argument `exakt`; did you mean `exact`?"),
        ("x, 2.0, [0], s=3.0", "s=3.0", "`s` is given twice, by position and by name"),
        ('x, "2", [0]', '"2"', "`s` is of type `float`, which takes no `str`"),
        ("x, 2.0, dims=0", "dims=0", "`dims` is of type `int[]`, which takes no `int`"),
    ],
)
def test_what_is_wrong_and_where(arguments: str, at: str, what: str) -> None:
    call = f"torch.ops.demo.scale({arguments})"
    source = f"{DEFINED}def run(x):\n    return {call}\n"
    (finding,) = findings("OPL608", {"ops.py": source})
    assert finding.message == f"`demo::scale` cannot be called like this: {what}"
    assert source.encode()[finding.place.start : finding.place.end].decode() == at
    assert [(related.place.line, related.message) for related in finding.related] == [(3, "it is defined here")]
    assert finding.notes == (f"its schema is `{SCHEMA}`",)
    assert finding.fix is None


def test_every_call_is_reported_once() -> None:
    source = f"{DEFINED}def run(x):\n    for _ in x:\n        torch.ops.demo.scale(torch.ops.demo.scale(x), 1, [0])\n"
    assert lines(findings("OPL608", {"ops.py": source})) == ["ops.py:6"]


@pytest.mark.parametrize(
    "call",
    [
        "torch.ops.demo.scale(x, 2, (0,), exact=True)",
        "torch.ops.demo.scale(x=x, s=given, dims=[])",
        "torch.ops.demo.scale(*given)",
        "torch.ops.demo.scale(x, **more)",
        "torch.ops.demo.scale(*given, exact=True)",
        "torch.ops.demo.scale(given, given, given, exact=given)",
        "torch.ops.demo.scale(x, 2.0, [*given])",
        "torch.ops.demo.scale(None, 2.0, [0])",
        "torch.ops.demo.scale(x, True, [0])",
        "torch.ops.demo.scale(x, 2.0, [0], exact=None)",
        "torch.ops.demo.scale",
        "torch.ops.demo.other(x, 1, 2, 3)",
        "torch.ops.stranger.scale(1, 2, 3)",
        "print('torch.ops.demo.scale(x)')",
    ],
)
def test_what_fits_or_may_fit(call: str) -> None:
    assert found(call) == []


def test_what_is_unpacked_is_counted_as_nothing() -> None:
    assert found("torch.ops.demo.scale(*given, exakt=True)") == ["ops.py:6"]
    assert found("torch.ops.demo.scale(x, 2.0, [0], True, 1, *given)") == ["ops.py:6"]


class TestOverloads:
    @pytest.mark.parametrize("call", ["pick(x, 2)", 'pick(x, "a")', "pick(x, given)", "pick.str(x, 'a')"])
    def test_one_of_them_takes_it(self, call: str) -> None:
        assert found(f"torch.ops.demo.{call}", PICKS[:-1]) == []

    def test_none_of_them_takes_it(self) -> None:
        (finding,) = findings("OPL608", {"ops.py": PICKS + "torch.ops.demo.pick(torch.ones(1), 2.5)\n"})
        assert finding.message == (
            "`demo::pick` cannot be called like this: none of its 2 overloads takes these arguments"
        )
        assert finding.place.line == 5
        assert finding.notes == ()

    def test_the_one_that_is_named(self) -> None:
        (finding,) = findings("OPL608", {"ops.py": PICKS + "torch.ops.demo.pick.int(torch.ones(1), 'a')\n"})
        assert finding.message == (
            "`demo::pick.int` cannot be called like this: `i` is of type `int`, which takes no `str`"
        )

    def test_one_that_is_not_known(self) -> None:
        """What a loop defines may be a third overload; of an overload by its name there is one only."""
        more = PICKS + "for schema in open('schemas'):\n    lib.define(schema)\n"
        assert lines(findings("OPL608", {"ops.py": more + "torch.ops.demo.pick(1, 2.5)\n"})) == []
        assert lines(findings("OPL608", {"ops.py": more + "torch.ops.demo.pick.int(1, 'a')\n"})) == ["ops.py:7"]


class TestSeveralDefinitions:
    """Sources may define an operator once for each build; a call may be for one of them."""

    CPP = (
        "#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {\n#ifdef USE_ROCM\n"
        '  m.def("scale(Tensor x, int n) -> Tensor");\n#else\n  m.def("scale(Tensor x) -> Tensor");\n#endif\n}\n'
    )

    @pytest.mark.parametrize(("arguments", "expected"), [("x", []), ("x, 1", []), ("x, 1, 2", ["ops.py:4"])])
    def test_one_takes_it(self, arguments: str, expected: list[str]) -> None:
        use = f"import torch\n\ndef run(x):\n    torch.ops.demo.scale({arguments})\n"
        assert lines(findings("OPL608", {"ops.cpp": self.CPP, "ops.py": use})) == expected

    def test_one_is_for_other_environments(self) -> None:
        use = "import torch\n\ndef run(x):\n    if torch.version.hip:\n        torch.ops.demo.scale(x, 1, 2)\n"
        assert findings("OPL608", {"ops.cpp": self.CPP, "ops.py": use}) == []
        assert lines(findings("OPL608", {"ops.cpp": self.CPP, "ops.py": use.replace("torch.version.hip", "x")})) == [
            "ops.py:5"
        ]

    def test_one_that_cannot_be_read(self) -> None:
        cpp = self.CPP.replace("scale(Tensor x, int n)", "scale(Tensor x, Widget n)")
        use = "import torch\n\ndef run(x):\n    torch.ops.demo.scale(x, 1, 2)\n"
        assert findings("OPL608", {"ops.cpp": cpp, "ops.py": use}) == []


class TestExpectedToFail:
    @pytest.mark.parametrize(
        "error",
        ["RuntimeError", "Exception", "(ValueError, RuntimeError)", "NotImplementedError", "builtins.Exception"],
    )
    def test_the_error_is_caught(self, error: str) -> None:
        body = f"try:\n        torch.ops.demo.scale(x)\n    except {error}:\n        pass"
        assert found(body) == []

    def test_another_is(self) -> None:
        body = "try:\n        torch.ops.demo.scale(x)\n    except ValueError:\n        pass"
        assert found(body) == ["ops.py:7"]

    def test_in_a_test(self) -> None:
        head = "import pytest\n" + DEFINED
        calls = "def test():\n    with pytest.raises(RuntimeError):\n        torch.ops.demo.scale(1)\n"
        assert findings("OPL608", {"test_ops.py": head + calls}) == []
        method = (
            "import unittest\n\nclass Test(unittest.TestCase):\n    def test(self):\n"
            "        with self.assertRaises(RuntimeError):\n            torch.ops.demo.scale(1)\n"
        )
        assert findings("OPL608", {"test_ops.py": head + method}) == []


class TestTorch:
    def test_its_own_operators(self) -> None:
        use = {"ops.py": "import torch\n\ndef run(x):\n    torch.ops.aten.relu(x, x)\n    torch.ops.aten.add(x, 1)\n"}
        assert lines(findings("OPL608", use, torch())) == ["ops.py:4"]
        assert findings("OPL608", use) == []

    def test_numbers_for_tensors(self) -> None:
        use = {"ops.py": "import torch\ntorch.ops.aten.add(1, 2)\n"}
        assert findings("OPL608", use, torch()) == []


@pytest.mark.parametrize(
    "assignment",
    [
        "torch.ops.demo.scale = lambda *rest: rest",
        'setattr(torch.ops.demo, "scale", lambda *rest: rest)',
        "ops = torch.ops.demo; ops.scale = lambda *rest: rest",
    ],
)
def test_the_sources_put_something_in_its_place(assignment: str) -> None:
    call = "def run(x):\n    torch.ops.demo.scale(x)\n    torch.ops.demo.scale.default(x)\n"
    files = {"ops.py": DEFINED, "run.py": f"import torch\n{call}"}
    assert lines(findings("OPL608", files)) == ["run.py:3", "run.py:4"]
    assert findings("OPL608", {**files, "instead.py": f"import torch\n{assignment}\n"}) == []


def test_half_a_line() -> None:
    for call in ("torch.ops.demo.scale(", "torch.ops.demo.scale(x,", "torch.ops.demo.scale(x, 2.0"):
        assert findings("OPL608", {"ops.py": f"{DEFINED}def run(x):\n    {call}\n\n\ndef other(): pass\n"}) == []
