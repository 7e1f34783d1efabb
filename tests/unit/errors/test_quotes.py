"""What rules say that torch says is what is recognised in a log, and the kind of error names the rule."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from rapidfuzz import fuzz

from op_lint.errors.recognise import KINDS
from op_lint.packs import load_packs
from op_lint.rule import Rule
from tests.unit.builders import findings, torch

_QUOTED = re.compile(r'(?:torch says|raises \w+|aborts): "([^"]+)"')
_EXAMPLE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
REASONS = ("Type mismatch", "The number of")
"""What torch says at the end of the message about a kernel that does not fit."""

_NAMES = {"cpp": "ops.cpp", "python": "ops.py"}


def quotes(rule: type[Rule]) -> Iterator[str]:
    """What a rule's findings about its own example quote of torch."""
    text = rule.__doc__ or ""
    example = re.sub(r"(?m)^    ", "", text.partition("## Example")[2].partition("## Use instead")[0])
    files = {title or _NAMES.get(language, language): code for language, title, code in _EXAMPLE.findall(example)}
    if not files or not all(name.endswith((".cpp", ".py", ".cu")) for name in files):
        return
    for finding in findings(rule.code, files, torch()):
        for note in finding.notes:
            yield from _QUOTED.findall(note)


QUOTES = [
    (rule.code, quote)
    for rule in load_packs().rules
    if not {need.value for need in rule.needs} - {"torch"}
    for quote in quotes(rule)
]


def test_there_are_quotes() -> None:
    assert len({code for code, _ in QUOTES}) >= 8


@pytest.mark.parametrize(("code", "quote"), QUOTES)
def test_a_quote_is_recognised_and_leads_back_to_the_rule(code: str, quote: str) -> None:
    messages = [message.text for kind in KINDS if code in kind.codes for message in kind.messages]
    if quote.startswith(REASONS):
        assert "schema-mismatch" in {kind.name for kind in KINDS if code in kind.codes}
        return
    for piece in quote.split("..."):
        assert max(fuzz.partial_ratio(piece.strip(), text) for text in messages) > 80, piece
