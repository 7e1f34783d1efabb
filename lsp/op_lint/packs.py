"""Rule packs: whoever offers rules under the entry-point group `op_lint.rules`, op-lint's own pack among equals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points

import msgspec

from op_lint.rule import Rule

GROUP = "op_lint.rules"


class Packs(msgspec.Struct, frozen=True):
    """The rules that are installed, sorted by code.

    `names` are the packs that were loaded, `sources` the entry points of the rules by code. `broken` says of each pack
    that could not be loaded why: its rules do not run. `clashes` are codes or names that two rules claim; of those the
    first rule counts.
    """

    rules: tuple[type[Rule], ...]
    names: tuple[str, ...] = ()
    sources: Mapping[str, EntryPoint] = {}
    broken: tuple[str, ...] = ()
    clashes: tuple[str, ...] = ()


def load_packs(points: Iterable[EntryPoint] | None = None) -> Packs:
    """Load every installed pack; an entry point names a module or an object with `rules() -> Iterable[type[Rule]]`."""
    names: list[str] = []
    broken: list[str] = []
    clashes: list[str] = []
    owners: dict[str, type[Rule]] = {}
    sources: dict[str, EntryPoint] = {}
    chosen = entry_points(group=GROUP) if points is None else points
    for point in sorted(chosen, key=lambda each: (each.name, each.value)):
        try:
            rules = _rules_of(point)
        except Exception as error:  # another's code may fail in any way: that is its message, not our end
            broken.append(f"rule pack `{point.name}` ({point.value}): {type(error).__name__}: {error}")
            continue
        names.append(point.name)
        for rule in rules:
            sources.setdefault(rule.code, point)
            for word in (rule.code, rule.name):
                owner = owners.setdefault(word, rule)
                if owner is not rule:
                    clashes.append(f"`{word}` is claimed by {_called(owner)} and by {_called(rule)}")
    loaded = {rule for word, rule in owners.items() if word == rule.code}
    return Packs(
        tuple(sorted(loaded, key=lambda rule: rule.code)), tuple(names), sources, tuple(broken), tuple(clashes)
    )


def _rules_of(point: EntryPoint) -> tuple[type[Rule], ...]:
    rules = tuple(point.load().rules())
    for rule in rules:
        if not (isinstance(rule, type) and issubclass(rule, Rule)):
            raise TypeError(f"{rule!r} is not a subclass of op_lint.rule.Rule")
        missing = [name for name in ("code", "name", "severity") if not hasattr(rule, name)]
        if missing:
            raise TypeError(f"{_called(rule)} has no {' and no '.join(missing)}")
    return rules


def _called(rule: type[Rule]) -> str:
    return f"{rule.__module__}.{rule.__qualname__}"
