"""Bazel's and Buck's build files: rules for C++, `select()` as conditions, `glob()`, macros of the project.

Both are dialects of Starlark, whose syntax is Python's; the same partial evaluator reads them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from functools import partial

from op_lint.build.drafts import Compiled, Draft, finished
from op_lint.build.files import BuildFiles, Start
from op_lint.build.guards import ALWAYS, NEVER, Guard, any_of, atom, both, opposite
from op_lint.build.model import (
    BuildGraph,
    BuildSystem,
    Define,
    Link,
    LinkHow,
    LinkOption,
    TargetKind,
    Visibility,
)
from op_lint.build.script.evaluator import Evaluator
from op_lint.build.script.library import text_of
from op_lint.build.script.values import (
    FALSE,
    NOTHING,
    Arguments,
    Builtin,
    Entry,
    Items,
    Module,
    Named,
    Nothing,
    Table,
    Text,
    Value,
    choice,
    entries_of,
    options_of,
    truth,
)
from op_lint.facts import Place

BAZEL_NAMES = frozenset({"BUILD", "BUILD.bazel"})
BUCK_NAMES = frozenset({"BUCK", "TARGETS"})

LIMIT = "this build file takes too long to read: it is understood in part only"

_DEFAULT = "//conditions:default"
_BUCK_DEFAULT = "DEFAULT"

_KINDS = {
    "library": TargetKind.STATIC,
    "binary": TargetKind.EXECUTABLE,
    "test": TargetKind.EXECUTABLE,
    "benchmark": TargetKind.EXECUTABLE,
    "shared_library": TargetKind.SHARED,
    "extension": TargetKind.EXTENSION,
}
_PREFIXES = ("cc", "cxx", "cpp", "cuda", "gpu_cpp", "python", "pybind", "cxx_python", "cpp_python", "hip", "rocm")


def kind_of(rule: str) -> TargetKind | None:
    """What a rule of this name makes; None for a rule that is not about C++."""
    prefix, _, _ = rule.partition("_")
    if rule in ("pybind_extension", "pybind11_extension"):
        return TargetKind.EXTENSION
    if prefix not in _PREFIXES and not any(rule.startswith(f"{each}_") for each in _PREFIXES):
        return None
    for ending in ("shared_library", "library", "binary", "test", "benchmark", "extension"):
        if rule.endswith(ending):
            return _KINDS[ending]
    return None


def read_bazel(files: BuildFiles, paths: Sequence[str]) -> BuildGraph:
    """What the Bazel and Buck files among `paths` say. Never raises."""
    reader = _Reader(files)
    for path in paths:
        if posixpath.basename(path) not in BAZEL_NAMES | BUCK_NAMES:
            continue
        system = BuildSystem.BUCK if posixpath.basename(path) in BUCK_NAMES else BuildSystem.BAZEL
        files.attempt(Start(system, path), partial(reader.read, path), LIMIT)
    return BuildGraph(
        targets=tuple(finished(reader.drafts)),
        mentioned=frozenset(reader.mentioned),
        files=tuple(dict.fromkeys(reader.files)),
    )


class _Reader:
    def __init__(self, files: BuildFiles) -> None:
        self._files = files
        self.drafts: list[Draft] = []
        self.mentioned: set[str] = set()
        self.files: list[str] = []
        self._package = ""
        self._system = BuildSystem.BAZEL

    def read(self, path: str) -> None:
        self._package = posixpath.dirname(path)
        self._system = BuildSystem.BUCK if posixpath.basename(path) in BUCK_NAMES else BuildSystem.BAZEL
        builtins: dict[str, Value] = {name: Builtin(name) for name in ("glob", "select", "load", "fail", "subdir_glob")}
        builtins["native"] = Named("native")
        evaluator = Evaluator(self._files, self._handle, builtins)
        absolute = self._files.absolute(path)
        evaluator.run_file(absolute, posixpath.dirname(absolute))
        self.files += (self._files.relative(each) for each in evaluator.modules)

    def _handle(self, around: Evaluator, dotted: str, arguments: Arguments, place: Place) -> Value | None:
        positional, keywords = arguments
        name = dotted.rpartition(".")[2]
        if name == "load" and positional:
            self._load(around, positional, keywords)
            return NOTHING
        if name == "glob":
            return self._glob(around, positional, keywords, place)
        if name == "select" and positional:
            return _select(positional[0])
        if name == "package_name":
            return Text(self._package)
        kind = kind_of(name)
        if kind is not None and "name" in keywords:
            self._add(around, kind, keywords, place)
            return NOTHING
        if "name" in keywords:
            self._mention(keywords)
        return None

    def _load(self, around: Evaluator, positional: list[Value], keywords: dict[str, Value]) -> None:
        """`load("//pkg:file.bzl", "name", own = "name")`: what is not in the project is known by its name only."""
        label = text_of(positional[0]) or ""
        path = self._path(label)
        scope = (
            around.run_file(self._files.absolute(path))
            if path and self._files.is_file(self._files.absolute(path))
            else None
        )
        names = {text_of(value) or "": text_of(value) or "" for value in positional[1:]}
        names |= {own: text_of(value) or "" for own, value in keywords.items()}
        for own, name in names.items():
            value = Module(scope).scope.value(name) if scope is not None else None
            around.write(own, value or Named(name))

    def _path(self, label: str) -> str | None:
        """The file that a label means, relative to the root."""
        _, _, local = label.rpartition("//")
        if label.startswith("@") and "//" not in label:
            return None
        package, _, name = local.partition(":")
        base = package if "//" in label else posixpath.join(self._package, package)
        return posixpath.join(base, name) if name else base

    def _glob(self, around: Evaluator, positional: list[Value], keywords: dict[str, Value], place: Place) -> Value:
        include = keywords.get("include", positional[0] if positional else NOTHING)
        exclude = keywords.get("exclude", positional[1] if len(positional) > 1 else NOTHING)
        base = self._files.absolute(self._package)
        gone = {
            path
            for entry in entries_of(exclude)[0]
            for path in self._files.matching(posixpath.join(base, text_of(entry.value) or ""), place).paths
        }
        found = Items()
        for entry in entries_of(include)[0]:
            pattern = entry.value
            text = text_of(pattern)
            if text is None:
                found.open = True
                continue
            where = pattern.place if isinstance(pattern, Text) and pattern.place else place
            matches = self._files.matching(posixpath.join(base, text), where)
            found.open |= not matches.complete
            for path in matches.paths:
                if path not in gone:
                    found.entries.append(Entry(Text(posixpath.relpath(path, base), where), entry.condition))
        around.files.budget.spend(len(found.entries))
        return found

    def _mention(self, keywords: dict[str, Value]) -> None:
        for value in keywords.values():
            for entry in entries_of(value)[0]:
                text = text_of(entry.value)
                if text and "." in text:
                    self.mentioned.add(self._source(text))

    def _source(self, text: str) -> str:
        path = self._path(text) if text.startswith((":", "//")) else posixpath.join(self._package, text)
        return posixpath.normpath(path or text)

    def _add(self, around: Evaluator, kind: TargetKind, keywords: dict[str, Value], place: Place) -> None:
        if kind is TargetKind.EXECUTABLE and truth(keywords.get("linkshared", FALSE)) is ALWAYS:
            kind = TargetKind.SHARED
        for given, value in options_of(keywords["name"]):
            condition = both(around.path, given)
            if isinstance(value, Text) and condition is not NEVER:
                draft = Draft(self._label(value.text), kind, self._system, value.place or place, condition)
                draft.module = _module(kind, value.text, keywords, self._package)
                self._add_sources(draft, keywords)
                self._add_links(draft, keywords)
                draft.options += _options(keywords, condition, place)
                draft.defines += _defines(keywords, condition, place)
                self.drafts.append(draft)

    def _add_sources(self, draft: Draft, keywords: dict[str, Value]) -> None:
        for key in ("srcs", "cuda_srcs", "gpu_srcs", "hip_srcs", "cpp_srcs"):
            entries, complete = entries_of(keywords.get(key, NOTHING))
            draft.unknown += () if complete else ("*",)
            for entry in entries:
                value = _first(entry.value)
                path = self._source(value.text) if isinstance(value, Text) else None
                if isinstance(value, Text) and path and self._files.is_file(self._files.absolute(path)):
                    condition = both(draft.condition, entry.condition)
                    draft.sources.append(Compiled(path, value.place or draft.place, condition))
                else:
                    draft.unknown.append("*")

    def _add_links(self, draft: Draft, keywords: dict[str, Value]) -> None:
        for key in ("deps", "exported_deps", "implementation_deps", "dynamic_deps"):
            visibility = Visibility.PRIVATE if key == "implementation_deps" else Visibility.PUBLIC
            for entry in entries_of(keywords.get(key, NOTHING))[0]:
                if isinstance(entry.value, Text):
                    name, where = self._label(entry.value.text), entry.value.place or draft.place
                    link = Link(name, LinkHow.PLAIN, where, visibility=visibility)
                    draft.links.append((both(draft.condition, entry.condition), link))
        whole = both(draft.condition, _whole(keywords))
        if whole is not NEVER:
            # The library itself says that it is to be linked whole: so that is a link that it gives to its users.
            link = Link(draft.name, LinkHow.WHOLE_ARCHIVE, draft.place, visibility=Visibility.INTERFACE)
            draft.links.append((whole, link))

    def _label(self, text: str) -> str:
        """A label in full: `//package:name`."""
        if text.startswith("@") or "//" in text:
            return text if ":" in text else f"{text}:{text.rpartition('/')[2]}"
        return f"//{self._package}:{text.lstrip(':')}"


def _first(value: Value) -> Value:
    """The source in an entry of `srcs`, which Buck also writes as a pair of source and flags."""
    if isinstance(value, Items) and value.entries:
        return value.entries[0].value
    return value


def _select(table: Value) -> Value:
    """`select({label: value})`: each value under its label, the default where no other label holds."""
    if not isinstance(table, Table):
        return Items([], "list", open=True)
    default = next((key for key in (_DEFAULT, _BUCK_DEFAULT) if key in table.entries), None)
    labels = [key for key in table.entries if key != default]
    options: list[tuple[Guard, Value]] = []
    rest = ALWAYS
    for label in labels:
        # Bazel refuses two labels that hold at once, unless one is a special case of the other.
        condition = both(rest, atom(label))
        options.append((condition, table.entries[label]))
        rest = both(rest, opposite(atom(label)))
    if default is not None:
        options.append((rest, table.entries[default]))
    return choice(options)


def _whole(keywords: dict[str, Value]) -> Guard:
    """When the library is linked whole wherever it is used."""
    return any_of(truth(keywords[key]) for key in ("alwayslink", "link_whole") if key in keywords)


def _options(keywords: dict[str, Value], condition: Guard, place: Place) -> Iterator[tuple[Guard, LinkOption]]:
    for key, visibility in (
        ("linkopts", Visibility.PUBLIC),
        ("linker_flags", Visibility.PRIVATE),
        ("exported_linker_flags", Visibility.PUBLIC),
    ):
        for entry in entries_of(keywords.get(key, NOTHING))[0]:
            text = text_of(entry.value)
            if text is not None:
                yield both(condition, entry.condition), LinkOption(text, place, visibility=visibility)


def _defines(keywords: dict[str, Value], condition: Guard, place: Place) -> Iterator[tuple[Guard, Define]]:
    for key in ("defines", "local_defines", "copts", "compiler_flags", "preprocessor_flags", "propagated_pp_flags"):
        for entry in entries_of(keywords.get(key, NOTHING))[0]:
            text = text_of(entry.value) or ""
            if key.endswith("defines") or text.startswith("-D"):
                name, separator, value = text.removeprefix("-D").partition("=")
                where = entry.value.place if isinstance(entry.value, Text) and entry.value.place else place
                yield both(condition, entry.condition), Define(name, value if separator else None, where)


def _module(kind: TargetKind, name: str, keywords: dict[str, Value], package: str) -> str | None:
    """The Python name of an extension: its base module (Buck), else its package, and its own name."""
    if kind is not TargetKind.EXTENSION:
        return None
    base = keywords.get("base_module", NOTHING)
    prefix = package.replace("/", ".") if isinstance(base, Nothing) else text_of(base) or ""
    return f"{prefix}.{name}" if prefix else name
