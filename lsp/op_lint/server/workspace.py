"""One root: its files, what is open of them, and the way from an edit to a new snapshot, each file read once.

Two threads meet here: the one of the protocol says what has changed (`change`), the one of the engine makes snapshots
(`compute`). What the second keeps between snapshots nobody else touches.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from op_lint import python
from op_lint.analysis import Readers, cpp_options, linked, read_facts
from op_lint.baseline import Baseline, BaselineError, configured_baseline, read_baseline
from op_lint.build.kept import KeptGraph
from op_lint.cache import FactsCache
from op_lint.check import check
from op_lint.collector import without_collector
from op_lint.config import Configuration, load_configuration, selector_problems
from op_lint.cpp import CppReader
from op_lint.examine import program_of
from op_lint.facts import FileFacts, Language, Problem
from op_lint.files import CONFIGURATION_NAMES, SourceTree, find_root, is_build_file, is_configuration, language_of
from op_lint.installed.reader import Reading
from op_lint.macros import MacroSearch, search_macros
from op_lint.packs import Packs
from op_lint.project import Project, open_project
from op_lint.selection import selected_rules
from op_lint.server.documents import Document
from op_lint.server.pool import Cancelled, Pool
from op_lint.server.reading import Rereading
from op_lint.server.settings import ClientSettings
from op_lint.server.snapshot import Snapshot
from op_lint.workers import ReadFile, Task


class Wanted(msgspec.Struct, frozen=True):
    """What a snapshot is to be made of. `changed` are files to read again; `anew` asks for a new look at everything."""

    revision: int
    documents: Mapping[str, Document]
    changed: frozenset[str]
    anew: bool
    settings: ClientSettings
    reading: Reading | None


class Workspace:
    """The files below `root`, or, with `only`, one file that belongs to no project.

    `trusted` is False until the client says otherwise: see `InterpreterSearch`.
    """

    def __init__(
        self, root: Path, packs: Packs, settings: ClientSettings, *, only: str | None = None, trusted: bool = True
    ) -> None:
        self.root = root
        self.only = only
        self.packs = packs
        self.settings = settings
        self.trusted = trusted
        self.snapshot: Snapshot | None = None
        self.revision = 1
        self._lock = threading.Lock()
        self._documents: dict[str, Document] = {}
        self._changed: set[str] = set()
        self._anew = True
        self._reading: Reading | None = None
        self._kept: _Kept | None = None

    @cached_property
    def root_of_facts(self) -> Path:
        """The folder that the paths of facts are relative to: the project's root, which may lie above `root`."""
        return self.root if self.only is not None else find_root([self.root])

    def may_be_configured_in(self, file: Path) -> bool:
        """Whether a file is one in which the project's settings may stand, also above `root`."""
        return self.only is None and is_configuration(file.name) and file.parent == self.root_of_facts

    # -- the protocol's side

    def open(self, path: str, document: Document) -> None:
        """A document was opened or edited."""
        with self._lock:
            # Of a file that came without notice nothing is known yet; one that is left out is looked for in vain.
            is_new = path not in self._documents and not self._knows(path)
            self._documents[path] = document
            self._note({path}, anew=is_new)

    def close(self, path: str) -> None:
        """A document was closed: the file on disk counts again."""
        with self._lock:
            if self._documents.pop(path, None) is not None:
                is_gone = not is_configuration(path) and not os.path.exists(self.root_of_facts / path)
                self._note({path}, anew=is_gone)

    def change(self, paths: Iterable[str] = (), *, anew: bool = False) -> None:
        """Files have changed on disk; `anew` where files came, went, or the configuration changed."""
        with self._lock:
            self._note(set(paths), anew=anew)

    def configure(self, settings: ClientSettings, *, trusted: bool) -> None:
        """The editor's settings have changed."""
        with self._lock:
            self.settings, self.trusted = settings, trusted
            self._note(set(), anew=True)

    def set_reading(self, reading: Reading | None) -> None:
        """The installed torch was read."""
        with self._lock:
            self._reading = reading
            self._note(set(), anew=False)

    @property
    def is_due(self) -> bool:
        """Whether the snapshot is behind."""
        return self.snapshot is None or self.snapshot.revision != self.revision

    def document(self, path: str) -> Document | None:
        """What is open at a path."""
        with self._lock:
            return self._documents.get(path)

    @property
    def documents(self) -> dict[str, Document]:
        """All that is open, by path."""
        with self._lock:
            return dict(self._documents)

    def _knows(self, path: str) -> bool:
        """Whether a file was there when all was looked at last, or has no facts."""
        if is_configuration(path):
            return True
        tree = self.snapshot.project.tree if self.snapshot else None
        return tree is not None and any(path in listed for listed in (tree.cpp, tree.python, tree.build))

    def holds(self, folder: str) -> bool:
        """Whether files that were read are in a folder, given as facts write it."""
        tree = self.snapshot.project.tree if self.snapshot else None
        listed = (*tree.cpp, *tree.python, *tree.build) if tree else ()
        return any(path.startswith(f"{folder}/") for path in listed)

    def _note(self, paths: set[str], *, anew: bool) -> None:
        self._changed |= paths
        self._anew |= anew
        self.revision += 1

    # -- the engine's side

    def compute(self, pool: Pool) -> Snapshot:
        """The next snapshot. Raises Cancelled when something changes meanwhile; nothing is lost then."""
        with self._lock:
            wanted = Wanted(
                self.revision,
                dict(self._documents),
                frozenset(self._changed),
                self._anew or self._kept is None,
                self.settings,
                self._reading,
            )
        with without_collector():  # facts and findings are trees, and a torch with its 3,000 operators is in memory
            kept = self._kept or _Kept(self._project(wanted), self.packs)
            kept = kept.following(wanted, self._project, lambda: self.revision == wanted.revision, pool)
            snapshot = kept.snapshot(wanted, lambda: self.revision == wanted.revision)
        with self._lock:
            if self.revision != wanted.revision:
                raise Cancelled
            self._changed, self._anew = set(), False
            self._kept, self.snapshot = kept, snapshot
        return snapshot

    def read_torch(self) -> Reading | None:
        """The torch that the sources are held against. Takes seconds, in a process of its own."""
        project = self._kept.project if self._kept else self._project(None)
        return project.read_torch(editor=self.settings.interpreter, trusted=self.trusted)

    def _project(self, wanted: Wanted | None) -> Project:
        settings = wanted.settings if wanted else self.settings
        documents = wanted.documents if wanted else {}
        if self.only is not None:
            is_cpp = language_of(self.only) is Language.CPP
            tree = SourceTree(str(self.root), (self.only,) if is_cpp else (), () if is_cpp else (self.only,))
            project = Project(self.root, Configuration(), tree)
        else:
            project = open_project([self.root], overrides=settings.overrides)
        tree = _with_new(project.tree, project.root, documents)
        return msgspec.structs.replace(project, tree=tree, buffers=_buffers(tree, documents))


