"""Which rules run: codes, prefixes of codes, names and ALL, from the configuration and from the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from op_lint.rule import Rule

ALL = "ALL"

_EXACT = 1000
"""The specificity of a whole code or name: above that of any prefix, which is its length."""


class Selectors(msgspec.Struct, frozen=True):
    """What one place says about rules. `select` is None where it leaves the default set as it is."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def all(self) -> tuple[str, ...]:
        """Every selector, in the order of the fields."""
        return (*(self.select or ()), *self.extend_select, *self.ignore)


NOTHING = Selectors()


def specificity(selector: str, code: str, name: str) -> int:
    """How narrowly `selector` speaks of the rule with this code and name; 0: not at all."""
    if selector in (code, name):
        return _EXACT
    if selector == ALL:
        return 1
    return 1 + len(selector) if selector and code.startswith(selector) else 0


def is_known(selector: str, rules: Iterable[type[Rule]]) -> bool:
    """Whether `selector` speaks of any of `rules`; ALL always does."""
    return selector == ALL or any(specificity(selector, rule.code, rule.name) for rule in rules)


def selected_rules(
    rules: Iterable[type[Rule]], configured: Selectors, command_line: Selectors = NOTHING
) -> tuple[type[Rule], ...]:
    """The rules to run, sorted by code.

    A `select` on the command line replaces the configured one. Where several selectors speak of a rule the most
    specific one decides, of equals the command line's, and then `ignore`: `--select OPL301` runs it in a project
    whose configuration ignores OPL3, and `--ignore OPL3` leaves out all of OPL3 but what is selected by its code.
    """
    return tuple(
        sorted((rule for rule in rules if _is_selected(rule, configured, command_line)), key=lambda rule: rule.code)
    )


def _is_selected(rule: type[Rule], configured: Selectors, command_line: Selectors) -> bool:
    select, origin = (configured.select, 0) if command_line.select is None else (command_line.select, 1)
    # Each vote is (specificity, origin, whether it ignores); the largest wins.
    votes = [(0, 0, not (rule.default and select is None))]
    votes += _votes(rule, select or (), origin, ignores=False)
    for level, selectors in enumerate((configured, command_line)):
        votes += _votes(rule, selectors.extend_select, level, ignores=False)
        votes += _votes(rule, selectors.ignore, level, ignores=True)
    return not max(votes)[2]


def _votes(rule: type[Rule], selectors: Sequence[str], origin: int, *, ignores: bool) -> list[tuple[int, int, bool]]:
    votes = ((specificity(selector, rule.code, rule.name), origin, ignores) for selector in selectors)
    return [vote for vote in votes if vote[0]]
