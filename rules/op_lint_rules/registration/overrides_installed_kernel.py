"""OPL213."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.registration import Registration
from op_lint.facts import Implementation
from op_lint.findings import Finding, Severity
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint_rules._words import an


class OverridesInstalledKernel(Rule):
    """A kernel in place of one that torch itself registers.

    ## What it does
    Reports a kernel that is registered for one of torch's own operators at a key at which torch registers one. Kernels
    at keys that torch leaves free (`PrivateUse1`, ...) are what those keys are for.

    ## Why it is bad
    The kernel is replaced for the whole process, for every library in it, as soon as this one is loaded; torch warns
    about the first such operator only. A meta or autograd kernel for the old one may no longer fit.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor relu_mine(const at::Tensor& self);

    TORCH_LIBRARY_IMPL(aten, CPU, m) {
      m.impl("relu", &relu_mine);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor relu_mine(const at::Tensor& self);

    TORCH_LIBRARY(demo, m) {
      m.def("relu(Tensor self) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("relu", &relu_mine);
    }
    ```

    ## References
    - `OperatorEntry::registerKernel` in aten/src/ATen/core/dispatch/OperatorEntry.cpp
    """

    code = "OPL213"
    name = "overrides-installed-kernel"
    severity = Severity.WARNING
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every unconditional kernel at a key where torch has one."""
        for operator in program.operators if not program.in_torch else ():
            installed = program.installed_operator(operator)
            theirs = installed.operator().active() if installed else {}
            for registered in program.implementations_of(operator) if theirs else ():
                key = program.key(registered.fact.key)
                if key in theirs and registered.certain and not registered.in_python:
                    yield self._overridden(program, registered.fact, theirs[key])

    def _overridden(self, program: Program, fact: Implementation, theirs: Registration) -> Finding:
        return self.finding(
            fact.name_place,
            f"{program.torch_name} has {an(theirs.key)} kernel for `{fact.operator}` itself, which this one replaces "
            "for the whole process: define an operator of your own",
            notes=(f"torch's own is {theirs.origin}",),
        )
