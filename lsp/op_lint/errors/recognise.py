"""Torch's errors in a log: which, about what, how often.

The log goes by in a window of lines. In what is left of the window without white space the pieces by which messages
are looked for (`Message.anchor`) are found by plain search; only around those a pattern is tried. So a log is read
once, in time that grows with its length, and what is kept of it is bounded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import BinaryIO

import msgspec

from op_lint.errors import calls, checks, loading, python, registration, schemas
from op_lint.errors.kind import Kind
from op_lint.errors.log import Line, lines
from op_lint.message import TO_END_OF_LINE, Message, squeezed, stem

KINDS: tuple[Kind, ...] = tuple(
    kind for module in (calls, registration, schemas, python, checks, loading) for kind in module.KINDS
)

_BEFORE = 150
"""Lines before a message that are looked at for what it is about: the traceback."""

_AFTER = 150
"""Lines in which a message has to end, with the registrations that it lists."""

_STEP = 2000
"""Lines that are searched at a time."""

_REACHES = (1500, 12_000)
"""Characters of a message, without white space: what is tried first, and what at most."""

_LEFT = 200
_MOST_KEPT = 1000
"""Different errors that are told apart; more than a person reads, and a bound for logs of anything."""

_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)|^([\w./\\-]+\.(?:py|cpp|cc|cu|cuh|h|hpp|hip|mm)):(\d+):')
_DUMPED = re.compile(
    r"(\w+)(?:\[alias\])?: (fallthrough )?(registered (?:at .+?:\d+|by \w+))"
    r"(?: \[(kernel|backend fallback|autograd kernel|math kernel|default backend kernel|nested math kernel)\]| ::)"
)
_CHAINED = re.compile("The above exception was the direct cause|During handling of the above exception")
_RAISES = re.compile(r"raise[\w.]+\(f?[\"']+$")
_ASSERTED = re.compile(r'\W[^:]{1,200}INTERNALASSERTFAILEDat"[^"]+":\d+,pleasereportabugtoPyTorch\.$')
_NOT_TELLING = frozenset({"operator", "python", "qualified", "place", "text", "schema", "declaration"})
"""Fields that do not tell an error from another one: what `Recognised.operator` is made of, and details."""

_RAISED = re.compile(r"([A-Za-z_][\w.]*(?:Error|Exception|Warning|Unsupported))\W*$")


class Dumped(msgspec.Struct, frozen=True):
    """A registration that torch lists with an error: what the process had. `place` is as torch says it."""

    key: str
    place: str
    reason: str = "kernel"


class Frame(msgspec.Struct, frozen=True):
    """A line of the program in the traceback before an error. `line` is 1-based."""

    path: str
    line: int


class Recognised(msgspec.Struct, frozen=True):
    """An error of torch in a log.

    `fields` are what the message names. `raised` is the exception's type where the log says it. `line` is where it is
    first said, 1-based, `count` how often the log says it. `frames` are those before it, the innermost last; `outer`
    those of the exceptions that it is said to be the cause of. `listed` are the registrations that torch lists with it.
    """

    kind: Kind
    message: Message
    fields: dict[str, str]
    text: str
    raised: str | None
    line: int
    count: int = 1
    frames: tuple[Frame, ...] = ()
    outer: tuple[Frame, ...] = ()
    listed: tuple[Dumped, ...] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells it from others: the same fault may be told in different words."""
        about = self.operator or self.fields.get("namespace") or squeezed(self.fields.get("schema", ""))
        rest = sorted((name, squeezed(value)) for name, value in self.fields.items() if stem(name) not in _NOT_TELLING)
        return (self.kind.name, about, *(part for pair in rest for part in pair))

    @property
    def operator(self) -> str | None:
        """The operator that it is about, as the dispatcher names it; None where the message does not say."""
        for name in ("operator", "python", "qualified", "schema", "declaration"):
            if name in self.fields and (found := _as_registered(self.fields[name])):
                return found
        namespace, local = self.fields.get("namespace"), self.fields.get("name")
        return f"{namespace}::{local.partition('.')[0]}" if namespace and local else None


def _as_registered(text: str) -> str | None:
    """`ns::op.overload` of what is written as in a schema, or as in Python (`ns.op.default`)."""
    name = text.partition("(")[0].strip()
    if "::" not in name and re.fullmatch(r"\w+\.\w+(\.\w+)?", name):
        namespace, _, local = name.partition(".")
        name = f"{namespace}::{local.removesuffix('.default')}"
    return name if re.fullmatch(r"\w+::\w+(\.\w+)?", name) else None


