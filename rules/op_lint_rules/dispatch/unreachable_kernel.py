"""OPL412."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.keys import IMPLICIT, KeyKind
from op_lint.facts import OperatorName
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Kernel, Program
from op_lint.rule import Need, Rule
from op_lint.tables import tables_of
from op_lint_rules._words import where
from op_lint_rules.dispatch._entries import certain_operators, kernel_of


class UnreachableKernel(Rule):
    """A kernel that no call can reach.

    ## What it does
    Computes the operator's dispatch table as torch does, and reports kernels of the sources that are in effect at their
    key and serve no entry of it. The usual case is an `Autograd` kernel beside a CompositeImplicitAutograd one.

    ## Why it is bad
    The dispatcher prefers the composite kernel at every autograd key of a backend without a kernel of its own, so the
    `Autograd` kernel never runs. Nothing says so.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale(const at::Tensor& x);
    at::Tensor scale_autograd(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor", &scale);
      m.impl("scale", c10::DispatchKey::Autograd, &scale_autograd);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale(const at::Tensor& x);
    at::Tensor scale_autograd(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
      m.impl("scale", c10::DispatchKey::CompositeExplicitAutograd, &scale);
      m.impl("scale", c10::DispatchKey::Autograd, &scale_autograd);
    }
    ```

    ## References
    - `OperatorEntry::computeDispatchTableEntryWithDebug` in aten/src/ATen/core/dispatch/OperatorEntry.cpp
    """

    code = "OPL412"
    name = "unreachable-kernel"
    severity = Severity.WARNING
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every kernel of the sources that is in effect and in no entry."""
        tables = tables_of(program)
        for operator, shape in certain_operators(program):
            unreached = shape.registered - shape.reached
            # What is wrong with an ambiguous entry is OPL413's business.
            table = tables.table(operator) if tables and unreached and not shape.is_ambiguous else None
            for key, registration in table.kernels.items() if table else ():
                # Of a key that no call has, OPL210 speaks.
                is_meant = key in unreached and not _is_functionality(program, key)
                kernel = kernel_of(program, operator, registration) if is_meant else None
                if kernel is not None:
                    yield self._unreached(program, operator, kernel)

    def _unreached(self, program: Program, operator: OperatorName, kernel: Kernel) -> Finding:
        place = kernel.fact.name_place
        key = program.key(kernel.fact.key or IMPLICIT)
        others = program.kernels_of(operator).get(IMPLICIT, ())
        composite = others[0] if others and others[0] is not kernel else None
        because = (
            f"the composite kernel ({where(composite.place, place)}) is used at every key that {key} stands for; "
            "register that one at CompositeExplicitAutograd instead, with `m.impl`"
            if composite
            else "other kernels stand at all of its keys"
        )
        return self.finding(
            place,
            f"no call ever reaches this {key} kernel of `{operator}`: {because}",
            related=(Related(composite.place, "the composite kernel"),) if composite else (),
        )


def _is_functionality(program: Program, key: str) -> bool:
    """Whether a key stands for one key for each backend."""
    return program.keys is not None and program.keys.kind(program.key(key)) is KeyKind.PER_BACKEND
