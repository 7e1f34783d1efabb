"""How the rows of what a parse finds are made: units, definitions, kernels, and what could not be known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from op_lint.condition import Condition, conjunction
from op_lint.cpp.blanked import BLOCK_MACROS
from op_lint.cpp.clang import qualified_name
from op_lint.cpp.cursors import body_of, type_name
from op_lint.cpp.keys import DEFAULT_KEY
from op_lint.cpp.libclang import Cursor
from op_lint.cpp.registrations import Registrations
from op_lint.cpp.sources import SourceMap
from op_lint.facts import (
    ClassDefinition,
    Definition,
    Delegation,
    Fallback,
    Implementation,
    Kernel,
    OperatorName,
    Place,
    Text,
    Unit,
    UnitKind,
    Unresolved,
)

_MACRO_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_NAME = re.compile(r"\s*(?:([A-Za-z_][\w.]*)::)?([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?")
_ILLEGAL_NAME = re.compile(r"\s*(?:([^\s():]+)::)?([^\s().:]+)(?:\.([^\s().]+))?")
"""What stands where a name should, and torch refuses: rules say so."""

_LEGACY = frozenset({b"RegisterOperators"})

_SHOWN = 60

IN_LOOP = "in a loop"
"""The run-time guard of what a loop registers."""

FIRST_TIME = "the first time"
"""The run-time guard of what the initialiser of a static variable of a function registers."""

_MOST_REPEATS = 2
"""Rows of one call that differ in nothing but the calls that lead to it: two are enough to be one too many."""


@dataclass(frozen=True)
class Site:
    """Where a registering call stands, in which unit, under which run-time condition it runs, and through which calls.

    `calls` are those of functions by which the block comes to it, the outermost first.
    """

    unit: int
    place: Place
    spelled: Place | None
    guard: str | None
    calls: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Given:
    """A kernel as a call gives it, and the key that the call itself names."""

    kernel: Kernel
    key: str | None = None
    key_place: Place | None = None
    is_known: bool = True
    """False where the call names a key, and which one cannot be known."""


class Recorder:
    """Makes the rows of `found`."""

    def __init__(self, sources: SourceMap) -> None:
        self.sources = sources
        self.found = Registrations()
        self._python_modules: dict[int, str] = {}
        self._filled: set[int | None] = set()
        self._repeats: Counter[Hashable] = Counter()

    # -- units

    def block(
        self, kind: UnitKind, cursor: Cursor, place: Place, namespace: str, key: str | None, function: Cursor | None
    ) -> int:
        """The unit of the static initialiser or library object at `cursor`; `function` is the block's own."""
        sources = self.sources
        view = sources.view_of(place)
        name = sources.word_at(view, sources.tu.expansion(cursor.location).offset)
        is_macro = name != cursor.spelling
        block = body_of(function) if function is not None else None
        return self._add(
            Unit(
                id=len(self.found.units),
                kind=kind,
                macro=sources.word_at(view, place.start) if is_macro else type_name(cursor.type),
                place=place,
                namespace=None if namespace == "_" else namespace,
                key=key,
                namespace_macro=namespace if _MACRO_NAME.fullmatch(namespace) else None,
                namespace_place=sources.find_word(place, namespace),
                key_place=sources.find_word(place, key) if key else None,
                stable="stable::" in type_name(cursor.type),
                condition=sources.condition(place),
                body=sources.place(block) if block is not None else None,
                spelled=sources.block_in_macro(cursor, BLOCK_MACROS),
            )
        )

    def helper(self, function: Cursor, place: Place, block: Cursor, stable: bool) -> int:
        """The unit of a function that takes a library and that no block of this file calls."""
        return self._add(
            Unit(
                id=len(self.found.units),
                kind=UnitKind.HELPER,
                macro="torch::Library&",
                place=place,
                namespace=None,
                stable=stable,
                condition=self.sources.condition(place),
                body=self.sources.place(block),
                function=qualified_name(function),
            )
        )

    def legacy(self, cursor: Cursor, place: Place) -> int:
        """The unit of a `RegisterOperators` object."""
        return self._add(
            Unit(
                id=len(self.found.units),
                kind=UnitKind.LEGACY,
                macro="RegisterOperators",
                place=place,
                namespace=None,
                condition=self.sources.condition(place),
                spelled=self.sources.block_in_macro(cursor, _LEGACY),
            )
        )

    def _add(self, unit: Unit) -> int:
        self.found.units.append(unit)
        return unit.id

    def drop_if_empty(self, unit: int) -> None:
        """Take back `unit`, the last one, if nothing was registered in it."""
        if unit not in self._filled and self.found.units[-1].id == unit:
            self.found.units.pop()

    def set_python_module(self, unit: int, module: str) -> None:
        """What follows in this unit has its fake kernels in a Python module."""
        self._python_modules[unit] = module

    # -- rows

    def define(self, text: Text, given: Given | None, tags: tuple[str, ...], analysis: str | None, site: Site) -> None:
        """An operator comes into being, with a kernel perhaps."""
        name = self._name(text, "def", site)
        if name is None or not self._is_known(given, "def", site) or self._is_idle_repeat(site, text):
            return
        self._filled.add(site.unit)
        self.found.definitions.append(
            Definition(
                unit=site.unit,
                operator=self._operator(site.unit, name),
                place=site.place,
                name_place=text.place_of(name.start(2), name.end()),
                text=text,
                schema=text if "(" in text.value else None,
                kernel=given.kernel if given else None,
                key=given.key if given else None,
                key_place=given.key_place if given else None,
                explicit_namespace=name.group(1),
                tags=tags,
                python_module=self._python_modules.get(site.unit),
                alias_analysis=analysis,
                condition=self._condition(site),
                runtime_guard=site.guard,
                spelled=site.spelled,
                calls=site.calls,
            )
        )

    def implement(self, text: Text, given: Given, site: Site) -> None:
        """An operator gets a kernel at a key."""
        name = self._name(text, "impl", site)
        if name is None or not self._is_known(given, "impl", site) or self._is_idle_repeat(site, text, given.key):
            return
        block = self.found.units[site.unit]
        self._filled.add(site.unit)
        self.found.implementations.append(
            Implementation(
                unit=site.unit,
                operator=self._operator(site.unit, name),
                key=given.key or block.key or DEFAULT_KEY,
                kernel=given.kernel,
                place=site.place,
                name_place=text.place_of(name.start(2), name.end()),
                text=text,
                key_place=given.key_place or block.key_place,
                call_key=given.key,
                explicit_namespace=name.group(1),
                condition=self._condition(site),
                runtime_guard=site.guard,
                spelled=site.spelled,
                calls=site.calls,
            )
        )

    def fall_back(self, given: Given, site: Site) -> None:
        """Every operator gets a kernel at a key."""
        if not self._is_known(given, "fallback", site) or self._is_idle_repeat(site, None, given.key):
            return
        block = self.found.units[site.unit]
        self._filled.add(site.unit)
        self.found.fallbacks.append(
            Fallback(
                unit=site.unit,
                key=given.key or block.key,
                kernel=given.kernel,
                place=site.place,
                namespace=block.namespace,
                key_place=given.key_place or block.key_place,
                condition=self._condition(site),
                runtime_guard=site.guard,
                spelled=site.spelled,
                calls=site.calls,
            )
        )

    def delegate(self, function: str, site: Site) -> None:
        """A block hands its library to a function whose body is not here."""
        if self._is_idle_repeat(site, None, function):
            return
        self._filled.add(site.unit)
        condition = self._condition(site)
        self.found.delegations.append(Delegation(site.unit, function, site.place, condition, site.guard, site.calls))

    def define_class(self, site: Site) -> None:
        """A TorchScript class comes into being."""
        self._filled.add(site.unit)
        condition = self._condition(site)
        self.found.classes.append(ClassDefinition(site.unit, site.place, condition=condition, runtime_guard=site.guard))

    def unresolved_call(self, what: str, reason: str, site: Site) -> None:
        """A registering call of which something is not known."""
        in_loop = site.guard is not None and site.guard.endswith(IN_LOOP)
        reason = f"{reason} (registered in a loop)" if in_loop else reason
        self.unresolved(what, reason, site.place, site.unit, site.calls)

    def unresolved(self, what: str, reason: str, place: Place, unit: int | None, calls: tuple[Place, ...] = ()) -> None:
        """A registration that is there and cannot be known; `calls` as in `Site`."""
        block = self.found.units[unit] if unit is not None else None
        self._filled.add(unit)
        self.found.unresolved.append(
            Unresolved(
                what=what,
                reason=reason,
                place=place,
                unit=unit,
                namespace=block.namespace if block else None,
                key=block.key if block else None,
                condition=self._condition_of((*calls, place)),
            )
        )

    def _condition(self, site: Site) -> Condition:
        """The condition under which what is at `site` is compiled, and so is each call that leads to it."""
        return self._condition_of((*site.calls, site.place))

    def _condition_of(self, places: tuple[Place, ...]) -> Condition:
        return conjunction(map(self.sources.condition, places))

    def _is_idle_repeat(self, site: Site, text: Text | None, more: str | None = None) -> bool:
        """Whether functions that call each other have come to this often enough: once more says nothing new."""
        if not site.calls:
            return False
        what = (site.unit, site.place, site.spelled, site.guard, self._condition(site), text, more)
        self._repeats[what] += 1
        return self._repeats[what] > _MOST_REPEATS

    def _name(self, text: Text, what: str, site: Site) -> re.Match[str] | None:
        name = _NAME.match(text.value) or _ILLEGAL_NAME.match(text.value)
        if name is None:
            self.unresolved_call(what, f"no operator name in {text.value[:_SHOWN]!r}", site)
        return name

    def _is_known(self, given: Given | None, what: str, site: Site) -> bool:
        if given is not None and not given.is_known:
            self.unresolved_call(what, "the dispatch key is not a constant", site)
            return False
        return True

    def _operator(self, unit: int, name: re.Match[str]) -> OperatorName:
        namespace = name.group(1) or self.found.units[unit].namespace or ""
        return OperatorName(namespace, name.group(2), name.group(3) or "")
