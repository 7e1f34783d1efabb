"""Words for operators and kernels, for all who show them."""

from __future__ import annotations

from op_lint.facts import Kernel, KernelKind, OperatorName
from op_lint.kernels import schema_text
from op_lint.program import Program


def schema_of(program: Program, name: OperatorName) -> str | None:
    """An operator's schema as its first definition writes it, else as the installed torch has it."""
    for definition in program.definitions_of(name):
        text = schema_text(definition.fact).value
        if "(" in text:
            return text if "::" in text.partition("(")[0] else f"{name.namespace}::{text}"
    installed = program.installed_operator(name)
    return installed.schema if installed else None


def kernel_word(kernel: Kernel) -> str:
    """A kernel in a few words."""
    if kernel.kind is KernelKind.FALLTHROUGH:
        return "fallthrough"
    return kernel.name or kernel.kind.value
