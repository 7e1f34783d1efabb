"""`op-lint check`: findings."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click
import msgspec

from op_lint import report
from op_lint.cli.options import TorchOptions, load_options, project_of, project_options, say_what_was_read
from op_lint.cli.output import describe_torch, plural, whole_or_broken_pipe
from op_lint.cli.outputs import FOR_PEOPLE, Output, OutputsCommand, output_options, write_report
from op_lint.config import unknown_selector
from op_lint.documentation import rule_page
from op_lint.examine import Examined, examine
from op_lint.findings import Severity
from op_lint.packs import Packs, load_packs
from op_lint.project import Project
from op_lint.selection import Selectors, is_known, selected_rules
from op_lint.stopwatch import Stopwatch

_Command = TypeVar("_Command", bound=Callable[..., Any])


class CheckOptions(TorchOptions, frozen=True, kw_only=True):
    """The values of this command's options."""

    select: tuple[str, ...]
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    outputs: tuple[Output, ...]
    statistics: bool
    timings: bool
    show_files: bool
    exit_zero: bool
    quiet: bool

    @property
    def selectors(self) -> Selectors:
        """What the command line says about rules."""
        return Selectors(self.select or None, self.extend_select, self.ignore)


def _selectors(_context: click.Context, _parameter: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def _selector_option(name: str, words: str) -> Callable[[_Command], _Command]:
    return click.option(name, multiple=True, metavar="CODES", callback=_selectors, help=words)


@click.command("check", cls=OutputsCommand)
@project_options
@_selector_option("--select", "Run these rules only: codes, prefixes of codes, names, ALL; comma-separated.")
@_selector_option("--extend-select", "Run these rules, too.")
@_selector_option("--ignore", "Do not run these rules.")
@click.option("--python", metavar="EXE", help="Hold the sources against the torch of this interpreter.")
@click.option("--torch-version", metavar="V", help="Hold them against the bundled snapshot of this torch version.")
@click.option("--no-torch", is_flag=True, help="Hold them against no torch at all.")
@load_options
@output_options
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option("--timings", is_flag=True, help="Say how long each phase and each rule took.")
@click.option("--show-files", is_flag=True, help="List the files that would be looked at, and end.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 where there are findings.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings and nothing else.")
def command(**values: Any) -> int:
    """Report what is wrong with the registrations in PATHS (default: the current folder).

    The whole project around PATHS is read. Exit status: 0 nothing found, 1 findings, 2 op-lint could not do what was
    asked, because of the command line, the configuration or a fault of its own.
    """
    options = CheckOptions(**values)
    packs = _packs(options.selectors)
    watch = Stopwatch()
    with watch.phase("find files"):
        project = project_of(options, options.overrides)
    if options.show_files:
        return _show_files(project)
    selected = selected_rules(packs.rules, project.settings.selectors, options.selectors)
    examined = examine(
        project,
        selected,
        packs.rules,
        watch,
        python=options.python,
        use_cache=not options.no_cache,
        jobs=options.jobs,
    )
    _write_reports(options, packs, examined, watch)
    if options.verbose:
        say_what_was_read(project, examined.analysis)
    _say_what_failed(options, examined)
    if examined.checked.failures or examined.configuration_problems or examined.unloaded:
        return 2
    return 1 if examined.findings and not options.exit_zero else 0


def _write_reports(options: CheckOptions, packs: Packs, examined: Examined, watch: Stopwatch) -> None:
    summary = tuple(_summary(options, examined, watch))
    codes = {finding.code for finding in examined.findings}
    pages = {rule.code: rule_page(rule, packs.sources[rule.code]) for rule in packs.rules if rule.code in codes}
    failures = tuple(map(str, examined.checked.failures))
    whole = report.Report(examined.findings, examined.project.sources(), summary, pages, failures)
    bare = msgspec.structs.replace(whole, summary=())
    for output in options.outputs:
        write_report(output, whole if output.format in FOR_PEOPLE else bare)
    if not any(output.format in FOR_PEOPLE and output.file is None for output in options.outputs):
        for line in summary:
            click.echo(line, err=True)


def _say_what_failed(options: CheckOptions, examined: Examined) -> None:
    sources = examined.project.sources()
    said = {finding.place for finding in examined.findings}
    for problem in examined.configuration_problems:
        if problem.place not in said:
            click.echo(f"{sources.location(problem.place)}: {problem.message}", err=True)
    for unloaded in examined.unloaded if options.quiet else ():
        click.echo(f"torch: {unloaded.message}", err=True)
    for failure in examined.checked.failures:
        click.echo(failure.traceback if options.verbose else f"internal error, please report: {failure}", err=True)


def _packs(selectors: Selectors) -> Packs:
    """The installed rules. Raises click.ClickException where they clash or the command line asks for unknown ones."""
    packs = load_packs()
    for message in packs.broken:
        click.echo(f"{message}; its rules do not run", err=True)
    if packs.clashes:
        raise click.ClickException("; ".join(packs.clashes) + ": uninstall one of the rule packs")
    for selector in selectors.all():
        if not is_known(selector, packs.rules):
            raise click.UsageError(unknown_selector(selector, packs.rules))
    return packs


def _show_files(project: Project) -> int:
    sources = project.sources()
    with whole_or_broken_pipe(sys.stdout) as stream:
        for path in sorted((*project.tree.cpp, *project.tree.python)):
            if project.is_named(path):
                stream.write(f"{sources.shown(path)}\n")
    return 0


def _summary(options: CheckOptions, examined: Examined, watch: Stopwatch) -> Iterator[str]:
    if options.statistics:
        for (code, name), count in sorted(Counter((each.code, each.name) for each in examined.findings).items()):
            yield f"{count:6}  {code}  {name}"
    if options.timings:
        for phase, taken in watch.seconds.items():
            yield f"{taken:8.3f} s  {phase}"
        for code, taken in sorted(examined.checked.seconds.items(), key=lambda item: -item[1]):
            yield f"{taken:8.3f} s    {code}"
    if not options.quiet:
        yield _counts(examined)
        yield from describe_torch(examined.reading) if examined.reading else ()


def _counts(examined: Examined) -> str:
    project, checked = examined.project, examined.checked
    scanned = [path for path in (*project.tree.cpp, *project.tree.python) if project.is_named(path)]
    if not scanned:
        return "no C++ or Python files here"
    by_severity = Counter(finding.severity for finding in examined.findings)
    words = [plural(by_severity[severity], severity.value) for severity in Severity if by_severity[severity]]
    suppressed = f" ({checked.suppressed} suppressed by comments)" if checked.suppressed else ""
    return f"{', '.join(words) or 'nothing found'} in {plural(len(scanned), 'file')}{suppressed}"
