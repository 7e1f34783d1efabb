"""OPL406."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.keys import AUTOGRAD, IMPLICIT, KeyKind, autograd_key
from op_lint.facts import Implementation, KernelKind
from op_lint.findings import Finding, Severity
from op_lint.program import Program, Registered
from op_lint.rule import Need, Rule
from op_lint.tables import tables_of


class ShadowedComposite(Rule):
    """A backend kernel takes the place of an operator's composite kernel, and of its gradients.

    ## What it does
    Reports a kernel at a backend key for an operator that has a CompositeImplicitAutograd kernel in torch, where
    nothing is registered for that backend's autograd key.

    ## Why it is bad
    The composite kernel is made of operators that have gradients, and that is where its own come from. With a backend
    kernel the dispatcher no longer uses it at that backend's autograd key: the call goes to the "not implemented"
    fallback there, and gradients stop, without an error.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor einsum_device(std::string_view equation, at::TensorList tensors, at::OptionalIntArrayRef path);

    TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
      m.impl("einsum", &einsum_device);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor bmm_device(const at::Tensor& a, const at::Tensor& b);

    TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
      m.impl("bmm", &bmm_device);
    }
    ```

    ## References
    - `OperatorEntry::computeDispatchTableEntryWithDebug` in aten/src/ATen/core/dispatch/OperatorEntry.cpp
    """

    code = "OPL406"
    name = "shadowed-composite"
    severity = Severity.WARNING
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every such backend kernel."""
        tables = tables_of(program)
        if tables is None or program.in_torch:
            return
        for registered in program.implementations:
            fact = registered.fact
            if registered.in_python:
                continue
            installed = program.installed_operator(fact.operator)
            if installed is None or all(kernel.key != IMPLICIT for kernel in installed.kernels):
                continue
            key = program.key(fact.key)
            if fact.kernel.kind not in (KernelKind.KERNEL, KernelKind.BOXED) or key == "Meta":
                continue
            if not tables.keys.is_runtime(key) or tables.keys.kind(key) is not KeyKind.BACKEND:
                continue
            kernels = tables.shape(fact.operator).registered
            twin = autograd_key(tables.keys, tables.keys.split(key)[1])
            if IMPLICIT in kernels and AUTOGRAD not in kernels and twin not in kernels:
                yield self._shadowed(registered, key, twin)

    def _shadowed(self, registered: Registered[Implementation], key: str, twin: str) -> Finding:
        operator = registered.fact.operator
        return self.finding(
            registered.fact.name_place,
            f"`{operator}` is CompositeImplicitAutograd in torch: with this {key} kernel its gradients stop at {twin}; "
            f"register the operators that it is made of instead, or a kernel at {twin}, too",
        )
