"""Words about kernels and their signatures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from op_lint.facts import Definition, Implementation, Kernel, Parameter, Place
from op_lint.findings import Edit, Fix, Related
from op_lint.kernels import Bound, bound_kernels, parsed, types_of
from op_lint.program import Program
from op_lint.schema import Comparison, Mismatch, Part, Schema, Span, Verdict, apply, compare


@lru_cache(maxsize=1)
def differing(program: Program) -> tuple[tuple[Bound, Comparison], ...]:
    """Every kernel of the plain ABI that differs from its schema, with how. Made once for the rules that ask."""
    return tuple(_differing(program))


def _differing(program: Program) -> Iterator[tuple[Bound, Comparison]]:
    # Kernels of a library are of few kinds: what agreed once need not be looked at again. Equal types of a project are
    # mostly one object, and to look at them costs as much as to compare.
    agreeing: set[tuple[str, bool, tuple[int, ...]]] = set()
    for bound in bound_kernels(program):
        signature = bound.kernel.signature
        if signature is None or bound.kernel.stable:
            continue
        types = tuple(map(id, types_of(signature)))
        kind = (bound.written.partition("(")[2], signature.noexcept, types)
        if kind in agreeing:
            continue
        comparison = compare(signature, bound.schema, bound.written)
        if comparison.mismatches:
            yield bound, comparison
        else:
            agreeing.add(kind)


def place_of_kernel(fact: Definition | Implementation, kernel: Kernel) -> Place:
    """Where the registration names its kernel; the operator's name where a macro hides that."""
    return fact.name_place if kernel.place == fact.place else kernel.place


def schema_place(bound: Bound, mismatch: Mismatch) -> Place | None:
    """Where the schema says what `mismatch` is about; None for an installed operator's."""
    if bound.text is None:
        return None
    span = mismatch.argument.span if mismatch.argument is not None else _span_of_count(bound, mismatch)
    return bound.text.place_of(span.start, max(span.end, span.start + 1))


def _span_of_count(bound: Bound, mismatch: Mismatch) -> Span:
    """The list that is too long or too short: its first argument without a partner, else the name or the returns."""
    if mismatch.part is Part.RETURN_COUNT:
        return bound.schema.returns_span
    if mismatch.arguments:
        return bound.schema.arguments[mismatch.arguments[0]].span
    return bound.schema.name.span


def related_places(bound: Bound, mismatch: Mismatch) -> tuple[Related, ...]:
    """The two sides: the schema's part and the kernel's."""
    found: list[Related] = []
    place = schema_place(bound, mismatch)
    if place is not None:
        argument = mismatch.argument
        text = bound.written[argument.span.start : argument.span.end] if argument is not None else "the schema"
        found.append(Related(place, f"the schema says `{text}`" if argument else "the schema"))
    kernel_place = parameter_place(bound.kernel, mismatch)
    if kernel_place is not None:
        found.append(Related(kernel_place, "the kernel"))
    return tuple(found)


def parameter_place(kernel: Kernel, mismatch: Mismatch) -> Place | None:
    """The parameter at fault, else the kernel's declaration."""
    if mismatch.parameter is not None and mismatch.parameter.place is not None:
        return mismatch.parameter.place
    return kernel.signature.place if kernel.signature else None


def schema_fix(bound: Bound, comparison: Comparison, others: Sequence[Bound]) -> Fix | None:
    """The schema that the kernel means.

    None where the string is not written in the sources in one piece each, and where it would not fit one of the
    `others`, the kernels that have to fit the same string.
    """
    if bound.text is None or not comparison.edits:
        return None
    meant = parsed(apply(bound.written, comparison.edits))
    if not isinstance(meant, Schema) or not all(_fits(other, meant) for other in others):
        return None
    edits: list[Edit] = []
    for edit in comparison.edits:
        place = bound.text.place_of(edit.span.start, edit.span.end)
        if place.end - place.start != len(bound.written[edit.span.start : edit.span.end].encode()):
            return None
        edits.append(Edit(place, edit.text.replace("\\", "\\\\").replace('"', '\\"')))
    return Fix("change the schema to what the kernel takes", safe=False, edits=tuple(edits))


def _fits(bound: Bound, schema: Schema) -> bool:
    signature = bound.kernel.signature
    return signature is None or compare(signature, schema).verdict is not Verdict.MISMATCH


def type_fix(parameter: Parameter | None, write: str) -> Fix | None:
    """Another type in a parameter's declaration.

    Only where that is just the type, a blank and the name (or `type& name` with the blank before the `&`), so that the
    bytes of the type are known without the text.
    """
    if parameter is None or parameter.place is None or not write or not parameter.type.spelling:
        return None
    place, written = parameter.place, parameter.type.spelling
    length, tail = len(written.encode()), f" {parameter.name}" if parameter.name else ""
    attached = 1 if written.endswith(" &") else 0
    if place.end - place.start not in (length + len(tail.encode()), length - attached + len(tail.encode())):
        return None
    return Fix(f"write `{write}`", safe=False, edits=(Edit(place, f"{write}{tail}"),))
