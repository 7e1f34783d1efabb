"""OPL412."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.keys import IMPLICIT
from op_lint.dispatch.table import Reason, Table
from op_lint.facts import OperatorName
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Kernel, Program
from op_lint.rule import Need, Rule
from op_lint_rules._words import where
from op_lint_rules.dispatch._entries import certain_tables, kernel_of


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
        for operator, table in certain_tables(program):
            reached = {id(entry.registration) for entry in table.entries if entry.registration is not None}
            active = {table.keys.canonical(each.key): each for each in table.operator.registrations}
            if any(entry.reason is Reason.AMBIGUOUS for entry in table.entries):
                continue  # what is wrong there is OPL413's business
            for registration in active.values():
                kernel = kernel_of(program, operator, registration)
                if kernel is not None and id(registration) not in reached and _is_known(table, registration.key):
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


def _is_known(table: Table, key: str) -> bool:
    """Whether a key is one of this torch's, to which something can be dispatched."""
    return table.keys.canonical(key) is not None
