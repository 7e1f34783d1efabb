"""The files that build files speak of: read, listed and matched within bounds, so that no project can hold us up."""

from __future__ import annotations

import os
import posixpath
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from op_lint.build.model import BuildSystem, Unread
from op_lint.facts import Place, Problem
from op_lint.text import SourceText

LARGEST_FILE = 4 * 1024 * 1024
"""Bytes; a larger build file is not read."""

_MOST_ENTRIES = 50_000
"""Files and folders that one pattern may look at, and all patterns together four times that."""

_SECONDS_EACH = 10.0
_ALL = 3
"""How many times the seconds of one project all of them together may take."""
_STEPS_EACH = 400_000


_UPWARDS = re.compile(rb"\.\.|PARENT_PATH|\bDIRECTORY\b|parent|pardir|dirname\(.*dirname\(")
"""What a build file has in its text that names something outside of its folder."""

_LISTS = "CMakeLists.txt"
_ELSEWHERE = re.compile(rb"\$\{(?!CMAKE_CURRENT_(?:SOURCE|BINARY|LIST)_DIR\})\w*(?:DIR|ROOT|PATH|HOME|BASE|TOP)")
"""What the list of a folder has in its text that names something elsewhere in the project."""

_OF_THEIR_FOLDER = frozenset({"BUILD", "BUILD.bazel", "BUCK", "TARGETS"})
"""Build files that name only files of their own folder and below."""

_Value = TypeVar("_Value")


class ExhaustedError(Exception):
    """The budget for reading the build files is used up. Never leaves this package."""


class Start(NamedTuple):
    """The file that reading starts at, relative to the root. `project` is as in `Target`."""

    system: BuildSystem
    path: str
    project: str = ""


class Budget:
    """What reading may cost: steps of evaluation, and seconds as a safety net. `deadline` is of `time.thread_time`."""

    def __init__(self, steps: int, deadline: float) -> None:
        self._steps = steps
        self._deadline = deadline
        self._next_look = 0.0

    def spend(self, steps: int = 1) -> None:
        """Use some of the budget. Raises ExhaustedError where none is left."""
        before = self._steps
        self._steps -= steps
        if self._steps < 0 or (self._steps >> 7 != before >> 7 and self._is_late()):
            self._steps = -1
            raise ExhaustedError

    def each(self, values: Iterable[_Value]) -> Iterator[_Value]:
        """Values for each of which something is done that may take its time. Raises ExhaustedError as `spend` does."""
        for value in values:
            if self._is_late():
                self._steps = -1
            self.spend()
            yield value

    def _is_late(self) -> bool:
        """Whether the time is over. A thread's own clock is slow to ask, and never faster than the one on the wall."""
        now = time.perf_counter()
        if now < self._next_look:
            return False
        left = self._deadline - time.thread_time()
        self._next_look = now + max(left, 0.0)
        return left < 0


def line_of(path: str, data: bytes, line: int) -> Place:
    """The start of a line (1-based) of a file; of the last line where it has fewer."""
    starts = SourceText(data).line_starts
    number = max(min(line, len(starts)), 1)
    return Place(path, number, starts[number - 1], starts[number - 1])


