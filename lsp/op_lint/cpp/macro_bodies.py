"""Where in a macro's body the code was written that a use of the macro makes.

libclang does not tell: its `clang_getSpellingLocation` answers the place of the use for what stands in a body
(`SourceManager::getFileLoc`, libclang 18). So a use is expanded here, as the preprocessor does it, with the origin of
each token kept. The calls that come of it are held against those that libclang shows (`op_lint.cpp.sources`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from op_lint.cpp.scan import Directive
from op_lint.cpp.scanned import ScannedFile
from op_lint.cpp.views import Assignment, View, holds

_TOKEN = re.compile(rb'[A-Za-z_]\w*|\d[\w.]*|"[^"\n]*"?|##|->|[^\s\w\\]')
_SPACED = re.compile(rb"\s*\(")
_BRACKET = re.compile(rb"[()]")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_HOLDER = re.compile(rb"[A-Za-z_]\w*\s*(?:\.|->)\s*\Z")

_MOST_TOKENS = 20_000
"""A use that expands to more is not followed."""

_MOST_DEPTH = 40


class Token(NamedTuple):
    """A token of an expansion, and where it was written; `view` is None for one that the use itself gives.

    `through` is the macro whose name the use gave and that the token came of (`EACH_OPERATOR(DEFINE)`), if any.
    """

    text: bytes
    view: View | None
    start: int
    end: int
    through: bytes = b""


class Written(NamedTuple):
    """Where the code of a call was written: bytes `start` to `end` of a file."""

    view: View
    start: int
    end: int


class _Macro(NamedTuple):
    """A `#define`, with its parameters (None for an object-like macro; the last may be `__VA_ARGS__`)."""

    view: View
    directive: Directive
    parameters: tuple[bytes, ...] | None
    body: tuple[Token, ...]


class _NotFollowedError(Exception):
    """An expansion of too many tokens, or of a macro of which it is not known which definition is meant."""


class MacroBodies:
    """The macros that the files of a parse define, as they are under one assignment of atoms."""

    def __init__(self, views: Sequence[View], scanned: Callable[[View], ScannedFile], assignment: Assignment) -> None:
        self._views, self._scanned, self._assignment = views, scanned, assignment
        self._expansions: dict[tuple[str, int], tuple[Token, ...]] = {}
        self._definitions: dict[bytes, Sequence[_Macro]] = {}

    def calls(self, view: View, offset: int, use: int, names: Collection[bytes]) -> tuple[Written, ...] | None:
        """The calls of functions or macros called `names` that the macro named at an offset makes, in order.

        `use` is where the outermost macro around that is used: it may be given the other one's name. Calls that stand
        in the arguments of a use are not among them. Empty where the macro cannot be followed, None where no macro of
        the project is named at `offset`.
        """
        word = _WORD.match(view.data, offset)
        macro = self._macro(word.group(), view, offset) if word is not None else None
        if word is None or macro is None:
            return () if word is not None and self._named(word.group()) else None
        through = b""
        if macro.parameters is not None and _SPACED.match(self._scanned(view).bare, word.end()) is None:
            offset, through = use, word.group()
        tokens = self._expansion(view, offset)
        return tuple(
            self.call_at(token.view, token.start)
            for token, following in pairwise(tokens)
            if token.text in names and token.view and token.through == through and following.text == b"("
        )

    def call_at(self, view: View, name: int) -> Written:
        """The call whose function or method is named at an offset: from the object on, if that is a name."""
        bare = self._scanned(view).bare
        line = bare.rfind(b"\n", 0, name) + 1
        holder = _HOLDER.search(bare, line, name)
        limit = next((each.end for each in self._scanned(view).directives if each.start < name < each.end), len(bare))
        word = _WORD.match(bare, name)
        opening = _SPACED.match(bare, word.end(), limit) if word is not None else None
        end = _closing(bare, opening.end() - 1, limit) if opening is not None else name
        return Written(view, holder.start() if holder is not None else name, end)

    def _expansion(self, view: View, use: int) -> tuple[Token, ...]:
        key = (view.alias, use)
        found = self._expansions.get(key)
        if found is None:
            found = self._expansions[key] = self._expand(view, use)
        return found

    def _expand(self, view: View, use: int) -> tuple[Token, ...]:
        bare = self._scanned(view).bare
        name = _WORD.match(bare, use)
        macro = self._macro(name.group(), view, use) if name is not None else None
        if name is None or macro is None:
            return ()
        end = name.end()
        if macro.parameters is not None:
            opening = _SPACED.match(bare, end)
            if opening is None:
                return ()
            end = _closing(bare, opening.end() - 1, len(bare))
        given = [Token(text, None, 0, 0) for text in _TOKEN.findall(bare, name.end(), end)]
        try:
            return tuple(
                _Expansion(lambda each: bool(self._named(each)), lambda each: self._macro(each, view, use)).of(
                    name.group(), macro, given
                )
            )
        except _NotFollowedError:
            return ()

    def _macro(self, name: bytes, view: View, use: int) -> _Macro | None:
        """The macro that a name is at an offset: the only one, or the last one before where all are in that file.

        None where there is none, or where it takes the order of the files to tell.
        """
        macros = self._named(name)
        if len(macros) == 1:
            return macros[0]
        if any(each.view is not view for each in macros):
            return None
        return next((each for each in reversed(macros) if each.directive.start < use), None)

    def _named(self, name: bytes) -> Sequence[_Macro]:
        """The definitions of a macro, in the order of the files."""
        found = self._definitions.get(name)
        if found is None:
            found = self._definitions[name] = tuple(self._find(name))
        return found

    def _find(self, name: bytes) -> Iterator[_Macro]:
        for view in self._views:
            scanned = self._scanned(view)
            for directive in scanned.definitions.get(name, ()):
                if holds(view.condition_at(directive.start), self._assignment):
                    yield _defined(view, directive, scanned.bare)


class _Expansion:
    """One expansion, which must not become too long. `macro` gives the macro that a name is at the use."""

    def __init__(self, is_name: Callable[[bytes], bool], macro: Callable[[bytes], _Macro | None]) -> None:
        self._is_name, self._macro = is_name, macro
        self._made = 0

    def of(self, name: bytes, macro: _Macro, given: Sequence[Token]) -> Iterator[Token]:
        """What a use of `macro` expands to; `given` is what follows its name. Raises _NotFollowedError."""
        arguments = _arguments(given, 0)[0] if macro.parameters is not None else []
        return self._expanded(_substituted(macro, arguments), frozenset({name}), b"")

    def _expanded(self, tokens: Sequence[Token], hidden: frozenset[bytes], through: bytes) -> Iterator[Token]:
        """The tokens with every macro in them expanded, but for those `hidden`."""
        if len(hidden) > _MOST_DEPTH:
            raise _NotFollowedError
        index = 0
        while index < len(tokens):
            token = tokens[index]
            index += 1
            self._made += 1
            if self._made > _MOST_TOKENS:
                raise _NotFollowedError
            is_macro = token.text not in hidden and self._is_name(token.text)
            macro = self._macro(token.text) if is_macro else None
            if is_macro and macro is None:
                raise _NotFollowedError
            arguments: Sequence[Sequence[Token]] = ()
            if macro is not None and macro.parameters is not None:
                if index < len(tokens) and tokens[index].text == b"(":
                    arguments, index = _arguments(tokens, index)
                else:
                    macro = None
            if macro is None:
                yield token._replace(through=through)
                continue
            by_name = token.text if token.view is None else b""
            yield from self._expanded(_substituted(macro, arguments), hidden | {token.text}, through or by_name)


def _defined(view: View, directive: Directive, bare: bytes) -> _Macro:
    """The macro of a `#define` that names one."""
    tokens = [
        Token(match.group(), view, match.start(), match.end())
        for match in _TOKEN.finditer(bare, directive.start, directive.end)
    ]
    at = next(index for index, token in enumerate(tokens) if token.text == b"define") + 1
    name, rest = tokens[at], tokens[at + 1 :]
    if not rest or rest[0].text != b"(" or rest[0].start != name.end:
        return _Macro(view, directive, None, tuple(rest))
    closing = next((index for index, token in enumerate(rest) if token.text == b")"), len(rest))
    words = [token.text for token in rest[1:closing] if token.text not in (b",", b".")]
    if closing and rest[closing - 1].text == b".":
        named = closing > 4 and rest[closing - 4].text not in (b",", b"(")  # `args...`
        words = words if named else [*words, b"__VA_ARGS__"]
    return _Macro(view, directive, tuple(words), tuple(rest[closing + 1 :]))


def _substituted(macro: _Macro, arguments: Sequence[Sequence[Token]]) -> list[Token]:
    """The body of a macro with its parameters replaced. What `#` makes stays a token, what `##` joins stays apart."""
    parameters = macro.parameters or ()
    found: list[Token] = []
    for token in macro.body:
        if token.text in (b"#", b"##"):
            continue
        if token.text not in parameters:
            found.append(token)
            continue
        number = parameters.index(token.text)
        is_rest = number == len(parameters) - 1 and len(arguments) > len(parameters)
        for count, argument in enumerate(arguments[number:] if is_rest else arguments[number : number + 1]):
            found += [Token(b",", None, 0, 0)] if count else []
            found += argument
    return found


def _arguments(tokens: Sequence[Token], opening: int) -> tuple[list[Sequence[Token]], int]:
    """The arguments in the brackets that open at `opening`, and the index behind them."""
    found: list[Sequence[Token]] = []
    depth = 0
    start = opening + 1
    for index in range(opening, len(tokens)):
        text = tokens[index].text
        depth += (text in (b"(", b"[", b"{")) - (text in (b")", b"]", b"}"))
        if depth == 0 or (depth == 1 and text == b","):
            found.append(tokens[start:index])
            start = index + 1
        if depth == 0:
            return found, index + 1
    return [*found, tokens[start:]], len(tokens)


def _closing(bare: bytes, opening: int, limit: int) -> int:
    """The offset behind the bracket that closes the one at `opening`."""
    depth = 0
    for bracket in _BRACKET.finditer(bare, opening, limit):
        depth += 1 if bracket.group() == b"(" else -1
        if depth == 0:
            return bracket.end()
    return limit
