"""Options that several subcommands share, and what becomes of them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from op_lint import facts_file
from op_lint.analysis import Analysis
from op_lint.cli.streams import say
from op_lint.installed.bundled import described_versions, is_older_than_all
from op_lint.nearest import nearest
from op_lint.project import Project, open_project

_Command = TypeVar("_Command", bound=Callable[..., Any])


class ProjectOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The values of `project_options`."""

    paths: tuple[Path, ...]
    config: Path | None
    isolated: bool
    jobs: int | None
    no_cache: bool
    cache_dir: Path | None
    stdin_filename: Path | None
    verbose: bool
    facts: tuple[Path, ...]
    root: Path | None


class TorchOptions(ProjectOptions, frozen=True, kw_only=True):
    """The values of the options that say which torch the sources are held against, and what is loaded into it."""

    python: str | None
    load: tuple[str, ...]
    imports: tuple[str, ...]
    torch_version: str | None = None
    no_torch: bool = False

    @property
    def overrides(self) -> dict[str, Any]:
        """The settings that these options set. Raises click.UsageError where they do not fit together."""
        given: dict[str, Any] = {"python": self.python, "torch_version": self.torch_version}
        given = {name: value for name, value in given.items() if value is not None}
        if self.no_torch:
            given["torch"] = False
        if self.torch_version is not None and not re.match(r"\d+\.\d+", self.torch_version):
            raise click.UsageError(f"--torch-version {self.torch_version} is no version: write for example 2.13")
        if self.torch_version is not None and is_older_than_all(self.torch_version):
            have = f"there are {described_versions()}; for others, the next older one serves"
            raise click.UsageError(f"--torch-version {self.torch_version}: no snapshot of torch is that old; {have}")
        if self.python is not None and (self.no_torch or self.torch_version is not None):
            raise click.UsageError("--python names a torch that runs: no --no-torch, no --torch-version")
        if self.python is not None:
            given.update(torch=True, torch_version=None)  # whatever the configuration is content with
        if self.load or self.imports:
            if self.no_torch or self.torch_version is not None:
                raise click.UsageError("--load and --import need a torch that runs: no --no-torch, no --torch-version")
            # Here and now, whatever the configuration is content with.
            given.update(torch=True, torch_version=None, load=self.libraries, imports=self.imports)
        return given

    @property
    def libraries(self) -> tuple[str, ...]:
        """The libraries of `--load`, which are relative to the current folder."""
        return tuple(map(os.path.abspath, self.load))


def load_options(command: _Command) -> _Command:
    """The options that load what the user has built."""
    for option in (
        click.option(
            "--import", "imports", multiple=True, metavar="MODULE", help="Import this Python module there; repeatable."
        ),
        click.option("--load", multiple=True, metavar="LIB", help="Load this built library into torch; repeatable."),
    ):
        command = option(command)
    return command


