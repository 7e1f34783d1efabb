"""A language client that is no more than the protocol: for what a well-behaved client would never do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_SECONDS = 120.0
"""How long anything may take before a test gives up: far more than it does."""


class RequestError(Exception):
    """The server's answer was an error."""


class RawClient:
    """Starts a server and talks to it; diagnostics and other notifications are kept as they come."""

    def __init__(self, *arguments: str, cwd: Path | None = None, environment: Mapping[str, str] = {}) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "op_lint", "server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **environment},
        )
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.notifications: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.configuration: dict[str | None, Any] = {}
        """The settings to answer with, by the URI of a folder (None: of all)."""
        self.is_busy: bool | None = None
        self.stderr = b""
        self._answers: dict[int, dict[str, Any]] = {}
        self._count = 0
        self._changed = threading.Condition()
        self._has_ended = False
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._drain)]
        for thread in self._threads:
            thread.start()

    # -- messages

    def send(self, message: Mapping[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self.process.stdin.flush()

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> int:
        """Send a request and do not wait for its answer."""
        self._count += 1
        self.send({"id": self._count, "method": method, "params": params})
        return self._count

    def request(self, method: str, params: Any) -> Any:
        return self.answer(self.ask(method, params))

    def error(self, number: int) -> dict[str, Any] | None:
        """The error that a request was answered with, if it was."""
        self.wait(lambda: number in self._answers)
        error: dict[str, Any] | None = self._answers.pop(number).get("error")
        return error

    def answer(self, number: int) -> Any:
        self.wait(lambda: number in self._answers)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise RequestError(answer["error"])
        return answer["result"]

    def wait(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            held = self._changed.wait_for(lambda: condition() or self._has_ended, _SECONDS)
        assert held, "the server did not do it in time"
        assert condition(), f"the server has ended: {self.stderr.decode(errors='replace')}"

    # -- the life of a client

    def start(self, folders: Sequence[Path], capabilities: Mapping[str, Any] = {}, **options: Any) -> dict[str, Any]:
        """Initialize; `options` are the initialization options, and the server is asked to tell its status."""
        answer = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folders[0].as_uri() if folders else None,
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders],
                "capabilities": capabilities,
                "initializationOptions": {"status": True, **options},
            },
        )
        self.notify("initialized", {})
        result: dict[str, Any] = answer
        return result

    def settle(self) -> None:
        """Wait until everything is read, the torch as well."""
        self.wait(lambda: self.is_busy is False)

    def open(self, file: Path, text: str, language: str = "cpp") -> str:
        uri = file.as_uri()
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def change(self, uri: str, version: int, *changes: Mapping[str, Any]) -> None:
        identifier = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": list(changes)})

    def catch_up(self, uri: str) -> None:
        """Wait until the server has seen the latest text of a document and told what it means."""
        self.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        self.settle()

    def stop(self) -> int:
        """Shut down as one should; the exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(_SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    # -- reading

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not line:
                break
            self._take(json.loads(stream.read(length)))
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        with self._changed:
            if "method" not in message:
                self._answers[message["id"]] = message
            elif "id" in message:
                self.requests.append(message)
                items = (message.get("params") or {}).get("items")
                answers = [self.configuration.get(each.get("scopeUri")) for each in items or ()]
                self.send({"id": message["id"], "result": answers if items is not None else None})
            else:
                self.notifications.append(message)
                params = message["params"]
                if message["method"] == "textDocument/publishDiagnostics":
                    self.diagnostics[params["uri"]] = params["diagnostics"]
                elif message["method"] == "op-lint/status":
                    self.is_busy = params["busy"]
            self._changed.notify_all()

    def _drain(self) -> None:
        assert self.process.stderr is not None
        while chunk := os.read(self.process.stderr.fileno(), 1 << 16):
            self.stderr += chunk


def server_front(folder: Path, arguments: Sequence[str]) -> list[dict[str, Any]]:
    """The findings that the server shows for a project, in the form of the JSON report."""
    client = RawClient(cwd=folder)
    capabilities = {"general": {"positionEncodings": ["utf-32"]}}
    client.start([folder], capabilities, settings=_settings(arguments))
    client.settle()
    found = [
        _finding(client, folder, uri, diagnostic)
        for uri, diagnostics in client.diagnostics.items()
        for diagnostic in diagnostics
        if "mark" not in diagnostic["data"]  # another place of a finding that is there already
    ]
    assert client.stop() == 0
    return sorted(found, key=lambda each: (each["path"], each["line"], each["column"], each["code"], each["message"]))


def _settings(arguments: Sequence[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    words = iter(arguments)
    for word in words:
        if word == "--no-torch":
            settings["torch"] = False
        elif word == "--torch-version":
            settings["torchVersion"] = next(words)
        elif word == "--extend-select":
            settings["extendSelect"] = next(words).split(",")
        else:
            raise ValueError(word)
    return settings


_SEVERITIES = {1: "error", 2: "warning", 3: "hint"}


def _finding(client: RawClient, folder: Path, uri: str, diagnostic: dict[str, Any]) -> dict[str, Any]:
    message, *notes = diagnostic["message"].split("\n")
    related = diagnostic.get("relatedInformation", [])
    said = diagnostic["data"]
    return {
        "code": diagnostic["code"],
        "name": diagnostic["data"]["name"],
        "severity": _SEVERITIES[diagnostic["severity"]],
        "message": message,
        **_location(folder, uri, diagnostic["range"]),
        "related": [
            {**_location(folder, each["location"]["uri"], each["location"]["range"]), "message": each["message"]}
            for each in related
        ],
        "notes": notes,
        "fix": _fix(client, folder, uri, diagnostic, said["fix"]) if said["fix"] else None,
        "alternatives": [_fix(client, folder, uri, diagnostic, each) for each in said["alternatives"]],
        "url": diagnostic.get("codeDescription", {}).get("href"),
    }


def _location(folder: Path, uri: str, where: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": uri.removeprefix(folder.as_uri() + "/"),
        "line": where["start"]["line"] + 1,
        "column": where["start"]["character"] + 1,
        "end_line": where["end"]["line"] + 1,
        "end_column": where["end"]["character"] + 1,
    }


def _fix(client: RawClient, folder: Path, uri: str, diagnostic: dict[str, Any], fix: dict[str, Any]) -> dict[str, Any]:
    """The fix that the diagnostic announces, with the edits of the code action that it is."""
    context = {"diagnostics": [diagnostic], "only": ["quickfix"]}
    params = {"textDocument": {"uri": uri}, "range": diagnostic["range"], "context": context}
    actions = client.request("textDocument/codeAction", params)
    action = next(
        each for each in actions if each["title"].startswith(fix["title"]) and diagnostic in each["diagnostics"]
    )
    edits = [
        {**_location(folder, changed, edit["range"]), "text": edit["newText"]}
        for changed, made in action["edit"]["changes"].items()
        for edit in made
    ]
    return {"title": fix["title"], "safe": fix["safe"], "edits": edits}
