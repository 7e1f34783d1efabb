"""OPL303."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, OperatorName
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program, Registered
from op_lint.rule import Rule
from op_lint.schema.fakes import has_tensor
from op_lint.schema.model import Schema
from op_lint_rules._words import where
from op_lint_rules.coverage._kernels import is_backend

_BACKWARD = ("_backward", "_bwd", "_grad", "bwd", "backward")

_FORWARD = ("_forward", "_fwd", "fwd", "forward")


class MissingAutograd(Rule):
    """An operator through which no gradient flows.

    ## What it does
    Reports operators that take tensors and return new ones, and that have neither an autograd formula nor a composite
    kernel. Operators that are called like the backward half of another one are left alone; one that has such a half
    is reported with it.

    ## Why it is bad
    Where an input requires gradients, the result does not: training goes on without this part of the model, with a
    warning at most. That is right for operators that only inference calls, and so this is a hint that has to be asked
    for.

    ## Example
    ```python title="ops.py"
    import torch


    @torch.library.custom_op("demo::square", mutates_args=())
    def square(x: torch.Tensor) -> torch.Tensor:
        return x * x


    @square.register_fake
    def _(x):
        return torch.empty_like(x)
    ```

    ## Use instead
    ```python title="ops.py"
    import torch


    @torch.library.custom_op("demo::square", mutates_args=())
    def square(x: torch.Tensor) -> torch.Tensor:
        return x * x


    @square.register_fake
    def _(x):
        return torch.empty_like(x)


    def keep(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])


    def backward(ctx, grad):
        return 2 * grad * ctx.saved_tensors[0]


    square.register_autograd(backward, setup_context=keep)
    ```

    ## References
    - `torch.library.register_autograd` in torch/library.py
    """

    code = "OPL303"
    name = "missing-autograd"
    severity = Severity.HINT
    default = False

    def check(self, program: Program) -> Iterator[Finding]:
        """The first definition of every operator that returns new tensors and has no formula."""
        for operator in program.operators:
            definitions = program.definitions_of(operator)
            if definitions and not program.may_be_implemented(operator) and _lacks_formula(program, operator):
                yield self._missing(program, operator, definitions[0])

    def _missing(self, program: Program, operator: OperatorName, definition: Registered[Definition]) -> Finding:
        backward = _backward(program, operator)
        place = definition.fact.name_place
        related: tuple[Related, ...] = ()
        half = ""
        if backward is not None:
            other = program.definitions_of(backward)[0].fact.name_place
            related = (Related(other, f"`{backward}` looks like its backward half"),)
            half = f", although there is `{backward}` ({where(other, place)})"
        return self.finding(
            place,
            f"`{operator}` has no autograd formula, so gradients stop at it{half}: register one, "
            f'`torch.library.register_autograd("{operator}", backward, setup_context=...)`, if it is used in training',
            related=related,
        )


def _lacks_formula(program: Program, operator: OperatorName) -> bool:
    kernels = program.kernels_of(operator)
    if program.installed_operator(operator) is not None or operator.name.endswith(_BACKWARD) or not kernels:
        return False
    keys = {*kernels, *program.python_kernels_of(operator)}
    if any(key.startswith("Autograd") or key == "CompositeImplicitAutograd" for key in keys):
        return False
    if not any(is_backend(key) or key.startswith("CompositeExplicit") for key in kernels):
        return False
    return all(_is_differentiable(definition) for definition in program.definitions_of(operator))


def _is_differentiable(definition: Registered[Definition]) -> bool:
    """Whether an operator takes tensors and returns new ones; that they are of floating point is not known."""
    schema = parsed(schema_text(definition.fact).value)
    if not isinstance(schema, Schema) or any(argument.is_written for argument in schema.arguments):
        return False
    takes = any(has_tensor(argument.type) for argument in schema.arguments)
    return takes and any(returned.alias is None and has_tensor(returned.type) for returned in schema.returns)


def _backward(program: Program, operator: OperatorName) -> OperatorName | None:
    """The operator of the namespace that is called like the backward half of this one."""
    stem = operator.name
    for suffix in _FORWARD:
        if stem.endswith(suffix):
            stem = stem.removesuffix(suffix)
            break
    wanted = {f"{base}{suffix}" for base in {stem, operator.name} for suffix in _BACKWARD} - {""}
    return next((found for found in program.defined_in(operator.namespace) if found.name in wanted), None)
