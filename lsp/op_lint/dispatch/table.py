"""The computed dispatch table: which kernel an operator has at each runtime key, and why.

The order of precedence is that of `OperatorEntry::computeDispatchTableEntryWithDebug`
(aten/src/ATen/core/dispatch/OperatorEntry.cpp, torch 2.4 to 2.14).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property, lru_cache

import msgspec

from op_lint.dispatch.keys import (
    AUTOGRAD,
    AUTOGRAD_OTHER,
    BATCHED_DECOMPOSITION,
    EXPLICIT,
    EXPLICIT_NON_FUNCTIONAL,
    IMPLICIT,
    IMPLICIT_NESTED,
    UNDEFINED,
    DispatchKeys,
    KeySet,
    autograd_key,
)
from op_lint.dispatch.registration import Operator, Registration

_KEPT = 4096
"""Shapes of tables kept in one process; a library has tens."""


class Reason(str, Enum):
    """Why an entry is what it is: what torch's table says in brackets."""

    KERNEL = "kernel"
    DEFAULT_BACKEND = "default backend kernel"
    NESTED = "nested kernel"
    AMBIGUOUS = "ambiguous autogradother"
    MATH = "math kernel"
    AUTOGRAD = "autograd kernel"
    BATCHED = "batched kernel"
    FALLBACK = "backend fallback"
    MISSING = "missing"


class Entry(msgspec.Struct, frozen=True):
    """What a call with `key` as its highest key runs. `registration` is None for a missing or an ambiguous entry."""

    key: str
    reason: Reason
    registration: Registration | None = None

    @property
    def missing(self) -> bool:
        """Whether a call that reaches this entry raises NotImplementedError."""
        return self.reason is Reason.MISSING

    @property
    def fallthrough(self) -> bool:
        """Whether dispatch skips this entry."""
        return self.registration is not None and self.registration.fallthrough


class Shape:
    """What the keys at which an operator has kernels make of its table, whatever the kernels are.

    The operators of a library have few such sets of keys, and an edit seldom makes a new one: `shape_of` keeps them.
    """

    def __init__(self, keys: DispatchKeys, registered: frozenset[str]) -> None:
        self.keys = keys
        self.registered = registered
        self._direct_bits = [bits for bits in map(keys.bits, registered) if bits]
        self._sources: dict[str, tuple[Reason, str | None]] = {}

    def __getitem__(self, key: str) -> tuple[Reason, str | None]:
        """Why the entry at a runtime key is what it is, and the key of the kernel that serves it.

        There is none at an ambiguous entry, and at a missing one, where a backend fallback may step in.
        """
        source = self._sources.get(key)
        if source is None:
            source = self._sources[key] = self._compute(key)
        return source

    @cached_property
    def reached(self) -> frozenset[str]:
        """The registered keys whose kernels serve an entry."""
        return frozenset(source for _, source in map(self.__getitem__, self.keys.runtime) if source is not None)

    @cached_property
    def is_ambiguous(self) -> bool:
        """Whether an entry is ambiguous."""
        return any(self[key][0] is Reason.AMBIGUOUS for key in self.keys.runtime)

    def has_kernel_in(self, bits: int) -> bool:
        """Whether there is a kernel at one of these backend keys."""
        return bits != 0 and any(bits & direct == direct for direct in self._direct_bits)

    def _has_alias(self, key: str, alias: str) -> bool:
        return alias in self.registered and key in self.keys.included(alias)

    def _has_composite(self, key: str, alias: str) -> bool:
        """As `_has_alias`, for the three aliases that serve `Undefined` too, although no set can hold it."""
        return alias in self.registered if key == UNDEFINED else self._has_alias(key, alias)

    def _compute(self, key: str) -> tuple[Reason, str | None]:
        keys = self.keys
        if key in self.registered:
            return Reason.KERNEL, key
        for alias in (EXPLICIT_NON_FUNCTIONAL, EXPLICIT):
            if self._has_composite(key, alias):
                return Reason.DEFAULT_BACKEND, alias
        if self._has_alias(key, IMPLICIT_NESTED):
            return Reason.NESTED, IMPLICIT_NESTED
        if self._has_composite(key, IMPLICIT):
            backends = keys.autograd_backends(key)
            has_backend_kernel = self.has_kernel_in(backends)
            if key == AUTOGRAD_OTHER and has_backend_kernel:
                return Reason.AMBIGUOUS, None
            if not has_backend_kernel and EXPLICIT not in self.registered:
                return Reason.MATH, IMPLICIT
        if self._has_alias(key, AUTOGRAD):
            return Reason.AUTOGRAD, AUTOGRAD
        if self._has_alias(key, BATCHED_DECOMPOSITION):
            return Reason.BATCHED, BATCHED_DECOMPOSITION
        return Reason.MISSING, None


