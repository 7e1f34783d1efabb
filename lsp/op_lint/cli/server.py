"""`op-lint server`: the language server."""

from __future__ import annotations

import click


@click.command("server")
@click.option("--stdio", is_flag=True, help="Talk on stdin and stdout: the default, said so by some editors.")
@click.option("--tcp", metavar="HOST:PORT", help="Listen there for one client instead, for debugging.")
def command(*, stdio: bool, tcp: str | None) -> int:
    """Speak the language server protocol with an editor, on stdin and stdout."""
    if stdio and tcp:
        raise click.UsageError("--stdio and --tcp exclude each other")
    from op_lint.server.app import serve

    serve(tcp=_address(tcp) if tcp else None)
    return 0


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit():
        raise click.UsageError(f"--tcp wants HOST:PORT or PORT, not `{text}`")
    return host or "127.0.0.1", int(port)
