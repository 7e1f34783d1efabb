"""`op-lint check`: findings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from op_lint import report
from op_lint.cli.changes import change, finish
from op_lint.cli.check_options import CheckOptions, check_options
from op_lint.cli.options import project_of, say_what_was_read
from op_lint.cli.output import say_failures
from op_lint.cli.outputs import ARGUMENTS, DEFAULT_OUTPUT, FOR_PEOPLE, OutputsCommand, write_reports
from op_lint.cli.progress import Progress
from op_lint.cli.session import Looked, Session
from op_lint.cli.streams import say, whole_or_broken_pipe
from op_lint.cli.summary import summary
from op_lint.collector import without_a_last_look
from op_lint.config import unknown_selector
from op_lint.documentation import rule_page
from op_lint.examine import Examined
from op_lint.packs import Packs, load_packs
from op_lint.project import Project
from op_lint.selection import Selectors, is_known, selected_rules
from op_lint.stopwatch import Stopwatch


@click.command("check", cls=OutputsCommand)
@check_options
def command(**values: Any) -> int:
    """Report what is wrong with the registrations in PATHS (default: the current folder).

    The whole project around PATHS is read. Exit status: 0 nothing found, 1 findings, 2 op-lint could not do what was
    asked, because of the command line, the configuration or a fault of its own.
    """
    without_a_last_look()
    options = CheckOptions(**values)
    options.verify()
    packs = _packs(options.selectors)
    if options.watch:
        from op_lint.cli.watch import watch_and_check

        arguments = click.get_current_context().meta[ARGUMENTS]
        return watch_and_check(lambda: project_of(options, options.overrides), arguments)
    progress = Progress(quiet=options.quiet)
    watch = Stopwatch(progress.phase)
    with watch.phase("find files"):
        project = project_of(options, options.overrides)
    if options.show_files:
        return _show_files(project)
    selected = selected_rules(packs.rules, project.settings.selectors, options.selectors)
    session = Session(options, packs.rules, selected, progress, watch, project)
    return _check(options, packs, project, session)


def _check(options: CheckOptions, packs: Packs, project: Project, session: Session) -> int:
    changed = change(options, project, session) if options.changes_sources else None
    looked = session.look(project) if changed is None else changed.first if options.diff else changed.last
    faults = list(session.keep_baseline(looked))
    if changed is not None:
        faults += finish(options, changed)
    lines = tuple(summary(options, looked, session.watch, changed))
    if options.write_baseline:
        _say(lines)
    else:
        _write_reports(options, packs, looked, lines)
    if options.verbose:
        say_what_was_read(project, looked.examined.analysis)
    _say_what_failed(options, looked.examined)
    _say(faults)
    if faults or looked.examined.has_failed:
        return 2
    return 1 if looked.findings and not options.exit_zero and not options.write_baseline else 0


def _write_reports(options: CheckOptions, packs: Packs, looked: Looked, summary: tuple[str, ...]) -> None:
    """Write every report that is asked for; where something else is on stdout the default one goes to stderr."""
    codes = {finding.code for finding in looked.findings}
    pages = {rule.code: rule_page(rule, packs.sources[rule.code]) for rule in packs.rules if rule.code in codes}
    failures = tuple(map(str, looked.examined.checked.failures))
    whole = report.Report(looked.findings, looked.examined.project.sources(), summary, pages, failures)
    bare = msgspec.structs.replace(whole, summary=())
    outputs = options.outputs or (() if options.diff else (DEFAULT_OUTPUT,))
    stdout = sys.stderr if options.shows_sources else sys.stdout
    write_reports(outputs, lambda output: whole if output.format in FOR_PEOPLE else bare, stdout)
    if not any(output.format in FOR_PEOPLE and output.file is None for output in outputs):
        _say(summary)


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        say(line)


def _say_what_failed(options: CheckOptions, examined: Examined) -> None:
    sources = examined.project.sources()
    said = {finding.place for finding in examined.findings}
    for problem in examined.configuration_problems:
        if problem.place not in said:
            say(f"{sources.location(problem.place)}: {problem.message}")
    for unanswered in examined.unanswered if options.quiet else ():
        say(f"torch: {unanswered.message}")
    say_failures(examined.checked.failures, verbose=options.verbose)


def _packs(selectors: Selectors) -> Packs:
    """The installed rules. Raises click.ClickException where they clash or the command line asks for unknown ones."""
    packs = load_packs()
    for message in packs.broken:
        say(f"{message}; its rules do not run")
    if packs.clashes:
        raise click.ClickException("; ".join(packs.clashes) + ": uninstall one of the rule packs")
    unknown = [selector for selector in dict.fromkeys(selectors.all()) if not is_known(selector, packs.rules)]
    if unknown:
        raise click.UsageError("; ".join(unknown_selector(selector, packs.rules) for selector in unknown))
    return packs


def _show_files(project: Project) -> int:
    sources = project.sources()
    with whole_or_broken_pipe(sys.stdout) as stream:
        for path in sorted((*project.tree.cpp, *project.tree.python)):
            if project.is_named(path):
                stream.write(f"{sources.shown(path)}\n")
    return 0
