"""Can two registrations be in one process? What conditions, build files, file names and folders say.

In a survey of 75 projects, 118 operators were defined more than once and none was a true duplicate: they were
per-backend files, per-target files, `#if` arms, copies for the stable ABI, examples, vendored copies. So YES needs a
reason, and whatever looks like one of those is UNKNOWN, on which rules are silent:

1. Conditions that exclude each other: NO. So are a CUDA and a ROCm file, of which a torch build has only one.
2. A test at run time around either: UNKNOWN, even around both, since it may be whether the other is there already.
3. One file: YES where one condition follows from the other, so that some build certainly has both. Two
   independent ones (`USE_CUDA`, `USE_ROCM`) may be alternatives, and so may two Python functions.
4. Two files of which either is conditional, and not both under the same condition, or is in a function: UNKNOWN; that
   may be what tells a build or a program which of the two it takes.
5. Two C++ files that the build files put into one binary, or into two of which one loads the other, so that every
   build with the one has the other: YES. Where all targets that compile them exclude each other: NO.
6. Two files of which one registers kernels for operators that only the other defines: YES. It is useless without the
   other. This reaches over folders and over names. (Not so where they define more operators in common than the one
   needs of the other: then it is a variant of the other that forgot a definition.)
7. Two C++ files of one folder with nothing in their names or contents that makes them alternatives, where the build
   files do not tell of both: YES.
8. Two Python files of which one imports the other: YES. (A folder says nothing about which of its modules a program
   imports.)
9. Everything else: UNKNOWN.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import PurePosixPath
from typing import Protocol

import msgspec

from op_lint.condition import ALWAYS, Condition, compatible, implies
from op_lint.facts import OperatorName


class Together(str, Enum):
    """Whether two registrations can be in the same process."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Site(msgspec.Struct, frozen=True):
    """Where a registration is made, and under which circumstances.

    `path` is relative to the project's root. `guard` is what is tested at run time around it. `scope` names the
    function or the short-lived library that it belongs to, None for what simply is. `stable` marks the stable ABI,
    `symbolic` a namespace that is the name of a macro and becomes known in the build only.
    """

    path: str
    condition: Condition = ALWAYS
    guard: str | None = None
    scope: str | None = None
    stable: bool = False
    symbolic: bool = False


# Words in a file's name (or in its suffix) that mark it as one of several variants. The files of one variant may be
# alternatives to those of another; what the variants are called does not matter, except that CUDA and ROCm exclude
# each other.
_CUDA = "cuda"
_ROCM = "rocm"
_EXCLUSIVE = frozenset({_CUDA, _ROCM})
_SAME = {
    "cu": _CUDA, "nvidia": _CUDA, "hip": _ROCM, "amd": _ROCM, "sycl": "xpu",
    "metal": "mps", "mm": "mps", "ascend": "npu", "gaudi": "hpu", "habana": "hpu", "onednn": "mkldnn", "py": "python",
    "training": "train", "inference": "infer", "fbcode": "internal", "fb": "internal", "oss": "external",
}  # fmt: skip
_VARIANTS = frozenset({
    # devices and libraries
    "cpu", "gpu", _CUDA, _ROCM, "xpu", "mps", "mtia", "npu", "musa", "hpu", "xla", "tpu", "ipu", "vulkan", "opencl",
    "mlu", "maia", "privateuse1", "mkl", "mkldnn", "zendnn", "cudnn", "miopen", "cutlass", "ck", "triton", "meta",
    # instruction sets
    "avx", "avx2", "avx512", "amx", "sse", "neon", "sve", "vsx", "arm", "aarch64", "x86", "scalar",
    # ABIs and ways to build
    "stable", "abi", "aoti", "legacy", "classic", "libtorch", "torchscript", "jit", "python", "pybind", "standalone",
    "static", "shared", "mobile", "lite", "embedded", "minimal", "full", "debug", "release", "internal", "external",
    "train", "infer",
    # stand-ins and copies
    "stub", "stubs", "dummy", "mock", "noop", "fake", "old", "new", "copy", "backup", "bak", "orig", "original",
    "deprecated", "test", "tests", "example", "demo", "benchmark", "bench",
})  # fmt: skip
_ARCHITECTURE = re.compile(r"(sm|gfx|compute)\d+[a-z]?")

# Folders in which, at any depth, each file stands for itself: it may be a program or an extension of its own.
_STANDALONE = frozenset({
    "test", "tests", "testing", "unittests", "example", "examples", "demo", "demos", "sample", "samples", "tutorial",
    "tutorials", "benchmark", "benchmarks", "bench", "doc", "docs", "scripts", "experimental", "playground",
})  # fmt: skip

