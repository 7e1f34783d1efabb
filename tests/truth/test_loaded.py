"""What op-lint reads in a source against what torch has registered once g++ has compiled it and torch has loaded it.

Both ways, with nothing left over: operators with schema, alias analysis, tags and Python module, kernels with key, kind
and C++ signature, backend fallbacks, and for each the file and line that torch names.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import msgspec
import pytest

from op_lint.condition import atoms, evaluate
from op_lint.cpp import CppOptions, CppReader
from op_lint.facts import (
    CppType,
    Definition,
    Fallback,
    FileFacts,
    Implementation,
    Kernel,
    KernelKind,
    Signature,
    Unit,
    UnitKind,
)
from op_lint.installed.dump import parse_fallbacks, parse_operator
from op_lint.installed.model import InstalledKernel, place_of
from op_lint.schema.cpp_meaning import meaning
from op_lint.schema.printer import format_type
from tests.truth.registration_sources import (
    SOURCES,
    RegistrationSource,
    built_libraries,
    project_files,
    registration_sources,
    truths_of,
    why_nothing_compiles,
)
from tests.truth.torch_process import run_script

REASON = why_nothing_compiles()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

LOADED = registration_sources("load")
IMPLICIT = "CompositeImplicitAutograd"

Row = Definition | Implementation | Fallback
Where = tuple[str, int] | None
"""The file's name and the 1-based line of `registered at`; None where torch keeps no place."""


class DefinitionRow(msgspec.Struct, frozen=True, order=True):
    """An operator with a schema. `schema` is as torch prints it, or what it was inferred from."""

    operator: str
    schema: str
    alias_analysis: str
    tags: tuple[str, ...]
    python_module: str
    where: Where


class KernelRow(msgspec.Struct, frozen=True, order=True):
    """A kernel of an operator. `form` is `fallthrough`, `boxed` or the types that torch infers from a signature."""

    operator: str
    key: str
    form: str
    where: Where


class FallbackRow(msgspec.Struct, frozen=True, order=True):
    """A backend fallback. `form` is `fallthrough` or `boxed`."""

    key: str
    form: str
    where: Where


class Registered(msgspec.Struct, frozen=True):
    """All that one source registers, sorted."""

    definitions: list[DefinitionRow]
    kernels: list[KernelRow]
    fallbacks: list[FallbackRow]


class Existing:
    """The facts of a source that exist under the macros of its mark, in the words of the dump."""

    def __init__(self, source: RegistrationSource, facts: FileFacts) -> None:
        rows: list[Row] = [*facts.definitions, *facts.implementations, *facts.fallbacks]
        truths = truths_of(source, (atom for row in rows for atom in atoms(row.condition)))

        def exists(row: Row) -> bool:
            truth = evaluate(row.condition, truths)
            assert truth is not None, f"{row.condition} is neither true nor false under {source.flags}"
            return truth

        self.defines = source.defines
        self.units = {unit.id: unit for unit in facts.units}
        self.definitions = list(filter(exists, facts.definitions))
        self.implementations = list(filter(exists, facts.implementations))
        self.fallbacks = list(filter(exists, facts.fallbacks))
        self.unresolved = facts.unresolved

    def operator(self, row: Definition | Implementation) -> str:
        """The operator's full name; a namespace that the build gives has the value that the mark gives it."""
        unit = self.units[row.unit]
        if unit.namespace_macro is None or row.explicit_namespace is not None:
            return str(row.operator)
        return str(msgspec.structs.replace(row.operator, namespace=self.defines[unit.namespace_macro]))

    def full_schema(self, row: Definition) -> str | None:
        """The schema with its namespace; None where torch infers it."""
        if row.schema is None:
            return None
        namespace = self.operator(row).partition("::")[0]
        text = row.schema.value
        return text if row.explicit_namespace is not None else f"{namespace}::{text.lstrip()}"

    def schemas(self) -> list[str]:
        """The schemas that the source gives."""
        return sorted({schema for row in self.definitions if (schema := self.full_schema(row)) is not None})

    def where(self, row: Row) -> Where:
        """Where the block is."""
        return _unit_where(self.units[row.unit])

    def registered(self, printed: Mapping[str, str]) -> Registered:
        """All of it; `printed` gives each schema as torch prints it."""
        return Registered(
            sorted(self._definition(row, printed) for row in self.definitions),
            sorted(self._kernels()),
            sorted(FallbackRow(str(row.key), _form(row.kernel), self.where(row)) for row in self.fallbacks),
        )

    def without_unresolved(self, there: Registered) -> Registered:
        """What torch has, but for what it has more in blocks where something is unresolved: in any block, where it is
        not known in which.
        """
        read = self.registered(defaultdict(str))
        anywhere = any(row.unit is None for row in self.unresolved)
        open_blocks = {None if row.unit is None else _unit_where(self.units[row.unit]) for row in self.unresolved}

        def is_closed(where: Where) -> bool:
            return not anywhere and where not in open_blocks

        names = {row.operator for row in read.definitions}
        kernels = {(row.operator, row.key) for row in read.kernels}
        return Registered(
            [row for row in there.definitions if is_closed(row.where) or row.operator in names],
            [row for row in there.kernels if is_closed(row.where) or (row.operator, row.key) in kernels],
            there.fallbacks,
        )

    def _definition(self, row: Definition, printed: Mapping[str, str]) -> DefinitionRow:
        legacy = self.units[row.unit].kind is UnitKind.LEGACY
        schema = self.full_schema(row)
        return DefinitionRow(
            self.operator(row),
            "inferred" if schema is None else printed[schema],
            row.alias_analysis or ("CONSERVATIVE" if legacy or schema is None else "FROM_SCHEMA"),
            tuple(sorted(row.tags)),
            row.python_module or "",
            self.where(row),
        )

    def _kernels(self) -> Iterator[KernelRow]:
        for defined in self.definitions:
            if defined.kernel is not None:
                key = defined.key or IMPLICIT
                yield KernelRow(self.operator(defined), key, _form(defined.kernel), self.where(defined))
        for row in self.implementations:
            yield KernelRow(self.operator(row), row.key, _form(row.kernel), self.where(row))


