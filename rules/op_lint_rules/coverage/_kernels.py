"""Which kernels the sources have for an operator, and whether there may be more than they show."""

from __future__ import annotations

import re
from functools import cache

from op_lint.dispatch.keys import EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT
from op_lint.facts import KernelKind, OperatorName
from op_lint.program import Program

COMPOSITE = frozenset({EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT})
"""The alias keys whose kernels stand in at every backend."""

_ABOVE = re.compile(
    r"Autograd|Autocast|ADInplaceOrView|FuncTorch|Functionalize|BackendSelect|Python|Tracer|Batched|Conjugate|Negative"
)
"""Keys above the backends: a kernel there is not the one that computes."""


@cache
def is_backend(key: str) -> bool:
    """Whether a key is that of a backend (dense or not), by its name: rules that need no torch have no key table."""
    return key not in COMPOSITE and _ABOVE.match(key) is None and not key.startswith("Composite")


def backend_keys(program: Program, operator: OperatorName) -> frozenset[str]:
    """The backend keys that the sources register kernels at for an operator."""
    return frozenset(key for key in program.kernels_of(operator) if is_backend(key))


def is_composite(program: Program, operator: OperatorName) -> bool:
    """Whether an operator has a kernel that stands in for every backend."""
    return not COMPOSITE.isdisjoint(program.kernels_of(operator))


def has_fallback(program: Program, key: str) -> bool:
    """Whether the sources have a backend fallback at a key, for every operator without a kernel there."""
    return any(found.fact.kernel.kind is not KernelKind.FALLTHROUGH for found in program.fallbacks_at(key))