_PYTHON = ".py"

_COPIES = 3
"""Two files of one library that define this many operators in common are copies, not a slip of the pen."""


class Builds(Protocol):
    """What is asked of the build files: see `op_lint.build.Questions`."""

    def meet(self, first: str, second: str) -> bool | None:
        """Whether every build with one of two sources loads the other with it; False: no build has both."""
        ...

    def tells_of(self, path: str) -> bool:
        """Whether the build files say in which binaries a source is."""
        ...


class Layout:
    """What the files of a project say about each other.

    `defined` and `implemented` map a path to the operators that it defines, and that it registers kernels for;
    `imported` maps the path of a Python file to those that importing it imports. `builds` are the build files, where
    there are any.
    """

    def __init__(
        self,
        defined: Mapping[str, Iterable[OperatorName]],
        implemented: Mapping[str, Iterable[OperatorName]],
        imported: Mapping[str, Iterable[str]] = {},
        builds: Builds | None = None,
    ) -> None:
        self._builds = builds
        self._imported = {path: frozenset(paths) for path, paths in imported.items()}
        self._defined = {path: frozenset(operators) for path, operators in defined.items()}
        self._implemented = {path: frozenset(operators) for path, operators in implemented.items()}
        definers: dict[OperatorName, list[str]] = {}
        for path, operators in self._defined.items():
            for operator in operators:
                definers.setdefault(operator, []).append(path)
        self._only_definer = {operator: paths[0] for operator, paths in definers.items() if len(paths) == 1}

    def together(self, first: Site, second: Site) -> Together:
        """Whether registrations at these two sites can be in one process."""
        if not compatible(first.condition, second.condition):
            return Together.NO
        if first.guard or second.guard:
            return Together.UNKNOWN
        if first.path == second.path:
            return _in_one_file(first, second)
        one, other = _variants(first.path), _variants(second.path)
        if {(one - other) & _EXCLUSIVE, (other - one) & _EXCLUSIVE} == {frozenset({_CUDA}), frozenset({_ROCM})}:
            return Together.NO
        linked = self._builds.meet(first.path, second.path) if self._builds else None
        if linked is False:
            return Together.NO
        if first.scope or second.scope or first.condition != second.condition:
            return Together.UNKNOWN
        if linked:
            return Together.UNKNOWN if first.symbolic != second.symbolic else Together.YES
        if self._depends(first.path, second.path) or self._depends(second.path, first.path):
            return Together.YES
        alike = one == other and first.stable == second.stable and not first.symbolic and not second.symbolic
        if alike and self._related(first.path, second.path) and not self._copies(first.path, second.path):
            return Together.YES
        return Together.UNKNOWN

    def _related(self, path: str, other: str) -> bool:
        """Whether two files that look alike belong to one library: reasons 7 and 8 of the module."""
        if path.endswith(_PYTHON) and other.endswith(_PYTHON):
            return other in self._imported.get(path, ()) or path in self._imported.get(other, ())
        told = self._builds is not None and self._builds.tells_of(path) and self._builds.tells_of(other)
        return _neighbours(path, other) and not told

    def _depends(self, path: str, other: str) -> bool:
        """Whether the file at `path` is useless without `other`: reason 6 of the module."""
        needed = sum(self._only_definer.get(operator) == other for operator in self._implemented.get(path, ()))
        return needed > len(self._common(path, other))

    def _copies(self, path: str, other: str) -> bool:
        return len(self._common(path, other)) >= _COPIES

    def _common(self, path: str, other: str) -> frozenset[OperatorName]:
        return self._defined.get(path, frozenset()) & self._defined.get(other, frozenset())


def _in_one_file(first: Site, second: Site) -> Together:
    nested = implies(first.condition, second.condition) or implies(second.condition, first.condition)
    return Together.YES if nested and first.scope == second.scope else Together.UNKNOWN


def _neighbours(path: str, other: str) -> bool:
    """Whether both files are in one folder, and not among separate programs."""
    one, two = PurePosixPath(path), PurePosixPath(other)
    folders = {folder.casefold() for folder in one.parts[:-1]}
    return one.parent == two.parent and one.stem != two.stem and not folders & _STANDALONE


def _variants(path: str) -> frozenset[str]:
    """The variants that the parts of a path name: `csrc/cuda/ops_stable.cpp` is `cuda` and `stable`."""
    words = (_SAME.get(word, word) for word in re.split(r"[^a-z0-9]+", path.casefold()) if word)
    return frozenset(word for word in words if word in _VARIANTS or _ARCHITECTURE.fullmatch(word))
