"""What a C++ source defines and needs, read from its tokens: enough to say whether a linker takes it from an archive.

A compiler would know exactly; this reads the declarations at namespace scope and the names in function bodies, of the
source and of the project headers that it includes. What is not certain is said to be possible (`mentions` and `weak` of
`SourceSymbols`), so that nothing is called unneeded that something may need. What GCC 12 emits decides: an unused
`static` function or pointer refers to what it names at -O0 only, an unused inline function or inline pointer never, an
inline or static variable whose initialiser calls something always.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise

from op_lint.build.files import BuildFiles
from op_lint.build.model import SourceSymbols
from op_lint.workers import Failure, Task, processors, read_in_workers

_LARGEST = 1024 * 1024
_MOST_HEADERS = 200
_FILES_PER_WORKER = 50
"""Fewer files than this for each worker are read in the time that starting it takes."""

_LEXEMES = re.compile(
    r"""
    (?:
    (?P<name> (?!R")[A-Za-z_]\w* )
  | (?P<mark> :: | -> | [()\[\]{};,:&<>=*!?+|^%~-] )
  | (?P<comment> //[^\n]*(?:\\\n[^\n]*)* | /\*.*?(?:\*/|\Z) )
  | (?P<raw> R"(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)" )
  | (?P<text> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
  | (?P<directive> ^[ \t]*\#[^\n]*(?:\\\n[^\n]*)* )
  | (?P<number> \.?\d(?:[\w.']|[eEpP][+-])* )
  | (?P<other> R | [^\s\w] )
    )
    [ \t]*(?:\n[ \t]*(?![ \t#]))*
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)[ \t]*(.*)", re.DOTALL)
_INCLUDE = re.compile(r'["<]([^">\n]+)[">]')
_MODULE = re.compile(
    r"\b(?:PyInit_\w*|PyMODINIT_FUNC|PYBIND11_MODULE|PYBIND11_EMBEDDED_MODULE|PYBIND11_PLUGIN|NB_MODULE|"
    r"BOOST_PYTHON_MODULE|PyModule_Create2?|PyModuleDef_Init)\b"
)
_MODULE_WORDS = (b"PyInit_", b"PyMODINIT_FUNC", b"PYBIND11_", b"NB_MODULE", b"BOOST_PYTHON_MODULE", b"PyModule")
"""One of them is in whatever `_MODULE` matches."""
_MAY_BE_MODULE = re.compile(
    r"^[ \t]*[A-Z][A-Z0-9_]*(?:MODULE|EXTENSION|PYINIT|PY_INIT)[A-Z0-9_]*[ \t]*\(", re.MULTILINE
)
_WORDS = frozenset({
    "if", "for", "while", "switch", "return", "sizeof", "catch", "new", "delete", "throw", "else", "do", "case",
    "auto", "const", "static", "inline", "constexpr", "extern", "void", "int", "bool", "char", "float", "double",
    "long", "short", "unsigned", "signed", "struct", "class", "enum", "union", "typename", "template", "using",
    "namespace", "typedef", "public", "private", "protected", "virtual", "override", "final", "noexcept",
    "decltype", "operator", "this", "true", "false", "nullptr", "static_cast", "reinterpret_cast", "const_cast",
    "dynamic_cast", "alignas", "volatile", "mutable", "explicit", "friend", "default", "break", "continue", "try",
    "goto", "co_await", "co_return", "thread_local",
})  # fmt: skip
_TYPES = frozenset({"struct", "class", "union", "enum"})
_INTERNAL = frozenset({"static", "inline", "constexpr", "consteval", "template", "__forceinline__", "C10_UNUSED"})


class _Token(str):
    """A token; `sure` says that no `#if` decides whether it is there, `is_name` that it is a name and no keyword."""

    __slots__ = ("is_name", "sure")
    is_name: bool
    sure: bool

    @classmethod
    def of(cls, text: str, *, sure: bool) -> _Token:
        """The token that is written as `text`."""
        token = cls(text)
        token.sure = sure
        token.is_name = _is_name(text)
        return token


@dataclass
class _Unit:
    """What the tokens of one source, or of a header, say."""

    strong: set[str] = field(default_factory=set)
    weak: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    roots: list[_Body] = field(default_factory=list)
    possible_roots: list[_Body] = field(default_factory=list)
    bodies: dict[str, list[_Body]] = field(default_factory=dict)
    macros: dict[str, frozenset[str]] = field(default_factory=dict)
    includes: list[str] = field(default_factory=list)
    own: set[str] = field(default_factory=set)
    """Names with internal linkage, which hide those of other objects."""
    module_init: bool | None = False
    """Whether it makes a Python module, as far as its own text says; None where a macro of its own may."""


@dataclass(frozen=True)
class _Body:
    """Names in a function body or an initialiser: those that are called or whose address is taken, and all."""

    used: frozenset[str]
    all: frozenset[str]


KnownUnits = dict[str, tuple[bytes, _Unit]]
"""What the tokens of files say, by path, with the digest of the content that they were read from."""


class SymbolReader:
    """Reads the symbols of sources; headers are read once. `headers` finds the file that an `#include` means.

    `known` is what was read before, and takes up what is read.
    """

    def __init__(
        self, files: BuildFiles, headers: Callable[[str, str], str | None], known: KnownUnits | None = None
    ) -> None:
        self._files = files
        self._headers = headers
        self._known = {} if known is None else known
        self._units: dict[str, _Unit | None] = {}

    def read_ahead(self, paths: Iterable[str], jobs: int | None) -> None:
        """Read the texts at `paths` in `jobs` processes (None: one a processor), where there are enough of them."""
        tasks = list(self._unknown(paths))
        wanted = min(processors() if jobs is None else jobs, len(tasks) // _FILES_PER_WORKER)
        if wanted < 2:
            return  # `read` does it as well
        digests = {path: _digest(data or b"") for path, data in tasks}
        for path, unit in read_in_workers(_read_text, tasks, _Unit, jobs=wanted):
            if isinstance(unit, Failure):
                self._units[path] = None  # it cost a worker, and here it would cost the run
            else:
                self._known[path] = (digests[path], unit)

    def _unknown(self, paths: Iterable[str]) -> Iterator[Task]:
        """Those of the files whose text has not been read before as it is now, with it."""
        for path in paths:
            data = self._files.read(self._files.absolute(path))
            known = self._known.get(path)
            if data is not None and len(data) <= _LARGEST and (known is None or known[0] != _digest(data)):
                yield path, data

    def read(self, path: str) -> SourceSymbols:
        """The symbols of the source at `path`, relative to the root."""
        unit = self._unit(path)
        if unit is None:
            return SourceSymbols(path, opaque=True)
        units = [unit, *self._included(path, unit)]
        used, mentioned = _reached(units)
        own = set().union(*(each.own for each in units))
        declared = set().union(*(each.declared for each in units))
        needs = (used & declared) - unit.strong - own
        weak = unit.weak.union(*(each.weak | each.strong for each in units[1:])) - unit.strong
        defines = unit.strong - own
        return SourceSymbols(
            path,
            frozenset(defines),
            frozenset(weak),
            frozenset(needs),
            frozenset(mentioned - needs - unit.strong),
            self._module_init(path, units),
        )

    def _included(self, path: str, unit: _Unit) -> list[_Unit]:
        found: list[_Unit] = []
        pending = [(path, name) for name in unit.includes]
        seen: set[str] = set()
        while pending and len(seen) < _MOST_HEADERS:
            origin, name = pending.pop(0)
            header = self._headers(origin, name)
            if header is None or header in seen:
                continue
            seen.add(header)
            inner = self._unit(header)
            if inner is not None:
                found.append(inner)
                pending += [(header, each) for each in inner.includes]
        return found

    def _unit(self, path: str) -> _Unit | None:
        if path not in self._units:
            data = self._files.read(self._files.absolute(path))
            self._units[path] = None if data is None or len(data) > _LARGEST else self._parsed(path, data)
        return self._units[path]

    def _parsed(self, path: str, data: bytes) -> _Unit:
        digest = _digest(data)
        known = self._known.get(path)
        if known is None or known[0] != digest:
            known = self._known[path] = (digest, _read_text(path, data))
        return known[1]

    def _module_init(self, path: str, units: Sequence[_Unit]) -> bool | None:
        """Whether a source makes a Python module: by itself, or by a macro of a project header."""
        own = units[0].module_init
        made = {name for unit in units for name, body in unit.macros.items() if any(map(_MODULE.fullmatch, body))}
        if own or not made:
            return own
        data = self._files.read(self._files.absolute(path)) or b""
        text = _without_comments(data.decode("utf-8", "replace"))
        return True if any(re.search(rf"\b{re.escape(name)}\b", text) for name in made) else own


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _read_text(path: str, data: bytes | None) -> _Unit:  # noqa: ARG001 -- what a worker is given
    return _parse((data or b"").decode("utf-8", "replace"))


def mentions_module(data: bytes) -> bool:
    """Whether a file has a word of those by which Python modules are made."""
    return any(word in data for word in _MODULE_WORDS)


def _makes_module(text: str) -> bool | None:
    """Whether a text makes a Python module; None where a macro in it may."""
    if _MODULE.search(text) is None and _MAY_BE_MODULE.search(text) is None:
        return False  # comments are taken out only where they matter
    code = _without_comments(text)
    if _MODULE.search(code):
        return True
    return None if _MAY_BE_MODULE.search(code) else False


def _without_comments(text: str) -> str:
    return _LEXEMES.sub(_without_comment, text)


def _without_comment(found: re.Match[str]) -> str:
    whole = found.group()
    return " " + whole[len(found["comment"]) :] if found.lastgroup == "comment" else whole


def _reached(units: Sequence[_Unit]) -> tuple[set[str], set[str]]:
    """The names that the object of a source certainly uses, and all that it may mention."""
    used: set[str] = set()
    mentioned: set[str] = set()
    _follow(units, [body for unit in units for body in unit.roots], used, mentioned)
    certain = set(used)
    _follow(units, [body for unit in units for body in unit.possible_roots], used, mentioned)
    return certain, mentioned | used


def _follow(units: Sequence[_Unit], bodies: list[_Body], used: set[str], mentioned: set[str]) -> None:
    """Add the names in `bodies`, and in the functions and macros of these units that they name."""
    pending = list(bodies)
    seen: set[str] = set()
    while pending:
        body = pending.pop()
        used |= body.used
        mentioned |= body.all
        for name in body.all - seen:
            seen.add(name)
            for unit in units:
                pending += unit.bodies.get(name, ())
                if name in unit.macros:
                    pending.append(_Body(frozenset(), unit.macros[name]))


# Tokens.


def _parse(text: str) -> _Unit:
    unit = _Unit(module_init=_makes_module(text))
    tokens = _without_attributes(_tokens(text, unit))
    _Parser(tokens, unit).scope(0, internal=False)
    return unit


def _tokens(text: str, unit: _Unit) -> list[_Token]:
    """The tokens of a file, its `#include`s and macros put into `unit`."""
    tokens: list[_Token] = []
    unsure = 0
    nested: list[int] = []
    sure: dict[str, _Token] = {}  # a file has thousands of tokens and some hundreds of words
    possible: dict[str, _Token] = {}
    for found in _LEXEMES.finditer(text):
        kind = found.lastgroup or ""
        if kind == "comment":
            continue
        if kind == "directive":
            unsure += _directive(found["directive"], unit, nested)
            continue
        written = _STANDS_FOR.get(kind) or found[kind]
        made = possible if unsure else sure
        token = made.get(written)
        if token is None:
            token = made[written] = _Token.of(written, sure=unsure == 0)
        tokens.append(token)
    return tokens


_STANDS_FOR = {"text": '""', "raw": '""', "number": "0"}
"""What a literal is among the tokens: its value does not matter."""

_ATTRIBUTES = frozenset({"__attribute__", "__declspec", "alignas", "noexcept"})


def _without_attributes(tokens: list[_Token]) -> list[_Token]:
    if _ATTRIBUTES.isdisjoint(tokens) and not any(one == other == "[" for one, other in pairwise(tokens)):
        return tokens
    kept: list[_Token] = []
    position = 0
    while position < len(tokens):
        if tokens[position] != "[" and tokens[position] not in _ATTRIBUTES:
            kept.append(tokens[position])
            position += 1
            continue
        brackets = tokens[position : position + 2] == ["[", "["]
        called = tokens[position] in _ATTRIBUTES and tokens[position + 1 : position + 2] == ["("]
        if not brackets and not called:
            kept.append(tokens[position])
            position += 1
            continue
        opening, closing = ("[", "]") if brackets else ("(", ")")
        position += 0 if brackets else 1
        depth = 0
        while position < len(tokens):
            depth += (tokens[position] == opening) - (tokens[position] == closing)
            position += 1
            if depth == 0:
                break
    return kept


def _directive(line: str, unit: _Unit, nested: list[int]) -> int:
    """Take in a directive; returns by how much the depth of conditions changes that are not sure."""
    found = _DIRECTIVE.match(line)
    word, rest = (found[1], found[2].strip()) if found else ("", "")
    if word == "include":
        named = _INCLUDE.match(rest)
        unit.includes += [named[1]] if named else []
    elif word == "define":
        name, _, body = rest.partition(" ")
        unit.macros[re.split(r"\W", name)[0]] = frozenset(re.findall(r"[A-Za-z_]\w*", f"{name} {body}"))
    elif word in ("if", "ifdef", "ifndef"):
        sure = rest.startswith("__cplusplus") or (word == "ifndef" and re.search(r"(_H|_HPP|_HH|_CUH|_H_|_)$", rest))
        nested.append(0 if sure else 1)
        return nested[-1]
    elif word == "endif" and nested:
        return -nested.pop()
    return 0


class _Parser:
    """Declarations at namespace scope."""

    def __init__(self, tokens: list[_Token], unit: _Unit) -> None:
        self._tokens = tokens
        self._unit = unit

    def scope(self, position: int, *, internal: bool) -> int:
        """Read declarations up to the brace that closes the scope; returns the position after it."""
        tokens = self._tokens
        pending: list[tuple[int, bool]] = []
        while position < len(tokens):
            token = tokens[position]
            if token == "}":
                if not pending:
                    return position + 1
                internal = pending.pop()[1]
                position += 1
            elif opened := self._opens(position):
                pending.append((position, internal))
                internal = internal or opened[1]
                position = opened[0]
            elif token == ";":
                position += 1
            else:
                position = self._declaration(position, internal)
        return position

    def _opens(self, position: int) -> tuple[int, bool] | None:
        """The position inside the namespace or linkage block that starts here, and whether it has no name."""
        tokens = self._tokens
        start = position
        if tokens[position] == "inline":
            position += 1
        if tokens[position : position + 1] == ["namespace"]:
            end = position + 1
            while end < len(tokens) and tokens[end] not in ("{", ";", "="):
                end += 1
            if tokens[end : end + 1] == ["{"]:
                return end + 1, end == position + 1
        if tokens[start] == "extern" and tokens[start + 1 : start + 3] == ['""', "{"]:
            return start + 3, False
        return None

    def _declaration(self, position: int, internal: bool) -> int:
        """One declaration; returns the position after it."""
        tokens = self._tokens
        start = position
        called = self._bare_call(start)
        if called is not None:
            self._call_like(tokens[start:called], 1, tokens[start].sure, internal)
            return called
        depth = 0
        parenthesis: int | None = None
        equals: int | None = None
        while position < len(tokens):
            token = tokens[position]
            if token in ("(", "["):
                if parenthesis is None and token == "(" and equals is None:
                    parenthesis = position
                depth += 1
            elif token in (")", "]"):
                depth -= 1
            elif token == "=" and depth == 0 and equals is None:
                equals = position
            elif depth <= 0 and token == ";":
                self._statement(start, position, parenthesis, equals, internal)
                return position + 1
            elif depth <= 0 and token == "}":
                return position
            elif token == "{" and depth <= 0:
                end = self._matching(position)
                if self._is_type(start, position):
                    self._type(start, position, end)
                    start = position = end  # what follows are the variables that are declared with it
                    parenthesis = equals = None
                    continue
                if parenthesis is not None and equals is None and not self._is_initialiser(position):
                    self._function(start, parenthesis, position, end, internal)
                    return end
                position = end
                continue
            position += 1
        return position

    def _bare_call(self, start: int) -> int | None:
        """The position after a macro's call that has no semicolon (`DEFINE(f)`, and then the next declaration)."""
        tokens = self._tokens
        if not _is_name(tokens[start]) or tokens[start] in _BEFORE_TYPE or tokens[start + 1 : start + 2] != ["("]:
            return None
        depth, end = 1, start + 2
        while end < len(tokens) and depth:
            depth += (tokens[end] in _OPENING) - (tokens[end] in _CLOSING)
            end += 1
        if depth:
            return None
        return end if end == len(tokens) or tokens[end] == "}" or _starts_declaration(tokens[end]) else None

    def _is_initialiser(self, position: int) -> bool:
        """Whether a brace belongs to a member initialiser (`: member{0}`) and not to the body."""
        before = self._tokens[position - 1] if position else ""
        return bool(before) and (before[0].isalpha() or before[0] == "_") and before not in _AFTER_PARAMETERS

    def _matching(self, position: int) -> int:
        """The position after the brace that closes the one at `position`."""
        depth = 0
        for index in range(position, len(self._tokens)):
            token = self._tokens[index]
            depth += (token == "{") - (token == "}")
            if depth == 0:
                return index + 1
        return len(self._tokens)

    def _is_type(self, start: int, brace: int) -> bool:
        words = self._tokens[start:brace]
        return not _TYPES.isdisjoint(words) and "(" not in words[:6]

    def _type(self, start: int, brace: int, end: int) -> None:
        """A class: what its members mention counts where the class is named."""
        words = self._tokens[start:brace]
        keyword = next(at for at, word in enumerate(words) if word in _TYPES)
        body = _body(self._tokens[brace:end], sure=False)
        for name in [word for word in words[keyword + 1 :] if word[0].isalpha() and word not in _WORDS][:3]:
            self._unit.bodies.setdefault(str(name), []).append(body)
            self._unit.weak.add(str(name))

    def _name_before(self, parenthesis: int) -> tuple[str, str]:
        """The name of the function whose parameters start here, and the name before its `::`."""
        tokens = self._tokens
        name = str(tokens[parenthesis - 1]) if parenthesis else ""
        qualified = parenthesis >= 3 and tokens[parenthesis - 2] == "::"
        return name, str(tokens[parenthesis - 3]) if qualified else ""

    def _function(self, start: int, parenthesis: int, brace: int, end: int, internal: bool) -> None:
        words = self._tokens[start:parenthesis]
        name, owner = self._name_before(parenthesis)
        sure = self._tokens[brace].sure
        self._unit.declared |= _declared_inside(self._tokens[brace:end])
        body = _body(self._tokens[brace:end], sure=sure)
        if len(words) == 1:  # a macro with a block, such as TORCH_LIBRARY(ns, m) { ... }: it registers, so it is kept
            body = _body(self._tokens[start:end], sure=sure)
            self._unit.roots.append(body)
            return
        if not name.isidentifier() or name in _WORDS:
            self._unit.possible_roots.append(body)
            return
        self._unit.weak.update({owner} - {""})
        local = internal or not _INTERNAL.isdisjoint(words)
        if not local and sure:
            self._unit.strong.add(name)
            self._unit.roots.append(body)
        elif internal or "static" in words:
            self._unit.own.add(name)
            self._unit.possible_roots.append(body)
        elif not sure and not local:
            self._unit.weak.add(name)
            self._unit.possible_roots.append(body)
        else:
            self._unit.weak.add(name)
        self._unit.bodies.setdefault(name, []).append(body)

    def _statement(self, start: int, end: int, parenthesis: int | None, equals: int | None, internal: bool) -> None:
        """A declaration that ends with a semicolon: of a function, of a variable, or a macro that stands for one."""
        words = self._tokens[start:end]
        if not words or words[0] in ("using", "typedef", "static_assert", "friend", "template"):
            return
        sure = words[0].sure
        if equals is None and parenthesis is not None:
            self._call_like(words, parenthesis - start, sure, internal)
            return
        initial = self._tokens[equals + 1 : end] if equals is not None else self._braced(words)
        names = [word for word in (self._tokens[start:equals] if equals is not None else words) if _is_name(word)]
        name = str(names[-1]) if names else ""
        if words[0] == "extern" and equals is None:
            self._unit.declared.add(name)
            return
        local = internal or not _INTERNAL.isdisjoint(words[: len(words) - len(initial)])
        hidden = internal or "static" in words or "constexpr" in words
        if name and not local and sure:
            self._unit.strong.add(name)
        elif name and hidden:
            self._unit.own.add(name)
        elif name:
            self._unit.weak.add(name)
        body = _body(initial, sure=sure)
        dynamic = "(" in initial
        if sure and (dynamic or not local) and "constexpr" not in words:
            self._unit.roots.append(body)
        elif "static" in words or internal or not sure:
            self._unit.possible_roots.append(body)
        self._unit.bodies.setdefault(name, []).append(body)

    def _braced(self, words: Sequence[_Token]) -> Sequence[_Token]:
        return words[words.index("{") :] if "{" in words else ()

    def _call_like(self, words: list[_Token], parenthesis: int, sure: bool, internal: bool) -> None:
        """`int f(int);`, `Registrar r(&f);` or `REGISTER(f);`."""
        name = str(words[parenthesis - 1]) if parenthesis else ""
        inside = words[parenthesis:]
        body = _body(inside, sure=sure)
        if parenthesis <= 1:
            macro = _body(words, sure=False)
            self._unit.possible_roots.append(macro)
            self._unit.weak |= macro.all
        elif _takes_address(inside) and name.isidentifier():
            self._unit.roots.append(body)
            (self._unit.own if internal or "static" in words else self._unit.weak).add(name)
        elif name.isidentifier() and name not in _WORDS:
            self._unit.declared.add(name)
            self._unit.possible_roots.append(_Body(frozenset(), frozenset() if sure else body.all))


def _declared_inside(tokens: Sequence[str]) -> set[str]:
    """The names of `extern` declarations in a function body."""
    found: set[str] = set()
    if "extern" not in tokens:
        return found
    for at, token in enumerate(tokens):
        if token == "extern":
            ends = (each for each in range(at + 1, len(tokens)) if tokens[each] in (";", "("))
            end = next(ends, None)
            if end is not None and _is_name(tokens[end - 1]):
                found.add(str(tokens[end - 1]))
    return found


_AFTER_PARAMETERS = frozenset({"const", "noexcept", "override", "final", "try", "mutable", "volatile"})


_BEFORE_TYPE = frozenset({"__attribute__", "__declspec", "__launch_bounds__"})
"""What looks like a call, and belongs to the declaration behind it."""

_OPENING, _CLOSING = frozenset("(["), frozenset(")]")


def _starts_declaration(token: str) -> bool:
    return (token[0].isalpha() or token[0] == "_") and token not in _AFTER_PARAMETERS


def _is_name(token: str) -> bool:
    return (token[0].isalpha() or token[0] == "_") and token not in _WORDS


def _takes_address(tokens: Sequence[str]) -> bool:
    """Whether `&name` stands as an argument."""
    return any(
        token == "&" and before in ("(", ",") and _is_name(after)
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


def _body(tokens: Sequence[_Token], *, sure: bool) -> _Body:
    """The names among the tokens of a body: used are those that are called, or whose address is taken."""
    used: set[str] = set()
    names: set[str] = set()
    for at, token in enumerate(tokens):
        if not token.is_name:
            continue
        names.add(str(token))
        before = tokens[at - 1] if at else ""
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        member = before in (".", "->")
        alone = before in ("", "&", "=", "return", ",", "(") and after in (")", ",", ";", "}", "")
        taken = alone or after == "("
        if taken and not member and token.sure:
            used.add(str(token))
    return _Body(frozenset(used) if sure else frozenset(), frozenset(names))


def local_headers(known: Iterable[str]) -> Callable[[str, str], str | None]:
    """Finds headers among the project's files: beside the including file, else by the longest matching end."""
    files = frozenset(known)
    by_name: dict[str, list[str]] = {}
    for path in sorted(files):
        by_name.setdefault(posixpath.basename(path), []).append(path)

    def find(origin: str, name: str) -> str | None:
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(origin), name))
        if beside in files:
            return beside
        matching = (path for path in by_name.get(posixpath.basename(name), ()) if _ends_with(path, name))
        return next(matching, None)

    return find


def _ends_with(path: str, name: str) -> bool:
    return path == name or path.endswith("/" + name)


def read_modules(files: BuildFiles, paths: Iterable[str]) -> Iterator[SourceSymbols]:
    """Of the sources at `paths`, which include no file that `mentions_module`, whether each makes a Python module."""
    for path in paths:
        data = files.read(files.absolute(path))
        known = data is not None and len(data) <= _LARGEST
        made = _makes_module((data or b"").decode("utf-8", "replace")) if known else None
        yield SourceSymbols(path, module_init=made, opaque=True)


def read_symbols(
    files: BuildFiles,
    paths: Iterable[str],
    headers: Callable[[str, str], str | None],
    known: KnownUnits | None = None,
    jobs: int | None = 0,
) -> Iterator[SourceSymbols]:
    """The symbols of the sources at `paths`, in order. `known` and `jobs` are as for `SymbolReader`."""
    reader = SymbolReader(files, headers, known)
    paths = tuple(paths)
    reader.read_ahead(paths, jobs)
    for path in paths:
        yield reader.read(path)
