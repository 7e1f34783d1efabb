"""What the language server costs: `python benchmarks/server.py [FILES]`.

Prints, in milliseconds: from open to first diagnostics on a cold start (nothing kept, the server just started), from an
edit to its diagnostics in a 3,000-line registration file, hover and completion with FILES (1,000) registration files
loaded, and the memory of all processes together. Where a `clangd` is on PATH or beside this Python, the first two are
also measured with it, on the same file with torch's real headers. Behind each figure stands what is asked of it. All
are times by the clock: the first line says how busy the machine is besides.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_EDITS = 11
_REQUESTS = 25
_SECONDS = 300.0


class Client:
    """The least of a client: messages out, diagnostics with their time of arrival and answers in."""

    def __init__(self, command: Sequence[str], cache: Path) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        )
        self._messages: list[tuple[float, dict[str, Any]]] = []
        self._changed = threading.Condition()
        self._count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, method: str, params: Any, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **({"id": number} if number else {})}
        data = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self.process.stdin.flush()

    def request(self, method: str, params: Any) -> Any:
        self._count += 1
        number = self._count
        self.send(method, params, number)
        return self.wait(lambda message: message.get("id") == number and "method" not in message)[1].get("result")

    def wait(self, is_it: Callable[[dict[str, Any]], bool], since: float = 0.0) -> tuple[float, dict[str, Any]]:
        found: list[tuple[float, dict[str, Any]]] = []

        def look() -> bool:
            found[:] = [(when, each) for when, each in self._messages if when >= since and is_it(each)]
            return bool(found)

        with self._changed:
            assert self._changed.wait_for(look, _SECONDS), "no answer"
        return found[0]

    def start(self, root: Path) -> None:
        settings = {"status": True, "settings": {"torchVersion": "2.13.0"}}
        params = {"processId": os.getpid(), "rootUri": root.as_uri(), "capabilities": {}}
        self.request("initialize", {**params, "initializationOptions": settings})
        self.send("initialized", {})

    def open(self, file: Path) -> float:
        document = {"uri": file.as_uri(), "languageId": "cpp", "version": 1, "text": file.read_text()}
        began = time.perf_counter()
        self.send("textDocument/didOpen", {"textDocument": document})
        return began

    def edit(self, file: Path, version: int, line: int, text: str) -> float:
        where = {"start": {"line": line, "character": 0}, "end": {"line": line + 1, "character": 0}}
        identifier = {"uri": file.as_uri(), "version": version}
        began = time.perf_counter()
        params = {"textDocument": identifier, "contentChanges": [{"range": where, "text": text}]}
        self.send("textDocument/didChange", params)
        return began

    def diagnostics(self, file: Path, began: float, version: int | None = None) -> float:
        """Milliseconds from `began` to the diagnostics of a file (of a version of it)."""

        def is_it(message: dict[str, Any]) -> bool:
            params = message.get("params") or {}
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == file.as_uri()
                and (version is None or params.get("version") == version)
            )

        return 1000 * (self.wait(is_it, began)[0] - began)

    def settle(self) -> None:
        def is_idle(message: dict[str, Any]) -> bool:
            return message.get("method") == "op-lint/status" and not message["params"]["busy"]

        self.wait(is_idle)

    def memory(self) -> float:
        """MiB of the server and its children, shared pages counted in parts (PSS)."""
        total, pending = 0, [self.process.pid]
        while pending:
            process = pending.pop()
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
            total += int(next(line for line in rollup.splitlines() if line.startswith("Pss:")).split()[1])
            children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
            pending += [int(each) for each in children]
        return total / 1024

    def stop(self) -> None:
        self.request("shutdown", None)
        self.send("exit", None)
        self.process.wait()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            if not line:
                return
            message = json.loads(stream.read(length))
            with self._changed:
                self._messages.append((time.perf_counter(), message))
                self._changed.notify_all()


def registrations(number: int, operators: int, lines: int) -> str:
    """A registration file: kernels with bodies, definitions, a block of kernels; one definition is wrong."""
    filler = max(1, (lines - 2 * operators) // operators - 2)
    rows = ["#include <torch/library.h>", "#include <ATen/ATen.h>", "namespace {"]
    for each in range(operators):
        rows.append(f"at::Tensor op_{number}_{each}_cpu(const at::Tensor& x, int64_t n, double s) {{")
        rows += ["  // One line of a body."] * filler
        rows += ["  return x * n + s;", "}"]
    rows += ["}", "TORCH_LIBRARY_FRAGMENT(bench, m) {"]
    rows += [f'  m.def("op_{number}_{each}(Tensor x, int n, float s=1.0) -> Tensor");' for each in range(operators)]
    rows += ['  m.def("other::a(Tensor x) -> Tensor");', "}", "TORCH_LIBRARY_IMPL(bench, CPU, m) {"]
    rows += [f'  m.impl("op_{number}_{each}", &op_{number}_{each}_cpu);' for each in range(operators)]
    return "\n".join([*rows, "}", ""])


def edits(client: Client, file: Path) -> list[float]:
    """Milliseconds from each of some edits of a definition to its diagnostics."""
    lines = file.read_text().splitlines()
    line = next(index for index, text in enumerate(lines) if ".def(" in text)
    taken = []
    for version in range(2, 2 + _EDITS):
        text = lines[line].replace("int n", "float n" if version % 2 == 0 else "int n") + "\n"
        taken.append(client.diagnostics(file, client.edit(file, version, line, text), version))
    return taken


class Latency(NamedTuple):
    """Milliseconds from open to first diagnostics on a cold start, and from an edit to its diagnostics (median)."""

    cold: float
    edit: float


def one_file(
    command: Sequence[str], name: str, operators: int, lines: int, *, clangd: bool = False, asked: str = ""
) -> Latency:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        root.mkdir()
        (root / "op-lint.toml").touch()
        file = root / "ops.cpp"
        file.write_text(registrations(0, operators, lines))
        if clangd:
            (root / "compile_commands.json").write_text(json.dumps(_compile_commands(root, file)))
        client = Client(command, Path(folder, "cache"))
        client.start(root)
        cold = client.diagnostics(file, client.open(file))
        if not clangd:
            client.settle()
        taken = edits(client, file)
        print(f"{name}: {lines} lines, {2 * operators} registrations")
        print(f"  open -> first diagnostics, cold  {cold:8.0f} ms")
        median = statistics.median(taken)
        print(f"  edit -> diagnostics, median      {median:8.0f} ms   (slowest {max(taken):.0f}){asked}")
        client.process.kill() if clangd else client.stop()
        return Latency(cold, median)


def many_files(command: Sequence[str], count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        root.mkdir()
        (root / "op-lint.toml").touch()
        files = [root / f"ops{number}.cpp" for number in range(count)]
        for number, file in enumerate(files):
            file.write_text(registrations(number, 3, 30))
        client = Client(command, Path(folder, "cache"))
        began = time.perf_counter()
        client.start(root)
        client.settle()
        print(f"{count} files")
        print(f"  everything read, nothing kept    {time.perf_counter() - began:8.1f} s")
        file = files[count // 2]
        client.open(file)
        client.request("textDocument/documentSymbol", {"textDocument": {"uri": file.as_uri()}})
        lines = file.read_text().splitlines()
        line = next(index for index, text in enumerate(lines) if ".impl(" in text)
        where = {"textDocument": {"uri": file.as_uri()}, "position": {"line": line, "character": 14}}
        for method in ("hover", "completion", "definition"):
            taken = []
            for _ in range(_REQUESTS):
                began = time.perf_counter()
                client.request(f"textDocument/{method}", where)
                taken.append(1000 * (time.perf_counter() - began))
            asked = "" if method == "definition" else "   (asked: at most 20)"
            print(f"  {method:12} median            {statistics.median(taken):8.1f} ms{asked}")
        taken = edits(client, file)
        print(f"  edit -> diagnostics, median      {statistics.median(taken):8.0f} ms")
        print(f"  memory of all processes          {client.memory():8.0f} MiB  (asked: at most 350)")
        client.stop()


def _compile_commands(root: Path, file: Path) -> list[dict[str, Any]]:
    from torch.utils.cpp_extension import include_paths

    arguments = ["c++", "-std=c++20", *(f"-I{path}" for path in include_paths()), "-c", str(file)]
    return [{"directory": str(root), "file": str(file), "arguments": arguments}]


def main(arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "op_lint", "server"]
    beside = Path(sys.executable).with_name("clangd")
    clangd = str(beside) if beside.exists() else shutil.which("clangd")
    print(f"{os.cpu_count()} processors, {os.getloadavg()[0]:.1f} processes at work before")
    ours = one_file(command, "op-lint", 20, 200)
    if clangd:
        theirs = one_file([clangd, "--background-index=false"], "clangd", 20, 200, clangd=True)
        print(f"op-lint takes 1/{theirs.cold / ours.cold:.0f} of clangd's time from open (asked: 1/25)")
        print(f"          and 1/{theirs.edit / ours.edit:.0f} from an edit (asked: 1/6)")
    one_file(command, "op-lint", 150, 3000, asked=" (asked: at most 60)")
    many_files(command, int(arguments[0]) if arguments else 1000)


if __name__ == "__main__":
    main(sys.argv[1:])
