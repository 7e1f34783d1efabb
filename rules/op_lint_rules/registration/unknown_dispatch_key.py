"""OPL210."""

from __future__ import annotations

import re
from collections.abc import Iterator

from op_lint.condition import Condition, atoms
from op_lint.dispatch.keys import DispatchKeys, KeyKind
from op_lint.facts import Place
from op_lint.findings import Edit, Finding, Fix, Severity
from op_lint.nearest import nearest
from op_lint.program import Program
from op_lint.rule import Need, Rule

_MACRO = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""What is written where a key should be, and is more likely a macro of the build than a misspelt key."""

_Use = tuple[str, Place, Condition]


class UnknownDispatchKey(Rule):
    """A dispatch key that torch does not have, or that nothing is ever dispatched to.

    ## What it does
    Reports keys of blocks and calls that the installed torch does not have, and those of functionalities
    that exist once for each backend (`Sparse`, `Quantized`, `Dense`, `NestedTensor`, ...): tensors have `SparseCPU`,
    `SparseCUDA` and so on. Keys under a condition that names a version are left alone.

    ## Why it is bad
    In C++ an unknown key does not compile; with the stable ABI it compiles, and loading the library crashes without a
    message; in Python it raises RuntimeError. A kernel at a functionality is registered, and no call ever reaches it.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_sparse(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, Sparse, m) {
      m.impl("scale", &scale_sparse);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_sparse(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, SparseCPU, m) {
      m.impl("scale", &scale_sparse);
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
        keys, installed = program.keys, program.installed
        if keys is None or installed is None:
            return
        seen: set[Place] = set()
        for key, place, condition in _uses(program):
            if place in seen or _names_a_version(condition):
                continue
            seen.add(place)
            own = keys.canonical(key)
            if own is None and not _MACRO.fullmatch(key):
                yield self._unknown(key, place, keys, installed.version)
            elif own is not None and keys.kind(own) is KeyKind.PER_BACKEND:
                yield self._unreachable(own, place, keys)

    def _unknown(self, key: str, place: Place, keys: DispatchKeys, version: str) -> Finding:
        names = (*keys.runtime[1:], *keys.facts.aliases)
        meant = nearest(key, names)
        hint = f"; did you mean `{meant}`?" if meant else ""
        written_here = place.end - place.start == len(key)
        edits = (Edit(place, meant),) if meant and written_here else ()
        return self.finding(
            place,
            f"torch {version} has no dispatch key `{key}`{hint}",
            fix=Fix(f"use {meant}", safe=False, edits=edits) if edits else None,
        )

    def _unreachable(self, key: str, place: Place, keys: DispatchKeys) -> Finding:
        return self.finding(
            place,
            f"no call ever reaches a kernel at `{key}`, which stands for one key for each backend: register at "
            f"`{keys.join(key, 'CPU')}`, `{keys.join(key, 'CUDA')}`, ..., whichever this kernel serves",
        )


def _uses(program: Program) -> Iterator[_Use]:
    """Where a key is named, and under which condition: in blocks, then in calls."""
    for unit in program.units:
        if unit.key is not None:
            yield unit.key, unit.key_place or unit.place, unit.condition
    for definition in program.definitions:
        if definition.fact.key is not None:
            yield definition.fact.key, definition.fact.key_place or definition.place, definition.condition
    for implementation in program.implementations:
        if implementation.fact.call_key is not None:
            place = implementation.fact.key_place or implementation.place
            yield implementation.fact.call_key, place, implementation.condition
    for fallback in program.fallbacks:
        if fallback.fact.key is not None:
            yield fallback.fact.key, fallback.fact.key_place or fallback.place, fallback.condition


def _names_a_version(condition: Condition) -> bool:
    return any("VERSION" in atom.upper() for atom in atoms(condition))
