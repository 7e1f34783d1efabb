"""What the preprocessor would see: the files that a source includes, their `#if` arms, and when each arm is live.

libclang reads one configuration at a time, and the macros that choose it (`USE_ROCM`, `CUDA_VERSION`) come from a build
that has not happened. So the directives are read here: every arm gets its condition; a *pass* is an assignment of
atoms under which a source is handed to libclang, with each `#if` rewritten to `#if 1` or `#if 0` in place
(same length, so that every offset stays), each project include to a name of ours, and each include that cannot be
found blanked out. libclang then touches no file at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from op_lint.condition import ALWAYS, NEVER, Atom, Condition, conjunction, disjunction, evaluate, negation
from op_lint.cpp.expressions import parse_condition
from op_lint.cpp.scan import Directive, directives

MOST_FILES = 400
"""A source that includes more project files than this is read without the rest (`Preprocessed.truncated`)."""

_INCLUDE = re.compile(rb'\s*(?:"([^"\n]+)"|<([^>\n]+)>)')
_DEFINE = re.compile(rb"([A-Za-z_]\w*)(\()?")


@dataclass(frozen=True)
class Arm:
    """One arm of a conditional: bytes `start` to `end` are its body; `condition` is its whole path in this file."""

    start: int
    end: int
    condition: Condition


@dataclass(frozen=True)
class View:
    """One file as the preprocessor reaches it.

    `alias` is the name that libclang knows it by. `reached` is the condition of the `#include`s that lead to it.
    `tests` maps an `#if`/`#elif` directive to its own condition (without the arms around it); `targets` an `#include`
    to the alias of its file, None for one that was not found.
    """

    path: str
    alias: str
    data: bytes
    reached: Condition
    arms: list[Arm] = field(default_factory=list)
    tests: list[tuple[Directive, Condition]] = field(default_factory=list)
    targets: list[tuple[Directive, str | None]] = field(default_factory=list)

    def condition_at(self, offset: int) -> Condition:
        """The condition under which the byte at `offset` is compiled."""
        inner = ALWAYS
        for arm in self.arms:
            if arm.start <= offset < arm.end:
                inner = arm.condition
        return conjunction((self.reached, inner))

    def rewritten(self, assignment: Mapping[str, bool], kept: dict[Any, bytes]) -> bytes:
        """The bytes for libclang under `assignment`; atoms that it does not name are false.

        `kept` remembers the answers, since many sources include the same header.
        """
        closed = _Closed(assignment)
        truths = tuple(bool(evaluate(condition, closed)) for _, condition in self.tests)
        key = (self.path, truths, tuple(alias for _, alias in self.targets))
        if key not in kept:
            kept[key] = self._rewrite(truths)
        return kept[key]

    def _rewrite(self, truths: tuple[bool, ...]) -> bytes:
        edits: list[tuple[int, int, bytes]] = []
        for (directive, _), truth in zip(self.tests, truths, strict=True):
            word = b"#elif " if directive.word.startswith("el") else b"#if "
            edits.append((directive.start, directive.end, word + (b"1" if truth else b"0")))
        for directive, alias in self.targets:
            text = b"" if alias is None else b"#include<" + alias.encode() + b">"
            edits.append((directive.start, directive.end, text))
        return _replaced(self.data, edits)


class _Closed(dict[str, bool]):
    """An assignment in which every atom that is not named is false."""

    def __init__(self, known: Mapping[str, bool]) -> None:
        super().__init__(known)

    def get(self, key: str, default: object = None) -> bool:
        return super().get(key, default is True)


def _replaced(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    parts: list[bytes] = []
    position = 0
    for start, end, text in sorted(edits):
        parts.append(data[position:start])
        old = data[start:end]
        if len(text) > len(old):
            # Too short to hold the new directive (`#if X` never is): an include that is left out.
            text = b""
        breaks = b"".join(re.findall(rb"\\\r?\n", old))
        room = len(old) - len(text) - len(breaks)
        parts.append(text + b" " * room + breaks if room >= 0 else re.sub(rb"[^\r\n]", b" ", old))
        position = end
    parts.append(data[position:])
    return b"".join(parts)


@dataclass
class Preprocessed:
    """A source and all project files that it includes, in the order of first inclusion; the source comes first."""

    views: list[View] = field(default_factory=list)
    missing: list[tuple[str, str, int]] = field(default_factory=list)
    """Includes that no file was found for: the name, the includer's path, the byte offset of the directive."""
    truncated: bool = False

    @property
    def main(self) -> View:
        """The source itself."""
        return self.views[0]

    def by_alias(self, alias: str) -> View | None:
        """The view that libclang knows as `alias`."""
        return next((view for view in self.views if view.alias == alias), None)


