"""`op-lint diagnose`: an error text in, the cause in the source out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from textwrap import wrap
from typing import Any, BinaryIO

import click
import msgspec

from op_lint.cli.options import TorchOptions, load_options, project_of, project_options
from op_lint.cli.output import describe_torch, plural, say_failures
from op_lint.cli.progress import Progress
from op_lint.cli.streams import say, whole_or_broken_pipe
from op_lint.errors.diagnosis import Cause, Certainty, Diagnosis
from op_lint.errors.explain import Explained, explain
from op_lint.errors.recognise import Recognised, Recogniser
from op_lint.findings import Related
from op_lint.report.json import finding_value
from op_lint.report.text import Line, Style, frame, write_lines
from op_lint.sources import Sources

_STYLES = {Certainty.CERTAIN: Style.ERROR, Certainty.LIKELY: Style.WARNING, Certainty.POSSIBLE: Style.HINT}
_NOTHING = "nothing in here is an error of torch's registration or dispatch that op-lint knows"
_MARGIN = 10
_WIDTH = 108
_MOST_TEXT = 400
"""Characters of a message that are shown."""


class DiagnoseOptions(TorchOptions, frozen=True, kw_only=True):
    """The values of this command's options."""

    source: str
    output_format: str


@click.command("diagnose")
@project_options
@load_options
@click.option(
    "--from",
    "source",
    default="-",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="The log with the error; `-`, which is the default, is stdin.",
)
@click.option("--no-torch", is_flag=True, help="Hold the sources against no torch.")
@click.option("--torch-version", metavar="V", help="Hold them against the bundled snapshot of this torch version.")
@click.option("--python", metavar="EXE", help="Hold them against the torch of this interpreter.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(**values: Any) -> int:
    """Find torch's errors about registrations and dispatch in a log, and what in the sources causes them.

    The log may be of any size, with time stamps, colours and whatever else terminals and CI services put into one.
    Each kind of error is explained once for each operator, and held against the project around PATHS. Exit status: 0
    no such error is in the log, 1 there are some, 2 op-lint could not do what was asked.
    """
    options = DiagnoseOptions(**values)
    if options.source == "-" and Path("-") in options.paths:
        raise click.UsageError("stdin is the log: name a file of it with --from, or a file in place of `-`")
    project = project_of(options, options.overrides)
    recogniser = Recogniser()
    with _log(options.source) as stream:
        errors = recogniser.read(stream)
    if not errors:
        return _say_nothing(options, recogniser)
    progress = Progress(quiet=False)
    with progress.shown():
        explained = explain(
            errors, project, python=options.python, use_cache=not options.no_cache, jobs=options.jobs,
            progress=progress.files,
        )  # fmt: skip
    sources = project.sources()
    with whole_or_broken_pipe(sys.stdout) as out:
        if options.output_format == "json":
            out.write(msgspec.json.format(msgspec.json.encode(_value(explained, recogniser, sources))).decode() + "\n")
        else:
            write_lines(_lines(explained, recogniser, sources), out)
    say_failures(explained.failures, verbose=options.verbose)
    return 2 if explained.failures or project.configuration.problems else 1


def _log(source: str) -> AbstractContextManager[BinaryIO]:
    """The log to read. Raises click.FileError where it cannot be read."""
    if source != "-":
        try:
            return open(source, "rb")
        except OSError as error:
            raise click.FileError(source, error.strerror) from error
    if sys.stdin.isatty():
        say("paste the error text, then press Ctrl-D (Ctrl-Z and Enter on Windows)")
    return nullcontext(sys.stdin.buffer)


def _say_nothing(options: DiagnoseOptions, recogniser: Recogniser) -> int:
    with whole_or_broken_pipe(sys.stdout) as out:
        if options.output_format == "json":
            value: dict[str, Any] = {"torch": None, "lines": recogniser.lines_read, "errors": []}
            out.write(msgspec.json.format(msgspec.json.encode(value)).decode() + "\n")
        else:
            out.write(f"{_NOTHING} ({plural(recogniser.lines_read, 'line')} read)\n")
    return 0


def _value(explained: Explained, recogniser: Recogniser, sources: Sources) -> dict[str, Any]:
    """The answer as JSON has it. Lines and columns are 1-based, columns in characters, ends exclusive."""
    return {
        "torch": explained.reading.torch.version if explained.reading is not None else None,
        "lines": recogniser.lines_read,
        "errors": [_diagnosis_value(each, explained, sources) for each in explained.diagnoses],
    }


def _diagnosis_value(diagnosis: Diagnosis, explained: Explained, sources: Sources) -> dict[str, Any]:
    error = diagnosis.error
    operator = explained.operators[error.identity]
    return {
        "kind": error.kind.name,
        "stage": error.kind.stage.value,
        "type": error.raised,
        "text": error.text,
        "line": error.line,
        "count": error.count,
        "operator": str(operator) if operator is not None else error.operator,
        "key": error.fields.get("key"),
        "namespace": error.fields.get("namespace"),
        "fields": error.fields,
        "listed": [msgspec.structs.asdict(each) for each in error.listed],
        "meaning": diagnosis.meaning,
        "causes": [_cause_value(cause, sources) for cause in diagnosis.causes],
        "findings": [finding_value(each, sources, explained.urls.get(each.code)) for each in diagnosis.findings],
        "evidence": list(diagnosis.evidence),
        "change": list(diagnosis.change),
        "check": list(diagnosis.check),
    }


def _cause_value(cause: Cause, sources: Sources) -> dict[str, Any]:
    place = sources.location(cause.place) if cause.place is not None else None
    fields = msgspec.structs.asdict(place) if place is not None else dict.fromkeys(_PLACE)
    return {
        "certainty": cause.certainty.value,
        "message": cause.message,
        **fields,
        "related": [_related_value(each, sources) for each in cause.related],
        "codes": [finding.code for finding in cause.findings],
    }


_PLACE = ("path", "line", "column", "end_line", "end_column")


def _related_value(related: Related, sources: Sources) -> dict[str, Any]:
    return {**msgspec.structs.asdict(sources.location(related.place)), "message": related.message}


def _lines(explained: Explained, recogniser: Recogniser, sources: Sources) -> Iterator[Line]:
    for diagnosis in explained.diagnoses:
        yield from _diagnosis_lines(diagnosis, sources)
        yield ()
    if recogniser.dropped:
        yield ((f"{recogniser.dropped} more in the log are not told apart", Style.PLAIN),)
    count = len(explained.diagnoses)
    said = sum(each.error.count for each in explained.diagnoses)
    times = f", said {said} times" if said != count else ""
    yield ((f"{plural(count, 'error')} in {plural(recogniser.lines_read, 'line')}{times}", Style.PLAIN),)
    if explained.reading is not None:
        for line in describe_torch(explained.reading):
            yield ((line, Style.PLAIN),)


def _diagnosis_lines(diagnosis: Diagnosis, sources: Sources) -> Iterator[Line]:
    error = diagnosis.error
    times = f", {error.count} times" if error.count > 1 else ""
    raised = f"{error.raised}: " if error.raised else ""
    yield (
        (f"{raised}{_shortened(error)}", Style.ERROR if not error.kind.warning else Style.WARNING),
        (f"  (line {error.line} of the log{times})", Style.FRAME),
    )
    yield from _paragraph("means", [diagnosis.meaning])
    for cause in diagnosis.causes:
        yield ()
        yield from _cause_lines(cause, sources)
    if not diagnosis.causes:
        yield from _paragraph("cause", ["not known: nothing in these sources is about it"])
    yield ()
    shown = {id(finding) for cause in diagnosis.causes for finding in cause.findings}
    findings = [each for each in diagnosis.findings if id(each) not in shown]
    yield from _paragraph("rules", [f"{sources.location(each.place)}: {each.code} {each.message}" for each in findings])
    yield from _paragraph("evidence", diagnosis.evidence)
    yield from _paragraph("change", diagnosis.change)
    yield from _paragraph("check", diagnosis.check)


def _cause_lines(cause: Cause, sources: Sources) -> Iterator[Line]:
    style = _STYLES[cause.certainty]
    head = ((f"cause ({cause.certainty.value})", style),)
    codes = " ".join(f"{finding.code} {finding.name}" for finding in cause.findings)
    if cause.place is None:
        yield (*head, (f"  {cause.message}", Style.PLAIN))
        return
    yield (*head, (f"  {sources.location(cause.place)}", Style.PATH), (f" {codes}".rstrip(), Style.PLAIN))
    notes = [finding.message for finding in cause.findings if finding.message != cause.message]
    yield from frame(cause.place, cause.message, cause.related, notes, style, sources)


def _paragraph(name: str, texts: Sequence[str]) -> Iterator[Line]:
    """Texts under a word in the margin, wrapped."""
    for text in texts:
        for line in wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False):
            yield ((f"{name:{_MARGIN}}", Style.FRAME), (line, Style.PLAIN))
            name = ""


def _shortened(error: Recognised) -> str:
    text = " ".join(error.text.split())
    return text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "…"
