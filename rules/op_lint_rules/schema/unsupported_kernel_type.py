"""OPL103."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, Implementation, Kernel, KernelKind, Language, Parameter, Place
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import CppTypes, types_of
from op_lint.program import Program, Registered
from op_lint.rule import Rule
from op_lint.schema.infer import Inferred, infer
from op_lint.schema.refusals import NOT_PORTABLE, Refusal, Stage
from op_lint_rules._words import when, where
from op_lint_rules.schema._kernels import place_of_kernel, type_fix


class UnsupportedKernelType(Rule):
    """A kernel with a parameter or a return of a type that the dispatcher does not take.

    ## What it does
    Reports `int`, `float`, `unsigned`, `const char*`, `std::map`, references that are not const, and every other type
    for which there is no schema type, with the type to write; and kernels that are `noexcept`. `long` is what
    `int64_t` is on Linux and not on Windows: that is a hint.

    ## Why it is bad
    Most of them do not compile, with pages of template errors that end in "INVALID TYPE"; some compile, and loading
    the library aborts.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x, float s) {
      return x * s;
    }

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor", &scale_cpu);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x, double s) {
      return x * s;
    }

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor", &scale_cpu);
    }
    ```

    ## Fix
    The type to write, in the kernel's declaration. Not safe: callers and other declarations have to follow.

    ## References
    - aten/src/ATen/core/boxing/impl/make_boxed_from_unboxed_functor.h
    - aten/src/ATen/core/op_registration/infer_schema.h
    """

    code = "OPL103"
    name = "unsupported-kernel-type"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every such type of every kernel, once however often the kernel is registered."""
        seen: set[tuple[Place, int]] = set()
        rows: list[Registered[Definition] | Registered[Implementation]] = [
            *program.definitions,
            *program.implementations,
        ]
        sound: set[tuple[CppTypes, bool]] = set()
        for registered in rows:
            kernel = registered.fact.kernel
            if kernel is None or not _is_typed(registered.fact, kernel) or kernel.signature is None:
                continue
            kind = (types_of(kernel.signature), kernel.signature.noexcept)
            if kind in sound:
                continue
            inference = infer(kernel.signature)
            if not kernel.signature.noexcept and not any(map(_is_faulty, (*inference.arguments, *inference.returns))):
                sound.add(kind)
                continue
            start = kernel.signature.place or kernel.place
            pairs = zip(inference.parameters, inference.arguments, strict=True)
            for index, (parameter, item) in enumerate(pairs):
                if (start, index) not in seen and (finding := self._argument(registered, kernel, parameter, item)):
                    seen.add((start, index))
                    yield finding
            for index, item in enumerate(inference.returns):
                if (start, -1 - index) not in seen and item.refusal is not None:
                    seen.add((start, -1 - index))
                    yield self._return(registered, kernel, item.refusal)
            if kernel.signature.noexcept and (start, 999) not in seen:
                seen.add((start, 999))
                yield self._noexcept(registered, kernel)

    def _argument(
        self, registered: Registered[Definition] | Registered[Implementation], kernel: Kernel,
        parameter: Parameter, item: Inferred,
    ) -> Finding | None:  # fmt: skip
        place = parameter.place or place_of_kernel(registered.fact, kernel)
        refusal = item.refusal
        if refusal is None:
            name = _not_portable(item)
            if not name:
                return None
            return self.finding(
                place,
                f"{_parameter(parameter)} of `{kernel.name}` is `{name}`, which is `int64_t` on Linux and refused on "
                "Windows: write `int64_t`",
                severity=Severity.HINT,
                related=self._registered(registered, place),
            )
        write = f": write `{refusal.write}`" if refusal.write else ""
        return self.finding(
            place,
            f"{_parameter(parameter)} of `{kernel.name}` is `{parameter.type}`, which no kernel can take: "
            f"{refusal.reason}{write}"
            f"{when(registered.condition)}",
            related=self._registered(registered, place),
            notes=(_harm(refusal),),
            fix=type_fix(parameter, refusal.write),
        )

    def _return(
        self, registered: Registered[Definition] | Registered[Implementation], kernel: Kernel, refusal: Refusal
    ) -> Finding:
        place = _declaration(registered.fact, kernel)
        write = f": write `{refusal.write}`" if refusal.write else ""
        return self.finding(
            place,
            f"`{kernel.name}` returns `{refusal.type}`, which no kernel can return: {refusal.reason}{write}"
            f"{when(registered.condition)}",
            related=self._registered(registered, place),
            notes=(_harm(refusal),),
        )

    def _noexcept(self, registered: Registered[Definition] | Registered[Implementation], kernel: Kernel) -> Finding:
        place = _declaration(registered.fact, kernel)
        return self.finding(
            place,
            f"`{kernel.name}` is noexcept, and such a function is not recognised as a kernel: remove `noexcept`",
            related=self._registered(registered, place),
            notes=("this does not compile",),
        )

    def _registered(
        self, registered: Registered[Definition] | Registered[Implementation], place: Place
    ) -> tuple[Related, ...]:
        at = registered.place
        if at.path == place.path and at.line == place.line:
            return ()
        return (Related(at, f"registered for `{registered.fact.operator}` at {where(at, place)}"),)


def _is_typed(fact: Definition | Implementation, kernel: Kernel) -> bool:
    return fact.language is Language.CPP and kernel.kind is KernelKind.KERNEL and not kernel.stable


def _parameter(parameter: Parameter) -> str:
    return f"parameter `{parameter.name}`" if parameter.name else "a parameter"


def _declaration(fact: Definition | Implementation, kernel: Kernel) -> Place:
    signature = kernel.signature
    return (signature.place if signature else None) or place_of_kernel(fact, kernel)


def _is_faulty(item: Inferred) -> bool:
    return item.refusal is not None or bool(_not_portable(item))


def _not_portable(item: Inferred) -> str:
    names = [item.cpp.name, *(argument.name for argument in item.cpp.arguments)]
    return next((name for name in names if name in NOT_PORTABLE), "")


def _harm(refusal: Refusal) -> str:
    if refusal.stage is Stage.LOAD:
        return "this compiles, and loading the library aborts"
    return "this does not compile: torch's static assertions refuse the type"
