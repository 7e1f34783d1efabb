"""OPL212."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, Language
from op_lint.findings import Finding, Severity
from op_lint.installed.model import InstalledOperator
from op_lint.program import Program
from op_lint.rule import Need, Rule


class RedefinesInstalledOperator(Rule):
    """A definition of an operator that the installed torch defines itself.

    ## What it does
    Reports `m.def` (and `torch.library.define`, `custom_op`) of an operator, overload included, that torch has.

    ## Why it is bad
    An operator has one definition. Loading the library ends the process; in Python the call raises RuntimeError.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor mv_mine(const at::Tensor& a, const at::Tensor& v);

    TORCH_LIBRARY_FRAGMENT(aten, m) {
      m.def("mv", &mv_mine);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor mv_mine(const at::Tensor& a, const at::Tensor& v);

    TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
      m.impl("mv", &mv_mine);
    }
    ```

    ## References
    - `Dispatcher::registerDef` in aten/src/ATen/core/dispatch/Dispatcher.cpp
    """

    code = "OPL212"
    name = "redefines-installed-operator"
    severity = Severity.ERROR
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every unconditional definition of one of torch's operators."""
        for registered in program.definitions if not program.in_torch else ():
            installed = program.installed_operator(registered.fact.operator)
            if installed is not None and installed.schema is not None and registered.certain:
                yield self._redefined(program, registered.fact, installed)

    def _redefined(self, program: Program, fact: Definition, installed: InstalledOperator) -> Finding:
        harm = "this raises RuntimeError" if fact.language is Language.PYTHON else "loading the library aborts"
        return self.finding(
            fact.name_place,
            f"{program.torch_name} defines `{fact.operator}` itself, so {harm}: to add a kernel, register it with "
            f"`TORCH_LIBRARY_IMPL({fact.operator.namespace}, KEY, m)` and `m.impl`",
            notes=(
                f"torch's own is {installed.schema}, {installed.origin}",
                'torch says: "Tried to register an operator ... with the same name and overload name multiple times."',
            ),
        )
