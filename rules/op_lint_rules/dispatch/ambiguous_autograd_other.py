"""OPL413."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.keys import AUTOGRAD_OTHER, IMPLICIT
from op_lint.dispatch.table import Reason, Table
from op_lint.facts import OperatorName
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Kernel, Program
from op_lint.rule import Need, Rule
from op_lint_rules._words import where
from op_lint_rules.dispatch._entries import certain_tables


class AmbiguousAutogradOther(Rule):
    """A composite kernel beside a kernel of a backend that has no autograd key of its own.

    ## What it does
    Reports a kernel at a backend that shares the key AutogradOther (`MkldnnCPU`, `FPGA`, `SparseCPU`, ...) for
    an operator that has a CompositeImplicitAutograd kernel and none at AutogradOther.

    ## Why it is bad
    Torch cannot tell which of the two should serve AutogradOther, and raises when a call with such a tensor gets there.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale(const at::Tensor& x);
    at::Tensor scale_mkldnn(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor", &scale);
      m.impl("scale", c10::DispatchKey::MkldnnCPU, &scale_mkldnn);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale(const at::Tensor& x);
    at::Tensor scale_mkldnn(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
      m.impl("scale", c10::DispatchKey::CompositeExplicitAutograd, &scale);
      m.impl("scale", c10::DispatchKey::MkldnnCPU, &scale_mkldnn);
    }
    ```

    ## References
    - Note [Ambiguity in AutogradOther kernel] in aten/src/ATen/core/dispatch/OperatorEntry.cpp
    """

    code = "OPL413"
    name = "ambiguous-autograd-other"
    severity = Severity.ERROR
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """The first such kernel of every operator."""
        for operator, table in certain_tables(program):
            if table[AUTOGRAD_OTHER].reason is Reason.AMBIGUOUS:
                found = _competing(program, operator, table)
                if found is not None:
                    yield self._ambiguous(program, operator, *found)

    def _ambiguous(self, program: Program, operator: OperatorName, key: str, kernel: Kernel) -> Finding:
        place = kernel.fact.name_place
        own = program.kernels_of(operator).get(IMPLICIT, ())
        at = f" ({where(own[0].place, place)})" if own else " in torch"
        return self.finding(
            place,
            f"`{operator}` has a composite kernel{at} and this {key} kernel, and {key} shares its autograd key with "
            "other backends: a call raises; register the composite one at CompositeExplicitAutograd",
            related=(Related(own[0].place, "the composite kernel"),) if own else (),
            notes=('torch says: "has kernels registered to both CompositeImplicitAutograd and a backend mapped to '
                   'AutogradOther"',),
        )  # fmt: skip


def _competing(program: Program, operator: OperatorName, table: Table) -> tuple[str, Kernel] | None:
    """The first kernel of the sources at a backend that is mapped to AutogradOther."""
    shared = table.keys.autograd_backends(AUTOGRAD_OTHER)
    for key, kernels in program.kernels_of(operator).items():
        bits = table.keys.bits(key)
        if bits and bits & shared == bits:
            return key, kernels[0]
    return None
