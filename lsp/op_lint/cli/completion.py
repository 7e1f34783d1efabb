"""What a shell offers for a word that is half typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from op_lint.documentation import summary
from op_lint.packs import load_packs

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def rule_words(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes and names of rules for the last of the words between commas."""
    from click.shell_completion import CompletionItem

    before, comma, word = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{found}", help=about) for found, about in _rules(word)]


def _rules(start: str) -> Iterator[tuple[str, str]]:
    """Codes and names that begin like this, names where somebody has begun one; each with what the rule is about."""
    for rule in load_packs().rules:
        if start and rule.name.startswith(start):
            yield rule.name, summary(rule)
        elif rule.code.startswith(start.upper()):
            yield rule.code, f"{rule.name}: {summary(rule)}"
