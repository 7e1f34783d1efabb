"""`vscode-extension/python/launch.py`, which the VS Code extension runs, and the versions that the extension has."""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).parents[2]
EXTENSION = PROJECT / "vscode-extension"
SCRIPT = EXTENSION / "python" / "launch.py"


@pytest.fixture(name="launch")
def _launch() -> ModuleType:
    spec = importlib.util.spec_from_file_location("launch", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_archive(path: Path, files: Mapping[str, str]) -> Path:
    with tarfile.open(path, "w:xz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content.encode())
            tar.addfile(entry, io.BytesIO(content.encode()))
    return path


def make_server(folder: Path, version: str = "9.8.7") -> Path:
    """An archive with an `op_lint` that prints its arguments."""
    main = "import sys\ndef main():\n    print(__file__, sys.argv)\n    return 3\n"
    return make_archive(
        folder / "server.tar.xz",
        {
            "pure/op_lint/__init__.py": "",
            "pure/op_lint/version.py": f'VERSION = "{version}"\n',
            "pure/op_lint/cli.py": main,
        },
    )


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    # -S: without the packages of the environment, which has an op-lint and everything else.
    command = [sys.executable, "-S", str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def check(archive: Path, storage: Path, strategy: str = "bundled") -> dict[str, Any]:
    done = run("check", archive, storage, strategy, cwd=archive.parent)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def test_check_says_what_is_there_and_what_is_missing(tmp_path: Path) -> None:
    answer = check(make_server(tmp_path), tmp_path / "storage")
    assert answer["python"] == list(sys.version_info[:3])
    assert (answer["source"], answer["version"]) == ("bundled", "9.8.7")
    assert [each["name"] for each in answer["missing"]] == ["msgspec", "libclang"]
    assert answer["missing"][1]["why"] == "No module named 'clang'"


def test_what_the_user_had_installed_is_found(tmp_path: Path) -> None:
    archive, storage = make_server(tmp_path), tmp_path / "storage"
    tag = check(archive, storage)["tag"]
    package = storage / "libraries" / tag / "msgspec"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "msgpack.py").touch()
    assert [each["name"] for each in check(archive, storage)["missing"]] == ["libclang"]


def test_another_version_of_libclang_is_not_taken(tmp_path: Path) -> None:
    archive, storage = make_server(tmp_path), tmp_path / "storage"
    package = storage / "libraries" / check(archive, storage)["tag"] / "clang"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "cindex.py").write_text(
        "class _CXString:\n"
        "    @staticmethod\n"
        "    def from_result(text, *_): return text\n"
        "class Library:\n"
        "    @staticmethod\n"
        "    def clang_getClangVersion(): return 'Debian clang version 14.0.6'\n"
        "class conf:\n"
        "    get_cindex_library = staticmethod(lambda: Library)\n",
        "utf-8",
    )
    missing = {each["name"]: each["why"] for each in check(archive, storage)["missing"]}
    assert missing["libclang"] == "version 18 is needed, this is Debian clang version 14.0.6"


def test_run_runs_the_bundled_op_lint(tmp_path: Path) -> None:
    done = run("run", make_server(tmp_path), tmp_path / "storage", "bundled", "rule", "OPL301", cwd=tmp_path)
    assert done.returncode == 3
    assert "'rule', 'OPL301'" in done.stdout
    assert str(tmp_path / "storage" / "server-") in done.stdout


def test_environment_prefers_the_op_lint_that_is_installed(
    launch: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert launch.prepare(str(make_server(tmp_path)), str(tmp_path / "storage"), "environment") == "environment"
    assert check(tmp_path / "server.tar.xz", tmp_path / "storage", "environment")["source"] == "bundled"


def test_unpacks_once_and_forgets_what_nobody_uses(launch: ModuleType, tmp_path: Path) -> None:
    archive, storage = make_server(tmp_path), tmp_path / "storage"
    home = Path(launch.unpacked(str(archive), str(storage)))
    (home / "kept").touch()
    old, recent = storage / "server-old", storage / "server-recent"
    for folder in (old, recent):
        folder.mkdir()
    long_ago = time.time() - launch.KEPT_SECONDS - 60
    os.utime(old, (long_ago, long_ago))
    assert launch.unpacked(str(archive), str(storage)) == str(home)
    assert (home / "kept").exists()
    assert (old.exists(), recent.exists()) == (False, True)
    make_server(tmp_path, version="10")
    assert launch.unpacked(str(archive), str(storage)) != str(home)


def test_a_damaged_archive_leaves_nothing_half_unpacked(tmp_path: Path) -> None:
    archive, storage = make_server(tmp_path), tmp_path / "storage"
    archive.write_bytes(archive.read_bytes()[:-40])
    assert check(archive, storage)["problem"]
    assert list(storage.iterdir()) == []


def test_two_windows_unpack_at_once(tmp_path: Path) -> None:
    archive, storage = make_server(tmp_path), tmp_path / "storage"
    command = [sys.executable, "-S", str(SCRIPT), "check", str(archive), str(storage), "bundled"]
    windows = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    answers = [json.loads(window.communicate()[0]) for window in windows]
    assert [answer.get("version") for answer in answers] == ["9.8.7"] * 4
    assert len(list(storage.iterdir())) == 1


def test_old_pythons_can_read_the_script() -> None:
    tree = ast.parse(SCRIPT.read_text("utf-8"))
    newer = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Starred))
        or (isinstance(node, ast.FunctionDef) and (node.returns or node.args.kwonlyargs or node.args.posonlyargs))
    ]
    assert newer == []


class TestVersions:
    """What the extension carries against what op-lint says it needs."""

    @staticmethod
    def pins() -> dict[str, str]:
        lines = (EXTENSION / "python" / "requirements.txt").read_text("utf-8").splitlines()
        return dict(line.split("==", 1) for line in lines if line and not line.startswith("#"))

    def test_every_dependency_is_carried_or_offered(self) -> None:
        project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
        needed = {line.split(";")[0].split(">")[0].strip() for line in project["dependencies"]}
        offered = {"libclang"}
        only_on_a_terminal = {"rich"}
        assert needed - offered - only_on_a_terminal <= set(self.pins())

    def test_the_extension_has_the_version_of_op_lint(self) -> None:
        from op_lint.version import VERSION

        assert json.loads((EXTENSION / "package.json").read_text("utf-8"))["version"] == VERSION

    def test_the_licence_is_that_of_the_project(self) -> None:
        assert (EXTENSION / "LICENSE").read_bytes() == (PROJECT / "LICENSE").read_bytes()

    def test_the_lock_names_no_place_to_download_from(self) -> None:
        for lock in EXTENSION.glob("**/package-lock.json"):
            if "node_modules" not in lock.parts:
                assert '"resolved"' not in lock.read_text("utf-8"), lock
