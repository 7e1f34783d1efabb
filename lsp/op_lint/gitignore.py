"""Patterns that leave out files and folders, as `.gitignore` has them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import msgspec
from pathspec import GitIgnoreSpec

_PIECE = re.compile(r"(?:[^*?/\[\]\\]|\[\w+\])+")
"""What a pattern has between wildcards and slashes. A set of characters means the same to a regular expression."""

_OTHER = re.compile(r"[\[\]\\]")
"""What is not understood of a pattern, after its plain sets of characters."""


class Patterns(msgspec.Struct, frozen=True, dict=True):
    """Patterns of one origin. They see a path below the root as `prefix` + the path after `skip` characters."""

    lines: tuple[str, ...]
    prefix: str = ""
    skip: int = 0

    @cached_property
    def spec(self) -> GitIgnoreSpec:
        """What they mean. As in git, a line that is no pattern (an exclamation mark alone) means nothing."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sets of characters that another regular expression might nest
            try:
                return GitIgnoreSpec.from_lines(self.lines)
            except ValueError:
                return GitIgnoreSpec.from_lines(filter(is_valid, self.lines))

    @cached_property
    def _needed(self) -> re.Pattern[str]:
        """Found in every path that one of them speaks of: to ask all of them of each path takes ten times as long."""
        return re.compile("|".join(filter(None, map(_needed_by, self.lines))) or r"(?!)")

    def verdict(self, relative: str) -> bool | None:
        """True: left out; False: taken back in; None: no pattern speaks of it. Folders end in `/`."""
        path = self.prefix + relative[self.skip :]
        return self.spec.check_file(path).include if self._needed.search(path) else None


def _needed_by(line: str) -> str | None:
    """An expression found in every path that the pattern of a line matches; None for a line without a pattern."""
    line = line.strip().removeprefix("!")
    if not line or line.startswith("#"):
        return None
    pieces = [] if _OTHER.search(re.sub(r"\[\w+\]", "", line)) else _PIECE.findall(line)
    if not pieces:
        return "^"
    longest = max(pieces, key=len)
    escaped = "".join(part if part.startswith("[") else re.escape(part) for part in re.split(r"(\[\w+\])", longest))
    return escaped + (r"(?![^/])" if line.rstrip("/").endswith(longest) else "")


def is_valid(line: str) -> bool:
    """Whether a line is a pattern, or is allowed among them."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def is_left_out(relative: str, patterns: Iterable[Patterns]) -> bool:
    """Whether the first of some patterns to speak of a path leaves it out."""
    return next((verdict for each in patterns if (verdict := each.verdict(relative)) is not None), False)


def read_patterns(path: str | Path, prefix: str, skip: int) -> list[Patterns]:
    """Those of a file; none where it is not there, or not ours to read."""
    try:
        lines = Path(path).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    return [Patterns(tuple(lines), prefix, skip)]
