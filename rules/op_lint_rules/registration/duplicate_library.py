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
    A namespace has one owner. Two blocks in one file do not compile. Two in one library do, and loading the second
    ends the process; of the stable ABI's `STABLE_TORCH_LIBRARY` with a segmentation fault and no message at all.

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
        """Every owner of a namespace that meets torch's, or else an earlier one of the sources."""
        of_torch = program.installed.libraries if program.installed and not program.in_torch else {}
        for namespace in sorted({unit.namespace for unit in program.units if unit.namespace is not None}):
            owners = [unit for unit in program.units_of(namespace) if program.role(unit) is UnitKind.LIBRARY]
            if namespace in of_torch:
                for unit in owners:
                    yield self._torch_owns_it(program, unit, of_torch[namespace])
            else:
                for later, earlier in program.collisions(owners):
                    yield self._twice(later, earlier)

    def _torch_owns_it(self, program: Program, unit: Unit, origin: str) -> Finding:
        return self.finding(
            unit.namespace_place or unit.place,
            f"the namespace `{unit.namespace}` is {program.torch_name}'s own, so {_harm(unit)}: {_remedy(unit)}",
            notes=(f"torch's own is {origin}", _torch_says(unit)),
            fix=_fix(unit),
        )

    def _twice(self, later: Unit, earlier: Unit) -> Finding:
        place = later.namespace_place or later.place
        other = earlier.namespace_place or earlier.place
        return self.finding(
            place,
            f"the namespace `{later.namespace}` already has its {earlier.macro} at {where(other, place)}, so "
            f"{_harm(later, earlier)}{when(later.condition)}: {_remedy(later)}",
            related=(Related(other, f"`{later.namespace}` is first claimed here"),),
            notes=(_torch_says(later),),
            fix=_fix(later),
        )


def _harm(unit: Unit, earlier: Unit | None = None) -> str:
    if unit.language is Language.PYTHON:
        return "this raises RuntimeError"
    if earlier is not None and earlier.place.path == unit.place.path:
        return "this does not compile, or does not load"  # the macro names its variable after the namespace
    return "loading the library crashes" if unit.stable else "loading the library aborts"


def _remedy(unit: Unit) -> str:
    fragment = 'Library(..., "FRAGMENT")' if unit.language is Language.PYTHON else _fragment(unit)
    return f"use `{fragment}` here"


def _fragment(unit: Unit) -> str:
    return _FRAGMENTS.get(unit.macro, "TORCH_LIBRARY_FRAGMENT")


def _torch_says(unit: Unit) -> str:
    return f'torch says: "Only a single TORCH_LIBRARY can be used to register the namespace {unit.namespace}"'


def _fix(unit: Unit) -> Fix | None:
    """None where the block is not written with torch's own macro, whose name starts the unit."""
    if unit.macro not in _FRAGMENTS or unit.spelled is not None:
        return None
    start = unit.place.start
    macro = Place(unit.place.path, unit.place.line, start, start + len(unit.macro))
    return Fix(f"make it a {_fragment(unit)}", safe=True, edits=(Edit(macro, _fragment(unit)),))
