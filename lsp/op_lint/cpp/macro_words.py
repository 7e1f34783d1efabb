"""Which macros stand behind the words of a source, and which of them have several definitions to choose from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from op_lint.condition import ALWAYS, NEVER, Condition, disjunction, negation
from op_lint.cpp.scan import Directive
from op_lint.cpp.scanned import ScannedFile
from op_lint.cpp.views import View


class MacroWords:
    """The macros that the files of a parse define, asked for by name.

    `registering` finds the uses of those in which registrations are hidden.
    """

    def __init__(
        self, views: Sequence[View], scanned: Callable[[View], ScannedFile], registering: re.Pattern[bytes] | None
    ) -> None:
        self._views, self._scanned, self.registering = views, scanned, registering
        self._behind: dict[bytes, frozenset[bytes]] = {}

    def behind(self, words: Iterable[bytes]) -> frozenset[bytes]:
        """`words` and, where they are macros, the words that these come to.

        A macro with parameters that a body uses for something else than to register (a check, a cast) is not among
        them: it makes no part of a name, a schema or a key.
        """
        found: set[bytes] = set()
        waiting = set(words)
        while waiting:
            found |= waiting
            waiting = {each for word in waiting for each in self._in_bodies(word) if self._says_something(each)} - found
        return frozenset(found)

    def _says_something(self, name: bytes) -> bool:
        if self.registering is not None and self.registering.fullmatch(name):
            return True
        return all(_OBJECT.fullmatch(directive.argument) for _, directive in self._definitions(name))

    def _in_bodies(self, name: bytes) -> frozenset[bytes]:
        """The words in all bodies of the macro `name`; none where it is no macro."""
        known = self._behind.get(name)
        if known is None:
            bodies = (_STRING.sub(b" ", directive.argument) for _, directive in self._definitions(name))
            known = self._behind[name] = frozenset(word for body in bodies for word in _WORD.findall(body))
        return known

    def varying(self, words: Iterable[bytes]) -> dict[bytes, tuple[Condition, ...]]:
        """The macros behind `words` that have several definitions, with the conditions of these."""
        if not any(view.tests for view in self._views):
            return {}
        choices = ((name, self._choice(name)) for name in self.behind(words))
        return {name: choice for name, choice in choices if choice}

    def _definitions(self, name: bytes) -> list[tuple[View, Directive]]:
        return [(view, each) for view in self._views for each in self._scanned(view).definitions.get(name, ())]

    def _choice(self, name: bytes) -> tuple[Condition, ...]:
        found = self._definitions(name)
        if len(found) < 2:
            return ()
        conditions = dict.fromkeys(view.condition_at(directive.start) for view, directive in found)
        if len(conditions) < 2:
            return ()
        some = [condition for condition in conditions if condition not in (ALWAYS, NEVER)]
        if ALWAYS not in conditions:
            return tuple(some)
        return (*some, negation(disjunction(some)))


_WORD = re.compile(rb"[A-Za-z_]\w*")
_STRING = re.compile(rb'"[^"\n]*"')
_OBJECT = re.compile(rb"[A-Za-z_]\w*(?!\()(?:\s.*)?", re.DOTALL)
"""What a `#define` says of a macro without parameters."""
