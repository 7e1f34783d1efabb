"""Make `bundled/server.tar.xz`: op-lint and the packages that its server imports, for one platform.

One solid archive, because it is a third of the size of the files one by one: what is compiled for each Python, and the
snapshots of each torch, are nearly the same again and again. `python/launch.py` unpacks it at the first start.

    python scripts/bundle.py [--target linux-x64]

A target is a platform as VS Code names them. `universal` has no compiled parts: there the user's interpreter must have
msgspec, or the user lets the extension install it. libclang (25 MB) is never in it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

EXTENSION = Path(__file__).resolve().parents[1]
PROJECT = EXTENSION.parent
REQUIREMENTS = EXTENSION / "python" / "requirements.txt"

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "linux-arm64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "alpine-x64": ("musllinux_1_2_x86_64",),
    "darwin-x64": ("macosx_10_15_x86_64", "macosx_10_13_x86_64", "macosx_10_9_x86_64"),
    "darwin-arm64": ("macosx_11_0_arm64",),
    "win32-x64": ("win_amd64",),
    "universal": (),
}
"""What pip calls the platforms that wheels are built for."""

COMPILED = "msgspec"
"""The only package that has no form without compiled code."""

BOTH_WAYS = "rapidfuzz"
"""Has a form in Python besides the compiled one, and takes that where the compiled one is not there."""

_SNAPSHOT = ".msgpack.xz"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 64 << 20}]
"""The dictionary holds everything, so that a file finds its likes wherever they are."""


def main() -> None:
    """Make the archive for the target that the command line names."""
    parser = argparse.ArgumentParser(description="Make the archive of the server's Python code.")
    parser.add_argument("--target", choices=sorted(PLATFORMS), default=host())
    target = parser.parse_args().target
    with tempfile.TemporaryDirectory() as scratch:
        stage = Path(scratch) / "stage"
        collect(stage, target, Path(scratch))
        data = archive(stage)
    output = EXTENSION / "bundled"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir()
    (output / "server.tar.xz").write_bytes(data)
    shutil.copy(PROJECT / "docs" / "op-lint.schema.json", output)
    about = {"target": target, "digest": hashlib.sha256(data).hexdigest()[:16], "pythons": list(PYTHONS)}
    (output / "about.json").write_text(json.dumps(about, indent=2) + "\n")
    print(f"bundled/server.tar.xz: {len(data):,} bytes for {target}")


def host() -> str:
    """The target for this machine."""
    system = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}.get(platform.system(), "")
    machine = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "")
    name = f"{system}-{machine}"
    return name if name in PLATFORMS else "universal"


def collect(stage: Path, target: str, scratch: Path) -> None:
    """Put what the archive holds into `stage`: `pure/` for every Python, `compiled/` where there is a wheel."""
    pure, compiled = stage / "pure", stage / "compiled"
    pins = dict(_pins())
    project = scratch / "project"
    for name in ("lsp", "rules"):
        shutil.copytree(PROJECT / name, project / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, project / name)
    _pip("install", "--target", pure, "--no-deps", "--no-compile", project)
    shutil.rmtree(pure / "bin")
    always = [f"{name}=={version}" for name, version in pins.items() if name not in (COMPILED, BOTH_WAYS)]
    _pip("install", "--target", pure, "--no-deps", "--no-compile", *_only(PYTHONS[0], ("any",)), *always)
    own = scratch / "own"
    _pip("install", "--target", own, "--no-deps", "--no-compile", f"{BOTH_WAYS}=={pins[BOTH_WAYS]}")
    for file in _files(own):
        if file.suffix in (".py", ".txt") or "dist-info" in file.parts[0]:
            _copy(own / file, pure / file)
    for version in PYTHONS if PLATFORMS[target] else ():
        one = scratch / version
        options = _only(version, PLATFORMS[target])
        _pip("install", "--target", one, "--no-deps", "--no-compile", *options, f"{COMPILED}=={pins[COMPILED]}")
        for file in _files(one):
            _copy(one / file, compiled / file)
    for snapshot in sorted(pure.rglob(f"*{_SNAPSHOT}")):
        snapshot.with_suffix("").write_bytes(lzma.decompress(snapshot.read_bytes()))
        snapshot.unlink()


def archive(stage: Path) -> bytes:
    """The folder as a tar.xz: the same bytes for the same files."""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for file in sorted(_files(stage), key=lambda path: (path.suffix, path.name, path.parts)):
            if file.suffix in (".pyi", ".pyc") or file.name in ("RECORD", "direct_url.json"):
                continue
            entry = tarfile.TarInfo(file.as_posix())
            data = (stage / file).read_bytes()
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, BytesIO(data))
    return lzma.compress(buffer.getvalue(), filters=_FILTERS)


def _pins() -> Iterator[tuple[str, str]]:
    for line in REQUIREMENTS.read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            yield name, version


def _only(version: str, platforms: tuple[str, ...]) -> list[str]:
    """The options with which pip chooses wheels for another Python and another platform."""
    named = [option for name in platforms for option in ("--platform", name)]
    return ["--only-binary=:all:", "--implementation", "cp", "--python-version", version, *named]


def _pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, arguments)]
    subprocess.run(command, check=True, cwd=EXTENSION)


def _files(folder: Path) -> Iterator[Path]:
    return (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


if __name__ == "__main__":
    main()
