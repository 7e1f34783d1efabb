"""OPL902."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program
from op_lint.run import Run, RunRule

_NOT_LOST = frozenset({"configuration", "missing-include", "suppression"})
"""Problems that cost no registration, or that have a rule of their own."""


class FileNotUnderstood(RunRule):
    """A file or folder that op-lint could not read, or not to its end.

    ## What it does
    Says once for each file what kept op-lint from reading it: the file is not text, it is too large, it is a template
    of another language and not C++ yet, it breaks off, it cannot be opened. A header that is not there is no
    reason: registrations are read without it.

    ## Why it is bad
    Operators that are registered in the file are unknown. Rules that conclude from absence, such as "nothing
    defines this operator", are silent where the file may hold what they miss.

    ## Example
    ```cpp title="ops.cpp"
    {% for dtype in dtypes %}
    TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("scale_{{ dtype }}(Tensor x) -> Tensor"); }
    {% endfor %}
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("scale(Tensor x) -> Tensor"); }
    ```

    ## References
    - `exclude` in the configuration leaves a file out.
    """

    code = "OPL902"
    name = "file-not-understood"
    severity = Severity.HINT

    def check(self, program: Program) -> Iterator[Finding]:
        """Source files with a problem."""
        for file in program.files:
            problems = [problem for problem in file.problems if problem.code not in _NOT_LOST]
            if problems:
                related = tuple(Related(problem.place, problem.message) for problem in problems[1:])
                yield self.finding(problems[0].place, problems[0].message, related=related)

    def check_run(self, run: Run) -> Iterator[Finding]:
        """Folders that cannot be listed, and file names that cannot be written."""
        for problem in run.problems:
            if problem.code not in _NOT_LOST:
                yield self.finding(problem.place, problem.message)
