"""A source of which only the code is left, and where in it registrations are."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property

from op_lint.cpp.scan import Directive, blanked, words

BLOCK_MACROS = frozenset(
    f"{stable}TORCH_LIBRARY{kind}".encode()
    for stable in ("", "STABLE_")
    for kind in ("", "_FRAGMENT", "_IMPL", "_EXPAND", "_IMPL_EXPAND")
)
"""The macros of torch that make a block; it is one of them that `BLOCK` finds."""

BLOCK = re.compile(rb"(?<!\w)(?:" + b"|".join(sorted(BLOCK_MACROS)) + rb")\s*\(")
_HELPER = re.compile(rb"(?<!\w)(?:torch::)?(?:stable::detail::)?(?:Stable)?Library\s*&\s*(\w+)\s*[,)]")
_START = re.compile(BLOCK.pattern + rb"|RegisterOperators\b|" + _HELPER.pattern)
_CORE = re.compile(rb"TORCH_LIBRARY|RegisterOperators|Library\s*&")
_BEFORE_CORE = 40
"""A word that is in every start, which is found far faster, and more bytes than a start has before it."""
_VARIABLE = re.compile(rb"[A-Za-z_]\w*")
_BRACE = re.compile(rb"[{}]")
_BRACKET = re.compile(rb"[(){}\[\]]")
_SCOPE = re.compile(rb"(?:\bnamespace\b[\w\s:]*|\bextern\s*\"\s*\"\s*)\Z")
_BEFORE_SCOPE = 200
"""What opens the braces of a namespace or of `extern "C"`, and how many bytes before them are looked at."""
_FUNCTION = re.compile(rb"([A-Za-z_]\w*)\s*\(")
_STOP = re.compile(rb"[;({}]")

Zone = tuple[int, int, "re.Match[bytes]"]
"""Where registration code starts and ends, and what it starts with."""


class Blanked:
    """A source whose comments, literals and directives are blanks: what is left is code, at its own offsets."""

    def __init__(self, bare: bytes, directives: Iterable[Directive]) -> None:
        """`bare` is the source with its comments and the contents of its literals blank."""
        code = bytearray(bare)
        for directive in directives:
            code[directive.start : directive.end] = blanked(bytes(code[directive.start : directive.end]))
        self.code = bytes(code)

    @cached_property
    def words(self) -> frozenset[bytes]:
        """The identifiers of the code."""
        return frozenset(words(self.code))

    @cached_property
    def zones(self) -> list[Zone]:
        """The stretches of registration code: a block or helper with its body, a legacy statement."""
        found: list[Zone] = []
        position = 0
        for core in _CORE.finditer(self.code):
            if core.start() < position:
                continue
            match = _START.search(self.code, max(position, core.start() - _BEFORE_CORE))
            if match is None:
                break
            found.append((match.start(), self.end_of(match.end()), match))
            position = match.end()
        return found

    @cached_property
    def unclosed(self) -> int | None:
        """Where the registration code begins in the middle of which the file ends; None where it ends in none."""
        for start, end, _ in self.zones:
            rest = self.code[start:]
            opened = sum(map(rest.count, (b"(", b"[", b"{")))
            if end == len(self.code) and opened > sum(map(rest.count, (b")", b"]", b"}"))):
                return start
        return None

    def zones_of(self, mention: re.Pattern[bytes]) -> Iterator[Zone]:
        """The statements and bodies that begin with what matches `mention`, as a macro's use."""
        for match in mention.finditer(self.code):
            yield match.start(), self.end_of(match.end()), match

    def library_in(self, zone: re.Match[bytes]) -> bytes | None:
        """The name of the library variable of a block or helper that `zones` found; None where it has none."""
        name: bytes | None = zone.group(1)
        if name is None and BLOCK.fullmatch(zone.group()):
            arguments = self.code[zone.end() : self.matching(zone.end() - 1) - 1]
            name = arguments.rpartition(b",")[2].strip()
        return name if name is not None and _VARIABLE.fullmatch(name) else None

    def function_of(self, zone: Zone) -> bytes | None:
        """The name of the function that a zone is the body of; None for a block and a statement."""
        start, _, match = zone
        if match.group(1) is None:
            return None
        head = max(self.code.rfind(each, 0, start) for each in (b";", b"}", b"{")) + 1
        name = _FUNCTION.search(self.code, head, start)
        return name.group(1) if name is not None else None

    @cached_property
    def handed_on(self) -> list[int]:
        """The offsets at which registration code passes its library to a function, in order."""
        found: list[int] = []
        for _, end, match in self.zones:
            name = self.library_in(match)
            if name is not None:
                argument = re.compile(rb"[(,]\s*" + re.escape(name) + rb"\s*[,)]")
                found.extend(each.start() for each in argument.finditer(self.code, match.end(), end))
        return sorted(found)

    def is_at_file_scope(self, offset: int) -> bool:
        """Whether an offset is in no braces but those of namespaces and `extern "C"`."""
        offsets, depths = self._depths
        index = bisect_left(offsets, offset) - 1
        return index < 0 or depths[index] == 0

    @cached_property
    def _depths(self) -> tuple[list[int], list[int]]:
        """The braces, and in how many that are no scope what follows each is."""
        offsets: list[int] = []
        depths: list[int] = []
        opened: list[bool] = []
        for brace in _BRACE.finditer(self.code):
            at = brace.start()
            if brace.group() == b"{":
                opened.append(_SCOPE.search(self.code, max(0, at - _BEFORE_SCOPE), at) is None)
                change = int(opened[-1])
            else:
                change = -int(opened.pop()) if opened else 0
            offsets.append(at)
            depths.append((depths[-1] if depths else 0) + change)
        return offsets, depths

    def end_of(self, position: int) -> int:
        """The end of the statement or body that goes on at `position` (inside a parenthesis, possibly)."""
        if position and self.code[position - 1] == 0x28:
            position = self.matching(position - 1)
        while (stop := _STOP.search(self.code, position)) is not None:
            if stop.group() == b"(":
                position = self.matching(stop.start())
            elif stop.group() == b"{":
                return self.matching(stop.start())
            else:
                return stop.end() if stop.group() == b";" else stop.start()
        return len(self.code)

    def matching(self, position: int) -> int:
        """The offset after the bracket that closes the one at `position`."""
        depth = 0
        for bracket in _BRACKET.finditer(self.code, position):
            depth += 1 if bracket.group() in b"({[" else -1
            if depth <= 0:
                return bracket.end()
        return len(self.code)
