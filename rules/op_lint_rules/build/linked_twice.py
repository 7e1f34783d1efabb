"""OPL503."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from op_lint.build.model import Target
from op_lint.build.questions import Questions, Survival
from op_lint.condition import compatible
from op_lint.facts import Language, LibraryLoad, Place, PythonImport, Unit, UnitKind
from op_lint.findings import Finding, Fix, Related, Severity
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint_rules._words import where
from op_lint_rules.build._binaries import block, registering, taken_out


class _Twice(NamedTuple):
    """A source that is in `binary` and in `library`, which is loaded with it."""

    unit: Unit
    binary: Target
    library: Target
    here: Place
    there: Place


class LinkedTwice(Rule):
    """One registration block in two libraries that are loaded together.

    ## What it does
    Reports a source with a registration block that is compiled into two binaries of which one loads the other, and a
    `torch.ops.load_library` of a file that is a second copy of a library which an import above it has loaded.

    ## Why it is bad
    Each copy registers when it is loaded. The second definition or `TORCH_LIBRARY` ends the process, a second copy of
    the stable ABI's blocks with a segmentation fault; a second kernel replaces the first, with a warning.

    ## Example
    ```cmake
    cmake_minimum_required(VERSION 3.18)
    project(demo CXX)
    add_library(demo_core SHARED core.cpp ops.cpp)
    add_library(_demo MODULE bind.cpp ops.cpp)
    target_link_libraries(_demo PRIVATE demo_core)
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor loop(const at::Tensor& x) { return x.clone(); }

    TORCH_LIBRARY_FRAGMENT(demo, m) {
      m.def("loop(Tensor x) -> Tensor", &loop);
    }
    ```
    ```cpp title="core.cpp"
    int core_version() { return 3; }
    ```
    ```cpp title="bind.cpp"
    int core_version();
    int bind() { return core_version(); }
    ```

    ## Use instead
    ```cmake
    cmake_minimum_required(VERSION 3.18)
    project(demo CXX)
    add_library(demo_core SHARED core.cpp ops.cpp)
    add_library(_demo MODULE bind.cpp)
    target_link_libraries(_demo PRIVATE demo_core)
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor loop(const at::Tensor& x) { return x.clone(); }

    TORCH_LIBRARY_FRAGMENT(demo, m) {
      m.def("loop(Tensor x) -> Tensor", &loop);
    }
    ```
    ```cpp title="core.cpp"
    int core_version() { return 3; }
    ```
    ```cpp title="bind.cpp"
    int core_version();
    int bind() { return core_version(); }
    ```

    ## Fix
    Takes the source out of the list of the binary that loads the other one.

    ## References
    - `Dispatcher::registerDef` and `registerLibrary` in aten/src/ATen/core/dispatch/Dispatcher.cpp
    """

    code = "OPL503"
    name = "linked-twice"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every unit in two binaries that are loaded together, and every second copy that Python loads."""
        if program.linking is not None:
            for twice in _pairs(program, program.linking):
                yield self._compiled(program.linking, twice)
        for load, earlier, unit in _second_loads(program):
            yield self._loaded(load, earlier, unit)

    def _compiled(self, questions: Questions, twice: _Twice) -> Finding:
        unit, binary, library = twice.unit, twice.binary, twice.library
        only_kernels = unit.kind is UnitKind.IMPL
        harm = "its kernels are registered twice" if only_kernels else "loading the second one aborts"
        return self.finding(
            twice.here,
            f"`{binary.name}` and `{library.name}`, which it loads, both hold {block(unit)}"
            f" ({where(unit.place, twice.here)}), so {harm}: take it out of one of them",
            related=(
                Related(twice.there, f"`{library.name}` takes it in here"),
                Related(unit.place, f"{block(unit)} registers in each", marked=True),
            ),
            severity=Severity.WARNING if only_kernels else None,
            fix=_without(questions, twice),
        )

    def _loaded(self, load: LibraryLoad, earlier: PythonImport, unit: Unit) -> Finding:
        return self.finding(
            load.place,
            f"`{earlier.module}` ({where(earlier.place, load.place)}) has loaded this library already, and a copy of it"
            f" from another path registers {block(unit)} again, which aborts: load the file that the package has",
            related=(
                Related(earlier.place, "the library is loaded by this import"),
                Related(unit.place, f"{block(unit)} registers in each copy"),
            ),
            notes=("loading one file twice, also by a link to it, is harmless: only a copy is a second library",),
        )


def _pairs(program: Program, questions: Questions) -> Iterator[_Twice]:
    sources = registering(program)
    for binary in questions.graph.targets:
        held = (
            questions.objects_of(binary) & sources.keys() if binary.is_loaded and not binary.incomplete else frozenset()
        )
        reported: set[str] = set()
        for library, kept in questions.loaded_with(binary) if held else ():
            for path in sorted(questions.objects_of(library) & held) if kept else ():
                mine = questions.unit_survives_link(path, binary)
                theirs = questions.unit_survives_link(path, library)
                if path not in reported and mine and theirs and _are_both_there(mine, theirs):
                    reported.add(path)
                    here, there = _place(path, binary, mine), _place(path, library, theirs)
                    yield _Twice(sources[path][0], binary, library, here, there)


def _without(questions: Questions, twice: _Twice) -> Fix | None:
    """None where the source comes in by a link, and where it is all that the binary is made of."""
    binary = twice.binary
    source = next((each for each in binary.sources if each.place == twice.here), None)
    edit = taken_out(questions, source) if source is not None and len(binary.sources) > 1 else None
    return None if edit is None else Fix(f"take it out of {binary.name}", safe=False, edits=(edit,))


def _are_both_there(mine: Survival, theirs: Survival) -> bool:
    return bool(mine.survives and theirs.survives and compatible(mine.member.condition, theirs.member.condition))


def _place(path: str, target: Target, survival: Survival) -> Place:
    """Where a target takes a source in: by its own list of sources, or by a link."""
    if survival.member.link is not None:
        return survival.member.link.place
    return next((source.place for source in target.sources if source.path == path), target.place)


def _second_loads(program: Program) -> Iterator[tuple[LibraryLoad, PythonImport, Unit]]:
    """Loads of a library file by an absolute path whose namesake package the same file imports before."""
    owners = {
        unit.namespace: unit
        for unit in reversed(program.units)
        if unit.language is Language.CPP and unit.kind is not UnitKind.IMPL and unit.namespace is not None
    }
    for file in program.files:
        for load in file.python.loads if file.python else ():
            name = _library_name(load.path or "")
            unit = owners.get(name)
            if unit is None or load.function is not None or not PurePosixPath(load.path or "").is_absolute():
                continue
            imports = file.python.imports if file.python else ()
            earlier = next((each for each in imports if _loads(each, name) and each.place < load.place), None)
            if earlier is not None:
                yield load, earlier, unit


def _loads(imported: PythonImport, name: str) -> bool:
    """Whether an import at the top of a file is one of the package of this name."""
    return imported.module.partition(".")[0] == name and not imported.relative and not imported.caught


def _library_name(path: str) -> str:
    """`demo` of `/srv/libdemo.so`, `demo.cpython-311-x86_64-linux-gnu.so` and `demo.dll`."""
    name = PurePosixPath(path).name
    if not name.endswith((".so", ".dylib", ".dll", ".pyd")):
        return ""
    return name.partition(".")[0].removeprefix("lib")
