"""`op-lint doctor`: what op-lint found on this machine and in this project."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import click

from op_lint.cache import FactsCache
from op_lint.cli.options import TorchOptions, load_options, project_of, project_options
from op_lint.cli.output import describe_torch, plural
from op_lint.cli.streams import whole_or_broken_pipe
from op_lint.installed.interpreter import find_interpreter
from op_lint.installed.model import Extension
from op_lint.packs import load_packs
from op_lint.project import Project
from op_lint.version import VERSION

Row = tuple[str, str]

_MOST_LINES = 12
"""Of what an interpreter wrote to stderr before it failed: the last ones are those that say why."""


class DoctorOptions(TorchOptions, frozen=True, kw_only=True):
    """The values of this command's options."""


@click.command("doctor")
@project_options
@click.option("--python", metavar="EXE", help="Look at the torch of this interpreter.")
@load_options
def command(**values: Any) -> int:
    """Say what was found: project, configuration, interpreter, torch, libclang, rules, cache."""
    options = DoctorOptions(**values)
    project = project_of(options, options.overrides)
    with whole_or_broken_pipe(sys.stdout) as stream:
        for what, found in _rows(project, options):
            stream.write(f"{what:14}{found}\n")
    return 2 if project.configuration.problems else 0


def _rows(project: Project, options: DoctorOptions) -> Iterator[Row]:
    yield "op-lint", f"{VERSION}, on Python {platform.python_version()} ({sys.executable})"
    yield from _about_project(project)
    yield "libclang", _libclang()
    yield from _about_torch(project, options)
    packs = load_packs()
    yield "rule packs", f"{', '.join(packs.names) or 'none'}: {plural(len(packs.rules), 'rule')}"
    yield from (("rule packs", message) for message in (*packs.broken, *packs.clashes))
    entries, size = FactsCache(project.cache_folder).size()
    yield "cache", f"{project.cache_folder}: {plural(entries, 'file')}, {size / 1024:.0f} KiB"


def _about_project(project: Project) -> Iterator[Row]:
    yield "project", str(project.root)
    yield "configuration", project.configuration.path or "none: all settings have their defaults"
    for problem in project.problems:
        yield "", f"{problem.place.path}:{problem.place.line}: {problem.message}"
    yield "files", f"{len(project.tree.cpp)} C++, {len(project.tree.python)} Python"


def _libclang() -> str:
    from clang import cindex

    try:
        cindex.Index.create()
    except cindex.LibclangError as error:
        return f"does not load, so no C++ can be read: {error}"
    return f"{version('libclang')} ({cindex.conf.get_filename()})"


def _about_torch(project: Project, options: DoctorOptions) -> Iterator[Row]:
    for candidate in find_interpreter(project.interpreters(options.python)).candidates:
        named = f"{candidate.named} " if candidate.named else ""
        yield "interpreter", f"{candidate.source.value}: {named}{candidate.verdict}"
    reading = project.read_torch(options.python, use_cache=not options.no_cache)
    said = describe_torch(reading) if reading else ["not asked for"]
    yield from (("torch", line.removeprefix("torch: ")) for line in said)
    for problem in reading.problems if reading is not None else ():
        lines = problem.detail.splitlines()[-_MOST_LINES:]
        yield from (("", line) for line in lines if line not in problem.message)
    if reading is not None and reading.extension is not None:
        yield from _about_extension(reading.extension)


def _about_extension(extension: Extension) -> Iterator[Row]:
    for load in extension.loads:
        if load.error is None:
            yield "loaded", load.what
    kernels = sum(map(len, extension.added.values()))
    yield "with that", f"{plural(len(extension.defined), 'operator')} defined, {plural(kernels, 'kernel')} registered"
