"""Signature help: in a schema string which argument one is at, and in a Python call of an operator its schema."""

from __future__ import annotations

import re

import msgspec

from op_lint.facts import OperatorName
from op_lint.kernels import parsed
from op_lint.naming import schema_of
from op_lint.schema import format_argument
from op_lint.schema.model import Schema
from op_lint.server.context import brackets_open, string_around
from op_lint.server.snapshot import Snapshot
from op_lint.text import SourceText

_CALL = re.compile(rb"torch\.ops\.(\w+)\.(\w+)(?:\.(\w+))?\s*\($")


class Help(msgspec.Struct, frozen=True):
    """A signature, the words of its parameters, and the one that the cursor is at (0-based)."""

    label: str
    parameters: tuple[str, ...]
    active: int


def help_at(snapshot: Snapshot, text: SourceText, offset: int) -> Help | None:
    """The help at byte `offset` of a text as it is now."""
    string = string_around(text, offset)
    if string is not None:
        return _in_schema(string.content.decode("utf-8", "replace"), string.before.decode("utf-8", "replace"))
    opened = brackets_open(text.data, offset)
    if opened is None:
        return None
    call = _CALL.search(text.data, max(0, opened.start - 400), opened.start + 1)
    if call is None:
        return None
    namespace, name, overload = (part.decode() if part else "" for part in call.groups())
    operator = OperatorName(namespace, name, "" if overload == "default" else overload)
    schema = schema_of(snapshot.program, operator)
    value = parsed(schema) if schema else None
    return _help(schema or "", value, opened.commas) if isinstance(value, Schema) else None


def _in_schema(whole: str, before: str) -> Help | None:
    if "(" not in before:
        return None
    value = parsed(whole)
    if not isinstance(value, Schema) or "->" in before:
        return None
    return _help(whole, value, _commas(before.partition("(")[2]))


def _commas(text: str) -> int:
    """The commas of a text that are in no brackets."""
    depth = count = 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        count += letter == "," and depth == 0
    return count


def _help(label: str, schema: Schema, commas: int) -> Help:
    # A lone `*` takes a place in the text and none among the arguments.
    star = next((index for index, each in enumerate(schema.arguments) if each.keyword_only), None)
    active = commas - 1 if star is not None and commas > star and "*" in label else commas
    return Help(label, tuple(format_argument(each) for each in schema.arguments), min(active, len(schema.arguments)))
