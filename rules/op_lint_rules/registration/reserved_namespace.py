"""OPL208."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, Language, Unit, UnitKind
from op_lint.findings import Finding, Severity
from op_lint.program import Program
from op_lint.rule import Rule

_PRIM = "prim"
_ATEN = "aten"


class ReservedNamespace(Rule):
    """A definition in a namespace that is not for defining operators in.

    ## What it does
    Reports definitions in `prim` (the TorchScript interpreter's), in `aten` outside of PyTorch (its own operators;
    kernels for existing ones belong in `TORCH_LIBRARY_IMPL(aten, KEY, m)`), in the wildcard `_`, and in a namespace
    that is no identifier, so that nobody can write `torch.ops.NAMESPACE`.

    ## Why it is bad
    `torch.library` refuses `prim` with a ValueError, and C++ takes it without a word. A later PyTorch may define the
    operator that you put in `aten`, with another meaning. `TORCH_LIBRARY(_, m)` ends the process when it is loaded.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(prim, m) {
      m.def("scale(Tensor x) -> Tensor");
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }
    ```

    ## References
    - `_reserved_namespaces` in torch/library.py
    - The constructor of `Library` in aten/src/ATen/core/library.cpp
    """

    code = "OPL208"
    name = "reserved-namespace"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """One finding for each unit that defines, or is there to define, in such a namespace."""
        defining: dict[Unit, list[Definition]] = {}
        for registered in program.definitions if not program.in_torch else ():
            defining.setdefault(registered.unit, []).append(registered.fact)
        for unit in program.units if not program.in_torch else ():
            # A function that takes the library has the namespace of the block that calls it, which is reported itself.
            is_block = unit.kind is not UnitKind.HELPER or unit.namespace is not None
            if is_block and program.role(unit) in (UnitKind.LIBRARY, UnitKind.FRAGMENT):
                wrong = _wrong(program, unit, defining.get(unit, []))
                if wrong is not None:
                    yield self.finding(unit.namespace_place or unit.place, wrong)


def _wrong(program: Program, unit: Unit, definitions: list[Definition]) -> str | None:
    """What is wrong with the namespace that this unit defines in."""
    namespace = unit.namespace
    python = unit.language is Language.PYTHON
    if namespace is None:
        harm = "this raises RuntimeError" if python else "loading the library aborts"
        return f"nothing can be defined in `_`, which stands for every namespace, so {harm}: name a namespace"
    if namespace == _PRIM and (python or definitions or unit.kind is UnitKind.LIBRARY):
        harm = "torch.library raises ValueError" if python else "C++ takes it without a word"
        return f"`prim` is reserved for the TorchScript interpreter ({harm}): use a namespace of your own"
    new = [found.operator for found in definitions if program.installed_operator(found.operator) is None]
    if namespace == _ATEN and new:
        return (
            f"`aten` is PyTorch's own, and a later version may define `{new[0]}` with another meaning: use a "
            "namespace of your own"
        )
    if unit.namespace_macro is None and not namespace.isidentifier():
        return f"`{namespace}` is no identifier, so nobody can write `torch.ops.{namespace}`: rename the namespace"
    return None
