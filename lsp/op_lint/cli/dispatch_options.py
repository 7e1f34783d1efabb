"""What `table` and `why` have in common: the operator, the project around it, and the torch it is loaded into."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from op_lint.cli.options import TorchOptions, load_options, project_of, project_options
from op_lint.cli.progress import read_in_sight
from op_lint.dispatch.registration import Registration, Source
from op_lint.examine import program_of
from op_lint.facts import OperatorName
from op_lint.installed.model import Origin
from op_lint.installed.reader import Reading
from op_lint.nearest import did_you_mean, nearest
from op_lint.program import parse_name
from op_lint.sources import Sources
from op_lint.tables import Tables

_Command = TypeVar("_Command", bound=Callable[..., Any])

_IN_PYTHON = "torch.ops."


class DispatchOptions(TorchOptions, frozen=True, kw_only=True):
    """The values of `dispatch_options`."""

    operator: str
    output_format: str


def dispatch_options(command: _Command) -> _Command:
    """The argument and the options of both commands."""
    for option in (
        click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True),
        click.option("--torch-version", metavar="V", help="Load it into the bundled snapshot of this torch version."),
        click.option("--python", metavar="EXE", help="Load it into the torch of this interpreter."),
    ):
        command = option(command)
    return click.argument("operator", metavar="NS::OP[.OVERLOAD]")(project_options(load_options(command)))


def _meant(name: OperatorName, known: Iterable[OperatorName]) -> str:
    """The end of a message about an unknown operator. Of a namespace that is known only its operators are meant, by
    their own names: a long namespace in common makes no two names alike.
    """
    full = {str(each): each for each in known}
    in_order = sorted(full.items(), reverse=True)  # the overload without a name is the first, and so the last to be set
    here = {each.name: text for text, each in in_order if each.namespace == name.namespace}
    if not here:
        return did_you_mean(str(name), full)
    near = nearest(name.name, here)
    return f"; did you mean `{here[near]}`?" if near else ""


def _as_registered(text: str) -> str:
    """The operator's name as the dispatcher has it: without a schema, and not as Python's `torch.ops.ns.op.default`."""
    name = text.partition("(")[0].strip()
    if not name.startswith(_IN_PYTHON):
        return name
    namespace, _, local = name.removeprefix(_IN_PYTHON).partition(".")
    return f"{namespace}::{local.removesuffix('.default')}"


class Loaded:
    """The workspace loaded into a torch, and the operator that was asked for."""

    def __init__(self, options: DispatchOptions) -> None:
        project = project_of(options, {**options.overrides, "torch": True})
        analysis = read_in_sight(project, use_cache=not options.no_cache, jobs=options.jobs)
        reading = project.read_torch(options.python, use_cache=not options.no_cache)
        if reading is None:
            raise click.ClickException("there is no torch to load the operator into")
        if options.python is not None and reading.origin is Origin.SNAPSHOT:
            raise click.ClickException("; ".join(problem.message for problem in reading.problems))
        self.reading: Reading = reading
        self.sources: Sources = project.sources()
        self.tables = Tables(program_of(analysis.files, reading, project.settings), reading.torch)
        self.name = self._operator(options.operator)

    def _operator(self, text: str) -> OperatorName:
        """The operator that `text` names; an overload may be left out where there is only one."""
        name = parse_name(_as_registered(text))
        if not name.namespace or not name.name:
            raise click.UsageError(f"`{text}` is no operator: write namespace::name or namespace::name.overload")
        overloads = self.tables.overloads(name.namespace, name.name)
        if name in overloads:
            return name
        if not name.overload and len(overloads) == 1:
            return overloads[0]
        if overloads:
            raise click.UsageError(f"`{text}` is not among its overloads: {', '.join(map(str, overloads))}")
        program = self.tables.program
        meant = _meant(name, [*program.operators, *program.installed_in(name.namespace)])
        raise click.UsageError(f"neither the sources nor torch {self.reading.torch.version} know `{text}`{meant}")

    def where(self, registration: Registration) -> str:
        """Where a registration is, for people; empty where its place is not known."""
        if registration.path is None:
            return ""
        is_loaded = registration.source is not Source.WORKSPACE or self.reading.extension is None
        return f"{self.shown(registration.path)}:{registration.line}{'' if is_loaded else ', not loaded'}"

    def shown(self, path: str | None) -> str | None:
        """A path of a registration as seen from here; those inside torch stay as torch names them."""
        program = self.tables.program
        own = path is not None and any(file.path == path for file in program.files)
        return self.sources.shown(path) if path is not None and own else path
