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
    `refusal` is the RuntimeError of a kernel that stands there only to say what is missing.
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
    refusal: str = ""

    @property
    def fallthrough(self) -> bool:
        """Whether dispatch skips this kernel."""
        return self.kind is KernelKind.FALLTHROUGH


class Operator(msgspec.Struct, frozen=True):
    """An operator and everything registered for it.

    `name` is `namespace::name` or `namespace::name.overload`. `registrations` are in the order in which they take
    effect: of two at one key the later one is active. `python` are the kernels of `OpOverload.py_impl`, which only the
    dispatcher in Python finds. `schema` is None where nothing defines the operator. `tags` are names of `torch.Tag`.
    `python_module` is where the definition says that its fake is (`set_python_module`). `jagged` says whether torch has
    an implementation in Python for nested tensors of the jagged layout, None where that is not known.
    """

    name: str
    schema: str | None
    registrations: tuple[Registration, ...]
    python: tuple[Registration, ...] = ()
    tags: tuple[str, ...] = ()
    python_module: str | None = None
    jagged: bool | None = False

    def active(self) -> dict[str, Registration]:
        """The registration in effect at each key that has one."""
        return {registration.key: registration for registration in self.registrations}

    def over(self, installed: Operator | None) -> Operator:
        """An operator of the workspace when it is loaded into a torch that has `installed` under its name."""
        if installed is None:
            return self
        mine = self.schema is not None
        return Operator(
            self.name,
            self.schema or installed.schema,
            (*installed.registrations, *self.registrations),
            (*installed.python, *self.python),
            self.tags if mine else installed.tags,
            self.python_module if mine else installed.python_module,
            installed.jagged,
        )
