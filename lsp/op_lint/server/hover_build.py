"""Hover in build files: what a target makes of its sources, which units are in it, and what a link does to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from op_lint.build.model import LinkHow, Target, TargetKind
from op_lint.build.questions import Questions
from op_lint.condition import ALWAYS, Condition
from op_lint.facts import Unit, UnitKind
from op_lint.server.markdown import Link, code, counting, link_to, where
from op_lint.server.site import LinkSite, SourceSite, TargetSite
from op_lint.server.snapshot import Snapshot

_MOST = 8

_KEPT = {
    True: "the linker keeps it",
    False: "**the linker drops it**: nothing refers to its object, so it never registers",
    None: "whether the linker keeps it cannot be told from the build files",
}


def about_target(snapshot: Snapshot, site: TargetSite, link: Link) -> str:
    """A target: what it is, which operators its load registers, what is lost on the way, what is loaded with it."""
    target, questions = site.target, snapshot.program.linking
    assert questions is not None
    parts = [f"**{target.name}** — {target.kind.value} of {target.system.value}{_when(target.condition)}"]
    units = [
        (unit, _kept(questions, target, path))
        for path in _sources(questions, target)
        for unit in _units(snapshot, path)
    ]
    parts.append(_loading(target, units))
    parts += [_unit_line(snapshot, unit, kept, link) for unit, kept in units[:_MOST]]
    if len(units) > _MOST:
        parts.append(f"- and {len(units) - _MOST} more blocks")
    loaded = [library.name for library, kept in questions.loaded_with(target) if kept is not False]
    if loaded:
        parts.append(f"\nLoaded with it: {', '.join(code(name) for name in loaded)}")
    if target.incomplete:
        parts.append("\nSome of its sources are given by values that the build files do not tell.")
    return "\n".join(parts)


def about_source(snapshot: Snapshot, site: SourceSite, link: Link) -> str:
    """Sources as a build file names them: what they register, under which condition, in which binaries."""
    questions = snapshot.program.linking
    assert questions is not None
    found = [source for source in site.sources if _units(snapshot, source.path)]
    if not found:
        names = ", ".join(code(source.path) for source in site.sources[:_MOST])
        return f"{names}{_more(site.sources)} of {code(site.target.name)}: nothing registers here"
    lines = []
    for source in found[:_MOST]:
        lines.append(f"**{source.path}** of {code(site.target.name)}{_when(source.condition)}")
        lines += [_unit_line(snapshot, unit, None, link, says_kept=False) for unit in _units(snapshot, source.path)]
        binaries = questions.binaries_of(source.path)
        lines += [f"- in {code(target.name)}: {_KEPT[survival.survives]}" for target, survival in binaries]
        if not binaries:
            lines.append("- in **no binary** that a process can load: it never registers")
    return "\n".join(lines) + (f"\n\n{_more(found)}" if len(found) > _MOST else "")


def about_link(snapshot: Snapshot, site: LinkSite) -> str:
    """A link of a target: how the library is taken in, and what that means for registrations in it."""
    questions, link = snapshot.program.linking, site.link
    assert questions is not None
    libraries = questions.named(link.to, site.target)
    title = f"**{link.to}** — {link.how.value} link of {code(site.target.name)}{_when(link.condition)}"
    if not libraries:
        return f"{title}\n\nno target of this project makes it"
    kinds = {library.kind for library in libraries}
    if TargetKind.STATIC in kinds and link.how is LinkHow.PLAIN:
        return (
            f"{title}\n\nA linker takes from a static library only the objects that something refers to, and a"
            " registration is referred to by nothing. Link it whole to keep them all: "
            f"`$<LINK_LIBRARY:WHOLE_ARCHIVE,{link.to}>` (CMake 3.24)."
        )
    if TargetKind.STATIC in kinds:
        return f"{title}\n\nAll objects of the library are taken, those that only register as well."
    if TargetKind.SHARED in kinds:
        kept = {kept for library, _, kept in questions.loads(site.target) if library in libraries}
        return f"{title}\n\n{_SHARED[False if False in kept else None if None in kept else True]}"
    return title


_SHARED = {
    True: "It is loaded with the target, and registers then.",
    False: "Nothing in the target refers to it: with `--as-needed`, the default of many linkers, it is **not loaded**.",
    None: "Whether the linker keeps it cannot be told: with `--as-needed` only a symbol that is used does.",
}


def compiled_into(snapshot: Snapshot, path: str) -> str:
    """The targets that a source is compiled into, in one line; empty where no build file says anything of it."""
    questions = snapshot.program.linking
    if questions is None:
        return ""
    found = list(dict.fromkeys(each.target.name for each in questions.targets_of(path)))
    if not found:
        return ""
    binaries = questions.binaries_of(path)
    lost = [target.name for target, survival in binaries if survival.survives is False]
    words = f"compiled into {', '.join(map(code, found))}"
    return words + (f"; **dropped by the linker** of {', '.join(map(code, lost))}" if lost else "")


def _sources(questions: Questions, target: Target) -> list[str]:
    """The sources whose objects a target may contain: those linked into it, or its own where it is not linked."""
    return sorted(questions.objects_of(target) if target.is_loaded else {source.path for source in target.sources})


def _kept(questions: Questions, target: Target, path: str) -> bool | None:
    survival = questions.unit_survives_link(path, target)
    return survival.survives if survival else None


def _units(snapshot: Snapshot, path: str) -> Iterator[Unit]:
    facts = snapshot.files.get(path)
    yield from (unit for unit in (facts.units if facts else ()) if unit.kind is not UnitKind.HELPER)


def _loading(target: Target, units: list[tuple[Unit, bool | None]]) -> str:
    if not units:
        return "\nnone of its sources registers operators\n"
    if not target.is_loaded:
        return f"\n{counting(len(units), 'registration block')} in its sources:\n"
    kept = sum(kept is not False for _, kept in units)
    return f"\nloading it runs {kept} of {counting(len(units), 'registration block')}:\n"


def _unit_line(snapshot: Snapshot, unit: Unit, kept: bool | None, link: Link, *, says_kept: bool = True) -> str:
    facts = snapshot.files[snapshot.program.file_of(unit)]
    definitions = sum(each.unit == unit.id for each in facts.definitions)
    kernels = sum(each.unit == unit.id for each in facts.implementations)
    name = ", ".join(part for part in (unit.namespace or "_", unit.key) if part)
    counted = [counting(definitions, "operator")] if definitions else []
    counted += [counting(kernels, "kernel")] if kernels else []
    lost = f" — {_KEPT[False]}" if says_kept and kept is False else ""
    where_ = link_to(where(unit.place), unit.place, link)
    return f"- {code(f'{unit.macro}({name})')} {where_}: {', '.join(counted) or 'nothing'}{lost}"


def _when(condition: Condition) -> str:
    return "" if condition == ALWAYS else f", when {code(str(condition))}"


def _more(found: Iterable[object]) -> str:
    count = len(tuple(found))
    return f" and {count - _MOST} more" if count > _MOST else ""
