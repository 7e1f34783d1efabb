"""OPL211."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.keys import IMPLICIT, UNDEFINED
from op_lint.facts import Definition, Fallback, Implementation, KernelKind, Language, Place, Unit, UnitKind
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program, Registered
from op_lint.rule import Rule
from op_lint_rules._words import where
from op_lint_rules.registration._names import name_fault

_NO_KEY = frozenset({None, UNDEFINED, "CatchAll"})
"""What a block's or a call's key is where there is none (the constructor of `Library`, library.cpp)."""

_BOXED = frozenset({KernelKind.BOXED, KernelKind.FALLTHROUGH})


class MisplacedRegistration(Rule):
    """A registration that the block it stands in does not allow.

    ## What it does
    Reports what the `Library` class itself refuses when it runs:

    - `m.def` or `m.class_` in a `TORCH_LIBRARY_IMPL` block;
    - `m.fallback` in a block that defines, in the block of a namespace, or without a dispatch key;
    - `m.impl` in the block of the wildcard namespace `_`;
    - a dispatch key given in the call that is another one than the block's;
    - `m.def` with a name only and no kernel to infer the schema from (a boxed function and a fallthrough have none);
    - `m.impl` with a whole schema, or with what is no operator name; an overload called `default` or `__...`;
    - in Python, a dispatch key given to a `Library` that defines.

    ## Why it is bad
    Loading the library ends the process: torch throws from a static initialiser, which nothing can catch. `m.impl`
    in a `_` block crashes without a message. In Python the call raises RuntimeError.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.def("scale(Tensor x) -> Tensor");
      m.impl("scale", &scale_cpu);
    }
    ```

    ## Use instead
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

    ## References
    - aten/src/ATen/core/library.cpp
    - torch/library.py for what is checked in Python before
    """

    code = "OPL211"
    name = "misplaced-registration"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every registration that its library refuses."""
        for unit in program.units:
            yield from self._unit(program, unit)
        for definition in program.definitions:
            yield from self._definition(program, definition)
        for implementation in program.implementations:
            yield from self._implementation(program, implementation)
        for fallback in program.fallbacks:
            yield from self._fallback(program, fallback)
        yield from self._legacy(program)
        yield from self._classes(program)

    def _classes(self, program: Program) -> Iterator[Finding]:
        """A TorchScript class in a block for kernels (`Library::class_` in torch/custom_class.h)."""
        for registered in program.classes:
            unit = registered.unit
            if program.role(unit) is UnitKind.IMPL:
                yield self._refused(
                    unit,
                    registered.place,
                    "a class is defined in a block for kernels",
                    f"define it in `TORCH_LIBRARY({unit.namespace}, m)`",
                    "Cannot define a class inside of a TORCH_LIBRARY_IMPL block.",
                )

    def _unit(self, program: Program, unit: Unit) -> Iterator[Finding]:
        if unit.language is Language.PYTHON and unit.key not in _NO_KEY and _defines(program, unit):
            yield self._refused(
                unit,
                unit.key_place or unit.place,
                "a library that defines has no dispatch key",
                f"leave `{unit.key}` out and give it to `impl`",
                "!dispatch_key_.has_value() INTERNAL ASSERT FAILED",
            )

    def _definition(self, program: Program, registered: Registered[Definition]) -> Iterator[Finding]:
        fact, unit = registered.fact, registered.unit
        if program.role(unit) is UnitKind.IMPL:
            yield self._refused(
                unit,
                fact.name_place,
                f"`{fact.operator}` is defined in a block for kernels",
                f"define it in `TORCH_LIBRARY({unit.namespace}, m)`",
                "Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.",
            )
        elif fact.language is Language.PYTHON:
            return  # a schema that is not written is made from the function's annotations
        elif fact.schema is None and fact.kernel is None:
            yield self._refused(
                unit,
                fact.name_place,
                f"`{fact.operator}` is defined by its name alone",
                f'write the schema, "{fact.operator.name}(Tensor x) -> Tensor"',
                "Tried to parse a function schema but only the operator name was given",
            )
        elif fact.schema is None and fact.kernel is not None and fact.kernel.kind in _BOXED:
            yield self._refused(
                unit,
                fact.name_place,
                f"`{fact.operator}` has no schema, and none can be inferred from a {fact.kernel.kind.value} kernel",
                "write the schema",
                "Full schema string was not specified, and we couldn't infer schema either.",
            )

    def _implementation(self, program: Program, registered: Registered[Implementation]) -> Iterator[Finding]:
        fact, unit = registered.fact, registered.unit
        if unit.kind is UnitKind.IMPL and unit.namespace is None and fact.explicit_namespace is None:
            yield self._refused(
                unit,
                fact.name_place,
                f"`{fact.text.value}` is in a block for every namespace (`_`), which can hold nothing but a fallback",
                "register the kernel in the block of its own namespace",
            )
            return
        fault = name_fault(fact, unit)
        if fault is not None:
            yield self._refused(unit, fact.name_place, *fault)
        block, call = program.key(unit.key or IMPLICIT), program.key(fact.call_key or IMPLICIT)
        if unit.key not in _NO_KEY and fact.call_key not in _NO_KEY and block != call:
            place = fact.key_place or fact.place
            yield self._refused(
                unit,
                place,
                f"this kernel is for {call}, and its block ({where(unit.key_place or unit.place, place)}) for {block}",
                f"move it to a block for {call}",
                f"Explicitly provided dispatch key ({call}) is inconsistent with the dispatch key of the enclosing",
            )

    def _legacy(self, program: Program) -> Iterator[Finding]:
        """One `.op(...)` with two kernels at one key (`checkNoDuplicateKernels_` in op_registration.cpp)."""
        seen: set[tuple[Place, str]] = set()
        for registered in program.implementations:
            fact, key = registered.fact, program.key(registered.fact.key)
            if registered.unit.kind is UnitKind.LEGACY and (fact.place, key) in seen:
                yield self._refused(
                    registered.unit,
                    fact.key_place or fact.place,
                    f"this `.op` registers a second {key} kernel for `{fact.operator}`",
                    "remove one",
                    f"Tried to register multiple kernels with same dispatch key {key}",
                )
            seen.add((fact.place, key))

    def _fallback(self, program: Program, registered: Registered[Fallback]) -> Iterator[Finding]:
        fact, unit = registered.fact, registered.unit
        key = "KEY" if fact.key in _NO_KEY else fact.key
        remedy = f"move it to `TORCH_LIBRARY_IMPL(_, {key}, m)`"
        if _defines(program, unit) and unit.language is Language.CPP:
            says = "fallback(...): Cannot define an operator inside of a TORCH_LIBRARY block."
            yield self._refused(unit, fact.place, "a block that defines operators holds a fallback", remedy, says)
        elif fact.key in _NO_KEY:
            says = "dispatch_key.has_value() INTERNAL ASSERT FAILED"
            yield self._refused(unit, fact.place, "this fallback is for no dispatch key", "name it in the block", says)
        elif unit.namespace is not None:
            problem = f"a fallback is for every namespace, not for `{unit.namespace}` alone"
            says = "Fallback functions which apply to only a single namespace ... are not supported."
            yield self._refused(unit, fact.place, problem, remedy, says)

    def _refused(self, unit: Unit, place: Place, problem: str, remedy: str, torch_says: str | None = None) -> Finding:
        block = unit.key_place or unit.namespace_place or unit.place
        harm = "loading the library aborts" if torch_says else "loading the library crashes"
        if unit.language is Language.PYTHON:
            harm = "this raises RuntimeError"
        return self.finding(
            place,
            f"{problem}, so {harm}: {remedy}",
            related=(Related(block, f"in this {unit.macro}"),),
            notes=(f'torch says: "{torch_says}"',) if torch_says else (),
        )


def _defines(program: Program, unit: Unit) -> bool:
    return program.role(unit) in (UnitKind.LIBRARY, UnitKind.FRAGMENT)
