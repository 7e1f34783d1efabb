"""OPL411."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import KernelKind, Language, OperatorName, PythonFunction, PythonResult, ResultKind
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.schema.model import Kind, Schema
from op_lint_rules._words import where


class FakeDiffersFromKernel(Rule):
    """A Python fake that cannot agree with the kernel about what is returned.

    ## What it does
    Reports fakes that return another number of results than the schema has, nothing where it has some, or a contiguous
    tensor where the kernel returns a transposed one.

    ## Why it is bad
    torch.compile plans memory and strides after the fake. Where the kernel returns other strides, it fails at run time,
    or reads the numbers in the wrong order.

    ## Example
    ```python title="ops.py"
    import torch


    @torch.library.custom_op("demo::swap", mutates_args=())
    def swap(x: torch.Tensor) -> torch.Tensor:
        return x.transpose(0, 1).contiguous().transpose(0, 1)


    @swap.register_fake
    def _(x):
        return x.new_empty(x.shape)
    ```

    ## Use instead
    ```python title="ops.py"
    import torch


    @torch.library.custom_op("demo::swap", mutates_args=())
    def swap(x: torch.Tensor) -> torch.Tensor:
        return x.transpose(0, 1).contiguous().transpose(0, 1)


    @swap.register_fake
    def _(x):
        return x.new_empty([x.shape[1], x.shape[0]]).transpose(0, 1)
    ```

    ## References
    - `torch.library.opcheck` in torch/library.py
    """

    code = "OPL411"
    name = "fake-differs-from-kernel"
    severity = Severity.HINT
    default = False

    def check(self, program: Program) -> Iterator[Finding]:
        """Every result of a fake that differs from the schema or from the kernel."""
        functions = {
            function.place: function
            for file in program.files
            if file.python is not None
            for function in file.python.functions
            if function.results
        }
        for operator in program.operators:
            kernels: list[PythonFunction] = []
            fakes: list[PythonFunction] = []
            for implementation in program.implementations_of(operator):
                fact = implementation.fact
                function = functions.get(fact.kernel.defined) if fact.kernel.defined is not None else None
                if function is None or fact.language is not Language.PYTHON:
                    continue
                is_fake = fact.kernel.kind is KernelKind.FAKE or fact.key == "Meta"
                if is_fake or fact.kernel.kind is KernelKind.KERNEL:
                    (fakes if is_fake else kernels).append(function)
            for fake in fakes:
                yield from self._counted(program, operator, fake)
                yield from self._strides(operator, fake, kernels)

    def _counted(self, program: Program, operator: OperatorName, fake: PythonFunction) -> Iterator[Finding]:
        definitions = program.definitions_of(operator)
        schema = parsed(schema_text(definitions[0].fact).value) if len(definitions) == 1 else None
        if not isinstance(schema, Schema):
            return
        lists = any(returned.type.kind is Kind.LIST for returned in schema.returns)
        for result in fake.results:
            given = _count(result)
            if given is not None and given != len(schema.returns) and not (lists and given > 0):
                yield self.finding(
                    result.place,
                    f"this fake of `{operator}` returns {given} value{'' if given == 1 else 's'}, and its schema has "
                    f"{len(schema.returns)}",
                    related=(Related(definitions[0].fact.name_place, f"the schema of `{operator}`"),),
                )

    def _strides(
        self, operator: OperatorName, fake: PythonFunction, kernels: list[PythonFunction]
    ) -> Iterator[Finding]:
        contiguous = [result for result in fake.results if result.kind is ResultKind.CONTIGUOUS]
        for kernel in kernels:
            transposed = [result for result in kernel.results if result.kind is ResultKind.TRANSPOSED]
            if contiguous and transposed and len(transposed) == len(kernel.results):
                place = contiguous[0].place
                yield self.finding(
                    place,
                    f"this fake of `{operator}` returns a contiguous tensor, and the kernel `{kernel.name}` a "
                    f"transposed one ({where(transposed[0].place, place)}): the strides differ; transpose here, too",
                    related=(Related(transposed[0].place, "the kernel's result ends in a transposition"),),
                )


def _count(result: PythonResult) -> int | None:
    """How many values a `return` gives, where that is certain."""
    if result.count is not None:
        return result.count
    if result.kind is ResultKind.NONE:
        return 0
    made = (ResultKind.CONTIGUOUS, ResultKind.TRANSPOSED)
    return 1 if result.kind in made else None
