"""Questions on the build graph: which binaries a source is in, whether the linker keeps it, what is loaded together.

Answers are True, False or None where the build files and sources do not tell, as in `op_lint.condition.evaluate`.

A linker takes a member of a static library only to define a symbol that something before it needs; registering is no
such need. A shared library that nothing refers to is not loaded under `--as-needed`, which GCC passes by default on
Debian and Ubuntu and which the CMake targets of torch switch on for what is linked after them (torch 2.13).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from op_lint.build.model import (
    BuildGraph,
    Link,
    LinkHow,
    Source,
    SourceSymbols,
    Target,
    TargetKind,
    Visibility,
)
from op_lint.build.patterns import fits
from op_lint.condition import NEVER, Condition, atoms, compatible, conjunction, evaluate, implies

_DEEPEST = 50
_PLATFORM = {
    "UNIX": True, "LINUX": True, "WIN32": False, "MSVC": False, "APPLE": False, "ANDROID": False, "IOS": False,
    "MINGW": False, "EMSCRIPTEN": False, "CMAKE_CROSSCOMPILING": False, "BUILD_SHARED_LIBS": False,
    'sys.platform == "win32"': False, 'sys.platform == "darwin"': False, 'sys.platform == "linux"': True,
    'os.name == "nt"': False, 'platform.system() == "Windows"': False, 'platform.system() == "Darwin"': False,
    'platform.system() == "Linux"': True,
}  # fmt: skip
"""What holds when nothing is configured, on the platform that most builds are for."""


class Compiled(NamedTuple):
    """A target compiles a source, under `condition`."""

    target: Target
    source: Source
    condition: Condition


class Member(NamedTuple):
    """An object that takes part in a link, and how it comes in.

    `link` is the statement that brings it in, None for a source of the target itself. `archive` is the static library
    that it is a member of; `whole` says that all members of that are taken.
    """

    path: str
    condition: Condition
    archive: Target | None = None
    link: Link | None = None
    whole: bool = False


class Survival(NamedTuple):
    """Whether the object of a source is in a binary, and the link that decides it (None: it is one of its sources)."""

    survives: bool | None
    member: Member


class _Near(NamedTuple):
    """All binaries by identity, which each may load and which may load it, and the `keys` of those that are meant."""

    binaries: Mapping[int, Target]
    loaded: Mapping[int, Sequence[int]]
    users: Mapping[int, Sequence[int]]
    keys: Iterable[int]


@dataclass(frozen=True, eq=False)
class Questions:
    """The questions that rules ask of one build graph."""

    graph: BuildGraph

    def targets_of(self, path: str) -> tuple[Compiled, ...]:
        """The targets that compile the source at `path`, and when."""
        return self._compiled.get(path, ())

    def binaries_of(self, path: str) -> tuple[tuple[Target, Survival], ...]:
        """The targets that a process can load and whose link the source takes part in."""
        known = self._binaries.get(path)
        if known is None:
            known = self._binaries[path] = tuple(
                (target, survival)
                for target in self.graph.targets
                if target.is_loaded and (survival := self.unit_survives_link(path, target)) is not None
            )
        return known

    def unit_survives_link(self, path: str, target: Target) -> Survival | None:
        """Whether `target` contains what the source at `path` registers; None where it takes no part in its link."""
        return self._link(target).survival(path)

    def libraries_of(self, target: Target) -> tuple[tuple[Target, Link, Condition], ...]:
        """The shared libraries that `target` is linked with, by which link and when."""
        return tuple((library, link, condition) for link, library, condition in self._shared(target))

    def loads(self, target: Target) -> tuple[tuple[Target, Link, bool | None], ...]:
        """The shared libraries that loading `target` loads directly, and whether the linker keeps each."""
        return tuple(
            (library, link, self._is_needed(target, library, link)) for link, library, _ in self._shared(target)
        )

    def loaded_with(self, target: Target) -> Iterator[tuple[Target, bool | None]]:
        """The shared libraries that are loaded with a target, directly or through others, and whether they are."""
        pending: list[tuple[Target, bool | None]] = [(target, True)]
        seen = {id(target)}
        while pending:
            user, kept = pending.pop(0)
            for library, _, needed in self.loads(user):
                if id(library) not in seen:
                    seen.add(id(library))
                    both = _and(kept, needed)
                    yield library, both
                    pending.append((library, both))

    def same_binary(self, first: str, second: str) -> bool | None:
        """Whether the sources at both paths can be in one binary. False: no target has both."""
        answers = [
            _both(self._link(target).survival(first), self._link(target).survival(second))
            for target in self.graph.targets
            if target.is_loaded
        ]
        if True in answers:
            return True
        return None if None in answers or self._is_open(first) or self._is_open(second) else False

    def loaded_together(self, first: str, second: str) -> bool | None:
        """Whether the sources at both paths are in one process: in one binary, or in two that are loaded together."""
        one = self.same_binary(first, second)
        if one is True:
            return True
        answers: list[bool | None] = [one]
        for target in self.graph.targets:
            if not target.is_loaded:
                continue
            for path, other in ((first, second), (second, first)):
                mine = self._link(target).survival(path)
                for library, kept in self.loaded_with(target):
                    theirs = self._link(library).survival(other)
                    if mine is not None and theirs is not None:
                        answers.append(_and(_both(mine, theirs), kept))
        if True in answers:
            return True
        return None if None in answers else False

    def meet(self, first: str, second: str) -> bool | None:
        """Whether every build with one of two sources loads the other with it; False: no build has both.

        None where neither is known: they may be in binaries that a program loads side by side, or not.
        """
        key = (first, second) if first <= second else (second, first)
        if key not in self._meetings:
            self._meetings[key] = self._meet(*key)
        return self._meetings[key]

    @cached_property
    def _meetings(self) -> dict[tuple[str, str], bool | None]:
        return {}

    def _meet(self, first: str, second: str) -> bool | None:
        if any(implies(a, b) or implies(b, a) for a, b in self._met(first, second)):
            return True
        one, other = self.targets_of(first), self.targets_of(second)
        excluded = all(not compatible(a.condition, b.condition) for a in one for b in other)
        return False if one and other and excluded else None

    def _met(self, first: str, second: str) -> Iterator[tuple[Condition, Condition]]:
        """The conditions under which both are in one binary, or one in a library that the other's binary loads."""
        for path, other in ((first, second), (second, first)):
            held = self._held_in(other)
            for key, (binary, condition) in self._held_in(path).items():
                if key in held:
                    yield condition, held[key][1]
                if held:
                    yield from (
                        (condition, held[id(library)][1])
                        for library, kept in self.loaded_with(binary)
                        if kept and id(library) in held
                    )

    def _held_in(self, path: str) -> dict[int, tuple[Target, Condition]]:
        """The binaries that certainly contain what a source registers, and when, by identity."""
        known = self._holders.get(path)
        if known is None:
            known = self._holders[path] = {
                id(target): (target, survival.member.condition)
                for target, survival in self.binaries_of(path)
                if survival.survives
            }
        return known

    @cached_property
    def _binaries(self) -> dict[str, tuple[tuple[Target, Survival], ...]]:
        return {}

    @cached_property
    def _holders(self) -> dict[str, dict[int, tuple[Target, Condition]]]:
        return {}

    def may_compile(self, target: Target, path: str) -> bool:
        """Whether a source may be among those of a target that are not known.

        What the build makes can be a copy of it, whose name has that of the source in it.
        """
        return any(_may_be(pattern, path) for pattern in target.unknown)

    def tells_of(self, path: str) -> bool:
        """Whether the build files say in which binaries a source is."""
        return bool(self.binaries_of(path))

    def macro_values(self, path: str, name: str) -> frozenset[str | None] | None:
        """The values that a macro has where the source at `path` is compiled; None among them: not defined there.

        None where no target compiles the source.
        """
        compiled = self.targets_of(path)
        if not compiled:
            return None
        found: set[str | None] = set()
        for target in (each.target for each in compiled):
            values = [define.value or "1" for define in target.defines if define.name == name]
            found.update(values or [None])
        return frozenset(found)

    def holds_by_default(self, condition: Condition) -> bool | None:
        """Whether a condition holds in a build for which nothing is configured, on Linux."""
        return evaluate(condition, self._defaults)

    def switches_in(self, condition: Condition) -> bool:
        """Whether the user of the build decides a condition by an option or a variable that is there for it."""
        return any(text in self._switches or text.startswith("$") or "$" in text for text in atoms(condition))

    def named(self, name: str, user: Target) -> tuple[Target, ...]:
        """The targets that a link of `user` means by `name`: of its own project, where that has them."""
        found = [target for target in self._by_name.get(name, ()) if target is not user]
        return tuple([target for target in found if target.project == user.project] or found)

    def objects_of(self, target: Target) -> frozenset[str]:
        """The sources whose objects take part in the link of a binary, kept or not."""
        return frozenset(member.path for member in self._members(target))

    def makes_module(self, target: Target) -> bool | None:
        """Whether what a target makes is a Python module: whether one of its objects defines `PyInit_...`."""
        known = [self._symbols.get(path) for path in self.objects_of(target)]
        answers = [None if each is None else each.module_init for each in known]
        if True in answers:
            return True
        return None if None in answers or not answers else False

    def direct_members(self, target: Target) -> frozenset[str]:
        """The sources whose objects are in a static library: its own, and those of the object libraries it takes."""
        return frozenset(
            member.path for member in self._members(target) if member.archive is None or member.archive is target
        )

    def neighbours(self, paths: frozenset[str]) -> frozenset[str]:
        """The sources of all binaries that hold, or may load one that holds, one of `paths`, and of what they load.

        Each binary is looked at a few times, however long the chain of libraries is that it loads.
        """
        near = self._near(paths)
        return frozenset(member.path for key in near.keys for member in self._members(near.binaries[key]))

    def decided(self, paths: frozenset[str]) -> frozenset[str]:
        """Those of the `neighbours` of `paths` whose symbols decide what is in a binary, or whether one is loaded.

        The objects of a binary that takes nothing from an archive are in it, whatever they define and need.
        """
        near = self._near(paths)
        return frozenset(
            member.path
            for key in near.keys
            if near.loaded[key] or key in near.users or self._takes_by_need(near.binaries[key])
            for member in self._members(near.binaries[key])
        )

    def _takes_by_need(self, target: Target) -> bool:
        """Whether a binary is linked with a static library of which it takes the members that something needs."""
        return any(member.archive is not None and not member.whole for member in self._members(target))

    def _near(self, paths: frozenset[str]) -> _Near:
        binaries = {id(target): target for target in self.graph.targets if target.is_loaded}
        loaded = {key: [id(library) for _, library, _ in self._shared(each)] for key, each in binaries.items()}
        users: dict[int, list[int]] = {}
        for key, libraries in loaded.items():
            for library in libraries:
                users.setdefault(library, []).append(key)
        holding = (key for key, each in binaries.items() if any(member.path in paths for member in self._members(each)))
        return _Near(binaries, loaded, users, _reachable(_reachable(holding, users), loaded))

    @cached_property
    def _compiled(self) -> dict[str, tuple[Compiled, ...]]:
        found: dict[str, list[Compiled]] = {}
        for target in self.graph.targets:
            for source in target.sources:
                condition = conjunction((target.condition, source.condition))
                found.setdefault(source.path, []).append(Compiled(target, source, condition))
        return {path: tuple(each) for path, each in found.items()}

    @cached_property
    def _by_name(self) -> dict[str, tuple[Target, ...]]:
        found: dict[str, list[Target]] = {}
        for target in self.graph.targets:
            found.setdefault(target.name, []).append(target)
        return {name: tuple(each) for name, each in found.items()}

    @cached_property
    def _symbols(self) -> Mapping[str, SourceSymbols]:
        return {symbols.path: symbols for symbols in self.graph.symbols}

    @cached_property
    def _switches(self) -> frozenset[str]:
        return frozenset(switch.atom for switch in self.graph.switches)

    @cached_property
    def _defaults(self) -> dict[str, bool]:
        return {**_PLATFORM, **{switch.atom: switch.default for switch in self.graph.switches}}

    @cached_property
    def _links(self) -> dict[int, LinkedBinary]:
        return {}

    def _link(self, target: Target) -> LinkedBinary:
        known = self._links.get(id(target))
        if known is None:
            known = self._links[id(target)] = LinkedBinary(
                self._members(target), self._symbols, frozenset(_forced(target))
            )
        return known

    @cached_property
    def _members_of(self) -> dict[int, tuple[Member, ...]]:
        return {}

    def _members(self, target: Target) -> tuple[Member, ...]:
        """The objects that take part in the link of a target."""
        known = self._members_of.get(id(target))
        if known is None:
            known = self._members_of[id(target)] = tuple(self._linked_members(target))
        return known

    def _linked_members(self, target: Target) -> Iterator[Member]:
        yield from (Member(source.path, _under(target, source.condition)) for source in target.sources)
        whole = {
            link.to
            for user, link, _ in self._linked(target)
            if link.how is LinkHow.WHOLE_ARCHIVE and self._counts(target, user, link)
        }
        for user, link, condition in self._linked(target):
            for library in self.named(link.to, user) or (self.named(link.to, target) if user is not target else ()):
                together = conjunction((condition, library.condition))
                if together == NEVER:
                    continue
                if library.kind is TargetKind.OBJECT and self._gives_objects(target, user, link):
                    inside = user if user.kind is TargetKind.STATIC else None
                    for source in library.sources:
                        yield Member(
                            source.path,
                            conjunction((together, source.condition)),
                            inside,
                            link,
                            inside is not None and inside.name in whole,
                        )
                elif library.kind is TargetKind.STATIC:
                    for source in library.sources:
                        under = conjunction((together, source.condition))
                        yield Member(source.path, under, library, link, link.to in whole)

    def _gives_objects(self, target: Target, user: Target, link: Link) -> bool:
        """Whether a link brings in the objects of an object library: for its direct users only (CMake)."""
        if user is target or user.kind is TargetKind.STATIC:
            return True
        return link.visibility is not Visibility.PRIVATE and "interface sources" in link.to

    def _counts(self, target: Target, user: Target, link: Link) -> bool:
        return user is target or link.visibility is not Visibility.PRIVATE or user.kind is TargetKind.STATIC

    def _linked(self, target: Target) -> tuple[tuple[Target, Link, Condition], ...]:
        """The links of a target, and those that it gets from the static and interface libraries that it links."""
        known = self._reached.get(id(target))
        if known is None:
            known = self._reached[id(target)] = tuple(self._walk(target))
        return known

    @cached_property
    def _reached(self) -> dict[int, tuple[tuple[Target, Link, Condition], ...]]:
        return {}

    def _walk(self, target: Target) -> Iterator[tuple[Target, Link, Condition]]:
        pending: list[tuple[Target, Condition, int]] = [(target, target.condition, 0)]
        seen: set[int] = set()
        while pending:
            user, condition, depth = pending.pop(0)
            if id(user) in seen or depth > _DEEPEST:
                continue
            seen.add(id(user))
            for link in user.links:
                if user is target and link.visibility is Visibility.INTERFACE:
                    continue
                together = conjunction((condition, link.condition))
                if user is not target and not self._passes_on(user, link):
                    continue
                yield user, link, together
                pending += (
                    (library, conjunction((together, library.condition)), depth + 1)
                    for library in self.named(link.to, user)
                )

    def _passes_on(self, user: Target, link: Link) -> bool:
        """Whether what a library links is linked by its users, too."""
        if link.visibility is not Visibility.PRIVATE:
            return True
        return user.kind in (TargetKind.STATIC, TargetKind.OBJECT)

    def _shared(self, target: Target) -> Iterator[tuple[Link, Target, Condition]]:
        seen: set[int] = set()
        for user, link, condition in self._linked(target):
            for library in self.named(link.to, user):
                if library.kind is TargetKind.SHARED and id(library) not in seen:
                    seen.add(id(library))
                    yield link, library, condition

    def _is_needed(self, target: Target, library: Target, link: Link) -> bool | None:
        """Whether the linker keeps a shared library: where `--as-needed` is in force, only for a symbol."""
        refers = self._link(target).refers_to(self._link(library))
        if refers is not False:
            return refers
        return _as_needed(target, link) is False

    def _is_open(self, path: str) -> bool:
        """Whether a source may be in binaries that the build files do not name."""
        return not self.targets_of(path) or any(self.may_compile(target, path) for target in self.graph.targets)


