"""OPL210."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from op_lint.condition import Condition, atoms
from op_lint.dispatch.keys import RENAMED_BACKENDS, DispatchKeys, KeyKind
from op_lint.facts import Definition, Fallback, Implementation, Language, Place
from op_lint.findings import Edit, Finding, Fix, Severity
from op_lint.nearest import nearest
from op_lint.program import Program, Registered
from op_lint.rule import Need, Rule
from op_lint_rules._words import is_unknown_key

_DEVICE = "DeviceType::"

_OF_BACKEND = re.compile("(?:Autocast|Autograd|NestedTensor|Quantized|SparseCsr|Sparse)?(?P<backend>[A-Z][A-Z0-9_]*)")
"""The keys that PrivateUse1 has, by the name of the backend (c10/core/DispatchKey.cpp)."""


_Named = tuple[Registered[Definition | Implementation | Fallback], str | None, Place | None]


class _Use(NamedTuple):
    """A place that names a key, and the kind of unit that it is in."""

    key: str
    place: Place
    condition: Condition
    stable: bool
    language: Language

    @property
    def text(self) -> bool:
        """Whether torch looks the name up at run time, where it knows fewer than C++."""
        return self.stable or self.language is Language.PYTHON

    @property
    def harm(self) -> str:
        """What comes of a name that torch does not know."""
        if self.language is Language.PYTHON:
            return "this raises RuntimeError"
        return "loading the library crashes without a message" if self.stable else "this does not compile"


class UnknownDispatchKey(Rule):
    """A dispatch key that torch does not have, or that nothing is ever dispatched to.

    ## What it does
    Reports keys of blocks and calls that the installed torch does not have, and those of functionalities
    that exist once for each backend (`Sparse`, `Quantized`, `Dense`, `NestedTensor`, ...): tensors have `SparseCPU`,
    `SparseCUDA` and so on; a name that only C++ has for a key (`Autocast`, `CatchAll`) in Python or with the stable
    ABI; and a device that `m.impl` has no key for. Keys under a condition that names a version are left alone.

    ## Why it is bad
    In C++ an unknown key does not compile; with the stable ABI it compiles, and loading the library crashes without a
    message; in Python it raises RuntimeError. A kernel at a functionality is registered, and no call ever reaches it.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_autograd(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, AutogradCuda, m) {
      m.impl("scale", &scale_autograd);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_autograd(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, AutogradCUDA, m) {
      m.impl("scale", &scale_autograd);
    }
    ```

    ## Fix
    The nearest key that exists, where one is near.

    ## References
    - c10/core/DispatchKey.h
    """

    code = "OPL210"
    name = "unknown-dispatch-key"
    severity = Severity.ERROR
    needs = frozenset({Need.TORCH})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every place that names such a key, once."""
        keys = program.keys
        if keys is None:
            return
        seen: set[Place] = set()
        for use in _uses(program):
            if use.place in seen or _names_a_version(use.condition):
                continue
            seen.add(use.place)
            own = keys.canonical(use.key)
            if use.key.startswith(_DEVICE):
                yield self._keyless(use)
            elif is_unknown_key(keys, use.key):
                if not (use.text and _is_of_renamed_backend(use.key, program)):
                    yield self._unknown(use, keys, program.torch_name)
            elif own is not None and use.text and own != use.key:
                yield self._only_in_cpp(use, own)
            elif own is not None and keys.kind(own) is KeyKind.PER_BACKEND:
                yield self._unreachable(use.place, own, keys)

    def _unknown(self, use: _Use, keys: DispatchKeys, torch: str) -> Finding:
        meant = nearest(use.key, (*keys.runtime[1:], *keys.facts.aliases))
        hint = f"; did you mean `{meant}`?" if meant else ": name one that it has"
        message = f"{torch} has no dispatch key `{use.key}`, so {use.harm}{hint}"
        return self.finding(use.place, message, fix=_fix(use, meant))

    def _only_in_cpp(self, use: _Use, own: str) -> Finding:
        message = f"only C++ code knows `{use.key}`, torch cannot look it up, so {use.harm}: write `{own}`"
        return self.finding(use.place, message, fix=_fix(use, own))

    def _keyless(self, use: _Use) -> Finding:
        device = use.key.removeprefix(_DEVICE)
        return self.finding(
            use.place,
            f"no dispatch key goes with the device {device}, so loading the library aborts: name a key, "
            "`c10::DispatchKey::...`",
            notes=(f'torch says: "Device type {device.lower()} cannot be overloaded at dispatch time"',),
        )

    def _unreachable(self, place: Place, key: str, keys: DispatchKeys) -> Finding:
        return self.finding(
            place,
            f"no call ever reaches a kernel at `{key}`, which stands for one key for each backend: register at "
            f"`{keys.join(key, 'CPU')}`, `{keys.join(key, 'CUDA')}`, ..., whichever this kernel serves",
        )


def _fix(use: _Use, meant: str | None) -> Fix | None:
    """None where the name is not written just so (a macro gives it, or an expression)."""
    if meant is None or use.place.end - use.place.start != len(use.key):
        return None
    return Fix(f"use {meant}", safe=False, edits=(Edit(use.place, meant),))


def _uses(program: Program) -> Iterator[_Use]:
    """Where a key is named, and under which condition: in blocks, then in calls."""
    for unit in program.units:
        if unit.key is not None:
            yield _Use(unit.key, unit.key_place or unit.place, unit.condition, unit.stable, unit.language)
    named: Iterator[_Named] = chain(
        ((found, found.fact.key, found.fact.key_place) for found in program.definitions),
        ((found, found.fact.call_key, found.fact.key_place) for found in program.implementations),
        ((found, found.fact.key, found.fact.key_place) for found in program.fallbacks),
    )
    for registered, key, place in named:
        if key is not None:
            unit = registered.unit
            yield _Use(key, place or registered.place, registered.condition, unit.stable, unit.language)


def _is_of_renamed_backend(key: str, program: Program) -> bool:
    """Whether a key may be one of PrivateUse1, which a package of that backend gives its own name.

    After `torch.utils.rename_privateuse1_backend("npu")` torch looks up `NPU`, `AutogradNPU` and so on.
    """
    of_backend = _OF_BACKEND.fullmatch(key)
    if of_backend is None:
        return False
    backend = of_backend["backend"].lower()
    return backend in RENAMED_BACKENDS or f"torch_{backend}" in program.imported_packages


def _names_a_version(condition: Condition) -> bool:
    return any("VERSION" in atom.upper() for atom in atoms(condition))
