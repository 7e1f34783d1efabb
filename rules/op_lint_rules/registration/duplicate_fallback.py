"""OPL205."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.dispatch.registration import Registration
from op_lint.facts import Fallback, Language
from op_lint.findings import Finding, Severity
from op_lint.program import Program, Registered
from op_lint.rule import Rule
from op_lint.together import Together
from op_lint_rules._words import apart, when

_REPLACEABLE = "AutogradPrivateUse1"
_REPLACEABLE_SINCE = (2, 13)
"""The one key whose fallback may be replaced, and the torch version since: `Dispatcher::registerFallback`."""


class DuplicateFallback(Rule):
    """A second backend fallback for one dispatch key.

    ## What it does
    Reports a fallback for a key that already has one: in the same library, or in the installed torch, which
    has fallbacks of its own at the autograd keys, at most autocast keys, at Meta, BackendSelect and more. A fallback
    for an alias key (`Autograd`) is one for each key that it includes.

    ## Why it is bad
    Each key has room for one. Loading the library ends the process. (`AutogradPrivateUse1` is an exception from
    torch 2.13 on: there a backend may replace torch's.)

    ## Example
    ```cpp title="fallback.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
      m.fallback(torch::CppFunction::makeFallthrough());
    }

    TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
      m.fallback(torch::CppFunction::makeFallthrough());
    }
    ```

    ## Use instead
    ```cpp title="fallback.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
      m.fallback(torch::CppFunction::makeFallthrough());
    }
    ```

    ## References
    - `Dispatcher::registerFallback` in aten/src/ATen/core/dispatch/Dispatcher.cpp
    - aten/src/ATen/core/VariableFallbackKernel.cpp for torch's own at the autograd keys
    """

    code = "OPL205"
    name = "duplicate-fallback"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every fallback that meets torch's, or else an earlier one of the sources."""
        of_torch = program.installed.fallback_registrations() if program.installed else {}
        seen: list[tuple[frozenset[str], Registered[Fallback]]] = []
        for registered in program.fallbacks:
            keys = _keys(program, registered)
            taken = min(keys & of_torch.keys(), default=None)
            if taken is not None and registered.certain:
                yield self._torch_has_one(program, registered.fact, of_torch[taken])
            else:
                for other_keys, other in seen:
                    if keys & other_keys and program.together(registered, other) is Together.YES:
                        yield self._twice(registered, other.fact, min(keys & other_keys))
                        break
            seen.append((keys, registered))

    def _torch_has_one(self, program: Program, fact: Fallback, theirs: Registration) -> Finding:
        return self.finding(
            fact.place,
            f"{program.torch_name} has a fallback for {theirs.key} already, so {_harm(fact)}: "
            f"register kernels for single operators at {fact.key} instead",
            notes=(f"torch's own is {theirs.origin}", _torch_says(theirs.key)),
        )

    def _twice(self, later: Registered[Fallback], earlier: Fallback, key: str) -> Finding:
        twice = apart(later.fact, earlier)
        return self.finding(
            twice.place,
            f"{key} already has a fallback {twice.already}, so {_harm(later.fact)}{when(later.condition)}: "
            f"{'make only one of the two calls' if twice.code else 'remove one'}",
            related=twice.related(f"the other fallback for {key}", "the fallback"),
            notes=(_torch_says(key),),
        )


def _keys(program: Program, registered: Registered[Fallback]) -> frozenset[str]:
    """The runtime keys that the fallback is for, without those where it may replace another.

    None for a fallback in the block of a namespace: that is refused before its key matters (OPL211).
    """
    if registered.fact.key is None or registered.unit.namespace is not None:
        return frozenset()
    key = program.key(registered.fact.key)
    keys = program.keys.included(key) if program.keys and program.keys.is_alias(key) else frozenset({key})
    replaceable = program.torch_version is None or program.torch_version >= _REPLACEABLE_SINCE
    return keys - {_REPLACEABLE} if replaceable else keys


def _harm(fact: Fallback) -> str:
    return "this raises RuntimeError" if fact.language is Language.PYTHON else "loading the library aborts"


def _torch_says(key: str) -> str:
    return f'torch says: "Tried to register multiple backend fallbacks for the same dispatch key {key}"'
