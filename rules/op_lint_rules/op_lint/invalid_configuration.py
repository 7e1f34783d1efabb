"""OPL904."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.findings import Finding, Severity
from op_lint.run import Run, RunRule


class InvalidConfiguration(RunRule):
    """A setting that op-lint does not know, or with a value that it cannot take.

    ## What it does
    Reports, at its line in `pyproject.toml` or `op-lint.toml`, a key that is no setting, a value of the wrong kind, a
    selector that no rule answers to, and a file that is not TOML. The run goes on with the default for that
    setting, and `op-lint check` ends with exit status 2.

    ## Why it is bad
    What was to be configured is not: a rule runs that should not, or a folder is read that was to be left out.

    ## Example
    ```toml title="op-lint.toml"
    selct = ["OPL2"]
    ```

    ## Use instead
    ```toml title="op-lint.toml"
    select = ["OPL2"]
    ```

    ## References
    - The README lists the settings.
    """

    code = "OPL904"
    name = "invalid-configuration"
    severity = Severity.ERROR

    def check_run(self, run: Run) -> Iterator[Finding]:
        """What is wrong with the configuration."""
        for problem in run.problems:
            if problem.code == "configuration":
                yield self.finding(problem.place, problem.message)
