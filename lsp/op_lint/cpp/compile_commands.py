"""`compile_commands.json`: where its configuration finds headers, and what it calls things.

It describes one configuration of a project, so that a macro it defines says nothing about the `#if` arms of others:
only macros that stand for text (`TORCH_EXTENSION_NAME=_C`) are taken from it, and only where all commands for a file
agree.
"""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

PLACES = ("compile_commands.json", "build/compile_commands.json", "out/compile_commands.json")
"""Where one is looked for, relative to the project root, if none is configured."""

_INCLUDE = ("-I", "-isystem", "-iquote", "/I", "-external:I")
_TEXT = re.compile(r"[A-Za-z_]\w*")


class _Command(msgspec.Struct):
    directory: str
    file: str
    command: str = ""
    arguments: tuple[str, ...] = ()


class CompileCommands(msgspec.Struct, frozen=True):
    """What a compile database says, with paths relative to the project root; `problem` is why it could not be read."""

    path: str = ""
    include_dirs: tuple[str, ...] = ()
    names: Mapping[str, Mapping[str, str]] = {}
    problem: str = ""


def read_compile_commands(root: Path, configured: str | None) -> CompileCommands:
    """The compile database of a project: the `configured` one, else the first of `PLACES`; empty if there is none."""
    for name in (configured,) if configured else PLACES:
        try:
            data = (root / name).read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            return CompileCommands(name, problem=f"{name} cannot be read: {error.strerror}")
        return _read(root, name, data)
    return CompileCommands(configured or "", problem=f"{configured} does not exist" if configured else "")


def _read(root: Path, name: str, data: bytes) -> CompileCommands:
    try:
        commands = msgspec.json.decode(data, type=list[_Command])
    except msgspec.DecodeError as error:
        return CompileCommands(name, problem=f"{name} is no compile database: {error}")
    folders: dict[str, None] = {}
    macros: dict[str, list[dict[str, str]]] = {}
    for command in commands:
        arguments = _arguments(command)
        for folder in _include_dirs(arguments):
            inside = _inside(root, command.directory, folder)
            if inside is not None:
                folders[inside] = None
        path = _inside(root, command.directory, command.file)
        if path is not None:
            macros.setdefault(path, []).append(dict(_text_macros(arguments)))
    names = {path: _agreed(found) for path, found in macros.items()}
    return CompileCommands(name, tuple(folders), {path: found for path, found in names.items() if found})


def _arguments(command: _Command) -> tuple[str, ...]:
    if command.arguments:
        return command.arguments
    try:
        return tuple(shlex.split(command.command))
    except ValueError:
        return tuple(command.command.split())


def _include_dirs(arguments: tuple[str, ...]) -> Iterator[str]:
    for index, argument in enumerate(arguments):
        for option in _INCLUDE:
            if argument == option and index + 1 < len(arguments):
                yield arguments[index + 1]
            elif argument.startswith(option) and argument != option:
                yield argument[len(option) :]


def _text_macros(arguments: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for index, argument in enumerate(arguments):
        definition = arguments[index + 1] if argument == "-D" and index + 1 < len(arguments) else argument[2:]
        if not argument.startswith(("-D", "/D")):
            continue
        name, _, value = definition.partition("=")
        if _TEXT.fullmatch(name) and _TEXT.fullmatch(value):
            yield name, value


def _agreed(found: list[dict[str, str]]) -> dict[str, str]:
    first = found[0]
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in found)}


def _inside(root: Path, directory: str, path: str) -> str | None:
    """`path` (relative to `directory`) relative to the root with `/`, or None where it lies outside."""
    whole = os.path.normpath(os.path.join(directory, path))
    relative = os.path.relpath(whole, root).replace(os.sep, "/")
    return None if relative.startswith("..") or posixpath.isabs(relative) else relative