@lru_cache(maxsize=65536)
def _may_be(pattern: str, path: str) -> bool:
    """Whether a source that is not known, as in `Target.unknown`, may be the one at `path`."""
    if "*" in pattern:
        return fits(pattern, path)
    made, source = (_as_cuda(PurePosixPath(each).name) for each in (pattern, path))
    return source.partition(".")[0] in made


def _as_cuda(name: str) -> str:
    """The name of what hipify has made a copy of."""
    return name.casefold().replace("hip", "cuda")


_ORDER = {True: 2, None: 1, False: 0}


class LinkedBinary:
    """The link of one binary, as the linker resolves it. `forced` are symbols that an option asks for (`-u`)."""

    def __init__(
        self, members: tuple[Member, ...], symbols: Mapping[str, SourceSymbols], forced: frozenset[str]
    ) -> None:
        self._members = members
        self._symbols = symbols
        self._forced = forced

    def survival(self, path: str) -> Survival | None:
        """What becomes of the object of one source; None where it takes no part."""
        found = self._by_path.get(path)
        if found is None:
            return None
        answers = [Survival(self._kept(member), member) for member in found]
        return max(answers, key=lambda answer: _ORDER[answer.survives])

    def refers_to(self, other: LinkedBinary) -> bool | None:
        """Whether what is certainly in this binary needs a symbol that only the other defines."""
        defines = other.defines - self.defines
        if self._needs & defines:
            return True
        unknown = self._is_opaque or other._is_opaque
        return None if unknown or self._mentions & (defines | other._weak) else False

    @cached_property
    def defines(self) -> frozenset[str]:
        """The symbols that the objects of this binary define, those that the linker may drop among them."""
        return _union(self._of(path).defines for path in self._paths)

    @cached_property
    def _weak(self) -> frozenset[str]:
        return _union(self._of(path).weak for path in self._paths)

    @cached_property
    def _needs(self) -> frozenset[str]:
        return _union(self._of(path).needs for path in self._taken[0])

    @cached_property
    def _mentions(self) -> frozenset[str]:
        return _union(self._of(path).needs | self._of(path).mentions for path in self._taken[1])

    @cached_property
    def _is_opaque(self) -> bool:
        return any(self._of(path).opaque for path in self._taken[1])

    @cached_property
    def _by_path(self) -> Mapping[str, Sequence[Member]]:
        found: dict[str, list[Member]] = {}
        for member in self._members:
            found.setdefault(member.path, []).append(member)
        return found

    @property
    def _paths(self) -> Iterable[str]:
        return self._by_path.keys()

    def _of(self, path: str) -> SourceSymbols:
        return self._symbols.get(path) or SourceSymbols(path, opaque=True)

    def _kept(self, member: Member) -> bool | None:
        certain, possible = self._taken
        if member.path in certain:
            return True
        return None if member.path in possible else False

    @cached_property
    def _taken(self) -> tuple[frozenset[str], frozenset[str]]:
        """The sources whose objects are certainly in the binary, and those that may be."""
        start = {member.path for member in self._members if member.archive is None or member.whole}
        archived = dict.fromkeys(member.path for member in self._members if member.path not in start)
        certain = self._certain(start, archived)
        return frozenset(certain), frozenset(self._possible(certain, archived))

    def _certain(self, start: set[str], archived: Iterable[str]) -> set[str]:
        """The objects that a symbol certainly pulls: one that is needed and that no other object defines."""
        definers: dict[str, list[str]] = {}
        for path in archived:
            for name in self._of(path).defines:
                definers.setdefault(name, []).append(path)
        taken = set(start)
        defined = set().union(*(self._of(path).defines for path in taken))
        pending = [*self._forced, *(name for path in sorted(taken) for name in self._of(path).needs)]
        while pending:
            name = pending.pop()
            found = definers.get(name, ())
            if len(found) == 1 and name not in defined and found[0] not in taken:
                taken.add(found[0])
                defined |= self._of(found[0]).defines
                pending += self._of(found[0]).needs
        return taken

    def _possible(self, certain: set[str], archived: Iterable[str]) -> set[str]:
        """The objects that something in the binary may need."""
        taken = set(certain)
        rest = [path for path in archived if path not in taken]
        if any(self._of(path).opaque for path in taken):
            return taken.union(rest)
        named = set(self._forced).union(*(self._of(path).needs | self._of(path).mentions for path in taken))
        while True:
            more = [path for path in rest if self._may_define(path, named)]
            if not more:
                return taken
            taken.update(more)
            rest = [path for path in rest if path not in taken]
            for path in more:
                named |= self._of(path).needs | self._of(path).mentions
                if self._of(path).opaque:
                    return taken.union(rest)

    def _may_define(self, path: str, named: set[str]) -> bool:
        symbols = self._of(path)
        return symbols.opaque or not named.isdisjoint(symbols.defines) or not named.isdisjoint(symbols.weak)


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _forced(target: Target) -> Iterator[str]:
    """The symbols that link options ask for."""
    words = [word for option in target.options for word in _words(option.text)]
    for word, following in zip(words, (*words[1:], ""), strict=False):
        if word in ("-u", "--undefined"):
            yield following
        for prefix in ("-u", "--undefined=", "/INCLUDE:", "/include:", "--require-defined="):
            if word.startswith(prefix) and len(word) > len(prefix):
                yield word.removeprefix(prefix).lstrip("_")
                yield word.removeprefix(prefix)