def listed(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments, with what `@LIST` stands for. Raises click.FileError where LIST cannot be read."""
    for argument in arguments:
        if not argument.startswith("@"):
            yield argument
            continue
        try:
            yield from filter(None, Path(argument[1:]).read_text("utf-8").splitlines())
        except OSError as error:
            raise click.FileError(argument[1:], error.strerror) from error
        except UnicodeDecodeError as error:
            raise click.FileError(argument[1:], f"a list of paths in UTF-8 is wanted: {error.reason}") from error


def _paths(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[Path, ...]:
    existing = click.Path(exists=True, allow_dash=True)
    for value in values[:1]:
        if meant := _misspelt_subcommand(value):
            raise click.BadParameter(f"Path '{value}' does not exist; did you mean `op-lint {meant}`?")
    paths = tuple(Path(str(existing.convert(value, parameter, context))) for value in listed(values))
    if values and not paths:
        raise click.exceptions.Exit(0)  # a list without a file asks for nothing, and not for everything
    return paths


def _misspelt_subcommand(word: str) -> str | None:
    """The subcommand that the first word was meant to be, where it is neither a path nor a subcommand."""
    from op_lint.cli import COMMANDS

    return nearest(word, COMMANDS) if word.isalpha() and not os.path.lexists(word) else None


root_option = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The project's root, where it is not to be looked for.",
)


def project_options(command: _Command) -> _Command:
    """The options that say which project is read, and how."""
    existing_file = click.Path(exists=True, dir_okay=False, path_type=Path)
    for option in (
        click.option(
            "--facts",
            multiple=True,
            metavar="OUT",
            type=click.Path(exists=True, path_type=Path),
            help="Read no source: take what these files, or folders of them, hold (see `op-lint facts`).",
        ),
        click.option("-v", "--verbose", is_flag=True, help="Say on stderr what was found and done."),
        click.option(
            "--stdin-filename", type=click.Path(path_type=Path), help="With `-`: the file that stdin stands for."
        ),
        click.option("--cache-dir", type=click.Path(file_okay=False, path_type=Path), help="Keep facts here."),
        click.option("--no-cache", is_flag=True, help="Read every file anew and keep nothing."),
        click.option(
            "--jobs", type=click.IntRange(0), metavar="N", help="Worker processes; 0: read here, without their shelter."
        ),
        root_option,
        click.option("--isolated", is_flag=True, help="Read no configuration."),
        click.option("--config", type=existing_file, metavar="FILE", help="Read this configuration."),
        click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), callback=_paths),
    ):
        command = option(command)
    return command


def project_of(options: ProjectOptions, overrides: Mapping[str, Any]) -> Project:
    """Open the project that `options` name. Raises click.UsageError where they do not fit together."""
    if options.config and options.isolated:
        raise click.UsageError("--config and --isolated exclude each other")
    is_stdin = Path("-") in options.paths
    if is_stdin != (options.stdin_filename is not None):
        raise click.UsageError("`-` reads from stdin and needs --stdin-filename, and the other way round")
    if is_stdin and len(options.paths) > 1:
        raise click.UsageError("`-` stands alone: the other files of the project are read from disk anyway")
    if options.cache_dir:
        overrides = {**overrides, "cache_dir": os.path.abspath(options.cache_dir)}
    kept, paths = _facts_files(options)
    paths = list(_inside(options.root, paths)) if options.root else paths
    if kept and is_stdin:
        raise click.UsageError("--facts and `-` exclude each other")
    try:
        project = open_project(
            () if is_stdin else paths,
            root=options.root,
            configuration=options.config,
            isolated=options.isolated,
            overrides=overrides,
            buffers={options.stdin_filename: sys.stdin.buffer.read()} if options.stdin_filename else {},
        )
    except ValueError as error:
        raise click.UsageError(f"no folder holds all of these paths: {error}") from error
    return _with_facts(project, kept) if options.facts else project


def _inside(root: Path, paths: Sequence[Path]) -> Iterator[Path]:
    """The paths, a folder around the root being the root. Raises click.UsageError for a folder that is elsewhere."""
    root = Path(os.path.abspath(root))
    for path in paths:
        absolute = Path(os.path.abspath(path))
        if root.is_relative_to(absolute):
            yield root
        elif absolute.is_dir() and not absolute.is_relative_to(root):
            raise click.UsageError(f"'{path}' is not in the root of the project, '{root}'")
        else:
            yield path


def _facts_files(options: ProjectOptions) -> tuple[list[Path], list[Path]]:
    """The files of facts and the other paths. After `--facts out/*.facts` the shell has put all but one among these."""
    if not options.facts:
        return [], list(options.paths)
    files: list[Path] = []
    paths: list[Path] = []
    for path in options.facts:
        found = sorted(path.rglob(f"*{facts_file.SUFFIX}")) if path.is_dir() else [path]
        if not found:
            raise click.UsageError(f"--facts {path}: there is no *{facts_file.SUFFIX} in this folder")
        files += found
    for path in options.paths:
        (files if facts_file.is_one(path) else paths).append(path)
    return files, paths


def _with_facts(project: Project, files: Sequence[Path]) -> Project:
    """The project as those files have it. Raises click.ClickException where they cannot be used, or not any more."""
    try:
        kept = facts_file.load(files, project.settings)
        facts_file.require_unchanged(kept, project.root)
    except facts_file.FactsFileError as error:
        raise click.ClickException(str(error)) from error
    return project.with_facts(kept)


def say_what_was_read(project: Project, analysis: Analysis) -> None:
    """Tell a person who asked (`--verbose`) what a run was about."""
    say(f"project      {project.root}")
    say(f"settings     {project.configuration.path or 'defaults'}")
    say(f"files        {len(project.tree.cpp)} C++, {len(project.tree.python)} Python")
    kept = len(analysis.candidates) - analysis.read
    say(f"of these     {analysis.read} read, {kept} known from the cache")
