"""Facts of the workspace as the dispatcher's registrations."""

from __future__ import annotations

from op_lint.dispatch.keys import IMPLICIT
from op_lint.dispatch.registration import Registration, Source
from op_lint.facts import Definition, Fallback, Implementation, Language, Place, Unit


def of_implementation(implementation: Implementation, unit: Unit) -> Registration:
    """The registration that an `m.impl(...)` in `unit` makes."""
    kernel = implementation.kernel
    # Python names the key to torch where the source does not.
    in_cpp = implementation.language is Language.CPP
    keyless = in_cpp and implementation.key_place is None and implementation.key == IMPLICIT
    return Registration(
        implementation.key,
        _origin(unit),
        kernel.kind,
        Source.WORKSPACE,
        kernel.word,
        implementation.place.path,
        implementation.place.line,
        keyless=keyless,
    )


def of_definition(definition: Definition, unit: Unit) -> Registration | None:
    """The registration that an `m.def(...)` with a kernel makes; None for one without."""
    kernel = definition.kernel
    if kernel is None:
        return None
    return Registration(
        definition.key or IMPLICIT,
        _origin(unit),
        kernel.kind,
        Source.WORKSPACE,
        kernel.word,
        definition.place.path,
        definition.place.line,
        keyless=definition.key is None and definition.language is Language.CPP,
    )


def of_fallback(fallback: Fallback, unit: Unit) -> Registration | None:
    """The backend fallback that an `m.fallback(...)` registers; None where its key is not known."""
    if fallback.key is None:
        return None
    kernel, place = fallback.kernel, fallback.place
    return Registration(fallback.key, _origin(unit), kernel.kind, Source.WORKSPACE, kernel.word, place.path, place.line)


def _origin(unit: Unit) -> str:
    """What the dump of a build of this source would say: the place of the block, not of the call in it."""
    place: Place = unit.place
    return f"registered at {place.path}:{place.line}"
