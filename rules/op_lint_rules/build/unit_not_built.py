"""OPL501."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from op_lint.build.model import BuildGraph, Target
from op_lint.build.questions import Compiled, Questions
from op_lint.condition import ALWAYS, Condition, atoms, conjunction, disjunction, negation, satisfying
from op_lint.dispatch.keys import EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT
from op_lint.facts import Implementation, KernelKind, Language, OperatorName, Unit
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.program import Program, Registered
from op_lint.rule import Need, Rule
from op_lint_rules._words import is_unknown_key, where
from op_lint_rules.build._binaries import (
    ASIDE,
    block,
    can_be_listed_after,
    can_name,
    is_at_run_time,
    is_complete,
    listed_after,
    registering,
    taken_out,
)

_EVERYWHERE = frozenset({"Meta", IMPLICIT, EXPLICIT, EXPLICIT_NON_FUNCTIONAL})
"""Keys whose kernels every build needs, whatever devices it is for."""

_PROBES = frozenset({
    "CUDA_HOME", "ROCM_HOME", "torch.cuda.is_available()", "torch.version.cuda", "torch.version.hip",
    "CUDA_FOUND", "CUDAToolkit_FOUND", "CMAKE_CUDA_COMPILER", "HIP_FOUND", "hip_FOUND",
})  # fmt: skip
"""What a build script finds out about the machine, and nobody who builds decides."""

_KIN = frozenset({".cc", ".cpp", ".cxx", ".c++", ".cu"})
"""Suffixes of sources that one target compiles side by side."""

_MOST_NAMED = 3


class UnitNotBuilt(Rule):
    """A source with registrations that no target compiles, or that a build leaves out without a word.

    ## What it does
    Reports a source with a registration block

    - that no target of the build files compiles, while they compile its neighbours, and sources of its kind;
    - that is compiled only under a condition, although it holds kernels that every build needs (Meta, a composite key)
      for operators which the build without it has;
    - that holds kernels of a device and is compiled only where the build script happens to find that device's compiler:
      no option or variable asks for it, so it is left out in silence.

    It is silent where the source may be one of those that the build files leave open: it fits what is known of their
    paths, a file that the build makes has its name in it, or a build file that can name it is not read to its end.

    ## Why it is bad
    Everything else compiles, links and loads. The operator is there, and the call fails with "Could not run ... with
    arguments from the 'CUDA' backend", or `torch.compile` with a missing fake kernel, on a machine of a user.

    ## Example
    ```cmake
    cmake_minimum_required(VERSION 3.18)
    project(demo CXX)
    option(WITH_GPU "" OFF)
    set(sources ops.cpp)
    if(WITH_GPU)
      list(APPEND sources ops_meta.cpp)
    endif()
    add_library(demo_ops SHARED ${sources})
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor infos_cpu(const at::Tensor& x) { return x.clone(); }

    TORCH_LIBRARY(demo, m) {
      m.def("infos(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("infos", &infos_cpu);
    }
    ```
    ```cpp title="ops_meta.cpp"
    #include <torch/library.h>

    at::Tensor infos_meta(const at::Tensor& x) { return at::empty_like(x); }

    TORCH_LIBRARY_IMPL(demo, Meta, m) {
      m.impl("infos", &infos_meta);
    }
    ```

    ## Use instead
    ```cmake
    cmake_minimum_required(VERSION 3.18)
    project(demo CXX)
    add_library(demo_ops SHARED ops.cpp ops_meta.cpp)
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor infos_cpu(const at::Tensor& x) { return x.clone(); }

    TORCH_LIBRARY(demo, m) {
      m.def("infos(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("infos", &infos_cpu);
    }
    ```
    ```cpp title="ops_meta.cpp"
    #include <torch/library.h>

    at::Tensor infos_meta(const at::Tensor& x) { return at::empty_like(x); }

    TORCH_LIBRARY_IMPL(demo, Meta, m) {
      m.impl("infos", &infos_meta);
    }
    ```

    ## Fix
    Adds the file to the list of the target that compiles its neighbours, beside one of them; a file that is compiled
    under a condition is taken out of the list it was in.

    ## References
    - Notes on writing operators: one library per build, with a Meta kernel in each
    """

    code = "OPL501"
    name = "unit-not-built"
    severity = Severity.WARNING
    needs = frozenset({Need.BUILD})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every registering source that is compiled in no target, or not in every build that needs it."""
        questions = program.linking
        if questions is None:
            return
        for path, found in registering(program).items():
            # What no torch has the key of is to be mended first: that has a finding of its own.
            units = tuple(unit for unit in found if unit.key is None or not is_unknown_key(program.keys, unit.key))
            if not units or not is_complete(questions.graph, path):
                continue
            compiled = questions.targets_of(path)
            if not compiled:
                neighbour = _neighbour(questions, path)
                if neighbour is not None:
                    yield self._nowhere(questions, path, units, neighbour)
                continue
            condition = disjunction(each.condition for each in compiled)
            if condition != ALWAYS:
                yield from self._conditional(program, questions, units, compiled, condition)

    def _nowhere(self, questions: Questions, path: str, units: tuple[Unit, ...], neighbour: Compiled) -> Finding:
        first = units[0]
        target = neighbour.target
        return self.finding(
            first.namespace_place or first.place,
            f"no target compiles this file, so {block(first)} never runs: {_asked(neighbour, path)}"
            f" ({where(target.place, first.place)})",
            related=(
                Related(neighbour.source.place, f"`{target.name}` compiles {neighbour.source.path} here", marked=True),
            ),
            fix=_added(questions, neighbour, path),
        )

    def _conditional(
        self,
        program: Program,
        questions: Questions,
        units: tuple[Unit, ...],
        compiled: tuple[Compiled, ...],
        condition: Condition,
    ) -> Iterator[Finding]:
        for unit in units:
            lost = [
                registered.fact
                for registered in _registered(program, unit)
                if _is_lost(program, questions, registered, condition)
            ]
            if not lost:
                continue
            source = compiled[0].source
            place = unit.namespace_place or unit.place
            names = _names(lost)
            yield self.finding(
                place,
                f"this file is compiled only when `{condition}` ({where(source.place, place)}), and a build without it"
                f" has {names} but no {lost[0].key} kernel: {_remedy(lost[0].key)}",
                related=(
                    Related(source.place, f"`{compiled[0].target.name}` compiles the file from here", marked=True),
                ),
                fix=_moved(questions, compiled, place.path) if lost[0].key in _EVERYWHERE else None,
            )


