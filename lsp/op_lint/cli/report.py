"""`op-lint report`: everything about a project's operators as one page for a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from op_lint.cli.options import TorchOptions, load_options, project_of, project_options
from op_lint.cli.progress import Progress
from op_lint.cli.streams import say, whole_or_broken_pipe
from op_lint.documentation import summary
from op_lint.examine import Examined, examine
from op_lint.installed.model import Origin
from op_lint.installed.reader import Reading
from op_lint.packs import load_packs
from op_lint.page.data import Subject, page_data
from op_lint.page.render import render
from op_lint.selection import Selectors, selected_rules
from op_lint.sources import Sources
from op_lint.stopwatch import Stopwatch
from op_lint.whole import write_whole


class ReportOptions(TorchOptions, frozen=True, kw_only=True):
    """The values of this command's options."""

    html: str
    link: str | None


@click.command("report")
@project_options
@click.option("--html", metavar="OUT", required=True, help="Write the page to this file; `-` is stdout.")
@click.option(
    "--link",
    metavar="URL",
    help="Where the page links places to, with {path} and {line}: a code host, or vscode://file/...",
)
@click.option("--python", metavar="EXE", help="Hold the sources against the torch of this interpreter.")
@click.option("--torch-version", metavar="V", help="Hold them against the bundled snapshot of this torch version.")
@click.option("--no-torch", is_flag=True, help="Hold them against no torch at all: then only what is written is known.")
@load_options
def command(**values: Any) -> int:
    """Write one self-contained page: operators by dispatch keys, coverage, findings, units and targets.

    The page needs no network and no server. Exit status: 0 where it was written, 2 where it could not be.
    """
    options = ReportOptions(**values)
    if options.link and "{path}" not in options.link:
        raise click.UsageError("--link needs {path} where the path goes")
    packs = load_packs()
    project = project_of(options, options.overrides)
    selected = selected_rules(packs.rules, project.settings.selectors, Selectors())
    progress = Progress(quiet=False)
    with progress.shown():
        examined = examine(
            project,
            selected,
            packs.rules,
            Stopwatch(progress.phase),
            python=options.python,
            use_cache=not options.no_cache,
            jobs=options.jobs,
            progress=progress.files,
            anew=True,
        )
    assert examined.program is not None
    found = {finding.code for finding in examined.findings}
    subject = Subject(
        project.root.name,
        _torch_words(examined.reading),
        examined.findings,
        {rule.code: summary(rule) for rule in packs.rules if rule.code in found},
        options.link,
    )
    sources = Sources(project.root, project.buffers, project.root)
    _write(options.html, render(page_data(examined.program, sources, subject)))
    return _status(examined)


def _torch_words(reading: Reading | None) -> str:
    """Which torch the page is about; not where it is on this machine, since the page is for others."""
    if reading is None:
        return "held against no torch"
    snapshot = " (op-lint's snapshot)" if reading.origin is Origin.SNAPSHOT else ""
    return f"held against torch {reading.torch.version}{snapshot}"


def _status(examined: Examined) -> int:
    for failure in examined.checked.failures:
        say(f"internal error, please report: {failure}")
    for problem in examined.configuration_problems:
        say(f"{problem.place.path}:{problem.place.line}: {problem.message}")
    for unanswered in examined.unanswered:
        say(f"torch: {unanswered.message}")
    return 2 if examined.has_failed else 0


def _write(out: str, page: str) -> None:
    if out == "-":
        with whole_or_broken_pipe(sys.stdout) as stream:
            stream.write(page)
        return
    try:
        write_whole(Path(out), page.encode("utf-8"))
    except OSError as error:
        raise click.FileError(out, error.strerror) from error
