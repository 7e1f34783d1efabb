"""A C++ (or Python) type where a schema type should be: read from the text, as far as it goes.

People write the kernel's types into the schema. This reader knows the names that occur in kernels, with or without
their namespaces, and gives the same trees as the reader of C++ sources; it does not resolve aliases of a project.
"""

from __future__ import annotations

import re

from op_lint.facts import CppType
from op_lint.schema.cpp_names import ALIASES, QUALIFIED, canonical

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|[0-9]+|::|&&|[&*<>,\[\].])")
_QUALIFIERS = frozenset(("const", "volatile", "typename", "struct", "class", "enum"))
_BUILTIN_WORDS = frozenset(
    ("void", "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double", "auto")
)
_BUILTIN_ORDER = ("unsigned", "signed", "short", "long", "char", "int", "float", "double")

_PYTHON_NAMES = {
    "Optional": "std::optional",
    "List": "std::vector",
    "Sequence": "std::vector",
    "list": "std::vector",
    "Tuple": "std::tuple",
    "str": "std::string",
    "dict": "c10::Dict",
    "dtype": "c10::ScalarType",
    "device": "c10::Device",
}
"""Names of Python's type hints, and of torch's Python API, and the C++ that means the same."""

_PYTHON_MODULES = frozenset(("", "torch", "typing"))

_DEEPEST = 50
"""Types nested more deeply are not read."""

_MOST_POINTERS = 2
"""More pointers to a type than that mean nothing more."""


def read_type(text: str, start: int = 0) -> tuple[CppType, int] | None:
    """The type that begins at character `start` (0-based), and the character after it; None where none does."""
    reader = _Reader(text, start)
    type_ = reader.type()
    return (type_, reader.end) if type_ is not None else None


class _Reader:
    """One token of look-ahead; `end` is the character after the last token that was taken."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.end = start
        self.depth = 0
        self._advance(start)

    def _advance(self, position: int) -> None:
        match = _TOKEN.match(self.text, position)
        self.token, self.next = (match[1], match.end()) if match else ("", position)

    def _take(self) -> str:
        token = self.token
        self.end = self.next
        self._advance(self.next)
        return token

    def type(self) -> CppType | None:
        """A type with its qualifiers, template arguments and references."""
        const = self._qualifiers()
        self.depth += 1
        core = self._core() if self.depth <= _DEEPEST else None
        self.depth -= 1
        if core is None:
            return None
        const = self._qualifiers() or const
        for _ in range(_MOST_POINTERS):
            if self.token != "*":
                break
            self._take()
            core = CppType("*", (CppType(core.name, core.arguments, const),))
            const = self._qualifiers()
        reference = self._take() if self.token in ("&", "&&") else ""
        return CppType(core.name, core.arguments, const, reference)

    def _qualifiers(self) -> bool:
        const = False
        while self.token in _QUALIFIERS:
            const = self._take() == "const" or const
        return const

    def _core(self) -> CppType | None:
        if self.token.isdigit():
            return CppType(self._take())
        if self.token in _BUILTIN_WORDS:
            return CppType(self._builtin())
        name = self._name()
        if name is None:
            return None
        arguments = self._arguments()
        if arguments is None:
            return None
        return _named(name, arguments)

    def _builtin(self) -> str:
        words: list[str] = []
        while self.token in _BUILTIN_WORDS or (self.token == "const" and words):
            words.append(self._take())
        words = [word for word in words if word != "const"]
        if len(words) == 1:
            return "unsigned int" if words == ["unsigned"] else words[0]
        known = [word for word in _BUILTIN_ORDER for _ in range(words.count(word))]
        # `long int` is `long`, and libclang names the type so.
        if "int" in known and len(known) > 1 and known not in (["unsigned", "int"], ["signed", "int"]):
            known.remove("int")
        return " ".join(known) or words[0]

    def _name(self) -> str | None:
        if self.token == "::":
            self._take()
        if not self.token or not (self.token[0].isalpha() or self.token[0] == "_"):
            return None
        name = self._take()
        while self.token in ("::", "."):
            separator = self.end
            self._take()
            if not self.token or not (self.token[0].isalpha() or self.token[0] == "_"):
                self.end = separator
                self.token = ""
                break
            name += f"::{self._take()}"
        return name

    def _arguments(self) -> tuple[CppType, ...] | None:
        closing = {"<": ">", "[": "]"}.get(self.token)
        if closing is None or (self.token == "[" and not self._is_python_list()):
            return ()
        self._take()
        arguments: list[CppType] = []
        while self.token != closing:
            argument = self.type()
            if argument is None:
                return None
            arguments.append(argument)
            if self.token == ",":
                self._take()
            elif self.token != closing:
                return None
        self._take()
        return tuple(arguments)

    def _is_python_list(self) -> bool:
        """Whether `[` opens type arguments (`List[int]`), and not a schema list (`int[]`, `int[2]`)."""
        match = _TOKEN.match(self.text, self.next)
        return match is not None and match[1] != "]" and not match[1].isdigit()


def _named(name: str, arguments: tuple[CppType, ...]) -> CppType:
    module, _, last = name.rpartition("::")
    if module in _PYTHON_MODULES and last in _PYTHON_NAMES:
        return CppType(_PYTHON_NAMES[last], arguments)
    if not module and last in ALIASES and not arguments:
        return ALIASES[last]
    return canonical(CppType(QUALIFIED.get(name, name), arguments))
