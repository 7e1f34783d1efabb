"""Workspace registrations and the entries of the computed table that they end up in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from op_lint.dispatch.registration import Registration
from op_lint.dispatch.table import Shape
from op_lint.facts import OperatorName
from op_lint.program import Kernel, Program
from op_lint.tables import tables_of
from op_lint.together import Together


@lru_cache(maxsize=1)
def certain_operators(program: Program) -> tuple[tuple[OperatorName, Shape], ...]:
    """The operators whose kernels in the workspace are all there in one process for certain, with their tables' shapes.

    Made once for the rules that ask. They look at a shape first, as most show that there is nothing to say.
    """
    return tuple(_certain_operators(program))


def _certain_operators(program: Program) -> Iterator[tuple[OperatorName, Shape]]:
    tables = tables_of(program)
    if tables is None or program.in_torch:
        return
    meeting = _Meeting(program)
    for operator in program.operators:
        kernels = [kernel for found in program.kernels_of(operator).values() for kernel in found]
        if kernels and meeting.is_certain(kernels) and not program.may_be_implemented(operator):
            yield operator, tables.shape(operator)


class _Meeting:
    """Whether kernels are certain to be in one process. Of those that are certain only their blocks matter."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._blocks: dict[tuple[int, int], bool] = {}

    def is_certain(self, kernels: Iterable[Kernel]) -> bool:
        first, *others = kernels
        return first.certain and all(other.certain and self._meet(first, other) for other in others)

    def _meet(self, first: Kernel, other: Kernel) -> bool:
        blocks = id(first.unit), id(other.unit)
        verdict = self._blocks.get(blocks)
        if verdict is None:
            verdict = self._blocks[blocks] = self._program.together(first, other) is Together.YES
        return verdict


def kernel_of(program: Program, operator: OperatorName, registration: Registration) -> Kernel | None:
    """The registration in the sources that a table's registration was made of; None for one of torch's own."""
    for kernel in program.kernels_of(operator).get(program.key(registration.key), ()):
        if (kernel.place.path, kernel.place.line) == (registration.path, registration.line):
            return kernel
    return None
