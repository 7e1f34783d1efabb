"""OPL202."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, Language
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program, Registered
from op_lint.rule import Rule
from op_lint_rules._words import when, where


class DuplicateDef(Rule):
    """One operator is defined twice in one process.

    ## What it does
    Reports the second definition of an operator (same namespace, name and overload) that is in the same library as the
    first, whatever the two schemas say. Definitions that exclude each other (`#if` and `#else`, a CPU and a CUDA
    variant of a file) are none, and where it cannot be told the rule is silent.

    It also reports a `torch.library.define` that the source itself runs more than once.

    ## Why it is bad
    Loading the library ends the process: torch throws from a static initialiser, which nothing can catch. In Python
    the second definition raises RuntimeError.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor");
    }

    TORCH_LIBRARY_FRAGMENT(demo, m) {
      m.def("scale(Tensor x, int s) -> Tensor");
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor");
    }

    TORCH_LIBRARY_FRAGMENT(demo, m) {
      m.def("scale.int(Tensor x, int s) -> Tensor");
    }
    ```

    ## References
    - `Dispatcher::registerDef` in aten/src/ATen/core/dispatch/Dispatcher.cpp
    """

    code = "OPL202"
    name = "duplicate-def"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every definition that meets an earlier one."""
        for operator in program.operators:
            for later, earlier in program.collisions(program.definitions_of(operator)):
                yield self._twice(later, earlier)

    def _twice(self, later: Registered[Definition], earlier: Registered[Definition]) -> Finding:
        operator = later.fact.operator
        python = later.fact.language is Language.PYTHON
        harm = "this raises RuntimeError" if python else "loading the library aborts"
        place = later.fact.name_place
        return self.finding(
            place,
            f"`{operator}` is already defined at {where(earlier.fact.name_place, place)}, so {harm}"
            f"{when(later.condition)}: remove one definition, or give one an overload name of its own",
            related=(Related(earlier.fact.name_place, f"`{operator}` is first defined here"),),
            notes=(
                f'torch says: "Tried to register an operator ({operator}...) with the same name and overload name '
                'multiple times."',
            ),
        )
