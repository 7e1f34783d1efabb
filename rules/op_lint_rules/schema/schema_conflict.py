"""OPL111."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, Language, Place, Text
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import schema_text, text_differences
from op_lint.program import Program, Registered
from op_lint.rule import Need, Rule
from op_lint.schema.compare import Difference
from op_lint_rules._words import MADE_ANEW, when, where


class SchemaConflict(Rule):
    """An operator is defined here with another schema than it already has.

    ## What it does
    Compares the schema of a definition with that of the same operator in the installed torch, and in another
    definition of the same library, and says what differs. Names of returns and of alias sets do not count.

    ## Why it is bad
    An operator has one schema in a process. The second definition aborts; where another package made the first one,
    which of the two the callers get depends on the order of imports.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY_FRAGMENT(aten, m) {
      m.def("relu(Tensor self, float slope) -> Tensor");
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("relu(Tensor self, float slope) -> Tensor");
    }
    ```

    ## References
    - `Dispatcher::registerDef` in aten/src/ATen/core/dispatch/Dispatcher.cpp
    """

    code = "OPL111"
    name = "schema-conflict"
    severity = Severity.ERROR
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every definition whose schema differs from an earlier one, or from that of the installed torch."""
        for definition in program.definitions:
            installed = program.installed_operator(definition.fact.operator)
            if installed is not None and installed.schema is not None and not program.in_torch:
                found = text_differences(schema_text(definition.fact).value, installed.schema)
                if found:
                    yield self._installed(definition, found, installed.schema)
        for operator in program.operators:
            for later, earlier in program.collisions(program.definitions_of(operator)):
                made_anew = {later.unit.macro, earlier.unit.macro} <= MADE_ANEW
                found = text_differences(schema_text(later.fact).value, schema_text(earlier.fact).value)
                if found and not made_anew:
                    yield self._defined(later, earlier, found)

    def _installed(self, definition: Registered[Definition], found: tuple[Difference, ...], schema: str) -> Finding:
        return self.finding(
            _place(schema_text(definition.fact), found[0]),
            f"the installed torch defines `{definition.fact.operator}` differently: {_words(found)}"
            f"{when(definition.condition)}; {_harm(definition)}: give this one another name",
            notes=(f"the installed schema: {schema}",),
        )

    def _defined(
        self, later: Registered[Definition], earlier: Registered[Definition], found: tuple[Difference, ...]
    ) -> Finding:
        place = _place(schema_text(later.fact), found[0])
        return self.finding(
            place,
            f"`{later.fact.operator}` is defined differently at {where(earlier.fact.name_place, place)}: "
            f"{_words(found)}{when(later.condition)}; {_harm(later)}: keep one",
            related=(Related(earlier.fact.name_place, "the other definition"),),
        )


def _harm(second: Registered[Definition]) -> str:
    is_python = second.fact.language is Language.PYTHON
    return "this raises RuntimeError" if is_python else "loading a second definition aborts"


def _place(text: Text, difference: Difference) -> Place:
    span = difference.first_span
    return text.place_of(span.start, max(span.end, span.start + 1))


def _words(found: tuple[Difference, ...]) -> str:
    first = found[0]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{first.aspect.value} `{first.first}` here, `{first.second}` there{more}"
