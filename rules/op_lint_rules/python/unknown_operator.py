"""OPL601."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import product

from op_lint.condition import ALWAYS, Condition, atoms, disjunction, evaluate
from op_lint.facts import Language, OperatorName, OperatorUse, RunTime, UnitKind, UseKind
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.nearest import nearest
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint_rules._words import is_misspelt, where
from op_lint_rules.python._uses import asks_for_environment, doubted, may_be_caught, named

_MOST_STRANGERS = 10
"""Where more than one in this many operators that are used in a namespace is unknown, others fill it, too."""

_FEW = 2
"""So many unknown operators may each be a mistake."""

_LONG_WORD = 8
"""Letters of a word in which two may be wrong; in a shorter one two other letters make another word."""

_PLATFORM = re.compile(r"ROCM|CUDA|HIP|XPU|SYCL|MPS|METAL|NPU|_WIN32|__APPLE__|__linux__|CPU|AVX|ARM|aarch64|x86")
"""Conditions that ask what a build is for. Others are often settled by the build itself (include guards, features)."""

_MOST_PLATFORMS = 4

_SHOWN = 4
"""Overloads that a message names."""


class UnknownOperator(Rule):
    """Python names an operator that nothing defines.

    ## What it does
    Reports `torch.ops.ns.op` (and strings that name an operator to torch) where neither these sources nor the installed
    torch define such an operator, or such an overload; and what is read while a module is imported although the
    operator exists on some platforms only.

    It speaks only of namespaces whose operators are known: those of the installed torch, and those that these sources
    define. Of a namespace that neither has, nothing is said: it belongs to a package that is not here. The same holds
    where many operators of a namespace are unknown, as another package then fills it, too; where a definition could not
    be read; and of code that is prepared for the absence: under `hasattr`, a `try`, a test of versions or platforms.

    ## Why it is bad
    It raises AttributeError as soon as the line runs. In a module's own code that is at import.

    ## Example
    ```python title="ops.py"
    import torch

    lib = torch.library.Library("demo", "DEF")
    lib.define("scale_rows(Tensor x) -> Tensor")
    lib.impl("scale_rows", lambda x: x * 2, "CompositeExplicitAutograd")


    def scaled(x):
        return torch.ops.demo.scale_row(x)
    ```

    ## Use instead
    ```python title="ops.py"
    import torch

    lib = torch.library.Library("demo", "DEF")
    lib.define("scale_rows(Tensor x) -> Tensor")
    lib.impl("scale_rows", lambda x: x * 2, "CompositeExplicitAutograd")


    def scaled(x):
        return torch.ops.demo.scale_rows(x)
    ```

    ## Fix
    Where one operator has nearly the same name: that name. It is not safe, since the other operator is then called.

    ## References
    - `_OpNamespace.__getattr__` in torch/_ops.py
    """

    code = "OPL601"
    name = "unknown-operator"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every use that nothing guards of an operator that is unknown, or of one that some builds lack."""
        doubts = doubted(program)
        registered = {found.fact.name_place for found in program.implementations}
        uses = [
            use
            for use in program.uses
            if use.kind in _NEEDING
            and use.name_place not in registered
            and named(use) not in doubts
            and not may_be_caught(use.caught)
        ]
        strangers = _strangers(program, [use for use in uses if not asks_for_environment(use.condition)])
        for use in uses:
            known = program.overloads(*named(use))
            if not known:
                yield from self._unknown(program, use, strangers)
            elif not use.packet and use.operator not in known:
                yield from self._no_overload(program, use, known)
            else:
                yield from self._sometimes(program, use, known)

    def _unknown(self, program: Program, use: OperatorUse, strangers: frozenset[str]) -> Iterator[Finding]:
        namespace, name = named(use)
        if not _is_known(program, namespace) or (program.installed is None and not _is_owned(program, namespace)):
            return
        meant = _meant(program, namespace, name)
        certain = namespace not in strangers and not asks_for_environment(use.condition)
        if meant is None and not (certain and _is_complete(program, use.operator)):
            return
        if meant is not None and program.may_be_defined(use.operator, by_strangers=False):
            return
        hint = (
            f"; did you mean `{meant}`?"
            if meant
            else f": define it, or load the library that does{_others(program, namespace)}"
        )
        yield self.finding(
            use.name_place,
            f"nothing defines `{namespace}::{name}`{hint}",
            related=_definition(program, namespace, meant),
            notes=(f"torch raises AttributeError: \"'_OpNamespace' '{namespace}' object has no attribute '{name}'\"",),
            fix=_rename(use, name, meant),
        )

    def _no_overload(self, program: Program, use: OperatorUse, known: tuple[OperatorName, ...]) -> Iterator[Finding]:
        if program.may_be_defined(use.operator, by_strangers=False) or asks_for_environment(use.condition):
            return
        overloads = [found.overload or "default" for found in known]
        written = use.operator.overload or "default"
        meant = nearest(written, overloads)
        has = ", ".join(f"`{overload}`" for overload in overloads[:_SHOWN]) + (
            ", ..." if len(overloads) > _SHOWN else ""
        )
        hint = f"; did you mean `{meant}`?" if meant else ""
        yield self.finding(
            use.place,
            f"`{use.operator.namespace}::{use.operator.name}` has no overload `{written}`{hint or f': it has {has}'}",
            notes=(f"{program.torch_name} and these sources define {has}",) if hint else (),
        )

    def _sometimes(self, program: Program, use: OperatorUse, known: tuple[OperatorName, ...]) -> Iterator[Finding]:
        """An operator that some builds lack, named while a module is imported, whatever the build."""
        if use.run is not RunTime.IMPORT or use.condition != ALWAYS or use.kind is UseKind.STRING:
            return
        if any(program.installed_operator(operator) is not None for operator in known):
            return
        definitions = [found for operator in known for found in program.definitions_of(operator)]
        if any(found.fact.language is not Language.CPP for found in definitions):
            return
        exists = disjunction(found.condition for found in definitions)
        if (
            not definitions
            or not _depends_on_platform(exists)
            or program.may_be_defined(use.operator, by_strangers=False)
        ):
            return
        first = definitions[0]
        yield self.finding(
            use.place,
            f"`{use.operator}` exists only when `{exists}` ({where(first.fact.name_place, use.place)}), and this line "
            f"reads it at import in every build: guard it, `if hasattr(torch.ops.{use.operator.namespace}, "
            f'"{use.operator.name}"):`',
            related=(Related(first.fact.name_place, f"`{use.operator}` is defined here"),),
            notes=("where it is not built, importing the module raises AttributeError",),
            severity=Severity.WARNING,
        )


