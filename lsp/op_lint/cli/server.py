"""`op-lint server`: the language server."""

from __future__ import annotations

import os
import signal
import sys
from typing import BinaryIO

import click


@click.command("server")
@click.option("--stdio", is_flag=True, help="Talk on stdin and stdout: the default, said so by some editors.")
@click.option("--tcp", metavar="HOST:PORT", help="Listen there for one client instead, for debugging.")
def command(*, stdio: bool, tcp: str | None) -> int:
    """Speak the language server protocol with an editor, on stdin and stdout."""
    if stdio and tcp:
        raise click.UsageError("--stdio and --tcp exclude each other")
    address = _address(tcp) if tcp else None
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # its event loop is no place for an exception out of nowhere
    out = _own_stdout()
    from op_lint.server.pool import Pool

    pool = Pool()
    pool.warm()  # it loads its libraries while this process loads the protocol's
    from op_lint.server.app import serve

    serve(pool, out, tcp=address)
    return 0


def _own_stdout() -> BinaryIO:
    """The protocol's way out. File descriptor 1, and with it every print, is stderr from now on."""
    sys.stdout.flush()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return out


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit():
        raise click.UsageError(f"--tcp wants HOST:PORT or PORT, not `{text}`")
    return host or "127.0.0.1", int(port)