def _registered(program: Program, unit: Unit) -> Iterator[Registered[Implementation]]:
    for registered in program.implementations:
        if registered.unit is unit:
            yield registered


def _is_lost(
    program: Program, questions: Questions, registered: Registered[Implementation], condition: Condition
) -> bool:
    """Whether a build without the file has the operator, works with it, and lacks this kernel though it needs it."""
    fact = registered.fact
    key = program.key(fact.key)
    texts = set(atoms(condition))
    if key in _EVERYWHERE:
        if _has_fake(program, fact.operator):
            return False
    elif not texts <= _PROBES or questions.switches_in(condition):
        return False
    without = negation(condition)
    there = _when_defined(program, questions, fact.operator)
    others = [
        _when_compiled(questions, other.file)
        for other in program.implementations_of(fact.operator)
        if other is not registered and program.key(other.fact.key) == key
    ]
    if satisfying(conjunction((without, there, *(negation(other) for other in others)))) is None:
        return False
    working = [
        _when_compiled(questions, other.file)
        for other in program.implementations_of(fact.operator)
        if program.key(other.fact.key) != key
    ]
    return any(satisfying(conjunction((without, there, other))) is not None for other in working)


def _when_defined(program: Program, questions: Questions, operator: OperatorName) -> Condition:
    """When a build has the definition of an operator. Never, where it is not in a source that some target compiles."""
    return disjunction(_when_compiled(questions, defined.file) for defined in program.definitions_of(operator))


def _when_compiled(questions: Questions, path: str) -> Condition:
    return disjunction(each.condition for each in questions.targets_of(path))