def _unit_where(unit: Unit) -> Where:
    return None if unit.kind is UnitKind.LEGACY else (PurePath(unit.place.path).name, unit.place.line)


def _form(kernel: Kernel) -> str:
    if kernel.kind is not KernelKind.KERNEL or kernel.stable:
        return "fallthrough" if kernel.kind is KernelKind.FALLTHROUGH else "boxed"
    return "signature not read" if kernel.signature is None else inferred_types(kernel.signature)


def inferred_types(signature: Signature) -> str:
    """The types of the schema that torch infers from a signature; every class is `class`."""
    returned = signature.returns
    returns = list(returned.arguments) if returned.name == "std::tuple" else [returned] * (returned.name != "void")
    arguments = ", ".join(_type_text(parameter.type) for parameter in signature.parameters)
    return f"({arguments}) -> ({', '.join(map(_type_text, returns))})"


def _type_text(cpp: CppType) -> str:
    means = meaning(cpp)
    return f"no schema type: {cpp}" if means is None else _with_plain_classes(format_type(means))


def _with_plain_classes(schema: str) -> str:
    return re.sub(r"__torch__\.torch\.classes\.[\w.]*", "class", schema)


def dispatcher_says(answer: Mapping[str, Any], inferred: Container[str]) -> Registered:
    """What torch has registered; `inferred` are the operators whose schema the source does not give."""
    there, before = Registered([], [], []), Registered([], [], [])
    for name, (old, new) in answer["operators"].items():
        tags, stub = tuple(answer["tags"].get(name, ())), answer["stubs"].get(name, "")
        for rows, dump in ((before, old), (there, new)):
            operator = parse_operator(name, dump, tags, str)
            if operator.schema is not None and operator.origin is not None:
                schema = "inferred" if name in inferred else operator.schema
                analysis = str(operator.alias_analysis)
                rows.definitions.append(DefinitionRow(name, schema, analysis, tags, stub, _where(operator.origin)))
            rows.kernels.extend(
                KernelRow(name, row.key, _dumped_form(row), _where(row.origin)) for row in operator.kernels
            )
    there.fallbacks.extend(
        FallbackRow(row.key, _dumped_form(row), _where(row.origin))
        for row in parse_fallbacks("\n".join(answer["fallbacks"]), str)
    )
    return Registered(
        sorted((Counter(there.definitions) - Counter(before.definitions)).elements()),
        sorted((Counter(there.kernels) - Counter(before.kernels)).elements()),
        sorted(there.fallbacks),
    )


def _where(origin: str) -> Where:
    place = place_of(origin)
    return None if place is None else (PurePath(place[0]).name, place[1])


def _dumped_form(kernel: InstalledKernel) -> str:
    if kernel.signature is None:
        return "fallthrough" if kernel.kind is KernelKind.FALLTHROUGH else "boxed"
    arguments, _, returns = _with_plain_classes(re.sub(r" _\d+\b", "", kernel.signature)).rpartition(" -> ")
    return f"{arguments} -> {returns if returns.startswith('(') else f'({returns})'}"


@pytest.fixture(scope="module")
def existing() -> dict[str, Existing]:
    reader = CppReader(SOURCES, project_files())
    return {source.name: Existing(source, reader.read(source.name)) for source in LOADED}


@pytest.fixture(scope="module")
def answers(existing: dict[str, Existing], request: pytest.FixtureRequest) -> dict[str, Any]:
    """What torch says of each source."""
    assert request.config.cache is not None
    libraries = built_libraries(LOADED, request.config.cache.mkdir("op-lint-truth"))
    requests = {
        name: {"library": str(library), "schemas": existing[name].schemas()} for name, library in libraries.items()
    }
    answers: dict[str, Any] = run_script("load_libraries.py", requests)
    return answers


@pytest.mark.parametrize("source", LOADED, ids=lambda source: source.name)
def test_torch_has_registered_what_the_source_says(
    source: RegistrationSource, existing: dict[str, Existing], answers: dict[str, Any]
) -> None:
    answer, facts = answers[source.name], existing[source.name]
    assert answer["error"] is None
    assert bool(facts.unresolved) == source.unresolved
    there = dispatcher_says(answer, {facts.operator(row) for row in facts.definitions if row.schema is None})
    assert facts.registered(answer["schemas"]) == facts.without_unresolved(there)


@pytest.mark.parametrize("source", [source for source in LOADED if source.defines], ids=lambda source: source.name)
def test_macros_of_the_build_may_be_known(
    source: RegistrationSource, existing: dict[str, Existing], answers: dict[str, Any]
) -> None:
    """The same with the macros configured: then namespaces are names, and arms that are not compiled are not there."""
    answer = answers[source.name]
    options = CppOptions(defines=tuple(f"{name}={value}" for name, value in source.defines.items()))
    facts = Existing(source, CppReader(SOURCES, project_files(), options).read(source.name))
    assert [unit.namespace_macro for unit in facts.units.values()] == [None] * len(facts.units)
    assert facts.registered(answer["schemas"]) == existing[source.name].registered(answer["schemas"])
