"""The parts of the documentation that the program itself is the source of: a page for each rule, the settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from op_lint.config import Settings
from op_lint.documentation import document, summary
from op_lint.errors.kind import Stage
from op_lint.errors.recognise import KINDS
from op_lint.packs import load_packs
from op_lint.rule import Rule

_GROUPS = {
    "OPL1": "Schema and signature",
    "OPL2": "Registration",
    "OPL3": "Coverage",
    "OPL4": "Dispatch semantics, autograd, aliasing",
    "OPL5": "Build, link, load",
    "OPL6": "Python",
    "OPL9": "op-lint itself",
}

_TITLED_FENCE = re.compile(r'^```(\w+) title="([^"]+)"$', re.MULTILINE)


def write_pages(folder: Path) -> None:
    """Write `rules/` and `_parts/` into the folder of the documentation's sources, replacing what was there."""
    rules = load_packs().rules
    pages = {f"rules/{rule.name}.md": _rule_page(rule) for rule in rules}
    pages["rules/index.md"] = "".join(_rule_index(rules))
    pages["_parts/settings.md"] = "".join(_settings())
    pages["_parts/errors.md"] = "".join(_errors())
    for stale in (*folder.glob("rules/*.md"), *folder.glob("_parts/*.md")):
        if stale.relative_to(folder).as_posix() not in pages:
            stale.unlink()
    for name, text in pages.items():
        _write(folder / name, text)


def _rule_page(rule: type[Rule]) -> str:
    return _TITLED_FENCE.sub(r"```{code-block} \1\n:caption: \2\n", document(rule))


def _rule_index(rules: Sequence[type[Rule]]) -> Iterator[str]:
    yield (
        "# Rules\n\n"
        "An **error** fails at compile, load or call time; a **warning** goes wrong for some user; a **hint** is worth"
        " knowing. Those that are *opt-in* run when `--select`, `--extend-select` or the configuration names them."
        " `op-lint rule CODE` prints what these pages say.\n"
    )
    for prefix, title in _GROUPS.items():
        yield f"\n## {title}\n\n| | | | |\n|---|---|---|---|\n"
        for rule in rules:
            if rule.code.startswith(prefix):
                default = rule.severity.value + ("" if rule.default else ", opt-in")
                yield f"| {rule.code} | [{rule.name}]({rule.name}.md) | {default} | {_cell(summary(rule))} |\n"
    yield "\n```{toctree}\n:hidden:\n\n"
    yield from (f"{rule.code} {rule.name} <{rule.name}>\n" for rule in rules)
    yield "```\n"


def _settings() -> Iterator[str]:
    yield "| setting | type | default | |\n|---|---|---|---|\n"
    schema = msgspec.json.schema(Settings)["$defs"]
    for name, field in schema["Settings"]["properties"].items():
        default = field["default"]
        shown = "" if default is None else _code(json.dumps(default))
        if name == "exclude":
            shown = "usual names, see below"
        yield f"| `{name}` | {_type(field)} | {shown} | {_cell(field['description'])} |\n"
    yield "\n`exclude` is, by default, " + ", ".join(map(_code, Settings().exclude)) + ".\n"


_STAGES = {
    Stage.COMPILE: "when the library is compiled",
    Stage.LOAD: "when a library is loaded or a module imported",
    Stage.CALL: "when an operator is called",
    Stage.CHECK: "when an operator is tested",
}


def _errors() -> Iterator[str]:
    """The kinds of errors that `op-lint diagnose` knows, each with the first text that torch has for it."""
    names = {rule.code: rule.name for rule in load_packs().rules}
    for stage, words in _STAGES.items():
        yield f"### Raised {words}\n\n"
        for kind in (kind for kind in KINDS if kind.stage is stage):
            says = re.sub(r"\{(\w+?)\d*\}", "…", kind.messages[0].text)
            means = re.sub(r"\{\w+\}", "…", kind.meaning)
            rules = ", ".join(f"[{names[code]}](rules/{names[code]}.md)" for code in kind.codes if code in names)
            yield f"`{kind.name}`\n: {_code(' '.join(says.split()))}\n\n  {means[0].upper()}{means[1:]}\n"
            yield f"\n  Rules: {rules}\n\n" if rules else "\n"


_TYPES = {"string": "text", "boolean": "true or false", "integer": "whole number", "object": "table"}


def _type(field: dict[str, object]) -> str:
    """What the schema calls the type of a setting, in the words of TOML."""
    choices = field.get("anyOf")
    if isinstance(choices, list):
        return " or ".join(_type(choice) for choice in choices if choice.get("type") != "null")
    if field.get("type") == "array":
        items = field.get("items")
        return "list of tables" if isinstance(items, dict) and "$ref" in items else "list of texts"
    return _TYPES[str(field["type"])]


def _code(text: str) -> str:
    return f"`{text}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _write(file: Path, text: str) -> None:
    """Leave a file alone that is as it should be, so that Sphinx does not build its page again."""
    file.parent.mkdir(exist_ok=True)
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
