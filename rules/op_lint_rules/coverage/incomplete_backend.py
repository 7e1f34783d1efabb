"""OPL306."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import OperatorName, Unit
from op_lint.findings import Finding, Severity
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint_rules.coverage._kernels import has_fallback

_ALWAYS = ("empty.memory_format", "empty_strided", "_copy_from")
"""What making a tensor on a device and moving it there and back calls; a fallback to the CPU needs it, too."""

_WITHOUT_FALLBACK = ("as_strided", "view", "fill_.Scalar", "normal_", "_local_scalar_dense", "resize_")
"""What printing, indexing, initialising and reading a value call."""

_OTHER_BUILDS = frozenset({"CUDA", "HIP", "XPU", "MPS", "MTIA", "Vulkan"})
"""Backends whose kernels other builds of torch bring; the one that is installed may not be the one that runs."""


class IncompleteBackend(Rule):
    """A backend of its own lacks kernels that every program needs.

    ## What it does
    For a backend key at which torch itself has no kernels and these sources register some in the namespace `aten`
    (`PrivateUse1`), lists the operators that making, copying and printing a tensor call and that have no kernel there.
    With a backend fallback the list is shorter.

    ## Why it is bad
    `torch.ones(2, device=...)` or `print(x)` raises NotImplementedError for an operator that the program never names.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor& relu_device(at::Tensor& x);

    TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
      m.impl("relu_", &relu_device);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor& relu_device(at::Tensor& x);

    TORCH_LIBRARY_IMPL(demo, PrivateUse1, m) {
      m.impl("relu_", &relu_device);
    }
    ```

    ## References
    - https://pytorch.org/tutorials/advanced/privateuseone.html
    """

    code = "OPL306"
    name = "incomplete-backend"
    severity = Severity.WARNING
    default = False
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """One finding for each such backend, at its first block."""
        seen: set[str] = set()
        for unit in program.units_of("aten"):
            key = program.key(unit.key) if unit.key else None
            if key is None or key in seen or not _is_own(program, key):
                continue
            seen.add(key)
            missing = _missing(program, key)
            if missing:
                yield self._incomplete(unit, key, missing, has_fallback=has_fallback(program, key))

    def _incomplete(self, unit: Unit, key: str, missing: list[str], *, has_fallback: bool) -> Finding:
        hint = "" if has_fallback else f", or a fallback: `TORCH_LIBRARY_IMPL(_, {key}, m) {{ m.fallback(...); }}`"
        return self.finding(
            unit.key_place or unit.place,
            f"{key} has no kernel for {', '.join(missing)}, so making, copying or printing a tensor raises "
            f"NotImplementedError: register these{hint}",
        )


def _is_own(program: Program, key: str) -> bool:
    """Whether a key is that of a backend for which torch has no kernels."""
    if program.keys is None or key in _OTHER_BUILDS or key not in program.keys.facts.devices.values():
        return False
    empty = program.installed_operator(OperatorName("aten", "empty", "memory_format"))
    return empty is not None and all(kernel.key != key for kernel in empty.kernels)


def _missing(program: Program, key: str) -> list[str]:
    needed = _ALWAYS if has_fallback(program, key) else (*_ALWAYS, *_WITHOUT_FALLBACK)
    missing: list[str] = []
    for name in needed:
        base, _, overload = name.partition(".")
        operator = OperatorName("aten", base, overload)
        if key not in program.kernels_of(operator) and not program.may_be_implemented(operator):
            missing.append(name)
    return missing
