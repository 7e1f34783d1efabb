"""OPL603."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.condition import ALWAYS
from op_lint.facts import FileFacts, Implementation, KernelKind, Language, LibraryLoad, PythonFacts, RunTime, UseKind
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint_rules._words import where

_BUILDING = "torch.utils.cpp_extension."

_TARGET = "//"
"""What names a target of a build system and not a file: elsewhere there is none, and its failure is expected."""


class FakeBeforeLoad(Rule):
    """A fake is registered for an operator whose library may not be loaded yet, or never.

    ## What it does
    Reports a load of a library whose failure goes no further than a `pass` or a debug message, unless the project asks
    later whether the operators are there; and fakes that a module registers, while it is imported, before it loads the
    library that defines their operators.

    ## Why it is bad
    `register_fake` raises "operator ... does not exist" where the library is not loaded: the user sees that, and never
    the reason, which was thrown away some lines before. Other uses fail later, just as far from the reason.

    ## Example
    ```python title="__init__.py"
    import torch

    try:
        torch.ops.load_library("libdemo.so")
    except OSError:
        pass


    @torch.library.register_fake("demo::nms")
    def _(boxes):
        return torch.empty_like(boxes)
    ```

    ## Use instead
    ```python title="__init__.py"
    import torch

    torch.ops.load_library("libdemo.so")


    @torch.library.register_fake("demo::nms")
    def _(boxes):
        return torch.empty_like(boxes)
    ```

    ## References
    - `torch.library.register_fake` in torch/library.py
    """

    code = "OPL603"
    name = "fake-before-load"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Loads that fail in silence, then fakes that come too early."""
        asks = any(use.kind in (UseKind.GUARD, UseKind.ASSIGNMENT) for use in program.uses)
        for file in program.files:
            if file.python is None or not program.is_whole(file.path):
                continue
            if not asks:
                for load in file.python.loads:
                    yield from self._silenced(file, load)
            yield from self._early(program, file, file.python)

    def _silenced(self, file: FileFacts, load: LibraryLoad) -> Iterator[Finding]:
        if not load.silenced or load.run is not RunTime.IMPORT or load.api.startswith(_BUILDING):
            return
        if (load.path or "").startswith(_TARGET):
            return
        if file.python is not None and any(
            loop.place.start < load.place.start < loop.place.end for loop in file.python.loops
        ):
            return
        caught, instead = load.silenced
        later = [fact for fact in file.implementations if _is_fake(fact) and fact.place.start > load.place.start]
        needed = f", and `{later[0].operator}` is needed in line {later[0].place.line}" if later else ""
        related = [
            Related(caught, "the exception is caught here"),
            Related(instead, "and this is all that comes of it"),
            *(Related(fact.place, f"`{fact.operator}` has to exist here") for fact in later[:1]),
        ]
        yield self.finding(
            load.place,
            f"where this library cannot be loaded, nobody is told (line {caught.line}){needed}: let the error pass, or "
            "warn with its text",
            related=tuple(related),
        )

    def _early(self, program: Program, file: FileFacts, facts: PythonFacts) -> Iterator[Finding]:
        """Fakes of C++ operators before the first load in a module that loads a library itself."""
        loads = [load for load in facts.loads if load.run is RunTime.IMPORT and load.condition == ALWAYS]
        if not loads:
            return
        first = min(loads, key=lambda load: load.place.start)
        if any(each.place.start < first.place.start and _may_load(each.module) for each in facts.imports):
            return
        for fact in file.implementations:
            early = _is_fake(fact) and fact.condition == ALWAYS and fact.place.start < first.place.start
            if not early or program.function_around(fact.place) is not None:
                continue
            definitions = program.definitions_of(fact.operator)
            if definitions and all(found.fact.language is Language.CPP for found in definitions):
                yield self.finding(
                    fact.name_place,
                    f"the fake of `{fact.operator}` is registered before the library that defines it is loaded "
                    f"({where(first.place, fact.place)}): move the load before it",
                    related=(Related(first.place, "the library is loaded here"),),
                    notes=(f'torch raises RuntimeError: "operator {fact.operator} does not exist"',),
                )


def _is_fake(fact: Implementation) -> bool:
    return fact.kernel.kind is KernelKind.FAKE and fact.condition == ALWAYS


def _may_load(module: str) -> bool:
    """Whether importing a module may load a library of the project: all may but those that are known not to."""
    return module.partition(".")[0] not in _HARMLESS


_HARMLESS = frozenset({
    "__future__", "collections", "contextlib", "dataclasses", "enum", "functools", "glob", "importlib", "io",
    "itertools", "json", "logging", "math", "numpy", "os", "pathlib", "platform", "re", "subprocess", "sys", "torch",
    "types", "typing", "typing_extensions", "warnings",
})  # fmt: skip
