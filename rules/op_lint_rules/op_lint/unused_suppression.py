"""OPL901."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Place
from op_lint.findings import Finding, Severity
from op_lint.nearest import did_you_mean
from op_lint.program import Program
from op_lint.run import Run, RunRule
from op_lint.suppress import IdleSuppression


class UnusedSuppression(RunRule):
    """A suppression comment that suppresses nothing.

    ## What it does
    Reports an `op-lint: ignore[...]` or `op-lint: ignore-file[...]` comment, or one code in it, for which there was no
    finding; a code that no rule has; and a comment that starts with `op-lint:` and is neither of the two.
    A comment about a rule that did not run, because it is not selected or lacks what it needs, is left alone.

    ## Why it is bad
    The mistake that the comment excused is gone, or was never named. Left where it is, the comment will hide the
    next one, and nobody will know.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");  // op-lint: ignore[OPL206]
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
    - `op-lint rule --all` lists the codes.
    """

    code = "OPL901"
    name = "unused-suppression"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Comments that start like a suppression and are none."""
        for file in program.files:
            for problem in file.problems:
                if problem.code == "suppression":
                    yield self.finding(problem.place, problem.message)

    def check_run(self, run: Run) -> Iterator[Finding]:
        """Comments, or codes in them, that did nothing."""
        words = [word for rule in run.rules for word in (rule.code, rule.name)]
        for idle in run.idle:
            codes = idle.suppression.codes
            for index in idle.unknown:
                hint = did_you_mean(codes[index], words)
                yield self.finding(idle.suppression.code_places[index], f"no rule is called `{codes[index]}`{hint}")
            if idle.unused or not codes:
                unused = ", ".join(codes[index] for index in idle.unused)
                what = f"no finding of {unused}" if unused else "no finding"
                yield self.finding(_place(idle), f"{what} is suppressed by this comment: remove it")


def _place(idle: IdleSuppression) -> Place:
    """The code, where it is one of several; else the comment."""
    if len(idle.unused) == 1 and len(idle.suppression.codes) > 1:
        return idle.suppression.code_places[idle.unused[0]]
    return idle.suppression.place
