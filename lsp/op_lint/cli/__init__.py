"""The command line: one file a subcommand, imported when it is called, so that a start pays for nothing else."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, TextIO, cast

import click

from op_lint.cli.streams import say, whole_or_broken_pipe
from op_lint.version import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = ("check", "ops", "table", "why", "diagnose", "report", "facts", "rule", "config", "doctor", "server")
_DEFAULT = "check"

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it: 128 and the number of the signal."""

TERMINATED = 143
"""The same after SIGTERM, which is how CI ends a job that is no longer wanted."""

_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.EROFS})
"""What the operating system may say to any of our files and that is no fault of op-lint."""


class _Terminated(BaseException):
    """SIGTERM came. An exception, so that workers are ended and no half-written file is left."""


class _Commands(click.Group):
    """The subcommands of COMMANDS; arguments that start with none of them belong to `check`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's
        if cmd_name not in COMMANDS:
            return None
        return cast(click.Command, import_module(f"op_lint.cli.{cmd_name}").command)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The subcommands and what `check` has, whose name may be left out."""
        found = super().shell_complete(ctx, incomplete)
        default = self.get_command(ctx, _DEFAULT)
        if ctx.invoked_subcommand is None and incomplete.startswith("-") and default is not None:
            known = {item.value for item in found}
            own = default.shell_complete(click.Context(default, ctx, _DEFAULT), incomplete)
            found += [item for item in own if item.value not in known]
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)  # a shell wants to complete the subcommand's name
        own = (*COMMANDS, "--version", *self.get_help_option_names(ctx))
        return super().parse_args(ctx, args if args and args[0] in own else [_DEFAULT, *args])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="op-lint", message="%(prog)s %(version)s")
def _group() -> None:
    """Say what the PyTorch dispatcher will do with the operators that a project registers, before it is built.

    Without a subcommand: check the given files and folders, with the options of `op-lint check --help`.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run op-lint and return its exit status: 0 nothing found, 1 findings, 2 op-lint could not do what was asked."""
    _open_missing_streams()
    sys.stdout = _whole_writes(sys.stdout)
    for stream in (sys.stdout, sys.stderr):
        _accept_any_text(stream)
    try:
        with _sigterm_raises():
            status = _group.main(list(sys.argv[1:] if arguments is None else arguments), standalone_mode=False)
        return status if isinstance(status, int) else 0
    except SystemExit:
        return 0  # click's answer where nobody reads its help to the end: ours is that of every other output
    except click.ClickException as error:
        with whole_or_broken_pipe(sys.stderr):
            error.show()
        return 2
    except _Terminated:
        say("terminated")
        return TERMINATED
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return INTERRUPTED
    except OSError as error:
        say(_of_the_machine(error) or _internal_error(error))
        return 2
    except Exception as error:  # the last resort: whoever reads this cannot mend it, but can tell us
        say(_internal_error(error))
        return 2


@contextmanager
def _sigterm_raises() -> Iterator[None]:
    """Make SIGTERM end what runs inside as an interrupt does, where nobody has other plans for it."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def terminate(_signal: int, _frame: FrameType | None) -> None:
        raise _Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _of_the_machine(error: OSError) -> str | None:
    """What to say of an error that is no fault of op-lint; None where it is one."""
    try:
        os.getcwd()
    except OSError as gone:
        return f"Error: the current folder cannot be used: {gone.strerror}; change to another"
    if error.errno not in _MACHINE:
        return None
    where = f"'{error.filename}'" if error.filename else "what was to be written"
    return f"Error: {where}: {error.strerror}"


def _open_missing_streams() -> None:
    """Streams that the caller has closed (`>&-`) lead nowhere: what is written to them is not wanted."""
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115 -- for as long as the process
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 -- for as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115 -- for as long as the process


def _whole_writes(stream: TextIO) -> TextIO:
    """`stream`, with a buffer if it has none.

    With PYTHONUNBUFFERED, which container images set, a write that the system makes a part of is lost from there on
    without an error: half a report on a disk that is full, and a pipe that takes what fits.
    """
    if not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    return open(stream.fileno(), "w", encoding=stream.encoding, errors=stream.errors, closefd=False)


def _internal_error(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{frame.filename}:{frame.lineno}"
    return f"op-lint {VERSION} failed, please report this: {type(error).__name__}: {error} (at {where})"


def _accept_any_text(stream: TextIO) -> None:
    """A terminal that cannot show a character of somebody's source gets its escape and not an exception."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure:
        reconfigure(errors="backslashreplace")
