"""What a registration depends on besides the `#if` arm that it stands in.

`TORCH_LIBRARY_IMPL(demo, KEY, m) {` is another block where `KEY` is another macro; so is a block with an `#if` around
its head, or around the call of the function that holds the registration. Each such registration is several, one for
each way in which the arms that it depends on go together, and a reading of the source sees but one of them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product
from typing import NamedTuple

from op_lint.condition import ALWAYS, NEVER, Condition, conjunction, negation, satisfying
from op_lint.cpp.blanked import BLOCK, Blanked, Zone
from op_lint.cpp.call_text import arguments_of
from op_lint.cpp.macro_words import MacroWords
from op_lint.cpp.scan import Directive, words
from op_lint.cpp.views import Arm, View

_CALL = re.compile(rb"(?:\.|->)\s*(?:template\s+)?(def|impl|impl_UNBOXED|fallback|op)\s*(?:<[^;{}()]*>\s*)?\(")
_HANDS_ON = re.compile(rb"([A-Za-z_]\w*)\s*(?:<[^;{}()]*>\s*)?\(\s*\Z")
_BRACE = re.compile(rb"[{}]")
_BEFORE = 200
"""Bytes before a library that is handed on in which the name of the function is looked for."""

_MOST_CHOICES = 6
"""Choices of one registration that are held against each other; nobody wrote more."""

_MOST_WAYS = 64
"""Ways in which the arms that one registration depends on can go together; further ones are not asked for."""

_Choice = tuple[Condition, ...]
"""The conditions of which one holds, and decides what a registration is."""


class _Item(NamedTuple):
    """The head of a block, or a call that registers, or has a function or a macro do it: bytes `start` to `end`.

    The name or schema, and the key, end at `said`; what is behind is a kernel.
    """

    start: int
    said: int
    end: int


class Context(NamedTuple):
    """What the registration in bytes `start` to `end` depends on besides the `own` condition of its place."""

    start: int
    end: int
    own: Condition
    choices: tuple[_Choice, ...]
    ways: tuple[Condition, ...]
    """The ways in which its arms go together."""


class Opening(NamedTuple):
    """A conditional whose arms open a brace that is closed behind it: bytes `start` to `end` are what it opens."""

    choice: _Choice
    start: int
    end: int


def contexts(view: View, code: Blanked, directives: Sequence[Directive], macros: MacroWords) -> list[Context]:
    """What each registration of `view` depends on, where that is more than the arm that it stands in."""
    finder = _Finder(view, code, directives, macros)
    if not view.arms and not finder.varying:
        return []
    found: dict[tuple[_Item, tuple[_Choice, ...]], Context] = {}
    for zone in code.zones:
        for item in finder.items(zone):
            own = view.condition_at(item.start)
            choices = tuple(choice for choice in finder.choices(item, zone) if choice not in ((ALWAYS,), (own,)))
            if choices and (item, choices) not in found:
                found[item, choices] = Context(item.start, item.end, own, choices, tuple(_ways(own, choices)))
    return list(found.values())


def _ways(own: Condition, choices: Sequence[_Choice]) -> Iterator[Condition]:
    for way in islice(product(*choices[:_MOST_CHOICES]), _MOST_WAYS):
        condition = conjunction((own, *way))
        if condition not in (ALWAYS, NEVER) and satisfying(condition) is not None:
            yield condition


def arms_of(found: Iterable[Context]) -> Iterator[Arm]:
    """The ways of all of them, as arms, each once."""
    ways = {way: context for context in reversed(list(found)) for way in context.ways}
    return (Arm(context.start, context.end, way) for way, context in ways.items())


class _Finder:
    """Finds what the registrations of one file depend on."""

    def __init__(
        self,
        view: View,
        code: Blanked,
        directives: Sequence[Directive],
        macros: MacroWords,
    ) -> None:
        self.view, self.code, self.macros, self._directives = view, code, macros, directives

    @cached_property
    def openings(self) -> Sequence[Opening]:
        """The conditionals whose arms open what is closed behind them."""
        return list(openings(self.view, self.code.code, self._directives))

    @cached_property
    def varying(self) -> Mapping[bytes, _Choice]:
        """The macros behind what registrations say that have several definitions, with the conditions of these."""
        text = self.code.code
        said = (text[item.start : item.said] for zone in self.code.zones for item in self.items(zone))
        return self.macros.varying(word for piece in said for word in words(piece))

    def items(self, zone: Zone) -> Iterator[_Item]:
        """The head and the calls of a zone of registration code."""
        start, end, match = zone
        text = self.code.code
        if BLOCK.fullmatch(match.group()):
            head = self.code.matching(match.end() - 1)
            yield _Item(start, head, head)
        for call in _CALL.finditer(text, match.end(), end):
            stop = self.code.matching(call.end() - 1)
            yield _Item(call.start(), self._said(call, stop), stop)
        for offset in self._handed_on_in(zone):
            yield _Item(offset, offset + 1, offset + 1)
        if self.macros.registering is not None:
            for use in self.macros.registering.finditer(text, match.end(), end):
                stop = self.code.matching(use.end()) if text[use.end() : use.end() + 1] == b"(" else use.end()
                yield _Item(use.start(), stop, stop)

    def _said(self, call: re.Match[bytes], end: int) -> int:
        """Where the arguments of a call end that are no kernel."""
        ends = [stop for _, stop in arguments_of(self.code.code, call.end(), end)]
        if call.group(1) == b"fallback" or not ends:
            return call.end()
        return ends[0] if len(ends) < 3 or call.group(1) == b"def" else ends[-2]

    def choices(self, item: _Item, zone: Zone) -> Iterable[_Choice]:
        """The choices that decide what a registration is."""
        return dict.fromkeys(self._choices(item, zone))

    def _choices(self, item: _Item, zone: Zone) -> Iterator[_Choice]:
        yield from self._around(item.start, zone, set())
        yield from self._macro_choices(words(self.code.code[item.start : item.said]))
        yield from self._inner(item)
        called = self._called_at(item.start)
        if called is not None and len(self._bodies.get(called, ())) > 1:
            yield tuple(self._bodies[called])

    def _around(self, offset: int, zone: Zone, seen: set[bytes]) -> Iterator[_Choice]:
        """What decides which block it is that holds `offset`: there, or where the function around it is called.

        `seen` are the functions that have been looked at.
        """
        for opening in self.openings:
            if opening.start <= offset < opening.end:
                yield opening.choice
        yield from self._macro_choices(self._head(zone))
        name = self.code.function_of(zone)
        if name is None or name in seen or name not in self._calls:
            return
        seen.add(name)
        yield tuple(dict.fromkeys(self.view.condition_at(call) for call, _ in self._calls[name]))
        for call, around in self._calls[name]:
            yield from self._around(call, around, seen)

    def _macro_choices(self, found: Iterable[bytes]) -> Iterator[_Choice]:
        """For each macro behind some words that has several definitions, the conditions of these."""
        names = self.macros.behind(found) & self.varying.keys() if self.varying else ()
        return (self.varying[name] for name in sorted(names))

    def _head(self, zone: Zone) -> list[bytes]:
        """The words of what opens a block: its namespace and key are among them."""
        _, end, match = zone
        if not BLOCK.fullmatch(match.group()):
            return []
        return list(words(self.code.code[match.end() : min(end, self.code.matching(match.end() - 1))]))

    def _inner(self, item: _Item) -> Iterator[_Choice]:
        """The arms inside of a call: `m.def("f(" #ifdef ... )`."""
        around = self.view.condition_at(item.start)
        for arm in self.view.arms:
            if item.start <= arm.start and arm.end <= item.said:
                yield (arm.condition, conjunction((around, negation(arm.condition))))

    # -- functions that registration code calls with its library

    def _called_at(self, offset: int) -> bytes | None:
        """The function that is given the library at `offset`, where that is an argument."""
        if offset not in self._handed_on:
            return None
        name = _HANDS_ON.search(self.code.code, max(0, offset - _BEFORE), offset + 1)
        return name.group(1) if name is not None else None

    @cached_property
    def _handed_on(self) -> frozenset[int]:
        return frozenset(self.code.handed_on)

    @cached_property
    def _calls(self) -> Mapping[bytes, list[tuple[int, Zone]]]:
        """Where each function is given a library, and in which zone."""
        found: dict[bytes, list[tuple[int, Zone]]] = defaultdict(list)
        for zone in self.code.zones:
            for offset in self._handed_on_in(zone):
                name = self._called_at(offset)
                if name is not None:
                    found[name].append((offset, zone))
        return found

    def _handed_on_in(self, zone: Zone) -> Sequence[int]:
        _, end, match = zone
        offsets = self.code.handed_on
        return offsets[bisect_left(offsets, match.end()) : bisect_left(offsets, end)]

    @cached_property
    def _bodies(self) -> Mapping[bytes, dict[Condition, None]]:
        """The conditions of the bodies of each function that takes a library."""
        found: dict[bytes, dict[Condition, None]] = defaultdict(dict)
        for zone in self.code.zones:
            name = self.code.function_of(zone)
            if name is not None:
                found[name][self.view.condition_at(zone[0])] = None
        return found


# ---------------------------------------------------------------- braces that an arm opens


class _Brace(NamedTuple):
    """An open brace; `opened_by` numbers the conditional in whose arms it stands."""

    opened_by: int | None


class _Conditional:
    """A conditional that is being walked through: the braces before it, and those after its first arm."""

    def __init__(self, number: int, before: list[_Brace]) -> None:
        self.number = number
        self.before = before
        self.after: list[_Brace] | None = None
        self.choice: list[Condition] = []
        self.start = 0


def openings(view: View, code: bytes, directives: Iterable[Directive]) -> Iterator[Opening]:
    """The conditionals of a file whose arms open what is closed behind them, as `code` (without directives) shows it.

    The braces behind a conditional are those of its first arm: what is balanced in one arm is so in the others.
    """
    starts = {arm.start: arm.condition for arm in view.arms}
    events: list[tuple[int, Directive | bytes]] = [(each.start, each) for each in directives if each.word in _WORDS]
    if not events:
        return
    events += [(brace.start(), brace.group()) for brace in _BRACE.finditer(code)]
    events.sort(key=lambda event: event[0])
    opened: list[_Brace] = []
    walked: list[_Conditional] = []
    conditionals: list[_Conditional] = []
    for offset, event in events:
        if isinstance(event, Directive):
            opened = _walk(event, opened, walked, conditionals, starts)
        elif event == b"{":
            opened.append(_Brace(walked[-1].number if walked else None))
        elif opened:
            number = opened.pop().opened_by
            if number is not None and conditionals[number] not in walked and len(conditionals[number].choice) > 0:
                conditional = conditionals[number]
                yield Opening(tuple(conditional.choice), conditional.start, offset)


_WORDS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"})


def _walk(
    directive: Directive,
    opened: list[_Brace],
    walked: list[_Conditional],
    conditionals: list[_Conditional],
    starts: Mapping[int, Condition],
) -> list[_Brace]:
    """The open braces behind a directive that stand for what it switches."""
    if directive.word in ("if", "ifdef", "ifndef"):
        walked.append(_Conditional(len(conditionals), list(opened)))
        conditionals.append(walked[-1])
    elif not walked:
        return opened
    conditional = walked[-1]
    if directive.word not in ("if", "ifdef", "ifndef"):
        if conditional.after is None:
            conditional.after = opened
        opened = list(conditional.before)
    if directive.word == "endif":
        walked.pop()
        conditional.start = directive.end
        return conditional.after or []
    condition = starts.get(directive.end, ALWAYS)
    if condition not in (ALWAYS, NEVER):
        conditional.choice.append(condition)
    return opened
