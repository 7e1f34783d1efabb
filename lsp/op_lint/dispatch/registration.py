"""Registrations: what stands at which key. The installed dispatcher and the workspace's facts both become these."""

from __future__ import annotations

from enum import Enum

import msgspec

from op_lint.facts import KernelKind


class Source(str, Enum):
    """Where a registration was read (the `source` of `op-lint table`)."""

    INSTALLED = "installed"
    WORKSPACE = "workspace"
    LIVE = "live"
    """Of an extension that is loaded. Then `WORKSPACE` is what the sources have and the extension does not."""


class Registration(msgspec.Struct, frozen=True):
    """One kernel at one key.

    `key` is a runtime or alias key by its own name. `origin` is what torch's dump says of the registration
    (`registered at csrc/ops.cpp:12`). `path` and `line` (1-based) are where to look, None and 0 where unknown.
    `kernel` is the function's name, empty where unknown; `signature` the inferred schema of an unboxed kernel.
    `keyless` marks a kernel given without a key (`m.def(schema, f)`), which lands at CompositeImplicitAutograd.
    """

    key: str
    origin: str
    kind: KernelKind = KernelKind.KERNEL
    source: Source = Source.INSTALLED
    kernel: str = ""
    path: str | None = None
    line: int = 0
    signature: str | None = None
    keyless: bool = False

    @property
    def fallthrough(self) -> bool:
        """Whether dispatch skips this kernel."""
        return self.kind is KernelKind.FALLTHROUGH


class Operator(msgspec.Struct, frozen=True):
    """An operator and everything registered for it.

    `name` is `namespace::name` or `namespace::name.overload`. `registrations` are in the order in which they take
    effect: of two at one key the later one is active. `python` are the kernels of `OpOverload.py_impl`, which only the
    dispatcher in Python finds. `schema` is None where nothing defines the operator.
    """

    name: str
    schema: str | None
    registrations: tuple[Registration, ...]
    python: tuple[Registration, ...] = ()

    def active(self) -> dict[str, Registration]:
        """The registration in effect at each key that has one."""
        return {registration.key: registration for registration in self.registrations}

    def over(self, installed: Operator | None) -> Operator:
        """An operator of the workspace when it is loaded into a torch that has `installed` under its name."""
        if installed is None:
            return self
        registrations = (*installed.registrations, *self.registrations)
        return Operator(self.name, self.schema or installed.schema, registrations, (*installed.python, *self.python))
