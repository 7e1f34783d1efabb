"""Words for operators and kernels, for all who show them."""

from __future__ import annotations

import re

from op_lint.facts import Kernel, KernelKind, OperatorName
from op_lint.kernels import schema_text
from op_lint.program import Program
from op_lint.schema import format_schema, infer_schema
from op_lint.schema.model import Name


def schema_of(program: Program, name: OperatorName) -> str | None:
    """An operator's schema as its first definition writes it or as torch infers it; else the installed torch's."""
    definitions = program.definitions_of(name)
    for definition in definitions:
        text = _on_one_line(schema_text(definition.fact).value)
        if "(" in text:
            return text if "::" in text.partition("(")[0] else f"{name.namespace}::{text}"
    inferred = (_inferred(name, definition.fact.kernel) for definition in definitions)
    installed = program.installed_operator(name)
    return next(filter(None, inferred), installed.schema if installed else None)


def _on_one_line(schema: str) -> str:
    """A schema that is written over many lines, or with blanks inside its parentheses, as it is usually written."""
    return re.sub(r" (?=[,)\]])", "", re.sub(r"(?<=[(\[]) ", "", re.sub(r"\s+", " ", schema)))


def _inferred(name: OperatorName, kernel: Kernel | None) -> str | None:
    """The schema that a kernel gives to an operator that is defined without one."""
    if kernel is None or kernel.signature is None or kernel.kind is not KernelKind.KERNEL:
        return None
    schema = infer_schema(kernel.signature, Name(name.name, name.namespace, name.overload))
    return format_schema(schema) if schema is not None else None


def kernel_word(kernel: Kernel) -> str:
    """A kernel in a few words."""
    if kernel.kind is KernelKind.FALLTHROUGH:
        return "fallthrough"
    return kernel.word
