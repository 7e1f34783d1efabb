"""OPL301."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from op_lint.facts import Implementation, KernelKind, OperatorName
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program, Registered, local_name
from op_lint.rule import Rule
from op_lint_rules._words import an, where
from op_lint_rules.coverage._kernels import backend_keys, has_fallback, is_composite

_DEVICES = ("CPU", "CUDA", "HIP", "XPU", "MPS", "HPU", "MTIA", "XLA", "IPU", "PrivateUse1")
"""The dense backends that a library may be said to serve. `Meta` is OPL302's."""

_TORCHS_OWN = ("CPU", "CUDA")
"""The devices whose kernels come with the operator's library; those of others may come with the backend's."""

_LEAST_OPERATORS = 6
"""A namespace with fewer operators that have backend kernels shows no pattern."""

_MOST_EXCEPTIONS = 10
"""One operator in this many may lack a kernel that all others have; where more do, that is how the library is."""

_DEVICE_WORD = re.compile(r"(?:^|_)(?:cpu|gpu|cuda|hip|rocm|xpu|mps|meta|npu|host|device|pinned|uvm|nccl|ipc)(?:_|$)")


class MissingBackendKernel(Rule):
    """An operator has no kernel for a backend that its library serves otherwise.

    ## What it does
    Reports operators without a kernel at a backend key where nearly all other operators of the namespace have one,
    and which have no composite kernel or backend fallback to stand in; and autocast kernels of a device for which the
    operator has no kernel to call on. Operators whose names say that they belong to one device are left alone.

    ## Why it is bad
    A call with tensors on that device raises NotImplementedError. It does not fall to the CPU kernel.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor nms_cpu(const at::Tensor& boxes, double limit);
    at::Tensor nms_autocast(const at::Tensor& boxes, double limit);
    at::Tensor nms_meta(const at::Tensor& boxes, double limit);

    TORCH_LIBRARY(demo, m) {
      m.def("nms(Tensor boxes, float limit) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("nms", &nms_cpu);
    }

    TORCH_LIBRARY_IMPL(demo, Meta, m) {
      m.impl("nms", &nms_meta);
    }

    TORCH_LIBRARY_IMPL(demo, AutocastCUDA, m) {
      m.impl("nms", &nms_autocast);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor nms_cpu(const at::Tensor& boxes, double limit);
    at::Tensor nms_autocast(const at::Tensor& boxes, double limit);
    at::Tensor nms_meta(const at::Tensor& boxes, double limit);

    TORCH_LIBRARY(demo, m) {
      m.def("nms(Tensor boxes, float limit) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("nms", &nms_cpu);
    }

    TORCH_LIBRARY_IMPL(demo, Meta, m) {
      m.impl("nms", &nms_meta);
    }

    TORCH_LIBRARY_IMPL(demo, AutocastCPU, m) {
      m.impl("nms", &nms_autocast);
    }
    ```

    ## References
    - `OperatorEntry::computeDispatchTableEntryWithDebug` in aten/src/ATen/core/dispatch/OperatorEntry.cpp
    """

    code = "OPL301"
    name = "missing-backend-kernel"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Autocast kernels with nothing below them, then gaps in what a namespace serves."""
        for operator in program.operators:
            if not program.may_be_implemented(operator) and program.installed_operator(operator) is None:
                yield from self._autocast(program, operator)
        for namespace in sorted({operator.namespace for operator in program.operators}):
            yield from self._gaps(program, namespace)

    def _autocast(self, program: Program, operator: OperatorName) -> Iterator[Finding]:
        if not program.definitions_of(operator) or is_composite(program, operator):
            return
        for implementation in program.implementations_of(operator):
            device = program.key(implementation.fact.key).removeprefix("Autocast")
            if (
                device in _TORCHS_OWN
                and implementation.fact.kernel.kind is not KernelKind.FALLTHROUGH
                and device != implementation.fact.key
                and device not in program.kernels_of(operator)
                and not has_fallback(program, device)
            ):
                yield self._nothing_below(implementation, device)

    def _nothing_below(self, implementation: Registered[Implementation], device: str) -> Finding:
        fact = implementation.fact
        name = fact.operator.name
        return self.finding(
            fact.name_place,
            f"`{fact.operator}` has {an(fact.key)} kernel and none for {device}: where that one calls `{name}` again, "
            f"as autocast kernels do, NotImplementedError is raised; register a {device} kernel, or remove this one",
        )

    def _gaps(self, program: Program, namespace: str) -> Iterator[Finding]:
        owned = [
            operator
            for operator in program.defined_in(namespace)
            if backend_keys(program, operator) and not is_composite(program, operator)
        ]
        if len(owned) < _LEAST_OPERATORS or any(map(program.may_be_implemented, owned[:1])):
            return
        counts = Counter(key for operator in owned for key in backend_keys(program, operator) if key in _DEVICES)
        for key, count in sorted(counts.items()):
            if 0 < (len(owned) - count) * _MOST_EXCEPTIONS <= len(owned) and not has_fallback(program, key):
                lacking = [operator for operator in owned if key not in backend_keys(program, operator)]
                for operator in lacking:
                    if not _DEVICE_WORD.search(operator.name.casefold()):
                        yield self._gap(program, operator, key, f"{count} of {len(owned)}")

    def _gap(self, program: Program, operator: OperatorName, key: str, share: str) -> Finding:
        place = program.definitions_of(operator)[0].fact.name_place
        others = sorted(backend_keys(program, operator))
        kernel = program.kernels_of(operator)[others[0]][0]
        block = f"TORCH_LIBRARY_IMPL({operator.namespace}, {key}, m)"
        return self.finding(
            place,
            f"`{operator}` has no kernel for {key}: a call with such tensors raises NotImplementedError",
            related=(Related(kernel.place, f"its {others[0]} kernel"),),
            notes=(
                f"{share} operators of `{operator.namespace}` have {an(key)} kernel; this one has {', '.join(others)} "
                f"({where(kernel.place, place)})",
                f'register one:  {block} {{ m.impl("{local_name(operator)}", &kernel); }}',
            ),
        )
