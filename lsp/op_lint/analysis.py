"""From files to facts: everything that the sources of a project say, read in parallel, kept between runs.

No single file can end a run: what cannot be read is facts with a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

import msgspec

from op_lint import python
from op_lint.cache import FactsCache
from op_lint.config import Settings
from op_lint.cpp import CppOptions, CppReader, link
from op_lint.facts import FileFacts, Language, Place, Problem
from op_lint.files import SourceTree, language_of
from op_lint.suppress import MARK, find_suppressions
from op_lint.workers import Failure, ReadFile, Task, processors, read_in_workers

_FILES_PER_WORKER = 4
"""Fewer files than this for each worker do not pay for starting it."""


_PASSING = frozenset({"crash", "internal-error", "timeout", "unreadable", "vanished"})
"""Problems of this run and not of the file's content: the next run tries again."""


class Analysis(msgspec.Struct, frozen=True):
    """The facts of every file that has any, by path. `read` files were read in this run, `kept` came from the cache."""

    files: tuple[FileFacts, ...]
    read: int = 0
    kept: int = 0


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


MakeReader = Callable[[Path, tuple[str, ...], CppOptions, Mapping[str, bytes]], Reader]


def analyse(
    tree: SourceTree,
    settings: Settings,
    *,
    cache: FactsCache | None = None,
    jobs: int | None = None,
    buffers: Mapping[str, bytes] = {},
    make_reader: MakeReader = CppReader,
) -> Analysis:
    """The facts of the files of `tree`.

    `jobs` is the number of worker processes (None: as many as there are processors and work for); with 0 everything
    is read in this process, in which a file that crashes the reader ends the run. `buffers` stand for files on disk.
    """
    root = Path(tree.root)
    reader = make_reader(root, tree.cpp, cpp_options(settings), buffers)
    kept: dict[str, FileFacts] = {}
    keys: dict[str, str] = {}
    tasks: list[Task] = []
    for path, key, data in _candidates(root, tree, reader, buffers):
        found = cache.get(path, key) if cache else None
        if found and reader.is_current(found):
            kept[path] = found
        else:
            keys[path] = key
            tasks.append((path, data))
    read: dict[str, FileFacts] = {}
    for path, facts in _read_all(partial(_read, root, reader, buffers), tasks, jobs):
        read[path] = facts
        if cache and not any(problem.code in _PASSING for problem in facts.problems):
            cache.put(path, keys[path], facts)  # at once, so that an interrupted run leaves what it has done
    if cache:
        cache.prune()
    found_all = kept | read
    files = python.resolve(link([found_all[path] for path in sorted(found_all)]))
    return Analysis(files, len(read), len(kept))


def cpp_options(settings: Settings) -> CppOptions:
    """What the C++ reader must know of the settings."""
    return CppOptions(
        include_dirs=settings.include_dirs,
        defines=settings.defines,
        compile_commands=settings.compile_commands,
    )


def _candidates(
    root: Path, tree: SourceTree, reader: Reader, buffers: Mapping[str, bytes]
) -> Iterator[tuple[str, str, bytes | None]]:
    """Each file that may say something: its path, the key of its facts, and its content if that was read already."""
    registering = set(reader.candidates())
    for path in tree.cpp:
        data = reader.load(path)
        if data is None or path in registering or MARK in data:
            yield path, reader.key(path), None
    for path in tree.python:
        data = buffers.get(path)
        if data is None:
            data = _content(root, path)
        if data is None:
            yield path, "", None  # the reader of one file says why it cannot be read
        elif python.is_candidate(data) or MARK in data:
            yield path, blake2b(data, key=_python_reader(), digest_size=16).hexdigest(), data


def _content(root: Path, path: str) -> bytes | None:
    try:
        return (root / path).read_bytes()
    except OSError:
        return None


@cache
def _python_reader() -> bytes:
    """Names the version of the Python reader by its own sources."""
    folder = Path(python.__file__).parent
    sources = b"\0".join(file.read_bytes() for file in sorted(folder.glob("*.py")))
    return blake2b(sources, digest_size=16).digest()


def _read_all(read: ReadFile, tasks: list[Task], jobs: int | None) -> Iterator[tuple[str, FileFacts]]:
    if jobs == 0:
        yield from ((path, read(path, data)) for path, data in tasks)
        return
    wanted = min(processors(), len(tasks) // _FILES_PER_WORKER + 1) if jobs is None else jobs
    for path, answer in read_in_workers(read, tasks, jobs=wanted):
        yield path, _failed(path, answer.code, answer.message) if isinstance(answer, Failure) else answer


def _read(root: Path, reader: Reader, buffers: Mapping[str, bytes], path: str, data: bytes | None) -> FileFacts:
    """The facts of one file, its suppression comments among them. Runs in a worker."""
    language = language_of(path)
    try:
        if data is None and path in buffers:
            data = buffers[path]
        if data is None:
            data = (root / path).read_bytes()
        facts = reader.read(path) if language is Language.CPP else python.read_python(path, data)
        suppressions, problems = find_suppressions(path, data, facts.language)
        return msgspec.structs.replace(facts, suppressions=suppressions, problems=(*facts.problems, *problems))
    except FileNotFoundError:
        return _failed(path, "vanished", "the file was gone before it was read")
    except OSError as error:
        return _failed(path, "unreadable", f"the file cannot be read: {error.strerror or error}")
    except Exception as error:  # a fault in a reader is a message about this file; the others are still read
        where = f"{type(error).__name__}: {error}"
        return _failed(path, "internal-error", f"op-lint failed on this file, please report it ({where})")


def _failed(path: str, code: str, message: str) -> FileFacts:
    problem = Problem(code, message, Place(path, 1, 0, 0))
    return FileFacts(path, language_of(path) or Language.CPP, problems=(problem,))
