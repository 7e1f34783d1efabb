"""From files to facts: everything that the sources of a project say, read in parallel, kept between runs.

No single file can end a run: what cannot be read is facts with a problem.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

import msgspec

from op_lint import cpp, python
from op_lint.collector import without_collector
from op_lint.config import Settings
from op_lint.cpp import CppOptions, link
from op_lint.facts import FileFacts, Language, Place, Problem
from op_lint.files import SourceTree, language_of
from op_lint.packed import Pack
from op_lint.shared import Sharer
from op_lint.suppress import MARK, find_suppressions
from op_lint.workers import Failure, ReadFile, Task, processors, read_in_workers

_FILES_PER_WORKER = 4
"""Fewer files than this for each worker do not pay for starting it."""


PASSING = frozenset({"crash", "internal-error", "timeout", "unreadable", "vanished"})
"""Problems of this run and not of the file's content: the next run tries again."""


class Analysis(msgspec.Struct, frozen=True):
    """The facts of every file that has any, by path.

    `candidates` are the files that may register or use operators; of other Python files only the imports are known.
    Of the candidates `read` were read in this run, the facts of the others were kept from an earlier one.
    """

    files: tuple[FileFacts, ...]
    candidates: tuple[str, ...] = ()
    read: int = 0


class Reader(Protocol):
    """What is asked of the C++ reader."""

    def candidates(self) -> tuple[str, ...]:
        """The paths of files that may say something."""
        ...

    def load(self, path: str) -> bytes | None:
        """The content of a file, None where it cannot be read."""
        ...

    def key(self, path: str) -> str:
        """A key of all that the facts depend on but the headers that they name."""
        ...

    def is_current(self, facts: FileFacts) -> bool:
        """Whether the headers that these facts name are as they were."""
        ...

    def read(self, path: str) -> FileFacts:
        """The facts of one file; never raises."""
        ...


class KeepFacts(Protocol):
    """What is asked of a cache: see `FactsCache`."""

    def get(self, path: str, key: str) -> FileFacts | None:
        """The facts kept under a key."""
        ...

    def put(self, path: str, key: str, found: FileFacts) -> None:
        """Keep facts."""
        ...

    def prune(self) -> None:
        """Throw away what is old."""
        ...


Progress = Callable[[int, int], None]
"""Is told how many files of how many have been read."""


def unnoticed(_done: int, _total: int) -> None:
    """A `Progress` for those who do not want to know."""


ReadAll = Callable[[ReadFile, list[Task]], Iterable[tuple[str, FileFacts]]]
"""Does some tasks, in any order."""

MakeReader = Callable[[Path, tuple[str, ...], CppOptions, Mapping[str, bytes]], Reader]


def cpp_reader(root: Path, sources: tuple[str, ...], options: CppOptions, buffers: Mapping[str, bytes]) -> Reader:
    """The reader of C++, which is not imported before there is something to read."""
    return cpp.CppReader(root, sources, options, buffers)


def analyse(
    tree: SourceTree,
    settings: Settings,
    *,
    cache: KeepFacts | None = None,
    jobs: int | None = None,
    buffers: Mapping[str, bytes] = {},
    make_reader: MakeReader = cpp_reader,
    progress: Progress = unnoticed,
    packs: Path | None = None,
) -> Analysis:
    """The facts of the files of `tree`.

    `jobs` is the number of worker processes (None: as many as there are processors and work for); with 0 everything
    is read in this process, in which a file that crashes the reader ends the run. `buffers` stand for files on disk.
    `packs` is the cache's folder if what the Python files say is to be kept there in one piece, too (`op_lint.packed`).
    """
    options = python_options(settings)
    pack = Pack(packs, Path(tree.root), _python_reader() + _encoded(options)) if packs and tree.python else None
    root = Path(tree.root)
    readers = Readers(root, make_reader(root, tree.cpp, cpp_options(settings), buffers), options, buffers)
    found = read_facts(readers, tree, lambda read, tasks: _read_all(read, tasks, jobs), cache, progress, pack)
    return msgspec.structs.replace(found, files=linked(found.files, options, pack))


