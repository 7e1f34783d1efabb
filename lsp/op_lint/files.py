"""Which files belong to the project: its root, the walk that honours `.gitignore` and `exclude`, the languages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from op_lint.facts import Language, Place, Problem
from op_lint.gitignore import Patterns, is_left_out, read_patterns

# fmt: off
CPP_SUFFIXES = frozenset({
    ".cpp", ".cc", ".cxx", ".c++", ".cp", ".cppm", ".ixx", ".mm",
    ".cu", ".cuh", ".hip",
    ".h", ".hpp", ".hh", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".txx",
})
PYTHON_SUFFIXES = frozenset({".py"})
_LANGUAGES = {**dict.fromkeys(CPP_SUFFIXES, Language.CPP), **dict.fromkeys(PYTHON_SUFFIXES, Language.PYTHON)}

CONFIGURATION_NAMES = ("op-lint.toml", "pyproject.toml")
"""The files that may hold the configuration, the first one winning; each also marks a project's root."""

_ROOT_MARKERS = (*CONFIGURATION_NAMES, ".git")

DEFAULT_EXCLUDE = (
    ".bzr", ".git", ".hg", ".svn",
    ".direnv", ".nox", ".pyenv", ".tox", ".venv", "venv", "site-packages", "node_modules", "__pypackages__",
    "__pycache__", ".hypothesis", ".ipynb_checkpoints", ".mypy_cache", ".op_lint_cache", ".pytest_cache", ".ruff_cache",
    ".eggs", ".pants.d", "_build", "bazel-*", "buck-out", "build", "dist",
    ".vscode",
)
"""What nobody means when they name a folder: version control, environments, caches, build output."""
# fmt: on


class SourceTree(msgspec.Struct, frozen=True):
    """The source files of a project, sorted, relative to `root` with `/`.

    `build` are the files that say what is built from them (`is_build_file`). `problems` are the folders that could not
    be listed and the files whose name cannot be written as text.
    """

    root: str
    cpp: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    build: tuple[str, ...] = ()


_BUILD_NAMES = frozenset({
    "CMakeLists.txt", "setup.py", "pyproject.toml", "BUILD", "BUILD.bazel", "BUCK", "TARGETS",
})  # fmt: skip
_BUILD_SUFFIXES = (".cmake", ".bzl")


def is_build_file(path: str) -> bool:
    """Whether a file says what is built, by its name: of CMake, setuptools, Bazel or Buck."""
    name = path.rpartition("/")[2]
    return name in _BUILD_NAMES or name.endswith(_BUILD_SUFFIXES)


def is_configuration(path: str) -> bool:
    """Whether a file may hold op-lint's settings, by its name."""
    return path.rpartition("/")[2] in CONFIGURATION_NAMES


def language_of(path: str) -> Language | None:
    """The language that a path's suffix (in any case) stands for; None for a file that op-lint does not read."""
    stem, dot, suffix = path.rpartition(".")
    language = _LANGUAGES.get(dot + suffix.lower())
    return language if language and os.path.basename(stem).strip(".") else None


def find_root(paths: Sequence[Path]) -> Path:
    """The project's root: the nearest folder at or above all `paths` with `op-lint.toml`, `pyproject.toml` or `.git`.

    Where there is none, the folder that holds all of `paths`. Raises ValueError for paths on different drives.
    """
    absolute = [os.path.abspath(path) for path in paths]
    common = os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in absolute])
    for folder in (Path(common), *Path(common).parents):
        if any(os.path.exists(folder / marker) for marker in _ROOT_MARKERS):
            return folder
    return Path(common)


def relative_path(path: Path | str, root: Path) -> str:
    """`path` as facts write it: relative to `root` with `/`, absolute where it lies outside."""
    absolute = os.path.abspath(path)
    relative = os.path.relpath(absolute, root) if os.path.splitdrive(absolute)[0] == root.drive else absolute
    chosen = absolute if relative.split(os.sep, 1)[0] == os.pardir else relative
    return chosen.replace(os.sep, "/")


def find_sources(
    root: Path,
    *,
    exclude: Sequence[str] = DEFAULT_EXCLUDE,
    respect_gitignore: bool = True,
    named: Iterable[Path] = (),
    force_exclude: bool = False,
) -> SourceTree:
    """Walk the project and list its C++ and Python files.

    `exclude` are patterns as in `.gitignore`, relative to `root`. `named` are files and folders that the user asked
    for: they are taken even where the walk would leave them out, unless `force_exclude`. Linked folders are not
    entered, and a linked file whose target is in the project is left out: it is read under its own name.
    """
    walk = _Walk(root, exclude, respect_gitignore)
    walk.folder("")
    for path in () if force_exclude else named:
        relative = relative_path(path, root)
        if os.path.isdir(path):
            walk.folder("" if relative == "." else relative)
        elif os.path.isfile(path):
            walk.add(relative)
    return walk.result()


