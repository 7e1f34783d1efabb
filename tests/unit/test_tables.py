"""The tables of a program's operators, and what they keep so that asking of every operator is cheap."""

from __future__ import annotations

import pytest

from op_lint.dispatch.table import Table
from op_lint.facts import OperatorName
from op_lint.program import Program
from op_lint.tables import Tables, tables_of
from op_lint_rules.dispatch._entries import certain_operators
from tests.loading import extension
from tests.unit.builders import findings, read, torch
from tests.unit.sources import HEAD, define, implement


def program_of(source: str, loaded: str = "") -> Program:
    return Program(read({"ops.cpp": HEAD + source}), torch(), extension=extension(loaded, torch()) if loaded else None)


def tables(program: Program) -> Tables:
    found = tables_of(program)
    assert found is not None
    return found


A = OperatorName("demo", "a")
LOADED = """name: demo::a
schema: demo::a(Tensor x) -> Tensor
debug: registered at ops.cpp:5
XPU: registered at x.cpp:1 :: (none) [ boxed ]
"""


@pytest.mark.parametrize(
    ("source", "loaded", "operator", "expected"),
    [
        (define("a(Tensor x) -> Tensor") + implement("CPU", "a"), "", A, {"CPU"}),
        (implement("CPUTensorId", "a") + implement("Autocast", "a"), "", A, {"CPU", "AutocastCUDA"}),
        (implement("NoSuchKey", "a") + implement("CPU", "a"), "", A, {"CPU"}),
        (define("a(Tensor x) -> Tensor") + implement("CPU", "a"), LOADED, A, {"CPU", "XPU"}),
        ("TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl(\"cdist\", &f); }\n", "", OperatorName("aten", "cdist"),
         {"PrivateUse1", "CompositeImplicitAutograd"}),
    ],
)  # fmt: skip
def test_the_shape_is_that_of_the_table(source: str, loaded: str, operator: OperatorName, expected: set[str]) -> None:
    made = tables(program_of(source, loaded))
    table = made.table(operator)
    assert table is not None
    assert made.shape(operator) is table.shape
    assert made.shape(operator).registered == table.kernels.keys() >= expected


def test_operators_with_the_same_keys_share_a_shape_over_programs() -> None:
    before = tables(program_of(define("a(Tensor x) -> Tensor") + implement("CPU", "a")))
    after = tables(program_of(define("b(Tensor x, int n) -> Tensor") + implement("CPU", "b")))
    assert before.shape(A) is after.shape(OperatorName("demo", "b"))


def test_no_table_is_made_where_shapes_tell_that_nothing_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"op{number}" for number in range(20)]
    source = define(*(f"{name}(Tensor x) -> Tensor" for name in names)) + implement("CPU", *names)
    program = program_of(source)

    def refuse(*_: object) -> None:
        raise AssertionError("a table was made")

    monkeypatch.setattr(Table, "__init__", refuse)
    assert len(certain_operators(program)) == 20
    assert [each for code in ("OPL406", "OPL409", "OPL412", "OPL413") for each in findings(code, program)] == []
