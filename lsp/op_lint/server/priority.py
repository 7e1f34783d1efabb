"""Where a dispatch key stands: what a call meets before it and after it, and who stands in for it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from op_lint.dispatch.keys import (
    AUTOGRAD,
    EXPLICIT,
    EXPLICIT_NON_FUNCTIONAL,
    IMPLICIT,
    UNDEFINED,
    DispatchKeys,
    KeyKind,
    autograd_key,
)
from op_lint.facts import KernelKind, OperatorName
from op_lint.program import Program

_ALONG = ("ADInplaceOrView", "BackendSelect")
"""What every thread adds to a call (`KeyFacts.included`)."""

_NEIGHBOURS = 3


class Row(msgspec.Struct, frozen=True):
    """A key on the way of a call, the highest first. `here` marks the key that is asked about."""

    key: str
    note: str
    kernels: str = ""
    here: bool = False


def way_through(program: Program, keys: DispatchKeys, key: str, namespace: str | None) -> tuple[Row, ...]:
    """The keys that a call which reaches `key` meets, in order; for a key without a backend, its neighbours."""
    names = list(_on_the_way(keys, key))
    order = {name: index for index, name in enumerate(keys.runtime)}
    ordered = sorted(set(names), key=lambda name: -order[name])
    return tuple(
        Row(name, _note(program, keys, name), _count(program, keys, name, namespace), name == key) for name in ordered
    )


def _on_the_way(keys: DispatchKeys, key: str) -> Iterator[str]:
    backend = _backend(keys, key)
    if backend is None:
        single = [name for name in keys.runtime if name == key or (keys.split(name)[1] is None and name != UNDEFINED)]
        position = single.index(key)
        yield from single[max(0, position - _NEIGHBOURS) : position + _NEIGHBOURS + 1]
        return
    yield key
    yield from (name for name in (f"Autocast{backend}", autograd_key(keys, backend), *_ALONG) if keys.is_runtime(name))
    if keys.kind(key) in (KeyKind.AUTOGRAD, KeyKind.AUTOCAST):
        yield backend


def _backend(keys: DispatchKeys, key: str) -> str | None:
    """The backend of the calls that reach `key`; autocast has keys of its own for some."""
    if keys.kind(key) is KeyKind.AUTOCAST:
        backend = key.removeprefix("Autocast")
        return backend if keys.is_runtime(backend) else None
    return keys.split(key)[1]


def _note(program: Program, keys: DispatchKeys, key: str) -> str:
    if key.startswith("Autocast"):
        return "only under torch.autocast"
    kind = keys.kind(key)
    fallback = _fallback(program, key)
    if fallback is KernelKind.FALLTHROUGH:
        return "fallthrough: skipped"
    if kind is KeyKind.AUTOGRAD:
        return "outside inference mode"
    if kind is KeyKind.BACKEND:
        return "the backend's kernels"
    return "has a fallback" if fallback else ""


def _fallback(program: Program, key: str) -> KernelKind | None:
    found = program.fallbacks_at(key)
    if found:
        return found[-1].fact.kernel.kind
    installed = program.installed.fallback_registrations() if program.installed else {}
    return installed[key].kind if key in installed else None


def _count(program: Program, keys: DispatchKeys, key: str, namespace: str | None) -> str:
    if namespace is None:
        return ""
    defined = program.defined_in(namespace)
    if not defined:
        return ""
    with_kernel = len(having(program, namespace, key))
    if keys.kind(key) is KeyKind.AUTOGRAD:
        # A composite kernel's gradient comes from the operators that it calls.
        rest = ", else a fallback" if with_kernel < len(defined) else ""
        return f"{with_kernel} of {len(defined)}{rest}"
    if not with_kernel and keys.kind(key) is not KeyKind.BACKEND:
        return ""
    return f"{with_kernel} of {len(defined)}"


def having(program: Program, namespace: str, key: str) -> tuple[OperatorName, ...]:
    """The operators of a namespace with a kernel at `key` itself, or at Autograd for an autograd key."""
    keys = program.keys
    wanted = {key}
    if keys is not None and keys.kind(key) is KeyKind.AUTOGRAD:
        wanted.add(AUTOGRAD)
    return tuple(name for name in program.defined_in(namespace) if wanted & program.kernels_of(name).keys())


def stand_ins(keys: DispatchKeys, key: str) -> tuple[str, ...]:
    """The alias keys that reach `key`, in the order in which the dispatcher asks them (`Table`)."""
    order = (EXPLICIT_NON_FUNCTIONAL, EXPLICIT, IMPLICIT, AUTOGRAD)
    rest = sorted(alias for alias in keys.facts.aliases if alias not in order)
    return tuple(alias for alias in (*order, *rest) if key in keys.included(alias))
