"""OPL409."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.keys import IMPLICIT
from op_lint.dispatch.registration import Operator
from op_lint.dispatch.table import Entry, Table
from op_lint.facts import KernelKind, OperatorName
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Kernel, Program
from op_lint.rule import Need, Rule
from op_lint.tables import tables_of
from op_lint_rules._words import where
from op_lint_rules.dispatch._entries import certain_operators, kernel_of


class FallthroughHidesKernel(Rule):
    """A fallthrough at a key takes the place of a kernel of the same library that would serve it.

    ## What it does
    Reports a fallthrough registered for an operator at a key that, without it, one of the operator's own kernels at an
    alias key (`Autograd`, `CompositeExplicitAutograd`, ...) would serve.

    ## Why it is bad
    The dispatcher skips that key, so the kernel never runs there, while it does at the others: gradients stop on one
    device only, say.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);
    at::Tensor scale_autograd(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
      m.impl("scale", c10::DispatchKey::CPU, &scale_cpu);
      m.impl("scale", c10::DispatchKey::Autograd, &scale_autograd);
      m.impl("scale", c10::DispatchKey::AutogradCPU, torch::CppFunction::makeFallthrough());
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);
    at::Tensor scale_autograd(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
      m.impl("scale", c10::DispatchKey::CPU, &scale_cpu);
      m.impl("scale", c10::DispatchKey::Autograd, &scale_autograd);
    }
    ```

    ## References
    - `CppFunction::makeFallthrough` in torch/library.h
    """

    code = "OPL409"
    name = "fallthrough-hides-kernel"
    severity = Severity.WARNING
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every fallthrough of the sources that stands where a kernel of theirs would."""
        tables = tables_of(program)
        for operator, _ in certain_operators(program):
            table = tables.table(operator) if tables and _has_fallthrough(program, operator) else None
            yield from self._hidden(program, operator, table) if table else ()

    def _hidden(self, program: Program, operator: OperatorName, table: Table) -> Iterator[Finding]:
        said: set[int] = set()
        for entry in table.entries:
            registration = entry.registration
            if registration is None or not registration.fallthrough or id(registration) in said:
                continue
            hidden = _without(table, entry).registration
            if hidden is None or hidden.fallthrough:
                continue
            fallthrough = kernel_of(program, operator, registration)
            kernel = kernel_of(program, operator, hidden)
            if fallthrough is None or kernel is None or program.key(kernel.fact.key or IMPLICIT) == entry.key:
                continue
            said.add(id(registration))
            yield self._hides(fallthrough, kernel, program.key(registration.key))

    def _hides(self, fallthrough: Kernel, kernel: Kernel, key: str) -> Finding:
        place, hidden = fallthrough.fact.name_place, kernel.fact.key or IMPLICIT
        return self.finding(
            place,
            f"this fallthrough makes calls skip {key}, where the {hidden} kernel ({where(kernel.place, place)}) would "
            "run otherwise: remove it, or the kernel does not run on that device",
            related=(Related(kernel.place, f"the {hidden} kernel that it hides"),),
        )


def _has_fallthrough(program: Program, operator: OperatorName) -> bool:
    kernels = (each.fact.kernel for found in program.kernels_of(operator).values() for each in found)
    return any(kernel is not None and kernel.kind is KernelKind.FALLTHROUGH for kernel in kernels)


def _without(table: Table, entry: Entry) -> Entry:
    """The entry at the same key if its registration were not there."""
    operator = table.operator
    rest = tuple(each for each in operator.registrations if each is not entry.registration)
    return Table(table.keys, Operator(operator.name, operator.schema, rest), table.fallbacks)[entry.key]
