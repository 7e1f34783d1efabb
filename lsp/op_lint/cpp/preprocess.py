"""What the preprocessor would see: the files that a source includes, their `#if` arms, and when each arm is live.

libclang reads one configuration at a time, and the macros that choose it (`USE_ROCM`, `CUDA_VERSION`) come from a build
that has not happened. So the directives are read here: every arm gets its condition; a *pass* is an assignment of
atoms under which a source is handed to libclang, with each `#if` rewritten to `#if 1` or `#if 0` in place
(same length, so that every offset stays), each project include to a name of ours, and each include that cannot be
found blanked out. libclang then touches no file at all.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from op_lint.condition import ALWAYS, NEVER, Atom, Condition, atoms, conjunction, disjunction, negation
from op_lint.cpp.expressions import constant, parse_condition
from op_lint.cpp.scan import Directive
from op_lint.cpp.scanned import ScannedFile
from op_lint.cpp.views import Arm, Kept, View

MOST_INCLUDES = 400
"""A source that leads to more `#include`s of project files than this is read without the rest (`truncated`)."""

_DEEPEST = 64
_MOST_ARMS = 100
"""Conditionals inside each other, and arms of one, above which a file is not read."""

_INCLUDE = re.compile(rb'\s*(?:"([^"\n]+)"|<([^>\n]+)>)')
_DEFINE = re.compile(rb"([A-Za-z_]\w*)(\()?")
_NOT_DEFINED = re.compile(rb"!\s*defined\s*\(?\s*([A-Za-z_]\w*)\s*\)?")
_DIGITS = string.digits + string.ascii_letters


@dataclass
class Preprocessed:
    """A source and all project files that it includes, in the order of first inclusion; the source comes first.

    `missing` are the includes that no file was found for: the name, the includer's path, the byte offset of the
    directive. `problem` is why the directives could not be followed to the end, empty if they could.
    """

    views: list[View] = field(default_factory=list)
    missing: list[tuple[str, str, int]] = field(default_factory=list)
    truncated: bool = False
    problem: str = ""

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
    """The project's files as includes reach them, each scanned once however many sources include it.

    `kept` are files that were scanned before, by path: they serve where their content is the same.
    """

    def __init__(self, resolve: Resolve, load: Load, known: Known, kept: dict[str, ScannedFile] | None = None) -> None:
        self.resolve, self.load, self.known = resolve, load, known
        self.rewritten: Kept = {}
        self._scanned = {} if kept is None else kept
        self._aliases: dict[tuple[str, int], str] = {}

    def scanned(self, view: View) -> ScannedFile:
        """The text of a view's file, taken apart."""
        found = self._scanned.get(view.path)
        if found is None or found.data != view.data:
            found = self._scanned[view.path] = ScannedFile(view.data)
        return found

    def forget(self, path: str) -> None:
        """Let go of a file that nothing will ask for again."""
        self._scanned.pop(path, None)

    def alias(self, path: str, number: int) -> str:
        """The name of view `number` of an included file for libclang: short enough to replace any in an `#include`."""
        return self._aliases.setdefault((path, number), "/" + _short(len(self._aliases)))


