"""OPL413."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.keys import AUTOGRAD_OTHER, IMPLICIT, DispatchKeys, autograd_key
from op_lint.dispatch.table import Reason
from op_lint.facts import OperatorName
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Kernel, Program
from op_lint.rule import Need, Rule
from op_lint_rules._words import where
from op_lint_rules.dispatch._entries import certain_operators


class AmbiguousAutogradOther(Rule):
    """A composite kernel beside a kernel of a backend that has no autograd key of its own.

    ## What it does
    Reports a kernel at a backend that shares the key AutogradOther (`MkldnnCPU`, `FPGA`, `SparseCPU`, ...) for
    an operator that has a CompositeImplicitAutograd kernel and none at AutogradOther.

    ## Why it is bad
    Torch cannot tell which of the two should serve AutogradOther, and raises when a call gets there: with tensors of
    the backends that have no autograd key of their own, outside of inference mode.

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
        """The first such kernel of every operator, one whose own tensors have that key before others."""
        for operator, shape in certain_operators(program):
            if shape[AUTOGRAD_OTHER][0] is Reason.AMBIGUOUS:
                found = _competing(program, operator, shape.keys)
                if found:
                    own = [row for row in found if _has_autograd_other(shape.keys, row[0])]
                    yield self._ambiguous(program, operator, *(own or found)[0], is_own=bool(own))

    def _ambiguous(
        self, program: Program, operator: OperatorName, key: str, kernel: Kernel, *, is_own: bool
    ) -> Finding:
        place = kernel.fact.name_place
        own = program.kernels_of(operator).get(IMPLICIT, ())
        at = f" ({where(own[0].place, place)})" if own else " in torch"
        return self.finding(
            place,
            f"`{operator}` has a composite kernel{at} and this {key} kernel, and torch cannot tell which serves "
            f"AutogradOther: a call with {key if is_own else 'MkldnnCPU, FPGA or such'} tensors raises; register the "
            "composite one at CompositeExplicitAutograd, or one at AutogradOther, too",
            related=(Related(own[0].place, "the composite kernel"),) if own else (),
            notes=('torch says: "has kernels registered to both CompositeImplicitAutograd and a backend mapped to '
                   'AutogradOther"',),
            severity=Severity.ERROR if is_own else Severity.WARNING,
        )  # fmt: skip


def _competing(program: Program, operator: OperatorName, keys: DispatchKeys) -> list[tuple[str, Kernel]]:
    """The kernels of the sources at backends that are mapped to AutogradOther."""
    shared = keys.autograd_backends(AUTOGRAD_OTHER)
    kernels = program.kernels_of(operator).items()
    known = [(key, found[0], keys.bits(key)) for key, found in kernels if keys.canonical(key) is not None]
    return [(key, kernel) for key, kernel, bits in known if bits and bits & shared == bits]


def _has_autograd_other(keys: DispatchKeys, key: str) -> bool:
    """Whether tensors of a backend have that autograd key: sparse ones, say, have that of their device."""
    return autograd_key(keys, keys.split(key)[1]) == AUTOGRAD_OTHER
