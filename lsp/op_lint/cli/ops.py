"""`op-lint ops`: the registry found in the source."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
import msgspec

from op_lint.cli.options import ProjectOptions, project_of, project_options, say_what_was_read
from op_lint.cli.output import plural
from op_lint.cli.progress import read_in_sight
from op_lint.cli.streams import say, whole_or_broken_pipe
from op_lint.collector import without_a_last_look, without_collector
from op_lint.facts import OperatorName
from op_lint.inventory import inventory, uses
from op_lint.program import Program, parse_name
from op_lint.project import Project
from op_lint.sources import Sources


class OpsOptions(ProjectOptions, frozen=True, kw_only=True):
    """The values of this command's options."""

    output_format: str
    uses: str | None


@click.command("ops")
@project_options
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--uses", metavar="NS::OP[.OVERLOAD]", help="List where Python calls or names this operator instead.")
@without_collector()  # what is read and put together here are trees, and much of it is kept to the end
def command(**values: Any) -> int:
    """List the operators, kernels, fallbacks and registration units that the sources hold."""
    without_a_last_look()
    options = OpsOptions(**values)
    if options.uses is not None and not _OPERATOR.fullmatch(options.uses):
        raise click.UsageError(f"--uses wants an operator as NS::OP or NS::OP.OVERLOAD, not {options.uses!r}")
    project = project_of(options, {})
    analysis = read_in_sight(project, use_cache=not options.no_cache, jobs=options.jobs)
    sources = project.sources()
    scanned = sum(map(project.is_named, (*project.tree.cpp, *project.tree.python)))
    parsed = sum(map(project.is_named, analysis.candidates))
    build = project.read_build(analysis.files, use_cache=not options.no_cache)
    program = Program(analysis.files, None, project.settings, build=build)
    if options.uses is not None:
        found = _uses(program, parse_name(options.uses), sources, project)
    else:
        found = inventory(program, sources, project.is_named, scanned=scanned, parsed=parsed)
    if options.verbose:
        say_what_was_read(project, analysis)
    for problem in project.problems:
        say(f"{sources.location(problem.place)}: {problem.message}")
    with whole_or_broken_pipe(sys.stdout) as stream:
        if options.output_format == "json":
            stream.write(msgspec.json.format(msgspec.json.encode(found)).decode() + "\n")
        else:
            lines = _lines(found) if options.uses is None else _use_lines(found)
            stream.writelines(f"{line}\n" for line in lines)
    return 2 if project.configuration.problems else 0


def _uses(program: Program, name: OperatorName, sources: Sources, project: Project) -> dict[str, Any]:
    """The uses of an operator, and whether the sources define it."""
    defined = bool(program.definitions_of(name))
    return {"op": str(name), "defined": defined, "uses": uses(program, name, sources, project.is_named)}


def _use_lines(found: Mapping[str, Any]) -> Iterator[str]:
    for use in found["uses"]:
        when = "" if use["run"] == "function" else f"  ({_WHEN[use['run']]})"
        condition = f"  if {use['condition']}" if use["condition"] else ""
        yield f"{use['path']}:{use['line']}:{use['column']}  {use['kind']}{when}{condition}"
    calls = sum(use["kind"] == "call" for use in found["uses"])
    defined = "" if found["defined"] else "; these sources do not define it"
    yield f"{found['op']}: {plural(len(found['uses']), 'use')} ({plural(calls, 'call')}){defined}"


_OPERATOR = re.compile(r"\w+::\w+(?:\.\w+)?")
_WHEN = {"import": "at import", "main": "as a program"}


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    """What could not be read of an operator that is listed stands with it, all else below."""
    hidden: dict[str, list[Mapping[str, Any]]] = {_full_name(operator): [] for operator in found["ops"]}
    apart: list[Mapping[str, Any]] = []
    for each in found["unresolved"]:
        hidden.get(each["operator"], apart).append(each)
    for full_name, operator in zip(hidden, found["ops"], strict=True):
        overload = f".{operator['overload']}" if operator["overload"] else ""
        calls = operator["call_sites"]
        sites = f"  ({plural(calls, 'call site')} in Python)" if calls else ""
        schema = operator["schema"] or f"({_no_schema(operator['definitions'])})"
        yield f"{operator['namespace']}::{operator['name']}{overload}  {schema}{sites}"
        rows = [("def", "", each) for each in operator["definitions"]]
        rows += [(_key(each), each["kernel"] or "", each) for each in operator["kernels"]]
        rows += [("?" if each["what"] == "impl" else each["what"], each["reason"], each) for each in hidden[full_name]]
        yield from _table(rows)
    if found["fallbacks"]:
        yield "fallbacks"
        yield from _table([(each["key"] or "?", each["kernel"], each) for each in found["fallbacks"]])
    if apart:
        yield "unresolved"
        yield from _table([(each["what"], each["reason"], each) for each in apart])
    kernels = sum(len(operator["kernels"]) for operator in found["ops"])
    files = found["files"]
    yield (
        f"{plural(len(found['ops']), 'operator')}, {plural(kernels, 'kernel')},"
        f" {plural(len(found['units']), 'registration unit')} and"
        f" {plural(len(found['unresolved']), 'unresolved registration')}"
        f" in {files['parsed']} of {plural(files['scanned'], 'file')}"
    )


def _no_schema(definitions: Sequence[Mapping[str, Any]]) -> str:
    if not definitions:
        return "nothing here defines it"
    python = all(each["language"] == "python" for each in definitions)
    return "a schema that only the running program knows" if python else "no schema written"


def _full_name(operator: Mapping[str, Any]) -> str:
    return str(OperatorName(operator["namespace"], operator["name"], operator["overload"]))


def _key(kernel: Mapping[str, Any]) -> str:
    return f"{kernel['key']} (py_impl)" if kernel["dispatcher"] == "python" else str(kernel["key"])


def _table(rows: list[tuple[str, str, Mapping[str, Any]]]) -> Iterator[str]:
    first = max(len(key) for key, _, _ in rows)
    second = max(len(kernel) for _, kernel, _ in rows)
    for key, kernel, each in rows:
        condition = f"  if {each['condition']}" if each.get("condition") else ""
        spelled = each.get("spelled")
        written = f"  (written at {spelled['path']}:{spelled['line']})" if spelled else ""
        calls = each.get("calls")
        called = f"  (called at {calls[0]['path']}:{calls[0]['line']})" if calls else ""
        yield f"    {key:{first}}  {kernel:{second}}  {each['path']}:{each['line']}{condition}{written}{called}"
