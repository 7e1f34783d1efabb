"""The server's life: text as editors send it, files that change, trust, and every way to end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.check import write_project
from tests.e2e.raw import RawClient, RequestError

SETTINGS = {"torch": False}
BLOCK = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {{ m.def("{}(Tensor x) -> Tensor"); }}\n'
WRONG = BLOCK.format("other::a")
RIGHT = BLOCK.format("a")


def started(root: Path, capabilities: dict[str, Any] | None = None, **options: Any) -> RawClient:
    client = RawClient(cwd=root)
    client.start([root], capabilities or {}, settings=SETTINGS, **options)
    client.settle()
    return client


def information(client: RawClient) -> dict[str, Any]:
    """What the server says of itself and of its only workspace."""
    command = {"command": "op-lint.serverInformation", "arguments": []}
    (found,) = client.request("workspace/executeCommand", command)
    return dict(found)


def codes(client: RawClient, uri: str) -> list[str]:
    return [each["code"] for each in client.diagnostics.get(uri, [])]


def processes_of(client: RawClient) -> list[int]:
    """The server's children that are alive."""
    pid = client.process.pid
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(processes: list[int], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while any(map(is_alive, processes)) and time.monotonic() < end:
        time.sleep(0.05)
    assert [each for each in processes if is_alive(each)] == []


def test_only_the_buffer_counts_while_a_document_is_open(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": WRONG})
    client = started(root)
    uri = (root / "ops.cpp").as_uri()
    assert "OPL206" in codes(client, uri)
    client.open(root / "ops.cpp", RIGHT)
    client.catch_up(uri)
    assert "OPL206" not in codes(client, uri)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    client.wait(lambda: "OPL206" in codes(client, uri))
    assert client.stop() == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_positions(encoding: str, line_end: str, tmp_path: Path) -> None:
    text = f'// \f 𝄞 ü{line_end}/* 𝄞ü */ TORCH_LIBRARY(demo, m) {{ m.def("other::a(Tensor x) -> Tensor"); }}{line_end}'
    root = write_project(tmp_path, {"ops.cpp": ""})
    client = started(root, {"general": {"positionEncodings": [encoding]}})
    uri = client.open(root / "ops.cpp", text)
    client.catch_up(uri)
    found = next(each for each in client.diagnostics[uri] if each["code"] == "OPL206")
    before = text.split(line_end)[1].partition("other::")[0]
    units = {"utf-8": len(before.encode()), "utf-16": len(before.encode("utf-16-le")) // 2, "utf-32": len(before)}
    assert found["range"]["start"] == {"line": 1, "character": units[encoding]}
    # An edit at these positions takes the wrong namespace out.
    change = {
        "range": {**found["range"], "end": {"line": 1, "character": units[encoding] + len("other::")}},
        "text": "",
    }
    client.change(uri, 2, change)
    client.catch_up(uri)
    assert "OPL206" not in codes(client, uri)
    client.stop()


def test_a_header_edit_reaches_its_includers(tmp_path: Path) -> None:
    source = '#include "names.h"\nTORCH_LIBRARY(demo, m) { m.def(NAME "(Tensor x) -> Tensor"); }\n'
    root = write_project(tmp_path, {"ops.cpp": source, "names.h": '#define NAME "a"\n'})
    client = started(root)
    uri = (root / "ops.cpp").as_uri()
    assert "OPL206" not in codes(client, uri)
    header = client.open(root / "names.h", '#define NAME "other::a"\n')
    client.catch_up(header)
    assert "OPL206" in codes(client, uri)
    client.stop()


def test_files_come_and_go(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": RIGHT})
    client = started(root)
    new = root / "more.cpp"
    new.write_text(WRONG)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": new.as_uri(), "type": 1}]})
    client.wait(lambda: "OPL206" in codes(client, new.as_uri()))
    new.unlink()
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": new.as_uri(), "type": 3}]})
    client.wait(lambda: codes(client, new.as_uri()) == [])
    (root / "op-lint.toml").write_text('ignore = ["OPL3"]\nselekt = []\n')
    configuration = (root / "op-lint.toml").as_uri()
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": configuration, "type": 2}]})
    client.wait(lambda: codes(client, configuration) == ["OPL904"] or bool(client.diagnostics.get(configuration)))
    client.stop()


@pytest.mark.parametrize(("name", "head"), [("op-lint.toml", ""), ("pyproject.toml", "[tool.op-lint]\n")])
def test_faults_of_the_configuration_are_shown_as_they_are_typed(name: str, head: str, tmp_path: Path) -> None:
    right = f'{head}ignore = ["OPL206"]\n'
    root = write_project(tmp_path, {"csrc/ops.cpp": WRONG, name: right})
    for other in {"op-lint.toml", "pyproject.toml"} - {name}:
        (root / other).unlink(missing_ok=True)
    client = RawClient(cwd=root)
    client.start([root / "csrc"], settings=SETTINGS)  # the settings stand above the folder that is open
    client.settle()
    source = (root / "csrc" / "ops.cpp").as_uri()
    uri = client.open(root / name, right, "toml")
    client.change(uri, 2, {"text": f"{head}# ü\nignore = []\nselct = []\n"})
    client.catch_up(uri)
    (found,) = client.diagnostics[uri]
    assert (found["code"], found["range"]["start"]["line"]) == ("OPL904", head.count("\n") + 2)
    actions = {"textDocument": {"uri": uri}, "range": found["range"], "context": {"diagnostics": [found]}}
    assert client.request("textDocument/codeAction", actions) == []  # no comment can silence it
    assert "OPL206" not in codes(client, source)  # what is typed is in force when it is saved
    client.change(uri, 3, {"text": f"{head}ignore = [\n"})
    client.catch_up(uri)
    assert codes(client, uri) == ["OPL904"]
    client.change(uri, 4, {"text": f"{head}ignore = []\n"})
    client.catch_up(uri)
    assert codes(client, uri) == []
    (root / name).write_text(f"{head}ignore = []\n")
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    client.wait(lambda: "OPL206" in codes(client, source))
    client.change(uri, 5, {"text": f"{head}nothing = 1\n"})
    client.wait(lambda: codes(client, uri) == ["OPL904"])
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    client.wait(lambda: codes(client, uri) == [])
    assert client.stop() == 0
    assert client.stderr == b""


def test_settings_are_live(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": WRONG})
    client = started(root)
    uri = (root / "ops.cpp").as_uri()
    assert "OPL206" in codes(client, uri)
    settings = {"op-lint": {**SETTINGS, "ignore": ["OPL206"]}}
    client.notify("workspace/didChangeConfiguration", {"settings": settings})
    client.wait(lambda: "OPL206" not in codes(client, uri))
    client.stop()


def test_lenses_and_hints_are_asked_for_again(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": WRONG})
    client = RawClient(cwd=root)
    refreshing = {"workspace": {"codeLens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}}}
    client.start([root], refreshing, settings={"torchVersion": "2.13.0"})
    client.settle()

    def asked(what: str) -> int:
        return sum(each["method"] == f"workspace/{what}/refresh" for each in client.requests)

    client.wait(lambda: asked("inlayHint") >= 1)  # when the torch was read
    hints, lenses = asked("inlayHint"), asked("codeLens")
    uri = client.open(root / "ops.cpp", WRONG)
    client.catch_up(uri)
    assert asked("inlayHint") == hints  # an edit changes those of its own document only
    client.wait(lambda: asked("codeLens") > lenses)
    lenses = asked("codeLens")
    settings = {"torchVersion": "2.13.0", "codeLens": False, "inlayHints": False}
    client.notify("workspace/didChangeConfiguration", {"settings": {"op-lint": settings}})
    client.wait(lambda: asked("inlayHint") > hints and asked("codeLens") > lenses)
    assert client.stop() == 0


def test_each_folder_has_its_own_settings(tmp_path: Path) -> None:
    roots = [write_project(tmp_path / name, {"ops.cpp": WRONG}) for name in ("first", "second")]
    uris = [(root / "ops.cpp").as_uri() for root in roots]
    client = RawClient(cwd=tmp_path)
    client.configuration = {
        roots[0].as_uri(): {**SETTINGS, "ignore": ["OPL206"]},
        roots[1].as_uri(): SETTINGS,
        None: SETTINGS,
    }
    client.start(roots, {"workspace": {"configuration": True}})
    client.wait(lambda: "OPL206" in codes(client, uris[1]))
    client.settle()
    assert "OPL206" not in codes(client, uris[0])
    client.configuration[roots[1].as_uri()] = {**SETTINGS, "ignore": ["OPL206"]}
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    client.wait(lambda: "OPL206" not in codes(client, uris[1]))
    client.stop()


def progress(client: RawClient) -> list[list[str]]:
    """What each progress that the server began has told, as far as it has come."""
    created = [each for each in client.requests if each["method"] == "window/workDoneProgress/create"]
    sent = [each["params"] for each in client.notifications if each["method"] == "$/progress"]
    tokens = [each["params"]["token"] for each in created]
    return [[each["value"]["kind"] for each in sent if each["token"] == token] for token in tokens]


def test_readings_of_everything_are_shown_as_progress(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": WRONG, "op-lint.toml": 'python = "tools/python"\n'})
    interpreter(root, "tools/python")  # no torch: but to find that out takes a while
    client = RawClient(cwd=root)
    client.start([root], {"window": {"workDoneProgress": True}})
    client.wait(lambda: [kinds[-1:] for kinds in progress(client)] == [["end"]])
    assert progress(client)[0][0] == "begin"
    assert (root / "was-run").exists()
    (root / "was-run").unlink()
    client.request("workspace/executeCommand", {"command": "op-lint.restart", "arguments": []})
    client.wait(lambda: [kinds[-1:] for kinds in progress(client)] == [["end"], ["end"]])
    assert (root / "was-run").exists()  # the torch is asked for again, too
    assert client.stop() == 0


def test_build_files_are_watched(tmp_path: Path) -> None:
    lists = "project(demo CXX)\ninclude(sources.cmake)\nadd_library(demo SHARED ${SOURCES})\n"
    files: dict[str, str | bytes] = {
        "CMakeLists.txt": lists,
        "sources.cmake": "set(SOURCES ops.cpp)\n",
        "ops.cpp": RIGHT,
        "more.cpp": BLOCK.format("b").replace("TORCH_LIBRARY(", "TORCH_LIBRARY_FRAGMENT("),
    }
    root = write_project(tmp_path, files)
    watching = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
    client = started(root, watching)
    (registered,) = [each for each in client.requests if each["method"] == "client/registerCapability"]
    patterns = [
        watcher["globPattern"]
        for registration in registered["params"]["registrations"]
        for watcher in registration["registerOptions"]["watchers"]
    ]
    for suffix in ("*.cmake", "compile_commands.json", "pyproject.toml", "py", "cuh"):
        assert any(suffix in pattern for pattern in patterns)
    uri = (root / "more.cpp").as_uri()
    assert "OPL501" in codes(client, uri)
    (root / "sources.cmake").write_text("set(SOURCES ops.cpp more.cpp)\n")
    change = {"uri": (root / "sources.cmake").as_uri(), "type": 2}
    client.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
    client.wait(lambda: "OPL501" not in codes(client, uri))
    client.stop()


def test_folders_and_documents_outside_of_them(tmp_path: Path) -> None:
    first = write_project(tmp_path / "first", {"ops.cpp": RIGHT})
    second = write_project(tmp_path / "second", {"ops.cpp": WRONG, "op-lint.toml": 'ignore = ["OPL206"]\n'})
    alone = tmp_path / "elsewhere" / "alone.cpp"
    alone.parent.mkdir()
    client = started(first)
    folder = {"uri": second.as_uri(), "name": "second"}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
    uri = client.open(second / "ops.cpp", WRONG)
    client.catch_up(uri)
    assert "OPL206" not in codes(client, uri)  # its own configuration says so
    outside = client.open(alone, WRONG)
    client.catch_up(outside)
    assert "OPL206" in codes(client, outside)
    identifier = {"uri": "untitled:Untitled-1", "languageId": "cpp", "version": 1, "text": WRONG}
    client.notify("textDocument/didOpen", {"textDocument": identifier})
    client.catch_up("untitled:Untitled-1")
    assert "OPL206" in codes(client, "untitled:Untitled-1")
    client.notify("textDocument/didClose", {"textDocument": {"uri": "untitled:Untitled-1"}})
    client.wait(lambda: codes(client, "untitled:Untitled-1") == [])
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})
    client.catch_up(outside)
    client.stop()


@pytest.mark.parametrize("how", ["watched", "operation"])
def test_folders_come_and_go(how: str, tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": RIGHT})
    client = started(root)
    old, new = (root / "old").as_uri(), (root / "new").as_uri()

    def tell(*gone: str, came: str | None = None) -> None:
        if how == "watched":
            changes = [{"uri": uri, "type": 3} for uri in gone] + ([{"uri": came, "type": 1}] if came else [])
            client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        elif gone and came:
            client.notify("workspace/didRenameFiles", {"files": [{"oldUri": gone[0], "newUri": came}]})
        else:
            files = [{"uri": uri} for uri in (*gone, *([came] if came else []))]
            client.notify("workspace/didDeleteFiles" if gone else "workspace/didCreateFiles", {"files": files})

    (root / "old").mkdir()
    (root / "old" / "more.cpp").write_text(WRONG)
    tell(came=old)
    client.wait(lambda: "OPL206" in codes(client, f"{old}/more.cpp"))
    (root / "old").rename(root / "new")
    tell(old, came=new)
    client.wait(lambda: "OPL206" in codes(client, f"{new}/more.cpp") and codes(client, f"{old}/more.cpp") == [])
    (root / "new" / "more.cpp").unlink()
    tell(new)
    client.wait(lambda: codes(client, f"{new}/more.cpp") == [])
    assert client.stop() == 0


def test_a_file_that_came_without_notice(tmp_path: Path) -> None:
    root = write_project(
        tmp_path, {"ops.cpp": RIGHT, "op-lint.toml": 'extend-exclude = ["out/"]\n', "out/a.cpp": WRONG}
    )
    client = started(root)
    (root / "new.cpp").write_text(WRONG)
    uri = client.open(root / "new.cpp", WRONG)
    client.catch_up(uri)
    assert "OPL206" in codes(client, uri)
    excluded = client.open(root / "out" / "a.cpp", WRONG)
    client.catch_up(excluded)
    assert codes(client, excluded) == []
    assert client.stop() == 0


@pytest.mark.parametrize("name", ["n" * 300 + ".cpp", "a%00b.cpp", "%FF%FE.cpp", "folder/" * 600 + "a.cpp"])
def test_names_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": RIGHT})
    client = started(root)
    for folder in (root.as_uri(), "file:///no/such/folder"):
        uri = f"{folder}/{name}"
        document = {"uri": uri, "languageId": "cpp", "version": 1, "text": WRONG}
        client.notify("textDocument/didOpen", {"textDocument": document})
        client.catch_up(uri)
        assert "OPL206" in codes(client, uri)
        client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        client.wait(lambda uri=uri: codes(client, uri) == [])  # type: ignore[misc]
    assert client.stop() == 0
    assert client.stderr == b""


def test_a_project_outside_of_the_folders_goes_with_its_last_document(tmp_path: Path) -> None:
    first = write_project(tmp_path / "first", {"ops.cpp": RIGHT})
    second = write_project(tmp_path / "second", {"CMakeLists.txt": "add_library(x SHARED ops.cpp)\n", "ops.cpp": WRONG})
    client = started(first)
    build = client.open(second / "CMakeLists.txt", "add_library(x SHARED ops.cpp)\n", "cmake")
    client.catch_up(build)
    source = (second / "ops.cpp").as_uri()
    assert "OPL206" in codes(client, source)
    client.notify("textDocument/didClose", {"textDocument": {"uri": build}})
    client.wait(lambda: codes(client, source) == [])
    assert client.stop() == 0


def test_a_folder_that_leaves_takes_its_diagnostics_along(tmp_path: Path) -> None:
    first = write_project(tmp_path / "first", {"ops.cpp": RIGHT})
    second = write_project(tmp_path / "second", {"ops.cpp": WRONG})
    client = RawClient(cwd=tmp_path)
    client.start([first, second], settings=SETTINGS)
    uri = (second / "ops.cpp").as_uri()
    client.wait(lambda: "OPL206" in codes(client, uri))
    folder = {"uri": second.as_uri(), "name": "second"}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})
    client.wait(lambda: codes(client, uri) == [])
    client.stop()


def test_tcp(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "op_lint", "server", "--tcp", f"127.0.0.1:{port}"]
    params: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
    with (
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as server,
        _connected(port) as connection,
    ):
        _send(connection, {"id": 1, "method": "initialize", "params": params})
        assert connection.recv(1 << 16).startswith(b"Content-Length: ")
        _send(connection, {"method": "exit"})
        assert server.wait(30) == 1  # exit without shutdown


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    connection.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


def _connected(port: int) -> socket.socket:
    """A connection to the server, as soon as it listens."""
    end = time.monotonic() + 60
    connection = socket.socket()
    while connection.connect_ex(("127.0.0.1", port)) != 0:
        assert time.monotonic() < end
        connection.close()
        time.sleep(0.05)
        connection = socket.socket()
    return connection


def interpreter(root: Path, path: str) -> Path:
    """A program under the name of a Python that leaves a trace when it is run."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\ntouch {root}/was-run\n")
    file.chmod(0o755)
    return file


def test_nothing_of_an_untrusted_workspace_is_run(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": RIGHT, "op-lint.toml": 'python = "tools/python"\n'})
    interpreter(root, "tools/python")
    interpreter(root, ".venv/bin/python")
    client = RawClient(cwd=root)
    client.start([root], trusted=False, settings={"torchVersion": None})
    client.settle()
    assert not (root / "was-run").exists()
    client.notify("op-lint/trust", {"trusted": True})
    client.wait(lambda: (root / "was-run").exists())
    client.settle()
    client.stop()


def hanging(root: Path) -> int:
    """Waits until the interpreter of the project, which never ends by itself, was started; its process."""
    trace = root / "process"
    end = time.monotonic() + 60
    while not (trace.exists() and trace.read_text().strip()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return int(trace.read_text())


@pytest.mark.parametrize("how", ["probe killed", "exit", "closed"])
def test_a_probe_that_hangs(how: str, tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": WRONG, "op-lint.toml": 'python = "tools/python"\n'})
    interpreter(root, "tools/python").write_text(f"#!/bin/sh\necho $$ > {root}/process\nexec sleep 1000\n")
    client = RawClient(cwd=root)
    client.start([root])
    probe = hanging(root)
    uri = (root / "ops.cpp").as_uri()
    client.wait(lambda: "OPL206" in codes(client, uri))  # which needs no torch and did not wait for it
    if how == "probe killed":
        os.kill(probe, signal.SIGKILL)
        client.settle()
        (report,) = client.request(
            "workspace/executeCommand", {"command": "op-lint.serverInformation", "arguments": []}
        )
        assert report["origin"] == "snapshot"
        assert report["problems"]
        client.stop()
    elif how == "exit":
        client.stop()
    else:
        assert client.process.stdin is not None
        client.process.stdin.close()
    wait_until_gone([probe, client.process.pid])


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": RIGHT})
    client = started(root)
    for number, text in enumerate((WRONG, RIGHT, WRONG), 2):
        (report,) = client.request(
            "workspace/executeCommand", {"command": "op-lint.serverInformation", "arguments": []}
        )
        for process in report["processes"]:
            os.kill(process, signal.SIGKILL)
        if number == 2:
            uri = client.open(root / "ops.cpp", RIGHT)
        client.change(uri, number, {"text": text})
        client.catch_up(uri)
        assert ("OPL206" in codes(client, uri)) == (text is WRONG)
    client.stop()


@pytest.mark.parametrize("how", ["exit", "closed", "killed"])
def test_nothing_is_left_running(how: str, tmp_path: Path) -> None:
    root = write_project(tmp_path, {f"ops{number}.cpp": WRONG for number in range(40)})
    client = RawClient(cwd=root)
    client.start([root], settings={})  # in the middle of the first reading, with the probe about to start
    time.sleep(0.3)
    left = [client.process.pid, *processes_of(client)]
    if how == "exit":
        assert client.stop() == 0
    elif how == "closed":
        assert client.process.stdin is not None
        client.process.stdin.close()
    else:
        client.kill()
    wait_until_gone(left)


def test_a_storm_of_cancelled_requests(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": RIGHT})
    client = started(root)
    uri = client.open(root / "ops.cpp", RIGHT)
    where = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 4}}
    asked = []
    for version in range(2, 60):
        client.change(uri, version, {"text": RIGHT + "\n" * version})
        for method in ("hover", "definition", "codeLens", "completion"):
            asked.append(client.ask(f"textDocument/{method}", where))
            client.notify("$/cancelRequest", {"id": asked[-1]})
    refused = [error["code"] for error in map(client.error, asked) if error]
    assert set(refused) <= {-32800}
    client.catch_up(uri)
    assert "OPL206" not in codes(client, uri)
    client.stop()


def test_commands_take_what_editors_send(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": RIGHT})
    client = RawClient(cwd=root)
    client.start([root], {}, settings={"torchVersion": "2.13.0"})
    client.settle()

    def run(command: str, *arguments: Any) -> Any:
        return client.request("workspace/executeCommand", {"command": command, "arguments": list(arguments)})

    (found,) = run("op-lint.matrix")
    assert [row["op"] for row in found["operators"]] == ["demo::a"]
    assert run("op-lint.why", "demo::a")["op"] == "demo::a"
    place = {"uri": (root / "ops.cpp").as_uri(), "position": {"line": 0, "character": 0}}
    assert run("op-lint.restart", place) is None
    for arguments, said in (
        ([], "op-lint.table needs operator"),
        ([{}], "is to be a string"),
        (["demo::b"], "demo::b"),
    ):
        with pytest.raises(RequestError, match=said):
            run("op-lint.table", *arguments)
    with pytest.raises(RequestError, match="foldingRange"):
        client.request("textDocument/foldingRange", {"textDocument": {"uri": place["uri"]}})
    client.settle()
    assert client.stop() == 0
    assert client.stderr == b""  # editors show it: what was answered with its reason is no fault


def test_stdout_is_the_protocol(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.cpp": RIGHT})
    client = started(root)
    client.notify("textDocument/didChange", {"rubbish": True})
    client.notify("no/such", {})
    with pytest.raises(RequestError):
        client.request("no/such", {})
    with pytest.raises(RequestError, match=r"-32602.*textDocument/hover"):
        client.request("textDocument/hover", {"position": "here"})
    uri = client.open(root / "ops.cpp", WRONG)
    client.catch_up(uri)
    assert "OPL206" in codes(client, uri)
    assert [each for each in client.notifications if each["method"] == "window/showMessage"] == []
    client.stop()
