"""OPL106."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition
from op_lint.findings import Finding, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.schema.model import Argument, Schema
from op_lint_rules.schema._out import is_out_overload, misplaced_out


class OutArgumentNotKeywordOnly(Rule):
    """An out variant whose out argument is not where PyTorch's tools look for it.

    ## What it does
    In an overload called `out` (or `something_out`), the arguments that are written to have to be keyword-only and
    last. If the operator returns anything, they have to be plain tensors, and returned in their order; but not those
    called `_scratch_...`. Beside them others that are not keyword-only may be written to. Operators that write into an
    argument without being such an overload are left alone.

    ## Why it is bad
    torchgen, functionalization and ExecuTorch recognise an out variant by that form; another one is no out variant
    to them, and fails far from here.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/core/enum_tag.h>
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale.out(Tensor x, float s, Tensor(a!) out) -> Tensor(a!)", {at::Tag::out});
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/core/enum_tag.h>
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale.out(Tensor x, float s, *, Tensor(a!) out) -> Tensor(a!)", {at::Tag::out});
    }
    ```

    ## References
    - torchgen/model.py, `Arguments.out`
    - https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#annotations
    """

    code = "OPL106"
    name = "out-argument-not-keyword-only"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """The first out argument of every out overload that is not as it should be."""
        for definition in program.definitions:
            fact = definition.fact
            schema = parsed(schema_text(fact).value)
            if isinstance(schema, Schema) and is_out_overload(fact.operator.overload):
                found = misplaced_out(schema)
                if found is not None:
                    yield self._misplaced(fact, *found)

    def _misplaced(self, fact: Definition, argument: Argument, cure: str) -> Finding:
        return self.finding(
            schema_text(fact).place_of(argument.span.start, argument.span.end),
            f"`{fact.operator}` is an out variant, and PyTorch's tools do not see `{argument.name}` as its out "
            f"argument: {cure}",
        )
