"""OPL608."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import OperatorName, OperatorUse, UseKind
from op_lint.findings import Finding, Related, Severity
from op_lint.nearest import did_you_mean
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint.schema.model import Schema
from op_lint.schema.printer import format_argument, format_schema, format_type
from op_lint.schema.python_call import CallFault, CallFaultKind, call_fault
from op_lint_rules.python._schemas import schemas_of
from op_lint_rules.python._uses import asks_for_environment, may_be_caught, named, replaced


class CallDoesNotFit(Rule):
    """A call of an operator whose arguments its schema cannot take.

    ## What it does
    Reports calls `torch.ops.ns.op(...)` with too many or too few arguments, with a keyword that the schema does not
    have, and with a literal of a type that the argument cannot take; of an operator with overloads only where none of
    them fits. Values that the source does not show fit anything, and so does what is unpacked (`*args`). It follows
    torch's own binding of arguments. Operators in whose place the sources put something else are left alone.

    ## Why it is bad
    torch raises RuntimeError when the line runs.

    ## Example
    ```python title="ops.py"
    import torch

    lib = torch.library.Library("demo", "DEF")
    lib.define("scale(Tensor x, float s, *, bool exact=False) -> Tensor")
    lib.impl("scale", lambda x, s, exact=False: x * s, "CompositeExplicitAutograd")


    def doubled(x):
        return torch.ops.demo.scale(x, 2.0, True)
    ```

    ## Use instead
    ```python title="ops.py"
    import torch

    lib = torch.library.Library("demo", "DEF")
    lib.define("scale(Tensor x, float s, *, bool exact=False) -> Tensor")
    lib.impl("scale", lambda x, s, exact=False: x * s, "CompositeExplicitAutograd")


    def doubled(x):
        return torch.ops.demo.scale(x, 2.0, exact=True)
    ```

    ## References
    - `FunctionSchema::findErrorInKwargs` in aten/src/ATen/core/function_schema_inl.h
    - `createStackForSchema` in torch/csrc/jit/python/pybind_utils.h
    """

    code = "OPL608"
    name = "call-does-not-fit"
    severity = Severity.ERROR
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every call that none of the schemas that it may be of can take."""
        others = replaced(program)
        for use in program.uses:
            if use.kind is not UseKind.CALL or use.arguments is None or named(use) in others:
                continue
            if not may_be_caught(use.caught):
                yield from self._call(program, use)

    def _call(self, program: Program, use: OperatorUse) -> Iterator[Finding]:
        operators = _called(program, use)
        schemas = [schemas_of(program, operator) for operator in operators]
        if not schemas or not all(schemas) or (use.packet and program.may_be_defined(use.operator, by_strangers=False)):
            return
        faults = [
            call_fault(schema, use.arguments or (), use.operator.namespace) for found in schemas for schema in found
        ]
        if all(faults) and not (len(faults) > 1 and asks_for_environment(use.condition)):
            fault = faults[0] if len(faults) == 1 else None
            yield self._unfit(program, use, operators, schemas[0][0], fault)

    def _unfit(
        self,
        program: Program,
        use: OperatorUse,
        operators: tuple[OperatorName, ...],
        schema: Schema,
        fault: CallFault | None,
    ) -> Finding:
        given = fault.given if fault is not None else None
        what = (
            f"none of its {len(operators)} overloads takes these arguments" if fault is None else _words(fault, schema)
        )
        definitions = program.definitions_of(operators[0])
        related = tuple(Related(found.fact.name_place, "it is defined here") for found in definitions[:1])
        name = str(use.operator) if not use.packet else f"{use.operator.namespace}::{use.operator.name}"
        return self.finding(
            given.place if given is not None else use.name_place,
            f"`{name}` cannot be called like this: {what}",
            related=related,
            notes=(f"its schema is `{format_schema(schema)}`",) if fault is not None else (),
        )


def _called(program: Program, use: OperatorUse) -> tuple[OperatorName, ...]:
    """The overloads that a call may be of."""
    if use.packet:
        return program.overloads(use.operator.namespace, use.operator.name)
    return (use.operator,)


def _words(fault: CallFault, schema: Schema) -> str:
    argument, given = fault.argument, fault.given
    if fault.kind is CallFaultKind.TOO_MANY:
        return f"its schema has {_count(len(schema.arguments))}, and more are given"
    if fault.kind is CallFaultKind.UNKNOWN_NAME and given is not None:
        names = [each.name for each in schema.arguments]
        if given.name in names:
            return f"`{given.name}` is given twice, by position and by name"
        return f"its schema has no argument `{given.name}`{did_you_mean(given.name or '', names)}"
    assert argument is not None
    if fault.kind is CallFaultKind.POSITIONAL:
        return f"`{argument.name}` can be given by name only: write `{argument.name}=...`"
    if fault.kind is CallFaultKind.MISSING:
        return (
            f"the argument `{argument.name}` is missing: its schema has `{format_argument(argument)}` without a default"
        )
    kind = given.kind if given is not None else ""
    return f"`{argument.name}` is of type `{format_type(argument.type)}`, which takes no `{kind}`"


def _count(number: int) -> str:
    return f"{number} argument" + ("" if number == 1 else "s")
