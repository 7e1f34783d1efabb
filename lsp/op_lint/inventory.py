"""The registry found in the source, as `op-lint ops` gives it: operators, kernels, fallbacks, registration units."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from op_lint.dispatch.keys import IMPLICIT
from op_lint.facts import Definition, FileFacts, OperatorName, Place, UseKind
from op_lint.program import Kernel, Program, Registered
from op_lint.python import implied_keys
from op_lint.sources import Sources

Wanted = Callable[[str], bool]
"""Whether a file is asked about."""


def inventory(program: Program, sources: Sources, wanted: Wanted, *, scanned: int, parsed: int) -> dict[str, Any]:
    """The registry as JSON has it: lines and columns are 1-based, an empty `condition` is always true.

    An operator is listed, whole, where any of its registrations is in a wanted file; `scanned` files were looked
    at, and `parsed` of them were worth reading.
    """
    files = [file for file in program.files if wanted(file.path)]
    return {
        "ops": [_operator(program, name, sources) for name in program.operators if _is_wanted(program, name, wanted)],
        "fallbacks": [
            {
                "key": fallback.fact.key,
                **_line(fallback.place, sources),
                "kind": fallback.fact.kernel.kind.value,
                "kernel": fallback.fact.kernel.name,
                "namespace": fallback.fact.namespace,
                "condition": str(fallback.condition),
                "spelled": _spelled(fallback.fact.spelled, sources),
                "calls": [_position(call, sources) for call in fallback.fact.calls],
            }
            for fallback in program.fallbacks
            if wanted(fallback.place.path)
        ],
        "units": [
            {
                **_line(unit.place, sources),
                "macro": unit.macro,
                "namespace": unit.namespace,
                "key": unit.key,
                "condition": str(unit.condition),
                "language": unit.language.value,
                "targets": list(program.targets_of(unit)),
                "spelled": _spelled(unit.spelled, sources),
            }
            for unit in program.units
            if wanted(unit.place.path)
        ],
        "unresolved": [
            {
                **_line(unresolved.place, sources),
                "reason": unresolved.reason,
                "what": unresolved.what,
                "namespace": unresolved.namespace,
                "key": unresolved.key,
                "operator": None if unresolved.operator is None else str(unresolved.operator),
                "condition": str(unresolved.condition),
            }
            for file in files
            for unresolved in file.unresolved
        ],
        "problems": [
            {**_line(problem.place, sources), "code": problem.code, "message": problem.message}
            for file in files
            for problem in file.problems
        ],
        "files": {"scanned": scanned, "parsed": parsed, "problems": sum(map(_has_problem, files))},
    }


def _is_wanted(program: Program, name: OperatorName, wanted: Wanted) -> bool:
    places = (
        *(definition.place for definition in program.definitions_of(name)),
        *(implementation.place for implementation in program.implementations_of(name)),
    )
    return any(wanted(place.path) for place in places)


def _has_problem(file: FileFacts) -> bool:
    return bool(file.problems)


def _operator(program: Program, name: OperatorName, sources: Sources) -> dict[str, Any]:
    definitions = program.definitions_of(name)
    schemas = (definition.fact.schema.value for definition in definitions if definition.fact.schema is not None)
    kernels: list[tuple[str, Kernel]] = [
        (definition.fact.key or IMPLICIT, definition)
        for definition in definitions
        if definition.fact.kernel is not None
    ]
    kernels += [(found.fact.key, found) for found in program.implementations_of(name)]
    return {
        "namespace": name.namespace,
        "name": name.name,
        "overload": name.overload,
        "schema": next(schemas, None),
        "definitions": [
            {
                **_position(definition.place, sources),
                "condition": str(definition.condition),
                "language": definition.fact.language.value,
                "spelled": _spelled(definition.fact.spelled, sources),
                "calls": [_position(call, sources) for call in definition.fact.calls],
                "implies": list(_implied(definition, {key for key, _ in kernels})),
            }
            for definition in definitions
        ],
        "kernels": [_kernel(key, registered, sources) for key, registered in kernels],
        "call_sites": sum(use.kind is UseKind.CALL for use in program.uses_of(name)),
    }


def _implied(definition: Registered[Definition], keys: Collection[str]) -> Collection[str]:
    """The keys at which torch registers kernels of its own with a definition; `keys` are those of the operator's."""
    schema = definition.fact.schema
    return implied_keys(definition.unit.macro, schema.value if schema else None, keys)


def uses(program: Program, name: OperatorName, sources: Sources, wanted: Wanted) -> list[dict[str, Any]]:
    """Where Python names an operator, as JSON has it; `kind` is `UseKind`, `run` is `RunTime`.

    A use that names no overload may be of any of them, and is among those of each.
    """
    return [
        {
            **_position(use.place, sources),
            "kind": use.kind.value,
            "run": use.run.value,
            "overload": None if use.packet else use.operator.overload,
            "api": use.api,
            "condition": str(use.condition),
        }
        for use in program.uses_of(name)
        if wanted(use.place.path)
    ]


def _kernel(key: str, registered: Kernel, sources: Sources) -> dict[str, Any]:
    """A kernel as JSON has it; `dispatcher` says which one has it: torch's, or only that in Python (`py_impl`)."""
    kernel = registered.fact.kernel
    return {
        "key": key,
        **_position(registered.place, sources),
        "kernel": kernel.name if kernel else None,
        "signature": str(kernel.signature) if kernel and kernel.signature else None,
        "condition": str(registered.condition),
        "language": registered.fact.language.value,
        "kind": kernel.kind.value if kernel else None,
        "spelled": _spelled(registered.fact.spelled, sources),
        "calls": [_position(call, sources) for call in registered.fact.calls],
        "dispatcher": "python" if registered.in_python else "torch",
    }


def _spelled(place: Place | None, sources: Sources) -> dict[str, Any] | None:
    """Where a macro or function that is used at a registration's place has the code of it; None where none has."""
    return None if place is None else _position(place, sources)


def _position(place: Place, sources: Sources) -> dict[str, Any]:
    location = sources.location(place)
    return {"path": location.path, "line": location.line, "column": location.column}


def _line(place: Place, sources: Sources) -> dict[str, Any]:
    return {"path": sources.shown(place.path), "line": place.line}
