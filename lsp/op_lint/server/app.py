"""The server itself: its life, the documents, diagnostics. Requests about positions are in `requests`."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import sys
import threading
import traceback
import uuid
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from op_lint.installed.child import end_probes
from op_lint.installed.reader import Reading
from op_lint.packs import load_packs
from op_lint.server import requests
from op_lint.server.pool import Pool
from op_lint.server.protocol import View, changes_of
from op_lint.server.session import Session
from op_lint.server.settings import ClientSettings, client_settings
from op_lint.server.snapshot import Snapshot
from op_lint.server.uris import path_of
from op_lint.server.workspace import Workspace
from op_lint.version import VERSION

SECTION = "op-lint"

_PATIENCE = 30.0
"""Seconds that a request waits for a snapshot that knows the latest edit."""

_WATCHED = "**/*.{cpp,cc,cxx,c++,cp,cppm,ixx,mm,cu,cuh,hip,h,hpp,hh,hxx,h++,inc,inl,ipp,tcc,tpp,txx,py}"
_WATCHED_BUILD = (
    "**/{pyproject.toml,op-lint.toml,.gitignore,compile_commands.json,build.ninja,CMakeLists.txt,*.cmake,BUCK,TARGETS,BUILD,"
    "*.bazel,*.bzl}"
)

_ANY_FILE = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(types.FileOperationPattern("**"), scheme="file")]
)

_log = logging.getLogger("op_lint.server")


class _Protocol(LanguageServerProtocol):
    """Without pygls's own copy of the documents: it splits lines where the protocol does not."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A request that cannot be understood is answered, too: pygls would leave its client waiting."""
        try:
            return super().structure_message(data)
        except JsonRpcException:
            if "id" in data and "method" in data:
                words = f"the parameters of {data['method']} are not what the protocol says"
                self._send_response(data["id"], error=JsonRpcInvalidParams(words).to_response_error())
            raise

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class Server(LanguageServer):
    """op-lint for one client."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(SECTION, VERSION, protocol_cls=_Protocol, max_workers=2)
        self.packs = load_packs()
        self.session = Session(self.packs, pool, self._done)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiters: list[tuple[Workspace, int, asyncio.Future[None]]] = []
        self._published: dict[str, bytes] = {}
        self._pulled: dict[str, str] = {}
        self._torch_asked: dict[Workspace, tuple[Any, ...]] = {}
        self._torch_reads = 0
        self._torch_is_known = asyncio.Event()
        self._torch_is_known.set()
        self._told: dict[Workspace, int] = {}
        self._shown_with: dict[Workspace, tuple[Reading | None, ClientSettings | None]] = {}
        self._says_status = False
        self.pulls = False
        self.is_shut_down = False

    def report_server_error(self, error: Exception, source: Any) -> None:
        """To the log: what a user cannot mend is no reason for a popup."""
        if source is not FeatureRequestError:  # that is answered, and pygls has logged it
            traceback.print_exception(error)

    # -- life

    def begin(self, params: types.InitializeParams) -> None:
        """Take in what the client can do and wants."""
        self._loop = asyncio.get_running_loop()
        options = params.initialization_options
        options = options if isinstance(options, dict) else {}
        settings, messages = client_settings(options.get("settings", {}))
        for message in messages:
            _log.warning("%s", message)
        self.session.is_trusted = options.get("trusted", True) is not False
        self._says_status = options.get("status") is True
        self.session.configure(settings)
        capabilities = params.capabilities
        workspace, document = capabilities.workspace, capabilities.text_document
        refreshes = workspace.diagnostics.refresh_support if workspace and workspace.diagnostics else False
        self.pulls = bool(document and document.diagnostic and refreshes)
        if self.pulls:
            self.feature(
                types.TEXT_DOCUMENT_DIAGNOSTIC,
                types.DiagnosticOptions(identifier=SECTION, inter_file_dependencies=True, workspace_diagnostics=False),
            )(_pull)
        given = [path_of(folder.uri) for folder in params.workspace_folders or ()]
        if not given and params.root_uri:
            given = [path_of(params.root_uri)]
        folders = [Path(os.path.abspath(folder)) for folder in given if folder]
        self.session.start(folders)

    async def initialized(self) -> None:
        """Ask the client for what it offers: to watch files, to tell of its settings."""
        self.session.encoding = str(self.server_capabilities.position_encoding or "utf-16")
        workspace = self.client_capabilities.workspace
        registrations = []
        if workspace and workspace.did_change_watched_files and workspace.did_change_watched_files.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in (_WATCHED, _WATCHED_BUILD)]
            registrations.append(
                types.Registration(
                    "watch",
                    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                    types.DidChangeWatchedFilesRegistrationOptions(watchers),
                )
            )
        if workspace and workspace.did_change_configuration and workspace.did_change_configuration.dynamic_registration:
            registrations.append(
                types.Registration(
                    "configuration",
                    types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                    types.DidChangeConfigurationRegistrationOptions(section=SECTION),
                )
            )
        if registrations:
            with suppress(JsonRpcException):  # a client that refuses: then nothing is watched
                await asyncio.shield(self.client_register_capability_async(types.RegistrationParams(registrations)))
        await self.ask_configuration()
        self.background(self.show_progress())

    def restart(self) -> None:
        """Look at everything anew, the torch as well, and show it."""
        self._torch_asked.clear()
        self.session.restart()
        self.status()
        self.background(self.show_progress())

    async def show_progress(self) -> None:
        """Show a reading of everything as progress, in clients that can show it."""
        window = self.client_capabilities.window
        if not (window and window.work_done_progress):
            return
        token = f"op-lint {uuid.uuid4()}"
        progress = self.work_done_progress
        with suppress(JsonRpcException):  # a client that refuses shows none
            await asyncio.shield(progress.create_async(token))
            progress.begin(token, types.WorkDoneProgressBegin("op-lint", message="reading the workspace"))
            await self._all_computed()
            if not self._torch_is_known.is_set():
                progress.report(token, types.WorkDoneProgressReport(message="reading the installed torch"))
                await self._torch_is_known.wait()
                await self._all_computed()
            progress.end(token, types.WorkDoneProgressEnd())

    async def _all_computed(self) -> None:
        for workspace in self.session.workspaces:
            await self._computed(workspace)

    async def _computed(self, workspace: Workspace) -> None:
        """Wait until a snapshot knows all that has happened up to now."""
        if self._told.get(workspace) == workspace.revision:
            return
        future = asyncio.get_running_loop().create_future()
        self._waiters.append((workspace, workspace.revision, future))
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(future, _PATIENCE)

    async def ask_configuration(self) -> None:
        """Ask for the settings of each folder, where the client answers that."""
        workspace = self.client_capabilities.workspace
        if not (workspace and workspace.configuration):
            return
        folders = [each.root for each in self.session.workspaces if each.only is None]
        items = [types.ConfigurationItem(scope_uri=folder.as_uri(), section=SECTION) for folder in folders]
        items.append(types.ConfigurationItem(section=SECTION))
        answer = await asyncio.shield(self.workspace_configuration_async(types.ConfigurationParams(items)))
        for folder, values in zip([*folders, None], answer, strict=False):
            if values:
                self.set_configuration(values, folder)

    def set_configuration(self, values: Any, folder: Path | None = None) -> None:
        """Settings came from the client."""
        settings, messages = client_settings(values)
        for message in messages:
            self.window_log_message(types.LogMessageParams(types.MessageType.Warning, message))
        self.session.configure(settings, folder)
        self.status()

    def files_came_or_went(self, uris: Iterable[str]) -> None:
        """Files or folders were created, renamed or deleted in the editor."""
        self.session.files_changed((uri, True) for uri in uris)
        self.status()

    def end(self) -> None:
        """End the engine, its workers and the probes."""
        self.session.close()
        end_probes()

    def background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Let `work` run by itself; how it fails goes to the log."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            traceback.print_exception(error)

    # -- snapshots

    def view(self, workspace: Workspace, snapshot: Snapshot) -> View:
        """A snapshot as the client sees it."""
        return View(self.session, workspace, snapshot, self.client_capabilities)

    async def fresh(self, uri: str) -> tuple[View, str] | None:
        """The view of a document's workspace that knows its latest text, and the document's path there."""
        located = self.session.locate(uri)
        if located is None:
            return None
        workspace, path = located
        await self._computed(workspace)
        snapshot = workspace.snapshot
        return (self.view(workspace, snapshot), path) if snapshot else None

    def latest(self, uri: str) -> tuple[View, str] | None:
        """The view of a document's workspace as it is known now, which may be behind its text."""
        located = self.session.locate(uri)
        snapshot = located[0].snapshot if located else None
        return (self.view(located[0], snapshot), located[1]) if located and snapshot else None

    def _done(self, workspace: Workspace, revision: int, snapshot: Snapshot | None) -> None:
        """A snapshot was made, or could not be; called on the engine's thread."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop has ended: there is nobody to tell any more
                loop.call_soon_threadsafe(self._tell, workspace, revision, snapshot)

    def _tell(self, workspace: Workspace, revision: int, snapshot: Snapshot | None) -> None:
        if snapshot is not None:
            self._read_torch_if_needed(workspace, snapshot)
        waiting = [each for each in self._waiters if each[0] is workspace and each[1] <= revision]
        self._waiters = [each for each in self._waiters if each not in waiting]
        for _, _, future in waiting:
            if not future.done():
                future.set_result(None)
        if workspace not in self.session.workspaces:
            return
        if snapshot is not None and workspace.snapshot is snapshot:
            self.publish(workspace, snapshot)
            if self._says_status:
                changed = {"root": str(snapshot.project.root), "revision": snapshot.revision}
                self.protocol.notify("op-lint/analysisChanged", changed)
        self._told[workspace] = revision
        self.status()

    def publish(self, workspace: Workspace, snapshot: Snapshot) -> None:
        """Push what has changed; where the client pulls, tell it that its open documents are out of date."""
        view = self.view(workspace, snapshot)
        wanted = {view.uri(path): path for path in (*snapshot.findings, *snapshot.marks)}
        mine = {uri for uri in self._published if self._is_in(uri, workspace)}
        is_stale = False
        for uri in sorted({*wanted, *mine, *(document.uri for document in snapshot.documents.values())}):
            path = wanted.get(uri)
            is_open = self.session.document(uri) is not None
            if self.pulls and is_open:
                self._send(uri, [], None)
                known = self._pulled.get(uri)
                is_stale |= known is not None and known != result_id(view.diagnostics(path) if path else [])
                continue
            document = self.session.document(uri)
            self._send(uri, view.diagnostics(path) if path else [], document.version if document else None)
        if is_stale:
            self.workspace_diagnostic_refresh(None)
        self._refresh(workspace, snapshot)

    def _refresh(self, workspace: Workspace, snapshot: Snapshot) -> None:
        """Let the client ask again for what stands in documents that were not edited.

        A code lens speaks of all files; inlay hints speak of their own, and of the torch.
        """
        capable = self.client_capabilities.workspace
        reading, settings = self._shown_with.get(workspace, (None, None))
        is_changed = reading is not snapshot.reading or settings != snapshot.settings
        self._shown_with[workspace] = (snapshot.reading, snapshot.settings)
        takes_lenses = capable and capable.code_lens and capable.code_lens.refresh_support
        takes_hints = capable and capable.inlay_hint and capable.inlay_hint.refresh_support
        if takes_lenses and (is_changed or snapshot.settings.code_lens):
            self.workspace_code_lens_refresh(None)
        if takes_hints and is_changed:
            self.workspace_inlay_hint_refresh(None)

    def withdraw_strays(self) -> None:
        """Take back what was pushed about files that belong to no workspace any more."""
        for uri in list(self._published):
            if not any(self._is_in(uri, workspace) for workspace in self.session.workspaces):
                self.withdraw(uri)

    def withdraw(self, uri: str) -> None:
        """Take back what was pushed about a document: it has moved to pulling, or is no more."""
        self._send(uri, [], None)

    def pulled(self, uri: str, identifier: str) -> None:
        """A client pulled the diagnostics with this identifier."""
        self._pulled[uri] = identifier

    def closed(self, uri: str) -> None:
        """A document was closed."""
        self._pulled.pop(uri, None)

    def _is_in(self, uri: str, workspace: Workspace) -> bool:
        located = self.session.locate(uri)
        if located is not None:
            return located[0] is workspace
        path = path_of(uri)
        return path is not None and path.is_relative_to(workspace.root_of_facts)

    def _send(self, uri: str, diagnostics: list[types.Diagnostic], version: int | None) -> None:
        digest = digest_of(diagnostics)
        if self._published.get(uri, _NOTHING) == digest and (version is None or not diagnostics):
            return
        if diagnostics:
            self._published[uri] = digest
        else:
            self._published.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    # -- the installed torch

    def _read_torch_if_needed(self, workspace: Workspace, snapshot: Snapshot) -> None:
        settings = snapshot.project.settings
        if not any(facts.units or (facts.python and facts.python.uses) for facts in snapshot.program.files):
            return
        chosen = workspace.settings
        asked = (
            settings.torch, settings.torch_version, settings.python, chosen.interpreter, workspace.trusted,
            settings.imports, tuple((path, _written_at(snapshot.project.root / path)) for path in settings.load),
        )  # fmt: skip
        if self._torch_asked.get(workspace) == asked:
            return
        self._torch_asked[workspace] = asked
        self._torch_reads += 1
        self._torch_is_known.clear()
        threading.Thread(target=self._read_torch, args=(workspace,), daemon=True).start()

    def _read_torch(self, workspace: Workspace) -> None:
        try:
            workspace.set_reading(workspace.read_torch())
        finally:
            if self._loop is not None:
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._torch_was_read)

    def _torch_was_read(self) -> None:
        self._torch_reads -= 1
        if self._torch_reads == 0:
            self._torch_is_known.set()
        self.session.look()
        self.status()

    # -- what the server is at

    def status(self) -> None:
        """Tell a client that asked for it (`initializationOptions.status`) whether everything is up to date."""
        if self._says_status:
            behind = (each for each in self.session.workspaces if self._told.get(each) != each.revision)
            is_busy = self._torch_reads > 0 or any(behind)
            self.protocol.notify("op-lint/status", {"busy": is_busy})


def _is_fault(record: logging.LogRecord) -> bool:
    """Whether pygls logs a fault of ours: not that a request could not be answered, which the client was told why."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, JsonRpcException) or isinstance(error, JsonRpcInternalError)


