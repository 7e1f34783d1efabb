"""How many tokens macros expand to: an estimate from below, so that what would never end is not begun.

The sizes only are computed, each macro's as a constant and a factor for each of its parameters. What is put together by
`##` or only expands in a second scan is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from op_lint.cpp.scan import Directive

MOST_TOKENS = 4_000_000
"""Tokens that the macro uses of one file may expand to."""

_DEEPEST = 60
"""Calls of macros inside each other that are followed; what is deeper is taken for endless."""

_TOKEN = re.compile(rb'[A-Za-z_]\w*|\d[\w.]*|"[^"\n]*"?|\.\.\.|##|[^\s\w]')
_DEFINE = re.compile(rb"([A-Za-z_]\w*)(?:\(([^()]*)\))?")
_OPENING = re.compile(rb"\s*\(")
_PARENTHESIS = re.compile(rb"[()]")
_NO_OPERANDS = frozenset({b"(", b")", b","})


class Macro(NamedTuple):
    """A macro: its parameters (None for one without a parameter list; the last may be `__VA_ARGS__`), its body, and
    whether a word stands in the body twice.
    """

    parameters: tuple[bytes, ...] | None
    body: tuple[bytes, ...]
    repeats: bool

    @property
    def named(self) -> frozenset[bytes]:
        """The tokens of the body, each once."""
        return frozenset(self.body)


class Code(Protocol):
    """A file's code: comments, the contents of literals and directives are blank."""

    @property
    def code(self) -> bytes:
        """The text."""

    @property
    def words(self) -> frozenset[bytes]:
        """The identifiers in it."""


class _Size(NamedTuple):
    """Tokens: a constant, and how often each parameter's argument is among them."""

    fixed: int
    factors: tuple[int, ...]


_ENDLESS = MOST_TOKENS + 1


def macros_of(directives: Iterable[Directive]) -> dict[bytes, Macro]:
    """The macros that a file defines, by name."""
    found: dict[bytes, Macro] = {}
    for directive in directives:
        match = _DEFINE.match(directive.argument) if directive.word == "define" else None
        if match:
            parameters = None
            if match.group(2) is not None:
                names = [name.strip() for name in match.group(2).split(b",")]
                parameters = tuple(b"__VA_ARGS__" if name.endswith(b"...") else name for name in names if name)
            body = tuple(_TOKEN.findall(directive.argument, match.end()))
            words = [token for token in body if token[:1].isalpha() or token[:1] == b"_"]
            found[match.group(1)] = Macro(parameters, body, repeats=len(set(words)) < len(words))
    return found


def naming(macros: Mapping[bytes, Macro], words: Collection[bytes]) -> frozenset[bytes]:
    """The macros whose bodies name one of `words`, or another such macro."""
    found: set[bytes] = set()
    more = {name for name, macro in macros.items() if not macro.named.isdisjoint(words)}
    while more:
        found |= more
        more = {name for name, macro in macros.items() if name not in found and not macro.named.isdisjoint(more)}
    return frozenset(found)


def explosive_macro(macros: Mapping[bytes, Macro], files: Iterable[Code]) -> str | None:
    """The name of a macro whose uses in one of `files` expand to too many tokens."""
    if not any(macro.repeats for macro in macros.values()):
        return None
    sizes = _Sizes(macros)
    heavy = {name for name in macros if sizes.is_heavy(name)}
    for file in files:
        used = heavy & file.words
        if not used:
            continue
        use = re.compile(rb"(?<!\w)(?:" + b"|".join(map(re.escape, sorted(used))) + rb")(?!\w)")
        text = file.code
        total = 0
        position = 0
        while (match := use.search(text, position)) is not None:
            end = _end_of_call(text, match.end())
            total += sizes.of(_TOKEN.findall(text, match.start(), end))
            if total > MOST_TOKENS:
                return match.group().decode("ascii", "replace")
            position = end
    return None


def _end_of_call(text: bytes, position: int) -> int:
    """The end of the argument list at `position`, or `position` where there is none."""
    opening = _OPENING.match(text, position)
    if opening is None:
        return position
    depth = 0
    for bracket in _PARENTHESIS.finditer(text, position):
        depth += 1 if bracket.group() == b"(" else -1
        if depth == 0:
            return bracket.end()
    return len(text)


class _Sizes:
    def __init__(self, macros: Mapping[bytes, Macro]) -> None:
        self.macros = macros
        self._known: dict[bytes, _Size] = {}
        self._open: set[bytes] = set()

    def is_heavy(self, name: bytes) -> bool:
        """Whether a use of the macro is more than what is written: it repeats an argument, or is long itself."""
        size = self._size(name)
        return size.fixed > 1000 or any(factor > 1 for factor in size.factors)

    def of(self, tokens: Sequence[bytes]) -> int:
        """The tokens that `tokens` expand to."""
        return self._sum(tokens, 0, len(tokens), (), 0).fixed

    def _size(self, name: bytes) -> _Size:
        if name not in self._known:
            macro = self.macros[name]
            parameters = macro.parameters or ()
            if name in self._open or len(self._open) > _DEEPEST * 4:
                return _Size(1, (1,) * len(parameters))
            self._open.add(name)
            self._known[name] = self._sum(macro.body, 0, len(macro.body), parameters, 0)
            self._open.discard(name)
        return self._known[name]

    def _sum(self, tokens: Sequence[bytes], start: int, end: int, parameters: tuple[bytes, ...], depth: int) -> _Size:
        """The size of `tokens[start:end]` in the body of a macro with `parameters`."""
        fixed, factors = 0, [0] * len(parameters)
        index = start
        while index < end:
            token = tokens[index]
            index += 1
            if token in parameters:
                factors[parameters.index(token)] += 1
                continue
            macro = self.macros.get(token)
            if macro is None:
                fixed += 1
                continue
            size = self._size(token)
            if macro.parameters is None:
                fixed += size.fixed
            elif index < end and tokens[index] == b"(":
                arguments, index = _arguments(tokens, index, end)
                if depth > _DEEPEST:
                    return _Size(_ENDLESS, tuple(factors))
                fixed += size.fixed
                for number, factor in enumerate(size.factors):
                    is_rest = macro.parameters[number] == b"__VA_ARGS__"
                    for first, last in arguments[number:] if is_rest else arguments[number : number + 1]:
                        part = self._sum(tokens, first, last, parameters, depth + 1)
                        fixed += factor * part.fixed
                        factors = [old + factor * new for old, new in zip(factors, part.factors, strict=True)]
            else:
                fixed += 1
            if fixed > MOST_TOKENS:
                return _Size(_ENDLESS, tuple(min(factor, _ENDLESS) for factor in factors))
        return _Size(fixed, tuple(min(factor, _ENDLESS) for factor in factors))


def _arguments(tokens: Sequence[bytes], opening: int, end: int) -> tuple[list[tuple[int, int]], int]:
    """The ranges of the arguments in the parentheses that open at `opening`, and the index behind them."""
    found: list[tuple[int, int]] = []
    depth = 0
    start = opening + 1
    for index in range(opening, end):
        token = tokens[index]
        if token not in _NO_OPERANDS:
            continue
        depth += (token == b"(") - (token == b")")
        if depth == 0 or (depth == 1 and token == b","):
            found.append((start, index))
            start = index + 1
        if depth == 0:
            return found, index + 1
    return [*found, (start, end)], end
