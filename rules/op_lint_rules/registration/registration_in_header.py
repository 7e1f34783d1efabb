"""OPL214."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import PurePosixPath

from op_lint.condition import ALWAYS
from op_lint.facts import Place, Unit, UnitKind
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.together import Together

_HEADERS = frozenset({".cuh", ".h", ".h++", ".hh", ".hpp", ".hxx"})


class RegistrationInHeader(Rule):
    """A registration in a header that several sources include.

    ## What it does
    Reports a registration block in a header that at least two sources of one library include. A block inside of an
    `#if` is left alone: each source decides, by what it defines before the `#include`, whether it has it.

    ## Why it is bad
    Each source that includes the header makes the registration anew. A second definition, `TORCH_LIBRARY` or fallback
    ends the process when the library is loaded; a second kernel replaces the first, with a warning.

    ## Example
    ```cpp title="ops.h"
    #pragma once
    #include <torch/library.h>

    TORCH_LIBRARY_FRAGMENT(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }
    ```
    ```cpp title="scale.cpp"
    #include "ops.h"

    at::Tensor scale_cpu(const at::Tensor& x);

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
    }
    ```
    ```cpp title="shift.cpp"
    #include "ops.h"

    at::Tensor shift_cpu(const at::Tensor& x);

    TORCH_LIBRARY_FRAGMENT(demo, m) {
      m.def("shift(Tensor x) -> Tensor", &shift_cpu);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY_FRAGMENT(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }
    ```
    ```cpp title="scale.cpp"
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
    }
    ```

    ## References
    - The macros in torch/library.h, which make a static variable each time they are compiled
    """

    code = "OPL214"
    name = "registration-in-header"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Every unit of a header that two sources of one library include."""
        for unit in program.units:
            # A source decides, by what it defines before the `#include`, whether it has a block under a condition.
            is_shared = _is_header(unit.place.path) and unit.condition == ALWAYS and unit.kind is not UnitKind.HELPER
            pair = _includers(program, unit.place.path) if is_shared else None
            if pair is not None:
                yield self._repeated(unit, *pair)

    def _repeated(self, unit: Unit, first: str, second: str) -> Finding:
        harm = (
            "each registers its kernels"
            if unit.kind is UnitKind.IMPL
            else "a library with both aborts when it is loaded"
        )
        return self.finding(
            unit.namespace_place or unit.place,
            f"{first} and {second} both include this {unit.macro} block, so {harm}: move it to a source file",
            related=tuple(Related(Place(path, 1, 0, 0), "this source includes it") for path in (first, second)),
        )


def _is_header(path: str) -> bool:
    return PurePosixPath(path).suffix.casefold() in _HEADERS


def _includers(program: Program, header: str) -> tuple[str, str] | None:
    """Two sources of one library that include `header`."""
    sources = sorted(
        file.path
        for file in program.files
        if not _is_header(file.path) and any(include.path == header for include in file.includes)
    )
    pairs = combinations(sources, 2)
    return next((pair for pair in pairs if program.compiled_together(*pair) is Together.YES), None)
