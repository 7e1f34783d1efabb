"""The code that registers: blocks, the helpers and lambdas that they call, and the objects that they make.

A body is read as it would run: names stand for what the caller passed, loops over literals go round, and what only
happens under a run-time condition carries that as its guard.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from op_lint.cpp.calls import LEGACY_TYPE, METHODS, CallReader
from op_lint.cpp.clang import TranslationUnit, qualified_name
from op_lint.cpp.cursors import (
    body_of,
    callee,
    constructor_arguments,
    enumerator,
    function_of,
    is_defaulted,
    lambda_in,
    lambda_of,
    method_name,
    parameters_of,
    type_name,
)
from op_lint.cpp.kernels import KernelReader
from op_lint.cpp.keys import given_key, is_key, key_of
from op_lint.cpp.libclang import Cursor, CursorKind, TypeKind
from op_lint.cpp.literals import LiteralReader, is_constant
from op_lint.cpp.recorder import FIRST_TIME, IN_LOOP, Recorder, Site
from op_lint.cpp.sources import SourceMap
from op_lint.facts import Kernel, Place, Text, UnitKind

INIT_TYPES = frozenset({"torch::detail::TorchLibraryInit", "torch::stable::detail::StableTorchLibraryInit"})
LIBRARY_TYPES = frozenset({"torch::Library", "torch::stable::detail::StableLibrary"})

_KINDS = {"DEF": UnitKind.LIBRARY, "FRAGMENT": UnitKind.FRAGMENT, "IMPL": UnitKind.IMPL}
_LOOPS = (CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT)
_LEAVING = (CursorKind.RETURN_STMT, CursorKind.CXX_THROW_EXPR)
_TRANSPARENT = (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR)

_MEMBER = re.compile(r"(?:\.|->) ?(?:template )?([A-Za-z_]\w*)(?: ?<[^()]*>)?$")

_DEEPEST = 120
"""Statements and expressions inside each other that are followed, far below Python's own limit."""

_MOST_STEPS = 400_000
"""Statements and expressions that are read in one parse. The largest real source needs a twentieth of that."""

_ELEMENT_STEPS = 20
"""What an element of a list costs, in steps: it is worked out anew each time that the loop is come to."""


@dataclass(frozen=True)
class Library:
    """A `torch::Library` (`StableLibrary`, `RegisterOperators`) in scope: the unit whose block it is of."""

    unit: int


Value = Library | Text | str | Kernel | Cursor
"""What a name stands for: a library, a string, a dispatch key, a kernel, a lambda."""


@dataclass(frozen=True)
class Scope:
    """What a body being read knows: what names stand for (by the identity of their declarations), under which run-time
    condition it runs, the functions that are being read around it, and the calls that lead to it, the outermost first.
    """

    values: dict[int, Value]
    guard: str | None = None
    callers: frozenset[int] = frozenset()
    calls: tuple[Place, ...] = ()

    def lookup(self, declaration: Cursor) -> Value | None:
        """What a declaration stands for, None where that is not known."""
        return self.values.get(declaration.identity)

    def guarded(self, text: str) -> Scope:
        """The scope where `text` holds at run time, too."""
        return replace(self, guard=f"{self.guard} && {text}" if self.guard else text)


