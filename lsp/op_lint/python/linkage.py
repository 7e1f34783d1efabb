"""What a file leaves to be explained by others, and what it has to explain others: values in a form that can be kept.

A function that registers what its callers name is kept as its source text, with what the names in it stand for. It is
read again with the arguments of a call in another file, by the same interpreter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Union

import msgspec

from op_lint.condition import Condition
from op_lint.facts import Piece, Place, PythonFunction, RunTime
from op_lint.python.interpreter import Interpreter
from op_lint.python.recorder import Deferred, pieces_of
from op_lint.python.render import render_value
from op_lint.python.signatures import describe
from op_lint.python.values import (
    Argument,
    Arguments,
    Choice,
    Class,
    Constant,
    CustomOp,
    Derived,
    Function,
    Imported,
    Instance,
    Library,
    LibraryState,
    Mapping,
    Method,
    Operator,
    Partial,
    Result,
    Run,
    Sequence,
    String,
    Unknown,
    Value,
)

_LONGEST_TEXT = 500
"""Characters of the longest string that other files may ask for."""

_MOST_ITEMS = 64

_DEEP = 12


class LinkConstant(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A literal that is no string."""

    value: bool | int | float | None


class LinkText(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Characters that are known."""

    text: str
    pieces: tuple[Piece, ...] = ()


class LinkString(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A string of known and unknown parts."""

    parts: tuple[Linked, ...]


class LinkSequence(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A list, tuple or set."""

    items: tuple[Linked, ...]
    kind: str


class LinkMapping(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A dictionary."""

    items: tuple[tuple[Linked, Linked], ...]


class LinkImported(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Something imported."""

    module: str
    attributes: tuple[str, ...]
    relative: bool = False


class LinkOperator(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """`torch.ops` and what is under it."""

    parts: tuple[str, ...]


class LinkLibrary(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A library object; `index` is one of `Linkage.libraries`."""

    index: int


class LinkCustomOp(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """What `custom_op` returns."""

    name: Linked
    macro: str
    place: Place


class LinkFunction(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A function; `code` is one of `Linkage.code`, if it is to be read again."""

    described: PythonFunction
    code: int | None = None
    decorated: bool = False
    receiver: Linked | None = None


class LinkClass(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A class; `code` is one of `Linkage.code`."""

    code: int


class LinkInstance(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """An object of such a class."""

    code: int
    attributes: tuple[tuple[str, Linked], ...]
    library: int | None = None


class LinkMethod(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A method of a value."""

    owner: Linked
    name: str


class LinkArgument(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """An argument, and where it is written."""

    value: Linked
    place: Place | None


class LinkArguments(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The arguments of a call."""

    positional: tuple[LinkArgument, ...]
    keywords: tuple[tuple[str, LinkArgument], ...]
    open: bool = False


class LinkPartial(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A callable with some of its arguments given."""

    callee: Linked
    arguments: LinkArguments


class LinkResult(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """What a deferred call returns; `index` is that of the call in `Linkage.calls`."""

    index: int
    attributes: tuple[str, ...]
    instead: Linked | None = None


class LinkChoice(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """One of several values."""

    options: tuple[tuple[Condition, Linked], ...]


class LinkDerived(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """What is taken out of another value (`op_lint.python.values.Derived`)."""

    owner: Linked
    how: str
    key: int | str | None
    loop: Place | None


class LinkUnknown(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A value of which only the text is known."""

    words: str


Linked = Union[  # noqa: UP007 (a forward reference, evaluated by msgspec)
    LinkConstant,
    LinkText,
    LinkString,
    LinkSequence,
    LinkMapping,
    LinkImported,
    LinkOperator,
    LinkLibrary,
    LinkCustomOp,
    LinkFunction,
    LinkClass,
    LinkInstance,
    LinkMethod,
    LinkPartial,
    LinkResult,
    LinkChoice,
    LinkDerived,
    LinkUnknown,
]


class LinkState(msgspec.Struct, frozen=True):
    """A library object."""

    place: Place
    macro: str
    namespace: str | None
    kind: str | None
    key: str | None
    condition: Condition


class LinkCode(msgspec.Struct, frozen=True):
    """The source of a function or class, the lines it is on, and what the names in it stand for.

    `offset` is the byte in the file where `source` starts, `line` its line. `wrapped` says that it is indented.
    """

    name: str
    source: str
    encoding: str
    line: int
    offset: int
    wrapped: bool
    postponed: bool
    names: tuple[tuple[str, Linked], ...] = ()


class LinkCall(msgspec.Struct, frozen=True):
    """A deferred call. `spelled` is where it stands in a function, if `place` is a call of that function."""

    callee: Linked
    arguments: LinkArguments
    place: Place
    spelled: Place | None
    condition: Condition
    run: RunTime
    caught: tuple[str, ...]
    swallowed: bool
    function: Place | None


class Linkage(msgspec.Struct, frozen=True):
    """All of it for one file.

    `open` are the places in functions at which what is registered depends on the parameters.
    """

    exports: dict[str, Linked] = {}
    calls: tuple[LinkCall | None, ...] = ()
    code: tuple[LinkCode, ...] = ()
    libraries: tuple[LinkState, ...] = ()
    open: tuple[Place, ...] = ()


def linkage_of(interpreter: Interpreter) -> bytes:
    """What is left to be done, or offered, once a module has been read; empty for nothing."""
    freezer = _Freezer(interpreter)
    exports = freezer.exports()
    calls = tuple(freezer.call(deferred) for deferred in interpreter.recorder.deferred)
    if not (exports or calls):
        return b""
    code, libraries, unknown = freezer.code(), tuple(freezer.libraries), tuple(sorted(interpreter.recorder.open))
    return msgspec.msgpack.encode(Linkage(exports, calls, code, libraries, unknown))


def decode_linkage(data: bytes) -> Linkage:
    """The linkage of a file."""
    return _DECODER.decode(data) if data else Linkage()


class _Freezer:
    """Puts the values of one module into the form that is kept."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.libraries: list[LinkState] = []
        self._states: dict[int, int] = {}
        self._codes: dict[Place, int] = {}
        self._code: list[LinkCode | None] = []

    def code(self) -> tuple[LinkCode, ...]:
        """The sources that the values refer to."""
        return tuple(code for code in self._code if code is not None)

    def exports(self) -> dict[str, Linked]:
        """What other files may ask for by name."""
        imported = {known.bound for known in self.interpreter.recorder.imports.values()}
        names = self.interpreter.scope.module().names
        return {name: self.value(value) for name, value in names.items() if self._is_export(name, value, imported)}

    def _is_export(self, name: str, value: Value, imported: set[str]) -> bool:
        if isinstance(value, Imported):
            return name not in imported
        if isinstance(value, String):
            return value.text is not None and len(value.text) <= _LONGEST_TEXT
        if isinstance(value, Sequence):
            items = value.items
            return 0 < len(items) <= _MOST_ITEMS and all(isinstance(item, String) and item.text for item in items)
        if isinstance(value, Mapping):
            return 0 < len(value.items) <= _MOST_ITEMS and all(isinstance(key, String) for key, _ in value.items)
        if isinstance(value, Function):
            return self._depends(value)
        if isinstance(value, Class):
            return self._is_registering(value)
        if isinstance(value, Choice):
            return any(self._is_export(name, option, imported) for _, option in value.options)
        return isinstance(value, CustomOp | Instance | Library | Operator | Partial | Result)

    def _depends(self, function: Function) -> bool:
        known = self.interpreter.knowledge.get(function.place)
        return known is not None and known.depends

    def _is_registering(self, cls: Class) -> bool:
        methods = [value for value in cls.scope.names.values() if isinstance(value, Function)]
        if any(self._depends(method) for method in methods):
            return True
        bases = [base for base in cls.bases if isinstance(base, Class)]
        return any(self._is_registering(base) for base in bases) or any(
            isinstance(base, Imported) and base.dotted == "torch.library.Library" for base in cls.bases
        )

    def call(self, deferred: Deferred) -> LinkCall | None:
        """A deferred call; None where a later one tells more."""
        if deferred.depends and any(
            len(other.chain) > len(deferred.chain) and other.chain[-len(deferred.chain) :] == deferred.chain
            for other in self.interpreter.recorder.deferred
        ):
            return None
        context = deferred.context
        return LinkCall(
            self.value(deferred.callee),
            self.arguments(deferred.arguments),
            deferred.place,
            deferred.spelled,
            context.condition,
            context.run,
            context.caught,
            context.swallowed,
            deferred.function,
        )

    def arguments(self, arguments: Arguments, depth: int = 0) -> LinkArguments:
        """The arguments of a call."""
        positional = tuple(self._argument(argument, depth) for argument in arguments.positional)
        keywords = tuple((name, self._argument(argument, depth)) for name, argument in arguments.keywords)
        return LinkArguments(positional, keywords, arguments.open)

    def _argument(self, argument: Argument, depth: int) -> LinkArgument:
        return LinkArgument(self.value(argument.value, depth + 1), argument.place)

    def value(self, value: Value, depth: int = 0) -> Linked:
        """A value."""
        freeze = _FREEZE.get(type(value))
        if freeze is None or depth > _DEEP:
            return LinkUnknown("a value")
        return freeze(self, value, depth + 1)

    def _constant(self, value: Constant, _depth: int) -> Linked:
        known = value.value
        return (
            LinkConstant(known) if known is None or isinstance(known, bool | int | float) else LinkUnknown(repr(known))
        )

    def _string(self, value: String, depth: int) -> Linked:
        parts = tuple(
            LinkText(part.text, tuple(pieces_of(part))) if isinstance(part, Run) else self.value(part, depth)
            for part in value.parts
        )
        return LinkString(parts)

    def _sequence(self, value: Sequence, depth: int) -> Linked:
        return LinkSequence(tuple(self.value(item, depth) for item in value.items), value.kind)

    def _mapping(self, value: Mapping, depth: int) -> Linked:
        return LinkMapping(tuple((self.value(key, depth), self.value(item, depth)) for key, item in value.items))

    def _imported(self, value: Imported, _depth: int) -> Linked:
        return LinkImported(value.module, value.attributes, value.relative)

    def _operator(self, value: Operator, _depth: int) -> Linked:
        return LinkOperator(value.parts)

    def _library(self, value: Library, _depth: int) -> Linked:
        return LinkLibrary(self._state(value.state))

    def _state(self, state: LibraryState) -> int:
        if id(state) not in self._states:
            self._states[id(state)] = len(self.libraries)
            self.libraries.append(
                LinkState(state.place, state.macro, state.namespace, state.kind, state.key, state.condition)
            )
        return self._states[id(state)]

    def _custom_op(self, value: CustomOp, depth: int) -> Linked:
        return LinkCustomOp(self._string(value.name, depth), value.macro, value.place)

    def _partial(self, value: Partial, depth: int) -> Linked:
        return LinkPartial(self.value(value.callee, depth), self.arguments(value.arguments, depth))

    def _method(self, value: Method, depth: int) -> Linked:
        return LinkMethod(self.value(value.owner, depth), value.name)

    def _result(self, value: Result, depth: int) -> Linked:
        instead = None if value.instead is None else self.value(value.instead, depth)
        return LinkResult(value.index, value.attributes, instead)

    def _derived(self, value: Derived, depth: int) -> Linked:
        return LinkDerived(self.value(value.owner, depth), value.how, value.key, value.loop)

    def _choice(self, value: Choice, depth: int) -> Linked:
        return LinkChoice(tuple((condition, self.value(option, depth)) for condition, option in value.options))

    def _unknown(self, value: Unknown, _depth: int) -> Linked:
        return LinkUnknown(render_value(value)[:_LONGEST_TEXT])

    def _function(self, value: Function, depth: int) -> Linked:
        described = describe(value)
        if described is None:
            return LinkUnknown(value.name)
        code = self._code_of(value, depth) if self._depends(value) or self._is_short(value) else None
        receiver = None if value.receiver is None else self.value(value.receiver, depth)
        return LinkFunction(described, code, value.decorated, receiver)

    def _is_short(self, value: Function) -> bool:
        """Whether a function may be a helper that makes a name or a schema."""
        node = value.node
        return isinstance(node, ast.FunctionDef) and len(node.body) == 1 and isinstance(node.body[0], ast.Return)

    def _class(self, value: Class, depth: int) -> Linked:
        return LinkClass(self._code_of(value, depth))

    def _instance(self, value: Instance, depth: int) -> Linked:
        attributes = tuple((name, self.value(item, depth)) for name, item in value.attributes.items())
        library = None if value.library is None else self._state(value.library.state)
        return LinkInstance(self._code_of(value.cls, depth), attributes, library)

    def _code_of(self, value: Function | Class, depth: int) -> int:
        node = value.node
        assert node is not None
        place = value.source.place(node)
        if place not in self._codes:
            index = self._codes[place] = len(self._code)
            self._code.append(None)
            self._code[index] = self._source(value, node, depth)
        return self._codes[place]

    def _source(self, value: Function | Class, node: ast.expr | ast.stmt, depth: int) -> LinkCode:
        source = value.source
        if isinstance(node, ast.Lambda):
            place = source.place(node)
            text, line, offset, wrapped = source.source(node), place.line, place.start, False
        else:
            data, offset = source.lines(node.lineno, node.end_lineno or node.lineno)
            text, line, wrapped = data.decode(source.encoding), source.line(node.lineno), node.col_offset > 0
        names = tuple(self._names(value, node, depth))
        return LinkCode(value.name, text, source.encoding, line, offset, wrapped, source.postponed, names)

    def _names(self, value: Function | Class, node: ast.AST, depth: int) -> Iterable[tuple[str, Linked]]:
        """What the names in a function or class stand for, where they come from outside of it."""
        scope = value.scope.parent if isinstance(value, Class) else value.scope
        used = dict.fromkeys(leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name))
        for name in used:
            found = scope.lookup(name) if scope is not None else None
            if found is not None and not isinstance(found, Unknown):
                yield name, self.value(found, depth)


_FREEZE: dict[type[Value], Callable[..., Linked]] = {
    Choice: _Freezer._choice,
    Class: _Freezer._class,
    Constant: _Freezer._constant,
    CustomOp: _Freezer._custom_op,
    Derived: _Freezer._derived,
    Function: _Freezer._function,
    Imported: _Freezer._imported,
    Instance: _Freezer._instance,
    Library: _Freezer._library,
    Mapping: _Freezer._mapping,
    Method: _Freezer._method,
    Operator: _Freezer._operator,
    Partial: _Freezer._partial,
    Result: _Freezer._result,
    Sequence: _Freezer._sequence,
    String: _Freezer._string,
    Unknown: _Freezer._unknown,
}

_DECODER = msgspec.msgpack.Decoder(Linkage)
