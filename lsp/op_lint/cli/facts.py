"""`op-lint facts`: the facts of some files, written to one, for build systems that spread the reading."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
import msgspec

from op_lint.analysis import PASSING, Analysis, unlinked
from op_lint.cli.options import listed, root_option
from op_lint.facts import Language
from op_lint.facts_file import KeptFacts, ReadWith, Scanned, encode
from op_lint.files import SourceTree, language_of, relative_path
from op_lint.project import Project, open_project
from op_lint.whole import write_whole


class FactsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The values of this command's options."""

    files: tuple[str, ...]
    output: Path
    context: tuple[str, ...]
    alone: bool
    depfile: Path | None
    root: Path | None
    config: Path | None
    isolated: bool
    jobs: int | None


@click.command("facts")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="OUT")
@click.option(
    "--context", multiple=True, metavar="FILE", help="FILES may include this one; implies --alone. Repeatable."
)
@click.option("--alone", is_flag=True, help="See no other file of the project: for actions that run in a sandbox.")
@click.option(
    "--depfile",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write there, as compilers do, what else was read.",
)
@root_option
@click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--jobs", type=click.IntRange(0), default=1, show_default=True, metavar="N", help="Worker processes.")
def command(**values: Any) -> int:
    """Write what FILES say to OUT, which `--facts OUT` of other commands takes in place of the files.

    FILES are sources and headers; `@LIST` stands for the paths in the file LIST, one a line. OUT is the same, byte for
    byte, for the same sources and settings. Where a file could not be read to its end by accident (it vanished, the
    reader ran out of time) there is no OUT, and the exit status is 2, so that no build system keeps the accident.
    """
    options = FactsOptions(**values)
    files = [Path(file) for file in listed(options.files)]
    context = [Path(file) for file in listed(options.context)]
    project = _project(options, files)
    wanted = _tree(project, files)
    seen = _tree(project, [*files, *context]) if options.alone or context else project.tree
    analysis = unlinked(seen, wanted, project.settings, jobs=options.jobs)
    _require_lasting(analysis)
    kept = KeptFacts(ReadWith.of(project.settings), tuple(_scanned(project, wanted, analysis)), analysis.files)
    _write(options.output, encode(kept))
    if options.depfile:
        _write(options.depfile, _dependencies(options, project, analysis).encode())
    return 0


def _project(options: FactsOptions, files: Sequence[Path]) -> Project:
    for file in files:
        if not file.is_file():
            is_folder = file.is_dir()
            raise click.FileError(str(file), "it is a folder: name files" if is_folder else "there is no such file")
        if language_of(str(file)) is None:
            raise click.UsageError(f"{file} is neither C++ nor Python")
    project = open_project(files, root=options.root, configuration=options.config, isolated=options.isolated)
    for problem in project.configuration.problems:
        raise click.ClickException(f"{problem.place.path}:{problem.place.line}: {problem.message}")
    return project


def _tree(project: Project, files: Sequence[Path]) -> SourceTree:
    """A tree of just these files. Raises click.UsageError for one outside the project, whose path holds here only."""
    paths = {relative_path(file, project.root) for file in files}
    for path in paths:
        if os.path.isabs(path):
            raise click.UsageError(f"{path} is not in the project {project.root}: say --root")
    by_language = {language: tuple(sorted(p for p in paths if language_of(p) is language)) for language in Language}
    return SourceTree(str(project.root), by_language[Language.CPP], by_language[Language.PYTHON])


def _require_lasting(analysis: Analysis) -> None:
    for facts in analysis.files:
        for problem in facts.problems:
            if problem.code in PASSING:
                raise click.ClickException(f"{problem.place.path}: {problem.message}")


def _scanned(project: Project, wanted: SourceTree, analysis: Analysis) -> Iterator[Scanned]:
    candidates = set(analysis.candidates)
    for path in sorted((*wanted.cpp, *wanted.python)):
        yield Scanned(path, sha256((project.root / path).read_bytes()).hexdigest(), path in candidates)


def _dependencies(options: FactsOptions, project: Project, analysis: Analysis) -> str:
    """A rule of make: OUT depends on the headers that were read, and on the configuration."""
    read = {include.path for facts in analysis.files for include in facts.includes}
    if project.configuration.path:
        read.add(project.configuration.path)
    paths = sorted(os.path.relpath(project.root / path) for path in read)
    return f"{_escaped(str(options.output))}:{''.join(f' {_escaped(path)}' for path in paths)}\n"


def _escaped(path: str) -> str:
    return path.replace("\\", "/").replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")


def _write(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, data)
    except OSError as error:
        raise click.FileError(str(file), error.strerror) from error
