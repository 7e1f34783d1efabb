"""Jumps: definition, declaration, implementation, references and highlights, across C++ and Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from op_lint.facts import Definition, Implementation, Kernel, OperatorName, Place
from op_lint.server.bodies import bodies_of
from op_lint.server.site import (
    KernelSite,
    KeySite,
    LinkSite,
    MacroSite,
    OperatorSite,
    Site,
    SourceSite,
    TargetSite,
    function_name,
    operators_at,
    site_at,
    sites_in,
)
from op_lint.server.snapshot import Snapshot


def definitions(snapshot: Snapshot, path: str, offset: int) -> tuple[Place, ...]:
    """Where the operator is defined, or the kernel. At a definition itself: where its kernels are registered."""
    site = site_at(snapshot, path, offset)
    if isinstance(site, KernelSite):
        return tuple(_of_kernel(snapshot, site.kernel))
    if isinstance(site, SourceSite | LinkSite):
        return tuple(_of_build(snapshot, site))
    program = snapshot.program
    operators = operators_at(snapshot, site)
    found = _definitions(snapshot, operators)
    if found and site is not None and site.place not in found:
        return found
    return tuple(each.fact.name_place for name in operators for each in program.implementations_of(name)) or found


def _definitions(snapshot: Snapshot, operators: Iterable[OperatorName]) -> tuple[Place, ...]:
    return tuple(each.fact.name_place for name in operators for each in snapshot.program.definitions_of(name))


def _of_build(snapshot: Snapshot, site: SourceSite | LinkSite) -> Iterator[Place]:
    """The files that a build file names, at their registration blocks; the target that it links."""
    if isinstance(site, SourceSite):
        for source in site.sources:
            facts = snapshot.files.get(source.path)
            yield facts.units[0].place if facts and facts.units else Place(source.path, 1, 0, 0)
    elif snapshot.program.linking is not None:
        yield from (target.place for target in snapshot.program.linking.named(site.link.to, site.target))


def declarations(snapshot: Snapshot, path: str, offset: int) -> tuple[Place, ...]:
    """The definitions of the operator, also at one of them; of a kernel its declaration."""
    site = site_at(snapshot, path, offset)
    if isinstance(site, KernelSite):
        place = site.kernel.declared or site.kernel.defined
        return (function_name(snapshot, site.kernel, place) or place,) if place else ()
    return _definitions(snapshot, operators_at(snapshot, site))


def implementations(snapshot: Snapshot, path: str, offset: int) -> tuple[Place, ...]:
    """The functions that are the operator's kernels, fakes and formulas; where one is not known, its registration."""
    site = site_at(snapshot, path, offset)
    if isinstance(site, KernelSite):
        return tuple(_of_kernel(snapshot, site.kernel))
    program = snapshot.program
    facts: list[Definition | Implementation] = []
    for name in operators_at(snapshot, site):
        facts += [each.fact for each in program.definitions_of(name) if each.fact.kernel is not None]
        facts += [each.fact for each in program.implementations_of(name)]
    found: list[Place] = []
    for fact in facts:
        kernel = fact.kernel
        found += list(_of_kernel(snapshot, kernel)) if kernel else []
        if kernel is None or not (kernel.defined or kernel.declared):
            found.append(fact.name_place)
    return tuple(dict.fromkeys(found))


def _of_kernel(snapshot: Snapshot, kernel: Kernel) -> Iterator[Place]:
    """The name of the function, where its definition says it; where none is found, its declaration."""
    bodies = bodies_of(snapshot, kernel)
    yield from bodies
    place = kernel.defined or kernel.declared
    if place is not None and not bodies:
        yield function_name(snapshot, kernel, place) or place


def places_of(snapshot: Snapshot, operator: OperatorName) -> tuple[Place, ...]:
    """Every place that names an operator: definitions, kernels, Python. Each once, definitions first."""
    program = snapshot.program
    found = [each.fact.name_place for each in program.definitions_of(operator)]
    found += [each.fact.name_place for each in program.implementations_of(operator)]
    found += [use.name_place for use in snapshot.uses_of(operator)]
    return tuple(dict.fromkeys(found))


def references(snapshot: Snapshot, path: str, offset: int, *, with_definitions: bool) -> tuple[Place, ...]:
    """Every place that means the same as the one at `offset`."""
    site = site_at(snapshot, path, offset)
    if site is None:
        return ()
    found = tuple(dict.fromkeys(_same(snapshot, site)))
    if with_definitions or not isinstance(site, OperatorSite):
        return found
    own = set(_definitions(snapshot, operators_at(snapshot, site)))
    return tuple(place for place in found if place not in own)


def highlights(snapshot: Snapshot, path: str, offset: int) -> tuple[Place, ...]:
    """The references in the same file."""
    return tuple(place for place in references(snapshot, path, offset, with_definitions=True) if place.path == path)


def _same(snapshot: Snapshot, site: Site) -> Iterator[Place]:
    program = snapshot.program
    if isinstance(site, OperatorSite):
        for operator in operators_at(snapshot, site):
            yield from places_of(snapshot, operator)
    elif isinstance(site, KernelSite):
        kernels = [each.fact.kernel for each in program.definitions]
        kernels += [each.fact.kernel for each in program.implementations]
        for kernel in kernels:
            if kernel is not None and kernel.name == site.kernel.name and kernel.defined == site.kernel.defined:
                yield kernel.place
        yield from _of_kernel(snapshot, site.kernel)
    elif isinstance(site, KeySite):
        for facts in program.files:
            for other in sites_in(snapshot, facts.path) if facts.units else ():
                if isinstance(other, KeySite) and program.key(other.key) == program.key(site.key):
                    yield other.place
    elif isinstance(site, MacroSite):
        for unit in program.units:
            if unit.namespace == site.unit.namespace:
                yield unit.place
    elif isinstance(site, TargetSite):
        for target in program.build.targets if program.build else ():
            if target is site.target:
                yield target.place
            for link in target.links:
                if program.linking is not None and site.target in program.linking.named(link.to, target):
                    yield link.place
    elif isinstance(site, SourceSite) and program.build is not None:
        paths = {source.path for source in site.sources}
        for target in program.build.targets:
            yield from (source.place for source in target.sources if source.path in paths)
