"""OPL903."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.findings import Finding, Severity
from op_lint.program import Program
from op_lint.rule import Rule


class UnresolvedRegistration(Rule):
    """A registration whose name, schema or key is known only when the program runs.

    ## What it does
    Reports each registration that op-lint sees and cannot name: the operator's name comes from a table, a function, the
    environment. `op-lint ops` lists the same ones.

    ## Why it is bad
    It need not be. But nothing can be said about these operators: no rule checks them, and rules about what is
    missing are silent in their namespace.

    ## Example
    ```cpp title="ops.cpp"
    #include <cstdlib>
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def(std::getenv("DEMO_SCHEMA"));
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
    - `op-lint ops --output-format json`, the list `unresolved`.
    """

    code = "OPL903"
    name = "unresolved-registration"
    severity = Severity.HINT
    default = False

    def check(self, program: Program) -> Iterator[Finding]:
        """Every registration that could not be resolved."""
        for file in program.files:
            for unresolved in file.unresolved:
                what = {"unit": "this registration unit", "statement": "what this statement may register"}.get(
                    unresolved.what, f"this `{unresolved.what}`"
                )
                yield self.finding(unresolved.place, f"{what} cannot be read statically: {unresolved.reason}")


_WHOLE = {"unit": "this registration unit", "statement": "what this statement registers"}
"""What is unresolved as a whole, in words."""
