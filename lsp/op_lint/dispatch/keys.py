"""Dispatch keys and sets of them, as one version of torch has them.

Nothing about a version is written down here: names, order, the backends and what each alias key includes come in
a `KeyFacts`, which the probe reads from torch. What follows from them is computed as `c10/core/DispatchKeySet.h`
does: a set is a word with one bit for each backend (lowest) and one for each functionality above them, and a
per-backend functionality (`Sparse`) together with a backend (`CUDA`) is the runtime key `SparseCUDA`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import msgspec

UNDEFINED = "Undefined"
DENSE = "Dense"
AUTOGRAD_FUNCTIONALITY = "AutogradFunctionality"
AUTOGRAD_OTHER = "AutogradOther"
IMPLICIT = "CompositeImplicitAutograd"
EXPLICIT = "CompositeExplicitAutograd"
EXPLICIT_NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
IMPLICIT_NESTED = "CompositeImplicitAutogradNestedTensor"
BATCHED_DECOMPOSITION = "FuncTorchBatchedDecomposition"
AUTOGRAD = "Autograd"
PYTHON_DISPATCHER = "PythonDispatcher"

# Other names of a key: the end of `enum class DispatchKey` in c10/core/DispatchKey.h. `CatchAll` is `Undefined`
# there, but a kernel registered to it lands at CompositeImplicitAutograd (`OperatorEntry::registerKernel`).
_OTHER_NAMES = {
    "Autocast": "AutocastCUDA",
    "CPUTensorId": "CPU",
    "CUDATensorId": "CUDA",
    "CatchAll": IMPLICIT,
    "DefaultBackend": EXPLICIT,
    "PrivateUse1_PreAutograd": "AutogradPrivateUse1",
    "PrivateUse2_PreAutograd": "AutogradPrivateUse2",
    "PrivateUse3_PreAutograd": "AutogradPrivateUse3",
}

RENAMED_BACKENDS = frozenset({"mlu", "musa", "npu", "openreg"})
"""Names that backends outside torch give to `privateuseone` (`torch.utils.rename_privateuse1_backend`)."""

# HIP and VE tensors carry AutogradOther although AutogradHIP and AutogradVE exist
# (`getAutogradRelatedKeySetFromBackend`, c10/core/DispatchKeySet.h).
_WITHOUT_OWN_AUTOGRAD = frozenset({"HIP", "VE"})


class KeyFacts(msgspec.Struct, frozen=True):
    """What one torch says of its dispatch keys.

    `functionalities` are in the order of their bits, lowest priority first, and start with `Undefined`; `backends`
    likewise. `prefixes` gives, for each per-backend functionality, what stands before the backend in the names of its
    runtime keys (`Sparse` for `Sparse`, nothing for `Dense`). `aliases` maps an alias key to the runtime keys it
    includes, `autograd_backends` an autograd key to the backend keys whose kernels keep a CompositeImplicitAutograd
    kernel away from it. `devices` maps torch's device types to the key of a dense tensor there. `included` and
    `excluded` are the keys that a fresh thread adds to and takes from every call.
    """

    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    prefixes: dict[str, str]
    aliases: dict[str, tuple[str, ...]]
    autograd_backends: dict[str, tuple[str, ...]]
    devices: dict[str, str]
    included: tuple[str, ...]
    excluded: tuple[str, ...]


def key_numbers(facts: KeyFacts) -> dict[str, int]:
    """The value of each functionality and runtime key in C++'s `enum class DispatchKey`, which builds compile in.

    After the functionalities come the runtime keys of each per-backend one, in the same order (c10/core/DispatchKey.h).
    """
    numbers = {name: number for number, name in enumerate(facts.functionalities)}
    start = len(facts.functionalities) + 1
    for functionality in facts.functionalities:
        if (prefix := facts.prefixes.get(functionality)) is not None:
            numbers.update((prefix + backend, start + number) for number, backend in enumerate(facts.backends, 1))
            start += 1 + len(facts.backends)
    return numbers


class KeyKind(str, Enum):
    """What a key stands for."""

    UNDEFINED = "undefined"
    BACKEND = "backend"
    AUTOGRAD = "autograd"
    AUTOCAST = "autocast"
    FUNCTIONALITY = "functionality"
    PER_BACKEND = "per-backend functionality"
    ALIAS = "alias"


@dataclass(frozen=True, slots=True)
class KeySet:
    """A set of dispatch keys: `bits` as in torch's `DispatchKeySet::raw_repr`, which is also how sets compare."""

    bits: int
    keys: DispatchKeys = field(compare=False, repr=False)

    def __or__(self, other: KeySet) -> KeySet:
        return KeySet(self.bits | other.bits, self.keys)

    def __and__(self, other: KeySet) -> KeySet:
        return KeySet(self.bits & other.bits, self.keys)

    def __sub__(self, other: KeySet) -> KeySet:
        """Without the functionalities of `other`; backends stay, as in `DispatchKeySet::operator-`."""
        return KeySet(self.bits & (self.keys.backend_mask | ~other.bits), self.keys)

    def __contains__(self, key: str) -> bool:
        wanted = self.keys.bits(key)
        return bool(wanted) and self.bits & wanted == wanted

    def __iter__(self) -> Iterator[str]:
        """The runtime keys of the set, lowest priority first."""
        return self.keys.names(self.bits)

    def __bool__(self) -> bool:
        return self.bits != 0

    @property
    def highest(self) -> str:
        """The runtime key that a call with this set runs; `Undefined` where no functionality is in it."""
        return self.keys.highest(self.bits)


