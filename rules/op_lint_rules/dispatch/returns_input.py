"""OPL403."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, Implementation, KernelKind, Language, PythonFunction, PythonResult, ResultKind
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import bound, parsed, schema_text
from op_lint.program import Program, Registered
from op_lint.rule import Rule
from op_lint.schema.model import Argument, Kind, Schema
from op_lint_rules._words import where

_CORE = frozenset({"aten", "prim", "prims"})


class ReturnsInput(Rule):
    """A kernel returns one of its arguments, and its schema says that the result is new.

    ## What it does
    Reports Python kernels and fakes that return a tensor argument, or a view of one, where the schema has no alias
    annotation; and schemas that return an optional argument, which is the caller's tensor in one call and a new one in
    the next. What a function computes is not followed; a parameter that gets another value is not reported.

    ## Why it is bad
    torch.compile takes the result for new memory: it may reuse the argument's, or lose what is written to either.
    `custom_op` raises RuntimeError at the call; kernels registered otherwise go wrong without a word, and only opcheck
    says so.

    ## Example
    ```python title="ops.py"
    import torch

    torch.library.define("demo::scale", "(Tensor x, float s) -> Tensor")


    @torch.library.impl("demo::scale", "cpu")
    def scale(x, s):
        if s == 1.0:
            return x
        return x * s


    @torch.library.register_fake("demo::scale")
    def _(x, s):
        return torch.empty_like(x)
    ```

    ## Use instead
    ```python title="ops.py"
    import torch

    torch.library.define("demo::scale", "(Tensor x, float s) -> Tensor")


    @torch.library.impl("demo::scale", "cpu")
    def scale(x, s):
        if s == 1.0:
            return x.clone()
        return x * s


    @torch.library.register_fake("demo::scale")
    def _(x, s):
        return torch.empty_like(x)
    ```

    ## References
    - `torch.library.opcheck` in torch/library.py
    - torch/testing/_internal/optests
    """

    code = "OPL403"
    name = "returns-input"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Schemas that return what may not be there, then Python kernels that return an argument."""
        if program.in_torch:
            return
        for definition in program.definitions:
            yield from self._optional(definition)
        functions = {
            function.place: function
            for file in program.files
            if file.python is not None
            for function in file.python.functions
            if function.results
        }
        for implementation in program.implementations:
            defined = implementation.fact.kernel.defined
            function = functions.get(defined) if defined is not None else None
            of_python = implementation.fact.language is Language.PYTHON and not implementation.in_python
            if function is not None and of_python:
                yield from self._kernel(program, implementation, function)

    def _optional(self, definition: Registered[Definition]) -> Iterator[Finding]:
        fact = definition.fact
        schema = parsed(schema_text(fact).value)
        if not isinstance(schema, Schema) or fact.operator.namespace in _CORE or "out" in fact.tags:
            return
        for returned in schema.returns:
            labels = set(returned.alias.before) if returned.alias is not None else set()
            for argument in schema.arguments:
                aliased = argument.alias is not None and bool(labels & set(argument.alias.before))
                if aliased and argument.is_written and argument.type.kind is Kind.OPTIONAL:
                    place = schema_text(fact).place_of(returned.span.start, returned.span.end)
                    yield self.finding(
                        place,
                        f"`{fact.operator}` returns its argument `{argument.name}`, which it writes, and something new "
                        "where that is None: return nothing (`-> ()`) or always a new tensor, or, since torch 2.13, "
                        "make it keyword-only and tag the operator `torch.Tag.out`",
                    )
                    return

    def _kernel(
        self, program: Program, implementation: Registered[Implementation], function: PythonFunction
    ) -> Iterator[Finding]:
        fact = implementation.fact
        if fact.kernel.kind is not KernelKind.KERNEL or fact.key.startswith(("Autocast", "FuncTorch", "Python")):
            return
        for each in bound(program, implementation):
            for result in function.results:
                found = _alias(result, function, each.schema)
                if found is not None:
                    returned, argument = found
                    what = "" if returned.kind is ResultKind.ARGUMENT else "a view of "
                    yield self.finding(
                        returned.place,
                        f"this {fact.key} kernel of `{fact.operator}` returns {what}its argument `{argument.name}`, "
                        "and the schema says that the result is new: return a copy (`.clone()`)",
                        related=(
                            Related(
                                fact.name_place, f"it is registered here ({where(fact.name_place, returned.place)})"
                            ),
                        ),
                        notes=(f"its schema is `{each.written}`",),
                    )
                    break


def _alias(result: PythonResult, function: PythonFunction, schema: Schema) -> tuple[PythonResult, Argument] | None:
    """What is returned of the arguments, where the schema says that it is new; the first of several."""
    returned = result.elements if len(schema.returns) > 1 and result.count == len(schema.returns) else (result,)
    for each, declared in zip(returned, schema.returns, strict=False):
        if declared.type.kind is not Kind.TENSOR or declared.alias is not None or each.parameter is None:
            continue
        if each.kind not in (ResultKind.ARGUMENT, ResultKind.VIEW):
            continue
        names = [parameter.name for parameter in function.parameters if parameter.kind in ("positional", "any")]
        index = names.index(each.parameter) if each.parameter in names else len(schema.arguments)
        if index < len(schema.arguments) and schema.arguments[index].type.kind is Kind.TENSOR:
            return each, schema.arguments[index]
    return None
