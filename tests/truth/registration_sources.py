"""The registration sources of `sources/` and the shared libraries that g++ makes of them.

The first line of each source is its mark, `// op-lint truth: KIND [-DNAME[=VALUE]] ... [unresolved]`:

`load`   compiles, and torch loads what comes out
`read`   compiles, but torch refuses to load it, or another file defines its kernels
`text`   cannot be compiled on a machine that has only torch for CPUs

`unresolved` says that some of its names are made at run time.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import msgspec

SOURCES = Path(__file__).parent / "sources"

_MARK = "// op-lint truth: "
_FLAGS = ("-std=c++20", "-fPIC", "-O0", "-w")
_LIBRARIES = ("-ltorch", "-ltorch_cpu", "-ltorch_python", "-lc10")
PREFIX = "#include <ATen/ATen.h>\n#include <torch/library.h>\n"
"""What is compiled once for all: the headers that most sources start with, and no more, since each source pays for the
inline functions of headers that it does not use."""


class RegistrationSource(msgspec.Struct, frozen=True):
    """One file of `sources/` with what its mark says. `defines` maps a macro to its value, `1` where none is given."""

    name: str
    kind: str
    defines: dict[str, str]
    unresolved: bool

    @property
    def flags(self) -> list[str]:
        """The mark's macros as compiler arguments."""
        return [f"-D{name}={value}" for name, value in self.defines.items()]


@lru_cache
def registration_sources(*kinds: str) -> tuple[RegistrationSource, ...]:
    """The sources of these kinds, by name."""
    marked = (path for path in sorted(SOURCES.iterdir()) if path.read_bytes().startswith(_MARK.encode()))
    return tuple(source for source in map(_read_mark, marked) if source.kind in kinds)


def _read_mark(path: Path) -> RegistrationSource:
    kind, *words = path.read_text(encoding="utf-8").splitlines()[0].removeprefix(_MARK).split()
    macros = [word[len("-D") :].partition("=") for word in words if word.startswith("-D")]
    defines = {name: value if equals else "1" for name, equals, value in macros}
    return RegistrationSource(path.name, kind, defines, "unresolved" in words)


def project_files() -> list[str]:
    """All files of `sources/`: the project that they make up."""
    return sorted(path.name for path in SOURCES.iterdir())


def why_nothing_compiles() -> str | None:
    """Why sources cannot be compiled here, None where they can."""
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed here"
    if shutil.which("g++") is None:
        return "there is no g++"
    if not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        return "the headers of Python are not installed"
    return None


def torch_folder() -> Path:
    """The folder of the installed torch, which holds `include` and `lib`."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def include_flags() -> list[str]:
    """The compiler arguments that make the headers of torch and of Python known."""
    include = torch_folder() / "include"
    folders = [include, include / "torch" / "csrc" / "api" / "include", Path(sysconfig.get_paths()["include"])]
    return [f"-isystem{folder}" for folder in folders]


def truths_of(source: RegistrationSource, atoms: Iterable[str]) -> dict[str, bool]:
    """What g++'s preprocessor makes of conditions under the macros of the source's mark."""
    asked = sorted(set(atoms))
    text = "".join(f"#if {atom}\n{index} yes\n#endif\n" for index, atom in enumerate(asked))
    command = ["g++", "-E", "-P", "-x", "c++", *source.flags, "-"]
    output = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    return {atom: f"{index} yes" in output for index, atom in enumerate(asked)}


def built_libraries(sources: Iterable[RegistrationSource], folder: Path) -> dict[str, Path]:
    """The shared library of each source by the source's name, in `folder`; what is there already is not made anew."""
    libraries = {source.name: folder / f"{source.name}.{_key(source)}.so" for source in sources}
    missing = [source for source in sources if not libraries[source.name].exists()]
    if missing:
        with tempfile.TemporaryDirectory() as scratch:
            prefix = Path(scratch, "prefix.h")
            prefix.write_text(PREFIX)
            _compile("-x", "c++-header", str(prefix), "-o", f"{prefix}.gch")
            for source in missing:
                _link(source, prefix, libraries[source.name])
    return libraries


def _link(source: RegistrationSource, prefix: Path, library: Path) -> None:
    for old in library.parent.glob(f"{source.name}.*.so"):
        old.unlink()
    unfinished = library.with_suffix(".part")
    compiled = ["-include", str(prefix), *source.flags, "-shared", "-x", "c++", source.name, "-o", str(unfinished)]
    _compile(*compiled, *link_flags())
    unfinished.rename(library)


def _compile(*arguments: str) -> None:
    # The sources are named as they are here, since `__FILE__` is what the dump will say.
    run_compiler(SOURCES, *arguments)


def run_compiler(folder: Path, *arguments: str) -> None:
    """Run g++ in a folder, with the flags and the headers that a source of registrations needs."""
    command = ["g++", *_FLAGS, *include_flags(), *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def link_flags() -> list[str]:
    """The compiler arguments that link with torch."""
    return [f"-L{torch_folder() / 'lib'}", *_LIBRARIES]


def _key(source: RegistrationSource) -> str:
    digest = sha256(importlib.metadata.version("torch").encode())
    digest.update("\0".join([PREFIX, *_FLAGS, *_LIBRARIES, *source.flags]).encode())
    content = (SOURCES / source.name).read_bytes()
    for name in project_files():
        if name == source.name or f'"{name}"'.encode() in content:
            digest.update((SOURCES / name).read_bytes())
    return digest.hexdigest()[:16]
