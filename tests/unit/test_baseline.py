"""The baseline: written, used, exceeded, stale, pruned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.check import Outcome, run, write_project
from tests.check import check as told

HEAD = "#include <torch/library.h>\n"
FAST = ("--no-torch", "--jobs", "0", "--no-cache", "--baseline", "known.json")


def wrong(namespace: str, count: int = 1) -> str:
    """A file with so many findings of OPL206."""
    calls = "".join(f'  m.def("other::a{number}(Tensor x) -> Tensor", &f);\n' for number in range(count))
    return f"{HEAD}TORCH_LIBRARY({namespace}, m) {{\n{calls}}}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path, {"a.cpp": wrong("one", 2), "sub/b.cpp": wrong("two")})


def check(folder: Path, *arguments: str) -> Outcome:
    return run(folder, "check", *FAST, *arguments)


def known(folder: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = json.loads((folder / "known.json").read_text())["findings"]
    return found


def test_what_is_known_is_not_told(project: Path) -> None:
    written = check(project, "--write-baseline")
    assert written == (0, "", "the baseline has 3 findings of the files looked at\n")
    assert (project / "known.json").read_text() == (
        '{\n  "version": 1,\n  "findings": {\n    "a.cpp": {\n      "OPL206": 2\n    },\n'
        '    "sub/b.cpp": {\n      "OPL206": 1\n    }\n  }\n}\n'
    )
    assert check(project) == (0, "nothing found in 2 files\n3 findings more are in the baseline\n", "")
    assert check(project, "--output-format", "json", "-q") == (0, "[]\n", "")


def configured(folder: Path, *arguments: str) -> Outcome:
    return run(folder, "check", *FAST[:-2], *arguments)


def test_the_configuration_names_the_baseline(project: Path) -> None:
    (project / "op-lint.toml").write_text('baseline = "known.json"\n')
    missing = configured(project)
    assert (missing.status, missing.err.splitlines()[-1]) == (
        2,
        "Error: there is no baseline known.json; --write-baseline makes it",
    )
    assert configured(project / "sub", "--write-baseline", "..").status == 0
    assert known(project) == {"a.cpp": {"OPL206": 2}, "sub/b.cpp": {"OPL206": 1}}
    assert configured(project).out == "nothing found in 2 files\n3 findings more are in the baseline\n"
    assert configured(project / "sub").out == "nothing found in 1 file\n1 finding more is in the baseline\n"
    assert configured(project, "--no-baseline").status == 1
    assert configured(project, "--isolated").status == 1
    (project / "other.json").write_text('{"version": 1, "findings": {}}')
    assert configured(project, "--baseline", "other.json").status == 1, "the command line wins"
    (project / "sub" / "b.cpp").write_text("")
    stale = configured(project / "sub", "..").err
    assert stale.startswith(f"{project}/known.json:8: sub/b.cpp has no findings of OPL206, the baseline allows 1:")
    assert configured(project, "--prune-baseline").status == 0
    assert known(project) == {"a.cpp": {"OPL206": 2}}


@pytest.mark.parametrize(
    "arguments", [("--write-baseline",), ("--prune-baseline",), ("--no-baseline", "--baseline", "known.json")]
)
def test_a_baseline_must_be_named(project: Path, arguments: tuple[str, ...]) -> None:
    outcome = configured(project, *arguments)
    assert outcome.status == 2
    assert "baseline" in outcome.err.splitlines()[-1]


def test_the_server_takes_the_configured_baseline_too(project: Path) -> None:
    (project / "op-lint.toml").write_text('baseline = "known.json"\ntorch = false\n')
    assert configured(project, "--write-baseline").status == 0
    assert not told(project, front="server")
    (project / "a.cpp").write_text(wrong("one", 3))
    assert {finding["path"] for finding in told(project, front="server")} == {"a.cpp"}
    (project / "known.json").unlink()
    found = told(project, front="server")
    assert len(found) == 5, "all of them, and one on the configuration"
    assert [(each["path"], each["line"]) for each in found if "there is no baseline" in each["message"]] == [
        ("op-lint.toml", 1)
    ]


def test_a_renamed_file_is_a_new_one_and_its_entry_is_stale(project: Path) -> None:
    check(project, "--write-baseline")
    (project / "a.cpp").rename(project / "z.cpp")
    outcome = check(project, "--output-format", "concise")
    assert outcome.status == 2, "an entry is stale"
    assert {line.partition(":")[0] for line in outcome.out.splitlines() if "OPL206" in line} == {"z.cpp"}
    assert "a.cpp has no findings of OPL206, the baseline allows 2" in outcome.err


def test_lines_may_move_and_what_is_new_is_told(project: Path) -> None:
    check(project, "--write-baseline")
    (project / "a.cpp").write_text("// new\n\n" + wrong("one", 2))
    assert check(project).status == 0
    (project / "c.cpp").write_text(wrong("three"))
    outcome = check(project, "--output-format", "concise")
    assert outcome.status == 1
    assert [line.partition(":")[0] for line in outcome.out.splitlines() if "OPL206" in line] == ["c.cpp"]


def test_where_there_are_more_all_are_told(project: Path) -> None:
    check(project, "--write-baseline")
    (project / "a.cpp").write_text(wrong("one", 3))
    outcome = check(project)
    assert outcome.status == 1
    assert "3 errors in 2 files\n1 finding more is in the baseline\n" in outcome.out
    assert "a.cpp: 3 findings of OPL206, 2 in the baseline, so all of them are shown\n" in outcome.out


def test_a_stale_entry_is_an_error_until_it_is_pruned(project: Path) -> None:
    check(project, "--write-baseline")
    (project / "a.cpp").write_text(wrong("one", 1))
    (project / "sub/b.cpp").unlink()
    outcome = check(project)
    assert outcome.status == check(project, "--exit-zero").status == 2
    assert outcome.err.splitlines() == [
        "known.json:5: a.cpp has 1 finding of OPL206, the baseline allows 2:"
        " run with --prune-baseline, and commit the file",
        "known.json:8: sub/b.cpp has no findings of OPL206, the baseline allows 1:"
        " run with --prune-baseline, and commit the file",
    ]
    assert check(project, "--prune-baseline").status == 0
    assert known(project) == {"a.cpp": {"OPL206": 1}}
    assert check(project) == (0, "nothing found in 1 file\n1 finding more is in the baseline\n", "")


def test_pruning_takes_nothing_new_in(project: Path) -> None:
    check(project, "--write-baseline")
    (project / "a.cpp").write_text(wrong("one", 3))
    before = (project / "known.json").read_bytes()
    assert check(project, "--prune-baseline").status == 1
    assert (project / "known.json").read_bytes() == before


def test_only_what_was_looked_at_is_judged(project: Path) -> None:
    check(project, "--write-baseline")
    (project / "a.cpp").write_text(HEAD)
    (project / "sub/b.cpp").write_text(HEAD)
    assert check(project, "a.cpp").err.count("\n") == 1
    assert check(project, "--select", "OPL201").status == 0, "OPL206 did not run"
    assert check(project, "a.cpp", "--prune-baseline").status == 0
    assert known(project) == {"sub/b.cpp": {"OPL206": 1}}
    (project / "a.cpp").write_text(wrong("one", 4))
    assert check(project, "a.cpp", "--write-baseline").status == 0
    assert known(project) == {"a.cpp": {"OPL206": 4}, "sub/b.cpp": {"OPL206": 1}}
    assert check(project, "--select", "OPL201", "--write-baseline").status == 0
    assert known(project) == {"a.cpp": {"OPL206": 4}, "sub/b.cpp": {"OPL206": 1}}


def test_what_is_known_is_not_changed(tmp_path: Path) -> None:
    twice = f"{HEAD}TORCH_LIBRARY(demo, m) {{}}\n"
    write_project(tmp_path, {"a.cpp": twice, "b.cpp": twice})
    check(tmp_path, "--write-baseline")
    assert known(tmp_path) == {"b.cpp": {"OPL203": 1}}
    assert check(tmp_path, "--fix").status == check(tmp_path, "--add-ignores").status == 0
    assert (tmp_path / "b.cpp").read_text() == twice


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "known.json: this is no baseline of op-lint: "),
        ('{\n"version": 1,\n"findings": {"a": ]}', "known.json:3: this is no baseline of op-lint: "),
        ('{"version": 1, "findings": {"a": {"b": "c"}}}', "known.json: this is no baseline of op-lint: Expected `int`"),
        ('{"version": 2, "findings": {}}', "known.json: a baseline of version 2; this op-lint reads version 1"),
        ("\xff", "known.json: this is no baseline of op-lint: "),
        (None, "there is no baseline known.json; --write-baseline makes it"),
    ],
)
def test_a_baseline_that_cannot_be_used(project: Path, text: str | None, message: str) -> None:
    if text is not None:
        (project / "known.json").write_text(text, encoding="latin-1")
    outcome = check(project)
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
    if text is not None:
        assert check(project, "--write-baseline").status == 2, "what is there is not overwritten unread"


def test_options_that_do_not_fit_together(project: Path) -> None:
    for arguments in (("--write-baseline", "--prune-baseline"), ("--write-baseline", "--fix")):
        assert check(project, *arguments).status == 2
    assert run(project, "check", "--no-torch", "--write-baseline").status == 2
    assert not (project / "known.json").exists()
    assert check(project, "--write-baseline", "--baseline", "no/folder.json").status == 2