class Recogniser:
    """Finds the errors of a log. `lines_read` says how long it was, `dropped` how many different ones were too many."""

    def __init__(self) -> None:
        self.lines_read = 0
        self.dropped = 0
        self._found: dict[tuple[str, ...], Recognised] = {}
        self._known: dict[str, list[tuple[int, str, tuple[str, ...]]]] = {}

    def read(self, stream: BinaryIO) -> tuple[Recognised, ...]:
        """The errors in `stream`, in the order in which they come first, those of one fault together."""
        for window, first, last in self._windows(stream):
            self._search(window, first, last)
        found = sorted(self._found.values(), key=lambda each: each.line)
        return tuple(each for each in found if not _is_told_by_another(each, found))

    def _windows(self, stream: BinaryIO) -> Iterator[tuple[list[Line], int, int]]:
        """Lines, and which of them (from, to) are to be searched; the others were, or are going to be."""
        window: list[Line] = []
        first = 0
        for line in lines(stream):
            self.lines_read = line.number
            window.append(line)
            if len(window) >= first + _STEP + _AFTER:
                yield window, first, len(window) - _AFTER
                start = len(window) - _AFTER - _BEFORE
                window = window[start:]
                first = _BEFORE
        yield window, first, len(window)

    def _search(self, window: list[Line], first: int, last: int) -> None:
        texts = [squeezed(line.text) for line in window]
        starts = [0, *accumulate(map(len, texts))]
        text = "".join(texts)
        done = starts[first]
        for position, messages in _anchors(text, starts[first], starts[last]):
            if position < done:
                continue
            end = self._recall(text, position) or self._recognise(window, starts, text, position, messages)
            done = max(done, end or 0)

    def _recall(self, text: str, position: int) -> int | None:
        """The end of a message that is there, if it is one that was found before, to the letter."""
        for offset, known, identity in self._known.get(text[position : position + 8], ()):
            start = position - offset
            end = start + len(known)
            if text.startswith(known, start) and not _goes_on(text, start - 1) and not _goes_on(text, end - 1):
                found = self._found[identity]
                self._found[identity] = msgspec.structs.replace(found, count=found.count + 1)
                return end
        return None

    def _recognise(
        self,
        window: list[Line],
        starts: Sequence[int],
        text: str,
        position: int,
        messages: Sequence[tuple[Kind, Message]],
    ) -> int | None:
        for reach in _REACHES:
            for kind, message in messages:
                start = max(0, position - _LEFT)
                found = _match(message, text, start, position, position + reach)
                if found is not None and not _is_source(found):
                    self._keep(_Excerpt(window, starts, text), kind, message, found, position)
                    # Of a name at its end nothing tells how far it reaches: what comes next may be another error.
                    return found.end() if message.last_field is None else found.start(message.last_field) + 1
        return None

    def _keep(self, excerpt: _Excerpt, kind: Kind, message: Message, found: re.Match[str], position: int) -> None:
        error = excerpt.error(kind, message, found)
        before = self._found.get(error.identity)
        if before is None and len(self._found) >= _MOST_KEPT:
            self.dropped += 1
            return
        if before is not None:
            error = msgspec.structs.replace(
                before,
                count=before.count + 1,
                listed=before.listed or error.listed,
                frames=before.frames or error.frames,
                outer=before.outer or error.outer,
                fields={**error.fields, **before.fields},
            )
        self._found[error.identity if before is None else before.identity] = error
        if stem(message.last_field or "") not in TO_END_OF_LINE:
            last = message.last_field
            whole = found.end() if last is None else found.start(last) + len(squeezed(error.fields[last]))
            text = found.string[found.start() : whole]
            known = (position - found.start(), text, error.identity if before is None else before.identity)
            self._known.setdefault(found.string[position : position + 8], []).append(known)


def _is_told_by_another(error: Recognised, found: Sequence[Recognised]) -> bool:
    """Whether an error only says that there was another one, which is in the log, too."""
    if error.kind is loading.NOT_LOADED:
        return any(other.kind in loading.KINDS and other.kind is not error.kind for other in found)
    if error.kind is checks.OPCHECK:
        told = squeezed(error.text)
        return any(other is not error and (squeezed(other.text) in told or _names(other, told)) for other in found)
    return False


def _names(error: Recognised, told: str) -> bool:
    return any(error.fields.get(name, "\0") in told for name in ("operator", "python"))


def _goes_on(text: str, position: int) -> bool:
    """Whether a word may go on from a position to the next: a name at the end of a message is longer there."""
    return re.fullmatch(r"\w\w", text[max(0, position) : position + 2]) is not None


def _is_source(found: re.Match[str]) -> bool:
    """Whether it is the line of torch that raises the error, as a traceback shows it."""
    if any(re.fullmatch(r"\{[\w.]+\}", value or "") for value in found.groups()):
        return True
    return _RAISES.search(found.string, max(0, found.start() - _LEFT), found.start()) is not None


def _match(message: Message, text: str, start: int, position: int, end: int) -> re.Match[str] | None:
    """The message around an anchor that is at `position`."""
    for found in message.pattern.finditer(text, start, min(end, len(text))):
        if found.start() <= position < found.end():
            return found
        if found.start() > position:
            return None
    return None


_BY_ANCHOR: dict[str, list[tuple[Kind, Message]]] = {}
for _kind in KINDS:
    for _message in _kind.messages:
        _BY_ANCHOR.setdefault(_message.anchor, []).append((_kind, _message))


