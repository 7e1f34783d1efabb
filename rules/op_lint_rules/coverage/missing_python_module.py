"""OPL308."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Implementation, KernelKind, Language, UnitKind
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program, Registered
from op_lint.rule import Rule
from op_lint_rules._words import where


class MissingPythonModule(Rule):
    """A C++ operator whose fake is in a Python module that its definition does not name.

    ## What it does
    Reports definitions in C++ without `m.set_python_module(...)` before them, where a Python module registers the fake.

    ## Why it is bad
    Whoever loads the library and does not import that module gets "no fake impl" from torch.compile, without a word
    about where there is one. With the name torch says which module to import.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
    }
    ```

    ```python title="fakes.py"
    import torch


    @torch.library.register_fake("demo::scale")
    def _(x):
        return torch.empty_like(x)
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.set_python_module("fakes");
      m.def("scale(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
    }
    ```

    ```python title="fakes.py"
    import torch


    @torch.library.register_fake("demo::scale")
    def _(x):
        return torch.empty_like(x)
    ```

    ## References
    - `Library::set_python_module` in torch/library.h
    """

    code = "OPL308"
    name = "missing-python-module"
    severity = Severity.HINT
    default = False

    def check(self, program: Program) -> Iterator[Finding]:
        """Every such definition in a block of this program."""
        for definition in program.definitions:
            fact, unit = definition.fact, definition.unit
            plain = unit.kind in (UnitKind.LIBRARY, UnitKind.FRAGMENT) and not unit.stable
            if fact.language is not Language.CPP or fact.python_module is not None or not plain:
                continue
            fakes = [found for found in program.implementations_of(fact.operator) if _is_registered_fake(found)]
            facts = program.python_of(fakes[0].place.path) if fakes else None
            if facts is not None:
                place = fakes[0].place
                yield self.finding(
                    fact.name_place,
                    f"the fake of `{fact.operator}` is in the Python module `{facts.module}` "
                    f"({where(place, fact.name_place)}), and nothing here says so: write "
                    f'`m.set_python_module("{facts.module}");` before the definition',
                    related=(Related(place, "the fake is registered here"),),
                )


def _is_registered_fake(kernel: Registered[Implementation]) -> bool:
    fact = kernel.fact
    return fact.language is Language.PYTHON and fact.kernel.kind is KernelKind.FAKE and not kernel.in_python
