"""Where reports go: one format on stdout, and any number of others in files."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click
import msgspec

from op_lint import report
from op_lint.cli.streams import whole_or_broken_pipe
from op_lint.whole import write_whole

_Command = TypeVar("_Command", bound=Callable[..., Any])

FOR_PEOPLE = frozenset({"text", "concise"})
"""The formats that end with a summary; of the others every byte is data."""

_DEFAULT = "text"


class Output(msgspec.Struct, frozen=True):
    """A format, and the file that it goes to; None is stdout."""

    format: str
    file: Path | None = None


DEFAULT_OUTPUT = Output(_DEFAULT)
"""What is written where no option says anything."""


ARGUMENTS = f"{__name__}.arguments"
"""Where the context's `meta` keeps the subcommand and the words after it."""


class OutputsCommand(click.Command):
    """A command with `output_options`: its parameter `outputs` pairs each file with the format before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as ever, and remember the words and the order of the options, which click does not tell."""
        ctx.meta[ARGUMENTS] = (self.name, *args)
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        rest = super().parse_args(ctx, args)
        given = {"output_format": list(ctx.params.pop("output_format")), "output_file": list(ctx.params["output_file"])}
        del ctx.params["output_file"], values
        said = [(each.name, given[each.name].pop(0)) for each in order if each.name in given]
        ctx.params["outputs"] = () if ctx.resilient_parsing else _paired(said)
        return rest


def output_options(command: _Command) -> _Command:
    """The options that say what is written where."""
    for option in (
        click.option(
            "--output-file",
            multiple=True,
            metavar="FILE",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Write the format named before to this file instead of stdout; repeatable, with a format each.",
        ),
        click.option(
            "--output-format",
            multiple=True,
            metavar="FORMAT",
            type=click.Choice(report.FORMATS),
            help=f"{', '.join(report.FORMATS[:-1])} or {report.FORMATS[-1]}; {_DEFAULT} by default.",
        ),
    ):
        command = option(command)
    return command


def _paired(said: Iterable[tuple[str | None, Any]]) -> tuple[Output, ...]:
    outputs: list[Output] = []
    for name, value in said:
        if name == "output_format":
            outputs.append(Output(value))
        elif not outputs:
            outputs.append(Output(_DEFAULT, value))
        elif outputs[-1].file is None:
            outputs[-1] = Output(outputs[-1].format, value)
        else:
            raise click.UsageError(f"--output-file {value} needs an --output-format of its own before it")
    on_stdout = [output.format for output in outputs if output.file is None]
    if len(on_stdout) > 1:
        raise click.UsageError(
            f"{' and '.join(on_stdout)} would both go to stdout: --output-file after a format names its file"
        )
    for output in outputs:
        if output.file is not None and not os.path.isdir(output.file.parent):
            raise click.FileError(str(output.file), "there is no such folder")
    files = [os.path.realpath(output.file) for output in outputs if output.file is not None]
    for file in files:
        if files.count(file) > 1 and (os.path.isfile(file) or not os.path.exists(file)):  # not: /dev/stderr
            raise click.UsageError(f"two formats would go to {file}: name a file for each")
    return tuple(outputs)


def write_reports(outputs: Iterable[Output], choose: Callable[[Output], report.Report], stdout: TextIO) -> None:
    """Write all reports. Raises click.FileError where one cannot be written; the others are."""
    failed = [error for output in outputs if (error := _write_report(output, choose(output), stdout))]
    if failed:
        raise failed[0]


def _write_report(output: Output, written: report.Report, stdout: TextIO) -> click.FileError | None:
    """Write a report to where it goes; why its file cannot be written."""
    if output.file is None:
        with whole_or_broken_pipe(stdout) as stream:
            report.write(output.format, written, stream)
        return None
    text = io.StringIO()
    report.write(output.format, msgspec.structs.replace(written, plain=True), text)
    try:
        write_whole(output.file, text.getvalue().encode("utf-8", "backslashreplace"))
    except OSError as error:
        return click.FileError(str(output.file), error.strerror)
    return None