def _buffers(tree: SourceTree, documents: Mapping[str, Document]) -> dict[str, bytes]:
    """What is open of the project's files."""
    known = {*tree.cpp, *tree.python, *tree.build, *CONFIGURATION_NAMES}
    return {path: document.data for path, document in documents.items() if path in known}


def _with_new(tree: SourceTree, root: Path, documents: Mapping[str, Document]) -> SourceTree:
    """The tree with the documents that are not on disk yet. What is there and excluded stays excluded."""
    new = [path for path in documents if not os.path.exists(root / path)]
    files = {
        field: tuple(sorted({*listed, *(path for path in new if language_of(path) is language)}))
        for field, language, listed in (("cpp", Language.CPP, tree.cpp), ("python", Language.PYTHON, tree.python))
    }
    build = tuple(sorted({*tree.build, *filter(is_build_file, new)}))
    return msgspec.structs.replace(tree, **files, build=build)


class _Memory:
    """Facts by key, in front of the cache on disk. Of a buffer that differs from its file nothing goes to disk."""

    def __init__(self, disk: FactsCache) -> None:
        self._disk = disk
        self._found: dict[str, tuple[str, FileFacts]] = {}
        self.buffers: Mapping[str, bytes] = {}

    def get(self, path: str, key: str) -> FileFacts | None:
        kept_key, facts = self._found.get(path, ("", None))
        if kept_key == key:
            return facts
        facts = self._disk.get(path, key)
        if facts is not None:
            self._found[path] = (key, facts)
        return facts

    def put(self, path: str, key: str, found: FileFacts) -> None:
        self._found[path] = (key, found)
        if path not in self.buffers:
            self._disk.put(path, key, found)

    def prune(self) -> None:
        self._disk.prune()


