"""OPL203."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Language, Place, Unit, UnitKind
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint_rules._words import when, where

_FRAGMENTS = {
    "TORCH_LIBRARY": "TORCH_LIBRARY_FRAGMENT",
    "STABLE_TORCH_LIBRARY": "STABLE_TORCH_LIBRARY_FRAGMENT",
}


class DuplicateLibrary(Rule):
    """Two `TORCH_LIBRARY` blocks of one namespace in one process.

    ## What it does
    Reports the second `TORCH_LIBRARY` (or `torch.library.Library(ns, "DEF")`) of a namespace that is in the same
    library as the first.

    ## Why it is bad
    A namespace has one owner. Loading the second block ends the process; of the stable ABI's
    `STABLE_TORCH_LIBRARY` with a segmentation fault and no message at all.

    ## Example
    ```cpp title="jpeg.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("jpeg(Tensor data) -> Tensor");
    }
    ```
    ```cpp title="png.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("png(Tensor data) -> Tensor");
    }
    ```

    ## Use instead
    ```cpp title="jpeg.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("jpeg(Tensor data) -> Tensor");
    }
    ```
    ```cpp title="png.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY_FRAGMENT(demo, m) {
      m.def("png(Tensor data) -> Tensor");
    }
    ```

    ## Fix
    Makes the second block a `TORCH_LIBRARY_FRAGMENT`.

    ## References
    - `Dispatcher::registerLibrary` in aten/src/ATen/core/dispatch/Dispatcher.cpp
    """

    code = "OPL203"
    name = "duplicate-library"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every owner of a namespace that meets an earlier one."""
        for namespace in sorted({unit.namespace for unit in program.units if unit.namespace is not None}):
            owners = (unit for unit in program.units_of(namespace) if program.role(unit) is UnitKind.LIBRARY)
            for later, earlier in program.collisions(owners):
                yield self._twice(namespace, later, earlier)

    def _twice(self, namespace: str, later: Unit, earlier: Unit) -> Finding:
        place = later.namespace_place or later.place
        other = earlier.namespace_place or earlier.place
        fragment = _FRAGMENTS.get(later.macro, "TORCH_LIBRARY_FRAGMENT")
        if later.language is Language.PYTHON:
            harm, remedy = "this raises RuntimeError", 'use `Library(..., "FRAGMENT")` here'
        else:
            harm = "loading the library crashes" if later.stable else "loading the library aborts"
            remedy = f"use `{fragment}` here"
        return self.finding(
            place,
            f"the namespace `{namespace}` already has its {earlier.macro} at {where(other, place)}, so {harm}"
            f"{when(later.condition)}: {remedy}",
            related=(Related(other, f"`{namespace}` is first claimed here"),),
            notes=(f'torch says: "Only a single TORCH_LIBRARY can be used to register the namespace {namespace}"',),
            fix=_fix(later, fragment),
        )


def _fix(unit: Unit, fragment: str) -> Fix | None:
    """None where the block is not written with torch's own macro, whose name starts the unit."""
    if unit.macro not in _FRAGMENTS or unit.spelled is not None:
        return None
    start = unit.place.start
    macro = Place(unit.place.path, unit.place.line, start, start + len(unit.macro))
    return Fix(f"make it a {fragment}", safe=True, edits=(Edit(macro, fragment),))
