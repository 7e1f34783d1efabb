"""A project, opened: its root, its configuration, its files, what they say, and the torch they are held against."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from op_lint.analysis import Analysis, Progress, analyse, linked, python_options, unnoticed
from op_lint.cache import FactsCache, default_folder
from op_lint.config import Configuration, Settings, load_configuration
from op_lint.facts import FileFacts, KernelKind, Language, Problem
from op_lint.facts_file import KeptFacts
from op_lint.files import SourceTree, find_root, find_sources, language_of, relative_path
from op_lint.installed.interpreter import InterpreterSearch
from op_lint.installed.reader import Reading, ReadRequest, read_installed
from op_lint.sources import Sources

if TYPE_CHECKING:
    from op_lint.build import BuildGraph
    from op_lint.build.kept import KeptGraph
    from op_lint.build.watched import Watched


class Project(msgspec.Struct, frozen=True):
    """A project before anything in it is read.

    `named` are the paths that the user asked about, relative to `root` (empty: all). `buffers` are contents that
    stand for files on disk, by the path that facts use. With `kept` no source is read: these are the facts.
    """

    root: Path
    configuration: Configuration
    tree: SourceTree
    named: tuple[str, ...] = ()
    buffers: Mapping[str, bytes] = {}
    kept: KeptFacts | None = None

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.configuration.settings

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the project and not with one source file."""
        return (*self.configuration.problems, *self.tree.problems)

    def is_named(self, path: str) -> bool:
        """Whether the user asked about the file at `path`, itself or by a folder around it."""
        return not self.named or any(path == name or path.startswith(f"{name}/") for name in self.named)

    def sources(self) -> Sources:
        """The text behind places, with paths as seen from the current folder."""
        return Sources(self.root, self.buffers, Path.cwd())

    @property
    def cache_folder(self) -> Path:
        """Where things are kept between runs."""
        return self.root / self.settings.cache_dir if self.settings.cache_dir else default_folder()

    def read(self, *, use_cache: bool = True, jobs: int | None = None, progress: Progress = unnoticed) -> Analysis:
        """Read the files: see `analyse`."""
        if self.kept is not None:
            files = linked(self.kept.files, python_options(self.settings))
            return Analysis(files, tuple(each.path for each in self.kept.scanned if each.is_candidate))
        cache = FactsCache(self.cache_folder) if use_cache else None
        return analyse(
            self.tree,
            self.settings,
            cache=cache,
            jobs=jobs,
            buffers=self.buffers,
            progress=progress,
            packs=self.cache_folder if use_cache and not self.buffers else None,
        )

    def with_facts(self, kept: KeptFacts) -> Project:
        """The project with the sources that `kept` is about, and no others."""
        sources = {"cpp": kept.paths(Language.CPP), "python": kept.paths(Language.PYTHON)}
        return msgspec.structs.replace(self, tree=msgspec.structs.replace(self.tree, **sources), kept=kept)

    def read_build(
        self,
        facts: Iterable[FileFacts],
        kept: KeptGraph | None = None,
        files: Watched | None = None,
        *,
        use_cache: bool = True,
        jobs: int | None = 0,
    ) -> BuildGraph | None:
        """What the build files say about the sources whose facts these are; None where they say nothing about any.

        `kept` is what was read before, for those who ask again and again; `files` learn what the answer depends on.
        `jobs` processes read many sources (None: one a processor); with 0 this one does.
        """
        sources = [each for each in facts if each.language is Language.CPP and each.units]
        registering = [each.path for each in sources]
        if not registering:
            return None
        from op_lint.build.kept import KeptGraph

        graph = (kept or KeptGraph(self.cache_folder if use_cache else None)).graph(
            self.root,
            self.tree.build,
            self.tree.cpp,
            registering=registering,
            scripts=self.tree.python,
            buffers=self.buffers,
            files=files,
            jobs=jobs,
            apart=any(map(_needs_another, sources)),
        )
        return graph if graph.targets else None

    def interpreters(
        self, option: str | None = None, *, editor: str | None = None, trusted: bool = True
    ) -> InterpreterSearch:
        """Where the Python with torch is looked for; `option` and `editor` are what command line and editor say."""
        return InterpreterSearch(option, self.settings.python, editor, self.root, os.environ, trusted=trusted)

    def read_torch(
        self, option: str | None = None, *, editor: str | None = None, trusted: bool = True, use_cache: bool = True
    ) -> Reading | None:
        """The torch that the sources are held against, and what the settings want loaded into it: see `read_installed`.

        None where the settings want none. The rest is as for `interpreters`.
        """
        if not self.settings.torch:
            return None
        cache = self.cache_folder if use_cache else None
        return read_installed(
            ReadRequest(
                self.interpreters(option, editor=editor, trusted=trusted),
                load=tuple(str(self.root / library) for library in self.settings.load),
                imports=self.settings.imports,
                snapshot=self.settings.torch_version,
                cache=cache,
            )
        )


def _needs_another(facts: FileFacts) -> bool:
    """Whether a source registers a kernel that it does not define."""
    kernels = (*(row.kernel for row in facts.definitions), *(row.kernel for row in facts.implementations))
    return any(each is not None and each.kind is KernelKind.KERNEL and each.defined is None for each in kernels)


def open_project(
    paths: Sequence[Path],
    *,
    root: Path | None = None,
    configuration: Path | None = None,
    isolated: bool = False,
    overrides: Mapping[str, Any] = {},
    buffers: Mapping[Path, bytes] = {},
) -> Project:
    """Find the project of `paths` (existing files or folders; empty: the current folder) and list its files.

    `root` is given where it is not to be found, `configuration` is a file to read instead of the project's own, and
    `isolated` reads none. `overrides` are fields of `Settings` that the command line sets. Raises ValueError for paths
    that no one project can hold.
    """
    start = [*paths, *buffers] or [Path()]
    root = find_root(start) if root is None else Path(os.path.abspath(root))
    configured = Configuration() if isolated else load_configuration(root, configuration)
    settings = msgspec.structs.replace(configured.settings, **overrides)
    tree = find_sources(
        root,
        exclude=(*settings.exclude, *settings.extend_exclude),
        respect_gitignore=settings.respect_gitignore,
        named=paths,
        force_exclude=settings.force_exclude,
    )
    contents = {relative_path(path, root): data for path, data in buffers.items()}
    named = {relative_path(path, root) for path in start}
    return Project(
        root,
        msgspec.structs.replace(configured, settings=settings),
        _with_buffers(tree, contents),
        () if "." in named else tuple(sorted(named)),
        contents,
    )


def _with_buffers(tree: SourceTree, buffers: Mapping[str, bytes]) -> SourceTree:
    """The tree with the files that exist in a buffer only."""
    files = {
        field: tuple(sorted({*listed, *(path for path in buffers if language_of(path) is language)}))
        for field, language, listed in (("cpp", Language.CPP, tree.cpp), ("python", Language.PYTHON, tree.python))
    }
    return msgspec.structs.replace(tree, **files)
