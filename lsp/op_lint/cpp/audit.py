"""The second look: registrations that stand in the text and that the reading of the syntax tree did not give.

Nothing is read from the text here but that something is there. It keeps a promise: what op-lint could not
understand is listed as unresolved, never dropped in silence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator

from op_lint.condition import ALWAYS, Condition, compatible
from op_lint.cpp.blanked import BLOCK, Blanked
from op_lint.cpp.registrations import Registrations, Row
from op_lint.facts import ClassDefinition, Place, Unit, Unresolved
from op_lint.text import SourceText

_CALL = re.compile(rb"(?<![\w.>])(\w+)\s*\.\s*(def|impl|fallback)\s*\(")
_BLOCK_LIKE = re.compile(rb"(?<!\w)(?:\w*_)?TORCH_LIBRARY\w*(?=\s*\()")
_STATEMENT = re.compile(rb"(?<=[;{})])\s*([A-Z][A-Z0-9_]{3,})(?=\s*\(|[ \t]*;|[ \t]*\r?\n)")
_USE = re.compile(rb"(?<![\w:.>])(?<!\\\n)(?<!\\\r\n)([A-Z][A-Z0-9_]{3,})\s*\(")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_HANDED_ON = re.compile(rb"(?<![\w.>])([A-Za-z_]\w*)\s*(?:<[^;{}()]*>\s*)?\([^;{}]*\Z")
"""The call whose argument list goes on to the end of what is searched."""
_BEFORE = 200
_NO_FUNCTIONS = frozenset(
    {b"void", b"static_cast", b"if", b"while", b"for", b"switch", b"return", b"sizeof", b"decltype"}
)
_BODY = re.compile(rb"\s*\{")
_NO_REGISTRATION = re.compile(rb"CHECK|ASSERT|WARN|ERROR|LOG|TRACE|GUARD|UNUSED|PRAGMA|DIAGNOSTIC")
"""Words in the names of macros that a body uses for other things."""
_MODULE = re.compile(rb"PYBIND|MODULE|PYTHON|TEST")
"""Words in the names of macros before a body whose object has such methods, too, and is no library."""
_REGISTRATION = re.compile(rb"REGISTER|LIBRARY|KERNEL|(?:\A|_)OPS?(?:_|\Z)|OPERATOR|BLOCK")
_OTHER_REGISTRIES = re.compile(rb"\AC10_|\AAT_|DISPATCH|GUARD|ALLOCATOR|TEST|BENCHMARK|MODULE|CHECK|CUDA_KERNEL_")
_KEY = re.compile(
    rb"(?:Autograd|Autocast|Sparse|SparseCsr|Quantized|NestedTensor)?(?:CPU|CUDA|HIP|XPU|MPS|Meta|PrivateUse[123])"
    rb"|Autograd|Autocast|Composite(?:Implicit|Explicit)Autograd"
)
_OPERATOR = re.compile(rb'"(?:\w+::\w+(?:\.\w+)?(?=["(])|[\w.:]+\([^"]*\)\s*->)')
"""A literal that names an operator with its namespace, or is a schema."""


def audit(
    path: str,
    data: bytes,
    code: Blanked,
    found: Registrations,
    condition_at: Callable[[int], Condition],
    macros: re.Pattern[bytes] | None = None,
    blocks: re.Pattern[bytes] | None = None,
    defined: Collection[bytes] | None = None,
) -> list[Unresolved]:
    """What stands in the text of `data` and is neither among the facts `found` nor unresolved already.

    `macros` finds the uses of the macros that hide a registration, `blocks` those of them that hide a whole block or
    object. `defined` are the macros that the source can use,
    None where they are not known.
    """
    text = SourceText(data)
    covered = _Spans(place for row in found.rows() for place in _places(row) if place.path == path)
    units = [unit for unit in found.units if unit.place.path == path]
    by_start = {unit.place.start: unit for unit in reversed(units)}
    of_units = _Spans(unit.place for unit in units)
    in_bodies = _Spans(unit.body for unit in units if unit.body is not None and unit.body.path == path)
    by_body = {unit.body.start: unit for unit in reversed(units) if unit.body is not None}
    missed: dict[Place, Unresolved] = {}

    def miss(what: str, reason: str, start: int, end: int, unit: Unit | None) -> None:
        condition = condition_at(start)
        if compatible(condition, ALWAYS):
            place = Place(path, text.line_of(start), start, end)
            namespace, key = (unit.namespace, unit.key) if unit else (None, None)
            row = Unresolved(what, reason, place, unit.id if unit else None, namespace, key, condition=condition)
            missed.setdefault(place, row)

    def is_unknown(macro: bytes) -> bool:
        return defined is not None and macro not in defined

    for start, end, match in code.zones:
        around = of_units.around(start)
        unit = by_start[around] if around is not None else None
        is_block = BLOCK.fullmatch(match.group()) is not None
        if is_block and unit is None and in_bodies.around(start) is None:
            macro = match.group()[:-1].rstrip()
            reason = _undefined(macro) if is_unknown(macro) else "the block could not be read"
            miss("unit", reason, start, match.end() - 1, None)
        for call in _calls(code, match, end):
            if covered.around(call.start()) is None:
                miss(call.group(2).decode(), "the call could not be read", call.start(), call.end() - 1, unit)
        for use in macros.finditer(code.code, match.end(), end) if macros is not None and is_block else ():
            if covered.around(use.start()) is None:
                miss("unit", "what the macro registers could not be read", use.start(), use.end(), unit)
        for use in _STATEMENT.finditer(code.code, match.end(), end) if is_block else ():
            name = use.group(1)
            if is_unknown(name) and not _NO_REGISTRATION.search(name) and covered.around(use.start(1)) is None:
                miss("unit", _undefined(name), use.start(1), use.end(1), unit)
    helpers = {name for zone in code.zones if (name := code.function_of(zone)) is not None}
    for offset in code.handed_on:
        function = _HANDED_ON.search(code.code, max(0, offset - _BEFORE), offset + 1)
        name = function.group(1) if function is not None else b""
        body = in_bodies.around(offset)
        if function is None or body is None or covered.around(offset) is not None:
            continue
        if is_unknown(name) and name not in helpers and name not in _NO_FUNCTIONS:
            reason = f"what {name.decode()} registers could not be read"
            miss("unit", reason, function.start(), function.end() - 1, by_body.get(body))
    for use in _BLOCK_LIKE.finditer(code.code):
        if is_unknown(use.group()) and not BLOCK.match(code.code, use.start()):
            miss("unit", _undefined(use.group()), use.start(), use.end(), None)
    for use in _USE.finditer(code.code) if defined is not None else ():
        name = use.group(1)
        if not is_unknown(name) or BLOCK.match(code.code, use.start()) or not code.is_at_file_scope(use.start()):
            continue
        calls = _calls_in_body(code, use)
        if calls or _registers_by_its_look(code, data, use):
            miss("unit", _undefined(name), use.start(), use.end(1), None)
        for call in calls:
            if covered.around(call.start()) is None:
                miss(call.group(2).decode(), _undefined(name), call.start(), call.end() - 1, None)
    known = (covered, of_units, in_bodies, _Spans(Place(path, 1, start, end) for start, end, _ in code.zones))
    for use in blocks.finditer(code.code) if blocks is not None else ():
        if not any(spans.around(use.start()) is not None for spans in known) and code.is_at_file_scope(use.start()):
            miss("unit", "what the macro registers could not be read", use.start(), use.end(), None)
    return list(missed.values())


def _places(row: Row) -> tuple[Place, ...]:
    """Where a row is, and the calls that lead to it."""
    return (row.place,) if isinstance(row, Unresolved | ClassDefinition) else (row.place, *row.calls)


def _undefined(macro: bytes) -> str:
    return f"the macro {macro.decode()} is defined in no file that was found"


def _calls_in_body(code: Blanked, use: re.Match[bytes]) -> list[re.Match[bytes]]:
    """What the body behind the use of a macro registers on one of its arguments: `MY_BLOCK(x, m) { m.def(...); }`."""
    end = code.matching(use.end() - 1)
    body = _BODY.match(code.code, end)
    if body is None or _MODULE.search(use.group(1)):
        return []
    objects = set(_WORD.findall(code.code, use.end(), end))
    inside = _CALL.finditer(code.code, body.end(), code.matching(body.end() - 1))
    return [call for call in inside if call.group(1) in objects]


def _registers_by_its_look(code: Blanked, data: bytes, use: re.Match[bytes]) -> bool:
    """Whether the use of a macro is called a registration and is given a dispatch key, an operator or a schema."""
    if not _REGISTRATION.search(use.group(1)) or _OTHER_REGISTRIES.search(use.group(1)):
        return False
    end = code.matching(use.end() - 1)
    words = (each.strip() for each in code.code[use.end() : end - 1].split(b","))
    return any(map(_KEY.fullmatch, words)) or _OPERATOR.search(data, use.end(), end) is not None


class _Spans:
    """Byte ranges, to find one that holds an offset."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for place in sorted(places):
            end = max(place.end, place.start + 1)
            if self._ends and place.start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(place.start)
                self._ends.append(end)

    def around(self, offset: int) -> int | None:
        """The start of the (outermost) range that holds `offset`, None where there is none."""
        index = bisect_right(self._starts, offset) - 1
        return self._starts[index] if index >= 0 and offset < self._ends[index] else None


def _calls(code: Blanked, match: re.Match[bytes], end: int) -> Iterator[re.Match[bytes]]:
    """The calls on the block's own library variable."""
    variable = code.library_in(match)
    for call in _CALL.finditer(code.code, match.end(), end):
        if call.group(1) == variable:
            yield call