class _Kept:
    """What the engine keeps of a workspace between snapshots."""

    def __init__(self, project: Project, packs: Packs) -> None:
        self.project = project
        self._packs = packs
        self._memory = _Memory(FactsCache(project.cache_folder))
        self._cpp: CppReader | None = None
        self._facts: dict[str, FileFacts] = {}
        self._macros: tuple[frozenset[str], tuple[MacroSearch, ...]] = (frozenset(), ())
        self._build = KeptGraph()

    def following(
        self,
        wanted: Wanted,
        open_again: Callable[[Wanted], Project],
        is_wanted: Callable[[], bool],
        pool: Pool,
    ) -> _Kept:
        """The same after the changes in `wanted`; this one stays as it is."""

        def read(function: ReadFile, tasks: list[Task]) -> Iterable[tuple[str, FileFacts]]:
            return pool.read(function, tasks, is_wanted)

        after = _Kept(self.project, self._packs)
        after._memory, after._macros, after._build = self._memory, self._macros, self._build
        if wanted.anew or self._cpp is None:
            after._read_everything(open_again(wanted), None, read)
            after._macros = (frozenset(), ())
            return after
        tree = self.project.tree
        known = {*tree.cpp, *tree.python}
        buffers = _buffers(tree, wanted.documents)
        project = msgspec.structs.replace(self.project, buffers=buffers)
        cpp = self._cpp
        for path in wanted.changed & set(tree.cpp):
            cpp = cpp.edited(path, buffers.get(path))
        moved = set(cpp.candidates()) ^ set(self._cpp.candidates())
        if cpp.macros != self._cpp.macros or not moved <= wanted.changed:
            after._read_everything(project, cpp, read)
        else:
            after._read_some(project, cpp, self._facts, wanted.changed & known, read)
        return after

    def _readers(self, cpp: CppReader) -> Readers:
        project = self.project
        options = python.PythonOptions(project.settings.wrappers)
        return Readers(Path(project.tree.root), cpp, options, project.buffers)

    def _read_everything(
        self,
        project: Project,
        cpp: CppReader | None,
        read: Callable[[ReadFile, list[Task]], Iterable[tuple[str, FileFacts]]],
    ) -> None:
        self.project = project
        self._memory.buffers = project.buffers
        root, tree = Path(project.tree.root), project.tree
        self._cpp = cpp or CppReader(root, tree.cpp, cpp_options(project.settings), project.buffers)
        analysis = read_facts(self._readers(self._cpp), tree, read, self._memory)
        self._facts = {facts.path: facts for facts in analysis.files}

    def _read_some(
        self,
        project: Project,
        cpp: CppReader,
        facts: Mapping[str, FileFacts],
        changed: frozenset[str],
        read: Callable[[ReadFile, list[Task]], Iterable[tuple[str, FileFacts]]],
    ) -> None:
        self.project, self._cpp = project, cpp
        readers = self._readers(cpp)
        including = {path for path, found in facts.items() if any(each.path in changed for each in found.includes)}
        stale = changed | including
        self._facts = {path: found for path, found in facts.items() if path not in stale}
        tasks: list[Task] = []
        for path in sorted(stale):
            data = readers.content(path)
            if data is None or readers.is_candidate(path, data):
                tasks.append((path, data))
            else:
                self._facts.update((found.path, found) for found in readers.imports(path, data))
        self._facts.update(read(Rereading(readers), tasks))

    def snapshot(self, wanted: Wanted, is_wanted: Callable[[], bool]) -> Snapshot:
        """The rules asked. Raises Cancelled."""

        def proceed() -> None:
            if not is_wanted():
                raise Cancelled

        proceed()
        project = self.project
        options = python.PythonOptions(project.settings.wrappers)
        files = linked([self._facts[path] for path in sorted(self._facts)], options)
        build = project.read_build(files, self._build)
        program = program_of(files, wanted.reading, project.settings, self._search(files), build)
        rules = self._packs.rules
        selected = selected_rules(rules, project.settings.selectors, wanted.settings.selectors)
        noted = build.problems if build else ()
        typed = self._typed_configuration(project)
        baseline, unread = self._baseline(typed)
        problems = (*typed.problems, *project.tree.problems, *noted, *selector_problems(typed, rules), *unread)
        checked = check(program, selected, rules, problems, proceed)
        checked = msgspec.structs.replace(checked, findings=baseline.uncovered(checked.findings))
        documents = {path: document for path, document in wanted.documents.items() if path in project.buffers}
        return Snapshot(
            wanted.revision, project, program, checked, documents, wanted.reading, self._packs, wanted.settings,
            typed.path,
        )  # fmt: skip

    def _typed_configuration(self, project: Project) -> Configuration:
        """The configuration as it is typed: its faults are shown at once, what it says is in force when it is saved."""
        if project.buffers.keys().isdisjoint(CONFIGURATION_NAMES):
            return project.configuration
        return load_configuration(project.root, buffers=project.buffers)

    def _baseline(self, typed: Configuration) -> tuple[Baseline, tuple[Problem, ...]]:
        """The configured baseline, an empty one where there is none; and why it cannot be used."""
        project = self.project
        file = configured_baseline(project.root, project.settings)
        if file is None:
            return Baseline(Path()), ()
        try:
            return read_baseline(file), ()
        except (FileNotFoundError, BaselineError) as error:
            words = f"there is no baseline {file}" if isinstance(error, FileNotFoundError) else str(error)
            place = typed.places.get("baseline", project.configuration.places["baseline"])
            return Baseline(file), (Problem("configuration", words, place),)

    def _search(self, files: tuple[FileFacts, ...]) -> tuple[MacroSearch, ...]:
        names = frozenset(unit.namespace_macro for file in files for unit in file.units if unit.namespace_macro)
        if names != self._macros[0]:
            self._macros = (names, search_macros(self.project.root, files))
        return self._macros[1]
