"""The rules that come with op-lint: a folder a theme, a module a rule, named as the rule is (`duplicate_def`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from op_lint.rule import Rule


@cache
def rules() -> tuple[type[Rule], ...]:
    """Every rule, by code: the class in each module of the folders here. Modules that start with `_` are helpers."""
    return tuple(sorted(_found(), key=lambda rule: rule.code))


def _found() -> Iterator[type[Rule]]:
    for folder in iter_modules(__path__, f"{__name__}."):
        if not folder.ispkg:
            continue
        for module in iter_modules(import_module(folder.name).__path__, f"{folder.name}."):
            if not module.name.rpartition(".")[2].startswith("_"):
                yield _rule_in(module.name)


def _rule_in(name: str) -> type[Rule]:
    """The one rule of a module. Raises ValueError where there is none or more than one."""
    values = vars(import_module(name)).values()
    (rule,) = (
        value for value in values if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == name
    )
    return rule
