"""OPL102."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import msgspec

from op_lint.facts import OperatorName, Place, Signature, Text
from op_lint.findings import Finding, Fix, Related, Severity
from op_lint.kernels import Bound, bound_kernels, types_of
from op_lint.program import Kernel as RegisteredKernel
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.schema import Cause, Mismatch, Part, Side, Verdict, compare, signatures_agree
from op_lint.together import Together
from op_lint_rules._words import when, where
from op_lint_rules.schema._kernels import differing, place_of_kernel, related_places, schema_fix


class SchemaKernelMismatch(Rule):
    """A kernel whose C++ signature does not fit the schema of its operator.

    ## What it does
    Compares numbers and types of arguments and returns, as the dispatcher does when the library is loaded: the schema
    against the one that it infers from the kernel's signature. Names, defaults, `*` and alias annotations do not
    count. Kernels for operators of the installed torch are held against its schemas. Boxed kernels have no signature;
    kernels of the stable ABI are OPL108's, and parameters that are wrong for every schema OPL103's and OPL104's.

    It also reports two kernels of one operator whose C++ types differ (`at::Tensor` and `const at::Tensor&`), which fit
    the schema each and still cannot be registered together.

    ## Why it is bad
    Loading the library ends the process: torch throws from a static initialiser, which nothing can catch.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x, int64_t s) {
      return x * s;
    }

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
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
      m.def("scale(Tensor x, float s) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
    }
    ```

    ## Fix
    The schema that the signature means, where that does not make another kernel wrong. It is not safe, since the kernel
    may be the side that is wrong.

    ## References
    - `findSchemaDifferences` in aten/src/ATen/core/op_registration/infer_schema.cpp
    """

    code = "OPL102"
    name = "schema-kernel-mismatch"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """The first difference of every kernel that does not fit, as torch reports one."""
        for bound, comparison in differing(program):
            told = [mismatch for mismatch in comparison.mismatches if mismatch.cause is not Cause.SYMBOL_BY_REFERENCE]
            if comparison.verdict is Verdict.MISMATCH and told:
                others = [other for other in _by_string(program)[_string(bound)] if other is not bound]
                yield self._mismatch(bound, told, schema_fix(bound, comparison, others), _fitting(bound, others))
        yield from self._disagreements(program)

    def _disagreements(self, program: Program) -> Iterator[Finding]:
        """The first kernel of each operator that cannot be registered beside an earlier one."""
        for operator in program.operators:
            typed = list(_typed(program, operator))
            for index, later in enumerate(typed):
                earlier = next((other for other in typed[:index] if _disagree(program, other, later)), None)
                if earlier is not None:
                    yield self._disagreement(later, earlier)
                    break

    def _disagreement(self, later: _Typed, earlier: _Typed) -> Finding:
        place = later.place
        return self.finding(
            place,
            f"the {later.key} kernel is `{later.signature}`, the {earlier.key} kernel "
            f"({where(earlier.place, place)}) `{earlier.signature}`: kernels of one operator need the same C++ types",
            related=(Related(earlier.place, f"the {earlier.key} kernel"),),
            notes=('loading this aborts: "Mismatch in kernel C++ signatures"',),
        )

    def _mismatch(self, bound: Bound, mismatches: list[Mismatch], fix: Fix | None, fitting: Place | None) -> Finding:
        first, *others = mismatches
        place = place_of_kernel(bound.registered.fact, bound.kernel)
        other = f"; its declaration at {where(fitting, place)} fits: give both the same parameters" if fitting else ""
        return self.finding(
            place,
            f"{_difference(bound, first)}{_also(others)}{when(bound.condition)}{other}",
            related=related_places(bound, first),
            notes=(f'loading this aborts: "{first.reason}"', *_cure(first)),
            fix=fix,
        )


def _string(bound: Bound) -> Text | Place:
    """What the kernels have in common that have to fit one string; for an installed schema, the registration."""
    return bound.text or bound.registered.place


@lru_cache(maxsize=1)
def _by_string(program: Program) -> dict[Text | Place, list[Bound]]:
    found: dict[Text | Place, list[Bound]] = {}
    for bound in bound_kernels(program):
        if not bound.kernel.stable:
            found.setdefault(_string(bound), []).append(bound)
    return found


def _fitting(bound: Bound, others: list[Bound]) -> Place | None:
    """Where another `#if` arm declares the same kernel so that it fits the schema."""
    for other in others:
        signature = other.kernel.signature
        if signature is None or other.registered.place != bound.registered.place:
            continue
        if compare(signature, other.schema).verdict is Verdict.FITS:
            return signature.place
    return None


