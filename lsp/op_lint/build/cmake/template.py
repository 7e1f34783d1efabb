"""Arguments as CMake reads them: literal text and references to variables, which may be nested (`${${A}_B}`)."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec


class Reference(msgspec.Struct, frozen=True):
    """`${name}`, `$ENV{name}` or `$CACHE{name}`; `kind` is empty, `ENV` or `CACHE`."""

    kind: str
    name: tuple[str | Reference, ...]


Template = tuple[str | Reference, ...]

_OPEN = re.compile(r"\$(ENV|CACHE)?\{")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_SYMBOL = re.compile(r"\$(?:ENV|CACHE)?\{")


def is_known(text: str) -> bool:
    """Whether nothing in a value stands for what the build files do not tell."""
    return _SYMBOL.search(text) is None


_INNERMOST = re.compile(r"\$(?:ENV|CACHE)?\{[^{}$]*\}|\$<[^<>$]*>")


def as_pattern(text: str) -> str:
    """A value as a pattern: `*` for what the build files do not tell."""
    while True:
        shorter = _INNERMOST.sub("*", text)
        if shorter == text:
            return "*" if "$" in text else text
        text = shorter


@lru_cache(maxsize=16384)
def parse(text: str) -> Template:
    """The parts of an argument, escapes undone. A reference that is not closed is literal text."""
    parts, _ = _parse(text, 0, nested=False)
    return parts


def _parse(text: str, position: int, *, nested: bool) -> tuple[Template, int]:
    parts: list[str | Reference] = []
    literal: list[str] = []
    while position < len(text):
        character = text[position]
        opened = _OPEN.match(text, position) if character == "$" else None
        if opened:
            name, end = _parse(text, opened.end(), nested=True)
            if end < 0:
                literal.append(text[position : opened.end()])
                position = opened.end()
                continue
            if literal:
                parts.append("".join(literal))
                literal = []
            parts.append(Reference(opened[1] or "", name))
            position = end
        elif character == "\\" and position + 1 < len(text):
            following = text[position + 1]
            literal.append(_ESCAPES.get(following, following if not following.isalnum() else character + following))
            position += 2
        elif nested and character == "}":
            if literal:
                parts.append("".join(literal))
            return tuple(parts), position + 1
        else:
            literal.append(character)
            position += 1
    if literal:
        parts.append("".join(literal))
    return tuple(parts), -1


def split_list(text: str) -> list[str]:
    """The elements of a list, without empty ones. A `;` inside a generator expression does not separate."""
    if "$<" not in text:
        return [element for element in text.split(";") if element]
    elements: list[str] = []
    depth = start = position = 0
    while position < len(text):
        if text.startswith("$<", position):
            depth += 1
            position += 1
        elif text[position] == ">" and depth:
            depth -= 1
        elif text[position] == ";" and not depth:
            elements.append(text[start:position])
            start = position + 1
        position += 1
    elements.append(text[start:])
    return [element for element in elements if element]
