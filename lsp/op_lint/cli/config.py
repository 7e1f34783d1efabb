"""`op-lint config`: the settings in force, and where each comes from."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click
import msgspec

from op_lint.cli.options import TorchOptions, load_options, project_of, project_options
from op_lint.cli.streams import say, whole_or_broken_pipe
from op_lint.config import Settings, selector_problems
from op_lint.facts import Problem
from op_lint.packs import load_packs
from op_lint.project import Project
from op_lint.rule import Rule
from op_lint.selection import selected_rules

_COMMAND_LINE = "the command line"
_DEFAULT = "default"


class ConfigOptions(TorchOptions, frozen=True, kw_only=True):
    """The values of this command's options."""

    verify: bool
    schema: bool
    output_format: str


class _Setting(msgspec.Struct, frozen=True):
    """A setting, its value as TOML and JSON have it, and where that comes from."""

    name: str
    value: Any
    origin: str


@click.command("config")
@project_options
@click.option("--python", metavar="EXE", help="As of `op-lint check`.")
@click.option("--torch-version", metavar="V", help="As of `op-lint check`.")
@click.option("--no-torch", is_flag=True, help="As of `op-lint check`.")
@load_options
@click.option("--verify", is_flag=True, help="Only say whether the configuration is right.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of the configuration.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(**values: Any) -> int:
    """Print the settings in force as TOML, with where each comes from, and the rules that they select.

    Exit status: 0, or 2 where the configuration is wrong.
    """
    options = ConfigOptions(**values)
    if options.schema:
        from op_lint.config_schema import schema_text

        with whole_or_broken_pipe(sys.stdout) as stream:
            stream.write(schema_text())
        return 0
    project = project_of(options, options.overrides)
    rules = load_packs().rules
    problems = (*project.configuration.problems, *selector_problems(project.configuration, rules))
    with whole_or_broken_pipe(sys.stdout) as stream:
        if options.verify:
            if not problems:
                stream.write(f"{_file(project)}: nothing wrong\n")
        elif options.output_format == "json":
            stream.write(msgspec.json.format(msgspec.json.encode(_value(project, options, rules))).decode() + "\n")
        else:
            stream.writelines(f"{line}\n" for line in _lines(project, options, rules))
    for line in _described(project, problems):
        say(line)
    return 2 if problems else 0


def _described(project: Project, problems: tuple[Problem, ...]) -> Iterator[str]:
    sources = project.sources()
    return (f"{sources.location(problem.place)}: {problem.message}" for problem in problems)


def _file(project: Project) -> str:
    path = project.configuration.path
    return project.sources().shown(path) if path else "no configuration"


def _settings(project: Project, options: ConfigOptions) -> Iterator[_Setting]:
    overridden = {*options.overrides, *(["cache_dir"] if options.cache_dir else [])}
    values = msgspec.to_builtins(project.settings)
    places = project.configuration.places
    sources = project.sources()
    for field in msgspec.structs.fields(Settings):
        name = field.encode_name
        if field.name in overridden:
            origin = _COMMAND_LINE
        elif name in places:
            location = sources.location(places[name])
            origin = f"{location.path}:{location.line}"
        else:
            origin = _DEFAULT
        yield _Setting(name, values[name], origin)


def _value(project: Project, options: ConfigOptions, rules: tuple[type[Rule], ...]) -> dict[str, Any]:
    path = project.configuration.path
    return {
        "root": str(project.root),
        "file": project.sources().shown(path) if path else None,
        "settings": {each.name: {"value": each.value, "from": each.origin} for each in _settings(project, options)},
        "rules": [rule.code for rule in selected_rules(rules, project.settings.selectors)],
    }


def _lines(project: Project, options: ConfigOptions, rules: tuple[type[Rule], ...]) -> Iterator[str]:
    yield f"# {project.root}: {_file(project)}"
    for each in _settings(project, options):
        if each.value is None:
            yield f"# {each.name} is not set"
        else:
            yield f"{each.name} = {_toml(each.value)}  # {each.origin}"
    selected = selected_rules(rules, project.settings.selectors)
    yield f"# {len(selected)} of {len(rules)} rules run: {' '.join(rule.code for rule in selected)}"


def _toml(value: Any) -> str:
    """A value of the configuration in one line of TOML, whose strings are written as JSON's are."""
    if isinstance(value, Mapping):
        pairs = (f"{_toml(key)} = {_toml(each)}" for key, each in value.items() if each is not None)
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return msgspec.json.encode(value).decode()
