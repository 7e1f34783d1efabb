"""OPL104."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Place
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import Bound
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.schema.match import Cause, Mismatch
from op_lint_rules._words import when, where
from op_lint_rules.schema._kernels import differing, place_of_kernel, related_places, type_fix


class SymintByReference(Rule):
    """A kernel that takes a symbolic integer by reference.

    ## What it does
    Reports parameters such as `const c10::SymInt&`, a reference to a `SymIntArrayRef`, or a `std::vector<SymInt>`, in
    kernels of operators whose schema says `SymInt` there.

    ## Why it is bad
    Torch takes a kernel for one of symbolic integers only if it has such a parameter by value. This one counts as one
    of plain integers, and loading the library aborts with "int vs SymInt", which blames the schema.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor shift(const at::Tensor& x, const c10::SymInt& n);

    TORCH_LIBRARY(demo, m) {
      m.def("shift(Tensor x, SymInt n) -> Tensor", &shift);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor shift(const at::Tensor& x, c10::SymInt n);

    TORCH_LIBRARY(demo, m) {
      m.def("shift(Tensor x, SymInt n) -> Tensor", &shift);
    }
    ```

    ## Fix
    The parameter by value, in this declaration. Not safe: other declarations of the kernel have to follow.

    ## References
    - `has_symint` in aten/src/ATen/core/boxing/KernelFunction.h
    """

    code = "OPL104"
    name = "symint-by-reference"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every such parameter, once however often the kernel is registered."""
        seen: set[Place] = set()
        for bound, comparison in differing(program):
            for mismatch in comparison.mismatches:
                finding = self._reference(bound, mismatch)
                if finding is not None and finding.place not in seen:
                    seen.add(finding.place)
                    yield finding

    def _reference(self, bound: Bound, mismatch: Mismatch) -> Finding | None:
        parameter = mismatch.parameter
        if mismatch.cause is not Cause.SYMBOL_BY_REFERENCE or parameter is None:
            return None
        place = parameter.place or place_of_kernel(bound.registered.fact, bound.kernel)
        registered = bound.registered.place
        others = tuple(related for related in related_places(bound, mismatch) if related.place != place)
        write = f": write `{mismatch.cpp}`" if mismatch.cpp else ": take it by value"
        why = "a symbolic integer is only seen by value"
        if not parameter.type.reference:
            why = "torch does not see the symbolic integers in it"
        return self.finding(
            place,
            f"parameter {mismatch.index + 1} of `{bound.kernel.name}` is `{parameter.type}`, and {why}{write}"
            f"{when(bound.condition)}",
            related=(Related(registered, f"registered at {where(registered, place)}"), *others),
            notes=(f'loading this aborts: "{mismatch.reason}", which blames the wrong side',),
            fix=type_fix(parameter, mismatch.cpp),
        )
