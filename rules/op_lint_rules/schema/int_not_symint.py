"""OPL109."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition
from op_lint.findings import Finding, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.schema import Argument, Kind, Schema

_SIZES = frozenset({
    "size", "sizes", "shape", "length", "lengths", "rows", "cols", "columns", "height", "width", "depth", "batch",
    "batch_size", "numel", "num_tokens", "num_rows", "num_cols", "num_elements", "seq_len", "seqlen", "max_seq_len",
    "max_seqlen", "max_length", "max_lengths", "output_size", "input_size", "out_size", "total", "capacity",
})  # fmt: skip
"""Argument names that are sizes of tensors more often than not."""


class IntNotSymint(Rule):
    """An argument that is a size of a tensor is an `int`.

    ## What it does
    Reports `int`, `int?`, `int[]` and `int[]?` arguments whose names say that they are sizes (`size`, `shape`,
    `num_tokens`, `max_seqlen`, ...), of schemas that are written out. What `custom_op` makes of an annotation `int` is
    a `SymInt` already.

    ## Why it is bad
    With dynamic shapes a size is symbolic; passed as an `int` it becomes a constant of the compiled code, which is
    then compiled again for every other value.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("pad(Tensor x, int size) -> Tensor");
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("pad(Tensor x, SymInt size) -> Tensor");
    }
    ```

    ## References
    - https://pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html
    """

    code = "OPL109"
    name = "int-not-symint"
    severity = Severity.HINT
    default = False

    def check(self, program: Program) -> Iterator[Finding]:
        """Every such argument."""
        for definition in program.definitions:
            schema = parsed(schema_text(definition.fact).value)
            for argument in schema.arguments if isinstance(schema, Schema) else ():
                if argument.name.strip("_").casefold() in _SIZES and _is_int(argument):
                    yield self._plain(definition.fact, argument)

    def _plain(self, fact: Definition, argument: Argument) -> Finding:
        return self.finding(
            schema_text(fact).place_of(argument.span.start, argument.span.end),
            f"`{argument.name}` of `{fact.operator}` looks like a size, and torch.compile compiles again for each new "
            f"value: write `{_symbolic(schema_text(fact).value, argument)}`",
            notes=("the kernel can stay as it is, unless another of its parameters is a c10::SymInt",),
        )


def _is_int(argument: Argument) -> bool:
    """Whether a kernel of plain integers also fits this type made symbolic (`cloneWithRealTypes`)."""
    type_ = argument.type
    for container in (Kind.OPTIONAL, Kind.LIST):
        type_ = type_.elements[0] if type_.kind is container else type_
    return type_.kind is Kind.INT


def _symbolic(written: str, argument: Argument) -> str:
    """The argument's type as it is written, which may name the size of a list, with `SymInt` for `int`."""
    span = argument.type.span
    return written[span.start : span.end].replace("int", "SymInt")