class _Typed(msgspec.Struct, frozen=True, eq=False):
    """A kernel of the ordinary ABI with its C++ types."""

    key: str
    registered: RegisteredKernel
    signature: Signature
    place: Place


def _typed(program: Program, operator: OperatorName) -> Iterator[_Typed]:
    for key, found in program.kernels_of(operator).items():
        for registered in found:
            kernel = registered.fact.kernel
            if kernel is not None and kernel.signature is not None and not kernel.stable:
                yield _Typed(key, registered, kernel.signature, place_of_kernel(registered.fact, kernel))


def _disagree(program: Program, first: _Typed, second: _Typed) -> bool:
    if types_of(first.signature) == types_of(second.signature):
        return False
    agree = signatures_agree(first.signature, second.signature)
    return agree is False and program.together(first.registered, second.registered) is Together.YES


def _difference(bound: Bound, mismatch: Mismatch) -> str:
    if mismatch.part is Part.ARGUMENT_COUNT:
        return _count(bound, mismatch)
    if mismatch.part is Part.RETURN_COUNT:
        return (
            f"`{bound.kernel.name}` has {_many(int(mismatch.actual), 'return')}, the schema of "
            f"`{bound.registered.fact.operator}` has {mismatch.expected}"
        )
    if mismatch.part is Part.RETURN:
        return (
            f"return {mismatch.index + 1}: the schema says `{mismatch.expected}`, `{bound.kernel.name}` returns "
            f"`{mismatch.actual}`"
        )
    written = bound.written[mismatch.argument.span.start : mismatch.argument.span.end] if mismatch.argument else ""
    cpp = str(mismatch.parameter.type) if mismatch.parameter else ""
    if mismatch.cause is Cause.SYMBOLS_MIXED:
        return (
            f"argument {mismatch.index + 1}: the schema says `{written}`, and `{bound.kernel.name}` takes `{cpp}` "
            "here and c10::SymInt elsewhere: all of them or none"
        )
    return (
        f"argument {mismatch.index + 1}: the schema says `{written}`, `{bound.kernel.name}` takes `{cpp}` "
        f"(schema type `{mismatch.actual}`)"
    )


def _count(bound: Bound, mismatch: Mismatch) -> str:
    text = (
        f"`{bound.kernel.name}` takes {_many(int(mismatch.actual), 'argument')}, the schema of "
        f"`{bound.registered.fact.operator}` has {mismatch.expected}"
    )
    missing = [bound.schema.arguments[index].name for index in mismatch.arguments]
    signature = bound.kernel.signature
    extra = [signature.parameters[index].name for index in mismatch.parameters] if signature else []
    if missing and all(missing):
        text += f"; the kernel lacks {_names(missing)}"
    if extra and all(extra):
        text += f"; the schema lacks {_names(extra)}"
    return text


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _also(others: list[Mismatch]) -> str:
    indices = [str(mismatch.index + 1) for mismatch in others if mismatch.part is Part.ARGUMENT]
    if not indices:
        return ""
    return f"; argument {', '.join(indices)} too"


def _cure(mismatch: Mismatch) -> tuple[str, ...]:
    """What to write on each side that may be the wrong one."""
    kernel = f"change the parameter to `{mismatch.cpp}`" if mismatch.cpp else ""
    if mismatch.part in (Part.RETURN, Part.RETURN_COUNT) and mismatch.cpp:
        kernel = f"change the kernel to return `{mismatch.cpp}`"
    schema = f"the schema to `{mismatch.schema_type}`" if mismatch.schema_type else ""
    if mismatch.side is Side.KERNEL:
        schema = ""
    if mismatch.side is Side.SCHEMA and schema:
        kernel = ""
    text = ", or ".join(part for part in (kernel, schema) if part)
    return (text if text.startswith("change") else f"change {text}",) if text else ()
