"""Questions on the build graph, configured builds that are damaged or old, what is kept, and the fixes of the rules."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from op_lint.build import BuildGraph, Questions, read_build, symbols
from op_lint.build import kept as kept_module
from op_lint.build.files import BuildFiles
from op_lint.build.kept import KeptGraph
from op_lint.build.model import BuildSystem, TargetKind
from op_lint.build.questions import LinkedBinary, Member
from op_lint.build.reader import read_targets
from op_lint.build.watched import Watched
from op_lint.condition import ALWAYS, Atom
from op_lint.files import find_sources
from tests.check import check, run, write_project
from tests.unit.graphs import cmake, graph_of, links, only, sources

OPS = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {\n  m.def("f(Tensor x) -> Tensor");\n}\n'


def questions(folder: Path, text: str, **files: str) -> Questions:
    """The questions on a project of one `CMakeLists.txt` and sources named by their stems."""
    named = {f"{name}.cpp": content for name, content in files.items()}
    return Questions(graph_of(folder, {"CMakeLists.txt": text, **named}, registering=("ops.cpp",)))


def test_the_targets_of_a_source(tmp_path: Path) -> None:
    text = "add_library(a SHARED ops.cpp)\nif(W)\n  add_library(b MODULE ops.cpp)\nendif()\n"
    found = questions(tmp_path, text, ops=OPS).targets_of("ops.cpp")
    assert [(each.target.name, str(each.condition)) for each in found] == [("a", ""), ("b", "W")]


def test_two_sources_in_one_binary_or_apart(tmp_path: Path) -> None:
    text = "add_library(a SHARED ops.cpp x.cpp)\nadd_library(b SHARED y.cpp)\n"
    asked = questions(tmp_path, text, ops=OPS, x="", y="")
    assert asked.same_binary("ops.cpp", "x.cpp") is True
    assert asked.same_binary("ops.cpp", "y.cpp") is False
    assert asked.loaded_together("ops.cpp", "y.cpp") is False
    assert asked.same_binary("ops.cpp", "elsewhere.cpp") is None


def test_two_sources_under_conditions_that_exclude_each_other(tmp_path: Path) -> None:
    text = "if(W)\n set(S x.cpp)\nelse()\n set(S y.cpp)\nendif()\nadd_library(a SHARED ops.cpp ${S})\n"
    asked = questions(tmp_path, text, ops=OPS, x="", y="")
    assert asked.same_binary("x.cpp", "y.cpp") is False
    assert asked.same_binary("ops.cpp", "y.cpp") is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add_library(a SHARED ops.cpp x.cpp)\n", True),
        ("add_library(a SHARED ops.cpp)\nif(W)\n target_sources(a PRIVATE x.cpp)\nendif()\n", True),
        ("add_library(a SHARED ops.cpp)\nadd_library(b SHARED x.cpp)\n", None),
        ("add_library(a SHARED ops.cpp)\n", None),
        ("if(W)\n set(S ops.cpp)\nelse()\n set(S x.cpp)\nendif()\nadd_library(a SHARED ${S})\n", False),
        (
            "if(V)\n list(APPEND S ops.cpp)\nendif()\nif(W)\n list(APPEND S x.cpp)\nendif()\n"
            "add_library(a SHARED ${S})\n",
            None,
        ),
        ("add_library(o OBJECT x.cpp)\nadd_library(a SHARED ops.cpp)\ntarget_link_libraries(a PRIVATE o)\n", True),
        ("add_library(s STATIC x.cpp)\nadd_library(a SHARED ops.cpp)\ntarget_link_libraries(a PRIVATE s)\n", None),
    ],
    ids=["one", "one has a condition", "two", "one is not built", "alternatives", "two options", "objects", "dropped"],
)
def test_whether_a_build_with_one_has_the_other(text: str, expected: bool | None, tmp_path: Path) -> None:
    asked = questions(tmp_path, text, ops=OPS, x="static int x = 1;\n")
    assert asked.meet("ops.cpp", "x.cpp") is asked.meet("x.cpp", "ops.cpp") is expected


def test_libraries_that_are_loaded_together(tmp_path: Path) -> None:
    text = "add_library(a SHARED ops.cpp)\nadd_library(b MODULE x.cpp)\ntarget_link_libraries(b PRIVATE a)\n"
    used = questions(
        tmp_path / "used", text, ops=OPS + "int g() { return 1; }\n", x="int g();\nint h() { return g(); }\n"
    )
    assert used.loaded_together("ops.cpp", "x.cpp") is True
    assert used.same_binary("ops.cpp", "x.cpp") is False
    unused = questions(tmp_path / "unused", text, ops=OPS, x="int h() { return 0; }\n")
    assert unused.loaded_together("ops.cpp", "x.cpp") is False


def test_what_cannot_be_known_is_none(tmp_path: Path) -> None:
    text = "add_library(a STATIC ops.cpp)\nadd_library(b MODULE x.cpp)\ntarget_link_libraries(b PRIVATE a)\n"
    maybe = "int g();\nstatic int (*kept)() = &g;\n"
    asked = questions(tmp_path, text, ops=OPS + "int g() { return 1; }\n", x=maybe)
    found = asked.unit_survives_link("ops.cpp", only(asked.graph, "b"))
    assert found is not None
    assert found.survives is None
    assert asked.unit_survives_link("other.cpp", only(asked.graph, "b")) is None


def test_the_values_of_a_macro(tmp_path: Path) -> None:
    text = (
        "add_library(a SHARED ops.cpp)\ntarget_compile_definitions(a PRIVATE TORCH_EXTENSION_NAME=one)\n"
        "add_library(b SHARED ops.cpp)\nadd_library(c SHARED x.cpp)\n"
    )
    asked = questions(tmp_path, text, ops=OPS, x="")
    assert asked.macro_values("ops.cpp", "TORCH_EXTENSION_NAME") == frozenset({"one", None})
    assert asked.macro_values("x.cpp", "TORCH_EXTENSION_NAME") == frozenset({None})
    assert asked.macro_values("gone.cpp", "TORCH_EXTENSION_NAME") is None


def test_conditions_that_hold_by_default(tmp_path: Path) -> None:
    asked = questions(tmp_path, 'option(ON_ "" ON)\noption(OFF_ "" OFF)\nadd_library(a SHARED ops.cpp)\n', ops=OPS)
    answers = {text: asked.holds_by_default(Atom(text)) for text in ("ON_", "OFF_", "WIN32", "UNIX", "SOMETHING")}
    assert answers == {"ON_": True, "OFF_": False, "WIN32": False, "UNIX": True, "SOMETHING": None}


class TestConfiguredBuilds:
    """What a build folder has left behind."""

    def reply(self, folder: Path, **changes: Any) -> None:
        """The files that CMake writes for one target of two sources."""
        replies = folder / "build" / ".cmake" / "api" / "v1" / "reply"
        replies.mkdir(parents=True)
        target = {
            "name": "demo", "id": "demo::@1", "type": "SHARED_LIBRARY", "artifacts": [{"path": "libdemo.so"}],
            "sources": [{"path": "a.cpp", "compileGroupIndex": 0}, {"path": "a.h"}],
            "compileGroups": [{"defines": [{"define": "X=1"}]}],
            "link": {"commandFragments": [{"fragment": "-Wl,--whole-archive libx.a", "role": "libraries"}]},
            "backtrace": 0, "backtraceGraph": {"files": ["CMakeLists.txt"], "nodes": [{"file": 0, "line": 1}]},
            **changes,
        }  # fmt: skip
        model = {
            "paths": {"source": str(folder), "build": str(folder / "build")},
            "configurations": [{"targets": [{"name": "demo", "id": "demo::@1", "jsonFile": "target.json"}]}],
        }
        index = {"objects": [{"kind": "cache"}, {"kind": "codemodel", "jsonFile": "model.json"}]}
        for name, content in {"index-1.json": index, "model.json": model, "target.json": target}.items():
            (replies / name).write_text(json.dumps(content))

    def test_its_links_replace_those_that_were_read(self, tmp_path: Path) -> None:
        text = "add_library(demo SHARED a.cpp)\nif(W)\n target_sources(demo PRIVATE b.cpp)\nendif()\n"
        cmake(tmp_path, text, "a.cpp", "b.cpp")
        self.reply(tmp_path)
        target = only(read_build(tmp_path, ["CMakeLists.txt"], ["a.cpp", "b.cpp"]))
        assert sources(target) == {"a.cpp": "", "b.cpp": "W"}
        assert links(target) == [("libx.a", "whole archive")]
        assert target.system is BuildSystem.CMAKE

    def test_one_that_is_older_than_the_build_files_does_not_count(self, tmp_path: Path) -> None:
        self.reply(tmp_path)
        index = tmp_path / "build" / ".cmake" / "api" / "v1" / "reply" / "index-1.json"
        os.utime(index, (1, 1))
        assert links(only(cmake(tmp_path, "add_library(demo SHARED a.cpp)\n", "a.cpp"))) == []

    @pytest.mark.parametrize(
        "changes", [{"type": 1}, {"sources": None}, {"link": []}, {"backtraceGraph": {"nodes": 3}}]
    )
    def test_one_that_is_damaged_is_none(self, changes: dict[str, Any], tmp_path: Path) -> None:
        self.reply(tmp_path, **changes)
        assert only(cmake(tmp_path, "add_library(demo SHARED a.cpp)\n", "a.cpp")).kind is TargetKind.SHARED

    @pytest.mark.parametrize(
        "text", ["", "build", "build a: b", "build : \n  x", "build a.o: CXX_COMPILER__x_ a.cpp\n" * 3]
    )
    def test_ninja_files(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "build.ninja").write_text(text)
        assert isinstance(cmake(tmp_path, "add_library(demo SHARED a.cpp)\n", "a.cpp"), BuildGraph)

    def test_the_ninja_file_of_an_extension(self, tmp_path: Path) -> None:
        lines = "rule compile\n  command = c++\nrule link\n  command = c++\n"
        lines += f"build ops.o: compile {tmp_path}/ops.cpp\nbuild ops.so: link ops.o\n"
        (tmp_path / "jit").mkdir()
        (tmp_path / "jit" / "build.ninja").write_text(lines)
        target = only(graph_of(tmp_path, {"ops.cpp": OPS}))
        assert (target.system, target.kind, sources(target)) == (
            BuildSystem.NINJA,
            TargetKind.EXTENSION,
            {"ops.cpp": ""},
        )

    @pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"file": 1}]', '[{"file": "a.cpp", "command": "c++ \'"}]'])
    def test_compile_databases_that_are_none(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "compile_commands.json").write_text(text)
        assert only(cmake(tmp_path, "add_library(demo SHARED a.cpp)\n", "a.cpp")).name == "demo"


def test_the_graph_is_read_again_only_after_a_change(tmp_path: Path) -> None:
    write_project(tmp_path, {"ops.cpp": OPS, "CMakeLists.txt": "add_library(a SHARED ops.cpp)\n"})
    kept = KeptGraph()

    def look(**typed: bytes) -> BuildGraph:
        buffers = {{"build": "CMakeLists.txt", "source": "ops.cpp"}[name]: data for name, data in typed.items()}
        return kept.graph(
            tmp_path, ("CMakeLists.txt",), ("ops.cpp",), registering=("ops.cpp",), scripts=(), buffers=buffers
        )

    first = look()
    assert look() is first
    assert look(source=b"typed") is first
    typed = look(build=b"add_library(b SHARED ops.cpp)\n")
    assert [each.name for each in typed.targets] == ["b"]
    (tmp_path / "CMakeLists.txt").write_text("add_library(longer_name SHARED ops.cpp)\n")
    assert [each.name for each in look().targets] == ["longer_name"]


class TestKeptBetweenRuns:
    """The graph of a project that another run has read."""

    CMAKE = "file(GLOB S *.cpp)\nadd_library(a SHARED ${S})\n"

    def look(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[BuildGraph, list[str]]:
        """The graph, and what had to be read anew for it: build files (`targets`) and sources."""
        anew: list[str] = []
        parse = symbols._parse

        def targets(files: BuildFiles, build_files: Sequence[str], scripts: Sequence[str]) -> BuildGraph:
            anew.append("targets")
            return read_targets(files, build_files, scripts)

        def parsed(text: str) -> symbols._Unit:
            anew.append(text)
            return parse(text)

        monkeypatch.setattr(kept_module, "read_targets", targets)
        monkeypatch.setattr(symbols, "_parse", parsed)
        tree = find_sources(folder)
        watched = Watched(folder, {})
        graph = KeptGraph(folder.parent / "kept").graph(
            folder, tree.build, tree.cpp, registering=("ops.cpp",), scripts=tree.python, buffers={}, files=watched
        )
        monkeypatch.undo()
        assert {str(folder / path) for path in ("CMakeLists.txt", "ops.cpp")} <= {look.path for look in watched.looks}
        assert graph == read_build(folder, tree.build, tree.cpp, registering=("ops.cpp",), scripts=tree.python)
        return graph, anew

    def test_nothing_is_read_anew_but_what_has_changed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = write_project(
            tmp_path / "project", {"ops.cpp": OPS, "x.cpp": "int x();\n", "CMakeLists.txt": self.CMAKE}
        )
        assert set(self.look(folder, monkeypatch)[1]) == {"targets", OPS, "int x();\n"}
        assert self.look(folder, monkeypatch)[1] == []
        (folder / "x.cpp").write_text("int other();\n")
        assert self.look(folder, monkeypatch)[1] == ["int other();\n"]
        (folder / "y.cpp").write_text("int y();\n")
        graph, anew = self.look(folder, monkeypatch)
        assert set(anew) == {"targets", "int y();\n"}
        assert set(sources(only(graph))) == {"ops.cpp", "x.cpp", "y.cpp"}
        (folder / "CMakeLists.txt").write_text("add_library(b SHARED ops.cpp)\n")
        assert self.look(folder, monkeypatch)[1] == ["targets"]

    def test_a_damaged_entry_is_read_anew(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = write_project(tmp_path / "project", {"ops.cpp": OPS, "CMakeLists.txt": self.CMAKE})
        self.look(folder, monkeypatch)
        for entry in (tmp_path / "kept").rglob("*"):
            if entry.is_file():
                entry.write_bytes(entry.read_bytes()[:-3])
        assert set(self.look(folder, monkeypatch)[1]) == {"targets", OPS}

    def test_an_edit_of_a_source_leaves_the_build_files_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_project(tmp_path, {"ops.cpp": OPS, "CMakeLists.txt": self.CMAKE})
        kept = KeptGraph()
        look = partial(kept.graph, tmp_path, ("CMakeLists.txt",), ("ops.cpp",), scripts=(), buffers={})
        assert look(registering=()).targets
        monkeypatch.setattr(kept_module, "read_targets", None)
        (tmp_path / "ops.cpp").write_text(OPS + "int more() { return 1; }\n")
        (symbols_,) = look(registering=("ops.cpp",)).symbols
        assert "more" in symbols_.defines


MODULE = "#include <pybind11/pybind11.h>\nPYBIND11_MODULE(demo, m) {}\n"
PLAIN = "add_library(demo MODULE ops.cpp entry.cpp)\n"
ARCHIVE = "add_library(x STATIC ops.cpp)\nadd_library(demo MODULE entry.cpp)\ntarget_link_libraries(demo {})\n"
SHARED = "add_library(x SHARED ops.cpp)\nadd_library(demo MODULE entry.cpp)\ntarget_link_libraries(demo x)\n"


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        (PLAIN, False),
        ("add_library(o OBJECT ops.cpp)\nadd_library(demo MODULE entry.cpp $<TARGET_OBJECTS:o>)\n", False),
        (ARCHIVE.format("-Wl,--whole-archive x -Wl,--no-whole-archive"), False),
        (ARCHIVE.format("x"), True),
        (SHARED, True),
    ],
    ids=["plain", "objects", "whole archive", "archive", "shared"],
)
def test_symbols_are_read_where_they_decide_something(text: str, is_read: bool, tmp_path: Path) -> None:
    write_project(tmp_path, {"CMakeLists.txt": text, "ops.cpp": OPS + "int f() { return 1; }\n", "entry.cpp": MODULE})
    tree = find_sources(tmp_path)
    read = partial(read_build, tmp_path, tree.build, tree.cpp, registering=("ops.cpp",))
    every, some = Questions(read()), Questions(read(apart=False))
    symbols_ = {each.path: each for each in some.graph.symbols}
    assert [symbols_[path].opaque for path in ("ops.cpp", "entry.cpp")] == [not is_read] * 2
    assert not any(each.opaque for each in every.graph.symbols)
    for target, other in zip(every.graph.targets, some.graph.targets, strict=True):
        assert every.unit_survives_link("ops.cpp", target) == some.unit_survives_link("ops.cpp", other)
        assert every.makes_module(target) == some.makes_module(other)
        assert [needed for *_, needed in every.loads(target)] == [needed for *_, needed in some.loads(other)]


def test_symbols_are_read_where_a_header_may_make_the_module(tmp_path: Path) -> None:
    files = {"ops.cpp": '#include "own.h"\nOWN(demo)\n', "own.h": "#define OWN(n) PYBIND11_MODULE(n, m) {}\n"}
    write_project(tmp_path, {"CMakeLists.txt": "add_library(demo MODULE ops.cpp)\n", **files})
    tree = find_sources(tmp_path)
    graph = read_build(tmp_path, tree.build, tree.cpp, registering=("ops.cpp",), apart=False)
    assert Questions(graph).makes_module(only(graph)) is True


def test_a_project_without_build_files(tmp_path: Path) -> None:
    assert read_build(tmp_path, [], ["ops.cpp"], registering=["ops.cpp"]).targets == ()


@pytest.mark.parametrize(
    ("minimum", "linked"),
    [
        ("3.24", "$<LINK_LIBRARY:WHOLE_ARCHIVE,demo_ops>"),
        ("3.18...3.30", "-Wl,--whole-archive demo_ops -Wl,--no-whole-archive"),
    ],
)
def test_the_fix_of_a_dropped_archive(minimum: str, linked: str, tmp_path: Path) -> None:
    text = (
        f"cmake_minimum_required(VERSION {minimum})\nadd_library(demo_ops STATIC ops.cpp)\n"
        "add_library(demo MODULE entry.cpp)\ntarget_link_libraries(demo PRIVATE {})\n"
    )
    entry = "int e() { return 0; }\n"
    write_project(tmp_path, {"CMakeLists.txt": text.format("demo_ops"), "ops.cpp": OPS, "entry.cpp": entry})
    arguments = ("--no-torch", "--select", "OPL502")
    (found,) = check(tmp_path, *arguments)
    assert found["fix"]["title"] == f"link with {linked}"
    run(tmp_path, "check", *arguments, "--fix", "--unsafe-fixes", "--no-cache", "--jobs", "0")
    fixed = (tmp_path / "CMakeLists.txt").read_text()
    assert fixed == text.format(linked)
    assert check(tmp_path, *arguments) == []


@pytest.mark.parametrize(("file", "attribute"), [("BUILD", "alwayslink"), ("BUCK", "link_whole")])
def test_the_fix_for_bazel_and_buck(file: str, attribute: str, tmp_path: Path) -> None:
    rule = "cc_library" if file == "BUILD" else "cxx_library"
    text = f'{rule}(name = "ops", srcs = ["ops.cpp"])\n'
    text += 'cc_binary(name = "main.so", linkshared = True, srcs = ["entry.cpp"], deps = [":ops"])\n'
    write_project(tmp_path, {file: text, "ops.cpp": OPS, "entry.cpp": "int e() { return 0; }\n"})
    (found,) = check(tmp_path, "--no-torch", "--select", "OPL502")
    (edit,) = found["fix"]["edits"]
    assert (edit["path"], edit["line"], edit["text"]) == (file, 1, f", {attribute} = True")
    line = text.splitlines()[0]
    mended = line[: edit["column"] - 1] + edit["text"] + line[edit["column"] - 1 :]
    assert mended == f'{rule}(name = "ops", {attribute} = True, srcs = ["ops.cpp"])'
    write_project(tmp_path, {file: text.replace(line, mended)})
    assert check(tmp_path, "--no-torch", "--select", "OPL502") == []


@pytest.mark.parametrize("file", ["BUILD", "BUILD.bazel", "BUCK", "TARGETS"])
def test_a_comment_in_a_build_file_silences(file: str, tmp_path: Path) -> None:
    text = (
        'cc_library(name = "ops", srcs = ["ops.cpp"])\n'
        'cc_binary(name = "main.so", linkshared = True, srcs = [["entry.cpp"][0]], deps = [\n    ":ops",\n])\n'
    )
    write_project(tmp_path, {file: text, "ops.cpp": OPS, "entry.cpp": "int e() { return 0; }\n"})
    arguments = ("--no-torch", "--select", "OPL502,OPL901")
    (found,) = check(tmp_path, *arguments)
    assert (found["code"], found["path"]) == ("OPL502", file)
    lines = text.splitlines()
    at = found["line"] - 1
    lines[at] += "  # op-lint: ignore[OPL502] loaded by its own path"
    write_project(tmp_path, {file: "\n".join(lines) + "\n"})
    assert check(tmp_path, *arguments) == []
    lines[0] += "  # op-lint: ignore[OPL502]"
    write_project(tmp_path, {file: "\n".join(lines) + "\n"})
    assert [(each["code"], each["path"], each["line"]) for each in check(tmp_path, *arguments)] == [("OPL901", file, 1)]
    write_project(tmp_path, {file: text})
    run(tmp_path, "check", *arguments, "--add-ignores")
    assert check(tmp_path, *arguments) == []


def test_every_object_of_a_link_is_found_without_a_look_at_the_others() -> None:
    looks = 0

    class Counted(tuple[Member, ...]):
        def __iter__(self) -> Iterator[Member]:
            nonlocal looks
            looks += 1
            return super().__iter__()

    members = Counted(Member(f"a{number}.cpp", ALWAYS) for number in range(100))
    binary = LinkedBinary(members, {}, frozenset())
    found = [binary.survival(f"a{number}.cpp") for number in range(100)]
    assert all(each is not None and each.survives for each in found)
    assert binary.survival("b.cpp") is None
    assert looks < 10
