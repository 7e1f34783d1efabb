"""What is often asked of the facts of Python files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from op_lint.facts import FileFacts, Language, Place, PythonFacts, PythonFunction, PythonImport, RunTime, Unit
from op_lint.python.modules import ModuleIndex
from op_lint.python.registrations import CUSTOM_OP, LEGACY_CUSTOM_OPS, LIBRARY, TRITON_OP
from op_lint.python.vocabulary import COMPOSITE_EXPLICIT

_TENSOR_ARGUMENT = re.compile(r"\bTensor\b")


def dump_place(unit: Unit) -> Place | None:
    """What the dispatcher's dump names as the place of what a Python unit registers.

    That is where the `Library` was made. Calls by name, `custom_op` and `_scoped_library` make theirs inside of torch:
    None (torch 2.13).
    """
    return unit.place if unit.macro == LIBRARY else None


def implied_keys(macro: str, schema: str | None, keys: Collection[str]) -> tuple[str, ...]:
    """The keys to which defining an operator registers kernels that nobody asked for (torch 2.13).

    `macro` is that of the definition's unit, `schema` the operator's schema, `keys` those of its own kernels. The
    kernels of `custom_op` at Meta and Autograd raise unless a fake or a formula is registered: they are no facts.
    """
    if macro in LEGACY_CUSTOM_OPS:
        return ("Autograd",)
    if macro not in (CUSTOM_OP, TRITON_OP):
        return ()
    arguments, _, returns = (schema or "").partition("->")
    implied = ["Autograd", "Meta"]
    if "!" in arguments or "(a" in returns:
        implied.append("ADInplaceOrView")
    if schema and not _TENSOR_ARGUMENT.search(arguments) and set(keys) - {COMPOSITE_EXPLICIT}:
        implied.append("BackendSelect")
    return tuple(implied)


def enclosing_function(facts: PythonFacts, place: Place) -> PythonFunction | None:
    """The innermost of the functions in `facts` whose body holds a place; None at module level."""
    around = [found for found in facts.functions if _is_inside(place, found.place)]
    return max(around, key=lambda found: found.place.start, default=None)


def _is_inside(place: Place, outer: Place) -> bool:
    return place.path == outer.path and outer.start < place.start and place.end <= outer.end


class ImportGraph:
    """Which Python files of a project import which."""

    def __init__(self, files: Iterable[FileFacts]) -> None:
        python = {file.path: file.python for file in files if file.language is Language.PYTHON and file.python}
        self._modules = ModuleIndex(python)
        self._imports = {path: facts.imports for path, facts in python.items()}
        self._known: dict[str, tuple[tuple[str, PythonImport], ...]] = {}

    def imports(self, path: str) -> tuple[tuple[str, PythonImport], ...]:
        """The files that a file imports, each with the import, in source order; a package's `__init__` among them."""
        if path not in self._known:
            found = (
                (target, written) for written in self._imports.get(path, ()) for target in self._targets(path, written)
            )
            self._known[path] = tuple(found)
        return self._known[path]

    def reachable(self, path: str, *, at_import: bool = True) -> frozenset[str]:
        """The files that importing a file imports, itself included; with `at_import` unset, those in functions, too."""
        reached: set[str] = set()
        waiting = [path]
        while waiting:
            current = waiting.pop()
            if current in reached:
                continue
            reached.add(current)
            waiting.extend(
                target for target, written in self.imports(current) if not at_import or written.run is RunTime.IMPORT
            )
        return frozenset(reached)

    def importers(self, path: str) -> tuple[str, ...]:
        """The files that import a file anywhere, sorted."""
        return tuple(sorted(importer for importer in self._imports if path in dict(self.imports(importer))))

    def _targets(self, path: str, written: PythonImport) -> Iterable[str]:
        """The files that one import runs: the packages on the way, the module, and the name, if that is a module."""
        parts = written.module.split(".") if written.module else []
        if written.name not in (None, "*"):
            parts.append(written.name or "")
        for count in range(1, len(parts) + 1):
            found = self._modules.find(".".join(parts[:count]), path, relative=written.relative)
            if found is not None and found != path:
                yield found
