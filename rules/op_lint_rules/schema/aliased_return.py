"""OPL107."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition
from op_lint.findings import Finding, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.schema.model import Argument, Kind, Schema
from op_lint_rules.schema._out import is_out_overload

_CORE = frozenset({"aten", "prim", "prims"})


class AliasedReturn(Rule):
    """A custom operator whose return is declared to alias an argument.

    ## What it does
    Reports alias annotations on returns (`-> Tensor(a!)`, `-> Tensor(a)`) of operators outside of PyTorch's own
    namespaces. Out variants (the overload `out`, the tag `out`) and, since torch 2.13, operators with the tag `inplace`
    are left alone, and so are operators that only annotate arguments (`Tensor!`, `Tensor(a!)[]?`).

    ## Why it is bad
    Functionalization refuses such an operator, and with it torch.compile, torch.export and opcheck. Eager mode works,
    which is why it is found late.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale_(Tensor(a!) x, float s) -> Tensor(a!)");
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale_(Tensor(a!) x, float s) -> ()");
    }
    ```

    ## References
    - torch/_subclasses/functional_tensor.py
    - torch/_library/utils.py, `is_functional_schema`
    """

    code = "OPL107"
    name = "aliased-return"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """The first aliased return of every custom operator."""
        if program.in_torch:
            return
        for definition in program.definitions:
            fact = definition.fact
            schema = parsed(schema_text(fact).value)
            if not isinstance(schema, Schema) or fact.operator.namespace in _CORE:
                continue
            aliased = next((item for item in schema.returns if item.alias is not None), None)
            if aliased is not None and not _is_out_variant(fact) and "inplace" not in fact.tags:
                yield self._aliased(fact, schema, aliased)

    def _aliased(self, fact: Definition, schema: Schema, returned: Argument) -> Finding:
        written = [argument for argument in schema.arguments if argument.is_written]
        cure = "write `-> ()`, and let the kernel return void"
        if not written:
            cure = "return a new tensor, and clone it in the kernel"
        elif _is_in_place(schema, written):
            cure += ", or, since torch 2.13, tag the operator `torch.Tag.inplace`"
        return self.finding(
            schema_text(fact).place_of(returned.span.start, returned.span.end),
            f"`{fact.operator}` returns an alias of an argument, which torch.compile and torch.export refuse in a "
            f"custom operator: {cure}",
        )


def _is_in_place(schema: Schema, written: list[Argument]) -> bool:
    """Whether torch takes the tag `inplace` (`_validate_inplace_schema` in torch/library.py, torch 2.13)."""
    first, (returned, *others) = schema.arguments[0], schema.returns
    if written != [first] or first.keyword_only or others or {first.type.kind, returned.type.kind} != {Kind.TENSOR}:
        return False
    return first.alias is not None and returned.alias is not None and first.alias.before == returned.alias.before


def _is_out_variant(fact: Definition) -> bool:
    """An out variant: torch 2.13 takes it with the tag `out`, and nobody compiles one that is not of the right form.

    What is wrong with that form is OPL106's business.
    """
    return is_out_overload(fact.operator.overload) or "out" in fact.tags