def _has_fake(program: Program, operator: OperatorName) -> bool:
    """Whether Python registers something in the place of the kernel."""
    return any(
        other.fact.language is Language.PYTHON or other.fact.kernel.kind is KernelKind.FAKE
        for other in program.implementations_of(operator)
    )


def _names(lost: list[Implementation]) -> str:
    names = tuple(dict.fromkeys(f"`{fact.operator}`" for fact in lost))  # one may have two kernels there
    shown = names[:_MOST_NAMED]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(shown) + more


def _remedy(key: str) -> str:
    if key in _EVERYWHERE:
        return "compile it in every build"
    return "let an option or an environment variable ask for it, and fail where it cannot be built"


def _neighbour(questions: Questions, path: str) -> Compiled | None:
    """A source beside this one that is certainly compiled, where the build files say all about their folder."""
    graph = questions.graph
    pure = PurePosixPath(path)
    if path in graph.included or path in graph.mentioned or _is_aside(path):
        return None
    if any(_may_compile(questions, target, path) for target in graph.targets):
        return None
    alike = {pure.suffix} if pure.suffix not in _KIN or not _compiles_kind(graph, pure.suffix) else _KIN
    beside = (
        compiled
        for target in graph.targets
        for source in target.sources
        if PurePosixPath(source.path).parent == pure.parent and PurePosixPath(source.path).suffix in alike
        for compiled in questions.targets_of(source.path)
    )
    candidates = [compiled for compiled in beside if _is_main(compiled.target)]
    best = sorted(
        candidates,
        key=lambda each: (not _has_suffix(each, path), not can_be_listed_after(questions, each)),
    )
    return best[0] if best else None


def _is_aside(path: str) -> bool:
    return not ASIDE.isdisjoint(map(str.casefold, PurePosixPath(path).parts))


def _may_compile(questions: Questions, target: Target, path: str) -> bool:
    """Whether a source may be among those of a target that are not known; tests compile their own at run time."""
    build_file = target.place.path
    possible = questions.may_compile(target, path) and can_name(build_file, path)
    return possible and not is_at_run_time(target.system, build_file)


def _compiles_kind(graph: BuildGraph, suffix: str) -> bool:
    """Whether the project builds sources with this suffix, somewhere that is not aside."""
    return any(
        PurePosixPath(source.path).suffix == suffix and not _is_aside(source.path)
        for target in graph.targets
        for source in target.sources
    )


def _has_suffix(compiled: Compiled, path: str) -> bool:
    return PurePosixPath(compiled.source.path).suffix == PurePosixPath(path).suffix


def _asked(neighbour: Compiled, path: str) -> str:
    name = neighbour.target.name
    if _has_suffix(neighbour, path):
        return f"add it to the sources of `{name}`"
    return f"add it to a target, as {PurePosixPath(neighbour.source.path).name} is in `{name}`"


def _added(questions: Questions, neighbour: Compiled, path: str) -> Fix | None:
    """Compile a file that no target compiles, beside a neighbour."""
    fits = _has_suffix(neighbour, path) and can_be_listed_after(questions, neighbour)
    edit = listed_after(neighbour.source, path) if fits else None
    if edit is None:
        return None
    return Fix(f"add it to the sources of {neighbour.target.name}", safe=False, edits=(edit,))


def _moved(questions: Questions, compiled: tuple[Compiled, ...], path: str) -> Fix | None:
    """Compile a file always: out of the list that a condition guards, and in where that target has a neighbour."""
    if len(compiled) != 1:
        return None
    target, source, _ = compiled[0]
    neighbours = (Compiled(target, each, conjunction((target.condition, each.condition))) for each in target.sources)
    places = (listed_after(each.source, path) for each in neighbours if can_be_listed_after(questions, each))
    out, added = taken_out(questions, source), next((edit for edit in places if edit is not None), None)
    if out is None or added is None:
        return None
    return Fix(f"compile it in every build of {target.name}", safe=False, edits=tuple(sorted((out, added), key=_start)))


def _start(edit: Edit) -> int:
    return edit.place.start


def _is_main(target: Target) -> bool:
    return target.is_loaded or not target.kind.value.startswith("interface")
