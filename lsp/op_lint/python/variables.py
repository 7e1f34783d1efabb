"""Variables, and where the interpreter is: the state that all of its parts share."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from op_lint.facts import (
    CallArgument,
    OperatorName,
    OperatorUse,
    Place,
    UseKind,
)
from op_lint.python import pure
from op_lint.python.context import Frame, Interest, Knowledge, Linker
from op_lint.python.expressions import Expressions
from op_lint.python.operands import Site
from op_lint.python.recorder import Chain, Recorder
from op_lint.python.source import SourceFile
from op_lint.python.values import (
    Choice,
    Class,
    Constant,
    CustomOp,
    Decorator,
    Derived,
    Function,
    Imported,
    Instance,
    Library,
    Mapping,
    Operator,
    Partial,
    Result,
    Scope,
    Sequence,
    String,
    Unknown,
    Value,
    is_project,
    linkable,
    parameters_of,
)
from op_lint.python.vocabulary import (
    APIS,
    REGISTERING_NAME,
    RELATED_NAME,
)

DEEPEST_CALL = 6
"""How many calls the interpreter follows into each other."""

_GLOBALS = re.compile(r"^\s+global[ \t]+([\w, \t]+)", re.MULTILINE)


class Variables(Expressions):
    """Binds names, notes uses of operators, and knows the place and the circumstances of what is being read.

    `linker` is None as long as only this file is known. `interest` is None where everything is to be read. `wrappers`
    are the last parts of the names of functions that are known to register operators.
    """

    def __init__(
        self,
        source: SourceFile,
        scope: Scope,
        recorder: Recorder,
        interest: Interest | None,
        linker: Linker | None = None,
        wrappers: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(source, scope)
        self.wrappers = wrappers
        self.recorder = recorder
        self.linker = linker
        self.interest = interest
        self.chain: Chain = ()
        self.enclosing: Place | None = None
        self.knowledge: dict[Place, Knowledge] = {}
        self.unread: list[Function] = []
        """Functions that are too complex to be read to their end."""
        statements = _GLOBALS.findall(source.text) if "global" in source.text else ()
        self.changed = frozenset(name for names in statements for name in names.replace(",", " ").split())
        self._frames: list[Frame] = []
        self._waiting: list[Function] = []
        self._class: list[Class] = []

    # Where

    def function_place(self) -> Place | None:
        """The function whose body is being read."""
        return self._frames[-1].function.place if self._frames else self.enclosing

    def site(self, place: Place) -> Site:
        """The site of a call at `place` of the code at hand."""
        outer = self.chain[0] if self.chain else None
        return Site(outer or place, place if outer else None, (*self.chain, place), self.context)

    def place_of(self, at: Place | ast.expr) -> Place:
        """The place of a call. A method's call over several lines starts at the method's name, as in tracebacks."""
        if isinstance(at, Place):
            return at
        if isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute) and at.func.end_lineno != at.lineno:
            start = self.source.attribute_place(at.func)
            return Place(start.path, start.line, start.start, self.source.place(at).end)
        return self.source.place(at)

    def resolved(self, value: Value) -> Value:
        """What other files tell about a value."""
        if self.linker is not None and isinstance(value, Imported | Result):
            found = self.linker.lookup(value, self.source.path)
            instead = value.instead if isinstance(value, Result) and not value.attributes else None
            return instead if instead is not None and isinstance(found, Unknown | Result) else found
        return value

    def tested(self, text: str) -> None:
        """Note that something asks whether an expression, of this text, counts as true."""
        self.recorder.note_test(text)

    def _is_of_interest(self, node: ast.stmt | ast.expr) -> bool:
        return self.interest is None or self.interest.within(node)

    # Names

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""
        if isinstance(target, ast.Name):
            self.set_name(target.id, value, target)
        elif isinstance(target, ast.Tuple | ast.List):
            self._bind_all(target, value)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, Unknown(target.value, self.source, self.scope))
        elif isinstance(target, ast.Attribute):
            self._bind_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self._bind_item(target, value)

    def set_name(self, name: str, value: Value, node: ast.expr | None = None) -> None:
        """Bind a name in the scope at hand, or in the one that `global` or `nonlocal` names."""
        scope = self.scope.globals.get(name, self.scope)
        before = scope.names.get(name)
        if isinstance(before, Library) and before != value:
            self._lose(before, scope, name, node)
        scope.names[name] = value
        if self.interest is not None and scope.kind != "function" and worth_following(value):
            self.interest.follow([name])
        if isinstance(value, Library):
            value.state.names.add((scope, name))
            value.state.name = value.state.name or name
        elif not isinstance(value, Imported | Unknown | Function | Constant | String):
            self.escape(value)

    def _lose(self, library: Library, scope: Scope, name: str, node: ast.expr | None) -> None:
        state = library.state
        state.names.discard((scope, name))
        if not state.names and node is not None and state.end is None:
            state.end = self.source.place(node)

    def _bind_all(self, target: ast.Tuple | ast.List, value: Value) -> None:
        items = pure.items_of(value)
        exact = items is not None and len(items) == len(target.elts)
        exact = exact and not any(isinstance(element, ast.Starred) for element in target.elts)
        for index, element in enumerate(target.elts):
            unpacked: Value = Unknown(None, parameters=parameters_of(value), words="an unpacked value")
            if exact and items is not None:
                unpacked = items[index]
            elif linkable(value):
                unpacked = Derived(value, "item", index)
            self.bind(element, unpacked)

    def _bind_attribute(self, target: ast.Attribute, value: Value) -> None:
        owner = self.eval(target.value)
        self.escape(value)
        if isinstance(owner, Instance):
            owner.attributes[target.attr] = value
        elif isinstance(owner, Class):
            owner.scope.names[target.attr] = value
        elif isinstance(owner, Operator) and len(owner.parts) == 1:
            self.use(Operator((*owner.parts, target.attr)), target, kind=UseKind.ASSIGNMENT)

    def _bind_item(self, target: ast.Subscript, value: Value) -> None:
        owner, key = self.eval(target.value), self.eval(target.slice)
        self.escape(value)
        if not isinstance(target.value, ast.Name):
            return
        if isinstance(owner, Mapping):
            self.set_name(target.value.id, Mapping((*owner.items, (key, value))))
        elif isinstance(owner, Sequence):
            self.set_name(target.value.id, Unknown(target.value, words=target.value.id))

    def escape(self, value: Value, depth: int = 0) -> None:
        """A value goes where it may be kept: a library in it stays alive."""
        if isinstance(value, Library):
            value.state.kept = True
        elif depth <= DEEPEST_CALL:
            for part in _held(value):
                self.escape(part, depth + 1)

    # Uses

    def use(
        self, value: Operator, node: ast.expr, *, called: ast.Call | None = None, kind: UseKind = UseKind.REFERENCE
    ) -> None:
        """An operator is named by `node`, and called where `called` is set."""
        place = self.source.place(node)
        name = self.source.attribute_place(node) if isinstance(node, ast.Attribute) else place
        if isinstance(node, ast.Attribute) and len(value.parts) == 3 and isinstance(node.value, ast.Attribute):
            name = self.source.attribute_place(node.value)
        self._use(value, place, name, UseKind.CALL if called else kind, called)

    def _use(
        self,
        value: Operator,
        place: Place,
        name: Place,
        kind: UseKind,
        called: ast.Call | None = None,
        api: str | None = None,
    ) -> None:
        if self._frames and not self._frames[-1].alone and self.linker is not None:
            return
        overload = value.parts[2] if len(value.parts) > 2 else ""
        self.recorder.use(
            OperatorUse(
                OperatorName(value.parts[0], value.parts[1], "" if overload == "default" else overload),
                len(value.parts) == 2,
                kind,
                place,
                name,
                self.context.run,
                api,
                None if called is None else tuple(self._shapes(called)),
                self.context.caught,
                self.function_place(),
                self.context.condition,
            )
        )

    def _shapes(self, call: ast.Call) -> Iterable[CallArgument]:
        for argument in call.args:
            if isinstance(argument, ast.Starred):
                yield CallArgument(None, "*", self.source.place(argument))
            else:
                yield CallArgument(None, _shape(argument), self.source.place(argument))
        for keyword in call.keywords:
            kind = "**" if keyword.arg is None else _shape(keyword.value)
            yield CallArgument(keyword.arg, kind, self.source.place(keyword))


def _held(value: Value) -> Iterable[Value]:
    """What a value keeps alive."""
    if isinstance(value, Sequence):
        return value.items
    if isinstance(value, Mapping):
        return [item for _, item in value.items]
    if isinstance(value, Instance):
        return value.attributes.values()
    if isinstance(value, Partial):
        return value.arguments.values()
    return [option for _, option in value.options] if isinstance(value, Choice) else ()


def _shape(node: ast.expr) -> str:
    """The type of an argument, where the source shows it (`CallArgument.kind`)."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Constant):
        return "None" if node.value is None else type(node.value).__name__
    if isinstance(node, ast.JoinedStr):
        return "str"
    return type(node).__name__.lower() if isinstance(node, ast.List | ast.Tuple | ast.Dict) else ""


def worth_following(value: Value) -> bool:
    """Whether names of this value are worth looking for in the functions of a module."""
    if isinstance(value, Choice):
        return any(worth_following(option) for _, option in value.options)
    if isinstance(value, Imported):
        dotted = value.dotted
        if is_project(value):
            name = dotted.rpartition(".")[2]
            return bool(REGISTERING_NAME.search(name) or RELATED_NAME.search(name))
        return dotted in APIS or dotted in _REGISTERING_MODULES
    return isinstance(value, Library | CustomOp | Operator | Partial | Decorator | Result | Instance)


_REGISTERING_MODULES = frozenset(name.rpartition(".")[0] for name in APIS)
