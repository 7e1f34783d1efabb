"""OPL105."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch


def found(schema: str, version: str | None, guard: str = "") -> list[str]:
    """What the rule says of a schema in line 3, or in line 4 under a guard of the preprocessor."""
    definition = f'TORCH_LIBRARY(demo, m) {{\n  m.def("{schema}");\n}}\n'
    if guard:
        definition = f"#if {guard}\n{definition}#endif\n"
    files = {"ops.cpp": f"#include <torch/library.h>\n{definition}"}
    return [each.message for each in findings("OPL105", files, torch(version) if version else None)]


def in_python(text: str, version: str = "2.13") -> list[str]:
    return lines(findings("OPL105", {"ops.py": f"import torch\n{text}"}, torch(version)))


DEFINE = 'torch.library.define("demo::f", "(Tensor x, PyObject mode) -> Tensor")\n'


@pytest.mark.parametrize(
    ("type_", "version", "cure"),
    [
        ("PyObject", "2.13", "pass a `str`, an `int` or a tensor instead, or keep it out of the operator's arguments"),
        ("PyObject", "2.4", "pass a `str`, an `int` or a tensor instead, or keep it out of the operator's arguments"),
        ("SymBool", "2.4", "write `bool`"),
    ],
)
def test_a_torch_that_does_not_parse_it(type_: str, version: str, cure: str) -> None:
    assert found(f"f(Tensor x, {type_} p) -> Tensor", version) == [
        f"torch {version} does not know the schema type `{type_}`, so `demo::f` cannot be defined with it: {cure}"
    ]


def test_where_it_is() -> None:
    text = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("f(Tensor x, SymBool? b) -> SymBool[]"); }\n'
    places = [each.place for each in findings("OPL105", {"ops.cpp": text}, torch("2.4"))]
    assert [text[place.start : place.end] for place in places] == ["SymBool", "SymBool"]
    assert [place.start for place in places] == [text.index("SymBool?"), text.index("SymBool[]")]


@pytest.mark.parametrize(
    ("schema", "version"),
    [
        ("f(Tensor x, SymBool b) -> Tensor", "2.5"),
        ("f(Tensor x, SymInt n, SymFloat s) -> Tensor", "2.4"),
        ("f(Tensor PyObject, Tensor SymBool) -> Tensor", "2.4"),
        ("f(Tensor x, Mode mode) -> Tensor", "2.13"),
        ("f(Tensor x, PyObject mode) -> Tensor", None),
        ("f", "2.13"),
    ],
)
def test_what_that_torch_knows_or_what_is_no_such_type(schema: str, version: str | None) -> None:
    assert found(schema, version) == []


@pytest.mark.parametrize(
    ("schema", "guard", "expected"),
    [
        ("f(Tensor x, SymBool b) -> ()", "TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 5", 0),
        ("f(Tensor x, SymBool b) -> ()", "defined(TORCH_2_5)", 0),
        ("f(Tensor x, SymBool b) -> ()", "defined(USE_CUDA)", 1),
        ("f(Tensor x, PyObject b) -> ()", "TORCH_VERSION_MINOR >= 20", 0),
    ],
)
def test_under_a_condition(schema: str, guard: str, expected: int) -> None:
    assert len(found(schema, "2.4", guard)) == expected


@pytest.mark.parametrize(
    "guard",
    [
        'if torch.__version__ >= "2.20":\n    {}',
        'if Version(torch.__version__) >= Version("2.20"):\n    {}',
        "if TORCH_2_20:\n    {}",
        'if hasattr(torch.library, "opaque"):\n    {}',
        "try:\n    {}except RuntimeError:\n    pass\n",
    ],
)
def test_under_a_condition_in_python(guard: str) -> None:
    assert in_python(guard.format(DEFINE)) == []


def test_in_python() -> None:
    assert in_python(DEFINE) == ["ops.py:2"]
    assert in_python(f"if use_modes():\n    {DEFINE}") == ["ops.py:3"]
    assert in_python('torch.library.define("demo::f", schema())\n') == []


def test_no_other_rule_speaks_of_it() -> None:
    files = {"ops.py": f"import torch\n{DEFINE}"}
    assert findings("OPL101", files, torch("2.13")) == []
    unknown = {"ops.py": f"import torch\n{DEFINE.replace('PyObject', 'Mode')}"}
    assert lines(findings("OPL101", unknown, torch("2.13"))) == ["ops.py:2"]
