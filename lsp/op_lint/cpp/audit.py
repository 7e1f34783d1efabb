"""The second look: registrations that stand in the text and that the reading of the syntax tree did not give.

Nothing is read from the text here but that something is there. It keeps a promise: what op-lint could not
understand is listed as unresolved, never dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from op_lint.condition import NEVER, Condition, satisfying
from op_lint.cpp.registrations import Registrations
from op_lint.cpp.scan import Directive, blank_comments_and_literals, blanked
from op_lint.facts import Place, Unit, Unresolved
from op_lint.text import SourceText

_BLOCK = re.compile(rb"(?<!\w)(?:STABLE_)?TORCH_LIBRARY(?:_FRAGMENT|_IMPL|_EXPAND|_IMPL_EXPAND)?\s*\(")
_HELPER = re.compile(rb"(?<!\w)(?:torch::)?(?:stable::detail::)?(?:Stable)?Library\s*&\s*(\w+)\s*[,)]")
_START = re.compile(_BLOCK.pattern + rb"|RegisterOperators\b|" + _HELPER.pattern)
_CALL = re.compile(rb"(?<![\w.>])(\w+)\s*\.\s*(def|impl|fallback)\s*\(")
_OPEN = {0x28: 0x29, 0x7B: 0x7D, 0x5B: 0x5D}


class Blanked:
    """A source whose comments, literals and directives are blanks: what is left is code."""

    def __init__(self, data: bytes, directives: Iterable[Directive]) -> None:
        code = bytearray(blank_comments_and_literals(data))
        for directive in directives:
            code[directive.start : directive.end] = blanked(bytes(code[directive.start : directive.end]))
        self.code = bytes(code)

    def zones(self, mention: re.Pattern[bytes] | None = None) -> Iterator[tuple[int, int, re.Match[bytes]]]:
        """The stretches of registration code: a block or helper with its body, a legacy statement, a macro's use."""
        for match in (mention or _START).finditer(self.code):
            yield match.start(), self.end_of(match.end()), match

    def end_of(self, position: int) -> int:
        """The end of the statement or body that goes on at `position` (inside a parenthesis, possibly)."""
        code, length = self.code, len(self.code)
        if position and code[position - 1] == 0x28:
            position = self.matching(position - 1)
        while position < length:
            byte = code[position]
            if byte == 0x3B:
                return position + 1
            if byte == 0x7B:
                return self.matching(position)
            if byte == 0x28:
                position = self.matching(position)
                continue
            if byte == 0x7D:
                return position
            position += 1
        return length

    def matching(self, position: int) -> int:
        """The offset after the bracket that closes the one at `position`."""
        code, length = self.code, len(self.code)
        depth = 0
        while position < length:
            byte = code[position]
            if byte in b"({[":
                depth += 1
            elif byte in b")}]":
                depth -= 1
                if depth <= 0:
                    return position + 1
            position += 1
        return length


def audit(
    path: str, data: bytes, blanked: Blanked, found: Registrations, condition_at: Callable[[int], Condition]
) -> list[Unresolved]:
    """What stands in the text of `data` and is neither among the facts `found` nor unresolved already."""
    text = SourceText(data)
    covered = [(row.place.start, row.place.end) for row in found.rows() if row.place.path == path]
    units = [unit for unit in found.units if unit.place.path == path]
    missed: list[Unresolved] = []
    for start, end, match in blanked.zones():
        condition = condition_at(start)
        if condition == NEVER or satisfying(condition) is None:
            continue
        unit = next((u for u in units if u.place.start <= start < max(u.place.end, u.place.start + 1)), None)
        if _BLOCK.fullmatch(match.group()) and unit is None and not _within(units, start):
            place = Place(path, text.line_of(start), start, match.end() - 1)
            missed.append(Unresolved("unit", "the block could not be read", place, condition=condition))
        for call in _calls(blanked, match, end):
            offset = call.start()
            if any(first <= offset < last for first, last in covered):
                continue
            state = condition_at(offset)
            if state == NEVER or satisfying(state) is None:
                continue
            place = Place(path, text.line_of(offset), offset, call.end() - 1)
            if any(row.place == place for row in missed):
                continue
            what = call.group(2).decode()
            missed.append(
                Unresolved(
                    what,
                    "the call could not be read",
                    place,
                    unit.id if unit else None,
                    unit.namespace if unit else None,
                    unit.key if unit else None,
                    condition=state,
                )
            )
    return missed


def _within(units: Iterable[Unit], start: int) -> bool:
    return any(unit.body is not None and unit.body.start <= start < unit.body.end for unit in units)


def _calls(blanked: Blanked, match: re.Match[bytes], end: int) -> Iterator[re.Match[bytes]]:
    """The calls on the block's own library variable."""
    variable = _variable(blanked, match)
    if variable is None:
        return
    for call in _CALL.finditer(blanked.code, match.end(), end):
        if call.group(1) == variable:
            yield call


def _variable(blanked: Blanked, match: re.Match[bytes]) -> bytes | None:
    if match.group(1):
        return match.group(1)
    if not _BLOCK.fullmatch(match.group()):
        return None
    arguments = blanked.code[match.end() : blanked.matching(match.end() - 1) - 1]
    name = arguments.rpartition(b",")[2].strip()
    return name if re.fullmatch(rb"[A-Za-z_]\w*", name) else None
