"""Code lens: over each definition, where the operator has kernels and how often Python uses it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from op_lint.facts import OperatorName, Place, UseKind
from op_lint.server.snapshot import Snapshot

_BACKENDS = ("CPU", "CUDA", "Meta")


class Lens(msgspec.Struct, frozen=True):
    """A line of text over a definition."""

    title: str
    operator: OperatorName
    place: Place


def lenses(snapshot: Snapshot, path: str) -> Iterator[Lens]:
    """One lens for each definition in a file."""
    for facts in snapshot.facts_about(path):
        for definition in facts.definitions:
            if definition.place.path == path:
                yield Lens(title(snapshot, definition.operator), definition.operator, definition.name_place)


def title(snapshot: Snapshot, operator: OperatorName) -> str:
    """`CPU ✓ CUDA ✓ Meta ✗ · autograd: none · 12 uses`."""
    kernels = snapshot.program.kernels_of(operator)
    table = snapshot.table(operator)
    words = []
    for key in _BACKENDS:
        served = key in kernels
        if not served and table is not None and table.keys.is_runtime(key):
            entry = table[key]
            served = not entry.missing and entry.reason.value != "backend fallback"
        words.append(f"{key} {'✓' if served else '✗'}")
    own = [key for key in kernels if key.startswith("Autograd")]
    composite = "CompositeImplicitAutograd" in kernels
    autograd = ", ".join(own) if own else "through its parts" if composite else "none"
    uses = [use for use in snapshot.uses_of(operator) if use.kind in (UseKind.CALL, UseKind.REFERENCE)]
    return f"{' '.join(words)} · autograd: {autograd} · {len(uses)} {'use' if len(uses) == 1 else 'uses'}"
