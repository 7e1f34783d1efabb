"""The merged program: what is asked of it, from facts made by hand."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from msgspec.structs import replace

from op_lint.condition import Atom, Not
from op_lint.facts import (
    Language,
    Lifetime,
    OperatorName,
    Place,
    Problem,
    PythonFacts,
    PythonFunction,
    PythonLibrary,
    UnitKind,
    Unresolved,
)
from op_lint.program import Program, local_name, parse_name
from op_lint.together import Together
from tests.unit.builders import File, torch

CUDA = Atom("USE_CUDA")


def name(text: str) -> OperatorName:
    return parse_name(f"demo::{text}")


def one_definition(path: str, namespace: str = "demo", **fields: Any) -> File:
    file = File(path)
    file.define(file.unit(namespace=namespace, **fields), "f")
    return file


class TestOrder:
    def test_files_may_come_in_any_order(self) -> None:
        files = [one_definition(path).facts() for path in ("b.cpp", "a.py", "a.cpp")]
        for order in permutations(files):
            program = Program(order)
            assert [found.file for found in program.definitions] == ["a.cpp", "b.cpp", "a.py"]
            assert [unit.place.path for unit in program.units] == ["a.cpp", "b.cpp", "a.py"]

    def test_collisions_name_the_first(self) -> None:
        file = File("a.cpp")
        unit = file.unit()
        first, second, third = (file.define(unit, "f") for _ in range(3))
        program = Program([file.facts()])
        pairs = [(later.fact, earlier.fact) for later, earlier in program.collisions(program.definitions)]
        assert pairs == [(second, first), (third, first)]


class TestIndices:
    def test_operators(self) -> None:
        file = File("a.cpp")
        unit = file.unit(UnitKind.IMPL, key="CPU")
        file.implement(unit, "g")
        file.define(file.unit(), "f")
        program = Program([file.facts()])
        assert program.operators == (name("f"), name("g"))
        assert len(program.definitions_of(name("f"))) == len(program.implementations_of(name("g"))) == 1
        assert program.definitions_of(name("g")) == ()
        assert program.implementations_of(name("f")) == ()
        assert program.defined_in("demo") == (name("f"),)

    def test_a_kernel_without_a_key_is_composite(self) -> None:
        file = File("a.cpp")
        unit = file.unit()
        implementation = file.implement(unit, "f")
        defined = file.define(unit, "f", kernel=implementation.kernel)
        (key,) = Program([file.facts()]).kernels_of(name("f")).items()
        assert key[0] == "CompositeImplicitAutograd"
        assert {kernel.fact for kernel in key[1]} == {defined, implementation}

    def test_keys_have_one_name(self) -> None:
        file = File("a.cpp")
        file.implement(file.unit(UnitKind.IMPL, key="Autocast"), "f")
        file.implement(file.unit(UnitKind.IMPL, key="AutocastCUDA"), "f")
        assert [*Program([file.facts()], torch()).kernels_of(name("f"))] == ["AutocastCUDA"]

    def test_units_and_fallbacks(self) -> None:
        file = File("a.cpp")
        file.fallback(file.unit(UnitKind.IMPL, None, "PrivateUse1"))
        unit = file.unit()
        program = Program([file.facts()])
        assert program.units_of("demo") == (unit,)
        assert [found.fact.key for found in program.fallbacks_at("PrivateUse1")] == ["PrivateUse1"]
        assert program.fallbacks_at("XLA") == ()


class TestTogether:
    def test_the_condition_of_the_unit_counts(self) -> None:
        file = File("a.cpp")
        for condition in (CUDA, Not(CUDA)):
            file.define(file.unit(condition=condition), "f")
        program = Program([file.facts()])
        assert program.together(*program.definitions) is Together.NO
        assert program.together(*program.units) is Together.NO
        assert not any(found.certain for found in program.definitions)

    def test_facts_in_a_header_are_compiled_with_the_file_that_has_them(self) -> None:
        sources = [File("ops.cpp"), File("ops_stable.cpp")]
        for source in sources:
            unit = source.unit(UnitKind.LIBRARY)
            source.add("definitions", replace(source.define(unit, "f"), place=Place("ops.h", 3, 30, 40)))
        program = Program([source.facts() for source in sources])
        in_header = [found for found in program.definitions if found.place.path == "ops.h"]
        assert {found.file for found in in_header} == {"ops.cpp", "ops_stable.cpp"}
        assert program.together(*in_header) is Together.UNKNOWN

    def test_one_place_is_one_registration(self) -> None:
        file = File("a.cpp")
        unit = file.unit()
        first = file.define(unit, "f")
        file.add("definitions", first)
        program = Program([file.facts()])
        assert list(program.collisions(program.definitions)) == []

    def test_python_functions_that_nobody_calls_may_be_alternatives(self) -> None:
        def project(at_import: bool) -> Program:
            file = File("ops.py")
            unit = file.unit(UnitKind.PYTHON)
            rows = [file.define(unit, "f") for _ in range(2)]
            functions = tuple(
                PythonFunction(f"register_{row.place.line}", row.place, row.place, at_import=at_import) for row in rows
            )
            return Program([file.facts(python=PythonFacts("ops", functions=functions))])

        for at_import, expected in ((True, Together.YES), (False, Together.UNKNOWN)):
            program = project(at_import)
            assert program.together(*program.definitions) is expected


class TestRoles:
    def test_of_python_libraries(self) -> None:
        file = File("ops.py")
        units = [file.unit(UnitKind.PYTHON) for _ in range(4)]
        libraries = tuple(
            PythonLibrary(unit.place, unit.id, kind, Lifetime.KEPT)
            for unit, kind in zip(units, ("DEF", "IMPL", None), strict=False)
        )
        program = Program([file.facts(python=PythonFacts("ops", libraries=libraries))])
        assert [program.role(unit) for unit in program.units] == [
            UnitKind.LIBRARY,
            UnitKind.IMPL,
            UnitKind.PYTHON,
            UnitKind.FRAGMENT,
        ]

    def test_of_helpers(self) -> None:
        file = File("a.cpp")
        file.unit(UnitKind.HELPER)
        file.unit(UnitKind.HELPER, key="CPU")
        program = Program([file.facts()])
        assert [program.role(unit) for unit in program.units] == [UnitKind.FRAGMENT, UnitKind.IMPL]


class TestAbsence:
    def test_of_a_plain_program(self) -> None:
        assert not Program([one_definition("a.cpp").facts()]).may_be_defined(name("g"))

    @pytest.mark.parametrize(
        ("namespace", "operator", "expected"),
        [
            ("demo", None, True),
            (None, None, True),
            ("other", None, False),
            ("demo", name("g"), True),
            ("demo", name("h"), False),
        ],
    )
    def test_unresolved_definitions(self, namespace: str | None, operator: OperatorName | None, expected: bool) -> None:
        file = one_definition("a.cpp")
        file.add("unresolved", Unresolved("def", "a table", file.place(), namespace=namespace, operator=operator))
        assert Program([file.facts()]).may_be_defined(name("g")) is expected

    def test_python_wrappers(self) -> None:
        file = File("wrapper.py")
        file.add("unresolved", Unresolved("def", "a parameter", file.place(), language=Language.PYTHON))
        program = Program([one_definition("a.cpp").facts(), file.facts()])
        assert program.may_be_defined(name("g"))
        assert not program.may_be_defined(name("g"), by_strangers=False)

    def test_unresolved_implementations_hide_nothing(self) -> None:
        file = one_definition("a.cpp")
        file.add("unresolved", Unresolved("impl", "a table", file.place(), namespace="demo"))
        assert not Program([file.facts()]).may_be_defined(name("g"))

    @pytest.mark.parametrize(("code", "expected"), [("template-text", True), ("missing-include", False)])
    def test_files_that_were_not_read(self, code: str, expected: bool) -> None:
        file = one_definition("a.cpp")
        file.add("problems", Problem(code, "...", file.place()))
        assert Program([file.facts()]).may_be_defined(name("g")) is expected

    def test_a_macro_may_be_any_namespace(self) -> None:
        symbolic = one_definition("a.cpp", "NAMESPACE", namespace_macro="NAMESPACE")
        program = Program([symbolic.facts()])
        assert program.may_be_defined(name("f"))
        assert not program.may_be_defined(name("g"))
        assert not program.may_be_defined(OperatorName("NAMESPACE", "g"))
        other = one_definition("b.cpp")
        other.define(other.unit(), "g")
        assert Program([symbolic.facts(), other.facts()]).may_be_defined(OperatorName("NAMESPACE", "g"))


class TestNearest:
    def test_within_the_namespace(self) -> None:
        file = File("a.cpp")
        for each in ("scale_rows", "scale_columns"):
            file.define(file.unit(), each)
        program = Program([file.facts()])
        assert program.nearest_operator(name("scale_row")) == name("scale_rows")
        assert program.nearest_operator(name("scale_nothing")) is None

    def test_a_namesake_elsewhere(self) -> None:
        program = Program([one_definition("a.cpp", "other").facts()])
        assert program.nearest_operator(name("f")) == OperatorName("other", "f")

    def test_among_those_of_torch(self) -> None:
        program = Program([], torch())
        assert program.nearest_operator(OperatorName("aten", "addmmm")) == OperatorName("aten", "addmm")


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("aten::add.Tensor", OperatorName("aten", "add", "Tensor")),
        ("aten::mm", OperatorName("aten", "mm")),
        ("mm", OperatorName("", "mm")),
    ],
)
def test_names(text: str, operator: OperatorName) -> None:
    assert parse_name(text) == operator
    assert local_name(operator) == text.removeprefix("aten::")


def test_torch_version() -> None:
    assert Program([]).torch_version is None
    assert Program([], torch()).torch_version == (2, 13)
    assert Program([], torch("2.4.0")).torch_version == (2, 4)


def test_pytorch_itself_is_known_by_its_folders() -> None:
    assert Program([one_definition("aten/src/ATen/native/ops.cpp").facts()]).in_torch
    assert not Program([one_definition("csrc/aten/ops.cpp").facts()]).in_torch
