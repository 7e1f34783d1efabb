"""Semantic tokens inside schema strings: types, names, defaults."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from op_lint.facts import Place
from op_lint.kernels import parsed, schema_text
from op_lint.schema.model import NO_SPAN, Schema, Span
from op_lint.server.snapshot import Snapshot

TYPES = ("namespace", "function", "type", "parameter", "number")
MODIFIERS = ("modification",)


class Token(msgspec.Struct, frozen=True):
    """A piece of a schema; `type` is one of TYPES. `written` says that the operator writes to the argument."""

    place: Place
    type: str
    written: bool = False


def tokens(snapshot: Snapshot, path: str) -> tuple[Token, ...]:
    """The tokens of one file, in order, none over another."""
    found: list[Token] = []
    for facts in snapshot.facts_about(path):
        for definition in facts.definitions:
            text = schema_text(definition)
            schema = parsed(text.value)
            if not text.pieces or not isinstance(schema, Schema):
                continue
            for span, kind, written in _parts(schema):
                place = text.place_of(span.start, span.end)
                if place.path == path and place != text.place and place.end > place.start:
                    found.append(Token(place, kind, written))
    ordered: list[Token] = []
    for token in sorted(set(found), key=lambda each: (each.place.start, each.place.end)):
        if not ordered or ordered[-1].place.end <= token.place.start:
            ordered.append(token)
    return tuple(ordered)


def _parts(schema: Schema) -> Iterator[tuple[Span, str, bool]]:
    name = schema.name
    for span, kind in ((name.namespace_span, "namespace"), (name.name_span, "function")):
        if span != NO_SPAN:
            yield span, kind, False
    for argument in (*schema.arguments, *schema.returns):
        yield argument.type.span, "type", argument.is_written
        if argument.name and argument.name_span != NO_SPAN:
            yield argument.name_span, "parameter", argument.is_written
        if argument.default is not None and argument.default.span != NO_SPAN:
            yield argument.default.span, "number", False
