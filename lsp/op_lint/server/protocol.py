"""From op-lint's values to the protocol's, and back. Positions are converted here and nowhere else."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from lsprotocol import types

from op_lint.documentation import page_url
from op_lint.facts import Place
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.fixes import fitted
from op_lint.server.code_actions import Action
from op_lint.server.documents import Change
from op_lint.server.locations import Locate
from op_lint.server.session import Session
from op_lint.server.snapshot import Snapshot
from op_lint.server.workspace import Workspace
from op_lint.text import SourceText

SOURCE = "op-lint"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.HINT: types.DiagnosticSeverity.Information,
}


def _data(finding: Finding) -> dict[str, Any]:
    """What a diagnostic carries for clients and tests."""
    return {
        "name": finding.name,
        "fix": _offer(finding.fix) if finding.fix else None,
        "alternatives": [_offer(each) for each in finding.alternatives],
    }


def _offer(fix: Fix) -> dict[str, Any]:
    return {"title": fix.title, "safe": fix.safe}


def position(text: SourceText, offset: int, encoding: str) -> types.Position:
    """Byte `offset` as a position; what lies behind the text is its end."""
    return types.Position(*text.line_units(min(offset, len(text.data)), encoding))


def span(text: SourceText, start: int, end: int, encoding: str) -> types.Range:
    """Bytes `start` to `end` as a range."""
    return types.Range(position(text, start, encoding), position(text, end, encoding))


def offset_of(text: SourceText, where: types.Position, encoding: str) -> int:
    """The byte that a position means, clamped to its line."""
    return text.offset_of(where.line, where.character, encoding)


def changes_of(params: types.DidChangeTextDocumentParams) -> list[Change]:
    """The edits of a notification."""
    changes = []
    for change in params.content_changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = change.range.start, change.range.end
            changes.append(Change(change.text, (start.line, start.character), (end.line, end.character)))
        else:
            changes.append(Change(change.text))
    return changes


class View:
    """One workspace at one moment, as the client sees it."""

    def __init__(self, session: Session, workspace: Workspace, snapshot: Snapshot, client: types.ClientCapabilities):
        self.session = session
        self.workspace = workspace
        self.snapshot = snapshot
        self.client = client
        self.encoding = session.encoding

    def uri(self, path: str) -> str:
        """The URI of a file."""
        return self.session.uri(self.workspace, path)

    def range(self, place: Place) -> types.Range:
        """A place as a range of its file; in a file that is gone, the line that the place names."""
        text = self.snapshot.text(place.path)
        if place.end > len(text.data):
            line = max(0, place.line - 1)
            return types.Range(types.Position(line, 0), types.Position(line, 0))
        if place.path not in self.snapshot.documents and text.data.startswith(BOM_UTF8):
            mark = len(BOM_UTF8)  # of a file on disk; what an editor makes of it starts behind the mark
            behind = SourceText(text.data[mark:])
            return span(behind, max(0, place.start - mark), max(0, place.end - mark), self.encoding)
        return span(text, place.start, place.end, self.encoding)

    def location(self, place: Place) -> types.Location:
        """A place as a location."""
        return types.Location(self.uri(place.path), self.range(place))

    def locations(self, places: Iterable[Place]) -> list[types.Location]:
        """Places as locations, each once, in order."""
        return [self.location(place) for place in dict.fromkeys(places)]

    @property
    def locate(self) -> Locate:
        """Places as plain JSON, for the answers to commands."""
        return _Locations(self)

    def link(self, place: Place) -> str:
        """A place as the target of a Markdown link."""
        start = self.range(place).start
        return f"{self.uri(place.path)}#L{start.line + 1}"

    def diagnostic(self, finding: Finding) -> types.Diagnostic:
        """A finding as a diagnostic."""
        return self._diagnostic(
            finding, finding.place, "\n".join((finding.message, *finding.notes)), _SEVERITIES[finding.severity],
            finding.related,
        )  # fmt: skip

    def mark(self, finding: Finding, related: Related) -> types.Diagnostic:
        """Another place of a finding as a diagnostic that only informs and leads to the finding."""
        message = f"{related.message}\n{finding.message}"
        back = (Related(finding.place, finding.message),)
        made = self._diagnostic(finding, related.place, message, types.DiagnosticSeverity.Information, back)
        made.data = {**_data(finding), "mark": True}
        return made

    def _diagnostic(
        self,
        finding: Finding,
        place: Place,
        message: str,
        severity: types.DiagnosticSeverity,
        others: Iterable[Related],
    ) -> types.Diagnostic:
        document = self.client.text_document
        wants = (document.publish_diagnostics if document else None) or types.PublishDiagnosticsClientCapabilities()
        url = self._pages.get(finding.code)
        related = [types.DiagnosticRelatedInformation(self.location(each.place), each.message) for each in others]
        return types.Diagnostic(
            range=self.range(place),
            message=message,
            severity=severity,
            code=finding.code,
            code_description=types.CodeDescription(url) if url else None,
            source=SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if finding.name.startswith("unused-") else None,
            related_information=related if related and wants.related_information is not False else None,
            data=_data(finding),
        )

    @cached_property
    def _pages(self) -> dict[str, str | None]:
        """The pages of the rules that found anything, by code."""
        packs = self.snapshot.packs
        found = {finding.code for finding in self.snapshot.checked.findings}
        return {rule.code: page_url(rule, packs.sources[rule.code]) for rule in packs.rules if rule.code in found}

    def diagnostics(self, path: str) -> list[types.Diagnostic]:
        """The diagnostics of one file."""
        own = (self.diagnostic(finding) for finding in self.snapshot.findings.get(path, ()))
        return [*own, *(self.mark(*mark) for mark in self.snapshot.marks.get(path, ()))]

    def workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        """Edits as a change of the workspace, bound to the versions that they were made for where the client can."""
        by_path: dict[str, list[types.TextEdit]] = {}
        for each in edits:
            edit = fitted(self.snapshot.text(each.place.path), each)
            by_path.setdefault(edit.place.path, []).append(types.TextEdit(self.range(edit.place), edit.text))
        workspace = self.client.workspace
        capable = workspace.workspace_edit if workspace else None
        if not (capable and capable.document_changes):
            return types.WorkspaceEdit(changes={self.uri(path): made for path, made in by_path.items()})
        changes: list[Any] = []
        for path, made in by_path.items():
            document = self.snapshot.documents.get(path)
            version = document.version if document else None
            identifier = types.OptionalVersionedTextDocumentIdentifier(self.uri(path), version)
            changes.append(types.TextDocumentEdit(identifier, list(made)))
        return types.WorkspaceEdit(document_changes=changes)

    def code_action(self, action: Action, given: Sequence[types.Diagnostic]) -> types.CodeAction:
        """An action, with those of the client's diagnostics that it mends."""
        finding = action.finding
        mended = [each for each in given if finding and each.code == finding.code] if finding else []
        return types.CodeAction(
            title=action.title,
            kind=action.kind,
            diagnostics=mended or None,
            edit=self.workspace_edit(action.edits),
            is_preferred=action.preferred or None,
        )


class _Locations:
    """Locations as JSON. Only files of the workspace have one: torch names its own as they were when it was built."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known = {file.path for file in view.snapshot.program.files}

    def __call__(self, place: Place) -> dict[str, Any]:
        return _json_location(self._view.location(place))

    def line(self, path: str, line: int) -> dict[str, Any] | None:
        if path not in self._known:
            return None
        start = types.Position(max(0, line - 1), 0)
        return _json_location(types.Location(self._view.uri(path), types.Range(start, start)))


def _json_location(location: types.Location) -> dict[str, Any]:
    return {
        "uri": location.uri,
        "range": {
            name: {"line": each.line, "character": each.character}
            for name, each in (("start", location.range.start), ("end", location.range.end))
        },
    }
