"""`op-lint rule`: the documentation of rules."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from op_lint.cli.completion import rule_words
from op_lint.cli.streams import say, whole_or_broken_pipe
from op_lint.config import unknown_selector
from op_lint.documentation import document, summary
from op_lint.packs import load_packs
from op_lint.rule import Rule


@click.command("rule")
@click.argument("rule", required=False, shell_complete=rule_words)
@click.option("--all", "every", is_flag=True, help="Print the documentation of every rule.")
def command(rule: str | None, every: bool) -> int:
    """Print the documentation of one RULE, by code or name; without one, list them all."""
    if rule and every:
        raise click.UsageError("give a rule or --all, not both")
    packs = load_packs()
    for message in packs.broken:
        say(message)
    chosen = [each for each in packs.rules if rule in (each.code, each.name)]
    if rule and not chosen:
        raise click.UsageError(unknown_selector(rule, packs.rules))
    with whole_or_broken_pipe(sys.stdout) as stream:
        if every or rule:
            stream.write("\n".join(document(each) for each in chosen or packs.rules))
        else:
            stream.writelines(f"{line}\n" for line in _listed(packs.rules))
    return 0


def _listed(rules: Sequence[type[Rule]]) -> Iterator[str]:
    wide = max((len(rule.name) for rule in rules), default=0)
    for rule in rules:
        default = "" if rule.default else " (opt-in)"
        yield f"{rule.code}  {rule.name:{wide}}  {rule.severity.value:7}  {summary(rule)}{default}"
