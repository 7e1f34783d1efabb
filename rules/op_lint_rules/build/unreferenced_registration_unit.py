"""OPL502."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from op_lint.build.model import BuildSystem, Link, LinkHow, Source, Target, TargetKind
from op_lint.build.questions import Questions
from op_lint.condition import ALWAYS
from op_lint.facts import Place, Unit
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint_rules._words import where
from op_lint_rules.build._binaries import block, is_complete, is_header, knows_links, registering

_CPP = frozenset({".cc", ".cpp", ".cxx", ".c++", ".cu", ".mm"})


class _Dropped(NamedTuple):
    """A library with registrations that a link leaves out, the units in it, and the sources that those are in."""

    binary: Target
    library: Target
    link: Link
    units: list[Unit]
    paths: list[str]


class UnreferencedRegistrationUnit(Rule):
    """Registrations in a library that the linker leaves out, because nothing refers to it.

    ## What it does
    Reports a link of a static library without whole-archive, where the object with the registration block defines no
    symbol that anything in the link needs; and a program that links a shared library with registrations and uses none
    of its symbols, which GCC drops under `--as-needed`, its default on Debian and Ubuntu. It is silent where the
    registrations get into any other binary of the project, and where a symbol may be needed.

    ## Why it is bad
    Nothing is reported: it compiles, it links, it loads. The registrations are not there, and `torch.ops.demo` has no
    such operator.

    ## Example
    ```cmake
    cmake_minimum_required(VERSION 3.24)
    project(demo CXX)
    add_library(demo_ops STATIC ops.cpp)
    add_library(demo MODULE entry.cpp)
    target_link_libraries(demo PRIVATE demo_ops)
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor twice(const at::Tensor& x) { return x + x; }

    TORCH_LIBRARY(demo, m) {
      m.def("twice(Tensor x) -> Tensor", &twice);
    }
    ```
    ```cpp title="entry.cpp"
    extern "C" int demo_version() { return 1; }
    ```

    ## Use instead
    ```cmake
    cmake_minimum_required(VERSION 3.24)
    project(demo CXX)
    add_library(demo_ops STATIC ops.cpp)
    add_library(demo MODULE entry.cpp)
    target_link_libraries(demo PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,demo_ops>)
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor twice(const at::Tensor& x) { return x + x; }

    TORCH_LIBRARY(demo, m) {
      m.def("twice(Tensor x) -> Tensor", &twice);
    }
    ```
    ```cpp title="entry.cpp"
    extern "C" int demo_version() { return 1; }
    ```

    ## Fix
    Links the library as a whole, in the spelling of the build system: `$<LINK_LIBRARY:WHOLE_ARCHIVE,...>` where the
    project asks for CMake 3.24 or newer, the linker's options before that, `alwayslink` for Bazel, `link_whole` for
    Buck. As another choice it writes an anchor: a function beside the block, and a source of the binary that refers to
    it. Keeps a shared library with `--no-as-needed`.

    ## References
    - The `WHOLE_ARCHIVE` feature in cmake-generator-expressions(7)
    - `--whole-archive` and `--as-needed` in the manual of GNU ld
    """

    code = "OPL502"
    name = "unreferenced-registration-unit"
    severity = Severity.ERROR
    needs = frozenset({Need.BUILD})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every link that leaves out the only copy of a registering object."""
        questions = program.linking
        if questions is None:
            return
        graph = questions.graph
        sources = {path: units for path, units in registering(program).items() if is_complete(graph, path)}
        for dropped in _from_archives(questions, sources):
            yield self._pruned(questions, dropped)
        for dropped in _from_programs(questions, sources):
            yield self._unneeded(dropped)

    def _pruned(self, questions: Questions, dropped: _Dropped) -> Finding:
        library, binary, unit = dropped.library, dropped.binary, dropped.units[0]
        place = dropped.link.place
        anchored = _anchored(questions, dropped)
        return self.finding(
            place,
            f"the linker drops {_blocks(dropped)} ({where(unit.place, place)}): `{library.name}` is static and nothing"
            f" in `{binary.name}` needs its symbols; link it as a whole",
            related=_related(dropped),
            notes=_whole_notes(library, dropped.paths[0]),
            fix=_whole(dropped),
            alternatives=(anchored,) if anchored else (),
        )

    def _unneeded(self, dropped: _Dropped) -> Finding:
        library, binary, unit = dropped.library, dropped.binary, dropped.units[0]
        place = dropped.link.place
        return self.finding(
            place,
            f"`{binary.name}` uses no symbol of `{library.name}`, so with --as-needed the linker drops it and"
            f" {_blocks(dropped)} ({where(unit.place, place)}): link it with -Wl,--no-as-needed",
            related=_related(dropped),
            notes=("GCC passes --as-needed by default on Debian and Ubuntu, and torch's CMake targets switch it on",),
            fix=_keep(dropped),
        )


def _from_archives(questions: Questions, sources: dict[str, tuple[Unit, ...]]) -> Iterator[_Dropped]:
    found: dict[tuple[str, Place], _Dropped] = {}
    for path, units in sources.items():
        binaries = questions.binaries_of(path)
        if any(survival.survives is not False for _, survival in binaries):
            continue
        for binary, survival in binaries:
            member = survival.member
            if member.archive is None or member.link is None or _is_uncertain(binary, member.archive):
                continue
            if questions.holds_by_default(member.condition) is False or not knows_links(questions.graph, binary, path):
                continue
            key = (binary.name, member.link.place)
            known = found.setdefault(key, _Dropped(binary, member.archive, member.link, [], []))
            known.units.extend(units)
            known.paths.append(path)
    yield from found.values()