def unlinked(
    tree: SourceTree,
    wanted: SourceTree,
    settings: Settings,
    *,
    jobs: int | None = None,
) -> Analysis:
    """What each file of `wanted` says by itself, as a file of the project `tree`; the rest as for `analyse`."""
    root = Path(tree.root)
    readers = Readers(root, cpp_reader(root, tree.cpp, cpp_options(settings), {}), python_options(settings), {})
    return read_facts(readers, wanted, lambda read, tasks: _read_all(read, tasks, jobs))


def read_facts(
    readers: Readers,
    tree: SourceTree,
    read_all: ReadAll,
    cache: KeepFacts | None = None,
    progress: Progress = unnoticed,
    pack: Pack | None = None,
) -> Analysis:
    """What each file of `tree` says, not yet linked with the others. `read_all` reads what is not kept."""
    found: dict[str, FileFacts] = {}
    others: dict[str, FileFacts] = {}
    keys: dict[str, str] = {}
    tasks: list[Task] = []
    sharer = Sharer()
    with without_collector():  # thousands of kept facts make no garbage; reading does
        for path, data in readers.files(tree):
            is_python = language_of(path) is Language.PYTHON
            packed = pack.get(path, data) if pack and is_python and data is not None else None
            if packed is not None:
                (found if packed.is_candidate else others)[path] = packed.facts
                continue
            if data is not None and not readers.is_candidate(path, data):
                others.update((facts.path, facts) for facts in readers.imports(path, data))
                continue
            keys[path] = readers.key(path, data)
            kept = cache.get(path, keys[path]) if cache else None
            if kept and readers.cpp.is_current(kept):
                found[path] = sharer.share(kept)
            else:
                tasks.append((path, data))
    for done, (path, facts) in enumerate(read_all(readers.read, tasks), 1):
        found[path] = sharer.share(facts)
        progress(done, len(tasks))
        if cache and _is_lasting(facts):
            cache.put(path, keys[path], facts)  # at once, so that an interrupted run leaves what it has done
    if cache:
        cache.prune()
    files = sorted((*found.values(), *others.values()), key=lambda facts: facts.path)
    if pack:
        pack.note(filter(_is_lasting, files), candidates=found)
    return Analysis(tuple(files), tuple(sorted(found)), len(tasks))


def _is_lasting(facts: FileFacts) -> bool:
    """Whether the next run would find the same."""
    return not any(problem.code in PASSING for problem in facts.problems)


def linked(
    files: Sequence[FileFacts], options: python.PythonOptions, pack: Pack | None = None
) -> tuple[FileFacts, ...]:
    """The facts of all files, with what only the files together say (`op_lint.cpp.link`, `op_lint.python.resolve`).

    What the Python files of `pack` say together depends on nothing but them.
    """
    together = link(files)
    kept = pack.linked(together) if pack else None
    if kept is not None:
        return kept
    # Where no file is Python, nothing of the Python reader is imported.
    resolved = python.resolve(together, options) if any(each.python for each in files) else together
    if pack:
        pack.keep(together, resolved)
    return resolved


def cpp_options(settings: Settings) -> CppOptions:
    """What the C++ reader must know of the settings."""
    return CppOptions(
        include_dirs=settings.include_dirs,
        defines=settings.defines,
        compile_commands=settings.compile_commands,
    )


def python_options(settings: Settings) -> python.PythonOptions:
    """What the Python reader must know of the settings."""
    return python.PythonOptions(settings.wrappers)


