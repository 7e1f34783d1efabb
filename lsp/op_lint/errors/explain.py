"""A project read and asked about the errors of a log."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec

from op_lint.analysis import Progress, unnoticed
from op_lint.check import RuleFailure, check
from op_lint.documentation import rule_page
from op_lint.errors.case import Case
from op_lint.errors.causes import causes
from op_lint.errors.diagnosis import Diagnosis, diagnosis
from op_lint.errors.recognise import Recognised
from op_lint.examine import program_of
from op_lint.facts import OperatorName, Place
from op_lint.installed.reader import Reading
from op_lint.macros import search_macros
from op_lint.packs import load_packs
from op_lint.project import Project
from op_lint.sources import Sources


class Explained(msgspec.Struct, frozen=True):
    """What came of it. `operators` are what the errors are about, by their identity; `urls` the pages of rules."""

    diagnoses: tuple[Diagnosis, ...]
    operators: Mapping[tuple[str, ...], OperatorName | None]
    reading: Reading | None
    failures: tuple[RuleFailure, ...] = ()
    urls: Mapping[str, str | None] = {}


def explain(
    errors: Sequence[Recognised],
    project: Project,
    *,
    python: str | None = None,
    use_cache: bool = True,
    jobs: int | None = None,
    progress: Progress = unnoticed,
) -> Explained:
    """Hold the errors against the project: the rules that their kinds name are asked, whatever it selects.

    Nor does it count what comments suppress and files ignore: what somebody has accepted is the likeliest cause. The
    parameters are those of `examine`.
    """
    analysis = project.read(use_cache=use_cache, jobs=jobs, progress=progress)
    build = project.read_build(analysis.files, use_cache=use_cache, jobs=jobs)
    reading = project.read_torch(python, use_cache=use_cache)
    files = tuple(msgspec.structs.replace(facts, suppressions=()) for facts in analysis.files)
    settings = msgspec.structs.replace(project.settings, per_file_ignores={})
    if build is not None:
        build = msgspec.structs.replace(build, suppressions=())
    program = program_of(files, reading, settings, search_macros(project.root, files), build)
    packs = load_packs()
    codes = {code for error in errors for code in error.kind.codes}
    checked = check(program, [rule for rule in packs.rules if rule.code in codes], packs.rules)
    lines = _Lines(project.sources())
    cases = [Case(error, program, checked.findings, lines.place, os.fspath(project.root)) for error in errors]
    return Explained(
        tuple(diagnosis(case, causes(case)) for case in cases),
        {case.error.identity: case.operator for case in cases},
        reading,
        checked.failures,
        {rule.code: rule_page(rule, packs.sources[rule.code]).url for rule in packs.rules if rule.code in codes},
    )


class _Lines:
    """The lines of the project's files as places."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def place(self, path: str, line: int) -> Place:
        """The place of a 1-based line, without what it is indented by; of the last one where there is none."""
        text = self._sources.text(path)
        number = min(max(line, 1), len(text.line_starts))
        start = text.line_starts[number - 1]
        whole = text.data[start:].splitlines()[:1]
        content = whole[0] if whole else b""
        start += len(content) - len(content.lstrip())
        return Place(path, number, start, start + len(content.strip()))
