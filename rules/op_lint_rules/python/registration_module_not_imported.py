"""OPL607."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from op_lint.facts import FileFacts, OperatorUse, Place, PythonFacts, RunTime, UseKind
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program
from op_lint.python import ImportGraph
from op_lint.rule import Rule
from op_lint_rules._words import where

_PROGRAM = re.compile(r"^(?:__init__|__main__|conftest|setup|test_.*|.*_test|.*bench.*|.*example.*|demo.*)$")
"""Files that something other than an import runs."""

_STANDALONE = frozenset({
    "test", "tests", "testing", "example", "examples", "demo", "demos", "benchmark", "benchmarks", "bench", "docs",
    "scripts", "tools", "tutorials",
})  # fmt: skip


class RegistrationModuleNotImported(Rule):
    """A module loads a library or registers operators, and nothing imports it.

    ## What it does
    Reports modules that load a library or define operators as they are imported, that no other module of the project
    imports, and whose operators another module uses that loads nothing itself. Tests, examples, scripts and programs
    are left alone, and so are projects that import modules by names which the source does not show.

    ## Why it is bad
    The operators do not exist when they are called: "'_OpNamespace' object has no attribute". A tidy-up that removes an
    import which looks unused is enough.

    ## Example
    ```python title="cpp_lib.py"
    import torch

    torch.ops.load_library("libdemo.so")
    ```

    ```python title="common.py"
    import torch


    def run(q):
        return torch.ops.demo.fwd(q)
    ```

    ## Use instead
    ```python title="cpp_lib.py"
    import torch

    torch.ops.load_library("libdemo.so")
    ```

    ```python title="common.py"
    import torch

    import cpp_lib  # noqa: F401


    def run(q):
        return torch.ops.demo.fwd(q)
    ```

    ## References
    - `torch.ops.load_library` in torch/_ops.py
    """

    code = "OPL607"
    name = "registration-module-not-imported"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Every module that nothing imports, with a use of what only it brings."""
        modules = [
            (file, file.python) for file in program.files if file.python is not None and _says(file, file.python)
        ]
        modules = [(file, facts) for file, facts in modules if _is_module(file.path)]
        bringing = [(file, facts, place) for file, facts in modules for place in _brings(file, facts)[:1]]
        if not bringing or _imports_by_name(program):
            return
        graph = ImportGraph(program.files)
        for file, facts, place in bringing:
            if graph.importers(file.path) or _is_named(program, facts):
                continue
            use = _use(program, graph, file, modules)
            if use is not None:
                yield self._lonely(facts, place, use)

    def _lonely(self, facts: PythonFacts, place: Place, use: OperatorUse) -> Finding:
        return self.finding(
            place,
            f"nothing imports the module `{facts.module}`, so this does not run, and `{use.operator}` does not exist "
            f"where it is used ({where(use.place, place)}): import `{facts.module}` there, or in the `__init__.py` of "
            "the package",
            related=(Related(use.place, f"`{use.operator}` is used here"),),
        )


def _says(file: FileFacts, facts: PythonFacts) -> bool:
    """Whether a file has anything to do with operators; most have not."""
    return bool(file.definitions or facts.loads or facts.uses)


def _is_module(path: str) -> bool:
    parts = PurePosixPath(path)
    folders = {folder.casefold() for folder in parts.parts[:-1]}
    return not folders & _STANDALONE and not _PROGRAM.match(parts.stem.casefold())


def _brings(file: FileFacts, facts: PythonFacts) -> list[Place]:
    """Where a module loads libraries or defines operators as it is imported."""
    loads = [load.place for load in facts.loads if load.run is RunTime.IMPORT]
    functions = [function.place for function in facts.functions if not function.at_import]
    inside = [
        definition.place
        for definition in file.definitions
        if not any(place.start < definition.place.start < place.end for place in functions)
    ]
    return [*loads, *inside]


def _imports_by_name(program: Program) -> bool:
    """Whether a file imports what its own text does not say; then nobody knows what is imported."""
    return any(
        each.module in ("importlib", "pkgutil", "runpy") or each.module.startswith("importlib.")
        for file in program.files
        if file.python is not None
        for each in file.python.imports
    )


def _is_named(program: Program, facts: PythonFacts) -> bool:
    """Whether a definition in C++ names the module (`set_python_module`)."""
    return any(found.fact.python_module == facts.module for found in program.definitions)


def _use(
    program: Program, graph: ImportGraph, file: FileFacts, modules: list[tuple[FileFacts, PythonFacts]]
) -> OperatorUse | None:
    """A call of an operator that only this file can bring, in a module that neither loads anything nor imports it.

    What it defines is known. What the library that it loads defines is known where the sources have it, or where this
    is the only load of the project and nobody defines the operator.
    """
    own = {definition.operator for definition in file.definitions}
    only = sum(len(facts.loads) for _, facts in modules) == len(file.python.loads if file.python else ())
    for other, facts in modules:
        if other.path == file.path or facts.loads:
            continue
        for use in facts.uses:
            if use.kind is not UseKind.CALL or use.caught:
                continue
            overloads = program.overloads(use.operator.namespace, use.operator.name)
            defined_here = bool(overloads) and all(
                found in own and len(program.definitions_of(found)) == 1 for found in overloads
            )
            unknown = (
                not overloads
                and only
                and bool(file.python and file.python.loads)
                and not program.installs(use.operator.namespace)
            )
            if (defined_here or unknown) and file.path not in graph.reachable(other.path, at_import=False):
                return use
    return None
