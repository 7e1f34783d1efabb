"""What stands at a position: the thing a hover, a jump or a rename is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from op_lint.build.model import BuildGraph, Link, Source, Target
from op_lint.facts import (
    Definition,
    FileFacts,
    Implementation,
    Kernel,
    OperatorName,
    OperatorUse,
    Place,
    Unit,
)
from op_lint.files import is_build_file
from op_lint.kernels import parsed, schema_text
from op_lint.schema.model import Argument, Schema
from op_lint.server.bodies import kernel_at
from op_lint.server.names import overloads
from op_lint.server.snapshot import Snapshot

_OVERLOAD = re.compile(rb"\s*\.\s*([^\W\d]\w*)", re.ASCII)


class OperatorSite(msgspec.Struct, frozen=True):
    """An operator's name, in a registration or in Python. `packet` says that it stands for all overloads."""

    place: Place
    operator: OperatorName
    packet: bool = False


class KeySite(msgspec.Struct, frozen=True):
    """A dispatch key; `namespace` is that of the block around it."""

    place: Place
    key: str
    namespace: str | None = None


class MacroSite(msgspec.Struct, frozen=True):
    """The macro that opens a registration block."""

    place: Place
    unit: Unit


class KernelSite(msgspec.Struct, frozen=True):
    """The function given to a registration, there or where it is declared or defined."""

    place: Place
    kernel: Kernel
    fact: Definition | Implementation


class TypeSite(msgspec.Struct, frozen=True):
    """An argument or a return in a schema string."""

    place: Place
    argument: Argument
    is_return: bool


class CodeSite(msgspec.Struct, frozen=True):
    """A rule's code in a suppression comment."""

    place: Place
    code: str


class TargetSite(msgspec.Struct, frozen=True):
    """A target's name where a build file declares it."""

    place: Place
    target: Target


class SourceSite(msgspec.Struct, frozen=True):
    """Sources of a target as a build file names them: one, or those that a pattern or a variable stands for."""

    place: Place
    target: Target
    sources: tuple[Source, ...]


class LinkSite(msgspec.Struct, frozen=True):
    """A library that a target is linked with, where a build file says so."""

    place: Place
    target: Target
    link: Link


Site: TypeAlias = (
    OperatorSite | KeySite | MacroSite | KernelSite | TypeSite | CodeSite | TargetSite | SourceSite | LinkSite
)


def sites_in(snapshot: Snapshot, path: str) -> Iterator[Site]:
    """All that stands in one file."""
    for facts in snapshot.facts_about(path):
        yield from (site for site in _sites(facts, snapshot) if site.place.path == path)
    if snapshot.program.build is not None and is_build_file(path):
        yield from (site for site in _in_build_files(snapshot.program.build) if site.place.path == path)


def site_at(snapshot: Snapshot, path: str, offset: int) -> Site | None:
    """What stands at byte `offset`; the narrowest where several do. The end of a place counts as in it."""
    around = [site for site in sites_in(snapshot, path) if site.place.start <= offset <= site.place.end]
    if around:
        return min(around, key=lambda site: site.place.end - site.place.start)
    found = kernel_at(snapshot, path, offset)
    return KernelSite(*found) if found else None


def _in_build_files(graph: BuildGraph) -> Iterator[Site]:
    for target in graph.targets:
        yield TargetSite(target.place, target)
        named: dict[Place, list[Source]] = {}
        for source in target.sources:
            named.setdefault(source.place, []).append(source)
        yield from (SourceSite(place, target, tuple(sources)) for place, sources in named.items())
        yield from (LinkSite(link.place, target, link) for link in target.links)
    for suppression in graph.suppressions:
        for code, place in zip(suppression.codes, suppression.code_places, strict=False):
            yield CodeSite(place, code)


def _sites(facts: FileFacts, snapshot: Snapshot) -> Iterator[Site]:
    units = {unit.id: unit for unit in facts.units}
    for unit in facts.units:
        if unit.key_place is not None and unit.key is not None:
            yield KeySite(unit.key_place, unit.key, unit.namespace)
        name = unit.macro.encode()
        if snapshot.text(unit.place.path).data.startswith(name, unit.place.start):
            end = unit.place.start + len(name)
            yield MacroSite(msgspec.structs.replace(unit.place, end=end), unit)
    for definition in facts.definitions:
        yield OperatorSite(definition.name_place, definition.operator)
        yield from _in_schema(definition)
        yield from _of_registration(definition, definition.key, units[definition.unit], snapshot)
    for implementation in facts.implementations:
        yield OperatorSite(implementation.name_place, implementation.operator)
        yield from _of_registration(implementation, implementation.key, units[implementation.unit], snapshot)
    for fallback in facts.fallbacks:
        if fallback.key is not None and fallback.key_place is not None:
            yield KeySite(fallback.key_place, fallback.key)
    for use in facts.python.uses if facts.python else ():
        yield OperatorSite(_with_overload(use, snapshot), use.operator, use.packet)
    for suppression in facts.suppressions:
        for code, place in zip(suppression.codes, suppression.code_places, strict=False):
            yield CodeSite(place, code)


def _with_overload(use: OperatorUse, snapshot: Snapshot) -> Place:
    """The name in Python, with the overload where it stands behind it."""
    place = use.name_place
    behind = _OVERLOAD.match(snapshot.text(place.path).data, place.end)
    if use.packet or behind is None or behind[1].decode() != (use.operator.overload or "default"):
        return place
    return msgspec.structs.replace(place, end=behind.end())


def _of_registration(
    fact: Definition | Implementation, key: str | None, unit: Unit, snapshot: Snapshot
) -> Iterator[Site]:
    if key is not None and fact.key_place is not None:
        yield KeySite(fact.key_place, key, unit.namespace)
    kernel = fact.kernel
    if kernel is None:
        return
    yield KernelSite(kernel.place, kernel, fact)
    for place in dict.fromkeys((kernel.declared, kernel.defined)):
        name = function_name(snapshot, kernel, place) if place else None
        if name is not None:
            yield KernelSite(name, kernel, fact)


def _in_schema(definition: Definition) -> Iterator[Site]:
    text = schema_text(definition)
    schema = parsed(text.value)
    if not text.pieces or not isinstance(schema, Schema):
        return
    for is_return, arguments in ((False, schema.arguments), (True, schema.returns)):
        for argument in arguments:
            span = argument.span if not is_return else argument.type.span
            yield TypeSite(text.place_of(span.start, span.end), argument, is_return)


def operators_at(snapshot: Snapshot, site: Site | None) -> tuple[OperatorName, ...]:
    """The operators that a site names: one, or all overloads of a name in Python."""
    if not isinstance(site, OperatorSite):
        return ()
    return overloads(snapshot, site.operator) if site.packet else (site.operator,)


def function_name(snapshot: Snapshot, kernel: Kernel, place: Place) -> Place | None:
    """Where a function's name stands in its declaration at `place`."""
    name = re.split(r"::|[.]", kernel.name)[-1].encode()
    found = re.compile(rb"(?<!\w)" + re.escape(name) + rb"(?!\w)").search(
        snapshot.text(place.path).data, place.start, place.end
    )
    if found is None or not found.group():
        return None
    return msgspec.structs.replace(place, start=found.start(), end=found.end())
