"""What is installed: the dispatcher of one torch, as values that can be kept in a file."""

from __future__ import annotations

from enum import Enum
from functools import cached_property

import msgspec

from op_lint.dispatch.keys import DispatchKeys, KeyFacts
from op_lint.dispatch.registration import Operator, Registration, Source
from op_lint.facts import KernelKind

_AT = "registered at "


def place_of(origin: str) -> tuple[str, int] | None:
    """File and 1-based line in a dump's `registered at FILE:LINE`; None for `registered by RegisterOperators`."""
    if not origin.startswith(_AT):
        return None
    path, _, line = origin[len(_AT) :].rpartition(":")
    return (path, int(line)) if path and line.isdigit() else None


class InstalledKernel(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One registration as torch's dump gives it.

    `origin` is the dump's text (`registered at FILE:LINE`), with files of torch relative to its source tree.
    `signature` is the inferred schema of an unboxed C++ kernel, None for a boxed, Python or by-value SymInt one.
    `kind` is `kernel`, `boxed` (no unboxed form) or `fallthrough`. `active` is False for a kernel that a later one at
    the same key replaced.
    """

    key: str
    origin: str
    signature: str | None = None
    kind: KernelKind = KernelKind.KERNEL
    active: bool = True

    def registration(self) -> Registration:
        """The same for the dispatcher's model."""
        path, line = place_of(self.origin) or (None, 0)
        return Registration(
            self.key, self.origin, self.kind, Source.INSTALLED, path=path, line=line, signature=self.signature
        )


class InstalledOperator(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One operator overload.

    `schema` is as torch prints it, None where kernels exist but no definition; `origin` is the definition's place, in
    the dump's words. `alias_analysis` is `FROM_SCHEMA`, `CONSERVATIVE`, ... `kernels` are, within one key, in the order
    of registration. `python_module` and `jagged` are as in `Operator`; a snapshot may be from before these were read.
    """

    name: str
    schema: str | None
    origin: str | None
    alias_analysis: str | None
    tags: tuple[str, ...]
    kernels: tuple[InstalledKernel, ...]
    python_module: str | None = None
    jagged: bool | None = None

    def operator(self) -> Operator:
        """The same for the dispatcher's model."""
        kernels = tuple(kernel.registration() for kernel in self.kernels)
        return Operator(
            self.name,
            self.schema,
            kernels,
            tags=self.tags,
            python_module=self.python_module,
            jagged=self.jagged,
        )


class InstalledTorch(msgspec.Struct, frozen=True, dict=True):
    """The dispatcher of one torch.

    `version` is `torch.__version__`; `cuda` and `hip` are None in builds without; `cxx11_abi` is
    `_GLIBCXX_USE_CXX11_ABI`. `operators` are by name (`aten::add.Tensor`). `libraries` are the namespaces that have
    their `TORCH_LIBRARY`, each with its place in the dump's words.
    """

    version: str
    cuda: str | None
    hip: str | None
    git: str | None
    debug: bool
    cxx11_abi: bool
    keys: KeyFacts
    operators: dict[str, InstalledOperator]
    fallbacks: tuple[InstalledKernel, ...]
    libraries: dict[str, str] = {}

    @cached_property
    def dispatch_keys(self) -> DispatchKeys:
        """The same keys for the dispatcher's model."""
        return DispatchKeys(self.keys)

    @cached_property
    def overloads(self) -> dict[str, tuple[str, ...]]:
        """The operators that have a definition, by `namespace::name`."""
        found: dict[str, list[str]] = {}
        for operator in self.operators.values():
            if operator.schema is not None:
                found.setdefault(operator.name.partition(".")[0], []).append(operator.name)
        return {name: tuple(names) for name, names in found.items()}

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which an operator has a definition."""
        return frozenset(name.partition("::")[0] for name in self.overloads)

    def fallback_registrations(self) -> dict[str, Registration]:
        """The backend fallback at each key that has one."""
        return {kernel.key: kernel.registration() for kernel in self.fallbacks}


class Skew(msgspec.Struct, frozen=True):
    """How a library shows that it was built against another torch.

    `symbols` are those that it asks for and that this torch has with other parameters only, as the linker names them.
    `other_abi` says that it was built for the other `_GLIBCXX_USE_CXX11_ABI`. `sources` are the source paths in it.
    """

    symbols: tuple[str, ...]
    other_abi: bool
    sources: tuple[str, ...]


class Load(msgspec.Struct, frozen=True):
    """A library or module that was loaded into the probe; `error` is None if that went well.

    `skew` is set where it failed because the library was built against another torch, for certain.
    """

    what: str
    error: str | None = None
    skew: Skew | None = None


class Extension(msgspec.Struct, frozen=True):
    """What loading the user's libraries and modules did to the dispatcher.

    `operators` are those that are new or changed, whole, as they are afterwards. `added` are the registrations that
    were not there before, by operator; `defined` the operators that had no definition before; `fallbacks` the new
    backend fallbacks.
    """

    loads: tuple[Load, ...]
    operators: dict[str, InstalledOperator]
    added: dict[str, tuple[InstalledKernel, ...]]
    defined: tuple[str, ...]
    fallbacks: tuple[InstalledKernel, ...]

    @property
    def complete(self) -> bool:
        """Whether all that was asked for is loaded, so that something follows from what is absent."""
        return not any(load.error for load in self.loads)

    def over(self, torch: InstalledTorch) -> InstalledTorch:
        """The dispatcher of `torch` with this extension in it."""
        return msgspec.structs.replace(
            torch, operators={**torch.operators, **self.operators}, fallbacks=torch.fallbacks + self.fallbacks
        )


class ProblemCode(str, Enum):
    """Why the installed dispatcher could not be read, or not all of it."""

    NO_INTERPRETER = "no-interpreter"
    ABSENT = "torch-absent"
    BROKEN = "torch-broken"
    TOO_OLD = "torch-too-old"
    CRASHED = "probe-crashed"
    TIMEOUT = "probe-timeout"
    RUBBISH = "probe-rubbish"
    UNTRUSTED = "untrusted"
    LOAD_FAILED = "load-failed"
    OTHER_SNAPSHOT = "other-snapshot"


class ReadProblem(msgspec.Struct, frozen=True):
    """One message about it. `message` is one line; `detail` the end of what the child wrote to stderr, if anything."""

    code: ProblemCode
    message: str
    detail: str = ""


class Origin(str, Enum):
    """How a dispatcher came to be known."""

    PROBE = "probe"
    CACHE = "cache"
    SNAPSHOT = "snapshot"
