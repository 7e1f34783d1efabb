"""A whole project examined: its files read, held against a torch, and the rules asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from op_lint.analysis import Analysis, Progress, unnoticed
from op_lint.build.model import BuildGraph
from op_lint.build.watched import Watched
from op_lint.check import Checked, check
from op_lint.collector import without_collector
from op_lint.config import Settings, selector_problems
from op_lint.facts import FileFacts, Problem
from op_lint.findings import Finding
from op_lint.installed.bundled import bundled_key_numbers
from op_lint.installed.model import Origin, ReadProblem
from op_lint.installed.reader import Reading
from op_lint.kept_run import RunKeeper
from op_lint.macros import MacroSearch, search_macros
from op_lint.program import Program
from op_lint.project import Project
from op_lint.rule import Rule
from op_lint.stopwatch import Stopwatch


class Examined(msgspec.Struct, frozen=True):
    """What came of it. `reading` is None where no torch was asked; `problems` are those of the project (see `Run`).

    `python` is the interpreter that the command line named.
    """

    project: Project
    analysis: Analysis
    reading: Reading | None
    checked: Checked
    problems: tuple[Problem, ...]
    program: Program | None = None
    python: str | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings in the files that the user named; those about the configuration concern every file."""
        project = self.project
        return tuple(
            finding
            for finding in self.checked.findings
            if project.is_named(finding.place.path) or finding.place.path == project.configuration.path
        )

    @property
    def unloaded(self) -> tuple[ReadProblem, ...]:
        """Why what was to be loaded is not, so that the rules that need it did not run."""
        asked = self.project.settings.load or self.project.settings.imports
        reading = self.reading
        if not asked or reading is None or (reading.extension is not None and reading.extension.complete):
            return ()
        return reading.problems

    @property
    def unanswered(self) -> tuple[ReadProblem, ...]:
        """Why torch was not asked as it should be: the interpreter that was named has none, or nothing was loaded."""
        reading = self.reading
        if self.python is not None and reading is not None and reading.origin is Origin.SNAPSHOT:
            return reading.problems
        return self.unloaded

    @property
    def has_failed(self) -> bool:
        """Whether op-lint could not do all that was asked, so that no finding does not mean no mistake."""
        return bool(self.checked.failures or self.configuration_problems or self.unanswered)

    @property
    def configuration_problems(self) -> tuple[Problem, ...]:
        """What is wrong with the settings, for those who do not select the rule that says so."""
        return tuple(problem for problem in self.problems if problem.code == "configuration")


def program_of(
    files: Sequence[FileFacts],
    reading: Reading | None,
    settings: Settings,
    macros: Sequence[MacroSearch] = (),
    build: BuildGraph | None = None,
) -> Program:
    """The program of these files, held against the torch that was read and the extension that is loaded into it."""
    torch, extension = (reading.torch, reading.extension) if reading else (None, None)
    numbers = bundled_key_numbers() if extension else {}
    return Program(files, torch, settings, macros, extension=extension, key_numbers=numbers, build=build)


@without_collector()  # all that is made here are trees, and the facts of the whole project stay to the end
def examine(
    project: Project,
    selected: Iterable[type[Rule]],
    installed_rules: Iterable[type[Rule]],
    watch: Stopwatch,
    *,
    python: str | None = None,
    use_cache: bool = True,
    jobs: int | None = None,
    progress: Progress = unnoticed,
    anew: bool = False,
) -> Examined:
    """Ask the `selected` ones of `installed_rules` about `project`.

    `python` is the interpreter that the command line names; `jobs` and `progress` as for `analyse`. A project
    without a file that registers or uses operators needs no torch, and none is looked for. Where nothing has changed
    since the last run, the answer is what that found, and there is no program; `anew` is for who wants one.
    """
    rules = tuple(installed_rules)
    selected = tuple(selected)
    keeper = None
    if use_cache and RunKeeper.serves(project):
        with watch.phase("look for a kept run"):
            keeper = RunKeeper(project, selected, rules)
            found = keeper.find(lambda: project.read_torch(python)) if not anew else None
        if found is not None:
            run, reading = found
            return Examined(project, Analysis((), run.candidates), reading, run.checked, run.problems, python=python)
    with watch.phase("read files"):
        analysis = project.read(use_cache=use_cache, jobs=jobs, progress=progress)
    with watch.phase("search build files"):
        macros = search_macros(project.root, analysis.files)
    with watch.phase("read build files"):
        watched = Watched(project.root, project.buffers)
        build = project.read_build(analysis.files, files=watched, use_cache=use_cache, jobs=jobs)
    with watch.phase("ask torch"):
        reading = project.read_torch(python, use_cache=use_cache) if analysis.candidates else None
    with watch.phase("run rules"):
        noted = build.problems if build else ()
        problems = (*project.problems, *noted, *selector_problems(project.configuration, rules))
        program = program_of(analysis.files, reading, project.settings, macros, build)
        checked = check(program, selected, rules, problems)
    if keeper is not None:
        with watch.phase("keep the run"):
            keeper.keep(watched, macros, analysis, reading, problems, checked)
    return Examined(project, analysis, reading, checked, problems, program, python)
