"""OPL209."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Unit, UnitKind
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program
from op_lint.rule import Rule

_GENERIC = frozenset({
    "_C", "_ext", "_ops", "C", "backend", "cpp", "cpp_ext", "cpp_extension", "cuda", "cuda_ops", "custom", "custom_op",
    "custom_ops", "demo", "example", "examples", "ext", "extension", "extension_cpp", "extensions", "kernel", "kernels",
    "lib", "library", "my_extension", "my_lib", "my_namespace", "my_op", "my_ops", "mylib", "myop", "myops", "native",
    "op", "ops", "test", "test_ops", "tests", "torch_ext", "torch_extension", "torch_library", "utils",
})  # fmt: skip


class GenericNamespace(Rule):
    """A namespace that another package is likely to use too.

    ## What it does
    Reports definitions in a namespace whose name says nothing about the package: `_C`, `ops`, `custom_ops`, `my_ops`.

    ## Why it is bad
    Namespaces are global to the process, not to the Python package. Two packages that both own `_C` cannot be loaded
    together: the second one ends the process. With fragments they collide as soon as they share an operator's name.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(_C, m) {
      m.def("rope(Tensor x) -> Tensor");
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(mypackage, m) {
      m.def("rope(Tensor x) -> Tensor");
    }
    ```

    ## References
    - The notes on `TORCH_LIBRARY` in torch/library.h
    """

    code = "OPL209"
    name = "generic-namespace"
    severity = Severity.HINT
    default = False

    def check(self, program: Program) -> Iterator[Finding]:
        """The first unit that defines in each such namespace; the others are related."""
        for namespace in sorted(_GENERIC):
            units = [unit for unit in program.units_of(namespace) if _defines(program, unit)]
            if units:
                first, *others = units
                yield self.finding(
                    first.namespace_place or first.place,
                    f"the namespace `{namespace}` is shared by all packages in the process, and others are likely to "
                    "use it: name it after this package",
                    related=tuple(
                        Related(unit.namespace_place or unit.place, f"also in `{namespace}`") for unit in others
                    ),
                )


def _defines(program: Program, unit: Unit) -> bool:
    return program.role(unit) in (UnitKind.LIBRARY, UnitKind.FRAGMENT)
