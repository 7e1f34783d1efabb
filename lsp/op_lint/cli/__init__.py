"""The command line: one file a subcommand, imported when it is called, so that a start pays for nothing else."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO, cast

import click

from op_lint.version import VERSION

COMMANDS = ("check", "ops", "table", "why", "report", "facts", "rule", "config", "doctor", "server")
_DEFAULT = "check"

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it: 128 and the number of the signal."""


class _Commands(click.Group):
    """The subcommands of COMMANDS; arguments that start with none of them belong to `check`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's
        if cmd_name not in COMMANDS:
            return None
        return cast(click.Command, import_module(f"op_lint.cli.{cmd_name}").command)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)  # a shell wants to complete the subcommand's name
        own = (*COMMANDS, "--version", *self.get_help_option_names(ctx))
        return super().parse_args(ctx, args if args and args[0] in own else [_DEFAULT, *args])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="op-lint", message="%(prog)s %(version)s")
def _group() -> None:
    """Say what the PyTorch dispatcher will do with the operators that a project registers, before it is built.

    Without a subcommand: check the given files and folders.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run op-lint and return its exit status: 0 nothing found, 1 findings, 2 op-lint could not do what was asked."""
    for stream in (sys.stdout, sys.stderr):
        _accept_any_text(stream)
    try:
        status = _group.main(list(sys.argv[1:] if arguments is None else arguments), standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except Exception as error:  # the last resort: whoever reads this cannot mend it, but can tell us
        click.echo(_internal_error(error), err=True)
        return 2


def _internal_error(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{frame.filename}:{frame.lineno}"
    return f"op-lint {VERSION} failed, please report this: {type(error).__name__}: {error} (at {where})"


def _accept_any_text(stream: TextIO) -> None:
    """A terminal that cannot show a character of somebody's source gets its escape and not an exception."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure:
        reconfigure(errors="backslashreplace")
