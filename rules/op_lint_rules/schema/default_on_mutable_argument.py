"""OPL110."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.convert import CUSTOM_OPS
from op_lint.findings import Finding, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint.schema.model import Schema
from op_lint_rules.schema._versions import is_of_some_torch


class DefaultOnMutableArgument(Rule):
    """An argument that the operator writes to has a default value.

    ## What it does
    Reports a default (`out=None`) on an argument that is written to, of operators made by `torch.library.custom_op` or
    `triton_op`, where the sources are held against a torch up to 2.12. Operators that are defined by `define` or in C++
    are left alone, since nothing counts the mutations of these that way, and so are those under a test of the version.

    ## Why it is bad
    Up to torch 2.12 a call of such a custom operator that leaves the argument out raises IndexError: the wrapper that
    counts mutations looks for it among the arguments given. It does so, too, where the default itself is passed.

    ## Example
    ```python title="ops.py"
    import torch

    @torch.library.custom_op("demo::fill", mutates_args={"out"})
    def fill(x: torch.Tensor, out: torch.Tensor | None = None) -> None:
        if out is not None:
            out.copy_(x)
    ```

    ## Use instead
    ```python title="ops.py"
    import torch

    @torch.library.custom_op("demo::fill", mutates_args={"out"})
    def fill(x: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(x)
    ```

    ## References
    - torch/_library/custom_ops.py
    """

    code = "OPL110"
    name = "default-on-mutable-argument"
    severity = Severity.WARNING
    needs = frozenset({Need.TORCH})
    until = (2, 12)

    def check(self, program: Program) -> Iterator[Finding]:
        """Every such default."""
        version = program.torch_version
        if version is None or version > self.until:
            return
        for definition in program.definitions:
            fact = definition.fact
            if definition.unit.macro not in CUSTOM_OPS or is_of_some_torch(fact.condition):
                continue
            schema = parsed(schema_text(fact).value)
            for argument in schema.arguments if isinstance(schema, Schema) else ():
                if argument.is_written and argument.default is not None:
                    yield self.finding(
                        schema_text(fact).place_of(argument.span.start, argument.span.end),
                        f"`{argument.name}` of `{fact.operator}` is written to and has a default, which breaks calls "
                        f"that leave it out in torch {version[0]}.{version[1]}: remove the default",
                    )
