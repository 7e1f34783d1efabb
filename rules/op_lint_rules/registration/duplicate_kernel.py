"""OPL204."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.keys import IMPLICIT
from op_lint.facts import Definition, KernelKind, Language, OperatorName, Place
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Kernel, Program
from op_lint.rule import Rule
from op_lint_rules._words import MADE_ANEW, an, apart, when, where

_META = "Meta"
_SILENT = frozenset({_META, "MTIA"})
"""Keys at which `OperatorEntry::registerKernel` replaces a kernel without a warning."""


class DuplicateKernel(Rule):
    """Two kernels for one operator at one key in one process.

    ## What it does
    Reports the second kernel that is registered for an operator at a dispatch key where the same library already
    registers one, and says which of the two a call runs. A kernel without a key is at CompositeImplicitAutograd; a
    Python fake is at Meta, where it also meets a kernel at CompositeImplicitAutograd. What `OpOverload.py_impl`
    registers is in the dispatcher in Python alone, where it meets none but its like.

    ## Why it is bad
    The kernel that is registered last wins. Within one file that is the later one; between files the linker decides,
    and between libraries the order of loading. At most torch warns, once per process, about one operator
    of all; at Meta it says nothing. A fake for an operator with a CompositeImplicitAutograd kernel is refused, and
    so is a second `py_impl` at one key.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);
    at::Tensor shift_cpu(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
      m.def("shift(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
      m.impl("scale", &shift_cpu);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);
    at::Tensor shift_cpu(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
      m.def("shift(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
      m.impl("shift", &shift_cpu);
    }
    ```

    ## References
    - `OperatorEntry::registerKernel` in aten/src/ATen/core/dispatch/OperatorEntry.cpp
    - `Library.impl` and `register_fake` in torch/library.py
    """

    code = "OPL204"
    name = "duplicate-kernel"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Every kernel that meets an earlier one at its key, and every fake that meets a composite kernel."""
        for operator in program.operators:
            kernels = program.kernels_of(operator)
            for key, registered in sorted(kernels.items()):
                for later, earlier in program.collisions(registered):
                    if not _is_intended(later, earlier):
                        yield self._twice(operator, key, later, earlier)
            fakes = [kernel for kernel in kernels.get(_META, ()) if _is_python(kernel)]
            composite = kernels.get(IMPLICIT, ())
            for later, earlier in program.collisions((*composite, *fakes)):
                if later in fakes and earlier in composite:
                    yield self._refused(operator, later, earlier)
            yield from self._in_python(program, operator)

    def _in_python(self, program: Program, operator: OperatorName) -> Iterator[Finding]:
        """The second kernel of each key in the dispatcher in Python, where a fake mode is a key of its own."""
        for key, registered in sorted(program.python_kernels_of(operator).items()):
            for kind in (KernelKind.KERNEL, KernelKind.FAKE):
                kernels = [kernel for kernel in registered if kernel.fact.kernel.kind is kind]
                for later, earlier in program.collisions(kernels):
                    what = "FakeTensorMode" if kind is KernelKind.FAKE else key
                    yield self._raises(operator, what, later, earlier)

    def _raises(self, operator: OperatorName, key: str, later: Kernel, earlier: Kernel) -> Finding:
        place, other = _place(later), _place(earlier)
        return self.finding(
            place,
            f"`{operator}` already has {an(key)} kernel of `py_impl` at {where(other, place)}{when(later.condition)}, "
            "so torch raises here: remove one",
            related=(Related(other, f"the other {key} kernel"),),
            severity=Severity.ERROR,
        )

    def _twice(self, operator: OperatorName, key: str, later: Kernel, earlier: Kernel) -> Finding:
        twice = apart(later.fact, earlier.fact)
        return self.finding(
            twice.place,
            f"`{operator}` already has {an(key)} kernel {twice.already}{when(later.condition)}: "
            f"{_winner(later, earlier)}; {'make only one of the two calls' if twice.code else 'remove one'}",
            related=twice.related(f"the other {key} kernel", "the registration"),
            notes=(_torch_says(key),),
        )

    def _refused(self, operator: OperatorName, fake: Kernel, composite: Kernel) -> Finding:
        place, other = _place(fake), _place(composite)
        return self.finding(
            place,
            f"`{operator}` has a CompositeImplicitAutograd kernel at {where(other, place)}, so torch refuses this "
            "fake: remove it, or register that kernel at a backend key",
            related=(Related(other, "a kernel without a dispatch key is CompositeImplicitAutograd"),),
            notes=(
                "a composite operator needs no fake: torch.compile runs the kernel itself on fake tensors",
                f"torch says: \"We should not register a meta kernel directly to the operator '{operator}'\"",
            ),
        )


def _place(kernel: Kernel) -> Place:
    return kernel.fact.name_place


def _is_intended(later: Kernel, earlier: Kernel) -> bool:
    """Whether the second kernel is none, or is there to replace the first.

    A second definition ends the process before its kernel matters (OPL202). An operator made by `custom_op` is made
    anew by another one, and keeps its own books about its kernels and fakes.
    """
    both_define = isinstance(later.fact, Definition) and isinstance(earlier.fact, Definition)
    return both_define or {later.unit.macro, earlier.unit.macro} <= MADE_ANEW


def _is_python(kernel: Kernel) -> bool:
    return kernel.fact.language is Language.PYTHON


def _is_fake(kernel: Kernel) -> bool:
    return kernel.fact.kernel is not None and kernel.fact.kernel.kind is KernelKind.FAKE


def _winner(later: Kernel, earlier: Kernel) -> str:
    """Which of the two a call runs, as far as the sources tell."""
    if _is_fake(later):
        return "torch 2.13 replaces that one without a word, older versions raise RuntimeError"
    if _is_python(later) and _is_python(earlier):
        return "whichever is registered last wins from torch 2.13 on, older versions raise RuntimeError"
    if _is_python(later):
        return "this one replaces it"
    if later.file == earlier.file:
        return "this one wins, the other is never called"
    return "the order in which the linker puts the files decides which one runs"


def _torch_says(key: str) -> str:
    if key in _SILENT:
        return f"torch prints nothing when {an(key)} kernel is replaced"
    return 'torch warns, for the first such operator of a process: "Overriding a previously registered kernel"'
