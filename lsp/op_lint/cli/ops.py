"""`op-lint ops`: the registry found in the source."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click
import msgspec

from op_lint.cli.options import ProjectOptions, project_of, project_options, say_what_was_read
from op_lint.cli.output import whole_or_broken_pipe
from op_lint.inventory import inventory
from op_lint.program import Program


class OpsOptions(ProjectOptions, frozen=True, kw_only=True):
    """The values of this command's options."""

    output_format: str


@click.command("ops")
@project_options
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(**values: Any) -> int:
    """List the operators, kernels, fallbacks and registration units that the sources hold."""
    options = OpsOptions(**values)
    project = project_of(options, {})
    analysis = project.read(use_cache=not options.no_cache, jobs=options.jobs)
    sources = project.sources()
    scanned = sum(map(project.is_named, (*project.tree.cpp, *project.tree.python)))
    parsed = sum(map(project.is_named, analysis.candidates))
    build = project.read_build(analysis.files, use_cache=not options.no_cache)
    program = Program(analysis.files, None, project.settings, build=build)
    found = inventory(program, sources, project.is_named, scanned=scanned, parsed=parsed)
    if options.verbose:
        say_what_was_read(project, analysis)
    for problem in project.problems:
        click.echo(f"{sources.location(problem.place)}: {problem.message}", err=True)
    with whole_or_broken_pipe(sys.stdout) as stream:
        if options.output_format == "json":
            stream.write(msgspec.json.format(msgspec.json.encode(found)).decode() + "\n")
        else:
            stream.writelines(f"{line}\n" for line in _lines(found))
    return 2 if project.configuration.problems else 0


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    for operator in found["ops"]:
        overload = f".{operator['overload']}" if operator["overload"] else ""
        yield f"{operator['namespace']}::{operator['name']}{overload}  {operator['schema'] or '(no schema written)'}"
        rows = [("def", "", each) for each in operator["definitions"]]
        rows += [(each["key"], each["kernel"] or "", each) for each in operator["kernels"]]
        yield from _table(rows)
    if found["fallbacks"]:
        yield "fallbacks"
        yield from _table([(each["key"] or "?", each["kernel"], each) for each in found["fallbacks"]])
    if found["unresolved"]:
        yield "unresolved"
        yield from _table([(each["what"], each["reason"], each) for each in found["unresolved"]])
    kernels = sum(len(operator["kernels"]) for operator in found["ops"])
    files = found["files"]
    yield (
        f"{len(found['ops'])} operators, {kernels} kernels, {len(found['units'])} registration units and"
        f" {len(found['unresolved'])} unresolved registrations in {files['parsed']} of {files['scanned']} files"
    )


def _table(rows: list[tuple[str, str, Mapping[str, Any]]]) -> Iterator[str]:
    first = max(len(key) for key, _, _ in rows)
    second = max(len(kernel) for _, kernel, _ in rows)
    for key, kernel, each in rows:
        condition = f"  if {each['condition']}" if each.get("condition") else ""
        yield f"    {key:{first}}  {kernel:{second}}  {each['path']}:{each['line']}{condition}"