@lru_cache(maxsize=_KEPT)
def shape_of(keys: DispatchKeys, registered: frozenset[str]) -> Shape:
    """The shape of a table with kernels at these keys (their own names in this torch), kept."""
    return Shape(keys, registered)


class Table:
    """The table of one operator. Keys may go by any of their names; one that is not this torch's changes nothing."""

    def __init__(self, keys: DispatchKeys, operator: Operator, fallbacks: Mapping[str, Registration]) -> None:
        self.keys = keys
        self.operator = operator
        self.fallbacks = fallbacks
        self.kernels: Mapping[str, Registration] = {
            key: registration
            for registration in operator.registrations
            if (key := keys.canonical(registration.key)) is not None
        }
        """The registration in effect at each key that has one, under the keys' own names."""
        self.shape = shape_of(keys, frozenset(self.kernels))
        self._entries: dict[str, Entry] = {}

    def __getitem__(self, key: str) -> Entry:
        """The entry at a runtime key."""
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = self._entry(key)
        return entry

    def _entry(self, key: str) -> Entry:
        reason, source = self.shape[key]
        if source is not None:
            return Entry(key, reason, self.kernels[source])
        if reason is Reason.MISSING and (fallback := self.fallbacks.get(key)) is not None:
            return Entry(key, Reason.FALLBACK, fallback)
        return Entry(key, reason)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """An entry for every runtime key, in the dispatcher's order: `Undefined`, then from the lowest priority up."""
        return tuple(self[key] for key in self.keys.runtime)

    @property
    def stale(self) -> tuple[str, ...]:
        """The runtime keys whose entry is not the computed one: none, but see `LiveTable`."""
        return ()

    def fallthroughs(self, backend: int) -> KeySet:
        """The functionalities that a call skips when its highest backend is the one of that index.

        A fallthrough is skipped for its own backend only (`nonFallthroughKeysPerBackend_` in DispatchKeyExtractor.h).
        """
        name = self.keys.facts.backends[backend]
        bits = 0
        for functionality in self.keys.facts.functionalities[1:]:
            per_backend = functionality in self.keys.facts.prefixes
            if self[self.keys.join(functionality, name) if per_backend else functionality].fallthrough:
                bits |= self.keys.bits(functionality)
        return KeySet(bits, self.keys)

    def dump(self) -> str:
        """The table as torch prints it (`torch._C._dispatch_dump_table`)."""
        return "".join(_dump_line(entry) for entry in self.entries if not entry.missing)


class LiveTable(Table):
    """The table that calls really use, which may differ from the computed one.

    Torch brings only some entries up to date when a kernel is registered (`OperatorEntry::updateDispatchTable_`), so
    a few depend on the order of registration: CompositeImplicitAutograd and then SparseCPU leaves the composite
    kernel at AutogradOther, the other way round the entry is ambiguous. `_dispatch_dump_table` does not show it.
    """

    def __init__(self, keys: DispatchKeys, operator: Operator, fallbacks: Mapping[str, Registration]) -> None:
        super().__init__(keys, operator, fallbacks)
        bare = Table(keys, msgspec.structs.replace(operator, registrations=()), fallbacks)
        self._entries = {key: bare[key] for key in keys.runtime}
        for count, registration in enumerate(operator.registrations, 1):
            prefix = msgspec.structs.replace(operator, registrations=operator.registrations[:count])
            so_far = Table(keys, prefix, fallbacks)
            self._entries.update((key, so_far[key]) for key in _refreshed(keys, registration))

    @cached_property
    def stale(self) -> tuple[str, ...]:
        """The runtime keys where a call finds another kernel than the computed table shows."""
        computed = Table(self.keys, self.operator, self.fallbacks)
        return tuple(key for key in self.keys.runtime if self[key].registration is not computed[key].registration)


def _refreshed(keys: DispatchKeys, registration: Registration) -> Iterator[str]:
    """The runtime keys whose entries torch computes anew for a registration."""
    key = keys.canonical(registration.key)
    if registration.keyless:
        yield from keys.runtime
    elif key is None:
        return
    elif keys.is_alias(key):
        yield from keys.included(key)
        if key in (IMPLICIT, EXPLICIT, EXPLICIT_NON_FUNCTIONAL):
            yield UNDEFINED
    elif keys.is_runtime(key):
        yield key
        if key in keys.included(EXPLICIT):
            yield autograd_key(keys, keys.split(key)[1])


def _dump_line(entry: Entry) -> str:
    # An ambiguous entry is the only one without a registration; its name is that of torch's own kernel.
    origin = "ambiguous_autogradother" if entry.registration is None else entry.registration.origin
    return f"{entry.key}: {'fallthrough ' if entry.fallthrough else ''}{origin} [{entry.reason.value}]\n"
