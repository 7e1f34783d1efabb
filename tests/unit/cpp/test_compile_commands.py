"""What is taken from a compile database, and what from one that is broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from op_lint.cpp.compile_commands import read_compile_commands


def _write(root: Path, commands: list[dict[str, object]], name: str = "compile_commands.json") -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(json.dumps(commands))


def _command(root: Path, command: str, file: str = "ops.cpp") -> dict[str, object]:
    return {"directory": str(root / "build"), "file": str(root / file), "command": command}


def test_none() -> None:
    found = read_compile_commands(Path("/nowhere"), None)
    assert (found.path, found.include_dirs, found.names, found.problem) == ("", (), {}, "")


@pytest.mark.parametrize("name", ["compile_commands.json", "build/compile_commands.json", "out/compile_commands.json"])
def test_where_it_is_looked_for(tmp_path: Path, name: str) -> None:
    _write(tmp_path, [_command(tmp_path, "c++ -I../include -c ops.cpp")], name)
    found = read_compile_commands(tmp_path, None)
    assert (found.path, found.include_dirs) == (name, ("include",))


def test_include_folders(tmp_path: Path) -> None:
    command = f"c++ -I ../a -I../b -isystem ../c -iquote ../d -I{tmp_path}/e -I/usr/include -I../../out -c ops.cpp"
    _write(tmp_path, [_command(tmp_path, command), _command(tmp_path, "c++ -I../a -I'../with space'", "k.cpp")])
    assert read_compile_commands(tmp_path, None).include_dirs == ("a", "b", "c", "d", "e", "with space")


def test_arguments_need_no_splitting(tmp_path: Path) -> None:
    entry: dict[str, object] = {
        "directory": str(tmp_path),
        "file": "ops.cpp",
        "arguments": ["c++", "-Isome where", "-D", "NAME=_C"],
    }
    _write(tmp_path, [entry])
    found = read_compile_commands(tmp_path, None)
    assert found.include_dirs == ("some where",)
    assert found.names == {"ops.cpp": {"NAME": "_C"}}


def test_only_names_are_taken_of_the_macros(tmp_path: Path) -> None:
    command = "c++ -DTORCH_EXTENSION_NAME=_C -DUSE_CUDA -DVERSION=12 -DTEXT='\"a\"' -c ops.cpp"
    _write(tmp_path, [_command(tmp_path, command)])
    assert read_compile_commands(tmp_path, None).names == {"ops.cpp": {"TORCH_EXTENSION_NAME": "_C"}}


def test_only_where_all_commands_of_a_file_agree(tmp_path: Path) -> None:
    commands = [_command(tmp_path, f"c++ -DSAME=a -DNAME={name} -c ops.cpp") for name in ("_C", "_D")]
    _write(tmp_path, commands)
    assert read_compile_commands(tmp_path, None).names == {"ops.cpp": {"SAME": "a"}}


def test_quotes_that_do_not_close(tmp_path: Path) -> None:
    _write(tmp_path, [_command(tmp_path, 'c++ -I../a "-DNAME=_C -c ops.cpp')])
    assert read_compile_commands(tmp_path, None).include_dirs == ("a",)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', '[{"file": "ops.cpp"}]', "[1]"])
def test_one_that_is_broken_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    found = read_compile_commands(tmp_path, None)
    assert found.problem.startswith("compile_commands.json is no compile database: ")


def test_a_configured_one(tmp_path: Path) -> None:
    _write(tmp_path, [_command(tmp_path, "c++ -I../a -c ops.cpp")])
    assert read_compile_commands(tmp_path, "other/db.json").problem == "other/db.json does not exist"
    _write(tmp_path, [_command(tmp_path, "c++ -I../b -c ops.cpp")], "other/db.json")
    assert read_compile_commands(tmp_path, "other/db.json").include_dirs == ("b",)
    (tmp_path / "folder.json").mkdir()
    assert read_compile_commands(tmp_path, "folder.json").problem.startswith("folder.json cannot be read: ")
