"""The registry as a matrix of operators by dispatch keys: which keys it has, and what a call finds in a cell."""

from __future__ import annotations

from op_lint.dispatch.errors import META
from op_lint.dispatch.keys import KeyKind
from op_lint.dispatch.table import Entry, Reason
from op_lint.program import Program

_COLUMNS = ("CPU", "CUDA", META, "AutogradCPU", "AutogradCUDA")
"""The keys that every matrix shows; those that the sources register to are added."""

_STATES = {
    Reason.KERNEL: "kernel",
    Reason.DEFAULT_BACKEND: "composite",
    Reason.NESTED: "composite",
    Reason.MATH: "composite",
    Reason.BATCHED: "composite",
    Reason.AUTOGRAD: "alias",
    Reason.AMBIGUOUS: "ambiguous",
    Reason.FALLBACK: "fallback",
    Reason.MISSING: "missing",
}


def columns_of(program: Program) -> tuple[str, ...]:
    """The keys of the usual matrix: backends first, then the others, each in the dispatcher's order."""
    keys = program.keys
    used = {key for operator in program.operators for key in program.kernels_of(operator)}
    if keys is None:
        return tuple(dict.fromkeys((*_COLUMNS[:3], *sorted(used))))
    wanted = {*_COLUMNS, *used}
    runtime = [key for key in keys.runtime if key in wanted]
    return tuple(sorted(runtime, key=lambda key: keys.kind(key) is not KeyKind.BACKEND))


def state_of(entry: Entry) -> str:
    """What a call finds: `kernel`, `composite`, `alias`, `fallback`, `fallthrough`, `ambiguous` or `missing`.

    Torch's own fallback at Meta only says that there is no kernel (torch 2.13): that is a missing one, and so is what
    `custom_op` registers in the place of a fake.
    """
    if entry.fallthrough:
        return "fallthrough"
    if entry.registration is not None and entry.registration.refusal:
        return "missing"
    if entry.key == META and entry.reason is Reason.FALLBACK:
        return "missing"
    return _STATES[entry.reason]
