"""OPL110."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.findings import Finding, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint.schema.model import Schema


class DefaultOnMutableArgument(Rule):
    """An argument that the operator writes to has a default value.

    ## What it does
    Reports a default (`Tensor(a!)? out=None`) on an argument that is written to, of operators defined in Python, where
    the sources are held against a torch up to 2.12.

    ## Why it is bad
    Up to torch 2.12 a call of such a custom operator that leaves the argument out fails: the wrapper that counts
    mutations looks for it among the arguments given.

    ## Example
    ```python title="ops.py"
    import torch

    torch.library.define("demo::fill", "(Tensor x, Tensor(a!)? out=None) -> ()")
    ```

    ## Use instead
    ```python title="ops.py"
    import torch

    torch.library.define("demo::fill", "(Tensor x, Tensor(a!)? out) -> ()")
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
            schema = parsed(schema_text(fact).value)
            for argument in schema.arguments if isinstance(schema, Schema) else ():
                if argument.is_written and argument.default is not None:
                    yield self.finding(
                        schema_text(fact).place_of(argument.span.start, argument.span.end),
                        f"`{argument.name}` of `{fact.operator}` is written to and has a default, which breaks calls "
                        f"that leave it out in torch {version[0]}.{version[1]}: remove the default",
                    )
