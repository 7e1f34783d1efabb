"""Signature help: in a schema string which argument one is at, and in a Python call of an operator its schemas."""

from __future__ import annotations

import re

import msgspec

from op_lint.facts import Language, OperatorName
from op_lint.files import language_of
from op_lint.kernels import parsed
from op_lint.naming import schema_of
from op_lint.schema.model import Schema
from op_lint.server.completion import is_definition
from op_lint.server.context import brackets_open, string_around
from op_lint.server.names import overloads
from op_lint.server.snapshot import Snapshot
from op_lint.text import SourceText

_CALL = re.compile(rb"torch\.ops\.(\w+)\.(\w+)(?:\.(\w+))?\s*\($")
_KEYWORD = re.compile(rb"[(,]\s*(\w+)\s*=[^=(),]*$")
_FAR = 400
"""Bytes before the bracket in which the call begins."""


class Help(msgspec.Struct, frozen=True):
    """A signature, the words of its parameters as they stand in it, and the one that the cursor is at (0-based)."""

    label: str
    parameters: tuple[str, ...]
    active: int


def help_at(snapshot: Snapshot, path: str, text: SourceText, offset: int) -> tuple[Help, ...]:
    """The help at byte `offset` of a text as it is now: one signature for each overload that may be called."""
    language = language_of(path) or Language.PYTHON
    string = string_around(text, offset, language)
    if string is not None:
        if not is_definition(text, string):
            return ()
        found = _in_schema(string.content.decode("utf-8", "replace"), string.before.decode("utf-8", "replace"))
        return (found,) if found else ()
    opened = brackets_open(text.data, offset)
    if opened is None or language is not Language.PYTHON:
        return ()
    call = _CALL.search(text.data, max(0, opened.start - _FAR), opened.start + 1)
    if call is None:
        return ()
    namespace, name, overload = (part.decode() if part else "" for part in call.groups())
    operator = OperatorName(namespace, name, "" if overload == "default" else overload)
    keyword = _KEYWORD.search(text.data, opened.start, offset)
    meant = (operator,) if overload else overloads(snapshot, operator)
    schemas = [schema for each in meant if (schema := schema_of(snapshot.program, each)) is not None]
    written = keyword[1].decode("utf-8", "replace") if keyword else None
    return tuple(found for schema in schemas if (found := _in_call(schema, opened.commas, written)) is not None)


def _in_call(label: str, commas: int, keyword: str | None) -> Help | None:
    schema = parsed(label)
    if not isinstance(schema, Schema):
        return None
    named = [index for index, argument in enumerate(schema.arguments) if argument.name == keyword]
    return _help(label, schema, named[0] if named else commas)


def _in_schema(whole: str, before: str) -> Help | None:
    """The help in a schema; one that is half typed is shown as far as it goes."""
    if "(" not in before or "->" in before:
        return None
    schema = parsed(whole)
    if isinstance(schema, Schema):
        active = _commas(before.partition("(")[2])
        stars = sum(part.strip() == "*" for part in _parts(before.partition("(")[2])[:active])
        return _help(whole, schema, active - stars)
    arguments = whole.partition("->")[0].rstrip().removesuffix(")").partition("(")[2]
    parts = [part.strip() for part in _parts(arguments)]
    active = len(_parts(before.partition("(")[2])) - 1
    stars = parts[:active].count("*")
    return Help(whole, tuple(part for part in parts if part not in ("", "*")), active - stars)


def _parts(text: str) -> list[str]:
    """The parts between the commas of a text that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _commas(text: str) -> int:
    return len(_parts(text)) - 1


def _help(label: str, schema: Schema, active: int) -> Help:
    """The parameters are pieces of the label, since editors find them there."""
    words = tuple(label[each.span.start : each.span.end] for each in schema.arguments)
    return Help(label, words, min(active, len(words)))
