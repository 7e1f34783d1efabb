"""OPL602."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, FileFacts, Implementation, Lifetime, Place, PythonFacts, PythonLibrary
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program, holds
from op_lint.rule import Rule


class LibraryDies(Rule):
    """A `Library` that nothing keeps, so that its registrations vanish.

    ## What it does
    Reports `torch.library.Library` objects with registrations that are held by a local variable only, by nothing at
    all, or by a name that gets another value later. Nothing is said where the same function also uses what it
    registers, or gives the library away, nor of the local variables of a test: then it lives as long as it is meant to.

    ## Why it is bad
    When the object goes, torch takes back everything that was registered with it, without a word. The operators are
    gone when they are called, or the kernels of a backend are.

    ## Example
    ```python title="ops.py"
    import torch


    def register():
        lib = torch.library.Library("demo", "FRAGMENT")
        lib.define("scale(Tensor x) -> Tensor")
        lib.impl("scale", lambda x: x * 2, "CompositeExplicitAutograd")


    register()
    ```

    ## Use instead
    ```python title="ops.py"
    import torch

    lib = torch.library.Library("demo", "FRAGMENT")


    def register():
        lib.define("scale(Tensor x) -> Tensor")
        lib.impl("scale", lambda x: x * 2, "CompositeExplicitAutograd")


    register()
    ```

    ## References
    - `Library.__init__` and `_del_library` in torch/library.py
    """

    code = "OPL602"
    name = "library-dies"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every library that dies with registrations that somebody may still want."""
        for file in program.files:
            if file.python is None:
                continue
            for library in file.python.libraries:
                registered = _registered(program, file, library) if library.lifetime in _DYING else ()
                if registered and not (_is_used_there(file.python, library) or _is_of_a_test(program, library)):
                    yield self._dies(library, registered)

    def _dies(self, library: PythonLibrary, registered: tuple[tuple[str, Place], ...]) -> Finding:
        what, place = registered[0]
        more = f" and {len(registered) - 1} more" if len(registered) > 1 else ""
        related = [Related(place, f"{what} is registered with it")]
        if library.end is not None:
            related.append(Related(library.end, "here the name gets another value"))
        return self.finding(
            library.place,
            f"this library dies {_when(library)}, and what is registered with it goes, too ({what}{more}): "
            f"{_cure(library)}",
            related=tuple(related),
        )


_DYING = frozenset({Lifetime.LOCAL, Lifetime.DISCARDED, Lifetime.REBOUND})


def _registered(program: Program, file: FileFacts, library: PythonLibrary) -> tuple[tuple[str, Place], ...]:
    """What is registered with a library: in words, and where. What cannot be read counts, too."""
    if library.unit is not None:
        facts: tuple[Definition | Implementation, ...] = (*file.definitions, *file.implementations)
        found = [(f"`{fact.operator}`", fact.place) for fact in facts if fact.unit == library.unit]
        found += [("a fallback", fact.place) for fact in file.fallbacks if fact.unit == library.unit]
        found += [("an operator", fact.place) for fact in file.unresolved if fact.unit == library.unit]
        return tuple(dict.fromkeys(found))
    function = program.function_around(library.place)
    if function is None:
        return ()
    inside = [fact for fact in file.unresolved if fact.what in ("def", "impl") and holds(function.place, fact.place)]
    return tuple(("an operator", fact.place) for fact in inside)


def _is_used_there(facts: PythonFacts, library: PythonLibrary) -> bool:
    """Whether the function that makes a library also uses operators after that, while the library is alive.

    So may the functions inside of it; whether one of them outlives it is not known.
    """
    function = library.function
    return function is not None and any(
        use.place.start > library.place.start and holds(function, use.place) for use in facts.uses
    )


def _is_of_a_test(program: Program, library: PythonLibrary) -> bool:
    """Whether a library is a local variable of a test, which is not to leave anything registered for the next one."""
    function = program.function_around(library.place)
    name = function.name.rpartition(".")[2] if function is not None else ""
    return library.lifetime is Lifetime.LOCAL and name.startswith("test")


def _when(library: PythonLibrary) -> str:
    if library.lifetime is Lifetime.LOCAL:
        return "when the function returns"
    if library.lifetime is Lifetime.REBOUND and library.end is not None:
        return f"in line {library.end.line}, where `{library.name or 'its name'}` gets another value"
    return "as soon as the statement is done"


def _cure(library: PythonLibrary) -> str:
    if library.lifetime is Lifetime.REBOUND:
        return "give each library a name of its own"
    if library.lifetime is Lifetime.LOCAL:
        return "keep it in a variable of the module"
    return "assign it to a variable of the module"
