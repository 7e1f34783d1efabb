"""Reads the installed dispatcher: find an interpreter, ask the cache or the probe, and fall back to a snapshot."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from op_lint.installed import problems
from op_lint.installed.answers import extension_said, torch_said
from op_lint.installed.bundled import choose_snapshot, load_snapshot
from op_lint.installed.cache import InstalledCache
from op_lint.installed.child import ProbeRequest, run_probe
from op_lint.installed.interpreter import Interpreter, InterpreterSearch, find_interpreter
from op_lint.installed.model import Extension, InstalledTorch, Origin, ReadProblem


class ReadRequest(msgspec.Struct, frozen=True):
    """What to read.

    `load` are shared libraries (relative to the current folder), `imports` Python modules (found from the project's
    root too), both loaded into the child. `snapshot` names a torch version to take from the bundled ones instead of any
    interpreter; `""` stands for the default one. `cache` is the folder to keep results in, None for none. `timeout` is
    in seconds.
    """

    search: InterpreterSearch
    load: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    snapshot: str | None = None
    cache: Path | None = None
    timeout: float = 60.0


class Reading(msgspec.Struct, frozen=True):
    """A dispatcher, and how it came to be known.

    `torch` is without the user's extension, which is in `extension` where one was asked for and came to an end.
    `package` is the folder of the torch that was read, None for a snapshot. `interpreter` is None where none was
    looked for.
    """

    torch: InstalledTorch
    origin: Origin
    interpreter: Interpreter | None = None
    package: str | None = None
    extension: Extension | None = None
    problems: tuple[ReadProblem, ...] = ()

    @property
    def whole(self) -> InstalledTorch:
        """The dispatcher with the extension in it."""
        return self.torch if self.extension is None else self.extension.over(self.torch)


def read_installed(request: ReadRequest) -> Reading:
    """The installed dispatcher, or a snapshot and the problems that led to it. Never raises for what is installed.

    In a workspace that is not trusted nothing is loaded, and Python runs isolated (`-I`).
    """
    if request.snapshot is not None:
        chosen = choose_snapshot(request.snapshot or None)
        return Reading(
            load_snapshot(chosen), Origin.SNAPSHOT, problems=problems.other_snapshot(request.snapshot, chosen)
        )
    interpreter = find_interpreter(request.search)
    if interpreter.path is None:
        return _fall_back(interpreter, problems.no_interpreter(interpreter))
    asked = request.load + request.imports
    if asked and not request.search.trusted:
        plain = _read(interpreter, interpreter.path, msgspec.structs.replace(request, load=(), imports=()))
        return msgspec.structs.replace(plain, problems=(problems.untrusted_load(asked), *plain.problems))
    return _read(interpreter, interpreter.path, request)


def _read(interpreter: Interpreter, path: str, request: ReadRequest) -> Reading:
    search, asked = request.search, request.load + request.imports
    isolated = not search.trusted
    cache = None if request.cache is None else InstalledCache(request.cache)
    cached = None if cache is None else cache.load(path, search.environment, isolated=isolated)
    if cached is not None and not asked:
        return Reading(cached.torch, Origin.CACHE, interpreter, cached.package)
    load = tuple(map(os.path.abspath, request.load))
    wanted = ProbeRequest(cached is None, load, request.imports, _module_path(search))
    output = run_probe(path, wanted, timeout=request.timeout, isolated=isolated)
    read = cached or torch_said(output)
    if read is None:
        return _fall_back(interpreter, problems.unread(interpreter, output, request.timeout))
    if cached is None and cache is not None:
        cache.store(path, search.environment, read, isolated=isolated)
    extension = extension_said(output, read) if asked else None
    if extension is not None and not extension.complete:
        from op_lint.installed.skew import with_skew  # reads binaries, which nobody else has to pay for

        extension = with_skew(extension, read.package, read.torch)
    return Reading(
        read.torch,
        Origin.PROBE if cached is None else Origin.CACHE,
        interpreter,
        read.package,
        extension,
        problems.load_problems(output, extension, asked, request.timeout),
    )


def _fall_back(interpreter: Interpreter, problem: ReadProblem) -> Reading:
    return Reading(load_snapshot(choose_snapshot(None)), Origin.SNAPSHOT, interpreter, problems=(problem,))


def _module_path(search: InterpreterSearch) -> tuple[str, ...]:
    """Where `--import` finds modules before anywhere else: the current folder, then the project's root."""
    root = [] if search.root is None else [str(search.root.resolve())]
    return tuple(dict.fromkeys([os.getcwd(), *root]))
