from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from pathspec import GitIgnoreSpec

from op_lint.config import Configuration, Settings, load_configuration, selector_problems
from op_lint_rules.op_lint.unused_suppression import UnusedSuppression


def load(folder: Path, text: str | bytes, name: str = "pyproject.toml") -> Configuration:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_configuration(folder)


def said(configuration: Configuration) -> list[tuple[int, str]]:
    return [(problem.place.line, problem.message) for problem in configuration.problems]


def test_no_file_means_the_defaults(tmp_path: Path) -> None:
    assert load_configuration(tmp_path) == Configuration()


def test_a_pyproject_without_a_table_of_ours_is_none_of_ours(tmp_path: Path) -> None:
    assert load(tmp_path, "[project]\nname = 'x'\n") == Configuration()


def test_settings_and_their_places(tmp_path: Path) -> None:
    text = '[tool.ruff]\nselect = ["A"]\n\n[tool.op-lint]\nselect = ["OPL2"]\nextend-exclude = ["x"]\n'
    configuration = load(tmp_path, text)
    assert configuration.settings == Settings(select=("OPL2",), extend_exclude=("x",))
    assert configuration.path == "pyproject.toml"
    assert {key: place.line for key, place in configuration.places.items()} == {"select": 5, "extend-exclude": 6}
    place = configuration.places["select"]
    assert text[place.start : place.end] == "select"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tool.op-lint.torch = false\n", 1),
        ("[tool]\nop-lint.torch = false\n", 2),
        ("[tool]\nop-lint = {torch = false}\n", 2),
        ('[tool."op-lint"]\n"torch" = false\n', 2),
        ("[ tool . 'op-lint' ]\n\n  torch=false\n", 3),
    ],
)
def test_every_way_to_write_a_key(tmp_path: Path, text: str, line: int) -> None:
    configuration = load(tmp_path, text)
    assert configuration.settings == Settings(torch=False)
    assert configuration.problems == ()
    assert configuration.places["torch"].line == line


def test_op_lint_toml_wins(tmp_path: Path) -> None:
    (tmp_path / "op-lint.toml").write_text('ignore = ["OPL901"]\n')
    configuration = load(tmp_path, "[tool.op-lint]\ntorch = false\n")
    assert configuration.settings == Settings(ignore=("OPL901",))
    assert configuration.path == "op-lint.toml"


def test_a_chosen_file_is_read_instead(tmp_path: Path) -> None:
    (tmp_path / "op-lint.toml").write_text('ignore = ["OPL901"]\n')
    (tmp_path / "other.toml").write_text("torch = false\n")
    assert load_configuration(tmp_path, tmp_path / "other.toml").settings == Settings(torch=False)


def test_wrong_keys_and_values_are_said_at_their_line_and_the_rest_counts(tmp_path: Path) -> None:
    configuration = load(
        tmp_path,
        "[tool.op-lint]\n"
        'selct = ["A"]\n'
        'ignore = "OPL301"\n'
        'extend-select = ["OPL1", 3]\n'
        'torch = "no"\n'
        "zzz = 1\n"
        'defines = ["A=1"]\n'
        "[tool.op-lint.per-file-ignores]\n"
        '"x" = "OPL3"\n',
    )
    assert configuration.settings == Settings(defines=("A=1",))
    assert said(configuration) == [
        (2, "there is no setting `selct`; did you mean `select`?"),
        (3, "`ignore`: this must be a list, not a string"),
        (4, "`extend-select`: this must be a string, not a whole number (item 2)"),
        (5, "`torch`: this must be true or false, not a string"),
        (6, "there is no setting `zzz`"),
        (8, "`per-file-ignores`: this must be a list, not a string"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.op-lint]\ntorch = fals\n", 2),
        ("[tool.op-lint\n", 1),
        ("a = 1\na = 2\n", 2),
        ('x = """\nabc\n', 2),
        ("x = ", 1),
    ],
)
def test_broken_toml_is_said_at_its_line(tmp_path: Path, text: str, line: int) -> None:
    configuration = load(tmp_path, text)
    assert configuration.settings == Settings()
    ((seen, message),) = said(configuration)
    assert (seen, message.startswith("this is not valid TOML, so none of it is used: ")) == (line, True)


