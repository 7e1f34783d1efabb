"""`setup.py`, `pyproject.toml` and `torch.utils.cpp_extension.load`: the extension modules of Python packages."""

from __future__ import annotations

import ast
import posixpath
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from op_lint.build.drafts import Compiled, Draft, finished
from op_lint.build.files import BuildFiles, Start, line_of
from op_lint.build.guards import ALWAYS, NEVER, Guard, both
from op_lint.build.model import BuildGraph, BuildSystem, Define, LinkOption, Source, Target, TargetKind
from op_lint.build.script.evaluator import Evaluator
from op_lint.build.script.library import text_of
from op_lint.build.script.values import (
    FALSE,
    NOTHING,
    TRUE,
    UNPACKED,
    Arguments,
    Entry,
    FilePath,
    Function,
    Items,
    Made,
    Table,
    Text,
    Value,
    entries_of,
    options_of,
    truth,
    words_of,
)
from op_lint.facts import Place
from op_lint.text import SourceText

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_EXTENSION = re.compile(r"(?:.*\.)?(\w*Extension)(?:@\w+)?")
_NOT_EXTENSIONS = frozenset({"BuildExtension", "RustExtension"})
_SETUP = frozenset({"setuptools.setup", "distutils.core.setup", "skbuild.setup", "setup"})
_LOAD = frozenset({"torch.utils.cpp_extension.load", "cpp_extension.load"})
_JIT = re.compile(rb"\bcpp_extension\b")

LIMIT = "this build script takes too long to read: it is understood in part only"


@dataclass(eq=False)
class Extension(Made):
    """An extension module that a script makes."""

    name: Value
    sources: Value
    keywords: dict[str, Value]
    place: Place
    condition: Guard
    folder: str
    system: BuildSystem
    from_torch: bool
    foreign: bool
    """Whether a class of the project makes it, which may hand it to CMake."""


def read_setuptools(files: BuildFiles, paths: Sequence[str]) -> BuildGraph:
    """What the Python scripts and `pyproject.toml` files among `paths` say. Never raises."""
    reader = _Reader(files)
    for path in paths:
        name = posixpath.basename(path)
        if name == "pyproject.toml":
            reader.read_project(files.absolute(path))
        elif name.endswith(".py"):
            if name == "setup.py":
                start, read = Start(BuildSystem.SETUPTOOLS, path), reader.read_setup
            else:
                start, read = Start(BuildSystem.JIT, path, path), reader.read_loads
            files.attempt(start, partial(read, files.absolute(path)), LIMIT)
    return reader.graph()


def may_load(data: bytes) -> bool:
    """Whether a Python file may build an extension when it runs."""
    return b"cpp_extension" in data and _JIT.search(data) is not None and b"load(" in data


