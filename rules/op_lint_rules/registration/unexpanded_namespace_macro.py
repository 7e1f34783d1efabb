"""OPL207."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.build.model import BuildGraph, Target
from op_lint.facts import Place, Unit
from op_lint.findings import Finding, Related, Severity
from op_lint.macros import MacroSearch, Mention
from op_lint.program import Program
from op_lint.rule import Rule

_EXPANDS_SINCE = (2, 11)
"""The torch version from which on `TORCH_LIBRARY` expands its first argument (`C10_STRINGIZE` in torch/library.h)."""

_OWN_MACROS = frozenset({"TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT", "TORCH_LIBRARY_IMPL"})


class UnexpandedNamespaceMacro(Rule):
    """A namespace that is called as a macro is, because the macro is not expanded.

    ## What it does
    Reports a block whose namespace is the name of a macro (`TORCH_EXTENSION_NAME`) that no target which compiles it
    defines, as far as the build files say who defines it; where they say nothing of the source, a macro that no build
    file of the project names. Extensions built by `torch.utils.cpp_extension` have that macro, those built by CMake do
    not. Before torch 2.11 it also reports any macro that is given to `TORCH_LIBRARY` itself, which did not expand it.

    ## Why it is bad
    The operators are not where Python looks for them: they are in `torch.ops.TORCH_EXTENSION_NAME`. Two such libraries
    in one process claim the same namespace, and the second one ends it.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {
      m.def("scale(Tensor x) -> Tensor");
    }
    ```
    ```cmake title="CMakeLists.txt"
    project(demo CXX)
    find_package(Torch REQUIRED)
    add_library(demo_ops SHARED ops.cpp)
    target_link_libraries(demo_ops PRIVATE "${TORCH_LIBRARIES}")
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {
      m.def("scale(Tensor x) -> Tensor");
    }
    ```
    ```cmake title="CMakeLists.txt"
    project(demo CXX)
    find_package(Torch REQUIRED)
    add_library(demo_ops SHARED ops.cpp)
    target_compile_definitions(demo_ops PRIVATE TORCH_EXTENSION_NAME=demo_ops)
    target_link_libraries(demo_ops PRIVATE "${TORCH_LIBRARIES}")
    ```

    ## References
    - `TORCH_LIBRARY` in torch/library.h
    - torch/utils/cpp_extension.py, which defines `TORCH_EXTENSION_NAME`
    """

    code = "OPL207"
    name = "unexpanded-namespace-macro"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Every block whose namespace is a macro that does not get, or does not take, its value."""
        version = program.torch_version
        searches = {search.macro: search for search in program.macros}
        for unit in program.units:
            search = searches.get(unit.namespace_macro or "")
            if version is not None and version < _EXPANDS_SINCE and _is_expanded_late(unit):
                yield self._literal(unit, f"{version[0]}.{version[1]}")
            elif search is not None:
                targets = _compiled_without(program, unit, search)
                if targets:
                    yield self._undefined(unit, search.macro, [(each.place, each.name) for each in targets])
                elif targets is None and search.builds and not search.defined:
                    yield self._undefined(unit, search.macro, [(Place(path, 1, 0, 0), "") for path in search.builds])

    def _undefined(self, unit: Unit, macro: str, builds: list[tuple[Place, str]]) -> Finding:
        names = [f"`{name}`" for _, name in builds if name]
        who = (
            f"{', '.join(names[:3])} {'does' if len(names) == 1 else 'do'} not define"
            if names
            else "no build file defines"
        )
        return self.finding(
            unit.namespace_place or unit.place,
            f"{who} `{macro}`, so these operators land in `torch.ops.{macro}`: define it for the target, or write the "
            "namespace here",
            related=tuple(
                Related(place, f"`{name}` compiles this file without it" if name else f"`{macro}` is not defined here")
                for place, name in builds
            ),
            notes=("torch.utils.cpp_extension defines TORCH_EXTENSION_NAME, CMake and other tools do not",),
        )

    def _literal(self, unit: Unit, version: str) -> Finding:
        macro = unit.namespace_macro or "the macro"
        return self.finding(
            unit.namespace_place or unit.place,
            f"torch {version} does not expand {macro} here, so the namespace is its name: write the namespace, or wrap "
            f"{unit.macro} in a macro of your own",
            notes=(f"#define EXPANDED(ns, m) {unit.macro}(ns, m)", "torch expands it from 2.11 on"),
        )


def _compiled_without(program: Program, unit: Unit, search: MacroSearch) -> list[Target] | None:
    """The targets that compile a unit, where none of them defines the macro; None where that cannot be known."""
    questions, path = program.linking, program.file_of(unit)
    values = questions.macro_values(path, search.macro) if questions else None
    if questions is None or values is None:
        return None
    if values != {None} or not all(_is_understood(questions.graph, search.macro, each) for each in search.mentions):
        return []
    return [compiled.target for compiled in questions.targets_of(path)]


def _is_understood(graph: BuildGraph, macro: str, mention: Mention) -> bool:
    """Whether the graph has all definitions that a file which speaks of a macro may mean."""
    places = {
        define.place
        for target in graph.targets
        for define in target.defines
        if define.name == macro and define.place.path == mention.path and define.place != target.place
    }
    made = [target for target in graph.targets if target.place.path == mention.path]
    helped = bool(made) and not any(target.incomplete for target in made)
    return len(places) >= mention.times and (helped or not mention.helper)


def _is_expanded_late(unit: Unit) -> bool:
    """Whether the namespace is a macro that is given to torch's own macro directly."""
    if unit.macro not in _OWN_MACROS or unit.stable or unit.spelled is not None or unit.namespace is None:
        return False
    return unit.namespace_macro is not None or unit.namespace_place is None
