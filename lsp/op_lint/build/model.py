"""The build graph: which source goes into which binary under which condition, and what is linked to what, and how.

All values are frozen and say what the build files say, nothing more; what follows from them is asked in
`op_lint.build.questions`. Paths are as in `op_lint.facts`: relative to the project's root with `/`.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from op_lint.condition import ALWAYS, Condition
from op_lint.facts import Place, Problem, Suppression


class BuildSystem(str, Enum):
    """Where a target was read from. The last three are what a configured build has left behind."""

    CMAKE = "CMake"
    SETUPTOOLS = "setuptools"
    JIT = "torch.utils.cpp_extension.load"
    BAZEL = "Bazel"
    BUCK = "Buck"
    FILE_API = "CMake File API"
    NINJA = "Ninja"
    COMPILE_COMMANDS = "compile_commands.json"


class TargetKind(str, Enum):
    """What a target makes. An `EXTENSION` is a shared module that Python imports or torch loads."""

    STATIC = "static library"
    SHARED = "shared library"
    MODULE = "module"
    OBJECT = "object library"
    EXECUTABLE = "executable"
    INTERFACE = "interface library"
    EXTENSION = "extension module"
    UNKNOWN = "unknown"


LOADED = frozenset({TargetKind.SHARED, TargetKind.MODULE, TargetKind.EXECUTABLE, TargetKind.EXTENSION})
"""The kinds of targets that are linked and then loaded into a process."""


class Listed(msgspec.Struct, frozen=True):
    """How a source stands in a list of a build file, where it is written out in one word.

    `place` is that word with its quotes and `text` what it says, `separator` what stands between it and another that is
    added behind it. `removal` is the word with the separator that goes with it, None where it cannot go alone.
    """

    place: Place
    text: str
    separator: str
    removal: Place | None = None


class Source(msgspec.Struct, frozen=True):
    """A source of a target, and the place in the build file where it is named (or the pattern that finds it).

    `copied` says that the target compiles a copy that the build makes of it (`configure_file`, hipify).
    """

    path: str
    place: Place
    condition: Condition = ALWAYS
    copied: bool = False
    listed: Listed | None = None


class LinkHow(str, Enum):
    """How a target takes part in a link.

    `PLAIN` takes from a static library the members that something needs, `WHOLE_ARCHIVE` all of them (also
    `-force_load`, `/WHOLEARCHIVE`, `alwayslink`, `link_whole`), `OBJECTS` are the objects of an object library.
    """

    PLAIN = "plain"
    WHOLE_ARCHIVE = "whole archive"
    OBJECTS = "objects"


class Visibility(str, Enum):
    """Who gets what a target states: itself, those that link it, or both."""

    PRIVATE = "private"
    INTERFACE = "interface"
    PUBLIC = "public"


class Link(msgspec.Struct, frozen=True):
    """A target links `to`: the name of a target, or a library that the build files do not make."""

    to: str
    how: LinkHow
    place: Place
    condition: Condition = ALWAYS
    visibility: Visibility = Visibility.PRIVATE


class LinkOption(msgspec.Struct, frozen=True):
    """An option of the linker as it is written (`-Wl,--as-needed`), in the order of the command line."""

    text: str
    place: Place
    condition: Condition = ALWAYS
    visibility: Visibility = Visibility.PRIVATE


class Define(msgspec.Struct, frozen=True):
    """A macro that a target's sources are compiled with. `value` is None for `-DNAME`, which gives it the value 1."""

    name: str
    value: str | None
    place: Place
    condition: Condition = ALWAYS
    visibility: Visibility = Visibility.PRIVATE


class Target(msgspec.Struct, frozen=True):
    """A target. What two arms of an `if` declare under one name is one target, unless it is of two kinds.

    `place` is the name where the target is declared. `module` is the dotted name under which Python imports the result,
    None where it is no Python module. The conditions of its parts are those beside its own. `unknown` are the sources
    that the build files do not tell, by as much of their paths as they do: `*` stands for the rest, and a path without
    one is that of a source which is not there, so that the build makes it. `project`
    is the folder of the build file that everything started from: names of targets are unique in it. `minimum` is the
    oldest CMake that the project allows, where it says so. `last_argument` is the last one of the
    call that declares an extension module, where `is_python_module` can be added behind it.
    """

    name: str
    kind: TargetKind
    system: BuildSystem
    place: Place
    condition: Condition = ALWAYS
    sources: tuple[Source, ...] = ()
    links: tuple[Link, ...] = ()
    options: tuple[LinkOption, ...] = ()
    defines: tuple[Define, ...] = ()
    module: str | None = None
    unknown: tuple[str, ...] = ()
    project: str = ""
    minimum: str = ""
    last_argument: Place | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether a process can load what the target makes."""
        return self.kind in LOADED

    @property
    def incomplete(self) -> bool:
        """Whether it has sources that are not known."""
        return bool(self.unknown)


class Unread(msgspec.Struct, frozen=True):
    """A build file that was not read to its end.

    What it names is in `folder` and below, as far as its text tells: the folder is that of the project where the text
    leads out of the file's own. `system` and `project` are as in `Target`: targets of these may have more links.
    """

    path: str
    folder: str
    system: BuildSystem
    project: str = ""


class Switch(msgspec.Struct, frozen=True):
    """Something that a user turns on or off when building: the atom of conditions, and whether it is on by default."""

    atom: str
    default: bool
    place: Place


class SourceSymbols(msgspec.Struct, frozen=True):
    """What one source defines and needs, by unqualified names, as far as its text and its project headers tell.

    `defines` are functions and variables with external linkage that its object defines; `weak` are names that it may
    define (members, inline functions, what macros make). `needs` are names that its object certainly refers to if some
    object defines them; `mentions` are further names that it may refer to. `module_init` says that it makes a Python
    module (`PyInit_...`), None where that cannot be told. `opaque` says that the source was not read: it may define and
    need everything. Of one that decides nothing by its symbols `module_init` may be all that is known.
    """

    path: str
    defines: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    mentions: frozenset[str] = frozenset()
    module_init: bool | None = None
    opaque: bool = False


class TorchFolder(msgspec.Struct, frozen=True):
    """A folder that a build file names for `find_package(Torch)` to look in, whatever Python has.

    `version` is that of the torch there, without what is behind a `+`; None where there is none on this machine.
    `project` is as in `Target`.
    """

    folder: str
    place: Place
    project: str
    version: str | None = None


class BuildGraph(msgspec.Struct, frozen=True):
    """Everything that the build files of a project say.

    `switches` are the options with their defaults. `symbols` are of the sources whose place in a binary depends on what
    others need. `mentioned` are source files that build files name in ways that were not understood, `included` those
    that other sources include: both may be compiled although no target has them. `files` are the build files that were
    read, `unread` those that have more to say, `suppressions` the comments for op-lint in those that no reader of facts
    reads. `torches` are where torch comes from, where that is written down.
    """

    targets: tuple[Target, ...] = ()
    switches: tuple[Switch, ...] = ()
    symbols: tuple[SourceSymbols, ...] = ()
    mentioned: frozenset[str] = frozenset()
    included: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    torches: tuple[TorchFolder, ...] = ()
    unread: tuple[Unread, ...] = ()
