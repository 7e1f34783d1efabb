"""Uses of operators in Python that may be meant to fail: under a guard, in a `try`, on another platform."""

from __future__ import annotations

import re
from collections.abc import Iterable

from op_lint.condition import Condition, atoms
from op_lint.facts import OperatorUse, UseKind
from op_lint.program import Program

_FAILURES = frozenset(
    {"AttributeError", "BaseException", "Exception", "ImportError", "NotImplementedError", "RuntimeError"}
)

_ENVIRONMENT = re.compile(
    r"hasattr|getattr|find_spec|find_library|version|is_available|available|installed|platform|environ|import |^no "
    r"|exists|isfile|supports?_|has_|HAS_|USE_|ENABLE|enabled|\.hip\b|\.cuda\b|is_(?:cpu|cuda|rocm|hip|xpu|npu|hpu|tpu|mps)"
    r"|device|backend|sys\.|torch\.backends|_dispatch_has",
)
"""What conditions say that ask where the code runs, or with what, rather than about its data."""


def asks_for_environment(condition: Condition) -> bool:
    """Whether a condition may be there because an operator exists in some builds or versions only."""
    return any(_ENVIRONMENT.search(text) for text in atoms(condition))


def may_be_caught(caught: Iterable[str]) -> bool:
    """Whether the error of a use is among the exceptions that the code expects."""
    return any(name.rpartition(".")[2] in _FAILURES for name in caught)


def doubted(program: Program) -> frozenset[tuple[str, str]]:
    """The operators (namespace and name) of which the sources ask whether they exist, or that they put in place."""
    return replaced(program) | frozenset(named(use) for use in program.uses if use.kind is UseKind.GUARD)


def replaced(program: Program) -> frozenset[tuple[str, str]]:
    """The operators (namespace and name) in whose place the sources put something (`torch.ops.ns.op = function`)."""
    return frozenset(named(use) for use in program.uses if use.kind is UseKind.ASSIGNMENT)


def named(use: OperatorUse) -> tuple[str, str]:
    """Namespace and name of the operator that a use names."""
    return use.operator.namespace, use.operator.name