def test_other_broken_files(tmp_path: Path) -> None:
    assert said(load(tmp_path, b"[tool.op-lint]\n# caf\xe9\n")) == [(2, "this is not UTF-8")]
    assert said(load(tmp_path, "[tool]\nop-lint = 3\n")) == [(2, "`tool.op-lint` must be a table")]
    missing = load_configuration(tmp_path, tmp_path / "missing.toml")
    assert said(missing) == [(1, "the configuration cannot be read: No such file or directory")]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("", "it is as a blank line or a comment of .gitignore"),
        ("/", "it is as a blank line or a comment of .gitignore"),
        ("# tests", "it is as a blank line or a comment of .gitignore"),
        ("./sub", "write `/sub`, as in .gitignore"),
        ("a/./b", "write `a/b`, as in .gitignore"),
        ("../x", "patterns are relative to the project's root, and do not leave it"),
        ("!a/../b", "patterns are relative to the project's root, and do not leave it"),
    ],
)
def test_a_pattern_that_matches_nothing_is_said(pattern: str, why: str, tmp_path: Path) -> None:
    assert not GitIgnoreSpec.from_lines([pattern.removeprefix("!")]).match_file("sub/x/a/b/c")
    text = f'[tool.op-lint]\nextend-exclude = ["ok/", "{pattern}"]\nper-file-ignores = {{"{pattern}" = ["OPL2"]}}\n'
    assert said(load(tmp_path, text)) == [
        (2, f"`extend-exclude`: `{pattern}` matches nothing: {why}"),
        (3, f"`per-file-ignores`: `{pattern}` matches nothing: {why}"),
    ]


def test_what_is_no_pattern_is_said(tmp_path: Path) -> None:
    text = "[tool.op-lint]\nextend-exclude = ['name\\']\n"
    assert said(load(tmp_path, text)) == [
        (2, "`extend-exclude`: `name\\` matches nothing: it is no pattern as in .gitignore")
    ]


@pytest.mark.parametrize("pattern", ["**", "!sub", "sub/", "/sub/*", "*.c[pu]", "[", "a..b", ".hidden/", "\\\\#x"])
def test_a_pattern_that_may_match_is_taken(pattern: str, tmp_path: Path) -> None:
    assert said(load(tmp_path, f'[tool.op-lint]\nextend-exclude = ["{pattern}"]\n')) == []


def test_unknown_selectors_are_said_where_they_stand(tmp_path: Path) -> None:
    configuration = load(
        tmp_path,
        '[tool.op-lint]\nselect = ["OPL9", "ALL", "unused-supression"]\nper-file-ignores = {"x" = ["OPL9999"]}\n',
    )
    problems = selector_problems(configuration, [UnusedSuppression])
    assert [(problem.place.line, problem.message.partition(";")[0]) for problem in problems] == [
        (2, "`select`: no rule has the code, prefix or name `unused-supression`"),
        (3, "`per-file-ignores`: no rule has the code, prefix or name `OPL9999`"),
    ]
    assert "did you mean `unused-suppression`?" in problems[0].message


def test_keys_inside_a_wrapper_are_checked_too(tmp_path: Path) -> None:
    configuration = load(
        tmp_path,
        '[[tool.op-lint.wrappers]]\nname = "f"\nparameters = ["a"]\noperator = "a"\n'
        '[[tool.op-lint.wrappers]]\nname = "g"\nparameters = ["a"]\noperater = "a"\n',
    )
    assert said(configuration) == [(1, "`wrappers`: there is no key `operater` (item 2)")]
    configuration = load(tmp_path, '[[tool.op-lint.wrappers]]\nname = "f"\nparameters = ["a"]\n')
    assert said(configuration) == [(1, "`wrappers`: the key `operator` is missing (item 1)")]


def test_every_setting_is_described() -> None:
    schema = msgspec.json.schema(Settings)["$defs"]["Settings"]
    assert [name for name, field in schema["properties"].items() if not field.get("description")] == []
