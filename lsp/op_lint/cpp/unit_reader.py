"""One parsed translation unit -> the registrations in it.

Registration is recognised by what the code *is*: a variable of type `torch::detail::TorchLibraryInit` or its stable
twin, a `torch::Library` object, a chain on `RegisterOperators`, and calls of `def`, `impl` and `fallback` on such an
object, wherever macros, helper functions and lambdas put them. A macro's name decides nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from op_lint.cpp.clang import TranslationUnit, qualified_name
from op_lint.cpp.cursors import (
    FUNCTIONS,
    alias_analysis,
    body_of,
    call_chain,
    callee,
    constructor_arguments,
    enumerator,
    function_of,
    is_defaulted,
    is_enum,
    is_lambda,
    is_tags,
    is_value,
    lambda_in,
    lambda_of,
    method_name,
    tag_names,
    type_name,
)
from op_lint.cpp.kernels import KernelReader, split_name
from op_lint.cpp.keys import DEFAULT_KEY, given_key, is_key, key_of
from op_lint.cpp.libclang import Cursor, CursorKind, TypeKind
from op_lint.cpp.literals import LiteralReader
from op_lint.cpp.registrations import Registrations
from op_lint.cpp.sources import SourceMap
from op_lint.facts import (
    Definition,
    Delegation,
    Fallback,
    Implementation,
    Kernel,
    OperatorName,
    Place,
    Text,
    Unit,
    UnitKind,
    Unresolved,
)

OVERLAY = "/0"
"""The name of the overlay header in every parse."""

_INIT_TYPES = {"torch::detail::TorchLibraryInit", "torch::stable::detail::StableTorchLibraryInit"}
_LIBRARY_TYPES = {"torch::Library", "torch::stable::detail::StableLibrary"}
_LEGACY_TYPE = "c10::RegisterOperators"
_KINDS = {"DEF": UnitKind.LIBRARY, "FRAGMENT": UnitKind.FRAGMENT, "IMPL": UnitKind.IMPL}
_PYTHON_MODULE = {"set_python_module", "impl_abstract_pystub"}
_METHODS = {"def", "impl", "impl_UNBOXED", "fallback", "op"} | _PYTHON_MODULE
_CLASSES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE}
_LOOPS = {CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.CXX_FOR_RANGE_STMT}
_MACRO_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_REGISTERS = re.compile(rb"Library\b|RegisterOperators|TorchLibraryInit|\.\s*(?:def|impl|fallback)\s*\(")
_NAME = re.compile(r"\s*(?:([A-Za-z_][\w.]*)::)?([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?")
_DEEPEST_CALL = 8

IN_LOOP = "in a loop"
"""The run-time guard of what a loop registers."""


@dataclass(frozen=True)
class _Library:
    """A `torch::Library` (`StableLibrary`, `RegisterOperators`) in scope: the unit whose block it is of."""

    unit: int


@dataclass
class _Body:
    """What a body being read knows: what names stand for, and under which run-time condition it runs."""

    values: dict[int, Any]
    guard: str | None = None
    depth: int = 0
    python_module: dict[int, str] = field(default_factory=dict)

    def lookup(self, declaration: Cursor) -> Any:
        return self.values.get(declaration.identity)

    def guarded(self, text: str) -> _Body:
        guard = f"{self.guard} && {text}" if self.guard else text
        return _Body(self.values, guard, self.depth, self.python_module)


@dataclass(frozen=True)
class _Site:
    """Where a registering call stands, and in which block."""

    unit: int
    place: Place
    spelled: Place | None
    body: _Body


@dataclass(frozen=True)
class _Given:
    """A kernel as a call gives it, and the key that the call itself names."""

    kernel: Kernel
    key: str | None = None
    key_place: Place | None = None


def read_unit(tu: TranslationUnit, sources: SourceMap) -> Registrations:
    """All registrations of the source, and of what its blocks include or call."""
    return _UnitReader(tu, sources).run()


class _UnitReader:
    def __init__(self, tu: TranslationUnit, sources: SourceMap) -> None:
        self.tu = tu
        self.sources = sources
        self.found = Registrations()
        self.literals = LiteralReader(sources)
        self.kernels = KernelReader(sources, self.find_function)
        self.declarations: list[Any] = []
        self.read_bodies: set[int] = set()
        self.objects: dict[int, _Library] = {}

    def run(self) -> Registrations:
        self.declarations = self.tu.declarations(self._is_class_with_library, OVERLAY)
        main = self.sources.main
        variables = [cursor for cursor in self.declarations if cursor.kind == CursorKind.VAR_DECL]
        for cursor in variables:
            self.variable(cursor)
        for cursor in variables:
            self.called_initialiser(cursor)
        for cursor in self.declarations:
            if not self._in(cursor, main.alias):
                continue
            if cursor.kind in FUNCTIONS:
                self.function(cursor)
            elif cursor.kind == CursorKind.FIELD_DECL and type_name(cursor.type) == _LEGACY_TYPE:
                self.legacy(cursor)
        return self.found

    def _in(self, cursor: Cursor, alias: str) -> bool:
        return self.tu.expansion(cursor.location).file == alias

    def _is_class_with_library(self, cursor: Cursor) -> bool:
        if cursor.kind not in _CLASSES:
            return False
        place = self.sources.place(cursor)
        if place is None or place.path != self.sources.main.path:
            return False
        return self._registers(place)

    def _registers(self, place: Place) -> bool:
        """Whether the text at `place` may register something, so that it is worth a look inside."""
        return _REGISTERS.search(self.sources.main.data, place.start, place.end) is not None

    def find_function(self, name: str) -> Any:
        """A function of this source by the name that a registration calls it; None where several could be meant."""
        parts = split_name(name)
        written = "::".join(part.partition("<")[0] for part in parts)
        simple = written.rpartition("::")[2]
        found = {
            qualified: cursor
            for cursor in self.declarations
            if cursor.kind in FUNCTIONS and cursor.spelling == simple
            if f"::{(qualified := qualified_name(cursor))}".endswith(f"::{written}")
        }
        return next(iter(found.values())) if len(found) == 1 else None

    # -- units

    def variable(self, cursor: Cursor) -> None:
        """A variable outside functions (or static in one): a block's initialiser, a library, a legacy chain."""
        name = type_name(cursor.type)
        if name in _INIT_TYPES:
            self.initialiser(cursor, stable="stable" in name)
        elif name in _LIBRARY_TYPES:
            unit = self.library_object(cursor)
            if unit is not None:
                self.objects[cursor.identity] = _Library(unit)
        elif name == _LEGACY_TYPE:
            self.legacy(cursor)

    def called_initialiser(self, cursor: Cursor) -> None:
        """`static auto done = [] { library.def(...); return 0; }()`: a variable made by code that registers."""
        name = type_name(cursor.type)
        place = self.sources.place(cursor)
        if place is None or name in _INIT_TYPES or name in _LIBRARY_TYPES or name == _LEGACY_TYPE:
            return
        if place.path != self.sources.main.path or not self._registers(place):
            return
        for child in cursor.children():
            if child.kind == CursorKind.CALL_EXPR or child.kind == CursorKind.UNEXPOSED_EXPR:
                self.expression(child, _Body(dict(self.objects)))

    def initialiser(self, cursor: Cursor, stable: bool) -> None:
        arguments = constructor_arguments(cursor)
        place = self.sources.place(cursor)
        if place is None:
            return
        if len(arguments) < 4:
            self._unresolved("unit", "the block's arguments could not be read", place, None)
            return
        body = _Body({})
        kind = enumerator(arguments[0])
        namespace = self.literals.text(arguments[2], body.lookup)
        if namespace is None or kind not in _KINDS:
            self._unresolved("unit", "the namespace is not a constant", place, None)
            return
        key = key_of(arguments[3], body.lookup)
        if stable and _KINDS[kind] == UnitKind.IMPL:
            text = self.literals.text(arguments[3], body.lookup)
            key = text.value if text else None  # as it is: torch looks the text up, and knows fewer names than C++
        function = function_of(arguments[1])
        unit = self.add_unit(_KINDS[kind], place, cursor, namespace.value, given_key(key), stable, function)
        if function is not None:
            self.run_body(function, [_Library(unit)], body)

    def add_unit(
        self, kind: UnitKind, place: Place, cursor: Cursor, namespace: str, key: str | None, stable: bool, function: Any
    ) -> int:
        sources = self.sources
        view = sources.view_of(place)
        name = sources.word_at(view, sources.tu.expansion(cursor.location).offset)
        macro = type_name(cursor.type) if name == cursor.spelling else sources.word_at(view, place.start)
        number = len(self.found.units)
        undefined = _MACRO_NAME.fullmatch(namespace) is not None
        body = self._body_place(function)
        self.found.units.append(
            Unit(
                id=number,
                kind=kind,
                macro=macro,
                place=place,
                namespace=None if namespace == "_" else namespace,
                key=key,
                namespace_macro=namespace if undefined else None,
                namespace_place=sources.find_word(place, namespace),
                key_place=sources.find_word(place, key) if key else None,
                stable=stable,
                condition=sources.condition(place),
                body=body,
                spelled=sources.spelled(cursor),
            )
        )
        return number

    def _body_place(self, function: Cursor) -> Place | None:
        block = body_of(function) if function is not None else None
        return self.sources.place(block) if block is not None else None

    def library_object(self, cursor: Cursor) -> int | None:
        """A `torch::Library` made by hand: `torch::Library lib(torch::Library::IMPL, "ns", key, file, line)`."""
        arguments = constructor_arguments(cursor)
        place = self.sources.place(cursor)
        if place is None or len(arguments) < 3:
            return None
        body = _Body({})
        kind = enumerator(arguments[0])
        namespace = self.literals.text(arguments[1], body.lookup)
        if kind not in _KINDS or namespace is None:
            return None
        key = given_key(key_of(arguments[2], body.lookup))
        return self.add_unit(_KINDS[kind], place, cursor, namespace.value, key, False, None)

    def function(self, cursor: Cursor) -> None:
        """A function of the source: a helper that takes a library and that no block here has called."""
        parameters = [child for child in cursor.children() if child.kind == CursorKind.PARM_DECL]
        libraries = [parameter for parameter in parameters if type_name(parameter.type) in _LIBRARY_TYPES]
        block = body_of(cursor)
        if block is None:
            return
        if cursor.kind == CursorKind.CONSTRUCTOR:
            self.legacy(cursor)
        if libraries and cursor.identity not in self.read_bodies:
            self.helper(cursor, parameters, block)
        elif not libraries:
            self.inner_objects(block)

    def helper(self, cursor: Cursor, parameters: list[Any], block: Cursor) -> None:
        place = self.sources.place(cursor)
        if place is None:
            return
        number = len(self.found.units)
        before = [len(rows) for rows in self._rows()]
        stable = any("Stable" in type_name(parameter.type) for parameter in parameters)
        self.found.units.append(
            Unit(
                id=number,
                kind=UnitKind.HELPER,
                macro="torch::Library&",
                place=place,
                namespace=None,
                stable=stable,
                condition=self.sources.condition(place),
                body=self.sources.place(block),
                function=qualified_name(cursor),
            )
        )
        values: dict[int, Any] = {
            p.identity: _Library(number) for p in parameters if type_name(p.type) in _LIBRARY_TYPES
        }
        self.statements(block, _Body(values))
        if [len(rows) for rows in self._rows()] == before:
            self.found.units.pop()

    def _rows(self) -> list[list[Any]]:
        found = self.found
        return [found.definitions, found.implementations, found.fallbacks, found.unresolved, found.delegations]

    def inner_objects(self, block: Cursor) -> None:
        """Registrar objects inside an ordinary function: `static auto r = RegisterOperators()...`, a local library."""
        place = self.sources.place(block)
        if place is None:
            return
        if self._registers(place):
            self.statements(block, _Body(dict(self.objects)))

    # -- bodies

    def run_body(self, function: Cursor, arguments: list[Any], caller: _Body) -> bool:
        """Read the body of `function` with its parameters bound to `arguments`; False if its body is not here."""
        block = body_of(function)
        if block is None or caller.depth >= _DEEPEST_CALL:
            return False
        self.read_bodies.add(function.identity)
        values = dict(caller.values)
        parameters = [child for child in function.children() if child.kind == CursorKind.PARM_DECL]
        for parameter, argument in zip(parameters, arguments, strict=False):
            if argument is not None:
                values[parameter.identity] = argument
        self.statements(block, _Body(values, caller.guard, caller.depth + 1, caller.python_module))
        return True

    def statements(self, cursor: Cursor, body: _Body) -> None:
        for child in cursor.children():
            self.statement(child, body)

    def statement(self, cursor: Cursor, body: _Body) -> None:
        kind = cursor.kind
        if kind == CursorKind.IF_STMT:
            self.branches(cursor, body)
        elif kind == CursorKind.CXX_FOR_RANGE_STMT:
            self.range_loop(cursor, body)
        elif kind in _LOOPS:
            self.statements(cursor, body.guarded(IN_LOOP))
        elif kind == CursorKind.DECL_STMT:
            for child in cursor.children():
                if child.kind == CursorKind.VAR_DECL:
                    self.local(child, body)
        elif cursor.is_expression:
            self.expression(cursor, body)
        elif cursor.is_statement:
            self.statements(cursor, body)

    def branches(self, cursor: Cursor, body: _Body) -> None:
        children = list(cursor.children())
        statements = [c for c in children if c.is_statement]
        tests = [c for c in children if c.is_expression]
        # `if (x) m.def(...)`: the branches may be expressions too; the first child is the test.
        test = tests[0] if tests else None
        branches = [child for child in children if child is not test and (child in statements or child in tests)]
        place = self.sources.place(test) if test is not None else None
        text = self.sources.text(place) if place else "a run-time test"
        for index, branch in enumerate(branches):
            self.statement(branch, body.guarded(text if index == 0 else f"!({text})"))

    def range_loop(self, cursor: Cursor, body: _Body) -> None:
        """`for (auto name : {"a", "b"})` is read once for each literal."""
        children = list(cursor.children())
        variable = next((child for child in children if child.kind == CursorKind.VAR_DECL), None)
        block = children[-1] if children else None
        if variable is None or block is None:
            return
        elements = self._elements(children, body)
        if not elements:
            self.statement(block, body.guarded(IN_LOOP))
            return
        for element in elements:
            self.statement(block, _Body({**body.values, variable.identity: element}, body.guard, body.depth))

    def _elements(self, children: list[Any], body: _Body) -> list[Text]:
        for child in children[:-1]:
            for inner in child.walk():
                if inner.kind == CursorKind.INIT_LIST_EXPR:
                    texts = [self.literals.text(element, body.lookup) for element in inner.children()]
                    return [text for text in texts if text] if texts and all(texts) else []
        return []

    def local(self, cursor: Cursor, body: _Body) -> None:
        name = type_name(cursor.type)
        initialisers = [c for c in cursor.children() if c.is_expression or c.kind == CursorKind.LAMBDA_EXPR]
        if name in _LIBRARY_TYPES and cursor.type.canonical.kind == TypeKind.RECORD:
            unit = self.library_object(cursor)
            if unit is not None:
                body.values[cursor.identity] = _Library(unit)
            return
        if name in _INIT_TYPES or name == _LEGACY_TYPE:
            self.variable(cursor)
            return
        if not initialisers:
            return
        function = lambda_of(initialisers[-1])
        if function is not None:
            body.values[cursor.identity] = function
            return
        value = self.expression(initialisers[-1], body)
        if isinstance(value, _Library):
            body.values[cursor.identity] = value

    def expression(self, cursor: Cursor, body: _Body) -> Any:
        """Read the calls inside an expression; its value where it is a library."""
        kind = cursor.kind
        if kind == CursorKind.DECL_REF_EXPR:
            return self._named(cursor.referenced, body)
        if kind == CursorKind.LAMBDA_EXPR:
            return cursor
        children = list(cursor.children())
        if children and children[0].kind == CursorKind.MEMBER_REF_EXPR:
            method = method_name(children[0])
            if method in _METHODS:
                return self.method_call(cursor, method, children, body)
            objects = [child for child in children[0].children() if is_value(child)]
            if objects and type_name(objects[0].type) in _LIBRARY_TYPES:
                return None  # another method of the library, as `class_`, registers no operator
        if kind == CursorKind.CALL_EXPR:
            return self.plain_call(cursor, children, body)
        if kind == CursorKind.CONDITIONAL_OPERATOR and children:
            place = self.sources.place(children[0])
            text = self.sources.text(place) if place else "a run-time test"
            for index, child in enumerate(children[1:]):
                self.expression(child, body.guarded(text if index == 0 else f"!({text})"))
            return None
        values = [self.expression(child, body) for child in children if is_value(child)]
        return values[0] if len(values) == 1 else next((v for v in values if isinstance(v, _Library)), None)

    def _named(self, declaration: Cursor | None, body: _Body) -> Any:
        """What a name stands for in a body: a library, a text, ..., or the lambda that a variable holds."""
        if declaration is None:
            return None
        bound = body.lookup(declaration)
        if bound is None and declaration.kind == CursorKind.VAR_DECL:
            return lambda_in(declaration)
        return bound

    # -- calls

    def plain_call(self, cursor: Cursor, children: list[Any], body: _Body) -> Any:
        """A call that is no method of a library: a helper with the library as argument, a lambda, a legacy object."""
        if cursor.spelling == "RegisterOperators" and type_name(cursor.type) == _LEGACY_TYPE:
            return self.legacy_object(cursor, children, body)
        if cursor.spelling == "Library" and type_name(cursor.type) in _LIBRARY_TYPES and len(children) == 1:
            return self.expression(children[0], body)
        values = [self.expression(child, body) for child in children if is_value(child)]
        libraries = [value for value in values if isinstance(value, _Library)]
        if not libraries:
            if values and is_lambda(values[0]) and cursor.spelling == "operator()":
                self.run_body(values[0], self._bound_arguments(cursor, values[0], children, body), body)
            return None
        function = values[0] if is_lambda(values[0]) else callee(cursor)
        arguments = self._bound_arguments(cursor, function, children, body)
        if function is None or not self.run_body(function, arguments, body):
            self.delegate(cursor, function, libraries[0])
        return None

    def _bound_arguments(self, cursor: Cursor, function: Cursor, children: list[Any], body: _Body) -> list[Any]:
        """What the parameters of a called helper stand for: a library, a text, a key, a kernel; else None."""
        arguments = list(cursor.arguments())
        if is_lambda(function):
            # The call operator: the object comes first, and a reference to the operator itself is among the children.
            arguments = [child for child in children if is_value(child) and child.spelling != "operator()"][1:]
        elif not arguments:
            arguments = [child for child in children if is_value(child)][1:]
        bound: list[Any] = []
        for argument in arguments:
            value = self.expression(argument, body)
            if value is None:
                value = self.literals.text(argument, body.lookup)
            if value is None:
                value = key_of(argument, body.lookup) if is_key(argument.type) else None
            if value is None:
                place = self.sources.place(argument)
                value = self.kernels.kernel(argument, place, body.lookup) if place else None
            bound.append(value)
        return bound

    def delegate(self, cursor: Cursor, function: Cursor, library: _Library) -> None:
        place = self.sources.place(cursor)
        if place is None:
            return
        name = qualified_name(function) if function is not None and not is_lambda(function) else ""
        condition = self.sources.condition(place)
        if name:
            self.found.delegations.append(Delegation(library.unit, name, place, condition))
        else:
            self._unresolved("def", "the library is passed to a function that is not known", place, library.unit)

    def method_call(self, cursor: Cursor, method: str, children: list[Any], body: _Body) -> Any:
        member = children[0]
        objects = [child for child in member.children() if is_value(child)]
        receiver = self.expression(objects[0], body) if objects else None
        if not isinstance(receiver, _Library):
            if not objects or type_name(objects[0].type) not in (*_LIBRARY_TYPES, _LEGACY_TYPE):
                for child in children[1:]:
                    self.expression(child, body)
                return None
            place = self._call_place(cursor, member)
            if place is not None:
                self._unresolved(method, "it is not known which block this library belongs to", place, None)
            return None
        arguments = [child for child in children[1:] if is_value(child) and not is_defaulted(child)]
        place = self._call_place(cursor, member)
        if place is not None:
            self.register(method, arguments, _Site(receiver.unit, place, self.sources.spelled(cursor), body))
        return receiver

    def _call_place(self, cursor: Cursor, member: Cursor) -> Place | None:
        """The call; in a chain, from the method's own name on."""
        whole = self.sources.place(cursor)
        if whole is None:
            return None
        objects = [child for child in member.children() if is_value(child)]
        if objects and any(inner.kind == CursorKind.MEMBER_REF_EXPR for inner in objects[0].walk()):
            point = self.tu.expansion(member.location)
            view = self.sources.view(point)
            if view is not None and view.path == whole.path and point.offset >= whole.start:
                return self.sources.at(view, point.offset, whole.end)
        return whole

    # -- registrations

    def register(self, method: str, arguments: list[Any], site: _Site) -> None:
        if method in _PYTHON_MODULE:
            text = self.literals.text(arguments[0], site.body.lookup) if arguments else None
            if text is not None:
                site.body.python_module[site.unit] = text.value
        elif method == "def":
            self.definition(arguments, site)
        elif method in ("impl", "impl_UNBOXED"):
            self.implementation(arguments, site)
        elif method == "fallback":
            self.fallback(arguments, site)
        elif method == "op":
            self.legacy_op(arguments, site)

    def definition(self, arguments: list[Any], site: _Site) -> None:
        if not arguments:
            return
        text = self.literals.text(arguments[0], site.body.lookup)
        if text is None:
            self._unresolved_call("def", "the schema is not a constant", site)
            return
        given = None
        tags: tuple[str, ...] = ()
        for argument in arguments[1:]:
            if is_tags(argument):
                tags = tag_names(argument)
            elif given is None and not is_enum(argument, "_RegisterOrVerify"):
                given = self._given(argument, site)
        self._define(text, given, tags, alias_analysis(arguments[0]), site)

    def _given(self, argument: Cursor, site: _Site) -> _Given:
        """The kernel that an argument is, with the key of `torch::dispatch(key, f)` where it is one."""
        kernel = self.kernels.kernel(argument, site.place, site.body.lookup)
        return _Given(kernel, *self._dispatch_key(argument, site.body))

    def _define(
        self, text: Text, given: _Given | None, tags: tuple[str, ...], analysis: str | None, site: _Site
    ) -> None:
        name = _NAME.match(text.value)
        if name is None:
            self._unresolved_call("def", f"no operator name in {text.value[:60]!r}", site)
            return
        self.found.definitions.append(
            Definition(
                unit=site.unit,
                operator=self._operator(site.unit, name),
                place=site.place,
                name_place=text.place_of(name.start(2), name.end()),
                text=text,
                schema=text if "(" in text.value else None,
                kernel=given.kernel if given else None,
                key=given.key if given else None,
                key_place=given.key_place if given else None,
                explicit_namespace=name.group(1),
                tags=tags,
                python_module=site.body.python_module.get(site.unit),
                alias_analysis=analysis,
                condition=self.sources.condition(site.place),
                runtime_guard=site.body.guard,
                spelled=site.spelled,
            )
        )

    def implementation(self, arguments: list[Any], site: _Site) -> None:
        arguments = [argument for argument in arguments if not is_enum(argument, "_RegisterOrVerify")]
        if len(arguments) < 2:
            return
        text = self.literals.text(arguments[0], site.body.lookup)
        if text is None:
            self._unresolved_call("impl", "the operator's name is not a constant", site)
            return
        given = self._given(arguments[-1], site)
        if len(arguments) >= 3:
            key = key_of(arguments[1], site.body.lookup)
            if key is None:
                self._unresolved_call("impl", "the dispatch key is not a constant", site)
                return
            given = _Given(given.kernel, given_key(key), self.sources.place(arguments[1]))
        self._implement(text, given, site)

    def _implement(self, text: Text, given: _Given, site: _Site) -> None:
        name = _NAME.match(text.value)
        if name is None:
            self._unresolved_call("impl", f"no operator name in {text.value[:60]!r}", site)
            return
        block = self.found.units[site.unit]
        self.found.implementations.append(
            Implementation(
                unit=site.unit,
                operator=self._operator(site.unit, name),
                key=given.key or block.key or DEFAULT_KEY,
                kernel=given.kernel,
                place=site.place,
                name_place=text.place_of(name.start(2), name.end()),
                text=text,
                key_place=given.key_place or block.key_place,
                call_key=given.key,
                explicit_namespace=name.group(1),
                condition=self.sources.condition(site.place),
                runtime_guard=site.body.guard,
                spelled=site.spelled,
            )
        )

    def fallback(self, arguments: list[Any], site: _Site) -> None:
        if not arguments:
            return
        given = self._given(arguments[0], site)
        block = self.found.units[site.unit]
        self.found.fallbacks.append(
            Fallback(
                unit=site.unit,
                key=given.key or block.key,
                kernel=given.kernel,
                place=site.place,
                namespace=block.namespace,
                key_place=given.key_place or block.key_place,
                condition=self.sources.condition(site.place),
                runtime_guard=site.body.guard,
                spelled=site.spelled,
            )
        )

    def _dispatch_key(self, argument: Cursor, body: _Body) -> tuple[str | None, Place | None]:
        """The key of `torch::dispatch(key, f)`, where the argument is one."""
        for call in argument.walk():
            if call.kind == CursorKind.LAMBDA_EXPR:
                return None, None
            if call.kind == CursorKind.CALL_EXPR and call.spelling == "dispatch":
                for part in call.children():
                    if part.is_expression and is_key(part.type):
                        return given_key(key_of(part, body.lookup)), self.sources.place(part)
        return None, None

    def _operator(self, unit: int, name: re.Match[str]) -> OperatorName:
        namespace = name.group(1) or self.found.units[unit].namespace or ""
        return OperatorName(namespace, name.group(2), name.group(3) or "")

    def _unresolved_call(self, what: str, reason: str, site: _Site) -> None:
        if site.body.guard == IN_LOOP:
            reason += " (registered in a loop)"
        self._unresolved(what, reason, site.place, site.unit)

    def _unresolved(self, what: str, reason: str, place: Place, unit: int | None) -> None:
        block = self.found.units[unit] if unit is not None else None
        self.found.unresolved.append(
            Unresolved(
                what={"impl_UNBOXED": "impl", "op": "def"}.get(what, what),
                reason=reason,
                place=place,
                unit=unit,
                namespace=block.namespace if block else None,
                key=block.key if block else None,
                condition=self.sources.condition(place),
            )
        )

    # -- the legacy API

    def legacy(self, cursor: Cursor) -> None:
        """`static auto registry = torch::RegisterOperators().op(...)`; a member, or what a constructor makes one of."""
        for child in cursor.children():
            if child.is_expression:
                self.expression(child, _Body({}))

    def legacy_object(self, cursor: Cursor, children: list[Any], body: _Body) -> Any:
        arguments = [child for child in children if is_value(child) and not is_defaulted(child)]
        if len(arguments) == 1 and type_name(arguments[0].type) == _LEGACY_TYPE:
            return self.expression(arguments[0], body)
        place = self.sources.place(cursor)
        if place is None:
            return None
        number = len(self.found.units)
        self.found.units.append(
            Unit(
                id=number,
                kind=UnitKind.LEGACY,
                macro="RegisterOperators",
                place=place,
                namespace=None,
                condition=self.sources.condition(place),
                spelled=self.sources.spelled(cursor),
            )
        )
        if arguments:
            self.legacy_op(arguments, _Site(number, place, self.sources.spelled(cursor), body))
        return _Library(number)

    def legacy_op(self, arguments: list[Any], site: _Site) -> None:
        options = [a for a in arguments if type_name(a.type) == f"{_LEGACY_TYPE}::Options"]
        others = [a for a in arguments if a not in options]
        lookup = site.body.lookup
        text = self.literals.text(others[0], lookup) if others else None
        kernels = [_Given(self.kernels.kernel(others[1], site.place, lookup))] if len(others) > 1 else []
        analysis = None
        for method, values, call in (step for option in options for step in call_chain(option)):
            if method == "schema" and values:
                text = self.literals.text(values[0], lookup)
            elif method in ("kernel", "catchAllKernel"):
                kernels.append(self._legacy_kernel(call, values, site))
            elif method == "aliasAnalysis" and values:
                analysis = enumerator(values[0])
        if text is None:
            self._unresolved_call("def", "the schema is not a constant", site)
            return
        composite = kernels[0] if len(kernels) == 1 and kernels[0].key is None else None
        self._define(text, composite, (), analysis, site)
        for given in kernels if composite is None else ():
            self._implement(text, given, site)

    def _legacy_kernel(self, call: Cursor, arguments: list[Any], site: _Site) -> _Given:
        key, key_place = None, None
        if arguments and is_key(arguments[0].type):
            key = given_key(key_of(arguments[0], site.body.lookup))
            key_place = self.sources.place(arguments[0])
            arguments = arguments[1:]
        if arguments:
            kernel = self.kernels.kernel(arguments[-1], site.place, site.body.lookup)
        else:
            kernel = self.kernels.template_argument(call, site.place, site.body.lookup)
        return _Given(kernel, key, key_place)