class BodyReader:
    """Reads bodies of one translation unit. `read` are the functions whose bodies have been."""

    def __init__(self, tu: TranslationUnit, sources: SourceMap, recorder: Recorder, kernels: KernelReader) -> None:
        self.tu, self.sources, self.recorder, self.kernels = tu, sources, recorder, kernels
        self.literals = LiteralReader(sources)
        self.calls = CallReader(sources, recorder, self.literals, kernels)
        self.read: set[int] = set()
        self._depth = 0
        self._steps = 0

    # -- what makes a unit

    def variable(self, cursor: Cursor, scope: Scope) -> Library | None:
        """A variable that registers: a block's initialiser, a library object, which is the answer, a legacy chain."""
        name = type_name(cursor.type)
        if name in INIT_TYPES:
            self._initialiser(cursor, scope, is_stable="stable" in name)
        elif name in LIBRARY_TYPES and cursor.type.canonical.kind == TypeKind.RECORD:
            return self._library_object(cursor, scope)
        elif name == LEGACY_TYPE:
            self.expressions(cursor, scope)
        return None

    def expressions(self, cursor: Cursor, scope: Scope) -> None:
        """The expressions that initialise what is at `cursor`, a variable or the members in a constructor."""
        for child in cursor.children():
            if child.is_expression:
                self.expression(child, scope)

    def _initialiser(self, cursor: Cursor, scope: Scope, is_stable: bool) -> None:
        arguments = constructor_arguments(cursor)
        place = self.sources.place(cursor)
        if place is None:
            return
        if len(arguments) < 4:
            self.recorder.unresolved("unit", "the block's arguments could not be read", place, None)
            return
        kind = _KINDS.get(enumerator(arguments[0]) or "")
        namespace = self.literals.text(arguments[2], scope.lookup)
        if namespace is None or kind is None:
            self.recorder.unresolved("unit", "the namespace is not a constant", place, None)
            return
        key = self._block_key(arguments[3], scope, is_stable) if kind == UnitKind.IMPL else None
        if key is None and kind == UnitKind.IMPL:
            self.recorder.unresolved("unit", "the dispatch key is not a constant", place, None)
            return
        function = function_of(arguments[1])
        unit = self.recorder.block(kind, cursor, place, namespace.value, given_key(key), function)
        if function is not None:
            self.run(function, [Library(unit)], replace(scope, values={}))

    def _block_key(self, argument: Cursor, scope: Scope, is_stable: bool) -> str | None:
        if not is_stable:
            return key_of(argument, scope.lookup)
        # As it is: torch looks the text up, and knows fewer names than C++ does.
        text = self.literals.text(argument, scope.lookup)
        return text.value if text else None

    def _library_object(self, cursor: Cursor, scope: Scope) -> Library | None:
        """A `torch::Library` made by hand: `torch::Library lib(torch::Library::IMPL, "ns", key, file, line)`."""
        arguments = constructor_arguments(cursor)
        place = self.sources.place(cursor)
        if place is None or len(arguments) < 3:
            return None
        kind = _KINDS.get(enumerator(arguments[0]) or "")
        namespace = self.literals.text(arguments[1], scope.lookup)
        if kind is None or namespace is None:
            return None
        key = given_key(key_of(arguments[2], scope.lookup))
        return Library(self.recorder.block(kind, cursor, place, namespace.value, key, None))

    # -- bodies

    def run(
        self, function: Cursor, arguments: Sequence[Value | None], caller: Scope, call: Cursor | None = None
    ) -> bool:
        """Read the body of `function` with its parameters bound to `arguments`; False if its body is not here.

        `call` is what calls it, None for a block's own body. One that is being read already, as in a recursion, is not
        read again.
        """
        block = body_of(function)
        if block is None:
            return False
        identity = function.identity
        self.read.add(identity)
        if identity in caller.callers:
            return True
        values = dict(caller.values)
        for parameter, argument in zip(parameters_of(function), arguments, strict=False):
            if argument is not None:
                values[parameter.identity] = argument
        place = self.sources.place(call) if call is not None else None
        calls = caller.calls if place is None else (*caller.calls, place)
        self.statements(block.children(), Scope(values, caller.guard, caller.callers | {identity}, calls))
        return True

    def statements(self, cursors: Iterable[Cursor], scope: Scope) -> None:
        """Statements, one after the other; what follows an `if` that leaves runs where its test fails."""
        for cursor in cursors:
            self.statement(cursor, scope)
            if cursor.kind == CursorKind.IF_STMT:
                test, branches = _parts_of_if(cursor)
                if len(branches) == 1 and _leaves(branches[0]):
                    scope = scope.guarded(f"!({self._text_of(test)})")

    def statement(self, cursor: Cursor, scope: Scope) -> None:
        """A statement with all that is in it."""
        if not self._may_enter(cursor):
            return
        kind = cursor.kind
        if kind == CursorKind.IF_STMT:
            self._branches(cursor, scope)
        elif kind == CursorKind.CXX_FOR_RANGE_STMT:
            self._range_loop(cursor, scope)
        elif kind in _LOOPS:
            self.statements(cursor.children(), scope.guarded(IN_LOOP))
        elif kind == CursorKind.SWITCH_STMT:
            test, *cases = cursor.children()
            self.statements(cases, scope.guarded(self._text_of(test)))
        elif kind == CursorKind.DECL_STMT:
            for child in cursor.children():
                if child.kind == CursorKind.VAR_DECL:
                    self._local(child, scope)
        elif cursor.is_expression:
            self.expression(cursor, scope)
        elif cursor.is_statement:
            self.statements(cursor.children(), scope)
        self._depth -= 1

    def _may_enter(self, cursor: Cursor) -> bool:
        """Whether to read what is at `cursor`, one level deeper; what is too deep or too much is unresolved."""
        self._steps += 1
        if self._depth < _DEEPEST and self._steps < _MOST_STEPS:
            self._depth += 1
            return True
        place = self.sources.place(cursor)
        if place is not None and self._steps <= _MOST_STEPS:
            reason = "nested too deeply to be read" if self._depth >= _DEEPEST else "too much code to read all of it"
            self.recorder.unresolved("def", reason, place, None)
        return False

    def _branches(self, cursor: Cursor, scope: Scope) -> None:
        """An `if`, and the ones in its `else`: each branch runs where its test holds and those before do not."""
        current: Cursor | None = cursor
        while current is not None:
            test, branches = _parts_of_if(current)
            text = self._text_of(test)
            if branches:
                self.statement(branches[0], scope.guarded(text))
            scope = scope.guarded(f"!({text})")
            current = None
            for branch in branches[1:]:
                if branch.kind == CursorKind.IF_STMT:
                    current = branch
                else:
                    self.statement(branch, scope)

    def _text_of(self, test: Cursor | None) -> str:
        place = self.sources.place(test) if test is not None else None
        return self.sources.text(place) if place else "a run-time test"

    def _range_loop(self, cursor: Cursor, scope: Scope) -> None:
        """`for (auto name : {"a", "b"})` is read once for each literal."""
        *head, block = cursor.children()
        variable = next((child for child in head if child.kind == CursorKind.VAR_DECL), None)
        elements = [
            self.literals.text(element, scope.lookup) or key_of(element, scope.lookup) for element in _listed(head)
        ]
        known = [element for element in elements if element is not None]
        self._steps += _ELEMENT_STEPS * len(elements)
        if variable is None or not known or len(known) < len(elements):
            self.statement(block, scope.guarded(IN_LOOP))
            return
        for element in known:
            self.statement(block, replace(scope, values={**scope.values, variable.identity: element}))

    def _local(self, cursor: Cursor, scope: Scope) -> None:
        """A variable of a body: it may register, or be another name for a library or lambda."""
        if scope.calls and cursor.is_static:
            scope = scope.guarded(FIRST_TIME)
        value: Value | None = self.variable(cursor, scope)
        if value is None and type_name(cursor.type) not in (*INIT_TYPES, LEGACY_TYPE):
            initialisers = [child for child in cursor.children() if child.is_expression]
            if initialisers:
                value = lambda_of(initialisers[-1]) or self.expression(initialisers[-1], scope)
        if isinstance(value, Library | Cursor):
            scope.values[cursor.identity] = value

    # -- expressions

    def expression(self, cursor: Cursor, scope: Scope) -> Value | None:
        """Read the calls inside an expression; its value where it is a library, a lambda or a name's."""
        if not self._may_enter(cursor):
            return None
        first, links = self._method_chain(cursor)
        value = self._first(first, scope)
        for link in reversed(links):
            value = self._method_call(link, value, scope)
        self._depth -= 1
        return value

    def _first(self, cursor: Cursor, scope: Scope) -> Value | None:
        """An expression that is no call of a registering method."""
        if cursor.kind == CursorKind.DECL_REF_EXPR:
            return self._named(cursor.referenced, scope)
        if cursor.kind == CursorKind.LAMBDA_EXPR:
            return cursor
        children = cursor.children()
        if children and children[0].kind == CursorKind.MEMBER_REF_EXPR:
            holder = _object_of(children[0])
            if holder is not None and type_name(holder.type) in LIBRARY_TYPES:
                self._other_method(cursor, children[0], holder, scope)
                return None
        if cursor.kind == CursorKind.CALL_EXPR:
            return self._plain_call(cursor, children, scope)
        if cursor.kind == CursorKind.CONDITIONAL_OPERATOR and children:
            text = self._text_of(children[0])
            for child, guard in zip(children[1:], (text, f"!({text})"), strict=False):
                self.expression(child, scope.guarded(guard))
            return None
        values = [self.expression(child, scope) for child in children if child.is_expression]
        return values[0] if len(values) == 1 else _library_in(values)

    def _other_method(self, cursor: Cursor, member: Cursor, holder: Cursor, scope: Scope) -> None:
        """Another method of a library registers no operator; `class_` is refused by some."""
        library = self.expression(holder, scope)
        place = self.sources.place(cursor)
        if isinstance(library, Library) and place is not None and self._method(member) == "class_":
            self.recorder.define_class(Site(library.unit, place, None, scope.guard, scope.calls))

    def _named(self, declaration: Cursor | None, scope: Scope) -> Value | None:
        """What a name stands for in a body: a library, a text, ..., or the lambda that a variable holds."""
        if declaration is None:
            return None
        bound = scope.lookup(declaration)
        if bound is None and declaration.kind == CursorKind.VAR_DECL:
            return lambda_in(declaration)
        return bound

    def _plain_call(self, cursor: Cursor, children: list[Cursor], scope: Scope) -> Value | None:
        """A call that is no method of a library: a helper with the library as argument, a lambda, a legacy object."""
        type_ = type_name(cursor.type)
        if cursor.spelling == "RegisterOperators" and type_ == LEGACY_TYPE:
            return self._legacy_object(cursor, children, scope)
        if cursor.spelling == "Library" and type_ in LIBRARY_TYPES and len(children) == 1:
            return self.expression(children[0], scope)
        parts = [child for child in children if child.is_expression]
        values = [self.expression(child, scope) for child in parts]
        known = {part.identity: value for part, value in zip(parts, values, strict=True)}
        called = values[0] if values else None
        library = _library_in(values)
        if isinstance(called, Cursor):
            # The call operator: the object comes first, and a reference to the operator itself is among the children.
            arguments = [part for part in parts if part.spelling != "operator()"][1:]
            if library is not None or cursor.spelling == "operator()":
                self.run(called, self._bound(arguments, known, scope), scope, cursor)
        elif library is not None:
            function = callee(cursor)
            arguments = cursor.arguments() or parts[1:]
            if cursor.spelling == "operator()":
                arguments = arguments[1:]  # the first one is the object that is called
            if function is None or not self.run(function, self._bound(arguments, known, scope), scope, cursor):
                self._delegate(cursor, function, library, scope)
        return library if type_ in LIBRARY_TYPES else None

    def _bound(self, arguments: Iterable[Cursor], known: dict[int, Value | None], scope: Scope) -> list[Value | None]:
        """What the parameters of a called helper stand for: what is `known`, or a text, a key, a kernel; else None."""
        bound: list[Value | None] = []
        for argument in arguments:
            value = known.get(argument.identity) or self.literals.text(argument, scope.lookup)
            if value is None and is_key(argument.type):
                value = key_of(argument, scope.lookup)
            if value is None:
                place = self.sources.place(argument)
                value = self.kernels.kernel(argument, place, scope.lookup) if place else None
            bound.append(value)
        return bound

    def _delegate(self, cursor: Cursor, function: Cursor | None, library: Library, scope: Scope) -> None:
        place = self.sources.place(cursor)
        if place is None:
            return
        name = qualified_name(function) if function is not None else ""
        if name:
            self.recorder.delegate(name, Site(library.unit, place, None, scope.guard, scope.calls))
        else:
            reason = "the library is passed to a function that is not known"
            self.recorder.unresolved("def", reason, place, library.unit, scope.calls)

    def _legacy_object(self, cursor: Cursor, children: list[Cursor], scope: Scope) -> Value | None:
        arguments = [child for child in children if child.is_expression and not is_defaulted(child)]
        if len(arguments) == 1 and type_name(arguments[0].type) == LEGACY_TYPE:
            return self.expression(arguments[0], scope)
        place = self.sources.place(cursor)
        if place is None:
            return None
        unit = self.recorder.legacy(cursor, place)
        if arguments:
            site = Site(unit, place, self.recorder.found.units[unit].spelled, scope.guard, scope.calls)
            self.calls.legacy_op(arguments, site, scope.lookup)
        return Library(unit)

    def _method_call(self, cursor: Cursor, receiver: Value | None, scope: Scope) -> Value | None:
        member, *rest = cursor.children()
        method = self._method(member)
        if isinstance(receiver, Library):
            arguments = [child for child in rest if child.is_expression and not is_defaulted(child)]
            place = self._call_place(cursor, member)
            if place is not None:
                spelled = self.sources.call_in_macro(member.location, method)
                site = Site(receiver.unit, place, spelled, scope.guard, scope.calls)
                self.calls.read(method, arguments, site, scope.lookup)
            return receiver
        holder = _object_of(member)
        if holder is None or type_name(holder.type) not in (*LIBRARY_TYPES, LEGACY_TYPE):
            for child in rest:
                self.expression(child, scope)
            return None
        place = self._call_place(cursor, member)
        if place is not None:
            what = {"impl_UNBOXED": "impl", "op": "def"}.get(method, method)
            self.recorder.unresolved(what, "it is not known which block this library belongs to", place, None)
        return None

    def _call_place(self, cursor: Cursor, member: Cursor) -> Place | None:
        """The call; in a chain, from the method's own name on."""
        whole = self.sources.place(cursor)
        holder = _object_of(member)
        if whole is None or holder is None:
            return whole
        if any(inner.kind == CursorKind.MEMBER_REF_EXPR for inner in holder.walk()):
            point = self.tu.expansion(member.location)
            view = self.sources.view(point)
            if view is not None and view.path == whole.path and point.offset >= whole.start:
                return self.sources.at(view, point.offset, whole.end)
        return whole

    def _method_chain(self, cursor: Cursor) -> tuple[Cursor, list[Cursor]]:
        """The object that a chain of registering calls starts from, and the calls, the last one first."""
        links: list[Cursor] = []
        current = cursor
        while True:
            children = current.children()
            if not children:
                return current, links
            if children[0].kind == CursorKind.MEMBER_REF_EXPR and self._method(children[0]) in METHODS:
                links.append(current)
                holder = _object_of(children[0])
                if holder is None:
                    return children[0], links
                current = holder
            elif links and current.kind in _TRANSPARENT and len(children) == 1 and children[0].is_expression:
                current = children[0]
            else:
                return current, links

    def _method(self, member: Cursor) -> str:
        """The name of the method that a member reference names.

        In a template, where the object may be of any type, libclang does not tell it: then it is as written.
        """
        name = method_name(member)
        place = self.sources.place(member) if not name else None
        written = _MEMBER.search(self.sources.text(place)) if place is not None else None
        return written.group(1) if written is not None else name


