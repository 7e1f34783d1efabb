"""OPL108."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Place
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import Bound, bound_kernels
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.schema import Part, StableFault, StableFaultKind, compare_stable
from op_lint_rules._words import when, where
from op_lint_rules.schema._kernels import place_of_kernel, type_fix


class StableAbiSignature(Rule):
    """A `TORCH_BOX` kernel whose C++ types do not fit the schema.

    ## What it does
    Compares the kernel's parameters and returns with the schema's types, as bits: what torch writes for the schema
    type against what the kernel reads for its own. It also reports types that do not compile with `TORCH_BOX`,
    numbers of arguments that differ, and schema types that cannot be passed to a stable kernel at all. Integers that
    are narrower than the schema's are a hint.

    ## Why it is bad
    Nothing else ever says so. The stable ABI compares no types when a kernel is registered, and none when it is called:
    a `float` for `float` arrives as 0, a `Tensor` for `Tensor?` crashes.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/csrc/stable/library.h>
    #include <torch/csrc/stable/tensor.h>

    using torch::stable::Tensor;

    Tensor scale(const Tensor& x, float s) {
      return x;
    }

    STABLE_TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor");
    }

    STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", TORCH_BOX(&scale));
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/csrc/stable/library.h>
    #include <torch/csrc/stable/tensor.h>

    using torch::stable::Tensor;

    Tensor scale(const Tensor& x, double s) {
      return x;
    }

    STABLE_TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor");
    }

    STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", TORCH_BOX(&scale));
    }
    ```

    ## Fix
    The type to write, in the kernel's declaration. Not safe: callers and other declarations have to follow.

    ## References
    - torch/csrc/stable/library.h, `boxer`
    - torch/csrc/stable/stableivalue_conversions.h
    """

    code = "OPL108"
    name = "stable-abi-signature"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every fault of every stable kernel, once however often the kernel is registered."""
        seen: set[tuple[Place, str]] = set()
        for bound in bound_kernels(program):
            signature = bound.kernel.signature
            if not bound.kernel.stable or signature is None:
                continue
            for fault in compare_stable(signature, bound.schema).faults:
                finding = self._fault(bound, fault)
                if (finding.place, finding.message) not in seen:
                    seen.add((finding.place, finding.message))
                    yield finding

    def _fault(self, bound: Bound, fault: StableFault) -> Finding:
        place = _place(bound, fault)
        write = f": write `{fault.cpp}`" if fault.cpp else ""
        if fault.part is Part.RETURN and fault.argument is not None and fault.argument.alias is not None:
            write = ": let it return void, and write `-> ()` in the schema"
        registered = bound.registered.place
        related = [] if registered == place else [Related(registered, f"registered at {where(registered, place)}")]
        if bound.text is not None and fault.argument is not None:
            span = fault.argument.span
            written = bound.written[span.start : span.end]
            related.append(Related(bound.text.place_of(span.start, span.end), f"the schema says `{written}`"))
        return self.finding(
            place,
            f"{_subject(bound, fault)}{write}{when(bound.condition)}",
            related=tuple(related),
            notes=(_HARM[fault.kind],),
            severity=Severity.HINT if fault.kind is StableFaultKind.NARROW else None,
            fix=type_fix(fault.parameter, fault.cpp),
        )


_HARM = {
    StableFaultKind.COMPILE: "this does not compile",
    StableFaultKind.GARBAGE: "nothing checks it, at load or at the call: the value arrives as something else",
    StableFaultKind.CALL: "every call raises; loading the library says nothing",
    StableFaultKind.NARROW: "values that do not fit arrive as others, without a word",
}


def _subject(bound: Bound, fault: StableFault) -> str:
    types = f"`{fault.actual}` for the schema's `{fault.expected}`"
    if fault.part is Part.ARGUMENT:
        return f"parameter {fault.index + 1} of `{bound.kernel.name}` is {types}: {fault.reason}"
    if fault.part is Part.RETURN:
        return f"`{bound.kernel.name}` returns {types}: {fault.reason}"
    if fault.part is Part.ARGUMENT_COUNT:
        taken = int(fault.actual)
        lacking = [f"`{argument.name}`" for argument in bound.schema.arguments[taken:]]
        more = f"; the kernel lacks {', '.join(lacking)}" if lacking else "; remove what is too many, or add it there"
        operator = bound.registered.fact.operator
        return f"`{bound.kernel.name}` takes {taken} arguments, the schema of `{operator}` has {fault.expected}{more}"
    return f"`{bound.kernel.name}` does not fit `{bound.registered.fact.operator}`: {fault.reason}"


def _place(bound: Bound, fault: StableFault) -> Place:
    if fault.parameter is not None and fault.parameter.place is not None:
        return fault.parameter.place
    signature = bound.kernel.signature
    if fault.part is Part.RETURN and signature is not None and signature.place is not None:
        return signature.place
    return place_of_kernel(bound.registered.fact, bound.kernel)
