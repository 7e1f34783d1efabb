"""`op-lint table`: the computed dispatch table of one operator."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
import msgspec

from op_lint.cli.dispatch_options import DispatchOptions, Loaded, dispatch_options
from op_lint.cli.output import describe_torch
from op_lint.cli.streams import whole_or_broken_pipe
from op_lint.dispatch.keys import KeyKind
from op_lint.dispatch.table import Entry, Reason, Table


class TableOptions(DispatchOptions, frozen=True, kw_only=True):
    """The values of this command's options."""

    all: bool


@click.command("table")
@dispatch_options
@click.option("--all", is_flag=True, help="Show the keys without a kernel, too, that are no dense backends.")
def command(**values: Any) -> int:
    """Show which kernel an operator has at each dispatch key, why, and where it is registered.

    The sources under PATHS are taken to be loaded into the installed torch. Keys come in the dispatcher's own order,
    the lowest priority first.
    """
    options = TableOptions(**values)
    loaded = Loaded(options)
    table = loaded.tables.table(loaded.name)
    if table is None:
        raise click.ClickException(f"nothing is registered for {loaded.name}")
    with whole_or_broken_pipe(sys.stdout) as stream:
        if options.output_format == "json":
            stream.write(msgspec.json.format(msgspec.json.encode(table_value(loaded, table))).decode() + "\n")
        else:
            stream.writelines(f"{line}\n" for line in _lines(loaded, table, everything=options.all))
    return 0


def table_value(loaded: Loaded, table: Table) -> dict[str, Any]:
    """The table as JSON has it; lines are 1-based, `kernel` is null where a call raises."""
    return {
        "op": table.operator.name,
        "torch": loaded.reading.torch.version,
        "keys": [_entry_value(loaded, entry) for entry in table.entries],
    }


def _entry_value(loaded: Loaded, entry: Entry) -> dict[str, Any]:
    registration = entry.registration
    return {
        "key": entry.key,
        "kernel": _kernel(entry) if registration is not None else None,
        "reason": "fallthrough" if entry.fallthrough else entry.reason.value,
        "path": loaded.shown(registration.path) if registration else None,
        "line": registration.line if registration and registration.path else None,
        "source": registration.source.value if registration else None,
    }


def _kernel(entry: Entry) -> str:
    registration = entry.registration
    if registration is None:
        return ""
    return registration.kernel or registration.kind.value


def _lines(loaded: Loaded, table: Table, *, everything: bool) -> Iterator[str]:
    schema = table.operator.schema
    yield schema if schema and "::" in schema.partition("(")[0] else f"{table.operator.name}  {schema or '(no schema)'}"
    rows = [(entry.key, *_words(loaded, entry)) for entry in table.entries if everything or _is_shown(table, entry)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
        yield "  ".join(["   ", *cells, row[3]]).rstrip()
    yield "a call runs the entry of that of its keys which is furthest down in this list; a missing one raises"
    yield from describe_torch(loaded.reading)


def _is_shown(table: Table, entry: Entry) -> bool:
    """Everything that has a kernel, and the dense backends, of which one wants to see what is missing."""
    if not entry.missing:
        return not (entry.reason is Reason.FALLBACK and entry.fallthrough)
    return table.keys.kind(entry.key) is KeyKind.BACKEND and entry.key in table.keys.facts.devices.values()


def _words(loaded: Loaded, entry: Entry) -> tuple[str, str, str]:
    """Kernel, reason and place of an entry."""
    registration = entry.registration
    if registration is None:
        return "-", entry.reason.value, ""
    reason = "fallthrough, skipped" if entry.fallthrough else entry.reason.value
    return _kernel(entry), reason, loaded.where(registration) or "torch"
