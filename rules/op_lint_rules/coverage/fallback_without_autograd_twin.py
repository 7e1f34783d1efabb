"""OPL307."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.keys import KeyKind, autograd_key
from op_lint.facts import Fallback
from op_lint.findings import Finding, Severity
from op_lint.program import Program, Registered
from op_lint.rule import Need, Rule


class FallbackWithoutAutogradTwin(Rule):
    """A backend has a fallback, and its autograd key has none.

    ## What it does
    Reports a backend fallback (`TORCH_LIBRARY_IMPL(_, PrivateUse2, m) { m.fallback(...); }`) for a backend whose
    autograd key has a fallback neither in torch nor in these sources. Most have one in torch.

    ## Why it is bad
    Every tensor outside of inference mode has the autograd key too, which comes first: the call raises there, and never
    gets to the fallback.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    void to_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

    TORCH_LIBRARY_IMPL(_, PrivateUse2, m) {
      m.fallback(torch::CppFunction::makeFromBoxedFunction<&to_cpu>());
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    void to_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

    TORCH_LIBRARY_IMPL(_, PrivateUse2, m) {
      m.fallback(torch::CppFunction::makeFromBoxedFunction<&to_cpu>());
    }

    TORCH_LIBRARY_IMPL(_, AutogradPrivateUse2, m) {
      m.fallback(torch::CppFunction::makeFallthrough());
    }
    ```

    ## References
    - aten/src/ATen/core/VariableFallbackKernel.cpp
    """

    code = "OPL307"
    name = "fallback-without-autograd-twin"
    severity = Severity.WARNING
    default = False
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every fallback of a backend whose autograd key has none."""
        keys, installed = program.keys, program.installed
        if keys is None or installed is None:
            return
        theirs = {kernel.key for kernel in installed.fallbacks}
        for registered in program.fallbacks:
            key = program.key(registered.fact.key) if registered.fact.key else None
            if key is None or not keys.is_runtime(key) or keys.kind(key) is not KeyKind.BACKEND:
                continue
            twin = autograd_key(keys, keys.split(key)[1])
            if twin not in theirs and not program.fallbacks_at(twin):
                yield self._alone(registered, key, twin, installed.version)

    def _alone(self, registered: Registered[Fallback], key: str, twin: str, version: str) -> Finding:
        return self.finding(
            registered.place,
            f"a call with {key} tensors raises at {twin} before it gets to this fallback: register one there, "
            f"TORCH_LIBRARY_IMPL(_, {twin}, m) {{ m.fallback(torch::CppFunction::makeFallthrough()); }}",
            notes=(f"torch {version} has no fallback at {twin}",),
        )
