"""`--fix`, `--unsafe-fixes`, `--diff`, `--add-ignores`: what becomes of the sources."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

import pytest

from op_lint.facts import Place
from op_lint.findings import Edit, Finding, Fix, Severity
from op_lint.fixes import edited, fixable_at_once, merged
from op_lint.packs import GROUP
from op_lint.program import Program
from op_lint.rule import Rule
from tests.check import Outcome, run, run_process, write_project

EXAMPLE = Path(__file__).parents[2] / "examples" / "myops"
FAST = ("--torch-version", "2.13.0+cpu", "--jobs", "0", "--no-cache")
TWICE = "#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {}\n"
MENDED = "#include <torch/library.h>\nTORCH_LIBRARY_FRAGMENT(demo, m) {}\n"


def check(folder: Path, *arguments: str) -> Outcome:
    return run(folder, "check", *FAST, *arguments)


def codes(folder: Path, *arguments: str) -> list[str]:
    return [each["code"] for each in json.loads(check(folder, "--output-format", "json", *arguments).out)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project", {"a.cpp": TWICE, "b.cpp": TWICE, "c.cpp": TWICE})


@pytest.fixture
def example(tmp_path: Path) -> Path:
    folder = tmp_path / "myops"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("build", "__pycache__"))
    return folder


def test_fix(project: Path) -> None:
    before = codes(project)
    assert set(before) == {"OPL203"}
    outcome = check(project, "--fix")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith(f"fixed {len(before)} findings in 2 files\nnothing found in 3 files\n")
    assert [(project / name).read_text() for name in ("a.cpp", "b.cpp", "c.cpp")] == [TWICE, MENDED, MENDED]
    again = check(project, "--fix")
    assert (again.status, again.out.splitlines()[0]) == (0, "fixed 0 findings in 0 files")


def test_fix_mends_what_is_named_and_reports_what_is_left(project: Path) -> None:
    assert check(project, "--fix", "b.cpp").status == 0
    assert [(project / name).read_text() for name in ("a.cpp", "b.cpp", "c.cpp")] == [TWICE, MENDED, TWICE]
    assert check(project).status == 1
    (project / "b.cpp").write_text('TORCH_LIBRARY(demo, m) { m.def("other::a(Tensor x) -> Tensor", &f); }\n')
    outcome = check(project, "--fix", "--output-format", "concise")
    assert outcome.status == 1
    assert re.search(r"^b\.cpp:1:\d+: error OPL206 ", outcome.out), outcome.out


def test_the_summary_says_what_can_be_fixed(example: Path) -> None:
    assert "1 of them can be fixed with --fix, " in check(example).out
    assert "more with --unsafe-fixes\n" in check(example).out
    assert "can be fixed" not in check(example, "--fix").out


def test_unsafe_fixes_are_made_when_asked_for(example: Path) -> None:
    assert check(example, "--fix").status == 1
    assert '"gather_row"' in (example / "csrc/cpu/kernels.cpp").read_text()
    assert check(example, "--unsafe-fixes").status == 1
    assert '"gather_row"' in (example / "csrc/cpu/kernels.cpp").read_text(), "nothing is changed without --fix"
    outcome = check(example, "--fix", "--unsafe-fixes", "--output-format", "json")
    assert not any(each["fix"] for each in json.loads(outcome.out))
    assert '"gather_rows", &gather_rows_cpu' in (example / "csrc/cpu/kernels.cpp").read_text()
    assert 'TORCH_LIBRARY_IMPL(myops, CUDA, m) {\n  m.impl("muladd"' in (example / "csrc/cuda/kernels.cu").read_text()


def test_diff_changes_nothing_and_git_takes_it(example: Path) -> None:
    before = {file: file.read_bytes() for file in example.rglob("*") if file.is_file()}
    outcome = check(example, "--diff", "--unsafe-fixes")
    assert outcome.status == 1
    assert "would have fixed " in outcome.err
    assert {file: file.read_bytes() for file in example.rglob("*") if file.is_file()} == before
    subprocess.run(["git", "apply", "-"], cwd=example, input=outcome.out.encode(), check=True)
    after = {file: file.read_bytes() for file in before}
    for file, content in before.items():
        file.write_bytes(content)
    check(example, "--fix", "--unsafe-fixes")
    assert {file: file.read_bytes() for file in before} == after != before


def test_what_is_kept_of_earlier_runs_makes_no_difference(example: Path) -> None:
    def seen(folder: Path, *arguments: str) -> list[Outcome]:
        kept = ("--torch-version", "2.13.0+cpu", "--jobs", "0", *arguments)
        steps = ((), (), ("--diff",), ("--fix",), (), ("--add-ignores",), ())
        return [run(folder, "check", *kept, *step) for step in steps]

    other = example.parent / "other" / example.name
    shutil.copytree(example, other)
    assert seen(example, "--cache-dir", "../cache") == seen(other, "--no-cache")


def test_diff_of_nothing(project: Path) -> None:
    check(project, "--fix")
    outcome = check(project, "--diff", "--quiet")
    assert outcome == (0, "", "")


def test_diff_shows_line_ends_and_bytes_as_they_are(project: Path) -> None:
    data = b"// caf\xe9 \r// x\r\nTORCH_LIBRARY(demo, m) {}"
    (project / "b.cpp").write_bytes(data)
    outcome = subprocess.run(
        [sys.executable, "-m", "op_lint", *FAST, "--diff", "-q", "b.cpp"], cwd=project, capture_output=True
    )
    assert outcome.returncode == 1, outcome
    assert outcome.stdout == (
        b"--- a/b.cpp\n+++ b/b.cpp\n@@ -1,2 +1,2 @@\n // caf\xe9 \r// x\r\n-TORCH_LIBRARY(demo, m) {}\n"
        b"\\ No newline at end of file\n+TORCH_LIBRARY_FRAGMENT(demo, m) {}\n\\ No newline at end of file\n"
    )
    subprocess.run(["git", "apply", "-"], cwd=project, input=outcome.stdout, check=True)
    assert (project / "b.cpp").read_bytes() == data.replace(b"TORCH_LIBRARY", b"TORCH_LIBRARY_FRAGMENT")


def test_stdin_is_printed_as_it_becomes(project: Path) -> None:
    arguments = ("check", "--no-torch", "--no-cache", "--jobs", "0", "--stdin-filename", "b.cpp", "-")
    fixed = run_process(project, *arguments, "--fix", stdin=TWICE.encode())
    assert (fixed.status, fixed.out) == (0, MENDED)
    assert "fixed 1 finding in 1 file" in fixed.err
    assert (project / "b.cpp").read_text() == TWICE
    diff = run_process(project, *arguments, "--diff", stdin=TWICE.encode())
    assert (diff.status, diff.out.splitlines()[-1]) == (1, " TORCH_LIBRARY(demo, m) {}".replace(" T", "+T", 1).replace(
        "LIBRARY", "LIBRARY_FRAGMENT"))  # fmt: skip
    assert run_process(project, *arguments, "--fix", "--output-format", "json", stdin=b"").status == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fix", "--add-ignores"), "exclude each other"),
        (("--diff", "--output-format", "json"), "the diff goes to stdout"),
        (("--watch", "--fix"), "--watch only looks"),
        (("--facts", "a.cpp", "--fix"), "--facts reads no source"),
    ],
)
def test_options_that_do_not_fit_together(project: Path, arguments: tuple[str, ...], message: str) -> None:
    outcome = check(project, *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert (project / "b.cpp").read_text() == TWICE


def test_a_file_keeps_its_bytes_mode_and_link(project: Path) -> None:
    data = b"\xef\xbb\xbf// caf\xe9\r\nTORCH_LIBRARY(demo, m) {}\r\n"
    (project / "real.inc").write_bytes(data)
    (project / "real.inc").chmod(0o755)
    (project / "b.cpp").unlink()
    (project / "op-lint.toml").write_text('exclude = ["real.inc"]\n')
    (project / "b.cpp").symlink_to("real.inc")
    assert check(project, "--fix", "b.cpp").status == 0
    assert (project / "b.cpp").is_symlink()
    assert (project / "real.inc").read_bytes() == data.replace(b"LIBRARY", b"LIBRARY_FRAGMENT")
    assert (project / "real.inc").stat().st_mode & 0o777 == 0o755


def test_nothing_outside_the_project_is_written(project: Path) -> None:
    outside = project.parent / "outside.cpp"
    outside.write_text(TWICE)
    (project / "b.cpp").unlink()
    (project / "b.cpp").symlink_to(outside)
    outcome = check(project, "--fix")
    assert outcome.status == 1
    assert "OPL203 is left as it is: b.cpp is outside the project" in outcome.err
    assert outside.read_text() == TWICE
    assert (project / "c.cpp").read_text() == MENDED, "the other file is mended all the same"
    assert check(project, "--add-ignores").status == 1
    assert outside.read_text() == TWICE


class Growing(Rule):
    """A rule whose fixes are those of a test."""

    code = "ZZZ1"
    name = "growing"
    severity = Severity.HINT
    edits: Callable[[bytes], list[list[Edit]]]

    def check(self, program: Program) -> Iterator[Finding]:
        for file in program.files:
            for definition in file.definitions:
                place = definition.text.place_of(0, len(definition.text.value))
                for edits in type(self).edits(definition.text.value.encode(), place):  # type: ignore[call-arg]
                    yield self.finding(place, "grow", fix=Fix("grow", True, tuple(edits)))


@pytest.fixture
def growing(monkeypatch: pytest.MonkeyPatch) -> type[Growing]:
    module = ModuleType("growing_pack")
    module.rules = lambda: [Growing]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "growing_pack", module)
    points = [*entry_points(group=GROUP), EntryPoint("growing", "growing_pack", GROUP)]
    monkeypatch.setattr("op_lint.packs.entry_points", lambda group: points)
    return Growing


DEFINES = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("a(Tensor x) -> Tensor", &f); }\n'


def use(rule: type[Growing], edits: Callable[[bytes, Place], list[list[Edit]]]) -> None:
    rule.edits = staticmethod(edits)  # type: ignore[assignment]


def test_fixes_that_touch_are_made_one_after_the_other(tmp_path: Path, growing: type[Growing]) -> None:
    def edits(text: bytes, place: Place) -> list[list[Edit]]:
        start = Place(place.path, place.line, place.start, place.start)
        grown = text.split(b"(")[0].decode()
        return [[Edit(start, "b")], [Edit(start, "c")]] if len(grown) < 3 else []

    use(growing, edits)
    write_project(tmp_path, {"a.cpp": DEFINES})
    outcome = check(tmp_path, "--fix", "--select", "ZZZ1")
    assert (outcome.status, outcome.out.splitlines()[0]) == (0, "fixed 2 findings in 1 file")
    assert '"bba(Tensor' in (tmp_path / "a.cpp").read_text()


def test_fixes_that_never_end_are_given_up(tmp_path: Path, growing: type[Growing]) -> None:
    use(growing, lambda _, place: [[Edit(Place(place.path, place.line, place.start, place.start), "x")]])
    write_project(tmp_path, {"a.cpp": DEFINES})
    outcome = check(tmp_path, "--fix", "--select", "ZZZ1")
    assert outcome.status == 1
    assert "the fixes undo each other and were given up" in outcome.err


def test_no_letter_that_the_file_cannot_hold(tmp_path: Path, growing: type[Growing]) -> None:
    def edits(text: bytes, place: Place) -> list[list[Edit]]:
        return [[Edit(place, "größe(Tensor x) -> Tensor")]] if text.startswith(b"a(") else []

    use(growing, edits)
    data = b"// caf\xe9\n" + DEFINES.encode()
    write_project(tmp_path, {"a.cpp": data})
    outcome = check(tmp_path, "--fix", "--select", "ZZZ1")
    assert outcome.status == 1
    assert "ZZZ1 is left as it is: a.cpp is not UTF-8" in outcome.err
    assert (tmp_path / "a.cpp").read_bytes() == data


def test_a_file_that_changes_meanwhile_is_not_overwritten(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from op_lint.cli import changes

    def late(options: object, rewritten: object) -> object:
        (project / "b.cpp").write_text("// typed just now\n")
        return changes.finish(options, rewritten)  # type: ignore[arg-type]

    monkeypatch.setattr("op_lint.cli.check.finish", late)
    outcome = check(project, "--fix")
    assert outcome.status == 2
    assert "b.cpp was changed while op-lint looked at it, so nothing is written: run it again" in outcome.err
    assert (project / "b.cpp").read_text() == "// typed just now\n"
    assert (project / "c.cpp").read_text() == TWICE


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every file")
def test_a_write_protected_file_is_a_message(project: Path) -> None:
    (project / "b.cpp").chmod(0o444)
    outcome = check(project, "--fix")
    assert outcome.status == 2
    assert "b.cpp is write-protected, so nothing is written" in outcome.err


def test_add_ignores(example: Path) -> None:
    check(example, "--fix")
    shown = check(example, "--add-ignores", "--diff")
    assert "+  // op-lint: ignore[OPL201]\n" in shown.out
    outcome = check(example, "--add-ignores")
    assert outcome.status == 0, outcome
    assert re.match(r"ignored \d+ findings in \d+ files\nnothing found", outcome.out)
    assert check(example).status == 0
    assert "+" not in check(example, "--add-ignores", "--diff").out
    assert "# op-lint: ignore[OPL201]\n@torch.library.impl" in (example / "myops/ops.py").read_text()


IGNORED = {
    # more than one code; a comment that is there already
    "a.cpp": (
        '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {}\n'
        '  TORCH_LIBRARY(demo, m) { m.def("x::a(Tensor x) -> Tensor", &f); }\r\n'
        'TORCH_LIBRARY(demo, m) {}  // op-lint: ignore[OPL999, OPL998] why\n',
        '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {}\n  // op-lint: ignore[OPL203, OPL206]\n'
        '  TORCH_LIBRARY(demo, m) { m.def("x::a(Tensor x) -> Tensor", &f); }\r\n'
        'TORCH_LIBRARY(demo, m) {}  // op-lint: ignore[OPL999, OPL998, OPL203] why\n',
    ),
    # a macro of several lines, which a comment line would cut
    "b.cpp": (
        "#include <torch/library.h>\nTORCH_LIBRARY_FRAGMENT(demo, m) {\n"
        '#define TWO(n) \\\n  m.def("x::b(Tensor x) -> Tensor", &f); \\\n  m.def("y::b(Tensor x) -> Tensor", &f)\n'
        "  TWO(1);\n}\n",
        None,
    ),
    "c.py": (
        'import torch\n@torch.library.impl("far::nowhere", "CPU")\ndef f(x):\n    return x\n',
        'import torch\n# op-lint: ignore[OPL201]\n'
        '@torch.library.impl("far::nowhere", "CPU")\ndef f(x):\n    return x\n',
    ),
    "d.cpp": (DEFINES.replace("demo", "far"), DEFINES.replace("demo", "far")),
}  # fmt: skip


def test_where_comments_go(tmp_path: Path) -> None:
    write_project(tmp_path, {name: before for name, (before, _) in IGNORED.items()})
    before = codes(tmp_path)
    assert {"OPL201", "OPL203", "OPL206"} <= set(before)
    outcome = check(tmp_path, "--add-ignores", "--ignore", "OPL901", "--output-format", "concise")
    assert outcome.status == 0, outcome
    for name, (_, after) in IGNORED.items():
        if after is not None:
            assert (tmp_path / name).read_bytes().decode() == after
    assert codes(tmp_path, "--ignore", "OPL901") == []


def test_what_no_comment_can_silence_is_left(tmp_path: Path) -> None:
    source = "// op-lint: ignore[OPL201] idle\n" + DEFINES
    write_project(tmp_path, {"a.cpp": source})
    assert codes(tmp_path) == ["OPL901"]
    outcome = check(tmp_path, "--add-ignores")
    assert outcome.status == 1
    assert (tmp_path / "a.cpp").read_text() == source


def test_edits() -> None:
    data = b"one two three\r\nfour"
    edits = (Edit(Place("a", 1, 8, 13), "3\n!"), Edit(Place("a", 1, 0, 3), "1"), Edit(Place("a", 2, 19, 19), "."))
    assert edited(data, edits) == b"1 two 3\r\n!\r\nfour."
    one = merged(data, edits[:2])
    assert (one.place, one.text) == (Place("a", 1, 0, 13), "1 two 3\r\n!")
    assert edited(data, ()) == data


def test_fixes_that_go_together() -> None:
    def finding(start: int, end: int, *, safe: bool = True, path: str = "a") -> Finding:
        place = Place(path, 1, start, end)
        return Finding("X", "x", Severity.HINT, "m", place, fix=Fix("t", safe, (Edit(place, "y"),)))

    first, beside, apart, unsafe, other = (
        finding(0, 3), finding(3, 5), finding(4, 5), finding(9, 9, safe=False), finding(0, 3, path="b"),
    )  # fmt: skip
    plain = Finding("X", "x", Severity.HINT, "m", Place("a", 1, 7, 8))
    assert fixable_at_once((first, beside, apart, plain, unsafe, other)) == (first, apart, other)
    assert fixable_at_once((unsafe, first), unsafe=True) == (unsafe, first)
