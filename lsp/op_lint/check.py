"""Run the rules over a program, apply the suppression comments and the ignores of files, sort what stands."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from op_lint.collector import without_collector
from op_lint.facts import Problem
from op_lint.findings import Finding
from op_lint.gitignore import Patterns
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint.run import Run, RunRule
from op_lint.selection import specificity
from op_lint.stopwatch import Stopwatch
from op_lint.suppress import apply_suppressions
from op_lint.written import with_bodies


class RuleFailure(msgspec.Struct, frozen=True):
    """A rule that ended with an exception: what it found until then is dropped, the others still ran."""

    code: str
    name: str
    place: str
    error: str
    traceback: str

    def __str__(self) -> str:
        return f"rule {self.code} {self.name} failed at {self.place}: {self.error}"


class Checked(msgspec.Struct, frozen=True):
    """What the rules say: sorted findings, how many a comment suppressed, which rules failed or could not run.

    `skipped` are selected rules that need what there is none of; `seconds` is the time that each rule took, by code.
    """

    findings: tuple[Finding, ...]
    suppressed: int = 0
    failures: tuple[RuleFailure, ...] = ()
    skipped: tuple[str, ...] = ()
    seconds: Mapping[str, float] = {}


@without_collector()
def check(
    program: Program,
    selected: Iterable[type[Rule]],
    installed_rules: Iterable[type[Rule]],
    problems: Iterable[Problem] = (),
    before_rule: Callable[[], None] = lambda: None,
) -> Checked:
    """Run the `selected` ones of `installed_rules`. `problems` are those of the project (see `Run`).

    `before_rule` is called before each rule; what it raises ends the check.
    """
    available = frozenset(_available(program))
    pass_ = _Pass(before_rule)
    selected = tuple(selected)
    able = [rule for rule in selected if rule.needs <= available]
    found = [
        finding
        for rule in able
        for finding in pass_.ask(rule, lambda rule: rule.check(program))
        # Of a statement that is not valid Python only rules about op-lint itself have something to say.
        if issubclass(rule, RunRule) or not program.is_broken(finding.place)
    ]
    ran = [rule for rule in able if rule.code not in pass_.failures]
    everything = tuple(installed_rules)
    in_build_files = program.build.suppressions if program.build else ()
    files = {facts.path: facts for facts in program.files}
    applied = apply_suppressions(found, files, everything, ran, in_build_files)
    idle = tuple(each for each in applied.idle if program.is_whole(each.suppression.place.path))
    run = Run(tuple(problems), idle, everything)
    about_run = [finding for rule in ran for finding in pass_.ask(rule, lambda rule: _ask_about(rule, run))]
    stand = _without_ignored((*applied.findings, *about_run), program.settings.per_file_ignores)
    return Checked(
        # Of findings with the same message the first stays first: no order of a set, which differs from run to run.
        tuple(
            sorted(
                dict.fromkeys(with_bodies(stand, program.files)),
                key=lambda finding: (finding.place, finding.code, finding.message),
            )
        ),
        applied.suppressed,
        tuple(pass_.failures.values()),
        tuple(rule.code for rule in selected if rule not in able),
        pass_.watch.seconds,
    )


def _available(program: Program) -> Iterator[Need]:
    """What there is besides the sources."""
    if program.installed is not None:
        yield Need.TORCH
    if program.build is not None:
        yield Need.BUILD
    if program.extension is not None and program.extension.complete:
        yield Need.LIVE


def _ask_about(rule: Rule, run: Run) -> Iterator[Finding]:
    return rule.check_run(run) if isinstance(rule, RunRule) else iter(())


class _Pass:
    """The rules of one run, with the time that each takes and the ones that fail."""

    def __init__(self, before_rule: Callable[[], None]) -> None:
        self._before_rule = before_rule
        self.failures: dict[str, RuleFailure] = {}
        self.watch = Stopwatch()

    def ask(self, rule: type[Rule], question: Callable[[Rule], Iterator[Finding]]) -> list[Finding]:
        self._before_rule()
        try:
            with self.watch.phase(rule.code):
                return list(question(rule()))
        except Exception as error:  # a rule may be anyone's: it fails alone and is named
            self.failures[rule.code] = _failure(rule, error)
            return []


def _failure(rule: type[Rule], error: Exception) -> RuleFailure:
    frames = traceback.extract_tb(error.__traceback__)
    # The frame of this module is the first; the next is the rule's own, which the reader can act on.
    frame = frames[min(1, len(frames) - 1)]
    return RuleFailure(
        rule.code,
        rule.name,
        f"{frame.filename}:{frame.lineno}",
        f"{type(error).__name__}: {error}",
        "".join(traceback.format_exception(error)),
    )


def _without_ignored(findings: Iterable[Finding], ignores: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    patterns = [(Patterns((pattern,)), selectors) for pattern, selectors in ignores.items()]
    for finding in findings:
        ignored = any(
            pattern.verdict(finding.place.path)
            and any(specificity(selector, finding.code, finding.name) for selector in selectors)
            for pattern, selectors in patterns
        )
        if not ignored:
            yield finding
