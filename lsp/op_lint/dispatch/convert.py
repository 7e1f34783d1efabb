"""Facts of the workspace as the dispatcher's registrations."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.call import ADINPLACE_OR_VIEW
from op_lint.dispatch.errors import META, no_fake_of_custom_op
from op_lint.dispatch.keys import AUTOGRAD, IMPLICIT
from op_lint.dispatch.registration import Operator, Registration, Source
from op_lint.dispatch.schemas import has_alias_annotation, has_trivial_fake
from op_lint.facts import Definition, Fallback, Implementation, KernelKind, Language, Place, Unit

CUSTOM_OPS = frozenset({"torch.library.custom_op", "torch.library.triton_op"})
"""Units that make a `CustomOpDef` (torch/_library/custom_ops.py): it removes an earlier one of its name."""


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


def of_custom_op(operator: Operator, definition: Definition, function: str) -> Iterator[Registration]:
    """What `custom_op` registers besides `function` (`CustomOpDef._register_to_dispatcher`)."""
    path, line = definition.place.path, definition.place.line

    def own(key: str, kernel: str, kind: KernelKind, refusal: str = "") -> Registration:
        origin = f"registered at {path}:{line}"
        return Registration(key, origin, kind, Source.WORKSPACE, kernel, path, line, refusal=refusal)

    if has_trivial_fake(operator):
        yield own(META, "fake of custom_op", KernelKind.FAKE)
    else:
        yield own(META, "no fake, raises", KernelKind.FAKE, no_fake_of_custom_op(operator, function))
    yield own(AUTOGRAD, "autograd of custom_op, no formula", KernelKind.AUTOGRAD)
    if has_alias_annotation(operator):
        yield own(ADINPLACE_OR_VIEW, "version counter of custom_op", KernelKind.BOXED)


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
