"""OPL105."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition
from op_lint.findings import Finding, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint.schema.model import Kind, Schema, SchemaError, Span, Type
from op_lint_rules.schema._versions import REFUSED_UNTIL, is_of_some_torch, too_new_type

_WORDS = {Kind.SYM_BOOL: "SymBool"}
_CURES = {
    "PyObject": "pass a `str`, an `int` or a tensor instead, or keep it out of the operator's arguments",
    "SymBool": "write `bool`",
}


class SchemaTypeTooNew(Rule):
    """A schema type that the torch in question does not know yet.

    ## What it does
    Reports types in schema strings that only later versions of torch parse than the one that the sources are held
    against: the installed one, or the one that the configuration names as `torch-version`. Definitions under a test of
    the version, or of what torch has, are left alone, and so are those in a `try`.

    ## Why it is bad
    With that torch, loading the library aborts with "unknown type specifier".

    ## Example
    ```python title="ops.py"
    import torch

    torch.library.define("demo::run", "(Tensor x, PyObject mode) -> Tensor")
    ```

    ## Use instead
    ```python title="ops.py"
    import torch

    torch.library.define("demo::run", "(Tensor x, str mode) -> Tensor")
    ```

    ## References
    - torch/csrc/jit/frontend/schema_type_parser.cpp
    """

    code = "OPL105"
    name = "schema-type-too-new"
    severity = Severity.WARNING
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every such type in every schema string."""
        if program.torch_version is None:
            return
        for definition in program.definitions:
            if is_of_some_torch(definition.condition):
                continue
            for word, span in _new_types(definition.fact):
                if program.torch_version <= REFUSED_UNTIL[word]:
                    yield self._too_new(definition.fact, word, span, program.torch_version)

    def _too_new(self, fact: Definition, word: str, span: Span, version: tuple[int, int]) -> Finding:
        return self.finding(
            schema_text(fact).place_of(span.start, span.end),
            f"torch {version[0]}.{version[1]} does not know the schema type `{word}`, so `{fact.operator}` cannot be "
            f"defined with it: {_CURES[word]}",
            notes=('torch says: "unknown type specifier"',),
        )


def _new_types(fact: Definition) -> Iterator[tuple[str, Span]]:
    result = parsed(schema_text(fact).value)
    if isinstance(result, SchemaError):
        word = too_new_type(schema_text(fact).value, result)
        if word is not None:
            yield word, result.span
    elif isinstance(result, Schema):
        for item in (*result.arguments, *result.returns):
            for part in _parts(item.type):
                if part.kind in _WORDS:
                    yield _WORDS[part.kind], part.span


def _parts(type_: Type) -> Iterator[Type]:
    yield type_
    for element in type_.elements:
        yield from _parts(element)