class DispatchKeys:
    """The dispatch keys of one torch: which there are, their order, and what alias keys include."""

    def __init__(self, facts: KeyFacts) -> None:
        self.facts = facts
        self.backend_mask = (1 << len(facts.backends)) - 1
        self._shift = len(facts.backends)
        self._bits: dict[str, int] = {UNDEFINED: 0}
        self._parts: dict[str, tuple[str, str | None]] = {}
        runtime = [UNDEFINED]
        for position, functionality in enumerate(facts.functionalities[1:]):
            bit = 1 << (self._shift + position)
            self._bits[functionality] = bit
            prefix = facts.prefixes.get(functionality)
            if prefix is None:
                runtime.append(functionality)
                self._parts[functionality] = (functionality, None)
                continue
            for index, backend in enumerate(facts.backends):
                key = prefix + backend
                runtime.append(key)
                self._bits[key] = bit | 1 << index
                self._parts[key] = (functionality, backend)
        self.runtime: tuple[str, ...] = tuple(runtime)
        """Every key with an entry of its own in the table, lowest priority first, `Undefined` at the front."""
        self._included = {alias: frozenset(keys) for alias, keys in facts.aliases.items()}
        self._autograd_backends = {key: self.set(*backends).bits for key, backends in facts.autograd_backends.items()}

    def canonical(self, name: str) -> str | None:
        """The key's own name for any name of it in C++ or Python; None if this torch has no such key."""
        own = _OTHER_NAMES.get(name, name)
        return own if own in self._bits or own in self._included else None

    def bits(self, key: str) -> int:
        """The bits of `key`, 0 for `Undefined` and alias keys. Raises KeyError for a key that is not this torch's."""
        return 0 if key in self._included else self._bits[key]

    def set(self, *keys: str) -> KeySet:
        """The set of these keys; KeyError as `bits`."""
        bits = 0
        for key in keys:
            bits |= self.bits(key)
        return KeySet(bits, self)

    def is_alias(self, key: str) -> bool:
        """Whether `key` is registered to, but never dispatched to."""
        return key in self._included

    def is_runtime(self, key: str) -> bool:
        """Whether the table has an entry for `key`."""
        return key == UNDEFINED or key in self._parts

    def included(self, alias: str) -> frozenset[str]:
        """The runtime keys that a kernel at `alias` may serve; nothing for any other key (`isIncludedInAlias`)."""
        return self._included.get(alias, frozenset())

    def autograd_backends(self, key: str) -> int:
        """The bits of the backends that `key` is the autograd key of (`getBackendKeySetFromAutograd`)."""
        return self._autograd_backends.get(key, 0)

    def split(self, key: str) -> tuple[str, str | None]:
        """The functionality and the backend of a runtime key; the backend is None where the key has none of its own."""
        return self._parts.get(key, (key, None))

    def join(self, functionality: str, backend: str) -> str:
        """The runtime key of a per-backend `functionality` for `backend`."""
        return self.facts.prefixes[functionality] + backend

    def names(self, bits: int) -> Iterator[str]:
        """The runtime keys in `bits`, lowest priority first."""
        backends = [backend for index, backend in enumerate(self.facts.backends) if bits >> index & 1]
        for functionality in self.facts.functionalities[1:]:
            if bits & self._bits[functionality] == 0:
                continue
            prefix = self.facts.prefixes.get(functionality)
            if prefix is None:
                yield functionality
            else:
                yield from (prefix + backend for backend in backends)

    def highest_backend(self, bits: int) -> int:
        """The index of the highest backend in `bits`; 0, the lowest, where there is none (`getBackendIndex`)."""
        return ((bits & self.backend_mask) >> 1).bit_length()

    def highest(self, bits: int) -> str:
        """The runtime key of highest priority in `bits`."""
        functionality = self.facts.functionalities[(bits >> self._shift).bit_length()]
        prefix = self.facts.prefixes.get(functionality)
        return functionality if prefix is None else prefix + self.facts.backends[self.highest_backend(bits)]

    def below(self, key: str) -> KeySet:
        """All backends, the functionalities of lower priority than `key`'s, and PythonDispatcher (`FULL_AFTER`)."""
        lower = (1 << (self._bits[self.split(key)[0]].bit_length() - 1)) - 1
        return KeySet(lower | self._bits[PYTHON_DISPATCHER], self)

    @cached_property
    def autograd(self) -> KeySet:
        """The autograd functionalities, without backends (`autograd_dispatch_keyset`)."""
        names = (AUTOGRAD_FUNCTIONALITY, *(key for key in self.included(AUTOGRAD) if self.split(key)[1] is None))
        return self.set(*names)

    @cached_property
    def _backend_keys(self) -> frozenset[str]:
        return self.included(EXPLICIT) | self.included(IMPLICIT) - self.included(AUTOGRAD)

    def kind(self, key: str) -> KeyKind:
        """What `key` stands for."""
        if key == UNDEFINED:
            return KeyKind.UNDEFINED
        if self.is_alias(key):
            return KeyKind.ALIAS
        if key in self.facts.prefixes:
            return KeyKind.PER_BACKEND
        if key in self.included(AUTOGRAD):
            return KeyKind.AUTOGRAD
        if key in self._backend_keys:
            return KeyKind.BACKEND
        return KeyKind.AUTOCAST if key.startswith("Autocast") else KeyKind.FUNCTIONALITY


def autograd_key(keys: DispatchKeys, backend: str | None) -> str:
    """The autograd key that tensors of a backend carry (`getAutogradKeyFromBackend`)."""
    if backend is None or backend in _WITHOUT_OWN_AUTOGRAD:
        return AUTOGRAD_OTHER
    return keys.join(AUTOGRAD_FUNCTIONALITY, backend)