def _object_of(member: Cursor) -> Cursor | None:
    """The object that a member reference is a member of; None for `this`."""
    return next((child for child in member.children() if child.is_expression), None)


def _listed(head: Iterable[Cursor]) -> list[Cursor]:
    """What stands in the braces, or in those of the constant, that a loop goes over."""
    for child in head:
        for inner in child.walk():
            if inner.kind == CursorKind.INIT_LIST_EXPR:
                return inner.children()
            constant = inner.referenced if inner.kind == CursorKind.DECL_REF_EXPR else None
            if constant is not None and constant.kind == CursorKind.VAR_DECL and is_constant(constant):
                parts = (part for initialiser in constant.children() for part in initialiser.walk())
                return next((part.children() for part in parts if part.kind == CursorKind.INIT_LIST_EXPR), [])
    return []


def _library_in(values: Iterable[Value | None]) -> Library | None:
    return next((value for value in values if isinstance(value, Library)), None)


def _parts_of_if(cursor: Cursor) -> tuple[Cursor | None, list[Cursor]]:
    """The test of an `if`, and what runs where it holds and where not."""
    children = [child for child in cursor.children() if child.is_expression or child.is_statement]
    if children and children[0].kind == CursorKind.DECL_STMT:
        children = children[1:]  # `if (auto x = f(); x)`
    return (children[0], children[1:]) if children else (None, [])


def _leaves(branch: Cursor) -> bool:
    """Whether a branch of an `if` ends the function."""
    last = branch
    if branch.kind == CursorKind.COMPOUND_STMT:
        children = branch.children()
        last = children[-1] if children else branch
    return last.kind in _LEAVING
