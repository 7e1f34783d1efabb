"""What is released: built twice it is the same, it says what it is, and it runs where nothing else is."""

from __future__ import annotations

import email
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from op_lint.version import VERSION
from tests.check import copy_of, run

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "myops"


def build(sources: Path, out: Path) -> dict[str, bytes]:
    """The files of a release, by name, built in a copy of the sources."""
    copied = ("lsp", "rules", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", ".gitignore")
    for name in copied:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, sources / name, copy_function=shutil.copyfile)  # with today's times
        else:
            sources.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, sources / name)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(sources)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return {file.name: file.read_bytes() for file in out.iterdir()}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    build(folder / "sources", folder / "out")
    return folder / "out"


def wheel_of(release: Path) -> Path:
    return release / f"op_lint-{VERSION}-py3-none-any.whl"


def metadata(release: Path) -> Message:
    with zipfile.ZipFile(wheel_of(release)) as wheel:
        return email.message_from_bytes(wheel.read(f"op_lint-{VERSION}.dist-info/METADATA"))


def test_two_builds_give_the_same_bytes(release: Path, tmp_path: Path) -> None:
    again = build(tmp_path / "in" / "another" / "place", tmp_path / "out")
    assert sorted(again) == [f"op_lint-{VERSION}-py3-none-any.whl", f"op_lint-{VERSION}.tar.gz"]
    assert again == {file.name: file.read_bytes() for file in release.iterdir()}


def test_the_wheel_has_everything_that_is_not_python_and_nothing_else(release: Path) -> None:
    with zipfile.ZipFile(wheel_of(release)) as wheel:
        names = set(wheel.namelist())
    packages = {"op_lint": ROOT / "lsp" / "op_lint", "op_lint_rules": ROOT / "rules" / "op_lint_rules"}
    own = {
        f"{name}/{file.relative_to(folder).as_posix()}"
        for name, folder in packages.items()
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == own
    assert any(name.startswith("op_lint/cpp/overlay/") for name in own)
    assert any(name.startswith("op_lint/installed/snapshots/") for name in own)


def test_the_sdist_makes_the_same_wheel(release: Path, tmp_path: Path) -> None:
    with tarfile.open(release / f"op_lint-{VERSION}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "out")]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([*command, str(tmp_path / f"op_lint-{VERSION}")], env=environment, check=True, capture_output=True)
    (wheel,) = (tmp_path / "out").iterdir()
    assert wheel.read_bytes() == wheel_of(release).read_bytes()


def test_the_metadata_is_complete(release: Path) -> None:
    said = metadata(release)
    assert (said["Name"], said["Version"], said["License-Expression"]) == ("op-lint", VERSION, "Apache-2.0")
    assert said["Requires-Python"] == ">=3.10"
    assert said["Description-Content-Type"] == "text/markdown"
    assert said["Summary"]
    assert said.get_all("License-File") == ["LICENSE"]
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert {"torch", "docs", "test"} <= set(said.get_all("Provides-Extra", []))
    body = said.get_payload()
    assert isinstance(body, str)
    assert body.startswith("# op-lint")


def test_pipx_installs_it_where_nothing_else_is(release: Path, tmp_path: Path) -> None:
    folders = {"PIPX_HOME": "home", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man"}
    environment = {**os.environ, **{name: str(tmp_path / folder) for name, folder in folders.items()}}
    command = [sys.executable, "-m", "pipx", "install", "--python", sys.executable, str(wheel_of(release))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    project = copy_of(EXAMPLE, tmp_path)
    arguments = ("check", "--torch-version", "2.13.0", "--output-format", "json", "--no-cache")
    installed = subprocess.run(
        [str(tmp_path / "bin" / "op-lint"), *arguments],
        cwd=project,
        env={"PATH": os.defpath, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert installed.returncode == 1, installed.stderr
    assert json.loads(installed.stdout) == json.loads(run(project, *arguments).out)