class _Walk:
    def __init__(self, root: Path, exclude: Sequence[str], respect_gitignore: bool) -> None:
        self._root = root
        self._real_root = os.path.realpath(root)
        self._exclude = Patterns(tuple(exclude))
        self._respect_gitignore = respect_gitignore
        self._files: dict[Language, set[str]] = {Language.CPP: set(), Language.PYTHON: set()}
        self._build: set[str] = set()
        self._folders: set[str] = set()
        self._problems: list[Problem] = []

    def result(self) -> SourceTree:
        return SourceTree(
            str(self._root),
            tuple(sorted(self._files[Language.CPP])),
            tuple(sorted(self._files[Language.PYTHON])),
            tuple(sorted(self._problems, key=lambda problem: problem.place)),
            tuple(sorted(self._build)),
        )

    def add(self, relative: str) -> None:
        language = language_of(relative)
        is_build = is_build_file(relative)
        if language is None and not is_build:
            return
        try:
            relative.encode()
        except UnicodeEncodeError:
            printable = relative.encode("utf-8", "backslashreplace").decode()
            self._note(printable, "file-name", "the file's name is not UTF-8: op-lint leaves it out")
            return
        if is_build:
            self._build.add(relative)
        if language is not None:
            self._files[language].add(relative)

    def folder(self, start: str) -> None:
        """Walk `start`, a path relative to the root (empty: the root itself).

        Patterns that leave out `start` as a whole do not count: whoever names a folder wants what is in it.
        """
        exclude, *ignores = [
            () if start and patterns.verdict(f"{start}/") else (patterns,)
            for patterns in (self._exclude, *(self._ignore_files_above(start) if self._respect_gitignore else ()))
        ]
        pending = [(start, tuple(chain.from_iterable(ignores)))]
        while pending:
            folder, ignores_here = pending.pop()
            if folder in self._folders:
                continue
            self._folders.add(folder)
            try:
                with os.scandir(os.path.join(self._root, folder)) as entries:
                    listed = list(entries)
            except OSError as error:
                self._note(folder or ".", "unreadable", f"the folder cannot be listed: {error.strerror or error}")
                continue
            names = {entry.name for entry in listed}
            if "pyvenv.cfg" in names and folder != start:
                continue  # a virtual environment under a name of its own
            prefix = f"{folder}/" if folder else ""
            if ".gitignore" in names and self._respect_gitignore:
                inner = read_patterns(os.path.join(self._root, folder, ".gitignore"), "", len(prefix))
                ignores_here = (*inner, *ignores_here)
            subfolders = self._sort(listed, prefix, exclude, ignores_here)
            pending.extend((subfolder, ignores_here) for subfolder in subfolders)

    def _sort(
        self,
        listed: list[os.DirEntry[str]],
        prefix: str,
        exclude: tuple[Patterns, ...],
        ignores: tuple[Patterns, ...],
    ) -> Iterator[str]:
        """Take the source files among `listed`; yield the folders to enter.

        A build file counts even where `.gitignore` has its name: `*.txt` is not meant for `CMakeLists.txt`, which is in
        the repository all the same, and what a generator makes and git ignores is built as well.
        """
        patterns = (*exclude, *ignores)
        for entry in listed:
            relative = prefix + entry.name
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                # The suffix comes first: matching patterns is the dear part of a walk over 100,000 files.
                is_source = not is_folder and _is_read(entry.name) and entry.is_file()
            except OSError:
                continue  # gone since it was listed, or a link that goes in circles: there is nothing to read
            if is_folder and not is_left_out(relative + "/", patterns):
                yield relative
            elif is_source and not self._is_inner_link(entry):
                only_builds = is_build_file(relative) and language_of(relative) is None
                if not is_left_out(relative, exclude if only_builds else patterns):
                    self.add(relative)

    def _is_inner_link(self, entry: os.DirEntry[str]) -> bool:
        return entry.is_symlink() and os.path.realpath(entry.path).startswith(self._real_root + os.sep)

    def _ignore_files_above(self, start: str) -> list[Patterns]:
        """What the `.gitignore` files between the repository's top and `start` (exclusive) say, the innermost first."""
        found: list[Patterns] = []
        folder = start
        while folder:
            folder = folder.rpartition("/")[0]
            found += read_patterns(self._root / folder / ".gitignore", "", len(folder) + 1 if folder else 0)
        top = next((each for each in (self._root, *self._root.parents) if os.path.exists(each / ".git")), self._root)
        for above in (each for each in self._root.parents if each.is_relative_to(top)):
            prefix = self._root.relative_to(above).as_posix() + "/"
            found += [
                each for each in read_patterns(above / ".gitignore", prefix, 0) if not each.spec.match_file(prefix)
            ]
        return found

    def _note(self, path: str, code: str, message: str) -> None:
        self._problems.append(Problem(code, message, Place(path, 1, 0, 0)))


def _is_read(name: str) -> bool:
    return language_of(name) is not None or is_build_file(name)
