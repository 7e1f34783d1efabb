"""Words for things that several features speak of."""

from __future__ import annotations

from op_lint.dispatch.keys import IMPLICIT
from op_lint.facts import OperatorName
from op_lint.program import Program


def keys_with_kernels(program: Program, name: OperatorName) -> tuple[str, ...]:
    """The keys at which the sources register a kernel, in the order of the dispatcher where it is known."""
    keys = tuple(program.kernels_of(name))
    if program.keys is None:
        return tuple(sorted(keys))
    order = {key: index for index, key in enumerate(program.keys.runtime)}
    return tuple(sorted(keys, key=lambda key: (order.get(key, len(order)), key != IMPLICIT, key)))
