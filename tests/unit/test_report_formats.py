"""What the formats for programs must hold, on the real findings of a project."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator

from op_lint import report
from op_lint.facts import Place
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.report import FORMATS, Report
from op_lint.sources import Sources
from op_lint.text import SourceText
from tests.check import run, write_project

ROOT = Path(__file__).parents[2]
SARIF = Draft4Validator(json.loads((ROOT / "tests" / "schemas" / "sarif-2.1.0.json").read_text("utf-8")))
FAST = ("--torch-version", "2.13.0+cpu", "--jobs", "0", "--no-cache", "--quiet")


@pytest.fixture(autouse=True, scope="module")
def _no_service() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        for variable in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
            environment.delenv(variable, raising=False)
        yield


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every format, of one run over the example."""
    folder = tmp_path_factory.mktemp("reports")
    wanted = [
        word for name in FORMATS for word in ("--output-format", name, "--output-file", str(folder / f"report.{name}"))
    ]
    outcome = run(ROOT / "examples" / "myops", "check", *FAST, *wanted)
    assert (outcome.status, outcome.out) == (1, ""), outcome
    return {name: (folder / f"report.{name}").read_text("utf-8") for name in FORMATS}


@pytest.fixture(scope="module")
def findings(reports: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(reports["json"])
    assert len(found) > 3
    assert any(each["fix"] for each in found)
    assert any(each["related"] for each in found)
    return found


def written(name: str, findings: tuple[Finding, ...], sources: Sources) -> str:
    stream = io.StringIO()
    report.write(name, Report(findings, sources), stream)
    return stream.getvalue()


def test_text_and_concise_say_the_same(reports: dict[str, str], findings: list[dict[str, Any]]) -> None:
    for each in findings:
        start = f"{each['path']}:{each['line']}:{each['column']}: {each['severity']} {each['code']} "
        assert f"{start}{each['name']}\n" in reports["text"]
        assert f"{start}{each['message']}\n" in reports["concise"]


def test_sarif_is_valid(reports: dict[str, str]) -> None:
    assert list(SARIF.iter_errors(json.loads(reports["sarif"]))) == []


def test_sarif_holds_everything(reports: dict[str, str], findings: list[dict[str, Any]]) -> None:
    (one,) = json.loads(reports["sarif"])["runs"]
    rules = one["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({each["code"] for each in findings})
    assert all("## What it does" in rule["help"]["markdown"] for rule in rules)
    assert one["columnKind"] == "unicodeCodePoints"
    for result, finding in zip(one["results"], findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding["code"]
        assert result["message"]["text"].startswith(finding["message"])
        place = result["locations"][0]["physicalLocation"]
        assert (place["artifactLocation"]["uri"], region(place["region"])) == (finding["path"], extent(finding))
        for each in result.get("relatedLocations", ()):
            assert f"]({each['id']}): {each['message']['text']}" in result["message"]["text"]
        related = [
            (each["physicalLocation"]["artifactLocation"]["uri"], each["message"]["text"])
            for each in result.get("relatedLocations", ())
        ]
        assert related == [(each["path"], each["message"]) for each in finding["related"]]
        edits = [
            (change["artifactLocation"]["uri"], region(each["deletedRegion"]), each["insertedContent"]["text"])
            for fix in result.get("fixes", ())
            for change in fix["artifactChanges"]
            for each in change["replacements"]
        ]
        wanted = finding["fix"]["edits"] if finding["fix"] else ()
        assert edits == [(edit["path"], extent(edit), edit["text"]) for edit in wanted]


def region(value: dict[str, int]) -> tuple[int, ...]:
    return tuple(value[name] for name in ("startLine", "startColumn", "endLine", "endColumn"))


def extent(value: dict[str, Any]) -> tuple[int, ...]:
    return tuple(value[name] for name in ("line", "column", "end_line", "end_column"))


def test_sarif_of_odd_names_is_valid(tmp_path: Path) -> None:
    place = Place("a b/größe#1.cpp", 1, 0, 1)
    odd = Related(Place("[x].cpp", 4, 40, 41), "odd")
    finding = Finding("X1", "x", Severity.HINT, "m", place, (Related(Place("/else where/y.cpp", 3, 30, 31), "r"), odd))
    log = json.loads(written("sarif", (finding,), Sources(tmp_path, {place.path: b"x"}, tmp_path)))
    assert list(SARIF.iter_errors(log)) == []
    (result,) = log["runs"][0]["results"]
    assert result["message"]["text"] == "m\n\n[/else where/y.cpp:3](1): r\n\n[\\[x\\].cpp:4](2): odd"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/gr%C3%B6%C3%9Fe%231.cpp"
    assert result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///else%20where/y.cpp"


def test_failures_of_op_lint_are_in_the_reports_of_services(tmp_path: Path) -> None:
    for name, where in (("sarif", '"executionSuccessful": false'), ("junit", "<error message="), ("jsonl", "OPLINT")):
        stream = io.StringIO()
        report.write(name, Report((), Sources(tmp_path, {}, tmp_path), failures=("rule X failed",)), stream)
        assert "rule X failed" in stream.getvalue()
        assert where in stream.getvalue()


def test_github(reports: dict[str, str], findings: list[dict[str, Any]]) -> None:
    lines = reports["github"].splitlines()
    commands = [re.fullmatch(r"::(error|warning|notice) title=([^,:]+),file=([^,:]+),line=(\d+),.*?::(.*)", line)
                for line in lines]  # fmt: skip
    assert all(commands)
    assert [(each[3], int(each[4]), each[2]) for each in commands if each] == [
        (each["path"], each["line"], f"{each['code']} {each['name']}") for each in findings
    ]


def test_github_escapes(tmp_path: Path) -> None:
    finding = Finding("X1", "x", Severity.HINT, "50% a\nb", Place("a,b:c.cpp", 1, 0, 1))
    assert written("github", (finding,), Sources(tmp_path, {"a,b:c.cpp": b"x"}, tmp_path)) == (
        "::notice title=X1 x,file=a%2Cb%3Ac.cpp,line=1,endLine=1,col=1,endColumn=2::a,b:c.cpp:1:1: X1 50%25 a%0Ab\n"
    )


@pytest.mark.parametrize(
    ("name", "variable"), [("github", "GITHUB_WORKSPACE"), ("sarif", "GITHUB_WORKSPACE"), ("gitlab", "CI_PROJECT_DIR")]
)
def test_services_see_paths_from_their_checkout(
    name: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = Finding("X1", "x", Severity.HINT, "m", Place("csrc/a.cpp", 1, 0, 1))
    sources = Sources(tmp_path / "libs" / "ops", {"csrc/a.cpp": b"x"}, tmp_path / "libs" / "ops" / "csrc")
    assert "libs/ops/csrc/a.cpp" not in written(name, (finding,), sources)
    monkeypatch.setenv(variable, str(tmp_path))
    assert "libs/ops/csrc/a.cpp" in written(name, (finding,), sources)


def test_gitlab_fingerprints_outlive_edits_elsewhere(tmp_path: Path) -> None:
    def fingerprints(data: bytes) -> list[str]:
        findings = tuple(
            Finding("X1", "x", Severity.ERROR, f"m{match.start()}", Place("a.cpp", line, match.start(), match.end()))
            for match in re.finditer(b"wrong", data)
            for line in [data.count(b"\n", 0, match.start()) + 1]
        )
        values = json.loads(written("gitlab", findings, Sources(tmp_path, {"a.cpp": data}, tmp_path)))
        assert all(set(value) >= {"description", "check_name", "severity", "location"} for value in values)
        return [value["fingerprint"] for value in values]

    before = fingerprints(b"wrong();\nwrong();\n wrong(1);\n")
    assert len(set(before)) == 3
    assert fingerprints(b"// new\n  wrong();\nwrong();\n\nwrong(1);\n") == before


def test_junit(reports: dict[str, str], findings: list[dict[str, Any]]) -> None:
    suites = ElementTree.fromstring(reports["junit"])
    assert suites.get("tests") == suites.get("failures") == str(len(findings))
    assert {suite.get("name") for suite in suites} == {each["path"] for each in findings}
    cases = [(case.get("file"), case.get("line")) for case in suites.iter("testcase")]
    assert cases == [(each["path"], str(each["line"])) for each in findings]
    assert len({(case.get("classname"), case.get("name")) for case in suites.iter("testcase")}) == len(findings)


def test_junit_of_nothing_and_of_control_characters(tmp_path: Path) -> None:
    sources = Sources(tmp_path, {}, tmp_path)
    (case,) = ElementTree.fromstring(written("junit", (), sources)).iter("testcase")
    assert list(case) == []
    finding = Finding("X1", "x", Severity.HINT, 'a\x00\x1b<>&"\ud800', Place("a.cpp", 1, 0, 1))
    (failure,) = ElementTree.fromstring(written("junit", (finding,), sources)).iter("failure")
    assert failure.get("message") == 'a\ufffd\ufffd<>&"\ufffd'


def test_rdjson(reports: dict[str, str], findings: list[dict[str, Any]]) -> None:
    diagnostics = json.loads(reports["rdjson"])["diagnostics"]
    assert [(each["code"]["value"], each["location"]["path"]) for each in diagnostics] == [
        (each["code"], each["path"]) for each in findings
    ]
    assert {each["severity"] for each in diagnostics} <= {"ERROR", "WARNING", "INFO"}


SOURCE = "// é\r\nf(é, b, c);\r\n".encode()


def two_edits(path: str = "a.cpp") -> Finding:
    start = SOURCE.index(b"b,")
    edits = (
        Edit(Place("a.cpp", 2, start, start + 1), "x\ny"),
        Edit(Place(path, 2, start + 3, start + 4), "z"),
    )
    return Finding("X1", "x", Severity.ERROR, "m", Place("a.cpp", 2, start, start + 1), fix=Fix("t", True, edits))


def test_rdjson_suggests_one_change_in_bytes(tmp_path: Path) -> None:
    sources = Sources(tmp_path, {"a.cpp": SOURCE}, tmp_path)
    (diagnostic,) = json.loads(written("rdjson", (two_edits(),), sources))["diagnostics"]
    (suggestion,) = diagnostic["suggestions"]
    assert suggestion["range"] == {"start": {"line": 2, "column": 7}, "end": {"line": 2, "column": 11}}
    assert suggestion["text"] == "x\r\ny, z"
    (elsewhere,) = json.loads(written("rdjson", (two_edits("b.cpp"),), sources))["diagnostics"]
    assert "suggestions" not in elsewhere


def test_lintrunner_gets_one_replacement_a_file(tmp_path: Path) -> None:
    first = two_edits()
    other = Finding(
        "X2",
        "y",
        Severity.HINT,
        "n",
        Place("a.cpp", 1, 0, 2),
        fix=Fix("t", True, (Edit(Place("a.cpp", 1, 0, 2), "//!"),)),
    )
    unsafe = Finding(
        "X3",
        "z",
        Severity.HINT,
        "o",
        Place("a.cpp", 1, 3, 5),
        fix=Fix("t", False, (Edit(Place("a.cpp", 1, 3, 5), "e"),)),
    )
    text = written("jsonl", (other, unsafe, first), Sources(tmp_path, {"a.cpp": SOURCE}, tmp_path))
    both, rest = map(json.loads, text.splitlines())
    assert (both["name"], both["severity"], both["line"], both["char"]) == ("X1 x, X2 y", "error", 1, 1)
    assert both["description"] == "n\n\nm"
    assert (both["original"], both["replacement"]) == (SOURCE.decode(), "//! é\r\nf(é, x\r\ny, z);\r\n")
    assert (rest["name"], rest["replacement"]) == ("X3 z", None)
    latin = SOURCE.decode().encode("latin-1")
    (only,) = map(json.loads, written("jsonl", (other,), Sources(tmp_path, {"a.cpp": latin}, tmp_path)).splitlines())
    assert only["replacement"] is None, "lintrunner would write the file anew as UTF-8"


def test_replacements_in_the_example_are_its_fixes(reports: dict[str, str], findings: list[dict[str, Any]]) -> None:
    messages = [json.loads(line) for line in reports["jsonl"].splitlines()]
    assert {message["severity"] for message in messages} <= {"error", "warning", "advice"}
    replaced = {message["path"]: message for message in messages if message["replacement"]}
    safe = {each["path"] for each in findings if each["fix"] and each["fix"]["safe"]}
    assert set(replaced) == safe
    for path, message in replaced.items():
        assert message["original"].encode() == (ROOT / "examples" / "myops" / path).read_bytes()


def test_which_format_goes_where(tmp_path: Path) -> None:
    source = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("other::a(Tensor x) -> Tensor", &f); }\n'
    write_project(tmp_path, {"wrong.cpp": source})

    def outcome(*arguments: str) -> tuple[int, str, str]:
        return run(tmp_path, "check", "--no-torch", "--jobs", "0", "--no-cache", *arguments)

    both = outcome("--output-format", "sarif", "--output-file", "a.sarif", "--output-format", "concise")
    assert both[1].startswith("wrong.cpp:2:")
    assert json.loads((tmp_path / "a.sarif").read_text())["version"] == "2.1.0"
    again = outcome("--output-format=concise", "--output-format=json", "--output-file=a.json")
    assert again == both
    assert json.loads((tmp_path / "a.json").read_text())[0]["code"] == "OPL206"
    alone = outcome("--output-file", "a.txt")
    assert (alone[0], alone[1]) == (1, "")
    assert "OPL206" in (tmp_path / "a.txt").read_text()
    for arguments, message in (
        (("--output-format", "json", "--output-format", "text"), "json and text would both go to stdout"),
        (("--output-file", "a", "--output-file", "b"), "--output-file b needs an --output-format of its own"),
        (("--output-file", "no/folder"), "there is no such folder"),
        (("--output-format", "xml"), "'xml' is not one of"),
    ):
        status, out, err = outcome(*arguments)
        assert (status, out) == (2, ""), arguments
        assert message in err


def test_a_file_has_no_colours_and_keeps_its_permissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    write_project(tmp_path, {"a.py": ""})
    target = tmp_path / "report.txt"
    target.write_text("old")
    target.chmod(0o640)
    assert run(tmp_path, "check", *FAST, "--output-file", "report.txt").status == 0
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("", 0o640)
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".tmp"] == []


def test_source_text_knows_its_line_ends_and_encoding() -> None:
    assert SourceText(b"a\r\nb\n").newline == "\r\n"
    assert SourceText(b"a\nb\r\n").newline == SourceText(b"").newline == "\n"
    assert SourceText(b"a\r\n").bytes_of("x\ny\r\nz") == b"x\r\ny\r\nz"
    assert (SourceText("é".encode()).is_utf8, SourceText(b"\xe9").is_utf8) == (True, False)
