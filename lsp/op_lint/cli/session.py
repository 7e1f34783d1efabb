"""One run of `op-lint check`: the project looked at as often as it takes, held against the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from op_lint.baseline import (
    Baseline,
    BaselineError,
    Compared,
    Counts,
    Judged,
    configured_baseline,
    described,
    read_baseline,
    write_baseline,
)
from op_lint.cli.check_options import CheckOptions
from op_lint.cli.progress import Progress
from op_lint.examine import Examined, examine
from op_lint.findings import Finding
from op_lint.project import Project
from op_lint.rule import Rule
from op_lint.stopwatch import Stopwatch


class Looked(msgspec.Struct, frozen=True):
    """What one look at the project saw, and what of it is told."""

    examined: Examined
    compared: Compared

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings to be told: in the files that were named, and not in the baseline."""
        return self.compared.findings


class Session:
    """The rules of one run, its baseline, and how far it is."""

    def __init__(
        self,
        options: CheckOptions,
        rules: Sequence[type[Rule]],
        selected: Sequence[type[Rule]],
        progress: Progress,
        watch: Stopwatch,
        project: Project,
    ) -> None:
        self.watch = watch
        self.rules = rules
        self._options = options
        self._selected = selected
        self._baseline = _baseline(options, project)
        self._progress = progress

    def look(self, project: Project) -> Looked:
        """Examine the project as it is, with its buffers, and hold it against the baseline."""
        options = self._options
        with self._progress.shown():
            examined = examine(
                project,
                self._selected,
                self.rules,
                self.watch,
                python=options.python,
                use_cache=not options.no_cache,
                jobs=options.jobs,
                progress=self._progress.files,
            )
        compared = Compared(examined.findings)
        if self._baseline is not None:
            compared = self._baseline.compare(examined.findings, self._judged(examined))
        return Looked(examined, compared)

    def keep_baseline(self, looked: Looked) -> Iterator[str]:
        """Write or prune the baseline as the options say; yield what is wrong with it."""
        if self._baseline is None:
            return
        judged = self._judged(looked.examined)
        if self._options.write_baseline:
            _write(self._baseline, self._baseline.renewed(looked.examined.findings, judged))
        elif self._options.prune_baseline:
            _write(self._baseline, self._baseline.pruned(looked.compared.stale))
        else:
            yield from described(looked.compared.stale, self._baseline.file)

    def _judged(self, examined: Examined) -> Judged:
        checked = examined.checked
        silent = {*checked.skipped, *(failure.code for failure in checked.failures)}
        codes = {rule.code for rule in self._selected} - silent
        return Judged(examined.project.is_named, codes)


def _baseline(options: CheckOptions, project: Project) -> Baseline | None:
    """The baseline that is asked for, or the configured one. Raises click.ClickException where there is none to use."""
    file = options.baseline or _configured(project)
    if file is None and (options.write_baseline or options.prune_baseline):
        needed = "--baseline FILE, or `baseline` in the configuration"
        raise click.UsageError(f"--write-baseline and --prune-baseline need {needed}")
    if file is None or options.no_baseline:
        return None
    try:
        return read_baseline(file)
    except FileNotFoundError:
        if options.write_baseline:
            return Baseline(file)
        raise click.UsageError(f"there is no baseline {file}; --write-baseline makes it") from None
    except BaselineError as error:
        raise click.ClickException(str(error)) from error


def _configured(project: Project) -> Path | None:
    file = configured_baseline(project.root, project.settings)
    return Path(project.sources().shown(str(file))) if file else None


def _write(baseline: Baseline, counts: Counts) -> None:
    if counts == baseline.counts and baseline.text:
        return
    try:
        write_baseline(baseline.file, counts)
    except OSError as error:
        raise click.FileError(str(baseline.file), error.strerror) from error
