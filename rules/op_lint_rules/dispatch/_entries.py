"""Workspace registrations and the entries of the computed table that they end up in."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.registration import Registration
from op_lint.dispatch.table import Table
from op_lint.facts import OperatorName
from op_lint.program import Kernel, Program
from op_lint.tables import Tables
from op_lint.together import Together


def certain_tables(program: Program) -> Iterator[tuple[OperatorName, Table]]:
    """The tables of the operators whose registrations in the workspace are all there in one process for certain."""
    if program.installed is None or program.in_torch:
        return
    tables = Tables(program, program.installed)
    for operator in program.operators:
        kernels = [kernel for found in program.kernels_of(operator).values() for kernel in found]
        if not kernels or not all(kernel.certain for kernel in kernels) or program.may_be_implemented(operator):
            continue
        if any(program.together(kernels[0], other) is not Together.YES for other in kernels[1:]):
            continue
        table = tables.table(operator)
        if table is not None:
            yield operator, table


def kernel_of(program: Program, operator: OperatorName, registration: Registration) -> Kernel | None:
    """The registration in the sources that a table's registration was made of; None for one of torch's own."""
    for kernel in program.kernels_of(operator).get(program.key(registration.key), ()):
        if (kernel.place.path, kernel.place.line) == (registration.path, registration.line):
            return kernel
    return None