_NEEDING = frozenset({UseKind.CALL, UseKind.REFERENCE, UseKind.STRING})


def _is_known(program: Program, namespace: str) -> bool:
    """Whether the operators of a namespace are known at all: torch's, or defined in these sources."""
    return program.installs(namespace) or bool(program.defined_in(namespace))


def _is_complete(program: Program, operator: OperatorName) -> bool:
    """Whether no definition in the operator's namespace can be hidden.

    Of torch's own that is `aten`, which is whole after `import torch`; others are filled by modules that are imported
    later. Of the sources' own it is one that they hold the `TORCH_LIBRARY` (or `DEF`) of.
    """
    if operator.namespace == _ATEN:
        return program.installed is not None and not program.in_torch and not program.defined_in(_ATEN)
    if program.installs(operator.namespace) or program.may_be_defined(operator):
        return False
    return _is_owned(program, operator.namespace)


def _is_owned(program: Program, namespace: str) -> bool:
    """Whether a namespace is these sources' own.

    They hold its `TORCH_LIBRARY`, or all that is in it is in Python and it is not another package's.
    """
    if any(program.role(unit) is UnitKind.LIBRARY for unit in program.units_of(namespace)):
        return True
    if program.is_of_an_import(namespace):
        return False
    defined = [found for operator in program.defined_in(namespace) for found in program.definitions_of(operator)]
    return bool(defined) and all(found.fact.language is Language.PYTHON for found in defined)


_ATEN = "aten"


def _depends_on_platform(exists: Condition) -> bool:
    """Whether what the build is for suffices to know that the operator is not in it."""
    platforms = [text for text in dict.fromkeys(atoms(exists)) if _PLATFORM.search(text)][:_MOST_PLATFORMS]
    choices = product((False, True), repeat=len(platforms))
    return any(evaluate(exists, dict(zip(platforms, chosen, strict=True))) is False for chosen in choices)


def _strangers(program: Program, uses: list[OperatorUse]) -> frozenset[str]:
    """The namespaces into which somebody else defines operators, too: many that are used there are unknown."""
    unknown: dict[str, set[str]] = defaultdict(set)
    known: dict[str, set[str]] = defaultdict(set)
    for use in uses:
        found = program.overloads(*named(use))
        (known if found else unknown)[use.operator.namespace].add(use.operator.name)
    return frozenset(
        namespace
        for namespace, names in unknown.items()
        if len(names) > _FEW and len(names) * _MOST_STRANGERS > len(known[namespace])
    )


def _meant(program: Program, namespace: str, name: str) -> str | None:
    """The operator of the namespace whose name differs in the spelling of one word."""
    names = {found.name for found in (*program.defined_in(namespace), *program.installed_in(namespace))}
    found = nearest(name, sorted(names))
    if found is None:
        return None
    shorter = min(len(name), len(found))
    return found if is_misspelt(name, found, 2 if shorter >= _LONG_WORD * 2 else 1) else None


def _others(program: Program, namespace: str) -> str:
    defined = program.defined_in(namespace)
    if not defined:
        return ""
    place = program.definitions_of(defined[0])[0].place
    return f" (`{namespace}` is defined in {place.path})"


def _definition(program: Program, namespace: str, meant: str | None) -> tuple[Related, ...]:
    found = [each for each in program.overloads(namespace, meant or "") if program.definitions_of(each)]
    places = [program.definitions_of(each)[0].fact.name_place for each in found[:1]]
    return tuple(Related(place, f"`{namespace}::{meant}` is defined here") for place in places)


def _rename(use: OperatorUse, name: str, meant: str | None) -> Fix | None:
    """None where the name is not written as it is."""
    if meant is None or use.name_place.end - use.name_place.start != len(name):
        return None
    return Fix(f"write `{meant}`", safe=False, edits=(Edit(use.name_place, meant),))