Resolve = Callable[[str, str, bool], str | None]
"""(path of the includer, name as written, with angle brackets) -> path of the file, or None."""

Load = Callable[[str], bytes | None]
"""Path -> bytes, None where the file cannot be read."""

Known = Callable[[str], bool]
"""Whether an include that is no project file is one that the overlay stands in for."""


class Files:
    """The project's files as includes reach them, each scanned once however many sources include it."""

    def __init__(self, resolve: Resolve, load: Load, known: Known) -> None:
        self.resolve, self.load, self.known = resolve, load, known
        self.rewritten: dict[Any, bytes] = {}
        self._directives: dict[str, list[Directive]] = {}
        self._aliases: dict[str, str] = {}

    def directives(self, path: str, data: bytes) -> list[Directive]:
        """The directives of a file."""
        if path not in self._directives:
            self._directives[path] = directives(data)
        return self._directives[path]

    def alias(self, path: str) -> str:
        """The name of an included file for libclang: short enough to replace any name in its `#include`."""
        return self._aliases.setdefault(path, f"/{len(self._aliases) + 1}")


def preprocess(
    path: str, data: bytes, files: Files, defines: Mapping[str, str], keep_known: bool = False
) -> Preprocessed:
    """Read the directives of `data` and of every project file that it includes. Never raises.

    With `keep_known` the includes that the overlay would stand in for are left to libclang (the real headers).
    """
    walker = _Walker(files, defines, keep_known)
    walker.enter(path, data, ALWAYS)
    return walker.result


@dataclass
class _Frame:
    """An open conditional: when earlier arms were taken, the current arm's condition, where its body starts."""

    outer: Condition
    taken: list[Condition]
    current: Condition
    body: int


