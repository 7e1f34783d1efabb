"""The options of `op-lint check`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from op_lint.cli.completion import rule_words
from op_lint.cli.options import TorchOptions, load_options, project_options
from op_lint.cli.outputs import Output, output_options
from op_lint.selection import Selectors

_Command = TypeVar("_Command", bound=Callable[..., Any])


class CheckOptions(TorchOptions, frozen=True, kw_only=True):
    """The values of the options. `outputs` is empty where none says anything about reports."""

    select: tuple[str, ...]
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    fix: bool
    unsafe_fixes: bool
    diff: bool
    add_ignores: bool
    baseline: Path | None
    no_baseline: bool
    write_baseline: bool
    prune_baseline: bool
    outputs: tuple[Output, ...]
    statistics: bool
    timings: bool
    show_files: bool
    force_exclude: bool
    exit_zero: bool
    watch: bool
    quiet: bool

    @property
    def selectors(self) -> Selectors:
        """What the command line says about rules."""
        return Selectors(self.select or None, self.extend_select, self.ignore)

    @property
    def overrides(self) -> dict[str, Any]:
        """The settings that the options set."""
        return {**super().overrides, **({"force_exclude": True} if self.force_exclude else {})}

    @property
    def changes_sources(self) -> bool:
        """Whether the sources are changed, or it is shown how they would be."""
        return self.fix or self.diff or self.add_ignores

    @property
    def shows_sources(self) -> bool:
        """Whether stdout is for what becomes of the sources: a diff, or the file that came from stdin."""
        return self.changes_sources and (self.diff or self.stdin_filename is not None)

    def verify(self) -> None:
        """Raise click.UsageError where the options do not fit together."""
        if sum((self.fix, self.add_ignores, self.write_baseline)) > 1:
            raise click.UsageError("--fix, --add-ignores and --write-baseline exclude each other")
        if self.write_baseline and (self.prune_baseline or self.diff):
            raise click.UsageError("--write-baseline excludes --prune-baseline and --diff")
        if self.no_baseline and (self.baseline or self.write_baseline or self.prune_baseline):
            raise click.UsageError("--no-baseline excludes --baseline, --write-baseline and --prune-baseline")
        if self.watch and (self.changes_sources or self.write_baseline or self.prune_baseline or self.show_files):
            raise click.UsageError("--watch only looks: no --fix, --diff, --add-ignores, --show-files, no new baseline")
        if self.facts and (self.changes_sources or self.watch):
            raise click.UsageError("--facts reads no source: no --fix, --diff, --add-ignores, --watch")
        if self.watch and self.stdin_filename:
            raise click.UsageError("--watch looks at files and not at stdin")
        on_stdout = [output.format for output in self.outputs if output.file is None]
        if on_stdout and self.shows_sources:
            what = "the diff" if self.diff else "the changed source"
            raise click.UsageError(f"{what} goes to stdout: --output-file says where {on_stdout[0]} goes")


def _selectors(_context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    words = tuple(word.strip() for value in values for word in value.split(",") if word.strip())
    if parameter.name == "select" and values and not words:  # or an empty variable in a script would mean: the defaults
        raise click.BadParameter("it names no rule: leave the option out for the default set")
    return words


def _rules(name: str, words: str) -> Callable[[_Command], _Command]:
    return click.option(
        name, multiple=True, metavar="CODES", callback=_selectors, shell_complete=rule_words, help=words
    )


def check_options(command: _Command) -> _Command:
    """All options of `op-lint check`, in the order of its help."""
    baseline_file = click.Path(dir_okay=False, path_type=Path)
    for option in reversed(
        (
            project_options,
            _rules("--select", "Run these rules only: codes, prefixes of codes, names, ALL; comma-separated."),
            _rules("--extend-select", "Run these rules, too."),
            _rules("--ignore", "Do not run these rules."),
            click.option("--python", metavar="EXE", help="Hold the sources against the torch of this interpreter."),
            click.option(
                "--torch-version", metavar="V", help="Hold them against the bundled snapshot of this torch version."
            ),
            click.option("--no-torch", is_flag=True, help="Hold them against no torch at all."),
            load_options,
            click.option("--fix", is_flag=True, help="Make the safe fixes, and report what is left."),
            click.option(
                "--unsafe-fixes",
                is_flag=True,
                help="With --fix or --diff: also the fixes that may change what the program does.",
            ),
            click.option(
                "--diff", is_flag=True, help="Print what --fix or --add-ignores would change; change nothing."
            ),
            click.option("--add-ignores", is_flag=True, help="Silence every finding by a comment in the sources."),
            click.option(
                "--baseline",
                type=baseline_file,
                metavar="FILE",
                help="Report only what is not in this file of known findings.",
            ),
            click.option("--no-baseline", is_flag=True, help="Report also what the configured baseline covers."),
            click.option("--write-baseline", is_flag=True, help="Make what is found now the baseline."),
            click.option("--prune-baseline", is_flag=True, help="Take what is found no more out of the baseline."),
            output_options,
            click.option("--statistics", is_flag=True, help="Count the findings of each rule."),
            click.option("--timings", is_flag=True, help="Say how long each phase and each rule took."),
            click.option("--show-files", is_flag=True, help="List the files that would be looked at, and end."),
            click.option(
                "--force-exclude", is_flag=True, help="Leave out excluded files even where PATHS name them: for hooks."
            ),
            click.option("--exit-zero", is_flag=True, help="Exit 0 where there are findings."),
            click.option("--watch", is_flag=True, help="Look again whenever a file changes, until interrupted."),
            click.option("-q", "--quiet", is_flag=True, help="Print findings and nothing else."),
        )
    ):
        command = option(command)
    return command
