"""What several subcommands print, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from op_lint.cli.streams import say
from op_lint.installed.model import Origin
from op_lint.installed.reader import Reading

if TYPE_CHECKING:
    from op_lint.check import RuleFailure


def describe_torch(reading: Reading) -> Iterator[str]:
    """One line on the torch that the sources were held against, and one on each thing that went wrong with it."""
    version = reading.torch.version
    if reading.origin is Origin.SNAPSHOT:
        yield f"held against op-lint's snapshot of torch {version}"
    else:
        yield f"held against torch {version} ({reading.package})"
    for problem in reading.problems:
        yield f"torch: {problem.message}"


def plural(count: int, word: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def say_failures(failures: Iterable[RuleFailure], *, verbose: bool) -> None:
    """Name the rules that failed, on stderr; `verbose` with all that is known of it."""
    for failure in failures:
        say(failure.traceback if verbose else f"internal error, please report: {failure}")
