"""Rename an operator everywhere: its definitions, its kernels, its Python."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from op_lint.facts import OperatorName, Place
from op_lint.findings import Edit
from op_lint.server.names import overloads
from op_lint.server.navigation import places_of
from op_lint.server.site import OperatorSite, site_at
from op_lint.server.snapshot import Snapshot

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class CannotRenameError(ValueError):
    """Why a rename is refused, for the person who asked."""


def renamable(snapshot: Snapshot, path: str, offset: int) -> tuple[Place, str] | None:
    """The name at `offset` that can be renamed, and how it reads now."""
    site = site_at(snapshot, path, offset)
    if not isinstance(site, OperatorSite) or not _is_ours(snapshot, site.operator):
        return None
    place = _name_in(snapshot, site.place, site.operator.name)
    return (place, site.operator.name) if place else None


def rename(snapshot: Snapshot, path: str, offset: int, new_name: str) -> tuple[Edit, ...]:
    """The edits. Raises CannotRenameError where some place of the operator could not be changed with the others."""
    if not _IDENTIFIER.fullmatch(new_name):
        raise CannotRenameError(f"`{new_name}` is no operator name: letters, digits and `_`, no digit first")
    site = site_at(snapshot, path, offset)
    if not isinstance(site, OperatorSite):
        raise CannotRenameError("there is no operator's name here")
    operator = site.operator
    if not _is_ours(snapshot, operator):
        raise CannotRenameError(f"{operator} is not defined in this workspace, so its name is not ours to change")
    taken = OperatorName(operator.namespace, new_name)
    if new_name != operator.name and _is_ours(snapshot, taken):
        raise CannotRenameError(f"there is an operator {taken} already")
    return tuple(Edit(place, new_name) for place in dict.fromkeys(_places(snapshot, operator)))


def _is_ours(snapshot: Snapshot, operator: OperatorName) -> bool:
    """Whether the sources define an operator of that name."""
    return any(snapshot.program.definitions_of(each) for each in overloads(snapshot, operator))


def _places(snapshot: Snapshot, operator: OperatorName) -> Iterator[Place]:
    """The name in every place of every overload: `torch.ops.ns.name` in Python means all of them."""
    program = snapshot.program
    overloads = {
        each for each in program.operators if (each.namespace, each.name) == (operator.namespace, operator.name)
    }
    for overload in sorted(overloads):
        for place in places_of(snapshot, overload):
            name = _name_in(snapshot, place, operator.name)
            if name is None:
                raise CannotRenameError(f"the name at {place.path}:{place.line} is put together: change it by hand")
            yield name


def _name_in(snapshot: Snapshot, place: Place, name: str) -> Place | None:
    data = snapshot.text(place.path).data
    written = data[place.start : place.end].decode("utf-8", "replace")
    if written != name and not written.startswith(f"{name}."):
        return None
    return msgspec.structs.replace(place, end=place.start + len(name.encode()))