def _is_uncertain(*targets: Target) -> bool:
    """Whether objects that are not known take part in the link."""
    return any(target.incomplete for target in targets)


def _from_programs(questions: Questions, sources: dict[str, tuple[Unit, ...]]) -> Iterator[_Dropped]:
    for binary in questions.graph.targets:
        if binary.kind is not TargetKind.EXECUTABLE or binary.incomplete:
            continue
        for library, link, condition in questions.libraries_of(binary):
            mine = [source.path for source in library.sources if source.path in sources]
            paths = [path for path in mine if knows_links(questions.graph, binary, path)]
            units = [unit for path in paths for unit in sources[path]]
            if not units or library.incomplete or link not in binary.links:
                continue
            if questions.holds_by_default(condition) is not False and _is_dropped(questions, binary, library):
                yield _Dropped(binary, library, link, units, paths)


def _is_dropped(questions: Questions, binary: Target, library: Target) -> bool:
    """Whether a program certainly does not load a library, neither by itself nor through another."""
    return all(kept is False for loaded, kept in questions.loaded_with(binary) if loaded is library)


def _blocks(dropped: _Dropped) -> str:
    more = len(dropped.units) - 1
    return block(dropped.units[0]) + (f" and {more} more" if more else "")


def _related(dropped: _Dropped) -> tuple[Related, ...]:
    return (
        *(
            Related(unit.place, f"{block(unit)} is not in `{dropped.binary.name}`", marked=True)
            for unit in dropped.units[:5]
        ),
        Related(dropped.library.place, f"`{dropped.library.name}` is declared here"),
    )


def _whole_notes(library: Target, path: str) -> tuple[str, ...]:
    name = library.name
    anchor = _anchor(library, path)
    return (
        f"macOS: -Wl,-force_load,$<TARGET_FILE:{name}>; MSVC: /WHOLEARCHIVE:{name}",
        f"or make `{name}` an OBJECT library, whose objects are all linked",
        f"or an anchor: `{_defined(anchor)}` beside the block, and in a source that is linked `{_referred(anchor)}`",
    )


def _anchor(library: Target, path: str) -> str:
    """The name of a function that stands for the source at `path`, like no other in the library."""
    return re.sub(r"\W", "_", f"keep_{library.name}_{PurePosixPath(path).stem}")


def _defined(anchor: str) -> str:
    return f'extern "C" int {anchor}() {{ return 0; }}'


def _referred(anchor: str) -> str:
    return f'extern "C" int {anchor}(); [[maybe_unused]] static const int {anchor}_kept = {anchor}();'


def _anchored(questions: Questions, dropped: _Dropped) -> Fix | None:
    """An anchor in each of the sources, and one of the binary's own sources that refers to them.

    None where that source is not certainly linked with all of them, and them alone: it would miss a symbol.
    """
    binary, library, paths = dropped.binary, dropped.library, tuple(dict.fromkeys(dropped.paths))
    conditions = (
        dropped.link.condition,
        *(each.condition for path in paths for each in questions.targets_of(path) if each.target is library),
    )
    anchors = [_anchor(library, path) for path in paths]
    keeper = next((source.path for source in binary.sources if _is_own(questions, source)), None)
    if keeper is None or len(set(anchors)) < len(anchors) or any(each != ALWAYS for each in conditions):
        return None
    edits = [
        *(_put_before(path, _defined(anchor)) for path, anchor in zip(paths, anchors, strict=True)),
        _put_before(keeper, "\n".join(map(_referred, anchors))),
    ]
    made = tuple(edit for edit in edits if edit is not None)
    return Fix(f"keep it by an anchor that {keeper} refers to", safe=False, edits=made) if made == (*edits,) else None


def _is_own(questions: Questions, source: Source) -> bool:
    """Whether one target alone compiles a source, always."""
    compiled = questions.targets_of(source.path)
    return len(compiled) == 1 and compiled[0].condition == ALWAYS and not source.copied and not is_header(source.path)


def _put_before(path: str, text: str) -> Edit | None:
    """Writes a line at the start of a source of the project in C++: outside of all, also of unsaved text."""
    if path.startswith("/") or PurePosixPath(path).suffix not in _CPP:
        return None
    return Edit(Place(path, 1, 0, 0), f"{text}\n")


def _whole(dropped: _Dropped) -> Fix | None:
    library = dropped.library
    if library.system is BuildSystem.CMAKE:
        name = dropped.link.to
        if _version(library.minimum) >= (3, 24):
            return _replacement(dropped.link, f"$<LINK_LIBRARY:WHOLE_ARCHIVE,{name}>")
        return _replacement(dropped.link, f"-Wl,--whole-archive {name} -Wl,--no-whole-archive")
    attribute = {BuildSystem.BAZEL: "alwayslink", BuildSystem.BUCK: "link_whole"}.get(library.system)
    if attribute is None:
        return None
    # The place of the target is its name with the quotes around it.
    at = library.place.end
    place = Place(library.place.path, library.place.line, at, at)
    return Fix(f"set {attribute} for {library.name}", safe=False, edits=(Edit(place, f", {attribute} = True"),))


def _keep(dropped: _Dropped) -> Fix | None:
    return _replacement(dropped.link, f"-Wl,--no-as-needed {dropped.link.to} -Wl,--as-needed")


def _replacement(link: Link, text: str) -> Fix | None:
    """None where the library is not named in one word, as it is where a variable holds it among others."""
    if link.how is not LinkHow.PLAIN or link.place.end - link.place.start != len(link.to.encode()):
        return None
    return Fix(f"link with {text}", safe=False, edits=(Edit(link.place, text),))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])
