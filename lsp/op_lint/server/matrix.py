"""The registry as a matrix for clients: operators by dispatch keys, and what a call finds in each cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from op_lint.dispatch.keys import DispatchKeys
from op_lint.dispatch.table import Table
from op_lint.facts import KernelKind, OperatorName, UseKind
from op_lint.matrix import columns_of, state_of
from op_lint.naming import kernel_word, schema_of
from op_lint.program import Kernel, Program
from op_lint.server.locations import Locate
from op_lint.server.snapshot import Snapshot


class MatrixQuery(msgspec.Struct, frozen=True):
    """What a client asks for: the operators of one namespace, or other columns than the usual ones."""

    namespace: str | None = None
    keys: tuple[str, ...] | None = None


def matrix(snapshot: Snapshot, query: MatrixQuery, locate: Locate) -> Iterator[dict[str, Any]]:
    """The rows of the matrix, one for each operator that the sources define or implement, sorted by name."""
    columns = column_keys(snapshot.program, query)
    for operator in snapshot.program.operators:
        if query.namespace in (None, operator.namespace):
            yield _row(snapshot, operator, columns, locate)


def heading(snapshot: Snapshot, query: MatrixQuery) -> dict[str, Any]:
    """What stands over the rows: the revision they are of, the torch, and the columns."""
    program = snapshot.program
    keys = program.keys
    return {
        "root": str(snapshot.project.root),
        "revision": snapshot.revision,
        "torch": program.installed.version if program.installed else None,
        "namespaces": sorted({operator.namespace for operator in program.operators}),
        "devices": sorted(keys.facts.devices) if keys else [],
        "keys": [{"key": key, "kind": _kind(keys, key)} for key in column_keys(program, query)],
    }


def column_keys(program: Program, query: MatrixQuery) -> tuple[str, ...]:
    """The columns: those that were asked for, or the usual ones."""
    return columns_of(program) if query.keys is None else query.keys


def _kind(keys: DispatchKeys | None, key: str) -> str | None:
    return keys.kind(key).value if keys is not None and (keys.is_runtime(key) or keys.is_alias(key)) else None


def _row(snapshot: Snapshot, operator: OperatorName, columns: Sequence[str], locate: Locate) -> dict[str, Any]:
    program = snapshot.program
    own = program.kernels_of(operator)
    table = snapshot.table(operator)
    definitions = program.definitions_of(operator)
    uses = [use for use in snapshot.uses_of(operator) if use.kind in (UseKind.CALL, UseKind.REFERENCE)]
    return {
        "op": str(operator),
        "namespace": operator.namespace,
        "name": operator.name,
        "overload": operator.overload,
        "schema": schema_of(program, operator),
        "definitions": [locate(each.fact.name_place) for each in definitions],
        "uses": len(uses),
        "kernels": [_kernel(key, each, locate) for key, found in own.items() for each in found],
        "cells": {key: _cell(key, table, own.get(key, ()), locate) for key in columns},
    }


def _kernel(key: str, registered: Kernel, locate: Locate) -> dict[str, Any]:
    kernel = registered.fact.kernel
    assert kernel is not None
    return {
        "key": key,
        "kernel": kernel_word(kernel),
        "kind": kernel.kind.value,
        "condition": str(registered.condition),
        "location": locate(registered.fact.name_place),
    }


def _cell(key: str, table: Table | None, own: Sequence[Kernel], locate: Locate) -> dict[str, Any]:
    """One cell. Its location is that of the workspace's own kernel, where that is what a call finds."""
    last = own[-1] if own else None
    kernel = last.fact.kernel if last is not None else None
    shown = {
        "kernel": kernel_word(kernel) if kernel else None,
        "kind": kernel.kind.value if kernel else None,
        "location": locate(last.fact.name_place) if last is not None else None,
    }
    if table is None or not table.keys.is_runtime(key):
        # Without a torch only what is written is known: what stands in for a missing kernel is not.
        state = None if kernel is None else "fallthrough" if kernel.kind is KernelKind.FALLTHROUGH else "kernel"
        return {"state": state, "reason": None, **shown}
    entry = table[key]
    if kernel is None and entry.registration is not None:
        shown["kernel"] = entry.registration.kernel or None
        shown["kind"] = entry.registration.kind.value
        if entry.registration.path is not None:
            shown["location"] = locate.line(entry.registration.path, entry.registration.line)
    return {"state": state_of(entry), "reason": entry.reason.value, **shown}
