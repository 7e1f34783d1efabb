from __future__ import annotations

from collections.abc import Iterator

from op_lint.check import Checked, check
from op_lint.config import Settings
from op_lint.facts import FileFacts, Language, Place, Problem, Suppression
from op_lint.findings import Finding, Severity
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint.run import Run, RunRule


def at(line: int, path: str = "a.cpp") -> Place:
    return Place(path, line, line * 10, line * 10 + 1)


class Speaks(Rule):
    """A rule that finds something in every file, in reverse order."""

    code = "AAA2"
    name = "speaks"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        for file in reversed(program.files):
            yield self.finding(at(2, file.path), "two")
            yield self.finding(at(1, file.path), "one")
            yield self.finding(at(1, file.path), "one")


class Fails(Rule):
    """A rule with a fault."""

    code = "AAA1"
    name = "fails"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        yield self.finding(at(1), "before the fault")
        raise KeyError("nothing here")


class WantsTorch(Speaks):
    """A rule that cannot run."""

    code = "AAA3"
    name = "wants-torch"
    needs = frozenset({Need.TORCH})


class AboutTheRun(RunRule):
    """A rule that repeats what the run holds."""

    code = "AAA9"
    name = "about-the-run"
    severity = Severity.HINT

    def check_run(self, run: Run) -> Iterator[Finding]:
        for problem in run.problems:
            yield self.finding(problem.place, problem.message)
        for idle in run.idle:
            yield self.finding(idle.suppression.place, f"idle {idle.unused}")


RULES = (Fails, Speaks, WantsTorch, AboutTheRun)


def run(*rules: type[Rule], settings: Settings = Settings(), problems: tuple[Problem, ...] = ()) -> Checked:  # noqa: B008
    comments = (Suppression(at(1), ("speaks",), (1,)), Suppression(at(5), ("AAA2",), (5,)))
    files = (FileFacts("a.cpp", Language.CPP, suppressions=comments), FileFacts("b.cpp", Language.CPP))
    return check(Program(files, None, settings), rules, RULES, problems)


def said(checked: Checked) -> list[tuple[str, int, str]]:
    return [(finding.place.path, finding.place.line, finding.message) for finding in checked.findings]


def test_findings_are_sorted_said_once_and_suppressed() -> None:
    checked = run(Speaks)
    assert said(checked) == [("a.cpp", 2, "two"), ("b.cpp", 1, "one"), ("b.cpp", 2, "two")]
    assert checked.suppressed == 2
    assert checked.seconds.keys() == {"AAA2"}


def test_a_rule_that_fails_is_named_and_the_others_run() -> None:
    checked = run(Fails, Speaks)
    assert len(checked.findings) == 3
    (failure,) = checked.failures
    assert str(failure).startswith("rule AAA1 fails failed at ")
    assert f"{__file__}:" in failure.place
    assert failure.error == "KeyError: 'nothing here'"
    assert "Traceback" in failure.traceback


def test_a_rule_without_what_it_needs_does_not_run() -> None:
    checked = run(WantsTorch)
    assert (checked.findings, checked.skipped) == ((), ("AAA3",))


def test_rules_about_the_run_hear_of_problems_and_idle_comments() -> None:
    problem = Problem("configuration", "a wrong key", at(1, "op-lint.toml"))
    checked = run(Speaks, AboutTheRun, problems=(problem,))
    about = [row for row in said(checked) if row[2] not in ("one", "two")]
    assert about == [("a.cpp", 5, "idle (0,)"), ("op-lint.toml", 1, "a wrong key")]


def test_nothing_is_idle_for_a_rule_that_failed_or_did_not_run() -> None:
    assert said(run(AboutTheRun)) == []


def test_ignores_of_files() -> None:
    settings = Settings(per_file_ignores={"b.*": ("AAA",), "*.cpp": ("other", "AAA2x")})
    assert said(run(Speaks, settings=settings)) == [("a.cpp", 2, "two")]