class _Reader:
    def __init__(self, files: BuildFiles) -> None:
        self._files = files
        self._made: list[Extension] = []
        self._used: list[tuple[Guard, Extension]] = []
        self._drafts: list[Draft] = []
        self._declarations: list[Target] = []
        self._evaluators: list[Evaluator] = []
        self._read: dict[str, None] = {}

    def graph(self) -> BuildGraph:
        return BuildGraph(
            targets=(*finished(self._drafts), *self._declarations),
            switches=tuple(switch for each in self._evaluators for switch in each.switches.values()),
            files=tuple(self._files.relative(path) for path in self._read),
        )

    def _evaluator(self) -> Evaluator:
        evaluator = Evaluator(self._files, self._handle)
        self._evaluators.append(evaluator)
        return evaluator

    # setup.py.

    def read_setup(self, path: str) -> None:
        self._made, self._used = [], []
        evaluator = self._evaluator()
        evaluator.folder = posixpath.dirname(path)
        if evaluator.run_file(path, posixpath.dirname(path)) is None:
            return
        self._read.update(dict.fromkeys(evaluator.modules))
        given = self._used or [(ALWAYS, extension) for extension in self._made]
        for condition, extension in given:
            if extension.system is BuildSystem.SETUPTOOLS:
                self._drafts += self._drafts_of(extension, condition)

    def _handle(self, around: Evaluator, dotted: str, arguments: Arguments, place: Place) -> Value | None:
        positional, keywords = arguments
        if dotted in _SETUP or dotted.endswith((".setup", ".setuptools.setup")):
            self._setup(keywords.get("ext_modules", NOTHING))
            return NOTHING
        if dotted in _LOAD:
            extension = self._extension(around, positional, keywords, place, BuildSystem.JIT, foreign=False)
            self._made.append(extension)
            return extension
        found = _EXTENSION.fullmatch(dotted)
        if found is None or found[1] in _NOT_EXTENSIONS:
            return None
        system = BuildSystem.SETUPTOOLS
        extension = self._extension(around, positional, keywords, place, system, foreign="@" in dotted)
        extension.from_torch = "torch" in dotted or _uses_torch(around)
        self._made.append(extension)
        return extension

    def _setup(self, modules: Value) -> None:
        entries, _ = entries_of(modules)
        for entry in entries:
            for given, value in options_of(entry.value):
                if isinstance(value, Extension):
                    self._used.append((both(entry.condition, given), value))

    def _extension(
        self,
        around: Evaluator,
        positional: list[Value],
        keywords: dict[str, Value],
        place: Place,
        system: BuildSystem,
        *,
        foreign: bool,
    ) -> Extension:
        name = positional[0] if positional else keywords.get("name", NOTHING)
        second = positional[1] if len(positional) > 1 else keywords.get(UNPACKED, NOTHING)
        sources = keywords.get("sources", second if not foreign else NOTHING)
        kept = _snapshot(sources)
        return Extension(name, kept, keywords, place, around.path, around.folder, system, True, foreign)

    def _drafts_of(self, extension: Extension, given: Guard) -> Iterator[Draft]:
        """The target that an extension is; one for each name that it can have."""
        for named, name in options_of(extension.name):
            condition = both(both(given, extension.condition), named)
            if condition is not NEVER:
                yield self._draft(extension, text_of(name) or words_of(name), condition)

    def _draft(self, extension: Extension, name: str, condition: Guard) -> Draft:
        entries, complete = entries_of(extension.sources)
        draft = Draft(name, TargetKind.EXTENSION, extension.system, extension.place, condition)
        draft.project = extension.place.path if extension.system is BuildSystem.JIT else ""
        if not complete or (extension.foreign and not entries and not self._has_cmake(extension.folder)):
            draft.unknown.append("*")
        self._add_sources(draft, extension, entries)
        draft.options += _options(extension, condition)
        draft.defines += _defines(extension, name, condition)
        is_plain = extension.system is BuildSystem.JIT and _is_plain(extension)
        # What a class of the project builds is not known.
        if not is_plain and not (extension.foreign and not entries):
            draft.module = name
        return draft

    def _add_sources(self, draft: Draft, extension: Extension, entries: Iterable[Entry]) -> None:
        for entry in entries:
            for given, value in options_of(entry.value):
                text = text_of(value)
                source = None if text is None else self._source(extension, text)
                if text is None or not isinstance(value, Text | FilePath):
                    draft.unknown.append("*")
                elif source is None:
                    draft.unknown.append(self._files.relative(self._files.absolute(text, extension.folder)))
                else:
                    path, is_copy = source
                    condition = both(draft.condition, both(entry.condition, given))
                    draft.sources.append(Compiled(path, value.place or extension.place, condition, is_copy))

    def _source(self, extension: Extension, text: str) -> tuple[str, bool] | None:
        """The path of a source, and whether a copy of it is compiled; None for one that the build makes otherwise."""
        for base in (extension.folder, self._files.root):
            path = self._files.absolute(text, base)
            if self._files.is_file(path):
                return self._files.relative(path), False
            copied = next((each.copies[path] for each in self._evaluators if path in each.copies), None)
            if copied is not None and self._files.is_file(copied):
                return self._files.relative(copied), True
        return None

    def _has_cmake(self, folder: str) -> bool:
        """Whether what hands its work to another build system has CMake's files beside it, which tell the rest."""
        return self._files.is_file(posixpath.join(folder, "CMakeLists.txt"))

    # Extensions that are built as a program runs.

    def read_loads(self, path: str) -> None:
        data = self._files.read(path)
        if data is None or not may_load(data):
            return
        self._made = []
        evaluator = self._evaluator()
        evaluator.folder = posixpath.dirname(path)
        scope = evaluator.run_file(path, posixpath.dirname(path))
        if scope is not None:
            _call_the_rest(evaluator, path)
        self._read[path] = None
        for extension in self._made:
            if extension.system is BuildSystem.JIT:
                self._drafts += self._drafts_of(extension, ALWAYS)

    # pyproject.toml.

    def read_project(self, path: str) -> None:
        data = self._files.read(path)
        try:
            document: dict[str, Any] = tomllib.loads((data or b"").decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            found = re.search(r"at line (\d+)", str(error))
            place = line_of(self._files.relative(path), data or b"", int(found[1]) if found else 1)
            self._files.begin(Start(BuildSystem.SETUPTOOLS, place.path))
            self._files.give_up("build-syntax", f"not read: {error}", place)
            return
        modules = _dig(document, "tool", "setuptools", "ext-modules")
        if data is None or not isinstance(modules, list):
            return
        self._read[path] = None
        text = SourceText(data)
        for module in modules:
            if isinstance(module, dict) and isinstance(module.get("name"), str):
                self._declarations.append(self._declared(path, text, module))

    def _declared(self, path: str, text: SourceText, module: dict[str, Any]) -> Target:
        """A module that `pyproject.toml` declares."""
        relative = self._files.relative(path)
        folder = posixpath.dirname(path)

        def place(value: str) -> Place:
            start = max(text.data.find(f'"{value}"'.encode()), text.data.find(f"'{value}'".encode()))
            written = len(value.encode())
            return Place(relative, text.line_of(max(start, 0)), max(start, -1) + 1, max(start, -1) + 1 + written)

        listed = module.get("sources")
        named = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
        paths = {each: self._files.absolute(each, folder) for each in named}
        present = [each for each in named if self._files.is_file(paths[each])]
        sources = (Source(self._files.relative(paths[each]), place(each)) for each in present)
        name = str(module["name"])
        return Target(
            name,
            TargetKind.EXTENSION,
            BuildSystem.SETUPTOOLS,
            place(name),
            sources=tuple(sources),
            module=name,
            options=tuple(
                LinkOption(prefix + each, place(each))
                for key, prefix in _LINK_ARGUMENTS.items()
                for each in module.get(key.replace("_", "-"), ())
                if isinstance(each, str)
            ),
            unknown=tuple(self._files.relative(paths[each]) for each in named if each not in present),
        )


def _dig(document: object, *keys: str) -> object:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _snapshot(sources: Value) -> Value:
    """The sources as they are when the extension is made: the script may go on to use the list for another."""
    entries, complete = entries_of(sources)
    return Items(list(entries), "list", not complete)


def _uses_torch(around: Evaluator) -> bool:
    names = (value for scope in around.modules.values() for value in scope.names.values())
    return any("torch.utils.cpp_extension" in getattr(value, "dotted", "") for value in names)


def _call_the_rest(evaluator: Evaluator, path: str) -> None:
    """Follow the functions that build an extension and that nothing called yet, their parameters unknown."""
    parsed = evaluator.parse(path)
    scope = evaluator.modules.get(path)
    if parsed is None or scope is None:
        return
    for node in ast.walk(parsed[1]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _builds(node):
            known = scope.names.get(node.name)
            if isinstance(known, Function) and id(known.node) in evaluator.called:
                continue
            evaluator.invoke_function(Function(node, scope, evaluator.files.relative(path), {}), ([], {}))


def _builds(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(
        (isinstance(called, ast.Attribute) and called.attr == "load")
        or (isinstance(called, ast.Name) and called.id in ("load", "load_extension"))
        for called in calls
    )


def _is_plain(extension: Extension) -> bool:
    """Whether what `load` builds may be no Python module: a library that is only loaded, or a program."""
    rest = extension.keywords.get(UNPACKED)
    module = extension.keywords.get("is_python_module", rest or TRUE)
    program = extension.keywords.get("is_standalone", rest or FALSE)
    return truth(module) is not ALWAYS or truth(program) is not NEVER


def _lists_in(value: Value) -> list[Value]:
    """The lists in a dictionary (`{"cxx": [...]}`), or else the list itself."""
    tables = [option for _, option in options_of(value) if isinstance(option, Table)]
    return [each for table in tables for each in table.entries.values()] or [value]


def _flags(value: Value) -> Iterator[tuple[Guard, Text]]:
    """The texts of a list, or of the lists in a dictionary."""
    for each in _lists_in(value):
        for entry in entries_of(each)[0]:
            for given, option in options_of(entry.value):
                if isinstance(option, Text):
                    yield both(entry.condition, given), option


def _is_told(value: Value) -> bool:
    """Whether a list, or each in a dictionary, is known to its end."""
    lists = [entries_of(each) for each in _lists_in(value)]
    options = (option for entries, _ in lists for entry in entries for _, option in options_of(entry.value))
    return all(complete for _, complete in lists) and all(isinstance(option, Text) for option in options)


_LINK_ARGUMENTS = {"extra_link_args": "", "extra_ldflags": "", "libraries": "-l", "extra_objects": ""}
"""The arguments that say what is linked, and how the linker is given what they list."""


def _options(extension: Extension, condition: Guard) -> Iterator[tuple[Guard, LinkOption]]:
    """What the linker is given. `*` stands for what is not told."""
    for key, prefix in _LINK_ARGUMENTS.items():
        value = extension.keywords.get(key, NOTHING)
        for given, text in _flags(value):
            yield both(condition, given), LinkOption(prefix + text.text, text.place or extension.place)
        if not _is_told(value):
            yield condition, LinkOption("-l*", extension.place)
    if UNPACKED in extension.keywords:
        yield condition, LinkOption("-l*", extension.place)


def _defines(extension: Extension, name: str, condition: Guard) -> Iterator[tuple[Guard, Define]]:
    """The macros of an extension. `BuildExtension` and `load` give it its own name as `TORCH_EXTENSION_NAME`."""
    if extension.from_torch:
        yield condition, Define("TORCH_EXTENSION_NAME", name.rpartition(".")[2], extension.place)
    for entry in entries_of(extension.keywords.get("define_macros", NOTHING))[0]:
        for given, pair in options_of(entry.value):
            parts = entries_of(pair)[0] if isinstance(pair, Items) else []
            macro = parts[0].value if parts else NOTHING
            value = parts[1].value if len(parts) > 1 else NOTHING
            if isinstance(macro, Text):
                under = both(condition, both(entry.condition, given))
                yield under, Define(macro.text, text_of(value), macro.place or extension.place)
    for key in ("extra_compile_args", "extra_cflags", "extra_cuda_cflags"):
        for given, text in _flags(extension.keywords.get(key, NOTHING)):
            if text.text.startswith("-D"):
                macro_name, separator, macro_value = text.text[2:].partition("=")
                define = Define(macro_name, macro_value if separator else None, text.place or extension.place)
                yield both(condition, given), define
