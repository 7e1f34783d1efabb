"""Changes to a schema string that make it mean what a kernel means, and keep all else as it is written."""

from __future__ import annotations

from op_lint.schema.alignment import align
from op_lint.schema.infer import Inference
from op_lint.schema.model import Alias, Argument, Kind, Schema, Span, Suggestion, Type, fake_type
from op_lint.schema.printer import format_alias, format_type


def apply(text: str, edits: tuple[Suggestion, ...]) -> str:
    """`text` with `edits` made; they must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def replace_type(argument: Argument, type_: Type | None) -> Suggestion | None:
    """Give an argument or return another type; its alias annotation stays, and its list size if it is still a list."""
    if type_ is None:
        return None
    return Suggestion(argument.type.span, _typed(argument, type_))


def _typed(argument: Argument, type_: Type) -> str:
    inner, suffix = (type_.elements[0], "?") if type_.kind is Kind.OPTIONAL else (type_, "")
    if inner.kind is not Kind.LIST:
        return f"{format_type(inner)}{_annotation(argument.alias, inner)}{suffix}"
    element = inner.elements[0]
    size = "" if argument.size is None else argument.size
    return f"{format_type(element)}{_annotation(argument.alias, element)}[{size}]{suffix}"


def _annotation(alias: Alias | None, type_: Type) -> str:
    """The annotation of a tensor, also where it was one of a list's elements; nothing else can be written to."""
    if alias is not None and alias.contained:
        alias = alias.contained[0]
    if alias is None or type_.kind is not Kind.TENSOR:
        return ""
    return "!" if alias.is_anonymous else format_alias(alias)


def replace_arguments(text: str, schema: Schema, inference: Inference) -> Suggestion:
    """Give a schema the arguments of the kernel; those that have a partner stay as they are written."""
    partners = {column: row for row, column in align(schema.arguments, inference)}
    parts: list[str] = []
    keyword_only = False
    for index, (parameter, item) in enumerate(zip(inference.parameters, inference.arguments, strict=True)):
        row = partners.get(index)
        if row is None:
            parts.append(f"{format_type(item.type) if item.type else ''} {parameter.name or f'arg{index}'}")
            continue
        argument = schema.arguments[row]
        if argument.keyword_only and not keyword_only:
            keyword_only = True
            parts.append("*")
        parts.append(_kept(text, argument, item.type))
    if schema.variadic_arguments:
        parts.append("...")
    start = text.index("(", schema.name.span.end) + 1
    end = text.rindex(")", start, text.rindex("->", start, schema.returns_span.start))
    return Suggestion(Span(start, end), ", ".join(parts))


def _kept(text: str, argument: Argument, type_: Type | None) -> str:
    span, inner = argument.span, argument.type.span
    if type_ is None or fake_type(type_) == fake_type(argument.type):
        return text[span.start : span.end]
    return text[span.start : inner.start] + _typed(argument, type_) + text[inner.end : span.end]


def replace_returns(schema: Schema, inference: Inference) -> Suggestion:
    """Give a schema the returns of the kernel."""
    types = [format_type(item.type) for item in inference.returns if item.type is not None]
    is_one = len(types) == 1 and not types[0].startswith("(")
    return Suggestion(schema.returns_span, types[0] if is_one else f"({', '.join(types)})")
