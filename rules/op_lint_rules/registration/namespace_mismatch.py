"""OPL206."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, Implementation, Place, Text, Unit, UnitKind
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program, Registered
from op_lint.rule import Rule
from op_lint_rules._words import where


class NamespaceMismatch(Rule):
    """An operator name that spells out another namespace than its block has.

    ## What it does
    Reports `m.def("other::f(...)")` and `m.impl("other::f", ...)` in a block of another namespace, also in one of the
    wildcard namespace `_`. Spelling out the block's own namespace is right, if needless.

    ## Why it is bad
    Loading the library ends the process. In Python it raises RuntimeError.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("demo_old::scale(Tensor x) -> Tensor");
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }
    ```

    ## References
    - `Library::_def` and `Library::_parseNameForLib` in aten/src/ATen/core/library.cpp
    """

    code = "OPL206"
    name = "namespace-mismatch"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every name with a namespace that is not its block's."""
        for definition in program.definitions:
            if program.role(definition.unit) is not UnitKind.IMPL:  # there the definition itself is wrong (OPL211)
                yield from self._compare(definition)
        for implementation in program.implementations:
            yield from self._compare(implementation)

    def _compare(self, registered: Registered[Definition | Implementation]) -> Iterator[Finding]:
        unit, fact = registered.unit, registered.fact
        spelled = fact.explicit_namespace
        if spelled is None or spelled == unit.namespace or unit.kind is UnitKind.LEGACY or unit.namespace_macro:
            return
        place = _namespace_in(fact.text, spelled)
        block = unit.namespace_place or unit.place
        yield self.finding(
            place,
            f"`{spelled}::` does not fit this block, which is for {_called(unit)} ({where(block, place)}): "
            f"{'' if unit.namespace is None else 'write the name without it, or '}move it to a block of `{spelled}`",
            related=(Related(block, f"this block is for {_called(unit)}"),),
            notes=(
                f'torch says: "Explicitly provided namespace ({spelled}) ... does not match namespace of enclosing"',
            ),
        )


def _called(unit: Unit) -> str:
    return "every namespace (`_`)" if unit.namespace is None else f"`{unit.namespace}`"


def _namespace_in(text: Text, namespace: str) -> Place:
    start = max(text.value.find(namespace), 0)
    return text.place_of(start, start + len(namespace))
