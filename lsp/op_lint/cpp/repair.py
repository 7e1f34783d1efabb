"""Declarations for what a registration names and no header that is here declares.

`m.impl("f", &f_cuda)` says all that op-lint needs, yet libclang drops the statement when nothing declares `f_cuda`,
and takes `Config` in `[](Tensor x, Config c) {...}` for `int`. So the errors inside registration code are read, what
they miss is declared in a header of ours, and the source is parsed again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from op_lint.cpp.clang import Diagnostic, TranslationUnit
from op_lint.cpp.preprocess import Preprocessed

REPAIR = "/_r"
"""The name of the header of repairs in every parse."""

UNKNOWN = "op_lint::unknown"
"""What a repair declares: the result type of every function, and what every type stands for."""

MOST_ROUNDS = 4

_UNDECLARED = re.compile(r"(?:use of undeclared identifier|unknown type name|no template named) '(\w+)'(?! in )")
_NO_MEMBER = re.compile(r"no (?:member|type|template) named '(\w+)' in (?:namespace )?'([^']+)'")
_SCOPE = re.compile(r"\w+(?:::\w+)*")
"""A scope that can be declared: not `(anonymous namespace)`, nothing with template arguments."""
_ARGUMENTS = rb"(?:\s*<[^<>;(){}]*>)?"
_NAME = re.compile(
    rb"(?:::\s*)?([A-Za-z_]\w*" + _ARGUMENTS + rb"(?:\s*::\s*(?:template\s+)?[A-Za-z_]\w*" + _ARGUMENTS + rb")*)"
)
"""A name as written, with the namespaces and classes before it and the template arguments in and after it."""
_CALL = re.compile(rb"\s*\(")
_BEFORE_TYPE = re.compile(
    rb"(?:->|(?<!\w)(?:const|typename)|(?<!\w)(?:optional|vector|ArrayRef|List|tuple|pair|array|\w+_ptr)\s*<[^<>(){};]*)\s*\Z"
)
_AFTER_TYPE = re.compile(rb"(?:\s*const\b)?(?:\s*[&*]+\s*[,)>]|[\s&*]*(?<![\w>])[A-Za-z_]\w*\s*[,)=;{])")
"""What stands before a name, or behind it, only where it names a type."""
_VALUE = re.compile(rb"\s*(?:-?\d|true\b|false\b)")
_TYPEDEF = re.compile(rb"(?<!\w)typedef\s[^;{}]*\Z")
_NEAR = 200
_PART = re.compile(rb"([A-Za-z_]\w*)\s*(<)?")


@dataclass
class Repairs:
    """What has been declared so far."""

    keys: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    declarations: dict[str, None] = field(default_factory=dict)

    def header(self) -> bytes:
        """The text of the header of repairs."""
        lines = ["namespace op_lint { struct unknown {}; }", *self.declarations]
        return "\n".join(lines).encode()

    def arguments(self) -> list[str]:
        """Compiler arguments that make unknown dispatch keys and tags known."""
        found = []
        if self.keys:
            found.append("-DOP_LINT_EXTRA_KEYS=" + ",".join(sorted(self.keys)))
        if self.tags:
            found.append("-DOP_LINT_EXTRA_TAGS=" + ",".join(sorted(self.tags)))
        return found

    def add(self, errors: Iterable[Diagnostic], tu: TranslationUnit, sources: Preprocessed) -> bool:
        """Declare what `errors` miss; whether anything is new."""
        before = (len(self.keys), len(self.tags), len(self.declarations))
        for error in errors:
            self._add(error, tu.message(error), sources)
        return before != (len(self.keys), len(self.tags), len(self.declarations))

    def _add(self, error: Diagnostic, message: str, sources: Preprocessed) -> None:
        undeclared = _UNDECLARED.search(message)
        if undeclared:
            self._declare([], undeclared.group(1), error, sources)
            return
        member = _NO_MEMBER.search(message)
        if not member:
            return
        name, scope = member.groups()
        if scope == "c10::DispatchKey":
            self.keys.add(name)
        elif scope == "at::Tag":
            self.tags.add(name)
        elif "namespace" in message and _SCOPE.fullmatch(scope):
            self._declare(scope.split("::"), name, error, sources)

    def _declare(self, scope: list[str], name: str, error: Diagnostic, sources: Preprocessed) -> None:
        written = _written(name, error, sources)
        *outer, (last, is_template) = _parts(written.group(1)) if written else [(name, False)]
        is_called = written is not None and _CALL.match(written.string, written.end()) is not None
        holders = [(part, False) for part in scope] + outer
        in_class = any(template for _, template in holders)
        if written is not None and _names_type(written):
            text = _type(last, written.group(1), is_template)
        else:
            text = _function(last, is_template, is_static=in_class, is_called=is_called)
        for part, template in reversed(holders):
            text = (
                f"template <class... T> struct {part} {{ {text} }};" if template else f"namespace {part} {{ {text} }}"
            )
        self.declarations[text] = None


def _names_type(written: re.Match[bytes]) -> bool:
    """Whether a name stands where only a type can."""
    before = written.string[max(0, written.start() - _NEAR) : written.start()]
    return _BEFORE_TYPE.search(before) is not None or _AFTER_TYPE.match(written.string, written.end()) is not None


def _type(name: str, written: bytes, is_template: bool) -> str:
    """The declaration of a type, which is an alias so that no class of this name is in the way later on."""
    if not is_template:
        return f"using {name} = {UNKNOWN};"
    arguments = written[written.rindex(b"<") + 1 : written.rindex(b">")].split(b",")
    parameters = ", ".join("auto" if _VALUE.match(argument) else "class" for argument in arguments)
    return f"template <{parameters}> using {name} = {UNKNOWN};"


def _function(name: str, is_template: bool, *, is_static: bool, is_called: bool) -> str:
    """The declaration of a function that takes anything; of two templates where `name<...>` is written.

    One that is called takes references, since a library cannot be copied; one whose address is taken must be no
    template.
    """
    static = "static " if is_static else ""
    if is_called and not is_template:
        return f"template <class... Types> {static}{UNKNOWN} {name}(Types&&...);"
    declaration = f"{static}{UNKNOWN} {name}(...);"
    if not is_template:
        return declaration
    return f"template <class... Types> {declaration} template <auto... values> {declaration}"


def _parts(written: bytes) -> list[tuple[str, bool]]:
    """The parts of a qualified name, each with whether template arguments follow."""
    parts: list[tuple[str, bool]] = []
    for piece in re.split(rb"\s*::\s*(?:template\s+)?", written):
        match = _PART.match(piece)
        if match is not None:
            parts.append((match.group(1).decode(), match.group(2) is not None))
    return parts


def _written(name: str, error: Diagnostic, sources: Preprocessed) -> re.Match[bytes] | None:
    """The name as it is written where the error points, qualified.

    For an error inside a macro libclang tells only where the macro is used: then the first place where a macro's body
    says the name stands for all.
    """
    view = sources.by_alias(error.spelled.file) if error.spelled.file else None
    here = _NAME.match(view.data, error.spelled.offset) if view else None
    if here is not None and re.match(re.escape(name.encode()) + rb"(?!\w)", here.group(1)):
        return here
    word = re.compile(rb"(?<![\w:.])(?<!->)" + re.escape(name.encode()) + rb"(?!\w)")
    for candidate in sources.views:
        for match in word.finditer(candidate.data):
            found = _NAME.match(candidate.data, match.start())
            if found is not None and _is_in_define(candidate.data, match.start()):
                return found
    return None


def _is_in_define(data: bytes, offset: int) -> bool:
    """Whether the logical line that holds `offset` is a `#define`."""
    start = offset
    while True:
        start = data.rfind(b"\n", 0, start)
        if start <= 0 or data[start - 1 : start] not in (b"\\", b"\r") or data[:start].rstrip(b"\r")[-1:] != b"\\":
            break
    return re.match(rb"\s*#\s*define\b", data[start + 1 : offset]) is not None


def in_zones(errors: Sequence[Diagnostic], zones: Sequence[tuple[str, int, int]]) -> list[Diagnostic]:
    """The errors inside registration code: in `zones` (file, start, end) by where a macro is used or written."""
    return [
        error
        for error in errors
        if any(
            point.file == file and start <= point.offset < end
            for point in (error.expanded, error.spelled)
            for file, start, end in zones
        )
    ]


def in_typedefs(errors: Sequence[Diagnostic], sources: Preprocessed) -> list[Diagnostic]:
    """The errors inside a `typedef`: its name stands for `int` then, wherever it is used."""
    data = {view.alias: view.data for view in sources.views}
    return [error for error in errors if _is_in_typedef(data.get(error.spelled.file or "", b""), error.spelled.offset)]


def _is_in_typedef(data: bytes, offset: int) -> bool:
    before = data[max(0, offset - _NEAR) : offset]
    return b"typedef" in before and _TYPEDEF.search(before) is not None