class _Walker:
    def __init__(self, files: Files, defines: Mapping[str, str], keep_known: bool) -> None:
        self.files, self.keep_known = files, keep_known
        self.result = Preprocessed()
        self.aliases: dict[str, str] = {}
        self.definitions: dict[str, list[tuple[Condition, int | None]]] = {
            "__cplusplus": [(ALWAYS, 202002)],
        }
        for name, value in defines.items():
            self.definitions[name] = [(ALWAYS, _constant(value.encode() or b"1"))]

    # -- what is known of macros (the `Macros` protocol)

    def defined(self, name: str) -> Condition:
        entries = self.definitions.get(name)
        return Atom(name) if entries is None else disjunction(condition for condition, _ in entries)

    def value(self, name: str) -> int | None:
        entries = self.definitions.get(name)
        if entries and len(entries) == 1 and entries[0][0] == ALWAYS:
            return entries[0][1]
        return None

    def truth(self, name: str) -> Condition:
        entries = self.definitions.get(name)
        if not entries or any(value is None for _, value in entries):
            return Atom(name)
        return disjunction(condition for condition, value in entries if value)

    # -- the walk

    def enter(self, path: str, data: bytes, reached: Condition) -> str:
        alias = self.files.alias(path) if self.aliases else path
        self.aliases[path] = alias
        view = View(path, alias, data, reached)
        self.result.views.append(view)
        found = self.files.directives(path, data)
        guard = _guard(found, data)
        frames: list[_Frame] = []
        condition = ALWAYS
        for index, directive in enumerate(found):
            word = directive.word
            if word in ("if", "ifdef", "ifndef"):
                test = ALWAYS if index == guard else self.test(word, directive.argument)
                if index != guard:
                    view.tests.append((directive, test))
                frames.append(_Frame(condition, [test], conjunction((condition, test)), directive.end))
            elif word in ("elif", "elifdef", "elifndef", "else") and frames:
                frame = frames[-1]
                view.arms.append(Arm(frame.body, directive.start, frame.current))
                test = ALWAYS if word == "else" else self.test(word, directive.argument)
                if word != "else":
                    view.tests.append((directive, test))
                others = [negation(taken) for taken in frame.taken]
                frame.taken.append(test)
                frame.current = conjunction((frame.outer, *others, test))
                frame.body = directive.end
            elif word == "endif" and frames:
                frame = frames.pop()
                view.arms.append(Arm(frame.body, directive.start, frame.current))
            elif word == "define":
                self.define(directive.argument, conjunction((reached, condition)))
            elif word == "undef" and condition == ALWAYS:
                self.definitions[directive.argument.decode("utf-8", "replace")] = []
            elif word in ("include", "import", "include_next"):
                self.include(view, directive, conjunction((reached, condition)))
            condition = frames[-1].current if frames else ALWAYS
        view.arms.extend(Arm(frame.body, len(data), frame.current) for frame in reversed(frames))
        view.arms.sort(key=lambda arm: (arm.start, -arm.end))
        return alias

    def test(self, word: str, argument: bytes) -> Condition:
        if word.endswith(("def", "ndef")):
            name = _DEFINE.match(argument.strip())
            condition = self.defined(name.group(1).decode()) if name else Atom(argument.decode("utf-8", "replace"))
            return negation(condition) if word.endswith("ndef") else condition
        return parse_condition(argument, self)

    def define(self, argument: bytes, condition: Condition) -> None:
        match = _DEFINE.match(argument)
        if not match:
            return
        name = match.group(1).decode()
        value = None if match.group(2) else _constant(argument[match.end() :].strip())
        before = self.definitions.get(name)
        if condition == ALWAYS or condition == negation(Atom(name)):
            # `#ifndef X / #define X 1 / #endif`: defined from here on, but perhaps by the build, with another value.
            self.definitions[name] = [(ALWAYS, value if condition == ALWAYS else None)]
        else:
            self.definitions[name] = [*(before or []), (condition, value)]

    def include(self, view: View, directive: Directive, condition: Condition) -> None:
        match = _INCLUDE.match(directive.argument)
        name = (match.group(1) or match.group(2)).decode("utf-8", "surrogateescape") if match else ""
        angled = match is not None and match.group(1) is None
        path = None
        if name and condition != NEVER and directive.word != "include_next":
            path = self.files.resolve(view.path, name, angled)
        if path is None and self.keep_known and self.files.known(name):
            return
        alias = self.aliases.get(path) if path is not None else None
        if path is not None and alias is None:
            alias = self.enter_file(path, condition)
        if alias is None and name and condition != NEVER and not self.files.known(name):
            self.result.missing.append((name, view.path, directive.start))
        view.targets.append((directive, alias))

    def enter_file(self, path: str, condition: Condition) -> str | None:
        """Read an included file; None where it cannot be, or where too many have been."""
        if len(self.aliases) >= MOST_FILES:
            self.result.truncated = True
            return None
        data = self.files.load(path)
        return None if data is None else self.enter(path, data, condition)


def _guard(found: list[Directive], data: bytes) -> int | None:
    """The index of the `#ifndef` that is this file's include guard, if it has one."""
    if len(found) < 3 or found[0].word != "ifndef" or found[1].word != "define" or found[-1].word != "endif":
        return None
    name = found[0].argument.split()[:1]
    if not name or found[1].argument.split()[:1] != name or data[found[0].end : found[1].start].strip():
        return None
    depth = 0
    for index, directive in enumerate(found):
        depth += directive.word in ("if", "ifdef", "ifndef")
        depth -= directive.word == "endif"
        if depth == 0 and index < len(found) - 1:
            return None
    return 0


def _constant(text: bytes) -> int | None:
    stripped = text.strip(b" ()\t")
    match = re.fullmatch(rb"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", stripped)
    if not match:
        return None
    try:
        return int(match.group(1), 0)
    except ValueError:
        return int(match.group(1))


def arms_of(views: list[View]) -> Iterator[tuple[View, Arm]]:
    """Every arm of every file, with its whole condition, in reading order."""
    for view in views:
        for arm in view.arms:
            yield view, Arm(arm.start, arm.end, conjunction((view.reached, arm.condition)))
