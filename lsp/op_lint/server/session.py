"""What the server knows: the open documents, the workspaces they belong to, and who must be told of a change."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from op_lint.files import (
    CONFIGURATION_NAMES,
    find_root,
    is_build_file,
    is_configuration,
    language_of,
    relative_path,
)
from op_lint.packs import Packs
from op_lint.server.documents import Change, Document, changed, encoded
from op_lint.server.engine import Done, Engine
from op_lint.server.pool import Pool
from op_lint.server.settings import ClientSettings
from op_lint.server.uris import path_of, uri_of
from op_lint.server.workspace import Workspace

_ROOT_MARKERS = (*CONFIGURATION_NAMES, ".git")

_SUFFIXES = {
    "c": ".h", "cpp": ".cpp", "cuda-cpp": ".cu", "cuda": ".cu", "hip": ".hip", "objective-cpp": ".mm", "objcpp": ".mm",
    "python": ".py",
}  # fmt: skip
"""The suffix that a document without a file gets for its language."""

_REREAD = frozenset({".gitignore", "compile_commands.json", "build.ninja", *CONFIGURATION_NAMES})
"""Files that may change what the others mean, or which files there are."""


class Session:
    """Routes what the client says to workspaces. Used by the protocol's thread only."""

    def __init__(self, packs: Packs, pool: Pool, done: Done) -> None:
        self._packs = packs
        self._engine = Engine(pool, done)
        self._documents: dict[str, tuple[Document, Workspace | None, str]] = {}
        self._folders: dict[Path, Workspace] = {}
        self._others: dict[tuple[Path, str | None], Workspace] = {}
        self._settings: dict[Path | None, ClientSettings] = {None: ClientSettings()}
        self.encoding = "utf-16"
        self.is_trusted = True

    # -- life

    def start(self, folders: Iterable[Path]) -> None:
        """Begin with the workspace's folders."""
        for folder in folders:
            self.add_folder(folder)
        self._engine.start()

    def close(self) -> None:
        """End everything that was started."""
        self._engine.close()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The worker processes that there are now."""
        return self._engine.process_ids

    @property
    def workspaces(self) -> tuple[Workspace, ...]:
        """All workspaces, those of the folders first."""
        return (*self._folders.values(), *self._others.values())

    def add_folder(self, folder: Path) -> None:
        """A folder was added to the workspace."""
        if folder not in self._folders:
            self._folders[folder] = Workspace(folder, self._packs, self._settings_of(folder), trusted=self.is_trusted)
            self._route_again()

    def remove_folder(self, folder: Path) -> None:
        """A folder was taken out of the workspace."""
        if self._folders.pop(folder, None):
            self._route_again()

    def configure(self, settings: ClientSettings, folder: Path | None = None) -> None:
        """The settings of a folder, or those of all that have none of their own, are now these."""
        self._settings[folder] = settings
        for workspace in self.workspaces:
            wanted = self._settings_of(workspace.root)
            if wanted != workspace.settings:
                workspace.configure(wanted, trusted=self.is_trusted)
        self._engine.look()

    def trust(self, is_trusted: bool) -> None:
        """The client says whether what the workspace names may be run."""
        self.is_trusted = is_trusted
        for workspace in self.workspaces:
            workspace.configure(workspace.settings, trusted=is_trusted)
        self._engine.look()

    def restart(self) -> None:
        """Look at everything anew."""
        for workspace in self.workspaces:
            workspace.change(anew=True)
        self._engine.look()

    def look(self) -> None:
        """A workspace has changed by itself: its torch was read."""
        self._engine.look()

    # -- documents

    def open(self, uri: str, language_id: str, version: int, text: str) -> None:
        """A document was opened."""
        self._put(Document(uri, language_id, version, encoded(text)))

    def edit(self, uri: str, version: int, changes: Sequence[Change]) -> None:
        """A document was edited. One that is not open is ignored: the client is wrong, and will open it."""
        known = self._documents.get(uri)
        if known is not None:
            document = known[0]
            data = changed(document.data, changes, self.encoding)
            self._put(Document(uri, document.language_id, version, data))

    def shut(self, uri: str) -> None:
        """A document was closed."""
        _, workspace, path = self._documents.pop(uri, (None, None, ""))
        if workspace is None:
            return
        workspace.close(path)
        if workspace in self._others.values() and not workspace.documents:
            self._others = {key: each for key, each in self._others.items() if each is not workspace}
            self._engine.set_workspaces(list(self.workspaces))
        self._engine.look()

    def document(self, uri: str) -> Document | None:
        """An open document."""
        known = self._documents.get(uri)
        return known[0] if known else None

    def is_open(self, workspace: Workspace, path: str) -> bool:
        """Whether a file is open in the editor."""
        return workspace.document(path) is not None

    def locate(self, uri: str) -> tuple[Workspace, str] | None:
        """The workspace of a document, and its path there; None for what op-lint does not read."""
        known = self._documents.get(uri)
        if known is not None:
            return (known[1], known[2]) if known[1] else None
        path = path_of(uri)
        return self._place_of(path) if path else None

    def uri(self, workspace: Workspace, path: str) -> str:
        """The URI of a file, as the client writes it where it has it open."""
        document = workspace.document(path)
        return document.uri if document else uri_of(workspace.root_of_facts / path)

    def files_changed(self, uris: Iterable[tuple[str, bool]]) -> None:
        """Files have changed on disk; the flag says whether one came or went, a folder with all in it possibly."""
        changed_in: dict[Workspace, set[str]] = {}
        anew: set[Workspace] = set()
        for uri, came_or_went in uris:
            path = path_of(uri)
            located = self._place_of(path, any_file=True) if path else None
            if path is None or located is None:
                continue
            workspace, relative = located
            if self.is_open(workspace, relative) and not is_configuration(relative):
                continue  # the editor's text counts, and the editor tells when that changes; settings are saved first
            is_read = language_of(relative) is not None or is_build_file(relative)
            if os.path.basename(relative) in _REREAD or (
                came_or_went and (is_read or os.path.isdir(path) or workspace.holds(relative))
            ):
                anew.add(workspace)
            elif is_read:
                changed_in.setdefault(workspace, set()).add(relative)
        for workspace in {*changed_in, *anew}:
            workspace.change(changed_in.get(workspace, ()), anew=workspace in anew)
        self._engine.look()

    def _put(self, document: Document) -> None:
        known = self._documents.get(document.uri)
        workspace, path = known[1:] if known else self._route(document)
        self._documents[document.uri] = (document, workspace, path)
        if workspace is not None:
            workspace.open(path, document)
            first = [workspace, *(each for each in self.workspaces if each is not workspace)]
            self._engine.set_workspaces(first)

    def _route(self, document: Document) -> tuple[Workspace | None, str]:
        path = path_of(document.uri)
        if path is None:
            suffix = _SUFFIXES.get(document.language_id)
            if suffix is None:
                return None, ""
            name = "untitled-" + hashlib.blake2b(document.uri.encode(), digest_size=4).hexdigest() + suffix
            return self._other(Path.cwd(), name), name
        return self._place_of(path) or self._beside(path)

    def _place_of(self, path: Path, *, any_file: bool = False) -> tuple[Workspace, str] | None:
        """The innermost of the known workspaces that holds a file."""
        if not any_file and not _is_document(path.name):
            return None
        around = [
            each
            for each in self.workspaces
            if each.only is None and (path.is_relative_to(each.root) or each.may_be_configured_in(path))
        ]
        around += [each for each in self.workspaces if each.only is not None and each.root / each.only == path]
        if not around:
            return None
        workspace = max(around, key=lambda each: (each.only is not None, len(each.root.parts)))
        return workspace, relative_path(path, workspace.root_of_facts)

    def _beside(self, path: Path) -> tuple[Workspace | None, str]:
        """A workspace for a file outside all folders: its project, or itself alone where it is in none."""
        if not _is_document(path.name):
            return None, ""
        root = find_root([path])
        if any(os.path.exists(root / marker) for marker in _ROOT_MARKERS):
            return self._other(root, None), relative_path(path, root)
        if language_of(path.name) is None:
            return None, ""  # a build file of no project
        return self._other(path.parent, path.name), path.name

    def _other(self, root: Path, only: str | None) -> Workspace:
        key = (root, only)
        if key not in self._others:
            self._others[key] = Workspace(
                root, self._packs, self._settings_of(root), only=only, trusted=self.is_trusted and only is None
            )
        return self._others[key]

    def _route_again(self) -> None:
        """The folders have changed: every open document finds its workspace anew."""
        for uri, (document, workspace, path) in list(self._documents.items()):
            if workspace is not None:
                workspace.close(path)
            del self._documents[uri]
            self._put(document)
        self._engine.set_workspaces(list(self.workspaces))

    def _settings_of(self, folder: Path) -> ClientSettings:
        return self._settings.get(folder, self._settings[None])


def _is_document(name: str) -> bool:
    """Whether op-lint has anything to say of a file with this name."""
    return language_of(name) is not None or is_build_file(name) or is_configuration(name)