def _words(text: str) -> list[str]:
    words: list[str] = []
    for word in text.replace("SHELL:", "").split():
        inner = word.removeprefix("-Wl,").removeprefix("LINKER:")
        words += inner.split(",") if inner != word else [word]
    return words


def _as_needed(target: Target, link: Link) -> bool | None:
    """Whether `--as-needed` is in force where a library is linked: by the option before it, else by GCC's default."""
    state = True
    for option in target.options:
        if option.place.path == link.place.path and option.place.start > link.place.start:
            continue
        for word in _words(option.text):
            if word in ("--as-needed", "--no-as-needed"):
                state = word == "--as-needed"
    return state


def _under(target: Target, condition: Condition) -> Condition:
    return conjunction((target.condition, condition))


def _reachable(starts: Iterable[int], edges: Mapping[int, Iterable[int]]) -> set[int]:
    """What can be reached from `starts` along the edges, those themselves among it."""
    pending = list(starts)
    found = set(pending)
    while pending:
        more = [each for each in edges.get(pending.pop(), ()) if each not in found]
        found.update(more)
        pending += more
    return found


def _both(first: Survival | None, second: Survival | None) -> bool | None:
    """Whether both are in the binary, in some configuration."""
    if first is None or second is None:
        return False
    if not compatible(first.member.condition, second.member.condition):
        return False
    return _and(first.survives, second.survives)


def _and(first: bool | None, second: bool | None) -> bool | None:
    if first is False or second is False:
        return False
    return True if first and second else None