class Readers:
    """The readers of both languages, for the files of one project. Workers get a copy."""

    def __init__(self, root: Path, cpp: Reader, options: python.PythonOptions, buffers: Mapping[str, bytes]) -> None:
        self.cpp = cpp
        self._root = root
        self._options = options
        self._buffers = buffers
        self._candidates = frozenset(cpp.candidates())

    def files(self, tree: SourceTree) -> Iterator[tuple[str, bytes | None]]:
        """Every file with its content; None where it cannot be read (or, in C++, is not to be)."""
        for path in (*tree.cpp, *tree.python):
            yield path, self.content(path)

    def content(self, path: str) -> bytes | None:
        """The content of a file; None where it cannot be read (or, in C++, is not to be)."""
        return self.cpp.load(path) if language_of(path) is Language.CPP else self._content_if_any(path)

    def is_candidate(self, path: str, data: bytes) -> bool:
        """Whether a file may register or use operators, or has a comment for op-lint."""
        if MARK in data or path in self._candidates:
            return True
        return language_of(path) is Language.PYTHON and (python.is_candidate(data) or self._options.mentions(data))

    def imports(self, path: str, data: bytes) -> Iterator[FileFacts]:
        """What is of interest in a file that is no candidate: how a Python module imports others."""
        if language_of(path) is Language.PYTHON:
            yield python.scan_imports(path, data)

    def key(self, path: str, data: bytes | None) -> str:
        """A key of all that the facts of a file depend on but the headers that they name."""
        if language_of(path) is Language.CPP:
            return self.cpp.key(path)
        return blake2b(_encoded(self._options) + (data or b""), key=_python_reader(), digest_size=16).hexdigest()

    def read(self, path: str, data: bytes | None) -> FileFacts:
        """The facts of one file, its suppression comments among them. Never raises."""
        try:
            if data is None:
                data = self._content(path)
            is_cpp = language_of(path) is Language.CPP
            facts = self.cpp.read(path) if is_cpp else python.read_python(path, data, self._options)
            left_out = [each.place for each in facts.python.broken] if facts.python else ()
            suppressions, problems = find_suppressions(path, data, facts.language, left_out)
        except FileNotFoundError:
            return _failed(path, "vanished", "the file was gone before it was read")
        except OSError as error:
            return _failed(path, "unreadable", f"the file cannot be read: {error.strerror or error}")
        except Exception as error:  # a fault in a reader is a message about this file; the others are still read
            where = f"{type(error).__name__}: {error}"
            return _failed(path, "internal-error", f"op-lint failed on this file, please report it ({where})")
        return msgspec.structs.replace(facts, suppressions=suppressions, problems=(*facts.problems, *problems))

    def _content_if_any(self, path: str) -> bytes | None:
        try:
            return self._content(path)
        except OSError:
            return None  # reading it as a candidate says why

    def _content(self, path: str) -> bytes:
        if path in self._buffers:
            return self._buffers[path]
        with open(os.path.join(self._root, path), "rb", buffering=0) as file:  # of ten thousand, each step counts
            return file.readall()


def _encoded(options: python.PythonOptions) -> bytes:
    return msgspec.msgpack.encode(options)


@cache
def _python_reader() -> bytes:
    """Names the version of the Python reader by its own sources."""
    folder = Path(python.__file__).parent
    sources = b"\0".join(file.read_bytes() for file in sorted(folder.glob("*.py")))
    return blake2b(sources, digest_size=16).digest()


def _read_all(read: ReadFile, tasks: list[Task], jobs: int | None) -> Iterator[tuple[str, FileFacts]]:
    if jobs == 0:
        for path, data in tasks:
            yield path, read(path, data)
            gc.collect(0)  # the C++ reader leaves cycles behind, and the collector may be off (`without_collector`)
        return
    wanted = min(processors(), len(tasks) // _FILES_PER_WORKER + 1) if jobs is None else jobs
    for path, answer in read_in_workers(read, tasks, FileFacts, jobs=wanted):
        yield path, facts_of(path, answer)


def facts_of(path: str, answer: FileFacts | Failure) -> FileFacts:
    """What a worker answered, or facts that say why it did not."""
    return _failed(path, answer.code, answer.message) if isinstance(answer, Failure) else answer


def _failed(path: str, code: str, message: str) -> FileFacts:
    problem = Problem(code, message, Place(path, 1, 0, 0))
    return FileFacts(path, language_of(path) or Language.CPP, problems=(problem,))
