from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from op_lint import report
from op_lint.documentation import RulePage
from op_lint.facts import Place
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.report import FORMATS, Report
from op_lint.sources import Location, Sources
from op_lint.version import VERSION

SOURCE = """\
// naïve
TORCH_LIBRARY(myops, m) {
\tm.def("scale(Tensor x, float s) -> Tensor");
  m.def("größe(Tensor x) -> Tensor"); m.def("次元(Tensor x) -> Tensor");
}
""".encode()
LONG = b"x" * 300 + b" marked " + b"y" * 300 + b"\n"


def place(data: bytes, text: str, path: str = "csrc/ops.cpp") -> Place:
    start = data.index(text.encode())
    return Place(path, data.count(b"\n", 0, start) + 1, start, start + len(text.encode()))


FINDINGS = (
    Finding(
        "OPL301",
        "missing-backend-kernel",
        Severity.WARNING,
        "no kernel for CUDA",
        place(SOURCE, "scale"),
        (Related(place(SOURCE, "myops"), "the namespace"), Related(Place("gone.cpp", 7, 70, 75), "not there any more")),
        ("a note",),
    ),
    Finding(
        "OPL102",
        "mismatch",
        Severity.ERROR,
        "wide characters",
        place(SOURCE, "次元"),
        fix=Fix("rename", True, (Edit(place(SOURCE, "größe"), "size"),)),
    ),
    Finding(
        "OPL900", "spans-lines", Severity.HINT, "to the end of the line", place(SOURCE, 's) -> Tensor");\n  m.def')
    ),
    Finding("OPL900", "no-source", Severity.HINT, "the file is gone", Place("gone.cpp", 3, 30, 31)),
    Finding("OPL900", "long-line", Severity.HINT, "what is around is shown", place(LONG, "marked", "long.cpp")),
    Finding("OPL900", "latin-1", Severity.HINT, "every byte is a character", Place("latin.cpp", 1, 3, 5)),
)


PAGE = RulePage(
    "OPL301", "missing-backend-kernel", Severity.WARNING, "A backend is missing.", "# The rule", "https://example.org/x"
)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    for variable in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    buffers = {"csrc/ops.cpp": SOURCE, "long.cpp": LONG, "latin.cpp": b"\xe9\xe8 ab\x07\n"}

    def written(name: str, stream: io.StringIO | None = None) -> str:
        stream = stream or io.StringIO()
        sources = Sources(tmp_path, buffers, tmp_path)
        report.write(name, Report(FINDINGS, sources, ("6 findings",), {"OPL301": PAGE}), stream)
        return stream.getvalue()

    return written


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name: str, written: Callable[..., str], golden: Callable[[str, str], None], tmp_path: Path) -> None:
    text = written(name).replace(f"{tmp_path.as_uri()}/", "file:///project/").replace(VERSION, "VERSION")
    golden(f"report.{name}", text)


def test_json_has_what_the_contract_says(written: Callable[..., str]) -> None:
    found: list[dict[str, Any]] = json.loads(written("json"))
    first = found[0]
    position = {"path": "csrc/ops.cpp", "line": 3, "column": 9, "end_line": 3, "end_column": 14}
    assert first.items() >= position.items()
    assert [(each["path"], each["line"], each["message"]) for each in first["related"]] == [
        ("csrc/ops.cpp", 2, "the namespace"),
        ("gone.cpp", 7, "not there any more"),
    ]
    assert (first["severity"], first["url"], first["fix"]) == ("warning", "https://example.org/x", None)
    assert found[1]["column"] == 46
    assert found[1]["fix"] == {
        "title": "rename",
        "safe": True,
        "edits": [
            {"path": "csrc/ops.cpp", "line": 4, "column": 10, "end_line": 4, "end_column": 15, "text": "size"},
        ],
    }
    assert {"code", "name", "severity", "message", "notes", "url"} <= first.keys()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "terminal", "coloured"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colours(
    environment: dict[str, str],
    terminal: bool,
    coloured: bool,
    written: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    text = written("text", _Terminal() if terminal else None)
    assert ("\x1b[" in text) is coloured
    assert "no kernel for CUDA" in text


def test_locations(tmp_path: Path) -> None:
    sources = Sources(tmp_path / "project", {"a.cpp": b"\xc3\xa9x\n"}, tmp_path)
    assert sources.location(Place("a.cpp", 1, 2, 3)) == Location("project/a.cpp", 1, 2, 1, 3)
    assert sources.location(Place("a.cpp", 9, 90, 91)) == Location("project/a.cpp", 9, 1, 9, 1)
    assert sources.shown("/elsewhere/b.cpp") == "/elsewhere/b.cpp"
