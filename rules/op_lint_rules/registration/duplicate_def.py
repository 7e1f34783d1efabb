"""OPL202."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from op_lint.condition import ALWAYS
from op_lint.facts import Definition, Language, Lifetime, Place, RunTime
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program, Registered, holds
from op_lint.rule import Rule
from op_lint_rules._words import MADE_ANEW, apart, when, where

_TODO = "remove one definition, or give one an overload name of its own"


class DuplicateDef(Rule):
    """One operator is defined twice in one process.

    ## What it does
    Reports the second definition of an operator (same namespace, name and overload) that is in the same library as the
    first, whatever the two schemas say. Definitions that exclude each other (`#if` and `#else`, a CPU and a CUDA
    variant of a file) are none, and where it cannot be told the rule is silent.

    A function that takes the library and is called twice defines twice: then the second call is reported.

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
                if not {later.unit.macro, earlier.unit.macro} <= MADE_ANEW:
                    yield self._twice(later, earlier)
        definers = Counter(registered.place for registered in program.definitions)
        for registered in program.definitions:
            # A loop over names defines another operator each time: then several definitions stand at one place.
            again = _run_again(program, registered) if definers[registered.place] == 1 else None
            if again is not None:
                yield self._repeated(registered.fact, again)

    def _twice(self, later: Registered[Definition], earlier: Registered[Definition]) -> Finding:
        operator = later.fact.operator
        python = later.fact.language is Language.PYTHON
        harm = "this raises RuntimeError" if python else "loading the library aborts"
        twice = apart(later.fact, earlier.fact)
        todo = "make only one of the two calls" if twice.code else _TODO
        return self.finding(
            twice.place,
            f"`{operator}` is already defined {twice.already}, so {harm}{when(later.condition)}: {todo}",
            related=twice.related(f"`{operator}` is first defined here", "the definition"),
            notes=(
                f'torch says: "Tried to register an operator ({operator}...) with the same name and overload name '
                'multiple times."',
            ),
        )

    def _repeated(self, fact: Definition, again: Place) -> Finding:
        return self.finding(
            fact.name_place,
            f"`{fact.operator}` is defined each time this runs, and {where(again, fact.name_place)} runs it more than "
            "once, which raises RuntimeError: define it once, at the top of the module",
            related=(Related(again, "this runs it again"),),
            notes=(
                'torch says: "Tried to register an operator ... with the same name and overload name multiple times."',
            ),
        )


def _run_again(program: Program, registered: Registered[Definition]) -> Place | None:
    """The loop or the call by which importing the file runs this definition a second time, without a test around it."""
    python = program.python_of(registered.file)
    library = program.python_library(registered.unit)
    dies = library is not None and library.lifetime is not Lifetime.KEPT
    tested = registered.condition != ALWAYS or registered.fact.runtime_guard is not None
    if python is None or dies or tested or registered.unit.macro in MADE_ANEW:
        return None
    function = program.function_around(registered.place)
    if function is None:
        loops = (loop for loop in python.loops if holds(loop.place, registered.place) and (loop.iterations or 0) > 1)
        return next((loop.place for loop in loops), None)
    calls = [call for call in function.calls if call.run is not RunTime.FUNCTION and call.condition == ALWAYS]
    return next((call.place for index, call in enumerate(calls) if index or call.in_loop), None)