def _anchors(text: str, first: int, last: int) -> list[tuple[int, list[tuple[Kind, Message]]]]:
    """Where a message may be, and which: those that start between `first` and `last`, in order."""
    found: list[tuple[int, list[tuple[Kind, Message]]]] = []
    for anchor, messages in _BY_ANCHOR.items():
        position = text.find(anchor, first)
        while 0 <= position < last:
            found.append((position, messages))
            position = text.find(anchor, position + 1)
    return sorted(found, key=lambda each: each[0])


class _Excerpt:
    """The lines around a message."""

    def __init__(self, window: Sequence[Line], starts: Sequence[int], text: str) -> None:
        self._window = window
        self._starts = starts
        self._text = text

    def error(self, kind: Kind, message: Message, found: re.Match[str]) -> Recognised:
        fields = {name: self._field(message, name, found) for name in message.fields}
        first = self._index(found.start())
        last = self._index(found.end() - 1)
        return Recognised(
            kind,
            message,
            fields,
            message.write(**fields).strip(),
            self._raised(found.start()),
            self._window[first].number,
            frames=tuple(_frames(self._window[max(0, first - _BEFORE) : first + 1])),
            outer=tuple(self._outer(last)),
            listed=tuple(self._listed(last)),
        )

    def _index(self, position: int) -> int:
        """The line that holds a position of the text without white space."""
        return bisect_right(self._starts, position) - 1

    def _field(self, message: Message, name: str, found: re.Match[str]) -> str:
        if stem(name) in TO_END_OF_LINE:
            return self._rest_of_line(found.start(name))
        text = self._written(found.start(name), found.end(name))
        if name == message.last_field or stem(name) in ("place", "where"):
            text = _right_cut(stem(name), text)
        if found.start(name) == found.start() and message.starts_with_field:
            text = text.split()[-1] if text.split() else text
        return text if " " in _ALLOWED.get(stem(name), " ") else squeezed(text)

    def _written(self, start: int, end: int) -> str:
        """What the log has between two positions, its lines joined by spaces."""
        parts: list[str] = []
        for index in range(self._index(start), self._index(max(start, end - 1)) + 1):
            offset = self._starts[index]
            line = self._window[index].text
            parts.append(_cut(line, start - offset, end - offset))
        return " ".join(" ".join(parts).split())

    def _rest_of_line(self, start: int) -> str:
        index = self._index(start)
        line = self._window[index].text
        return _cut(line, start - self._starts[index], len(line)).strip()

    def _raised(self, start: int) -> str | None:
        """The type of the exception: the word before the message."""
        before = self._text[max(0, start - _LEFT) : start]
        if (asserted := _ASSERTED.search(before)) is not None:
            start -= len(before) - asserted.start() - 1
            before = before[: asserted.start() + 1]
        found = _RAISED.search(before)
        if found is None:
            return None
        # The line before may end in anything: the name is what its own line has.
        words = self._written(start - len(found[0]), start).split()
        name = _RAISED.search(words[-1]) if words else None
        return name[1].rpartition(".")[2] if name else None

    def _outer(self, last: int) -> Iterator[Frame]:
        """The frames after the message, where an exception follows that it is the cause of."""
        after = self._window[last + 1 : last + 1 + _AFTER]
        for index, line in enumerate(after):
            if _CHAINED.search(line.text):
                yield from _frames(after[index:])
                return

    def _listed(self, last: int) -> Iterator[Dumped]:
        """The registrations that are listed after the message, up to where something else is.

        A text that was pasted may have lost its line ends, one from a terminal may have more.
        """
        text = " ".join(line.text for line in self._window[last : last + _AFTER])
        end = None
        for found in _DUMPED.finditer(text):
            if end is not None and found.start() - end > _FARTHEST:
                return
            end = found.end()
            yield Dumped(found[1], found[3], "fallthrough" if found[2] else found[4] or "kernel")


_FARTHEST = 300
"""Characters that may stand between two registrations of a list."""

_ALLOWED = dict.fromkeys(("operator", "python", "qualified", "namespace", "name", "key", "word", "number", "macro"), "")
"""Fields in which a space is one that a wrapped line has made."""


def _frames(window: Sequence[Line]) -> Iterator[Frame]:
    for line in window:
        for found in _FRAME.finditer(line.text):
            yield Frame(found[1] or found[3], int(found[2] or found[4]))


def _right_cut(kind: str, text: str) -> str:
    """A name that ends a message: what comes after it in the log was taken along, as there are no spaces."""
    if kind in ("place", "where"):
        found = re.match(r"(?:registered (?:at|by) )?.*?(?::\d+(?!\S)|:\d+(?=[.;,)])|RegisterOperators)", text)
        return found[0] if found else text
    if kind in ("text", "schema", "reason"):
        return text
    return text.split()[0].rstrip(".,;:'\")") if text.split() else text


def _cut(line: str, start: int, end: int) -> str:
    """The part of a line from the `start`th to before the `end`th character that is no white space."""
    count = 0
    first = last = None
    for index, character in enumerate(line):
        if character.isspace():
            continue
        if count >= start and first is None:
            first = index
        if count >= end:
            break
        last = index
        count += 1
    return line[first : (last or 0) + 1] if first is not None and last is not None else ""
