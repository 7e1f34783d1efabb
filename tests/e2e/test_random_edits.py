"""Random edits of several documents at once: the server lives, and ends with what a fresh one says of the texts.

`OP_LINT_RANDOM_EDITS` sets how many edits there are.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.check import write_project
from tests.e2e.raw import RawClient

EXAMPLE = Path(__file__).parents[2] / "examples" / "myops"
PATHS = (
    "csrc/ops.cpp", "csrc/reduce.cpp", "csrc/cpu/kernels.cpp", "csrc/cuda/kernels.cu", "myops/ops.py",
)  # fmt: skip
EDITS = int(os.environ.get("OP_LINT_RANDOM_EDITS", "300"))

PIECES = (
    "TORCH_LIBRARY(", "TORCH_LIBRARY_IMPL(myops, CPU, m) {", 'm.def("', 'm.impl("scale", &scale_cpu);', "}", ")", '"',
    "/*", "*/", "//", "#if X\n", "#endif\n", "#define A(", "\\\n", "\r\n", "\f", "𝄞", "ü", "R\"(", "namespace a {",
    "torch.ops.myops.scale(", '@torch.library.register_fake("myops::', "def f(", "'''", "\n    ", "\0", "\ud800",
    "// op-lint: ignore[OPL1", "(Tensor x, int[2] y=", " -> (Tensor(a!)", "\u2028",
)  # fmt: skip
SETTINGS = {"torch": False}


class Text:
    """A document as the client has it: UTF-16 positions, the protocol's line ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.past: list[str] = []

    def lines(self) -> list[str]:
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def index(self, line: int, character: int) -> int:
        """The index that a position means, clamped as the protocol says."""
        position, text = 0, self.text
        for _ in range(line):
            ends = [each for each in (text.find("\n", position), text.find("\r", position)) if each >= 0]
            if not ends:
                return len(text)
            position = min(ends) + (2 if text.startswith("\r\n", min(ends)) else 1)
        units = 0
        while position < len(text) and text[position] not in "\r\n":
            units += 2 if ord(text[position]) > 0xFFFF else 1
            if units > character:
                break
            position += 1
        return position

    def apply(self, start: tuple[int, int], end: tuple[int, int], new: str) -> None:
        self.past.append(self.text)
        first, last = self.index(*start), self.index(*end)
        shown = new.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self.text = self.text[:first] + shown + self.text[max(first, last) :]


def random_position(text: Text, chance: random.Random) -> tuple[int, int]:
    lines = text.lines()
    line = chance.randrange(len(lines) + 2)
    length = len(lines[line]) if line < len(lines) else 0
    return line, chance.randrange(length + 3)


def edit(text: Text, chance: random.Random) -> dict[str, Any]:
    if text.past and chance.random() < 0.25:
        text.text = text.past.pop()
        return {"text": text.text}
    start = random_position(text, chance)
    end = start
    if chance.random() < 0.4:
        end = (start[0] + chance.choice((0, 0, 0, 1, 2)), start[1] + chance.randrange(12))
    new = chance.choice(PIECES) if chance.random() < 0.8 else ""
    if chance.random() < 0.1:
        first = text.index(*start)
        new = text.text[first : first + 200]
    text.apply(start, end, new)
    where = {"start": dict(zip(("line", "character"), start, strict=True)),
             "end": dict(zip(("line", "character"), end, strict=True))}  # fmt: skip
    return {"range": where, "text": new}


def said(client: RawClient) -> dict[str, list[str]]:
    return {
        uri: [f"{each['range']} {each['code']} {each['message']}" for each in found]
        for uri, found in client.diagnostics.items()
        if found
    }


@pytest.mark.parametrize("seed", [1])
def test_random_edits(seed: int, tmp_path: Path) -> None:
    files = {path: (EXAMPLE / path).read_text("utf-8") for path in PATHS}
    root = write_project(tmp_path, dict(files))
    chance = random.Random(seed)
    client = RawClient(cwd=root)
    client.start([root], settings=SETTINGS)
    texts = {path: Text(content) for path, content in files.items()}
    for path, text in texts.items():
        client.open(root / path, text.text, "python" if path.endswith(".py") else "cpp")
    for number in range(EDITS):
        path = chance.choice(PATHS)
        uri = (root / path).as_uri()
        client.change(uri, number + 2, edit(texts[path], chance))
        if chance.random() < 0.2:
            line, character = random_position(texts[path], chance)
            where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
            method = chance.choice(("hover", "completion", "signatureHelp", "definition", "codeLens"))
            number_asked = client.ask(f"textDocument/{method}", where)
            if chance.random() < 0.5:
                client.notify("$/cancelRequest", {"id": number_asked})
        if chance.random() < 0.05:
            client.catch_up(uri)
    for path in PATHS:
        client.catch_up((root / path).as_uri())
    fresh = RawClient(cwd=root)
    fresh.start([root], settings=SETTINGS)
    for path, text in texts.items():
        fresh.open(root / path, text.text, "python" if path.endswith(".py") else "cpp")
    for path in PATHS:
        fresh.catch_up((root / path).as_uri())
    assert client.stderr == b""
    assert said(client) == said(fresh)
    assert client.stop() == 0
    assert fresh.stop() == 0