def _short(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
        if not number:
            return digits


def preprocess(
    path: str, data: bytes, files: Files, defines: Mapping[str, str], keep_known: bool = False
) -> Preprocessed:
    """Read the directives of `data` and of every project file that it includes. Never raises.

    With `keep_known` the includes that the overlay would stand in for are left to libclang (the real headers).
    """
    walker = _Walker(files, defines, keep_known)
    try:
        walker.walk(View(path, path, data), ALWAYS)
    except _TooMuchError as error:
        walker.result.problem = str(error)
    return walker.result


class _TooMuchError(Exception):
    """Conditionals that nobody wrote, and that would take forever."""


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
        self.open: list[str] = []
        self.entered: dict[str, list[View]] = {}
        self.once: set[str] = set()
        self.includes = 0
        self.definitions: dict[str, list[tuple[Condition, int | None]]] = {"__cplusplus": [(ALWAYS, 202002)]}
        for name, value in defines.items():
            self.definitions[name] = [(ALWAYS, constant(value.encode() or b"1"))]

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

    def walk(self, view: View, reached: Condition) -> None:
        """Read the directives of a file that is included where `reached` holds."""
        self.open.append(view.path)
        if not self.result.views:
            self.result.views.append(view)
        found = self.files.scanned(view).directives
        guard = _guard(found)
        if guard is not None:
            self.once.add(view.path)
        frames: list[_Frame] = []
        condition = ALWAYS
        for index, directive in enumerate(found):
            if directive.word in ("if", "ifdef", "ifndef"):
                frames.append(self.opened(view, directive, condition, is_guard=index == guard))
            elif directive.word in ("elif", "elifdef", "elifndef", "else") and frames:
                self.next_arm(view, directive, frames[-1])
            elif directive.word == "endif" and frames:
                frame = frames.pop()
                view.arms.append(Arm(frame.body, directive.start, frame.current))
            else:
                self.plain(view, directive, condition, reached)
            condition = frames[-1].current if frames else ALWAYS
            if len(frames) > _DEEPEST:
                raise _TooMuchError(f"its conditionals are nested more than {_DEEPEST} deep")
        view.arms.extend(Arm(frame.body, len(view.data), frame.current) for frame in reversed(frames))
        view.arms.sort(key=lambda arm: (arm.start, -arm.end))
        self.open.pop()

    def opened(self, view: View, directive: Directive, condition: Condition, is_guard: bool) -> _Frame:
        test = ALWAYS
        if not is_guard:
            test = self.test(directive)
            view.tests.append((directive, test))
        return _Frame(condition, [test], conjunction((condition, test)), directive.end)

    def next_arm(self, view: View, directive: Directive, frame: _Frame) -> None:
        view.arms.append(Arm(frame.body, directive.start, frame.current))
        test = ALWAYS
        if directive.word != "else":
            test = self.test(directive)
            view.tests.append((directive, test))
        if len(frame.taken) > _MOST_ARMS:
            raise _TooMuchError(f"a conditional has more than {_MOST_ARMS} arms")
        others = [negation(taken) for taken in frame.taken]
        frame.taken.append(test)
        frame.current = conjunction((frame.outer, *others, test))
        frame.body = directive.end

    def plain(self, view: View, directive: Directive, condition: Condition, reached: Condition) -> None:
        """A directive that opens and closes no arm."""
        whole = conjunction((reached, condition))
        if directive.word == "define":
            self.define(directive.argument, whole)
        elif directive.word == "undef":
            name = _DEFINE.match(directive.argument)
            if name and whole == ALWAYS:
                self.definitions[name.group(1).decode()] = []
        elif directive.word == "pragma" and directive.argument == b"once":
            self.once.add(view.path)
        elif directive.word in ("include", "import", "include_next"):
            self.include(view, directive, condition, whole)

    def test(self, directive: Directive) -> Condition:
        if directive.word not in ("if", "elif"):
            name = _DEFINE.match(directive.argument)
            text = directive.argument.decode("utf-8", "replace") or "<empty>"
            condition = self.defined(name.group(1).decode()) if name else Atom(text)
            return negation(condition) if directive.word.endswith("ndef") else condition
        return parse_condition(directive.argument, self)

    def define(self, argument: bytes, condition: Condition) -> None:
        match = _DEFINE.match(argument)
        if not match:
            return
        name = match.group(1).decode()
        value = None if match.group(2) else constant(argument[match.end() :])
        known = self.definitions.get(name)
        if condition == ALWAYS or condition == negation(Atom(name)):
            # `#ifndef X / #define X 1 / #endif`: defined from here on, but perhaps by the build, with another value.
            self.definitions[name] = [(ALWAYS, value if condition == ALWAYS else None)]
        elif known is None and name in atoms(condition):
            # The same under a condition: where that does not hold, the build may define it all the same.
            self.definitions[name] = [(Atom(name), None), (condition, value)]
        else:
            self.definitions[name] = [*(known or []), (condition, value)]

    # -- included files

    def include(self, view: View, directive: Directive, condition: Condition, whole: Condition) -> None:
        match = _INCLUDE.match(directive.argument)
        name = (match.group(1) or match.group(2)).decode("utf-8", "surrogateescape") if match else ""
        angled = match is not None and match.group(1) is None
        path = None
        if name and whole != NEVER and directive.word != "include_next":
            path = self.files.resolve(view.path, name, angled)
        if path is None and self.keep_known and self.files.known(name):
            return
        included = self.included(path, view, condition, whole) if path is not None else None
        if path is None and name and whole != NEVER and not self.files.known(name):
            self.result.missing.append((name, view.path, directive.start))
        if included is not None and directive.word == "import":
            self.once.add(included.path)
        view.targets.append((directive, included.alias if included is not None else None))

    def included(self, path: str, includer: View, condition: Condition, whole: Condition) -> View | None:
        """The view of an included file; None for one that cannot be read, includes itself, or is one too many."""
        if path in self.open:
            return None
        known = self.entered.setdefault(path, [])
        if known and path in self.once:
            known[0].sites.append((includer, condition))
            return known[0]
        data = self.files.load(path)
        if data is None:
            return None
        self.includes += 1
        if self.includes > MOST_INCLUDES:
            self.result.truncated = True
            return None
        view = View(path, self.files.alias(path, len(known)), data)
        place = len(self.result.views)
        self.result.views.append(view)
        self.walk(view, whole)
        same = next((each for each in known if each.tests == view.tests and each.targets == view.targets), None)
        if same is None:
            known.append(view)
            same = view
        else:
            del self.result.views[place]
        same.sites.append((includer, condition))
        return same


def _guard(found: list[Directive]) -> int | None:
    """The index of the conditional that is this file's include guard, if it has one."""
    first = next((index for index, each in enumerate(found) if each.word in ("if", "ifdef", "ifndef")), None)
    if first is None or first + 1 >= len(found) or found[first + 1].word != "define" or found[-1].word != "endif":
        return None
    opening, definition = found[first], found[first + 1]
    test = _DEFINE.fullmatch(opening.argument) if opening.word == "ifndef" else None
    test = _NOT_DEFINED.fullmatch(opening.argument) if opening.word == "if" else test
    if test is None or test.group(1) != definition.argument:
        return None
    depth = 0
    for each in found[first:-1]:
        depth += each.word in ("if", "ifdef", "ifndef")
        depth -= each.word == "endif"
        if depth == 0 or (depth == 1 and each.word.startswith("el")):
            return None
    return first


def arms_of(views: list[View]) -> Iterator[tuple[View, Arm]]:
    """Every arm of every file, with its whole condition, in reading order."""
    for view in views:
        for arm in view.arms:
            yield view, Arm(arm.start, arm.end, conjunction((view.reached, arm.condition)))
