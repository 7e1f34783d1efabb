"""A rule's documentation: its docstring and what its class says, as text for every reader."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import msgspec

from op_lint.findings import Severity
from op_lint.rule import Rule


class RulePage(msgspec.Struct, frozen=True):
    """What a report can tell of a rule: `text` is its whole documentation as Markdown, `url` where that stands."""

    code: str
    name: str
    severity: Severity
    summary: str
    text: str
    url: str | None = None


def rule_page(rule: type[Rule], source: EntryPoint) -> RulePage:
    """The page of a rule that the entry point `source` offers."""
    return RulePage(rule.code, rule.name, rule.severity, summary(rule), document(rule), page_url(rule, source))


def summary(rule: type[Rule]) -> str:
    """The first line of a rule's documentation."""
    return _text(rule).partition("\n")[0]


def document(rule: type[Rule]) -> str:
    """The whole documentation of a rule, as Markdown."""
    needs = ", ".join(sorted(need.value for need in rule.needs)) or "the sources alone"
    facts = (
        f"{rule.severity.value} · {'on by default' if rule.default else 'opt-in'} · needs {needs} · since {rule.since}"
    )
    return f"# {rule.name} ({rule.code})\n\n{facts}\n\n{_text(rule)}\n"


def page_url(rule: type[Rule], source: EntryPoint) -> str | None:
    """The rule's page on the documentation site that its package names (`Project-URL: Documentation`), if it does."""
    entries = (source.dist.metadata.get_all("Project-URL") if source.dist else None) or []
    sites = dict(entry.split(", ", 1) for entry in entries)
    return f"{sites['Documentation'].rstrip('/')}/rules/{rule.name}" if "Documentation" in sites else None


def _text(rule: type[Rule]) -> str:
    import inspect  # a run without findings does not pay for it

    return inspect.getdoc(rule) or ""