def _written_at(library: Path) -> float:
    """When a library was written, in seconds since the epoch: a new build is loaded anew. 0 where there is none."""
    try:
        return library.stat().st_mtime
    except OSError:
        return 0.0


def digest_of(diagnostics: list[types.Diagnostic]) -> bytes:
    """Names what a list of diagnostics says."""
    said = [
        (*_numbers(each.range), each.severity, each.code, each.message, each.tags, each.data,
         [(*_numbers(other.location.range), other.location.uri, other.message)
          for other in each.related_information or ()])
        for each in diagnostics
    ]  # fmt: skip
    return hashlib.blake2b(repr(said).encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _numbers(where: types.Range) -> tuple[int, int, int, int]:
    return where.start.line, where.start.character, where.end.line, where.end.character


def result_id(diagnostics: list[types.Diagnostic]) -> str:
    """The identifier of a pulled report."""
    return digest_of(diagnostics).hex()


_NOTHING = digest_of([])


async def _pull(server: Server, params: types.DocumentDiagnosticParams) -> Any:
    uri = params.text_document.uri
    found = await server.fresh(uri)
    diagnostics = found[0].diagnostics(found[1]) if found else []
    identifier = result_id(diagnostics)
    server.pulled(uri, identifier)
    if params.previous_result_id == identifier:
        return types.RelatedUnchangedDocumentDiagnosticReport(identifier)
    return types.RelatedFullDocumentDiagnosticReport(diagnostics, result_id=identifier)


def make_server(pool: Pool) -> Server:
    """A server with all its features, that talks to nobody yet."""
    server = Server(pool)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        await server.initialized()

    @server.feature(types.SHUTDOWN)
    def shutdown(_params: Any) -> None:
        server.is_shut_down = True
        server.end()

    @server.feature(types.EXIT)
    def leave(_params: Any) -> None:
        server.end()
        sys.stderr.flush()
        os._exit(0 if server.is_shut_down else 1)  # pygls would wait for a reader of stdin that may never return

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.session.open(document.uri, document.language_id, document.version, document.text)
        if server.pulls:
            server.withdraw(document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        server.session.edit(params.text_document.uri, params.text_document.version, changes_of(params))

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.session.shut(uri)
        server.closed(uri)
        server.withdraw_strays()  # with the last document of a project outside of the folders all of it goes

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        server.session.files_changed(
            (event.uri, event.type is not types.FileChangeType.Changed) for event in params.changes
        )
        server.status()

    # Of a folder that is renamed or deleted in the editor, its watchers may say nothing of the files in it.
    @server.feature(types.WORKSPACE_DID_CREATE_FILES, _ANY_FILE)
    def files_created(params: types.CreateFilesParams) -> None:
        server.files_came_or_went(file.uri for file in params.files)

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, _ANY_FILE)
    def files_renamed(params: types.RenameFilesParams) -> None:
        server.files_came_or_went(uri for file in params.files for uri in (file.old_uri, file.new_uri))

    @server.feature(types.WORKSPACE_DID_DELETE_FILES, _ANY_FILE)
    def files_deleted(params: types.DeleteFilesParams) -> None:
        server.files_came_or_went(file.uri for file in params.files)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.session.files_changed([(params.text_document.uri, False)])

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration_changed(params: types.DidChangeConfigurationParams) -> None:
        workspace = server.client_capabilities.workspace
        if workspace and workspace.configuration:
            await server.ask_configuration()
        elif isinstance(params.settings, dict):
            server.set_configuration(params.settings.get(SECTION, {}))

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            path = path_of(folder.uri)
            if path:
                server.session.remove_folder(path)
        for folder in params.event.added:
            path = path_of(folder.uri)
            if path:
                server.session.add_folder(path)
        server.withdraw_strays()
        server.status()

    @server.feature("op-lint/trust")
    def trust(params: Any) -> None:
        server.session.trust(getattr(params, "trusted", True) is not False)
        server.status()

    requests.register(server)
    return server


def serve(pool: Pool, out: BinaryIO, *, tcp: tuple[str, int] | None = None) -> None:
    """Serve one client: on stdin and `out`, or on a TCP socket. Files are read by `pool`, which this closes."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    logging.getLogger("pygls").setLevel(logging.ERROR)  # it warns of each request that was cancelled too late
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_fault)
    server = make_server(pool)
    try:
        if tcp is not None:
            server.start_tcp(*tcp)
        else:
            server.start_io(sys.stdin.buffer, out)
    finally:
        server.end()