class BuildFiles:
    """The files under the project's root, by absolute path with `/`.

    `buffers` are contents that stand for files on disk, by the path that facts use. `steps` and `seconds` are what each
    project or script in it may cost, and all of them together a few times that.
    """

    def __init__(
        self,
        root: str | Path,
        buffers: Mapping[str, bytes] = {},
        *,
        steps: int = _STEPS_EACH,
        seconds: float = _SECONDS_EACH,
    ) -> None:
        self.root = os.path.abspath(root).replace(os.sep, "/").rstrip("/") or "/"
        self._steps = steps
        self._seconds = seconds
        self._deadline = time.thread_time() + seconds * _ALL
        self.budget = self.renew()
        self.problems: list[Problem] = []
        self.unread: dict[Unread, None] = {}
        self._start = Start(BuildSystem.CMAKE, "")
        self.at: Place | None = None
        """What is being followed, where a reader says so."""
        self._buffers = {self.absolute(path): data for path, data in buffers.items()}
        self._listed: dict[str, tuple[Entry, ...]] = {}
        self._real: dict[str, str] = {}
        self._entries = 4 * _MOST_ENTRIES

    def begin(self, start: Start) -> None:
        """Begin with the next project or script, for which there is a new budget."""
        self._start = start
        self.at = None
        self.renew()

    def renew(self) -> Budget:
        """A new budget."""
        self.budget = Budget(self._steps, min(self._deadline, time.thread_time() + self._seconds))
        return self.budget

    def absolute(self, path: str, folder: str | None = None) -> str:
        """`path` from `folder` (default: the root), without `.` and `..`."""
        return posixpath.normpath(posixpath.join(folder or self.root, path.replace("\\", "/")))

    def relative(self, path: str) -> str:
        """An absolute path as facts write it: by the folder that a file is in, not by a link to that folder."""
        folder, name = posixpath.split(path)
        real, root = self.real_folder(folder), self.real_folder(self.root).rstrip("/") + "/"
        if f"{real}/".startswith(root):
            return posixpath.join(real[len(root) :], name)
        prefix = self.root.rstrip("/") + "/"
        return path[len(prefix) :] if path.startswith(prefix) else path

    def note(self, code: str, message: str, place: Place) -> None:
        """Remember a problem, once per code and file."""
        if not any(known.code == code and known.place.path == place.path for known in self.problems):
            self.problems.append(Problem(code, message, place))

    def attempt(self, start: Start, read: Callable[[], object], limit: str) -> None:
        """Read a project or script. However that ends, it is noted, and the next one can be read.

        `limit` is what is said where the budget is used up.
        """
        self.begin(start)
        place = Place(start.path, 1, 0, 0)
        try:
            read()
        except ExhaustedError:
            self.note("build-limit", limit, self.at or place)
        except RecursionError:
            self.note("recursion", "nested too deeply: what comes after it is left out", self.at or place)
        except Exception as error:
            what = f"op-lint failed on this build file, please report it ({type(error).__name__}: {error})"
            self.note("internal-error", what, self.at or place)
        else:
            return
        self.lose(start.path)

    def give_up(self, code: str, message: str, place: Place, path: str = "") -> None:
        """Remember a problem after which the file at `path` (relative, default: that of the place) has more to say."""
        self.note(code, message, place)
        self.lose(path or place.path)

    def lose(self, path: str) -> None:
        """Remember that a build file, and what it leads to, has more to say than was read."""
        system, start, project = self._start
        folder = posixpath.dirname(start) if self._stays_below(start) else ""
        own, name = posixpath.split(path)
        if path != start and (name in _OF_THEIR_FOLDER or (name == _LISTS and self._stays_below(path, _ELSEWHERE))):
            folder = own
        self.unread[Unread(path, folder, system, project)] = None

    def _stays_below(self, path: str, *leads_out: re.Pattern[bytes]) -> bool:
        """Whether the text of a build file names nothing outside of its folder, so far as one can see."""
        data = None if posixpath.basename(path) in _OF_THEIR_FOLDER else self.read(self.absolute(path))
        return data is None or not any(pattern.search(data) for pattern in (_UPWARDS, *leads_out))

    def is_there(self, path: str) -> bool:
        """Whether there is anything at a path, whatever it is."""
        return path in self._buffers or (_is_path(path) and os.path.lexists(path))

    def read(self, path: str) -> bytes | None:
        """The content of a file; None where there is none, it cannot be read, or it is larger than `LARGEST_FILE`."""
        if path in self._buffers:
            return self._buffers[path]
        try:
            if not os.path.isfile(path):  # never open a FIFO or a device
                if os.path.exists(path) and not os.path.isdir(path):
                    self.note("no-file", "no regular file, so it is not read", Place(self.relative(path), 1, 0, 0))
                return None
            with open(path, "rb") as stream:
                data = stream.read(LARGEST_FILE + 1)
        except (OSError, ValueError):
            return None
        if len(data) > LARGEST_FILE:
            place = Place(self.relative(path), 1, 0, 0)
            self.note("too-large", f"larger than {LARGEST_FILE // 1024 // 1024} MiB, so it is not read", place)
            return None
        return data

    def is_file(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self._buffers or (_is_path(path) and os.path.isfile(path))

    def changed(self, path: str) -> float:
        """When a file on disk last changed, in seconds since 1970; 0 for none."""
        try:
            return os.path.getmtime(path)
        except (OSError, ValueError):
            return 0.0

    def real_folder(self, folder: str) -> str:
        """A folder by the path without links; as it is where it is not there."""
        if folder not in self._real:
            real = os.path.realpath(folder) if _is_path(folder) else folder
            self._real[folder] = real.replace(os.sep, "/")
        return self._real[folder]

    def is_folder(self, path: str) -> bool:
        """Whether there is such a folder."""
        return _is_path(path) and os.path.isdir(path)

    def matching(self, pattern: str, place: Place, *, below: bool = False, follow: bool = False) -> Matches:
        """The files that match an absolute pattern. `**` is any number of folders.

        With `below`, the last part of the pattern is looked for in all folders below (`GLOB_RECURSE` of CMake). Folders
        below that are links are looked into only with `follow`, and each folder once, however many links lead to it
        (`FOLLOW_SYMLINKS`). `place` is where a problem is reported: a pattern that looks at too many files finds only
        those it has seen.
        """
        parts = posixpath.normpath(pattern).strip("/").split("/")
        if below:
            parts[-1:-1] = ["**"]
        remaining = min(_MOST_ENTRIES, self._entries)
        found: set[str] = set()
        pending: list[tuple[str, int]] = [("/", 0)]
        seen: set[tuple[str, int]] = set()
        complete = True
        while pending:
            folder, index = pending.pop()
            part, is_last = parts[index], index == len(parts) - 1
            visited = (self.real_folder(folder) if follow and part == "**" else folder, index)
            if visited in seen:
                continue
            seen.add(visited)
            if not _is_pattern(part):
                path = posixpath.join(folder, part)
                if is_last:
                    found.update({path} if self.is_file(path) else ())
                elif self.is_folder(path):
                    pending.append((path, index + 1))
                continue
            entries = self.entries(folder)
            remaining -= len(entries)
            self._entries -= len(entries)
            if remaining < 0:
                self.note("glob-too-large", f"`{pattern}` looks at more than {_MOST_ENTRIES} files: given up", place)
                complete = False
                break
            if part == "**":
                pending.append((folder, min(index + 1, len(parts) - 1)))
                into = (entry for entry in entries if entry.is_folder and (follow or not entry.is_link))
                pending += [(posixpath.join(folder, entry.name), index) for entry in into]
                if is_last:
                    found.update(posixpath.join(folder, entry.name) for entry in entries if not entry.is_folder)
                continue
            matches = _regex(part).match
            for entry in entries:
                if not matches(entry.name):
                    continue
                path = posixpath.join(folder, entry.name)
                if is_last and not entry.is_folder:
                    found.add(path)
                elif not is_last and entry.is_folder:
                    pending.append((path, index + 1))
        return Matches(sorted(found), complete)

    def entries(self, folder: str) -> tuple[Entry, ...]:
        """What is in a folder, sorted by name; empty where it cannot be listed. At most `_MOST_ENTRIES` and one."""
        if folder not in self._listed:
            self._listed[folder] = tuple(sorted(self._scan(folder)))
        return self._listed[folder]

    def _scan(self, folder: str) -> Iterator[Entry]:
        buffered = {path for path in self._buffers if posixpath.dirname(path) == folder}
        yield from (Entry(posixpath.basename(path), False) for path in buffered)
        try:
            with os.scandir(folder) as scanned:
                for count, entry in enumerate(scanned):
                    if count > _MOST_ENTRIES:
                        return
                    if posixpath.join(folder, entry.name) not in buffered:
                        is_folder = entry.is_dir()
                        if is_folder or entry.is_file():
                            yield Entry(entry.name, is_folder, is_folder and entry.is_symlink())
        except (OSError, ValueError):
            return  # not there or not ours to list: nothing is in it


class Matches(NamedTuple):
    """The files that match a pattern, sorted, and whether that is all of them."""

    paths: list[str]
    complete: bool


class Entry(msgspec.Struct, frozen=True, order=True):
    """A file or folder in a folder. `is_link` says that it is a link to a folder."""

    name: str
    is_folder: bool
    is_link: bool = False


def _is_path(path: str) -> bool:
    return "\0" not in path and len(path) < 4096


def _is_pattern(part: str) -> bool:
    return any(character in part for character in "*?[")


@lru_cache(maxsize=1024)
def _regex(part: str) -> re.Pattern[str]:
    """A part of a pattern as a regular expression: `*`, `?` and `[...]`, all others literally."""
    pieces: list[str] = []
    position = 0
    while position < len(part):
        character = part[position]
        end = part.find("]", position + 2)
        if character == "*":
            pieces.append(".*" if not pieces or pieces[-1] != ".*" else "")
        elif character == "?":
            pieces.append(".")
        elif character == "[" and end > 0:
            inner = part[position + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            pieces.append(f"[{'^' + inner[1:] if inner[0] in '!^' else inner}]")
            position = end
        else:
            pieces.append(re.escape(character))
        position += 1
    try:
        return re.compile("".join(pieces) + r"\Z", re.DOTALL)
    except re.error:
        return re.compile(re.escape(part) + r"\Z")
