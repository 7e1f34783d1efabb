"""OPL505."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Unit
from op_lint.findings import Finding, Severity
from op_lint.live import Comparison, Written, place_in
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint_rules.build._live import comparison, loaded_names

_MOST_NAMED = 3


class UnitNotLoaded(Rule):
    """A registration of the sources is not in the extension that is loaded.

    ## What it does
    With `--load` or `--import`, compares the registrations of the sources with what the dispatcher has after loading,
    by file, line, operator and key, and reports those that every build of their file makes and that are not there.
    Registrations under `#if` or `if`, device sources in a torch without that device, and sources of other namespaces
    than the extension's are left alone. Where nothing tells that a file is compiled into what is loaded (the build
    files, or something else of the file that is there), it is a hint.

    ## Why it is bad
    The source says that there is a kernel, and a call raises all the same. Usually the file is not among those that are
    compiled, the linker dropped its object from a static library, or the binary is older than the source.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }
    ```
    ```cpp title="kernels.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
    }
    ```
    What the dispatcher says with the library loaded:
    ```text title="loaded"
    name: demo::scale
    schema: demo::scale(Tensor x) -> Tensor
    debug: registered at ops.cpp:4
    alias analysis kind: FROM_SCHEMA
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor");
    }
    ```
    ```cpp title="kernels.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
    }
    ```
    With both files compiled and linked:
    ```text title="loaded"
    name: demo::scale
    schema: demo::scale(Tensor x) -> Tensor
    debug: registered at ops.cpp:4
    alias analysis kind: FROM_SCHEMA
    CPU: registered at kernels.cpp:6 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
    ```

    ## References
    - `torch._C._dispatch_dump` in torch/csrc/utils/python_dispatch.cpp
    """

    code = "OPL505"
    name = "unit-not-loaded"
    severity = Severity.ERROR
    needs = frozenset({Need.TORCH, Need.LIVE})

    def check(self, program: Program) -> Iterator[Finding]:
        """One finding for each block of which nothing is there, else one for each registration."""
        compared = comparison(program)
        if compared is None:
            return
        names = loaded_names(program)
        blocks: dict[Unit, list[Written]] = {}
        for written in compared.absent:
            blocks.setdefault(written.unit, []).append(written)
        for unit, absent in blocks.items():
            if len(absent) == _size(compared, unit):
                yield self._block(unit, absent, names, is_certain=compared.is_compiled(absent[0]))
            else:
                for written in absent:
                    yield self._registration(written, names)

    def _block(self, unit: Unit, absent: list[Written], names: str, *, is_certain: bool) -> Finding:
        words = list(dict.fromkeys(map(_words, absent)))
        more = f" and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
        cure = "link this file into it, or rebuild" if is_certain else "if this file belongs to it, compile and link it"
        return self.finding(
            unit.place,
            f"nothing that this {unit.macro} registers is there with {names} loaded "
            f"({', '.join(words[:_MOST_NAMED])}{more}): {cure}",
            severity=Severity.ERROR if is_certain else Severity.HINT,
        )

    def _registration(self, written: Written, names: str) -> Finding:
        return self.finding(
            place_in(written), f"{_words(written)} is not there with {names} loaded: the library is older, rebuild it"
        )


def _size(compared: Comparison, unit: Unit) -> int:
    return sum(written.unit is unit for written in compared.written)


def _words(written: Written) -> str:
    if written.operator is None:
        return f"the {written.key} fallback"
    return f"`{written.operator}`" if written.key is None else f"the {written.key} kernel of `{written.operator}`"
