"""Functions and classes of the file: read once by themselves, and again for calls that tell more."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable

from op_lint.facts import (
    Place,
    PythonCall,
    RunTime,
)
from op_lint.python.calls import Calls, derives_from_library
from op_lint.python.context import Context, Frame, Knowledge, Outcome
from op_lint.python.expressions import TooComplexError, choice, is_interesting
from op_lint.python.signatures import Slot, slots
from op_lint.python.values import (
    NONE,
    Arguments,
    Class,
    Function,
    FunctionNode,
    Imported,
    Instance,
    Library,
    Mapping,
    Scope,
    Sequence,
    Unknown,
    Value,
    parameters_of,
    plain,
)
from op_lint.python.variables import DEEPEST_CALL

_SHORT = 6
"""A function of so few statements is followed although nothing in it looks like a registration."""


class Functions(Calls):
    """Reads functions. What their statements do is left to `op_lint.python.statements`."""

    @abstractmethod
    def block(self, statements: Iterable[ast.stmt]) -> Outcome:
        """Read statements one after the other."""

    # Definitions

    def defined_function(self, node: ast.Lambda) -> Function:
        """The function that a lambda expression makes."""
        return self._new_function(node, "<lambda>")

    def _new_function(self, node: FunctionNode, name: str) -> Function:
        defaults = {slot.arg.arg: self.eval(slot.default) for slot in slots(node) if slot.default is not None}
        owner = self._class[-1] if self._class and self._class[-1].scope is self.scope else None
        outer = self._frames[-1].function if self._frames else None
        function = Function(
            self._qualified(name),
            node,
            self.source,
            self.scope,
            self.source.place(node),
            defaults,
            self.context.condition,
            owner=owner,
            outer=outer,
        )
        self.recorder.nodes.setdefault(function.place, node)
        if function.place not in self.knowledge:
            self.knowledge[function.place] = Knowledge(function)
            self._waiting.append(function)
        return function

    def _qualified(self, name: str) -> str:
        if self._class and self._class[-1].scope is self.scope:
            return f"{self._class[-1].name}.{name}"
        return f"{self._frames[-1].function.name}.<locals>.{name}" if self._frames else name

    # Calls

    def call_function(self, callee: Function, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        """Follow a call of a function of this file; None if it is not followed."""
        if callee.node is None:
            return None
        self._note_call(callee, at)
        if len(self._frames) >= DEEPEST_CALL or any(frame.function.place == callee.place for frame in self._frames):
            return None
        if self.linker is None:
            known = self._read_alone(callee)
            if not known.depends and not parameters_of(known.returned) and not isinstance(known.returned, Function):
                return known.returned if _is_of_use(known.returned) else None
            if not known.depends and not (_is_of_use(known.returned) and is_short(callee.node)):
                return None
        return self._follow(callee, arguments, at)

    def _note_call(self, callee: Function, at: Place | ast.expr) -> None:
        if self.linker is not None or (self._frames and not self._frames[-1].alone):
            return
        call = PythonCall(
            self.place_of(at),
            self.context.run,
            self.function_place(),
            bool(self.context.loops),
            self.context.condition,
        )
        self.recorder.calls.setdefault(callee.place, []).append(call)

    def _follow(self, callee: Function, arguments: Arguments, at: Place | ast.expr) -> Value:
        """Read a function with the arguments of a call."""
        outer = self.chain
        bound = _bound(callee, arguments)
        self.chain = (*outer, self.place_of(at))
        try:
            return self._run(callee, bound, alone=False)
        finally:
            self.chain = outer

    def _read_alone(self, function: Function) -> Knowledge:
        """Read a function whose parameters are unknown, and what is defined in it; once."""
        known = self.knowledge.setdefault(function.place, Knowledge(function))
        if known.read or function.node is None or not self._is_worth_reading(function):
            return known
        known.read = True
        outer, self.chain = self.chain, ()
        waiting, self._waiting = self._waiting, []
        context = Context(function.condition, run=RunTime.FUNCTION)
        classes, self._class = self._class, []
        frames, self._frames = self._frames, []
        try:
            with self.within(context):
                known.returned = self._run(known.function, self._unknown_arguments(known.function), alone=True)
            self._read_waiting()
        finally:
            self.chain, self._class, self._frames = outer, classes, frames
            self._waiting = waiting + self._waiting
        if known.depends and self.interest is not None:
            makes = function.owner is not None and function.name.endswith(".__init__")
            name = function.owner.name if makes and function.owner is not None else function.name
            self.interest.follow([name.rpartition(".")[2]])
        return known

    def _read_waiting(self) -> None:
        """Read the functions that are of interest by themselves. What one does may make others interesting."""
        progress = True
        while progress:
            waiting, self._waiting = self._waiting, []
            later = [function for function in waiting if not self._read_if_interesting(function)]
            progress = len(later) < len(waiting) or bool(self._waiting)
            self._waiting = later + self._waiting

    def _read_if_interesting(self, function: Function) -> bool:
        assert function.node is not None
        if not self._is_of_interest(function.node):
            return False
        if self._frames:
            self._read_alone(function)
            return True
        self.restart()
        try:
            self._read_alone(function)
        except TooComplexError:
            self.unread.append(function)
        return True

    def _is_worth_reading(self, function: Function) -> bool:
        node = function.node
        assert node is not None
        return self._is_of_interest(node) or is_short(node)

    def _unknown_arguments(self, function: Function) -> dict[str, Value]:
        node = function.node
        assert node is not None
        names: dict[str, Value] = {
            slot.arg.arg: Unknown(words=f"parameter `{slot.arg.arg}`", parameters=frozenset({slot.arg.arg}))
            for slot in slots(node)
        }
        first = next(iter(names), None)
        if function.owner is not None and function.binding != "static" and first is not None:
            is_class = function.binding == "class"
            names[first] = function.owner if is_class else self.receiver_of(function.owner)
        return names

    def _run(self, function: Function, names: dict[str, Value], *, alone: bool) -> Value:
        node = function.node
        assert node is not None
        frame = Frame(function, alone)
        scope = Scope("function", function.scope)
        scope.names.update(names)
        source, outer, classes = self.source, self.scope, self._class
        self.source, self.scope, self._class = function.source, scope, []
        self._frames.append(frame)
        try:
            if isinstance(node, ast.Lambda):
                self._returned(self.eval(node.body))
            else:
                self.block(node.body)
        finally:
            self._frames.pop()
            self.source, self.scope, self._class = source, outer, classes
        return choice(frame.returned) if frame.returned else NONE

    def _returned(self, value: Value) -> None:
        self.escape(value)
        if self._frames:
            self._frames[-1].returned.append((self.context.condition, value))

    def yielded(self, value: Value) -> None:
        """A generator gives a value."""
        self._returned(value)

    def depends(self) -> None:
        """The functions at hand register something that depends on their parameters."""
        for frame in self._frames:
            function: Function | None = frame.function
            while function is not None:
                self.knowledge.setdefault(function.place, Knowledge(function)).depends = True
                function = function.outer

    # Classes

    def receiver_of(self, cls: Class) -> Instance:
        """An object of a class of which nothing is known but the class."""
        if cls.instance is None:
            cls.instance = Instance(cls, generic=True)
            made = cls.scope.names.get("__init__")
            if isinstance(made, Function):
                self._read_alone(made)
        return cls.instance

    def instantiate(self, callee: Class, arguments: Arguments, at: Place | ast.expr) -> Value:
        """Make an object of a class of this file."""
        instance = Instance(callee)
        made = self.attribute(instance, "__init__", at if isinstance(at, ast.expr) else ast.Constant(None))
        if isinstance(made, Function):
            if self.linker is not None or is_short(made.node) or self._is_registering(callee):
                self._follow(made, arguments, at)
        elif derives_from_library(callee):
            library = self.call(Imported("torch", ("library", "Library")), arguments, at)
            instance.library = library if isinstance(library, Library) else None
        if instance.library is not None:
            instance.library.state.kept = True
        return instance

    def _is_registering(self, cls: Class) -> bool:
        """Whether what objects of a class register depends on how they are made."""
        self.receiver_of(cls)
        methods = [
            value for value in cls.scope.names.values() if isinstance(value, Function) and value.node is not None
        ]
        if any(self._read_alone(method).depends for method in methods if self._is_worth_reading(method)):
            return True
        return any(self._is_registering(base) for base in cls.bases if isinstance(base, Class) and base is not cls)


def is_short(node: FunctionNode | None) -> bool:
    """Whether a function is followed although nothing in it looks like a registration."""
    return isinstance(node, ast.Lambda) or (node is not None and len(node.body) <= _SHORT)


def _is_of_use(value: Value) -> bool:
    """Whether it matters what a function returns."""
    return is_interesting(value) and value != NONE


def _bound(function: Function, arguments: Arguments) -> dict[str, Value]:
    """The values of a function's parameters in a call."""
    node = function.node
    assert node is not None
    positional = [argument.value for argument in arguments.positional]
    if function.receiver is not None:
        positional.insert(0, function.receiver)
    keywords = {name: argument.value for name, argument in arguments.keywords}
    names: dict[str, Value] = {}
    for slot in slots(node):
        names[slot.arg.arg] = _bound_one(slot, function, positional, keywords)
    return names


def _bound_one(slot: Slot, function: Function, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of one parameter; what it takes is removed from the arguments."""
    name = slot.arg.arg
    if slot.kind == "args":
        taken, positional[:] = tuple(positional), []
        return Sequence(taken, "tuple")
    if slot.kind == "kwargs":
        return Mapping(tuple((plain(key), value) for key, value in keywords.items()))
    if slot.kind in ("positional", "any") and positional:
        return positional.pop(0)
    if name in keywords:
        return keywords.pop(name)
    return function.defaults.get(name) or Unknown(words=f"parameter `{name}`, which is not given")
