"""OPL305."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.schemas import dispatches
from op_lint.facts import OperatorName, Place
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Kernel, Program
from op_lint.rule import Rule
from op_lint.schema import Schema
from op_lint_rules._words import an, where
from op_lint_rules.coverage._kernels import backend_keys, is_composite

_ANY_BACKEND = frozenset({"BackendSelect"})


class NoDispatchableArgument(Rule):
    """An operator without a tensor to dispatch on has only backend kernels.

    ## What it does
    Looks for operators none of whose arguments the dispatcher inspects (`Tensor`, `Tensor?`, `Tensor[]`, `Tensor?[]`;
    a `Tensor[][]` or a `Dict` of tensors is not looked into), and whose kernels are all at backend keys.

    ## Why it is bad
    A call has no key to choose a kernel by, and raises "There were no tensor arguments to this function". The kernels
    are never called.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor make_cpu(int64_t n);

    TORCH_LIBRARY(demo, m) {
      m.def("make(int n) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("make", &make_cpu);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor make_cpu(int64_t n);

    TORCH_LIBRARY(demo, m) {
      m.def("make(int n) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CompositeExplicitAutograd, m) {
      m.impl("make", &make_cpu);
    }
    ```

    ## References
    - `DispatchKeyExtractor::makeBitsetForDispatchArgs` in aten/src/ATen/core/dispatch/DispatchKeyExtractor.h
    """

    code = "OPL305"
    name = "no-dispatchable-argument"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """The first backend kernel of every such operator."""
        for operator in program.operators:
            definitions = program.definitions_of(operator)
            schemas = [parsed(schema_text(definition.fact).value) for definition in definitions]
            if not schemas or not all(isinstance(schema, Schema) and not dispatches(schema) for schema in schemas):
                continue
            kernel = _unreachable(program, operator)
            if kernel is not None:
                yield self._unreached(operator, *kernel, definitions[0].fact.name_place)

    def _unreached(self, operator: OperatorName, key: str, kernel: Kernel, defined: Place) -> Finding:
        place = kernel.fact.name_place
        return self.finding(
            place,
            f"`{operator}` ({where(defined, place)}) has no argument that the dispatcher looks at, so {an(key)} kernel "
            "is never chosen: register it at CompositeExplicitAutograd, or choose a backend in a BackendSelect kernel",
            related=(Related(defined, f"`{operator}` is defined here"),),
            notes=('a call raises: "There were no tensor arguments to this function"',),
        )


def _unreachable(program: Program, operator: OperatorName) -> tuple[str, Kernel] | None:
    """The first backend kernel, where all kernels are at backends."""
    kernels = program.kernels_of(operator)
    backends = backend_keys(program, operator)
    if not backends or is_composite(program, operator) or not _ANY_BACKEND.isdisjoint(kernels):
        return None
    if program.may_be_implemented(operator):
        return None
    key = min(backends, key=lambda key: (kernels[key][0].place.path, kernels[key][0].place.start))
    return key, kernels[key][0]
