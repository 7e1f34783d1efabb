"""An editor with the capabilities of a real one, driven by pytest-lsp."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from op_lint.text import SourceText

SNAPSHOT = {"torchVersion": "2.13.0"}
"""A torch that is always there and never asked twice."""

EDITORS = ("visual_studio_code", "neovim")


def capabilities(name: str) -> types.ClientCapabilities:
    return client_capabilities(name)


class Editor:
    """One folder open in an editor."""

    def __init__(self, client: LanguageClient, root: Path, answer: types.InitializeResult) -> None:
        self.client = client
        self.root = root
        self.answer = answer
        self.encoding = str(answer.capabilities.position_encoding)
        self._versions: dict[str, int] = {}
        self._texts: dict[str, str] = {}

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def text(self, path: str) -> str:
        return self._texts[path] if path in self._texts else (self.root / path).read_text("utf-8")

    def open(self, path: str, text: str | None = None, language: str = "cpp") -> None:
        self._texts[path] = self.text(path) if text is None else text
        self._versions[path] = 1
        item = types.TextDocumentItem(self.uri(path), language, 1, self._texts[path])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def close(self, path: str) -> None:
        del self._texts[path]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.identifier(path)))

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace the first `old` by an incremental edit."""
        text = self._texts[path]
        start = text.index(old)
        where = types.Range(self.position(path, start), self.position(path, start + len(old)))
        self._texts[path] = text[:start] + new + text[start + len(old) :]
        self._versions[path] += 1
        identifier = types.VersionedTextDocumentIdentifier(self._versions[path], self.uri(path))
        change = types.TextDocumentContentChangePartial(where, new)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def edits(self, edit: types.WorkspaceEdit | None) -> dict[str, list[types.TextEdit]]:
        """The edits of each file."""
        assert edit is not None
        found: dict[str, list[types.TextEdit]] = {}
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            path = change.text_document.uri.removeprefix(self.root.as_uri() + "/")
            found[path] = [each for each in change.edits if isinstance(each, types.TextEdit)]
        for uri, made in (edit.changes or {}).items():
            found[uri.removeprefix(self.root.as_uri() + "/")] = list(made)
        return found

    def apply(self, edit: types.WorkspaceEdit | None) -> None:
        """Make the edits, as an editor does: from the last to the first of each file that is open."""
        for path, made in self.edits(edit).items():
            for each in sorted(
                made, key=lambda each: (each.range.start.line, each.range.start.character), reverse=True
            ):
                data = self._texts[path].encode()
                source = SourceText(data)
                start, end = (
                    source.offset_of(where.line, where.character, self.encoding)
                    for where in (each.range.start, each.range.end)
                )
                self._texts[path] = (data[:start] + each.new_text.encode() + data[end:]).decode()
                self._versions[path] += 1
                identifier = types.VersionedTextDocumentIdentifier(self._versions[path], self.uri(path))
                change = types.TextDocumentContentChangePartial(each.range, each.new_text)
                self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def position(self, path: str, index: int) -> types.Position:
        """Character `index` of a text, in the units that the server chose."""
        data = self.text(path)
        source = SourceText(data.encode())
        return types.Position(*source.line_units(len(data[:index].encode()), self.encoding))

    def at(self, path: str, words: str) -> dict[str, Any]:
        """The document and the position of the `|` in `words`, which must stand once in the text."""
        before, _, after = words.partition("|")
        text = self.text(path)
        assert text.count(before + after) >= 1, words
        index = text.index(before + after) + len(before)
        return {"text_document": self.identifier(path), "position": self.position(path, index)}

    def whole(self, path: str) -> types.Range:
        text = self.text(path)
        return types.Range(types.Position(0, 0), self.position(path, len(text)))

    def identifier(self, path: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(path))

    async def settled(self, path: str) -> list[types.Diagnostic]:
        """The diagnostics of a document when the server has seen all that was typed."""
        await self.client.text_document_document_symbol_async(types.DocumentSymbolParams(self.identifier(path)))
        return list(self.client.diagnostics.get(self.uri(path), ()))

    def words(self, location: types.Location) -> str:
        """The text that a location is about, with its file."""
        path = location.uri.removeprefix(self.root.as_uri() + "/")
        data = self.text(path).encode()
        source = SourceText(data)
        start, end = (
            source.offset_of(each.line, each.character, self.encoding)
            for each in (location.range.start, location.range.end)
        )
        return f"{path}:{location.range.start.line + 1} {data[start:end].decode()}"

    async def hover(self, path: str, words: str) -> str:
        found = await self.client.text_document_hover_async(types.HoverParams(**self.at(path, words)))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def complete(self, path: str, words: str) -> list[str]:
        found = await self.client.text_document_completion_async(types.CompletionParams(**self.at(path, words)))
        if found is None:
            return []
        assert isinstance(found, types.CompletionList)
        return [item.label for item in found.items]


@asynccontextmanager
async def editor(
    root: Path, wants: types.ClientCapabilities | str = "visual_studio_code", **options: Any
) -> AsyncIterator[Editor]:
    """Start the server, open a folder, and shut both down."""
    client = make_test_lsp_client()
    await client.start_io(sys.executable, "-m", "op_lint", "server")
    answer = await client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities(wants) if isinstance(wants, str) else wants,
            workspace_folders=[types.WorkspaceFolder(root.as_uri(), root.name)],
            initialization_options={"settings": SNAPSHOT, **options},
        )
    )
    try:
        yield Editor(client, root, answer)
    finally:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]
