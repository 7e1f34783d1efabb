"""What can be said of a Python file without parsing it: whether it is worth parsing, and what it imports."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from op_lint.facts import FileFacts, Language, Place, PythonFacts, PythonImport, RunTime
from op_lint.python.modules import module_name, relative_module
from op_lint.text import SourceText

_METHODS = (
    rb"_impl_with_aoti_compile|_register_fake|define|fallback|impl|impl_abstract|impl_backward|impl_factory|py_impl|"
    rb"register_autocast|register_autograd|register_fake|register_kernel|register_torch_dispatch|register_vmap"
)

_MARKS = tuple(
    b"""
    .define( .impl( Library( _dispatch_library cpp_extension custom_op getattr(torch impl_abstract infer_schema
    load_library py_impl register_autocast register( register_autograd register_fake register_kernel register_meta
    register_vmap torch._custom_op torch._library torch.classes torch.library torch.ops triton_op
    """.split()
)
"""What a file that registers, loads or calls operators has in it, in some spelling."""

_TABLE_MARKS = (b'"CPU":', b'"CUDA":', b'"Meta":')
"""Tables of kernels by dispatch key, which another file may register."""

_WORD = frozenset(b"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""The bytes of identifiers."""

_LONGEST_NAME = 200
"""Bytes of the longest namespace."""

_CONSTANT = re.compile(rb"^[A-Z][A-Z_]+[ \t]*=[ \t]*(?:['\"]\w+['\"]|[\[({][ \t]*['\"])", re.MULTILINE)
"""A name that others may build operators' names of; looked for in small files, where such names are kept."""

_SMALL_FILE = 4000

_OTHER_MARKS = (
    (b"register_", re.compile(rb"\bregister_\w*op\b")),
    (b"Library", re.compile(rb"Library\w*\(")),
    (
        b"from torch import",
        re.compile(rb"\bfrom torch import[^\n]*(?:\bops\b|\blibrary\b|_custom_op|_library|\($)", re.M),
    ),
)
"""Rarer spellings: a word that must be there, and what must stand where it is."""

_INTEREST = (
    *(
        (word, re.compile(re.escape(word)))
        for word in (
            b"_dispatch_library",
            b"cpp_extension",
            b"custom_op",
            b"getattr(torch",
            b"import_module",
            b"infer_schema",
            b"load_library",
            b"register_op_impl",
        )
    ),
    *(
        (word, re.compile(rb"\.(?:" + _METHODS + rb")\b"))
        for word in (b"._impl_with", b"._register_fake", b".define", b".fallback", b".impl", b".py_impl", b".register_")
    ),
    (b"Library", re.compile(rb"Library\w*\(")),
    (b"torch", re.compile(rb"torch\s*\.\s*(?:ops|library|classes|_library|_custom_op)\b")),
)
"""What marks the lines of a file that are worth reading, each with a word that it starts with."""

_IMPORTING = re.compile(rb"(?:from|import)[ \t]")

_IMPORT = re.compile(
    rb"(?P<indent>[ \t]*)(?:"
    rb"from[ \t]+(?P<dots>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\r\n]*)"
    rb"|import[ \t]+(?P<modules>[^\r\n]*))"
)
"""An import, from the start of its line."""

_CATCHING = re.compile(rb"(?:try|with)\b")
"""The first line of a block that may catch exceptions."""

_ALIAS = re.compile(r"([\w.]+|\*)(?:\s+as\s+(\w+))?")


def is_candidate(data: bytes) -> bool:
    """Whether a file may register, load or call operators, or have what others need for it. Cheap.

    It may say yes of files that do nothing of the kind. It says no of a file that only calls functions of other files,
    by names and with arguments that are nothing like those of operators.
    """
    if any(mark in data for mark in _TABLE_MARKS) or any(_qualified(data)):
        return True
    if len(data) < _SMALL_FILE and _CONSTANT.search(data):
        return True
    if b"torch" not in data and b"custom_op" not in data and b"Library" not in data:
        return False
    return any(mark in data for mark in _MARKS) or any(
        pattern.match(data, at) for word, pattern in _OTHER_MARKS for at in _occurrences(data, word)
    )


def _occurrences(data: bytes, word: bytes) -> Iterator[int]:
    """The offsets of a word. (Looking for a fixed word is ten times faster than for a pattern.)"""
    at = data.find(word)
    while at >= 0:
        yield at
        at = data.find(word, at + 1)


def _qualified(data: bytes) -> Iterator[int]:
    """Where there is `::` in what looks like the full name of an operator, `"namespace::name"`."""
    for at in _occurrences(data, b"::"):
        before = data[max(at - _LONGEST_NAME, 0) : at]
        quote = before.rstrip(bytes(_WORD))
        if len(quote) < len(before) and quote.endswith((b"'", b'"')) and _is_word(data, at + 2):
            yield at


def _is_word(data: bytes, at: int) -> bool:
    """Whether the byte at an offset, if there is one, is part of an identifier."""
    return 0 <= at < len(data) and data[at] in _WORD


class HotLines:
    """The lines of a file in which something of interest stands. `text` is the file."""

    def __init__(self, text: SourceText) -> None:
        self._text = text
        self._followed: set[str] = set()
        self._lines = sorted({text.line_of(offset) for offset in _of_interest(text.data)})

    def within(self, node: ast.stmt | ast.expr) -> bool:
        """Whether something stands in the lines of a node."""
        return self.between(node.lineno, node.end_lineno or node.lineno)

    def between(self, first: int, last: int) -> bool:
        """Whether something stands in the lines from `first` to `last`."""
        index = bisect_left(self._lines, first)
        return index < len(self._lines) and self._lines[index] <= last

    def follow(self, names: Iterable[str]) -> None:
        """These names are of interest, too."""
        new = [name for name in names if name not in self._followed]
        if not new:
            return
        self._followed.update(new)
        lines = {self._text.line_of(offset) for name in new for offset in _mentions(self._text.data, name.encode())}
        self._lines = sorted(lines.union(self._lines))


def _of_interest(data: bytes) -> Iterator[int]:
    """The offsets at which something ends that may be a registration, a use or a load."""
    yield from _qualified(data)
    yield from _indented_imports(data)
    for word, pattern in _INTEREST:
        for at in _occurrences(data, word):
            found = pattern.match(data, at)
            if found is not None:
                yield found.end() - 1


def _indented_imports(data: bytes) -> Iterator[int]:
    """The offsets of imports that are not at the start of a line."""
    for word in (b"from", b"import"):
        for at in _occurrences(data, word):
            before = data[data.rfind(b"\n", 0, at) + 1 : at]
            if before and not before.strip(b" \t") and _IMPORTING.match(data, at):
                yield at


def _mentions(data: bytes, name: bytes) -> Iterator[int]:
    """The offsets of an identifier."""
    for at in _occurrences(data, name):
        if not _is_word(data, at - 1) and not _is_word(data, at + len(name)):
            yield at


def scan_imports(path: str, data: bytes) -> FileFacts:
    """The imports of a file that is not worth parsing, and nothing else of it.

    Read by their form: an import in a string counts, so that what nothing imports here is imported by nothing. An
    indented one is taken to be in a function. Of what may be in a `try` or a string no failure is seen: `caught` has
    all exceptions.
    """
    lines = _LineCounter(data)
    imports = [
        replace(found, caught=("BaseException",)) if may_pass else found
        for match in _import_statements(data)
        for may_pass in (_may_pass(data, match),)
        for found in _imports(path, match, lines)
    ]
    return FileFacts(path, Language.PYTHON, python=PythonFacts(module_name(path), imports=tuple(imports)))


def _import_statements(data: bytes) -> Iterator[re.Match[bytes]]:
    """What looks like statements that import, in order."""
    end = 0
    for at in _occurrences(data, b"import"):
        start = data.rfind(b"\n", 0, at) + 1
        found = _IMPORT.match(data, start) if start >= end else None
        if found is not None:
            end = found.end()
            yield found


def _may_pass(data: bytes, match: re.Match[bytes]) -> bool:
    """Whether what looks like an import may be in a string, or in a block that catches its exception."""
    start, indent = match.start(), len(match["indent"])
    if any(data.count(quotes, 0, start) % 2 for quotes in (b'"""', b"'''")):
        return True
    while indent and start > 0:
        end = start - 1
        start = data.rfind(b"\n", 0, end) + 1
        line = data[start:end]
        code = line.lstrip()
        if code and not code.startswith(b"#") and len(line) - len(code) < indent:
            indent = len(line) - len(code)
            if _CATCHING.match(code):
                return True
    return False


class _LineCounter:
    """The lines of offsets that only grow."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._end = b"\n" if b"\n" in data else b"\r"
        self._line = 1
        self._offset = 0

    def line_of(self, offset: int) -> int:
        self._line += self._data.count(self._end, self._offset, offset)
        self._offset = offset
        return self._line


def _imports(path: str, match: re.Match[bytes], lines: _LineCounter) -> Iterable[PythonImport]:
    place = Place(path, lines.line_of(match.start()), match.start(), match.end())
    run = RunTime.FUNCTION if match["indent"] else RunTime.IMPORT
    if match["modules"] is not None:
        for name, alias in _ALIAS.findall(match["modules"].split(b"#")[0].decode("utf-8", "replace")):
            yield PythonImport(name, None, alias or name.partition(".")[0], place, run)
        return
    level = len(match["dots"])
    module = match["module"].decode("utf-8", "replace")
    if level:
        module = relative_module(path, level, module)
    names = re.sub(rb"#[^\r\n]*", b"", match["names"]).decode("utf-8", "replace")
    for name, alias in _ALIAS.findall(names):
        yield PythonImport(module, name, alias or name, place, run, level > 0)
