"""The computed dispatch table: which kernel an operator has at each runtime key, and why.

The order of precedence is that of `OperatorEntry::computeDispatchTableEntryWithDebug`
(aten/src/ATen/core/dispatch/OperatorEntry.cpp, torch 2.4 to 2.14).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property

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


class Table:
    """The table of one operator. Keys may go by any of their names; one that is not this torch's changes nothing."""

    def __init__(self, keys: DispatchKeys, operator: Operator, fallbacks: Mapping[str, Registration]) -> None:
        self.keys = keys
        self.operator = operator
        self.fallbacks = fallbacks
        self._kernels = {
            key: registration
            for registration in operator.registrations
            if (key := keys.canonical(registration.key)) is not None
        }
        self._direct_bits = [bits for bits in map(keys.bits, self._kernels) if bits]
        self._entries: dict[str, Entry] = {}

    def __getitem__(self, key: str) -> Entry:
        """The entry at a runtime key."""
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = self._compute(key)
        return entry

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """An entry for every runtime key, in the dispatcher's order: `Undefined`, then from the lowest priority up."""
        return tuple(self[key] for key in self.keys.runtime)

    @property
    def stale(self) -> tuple[str, ...]:
        """The runtime keys whose entry is not the computed one: none, but see `LiveTable`."""
        return ()

    def _any_kernel_in(self, bits: int) -> bool:
        return any(bits & direct == direct for direct in self._direct_bits)

    def _from_alias(self, key: str, alias: str) -> Registration | None:
        return self._kernels.get(alias) if key in self.keys.included(alias) else None

    def _from_composite(self, key: str, alias: str) -> Registration | None:
        """As `_from_alias`, for the three aliases that serve `Undefined` too, although no set can hold it."""
        return self._kernels.get(alias) if key == UNDEFINED else self._from_alias(key, alias)

    def _compute(self, key: str) -> Entry:
        keys, kernels = self.keys, self._kernels
        if key in kernels:
            return Entry(key, Reason.KERNEL, kernels[key])
        for alias in (EXPLICIT_NON_FUNCTIONAL, EXPLICIT):
            if (found := self._from_composite(key, alias)) is not None:
                return Entry(key, Reason.DEFAULT_BACKEND, found)
        if (found := self._from_alias(key, IMPLICIT_NESTED)) is not None:
            return Entry(key, Reason.NESTED, found)
        if (found := self._from_composite(key, IMPLICIT)) is not None:
            backends = keys.autograd_backends(key)
            has_backend_kernel = backends != 0 and self._any_kernel_in(backends)
            if key == AUTOGRAD_OTHER and has_backend_kernel:
                return Entry(key, Reason.AMBIGUOUS)
            if not has_backend_kernel and EXPLICIT not in kernels:
                return Entry(key, Reason.MATH, found)
        if (found := self._from_alias(key, AUTOGRAD)) is not None:
            return Entry(key, Reason.AUTOGRAD, found)
        if (found := self._from_alias(key, BATCHED_DECOMPOSITION)) is not None:
            return Entry(key, Reason.BATCHED, found)
        if (fallback := self.fallbacks.get(key)) is not None:
            return Entry(key, Reason.FALLBACK, fallback)
        return Entry(key, Reason.MISSING)

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
