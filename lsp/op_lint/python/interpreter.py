"""The abstract interpreter: a module's statements in order, and its functions as far as their calls are known.

Nothing of the project is run. Both arms of a test that cannot be decided are read, each under its condition. A
function is read once by itself, with parameters that are unknown; where what it registers depends on them, it is read
again for every call that gives them (`direct_register_custom_op("name", f)` and its kin).
"""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from op_lint.condition import ALWAYS, NEVER, Atom, Condition, conjunction, disjunction, negation
from op_lint.facts import (
    CallArgument,
    OperatorName,
    OperatorUse,
    Place,
    PythonCall,
    PythonImport,
    RunTime,
    UseKind,
)
from op_lint.python import pure
from op_lint.python.expressions import Context, Expressions, TooComplexError, choice, is_interesting
from op_lint.python.modules import relative_module
from op_lint.python.recorder import Chain, Deferred, Recorder
from op_lint.python.registrations import LIBRARY, Registrar, Site
from op_lint.python.render import render
from op_lint.python.signatures import Slot, describe, slots
from op_lint.python.source import SourceFile
from op_lint.python.values import (
    NONE,
    Argument,
    Arguments,
    Choice,
    Class,
    Constant,
    CustomOp,
    Decorator,
    Derived,
    Function,
    FunctionNode,
    Imported,
    Instance,
    Library,
    LibraryState,
    Mapping,
    Method,
    Operator,
    Partial,
    Record,
    Result,
    Scope,
    Sequence,
    String,
    Super,
    Unknown,
    Value,
    imported,
    is_project,
    linkable,
    parameters_of,
    plain,
)
from op_lint.python.vocabulary import (
    APIS,
    CUSTOM_OP_METHODS,
    LIBRARY_METHODS,
    QUALIFIED,
    REGISTERING_NAME,
    RELATED_NAME,
    SCHEMA,
    SINCE_2_4,
    TORCH_LIBRARIES,
)

_DEEPEST_CALL = 6
"""How many calls the interpreter follows into each other."""

_SHORT = 6
"""A function of so few statements is followed although nothing in it looks like a registration."""

_LONG = 40
"""A statement of a module that has more lines is not read unless something in it looks like a registration."""

_LONG_TABLE = 500
"""The same for assignments, which may be tables of kernels."""

_SHORT_BLOCK = 3
"""In a function, this is the limit for blocks; other statements are read if they are small."""

_STEPS_OF_A_ROUND = 20
"""How many steps a round of a loop counts for, on top of those of its body."""

_SMALL = 16
"""Nodes of the largest statement that is read in a function although nothing in it looks like a registration."""


class Linker(Protocol):
    """What is known of other files."""

    def lookup(self, value: Value, importer: str) -> Value:
        """What an imported value or a deferred result is; the value itself where that is not known."""
        ...


class Interest(Protocol):
    """Where in a file something stands that may be a registration, a use or a load."""

    def within(self, node: ast.stmt | ast.expr) -> bool:
        """Whether something does in a node."""
        ...

    def follow(self, names: Iterable[str]) -> None:
        """These names of the module are of interest, too."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What follows a statement: the next one of its block is reached if `goes`, and not at all if it `ends` the block.

    `alive` is the condition under which the function is not left by a `return`.
    """

    ends: bool = False
    goes: Condition = ALWAYS
    alive: Condition = ALWAYS


_ON = Outcome()
_RETURN = Outcome(True, NEVER, NEVER)
_RAISE = Outcome(True)
_JUMP = Outcome(True, NEVER)


@dataclass(eq=False, slots=True)
class _Frame:
    """A function that is being read; `alone` where its parameters are unknown."""

    function: Function
    alone: bool
    returned: list[tuple[Condition, Value]] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class _Knowledge:
    """What is known of a function: whether it `depends` on its parameters for what it registers, and what it returns."""

    function: Function
    read: bool = False
    depends: bool = False
    returned: Value = NONE


_GLOBALS = re.compile(r"^\s+global[ \t]+([\w, \t]+)", re.MULTILINE)


class Interpreter(Expressions):
    """Reads a module. `linker` is None as long as only this file is known.

    `wrappers` are the last parts of the names of functions that are known to register operators.
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
        self.registrar = Registrar(self)
        self.knowledge: dict[Place, _Knowledge] = {}
        self.unread: list[Function] = []
        """Functions that are too complex to be read to their end."""
        self.changed = frozenset(name for names in _GLOBALS.findall(source.text) for name in names.replace(",", " ").split())
        self._frames: list[_Frame] = []
        self._waiting: list[Function] = []
        self._class: list[Class] = []

    # The module

    def module(self, tree: ast.Module) -> None:
        """Read a module, then its functions."""
        self.block(tree.body)
        self._read_waiting()

    def finish(self) -> None:
        """Close the facts, and describe the functions in which something of them stands.

        Functions that only call operators are many; they are described where importing the module calls them.
        """
        self.recorder.flush()
        registered, used = self.recorder.starts(), self.recorder.use_starts()
        reached = self.recorder.reached()
        for place, known in self.knowledge.items():
            if _holds(registered, place) or (place in reached and _holds(used, place)):
                described = describe(known.function)
                if described is not None:
                    self.recorder.functions.setdefault(place, described)

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

    def _is_of_interest(self, node: ast.stmt | ast.expr) -> bool:
        return self.interest is None or self.interest.within(node)

    # Statements

    def block(self, statements: Iterable[ast.stmt]) -> Outcome:
        """Read statements one after the other."""
        goes: Condition = ALWAYS
        alive: Condition = ALWAYS
        for statement in statements:
            with self.under(goes):
                outcome = self.statement(statement)
            goes = conjunction((goes, outcome.goes))
            alive = conjunction((alive, outcome.alive))
            if outcome.ends:
                return Outcome(True, goes, alive)
        return Outcome(False, goes, alive)

    def statement(self, node: ast.stmt) -> Outcome:
        """Read a statement."""
        handler = _STATEMENTS.get(type(node))
        if handler is None:
            return self._plain_statement(node)
        if not isinstance(node, _ALWAYS_READ) and self._may_skip(node) and not self._is_of_interest(node):
            self._skip(node)
            return _ON
        outcome: Outcome | None = handler(self, node)
        return outcome or _ON

    def _may_skip(self, node: ast.stmt) -> bool:
        """Whether a statement is too long to be read for the sake of the names that it binds."""
        lines = (node.end_lineno or node.lineno) - node.lineno
        if not self._frames:
            return lines > (_LONG_TABLE if isinstance(node, ast.Assign | ast.AnnAssign) else _LONG)
        return self._frames[-1].alone and (lines > _SHORT_BLOCK or not isinstance(node, _READ))

    def _skip(self, node: ast.stmt) -> None:
        """Read no more of a statement than which names it binds, and on which parameters they may depend."""
        size, names = _names_in(node)
        if size <= _SMALL and isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
            _STATEMENTS[type(node)](self, node)
            return
        parameters: frozenset[str] = frozenset()
        known = self.scope.names
        for name in names:
            if isinstance(name.ctx, ast.Load) and name.id in known:
                parameters |= parameters_of(known[name.id])
        for name in names:
            if isinstance(name.ctx, ast.Store):
                self.set_name(name.id, Unknown(words=name.id, parameters=parameters), name)

    def _plain_statement(self, node: ast.stmt) -> Outcome:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child)
        return _ON

    def _expression(self, node: ast.Expr) -> Outcome:
        if isinstance(node.value, ast.Constant):
            return _ON
        self.eval(node.value)
        exits = isinstance(node.value, ast.Call) and render(node.value.func, self.scope) in _EXITS
        return _RAISE if exits else _ON

    def yielded(self, value: Value) -> None:
        """A generator gives a value."""
        self._returned(value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.bind(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.eval(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        read = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
        self.bind(node.target, self.eval(read))

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
        if self.interest is not None and scope.kind != "function" and _worth_following(value):
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
        elif depth <= _DEEPEST_CALL:
            for part in _held(value):
                self.escape(part, depth + 1)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                before = self.scope.names.pop(target.id, None)
                if isinstance(before, Library):
                    self._lose(before, self.scope, target.id, target)
            else:
                self.eval(target)

    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        for name in node.names:
            scope = self.scope.module()
            if isinstance(node, ast.Nonlocal):
                scope = self._enclosing(name) or scope
            self.scope.globals[name] = scope

    def _enclosing(self, name: str) -> Scope | None:
        scope = self.scope.parent
        while scope is not None and (scope.kind != "function" or name not in scope.names):
            scope = scope.parent
        return scope

    def _return(self, node: ast.Return) -> Outcome:
        value = NONE if node.value is None else self.eval(node.value)
        self._returned(value)
        return _RETURN

    def _returned(self, value: Value) -> None:
        self.escape(value)
        if self._frames:
            self._frames[-1].returned.append((self.context.condition, value))

    def _raise(self, node: ast.Raise) -> Outcome:
        self._plain_statement(node)
        return _RAISE

    def _jump(self, _node: ast.Break | ast.Continue) -> Outcome:
        return _JUMP

    # Branches

    def _if(self, node: ast.If) -> Outcome:
        condition = self.test(node.test)
        run = RunTime.MAIN if condition == _IS_MAIN and self.context.run is RunTime.IMPORT else self.context.run

        def body() -> Outcome:
            with self.within(replace(self.context, run=run)):
                return self.block(node.body)

        return self._branches([(condition, body), (negation(condition), lambda: self.block(node.orelse))])

    def _branches(self, branches: list[tuple[Condition, Callable[[], Outcome]]]) -> Outcome:
        """Read alternatives, each from the same names, and join what they leave."""
        branches = [branch for branch in branches if branch[0] != NEVER]
        before = dict(self.scope.names)
        left: list[tuple[Condition, dict[str, Value]]] = []
        outcomes: list[tuple[Condition, Outcome]] = []
        for condition, read in branches:
            self.scope.names = dict(before)
            with self.under(condition):
                outcome = read()
            outcomes.append((condition, outcome))
            if not outcome.ends:
                left.append((condition, self.scope.names))
        self.scope.names = _joined(left) if left else self.scope.names
        return Outcome(
            bool(outcomes) and not left,
            _reached((condition, outcome.goes) for condition, outcome in outcomes),
            _reached((condition, outcome.alive) for condition, outcome in outcomes),
        )

    def _match(self, node: ast.Match) -> Outcome:
        subject = self.eval(node.subject)
        for case in node.cases:
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchValue):
                    self.eval(part.value)
        written = render(node.subject, self.scope)
        branches: list[tuple[Condition, Callable[[], Outcome]]] = []
        reached: Condition = ALWAYS
        for case in node.cases:
            always = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
            matches: Condition = ALWAYS if always else Atom(f"{written} matches {ast.unparse(case.pattern)}")
            branches.append((conjunction((reached, matches)), self._case(case, subject)))
            reached = conjunction((reached, negation(matches)))
        branches.append((reached, lambda: _ON))
        return self._branches(branches)

    def _case(self, case: ast.match_case, subject: Value) -> Callable[[], Outcome]:
        def read() -> Outcome:
            for name in _captured(case.pattern):
                self.set_name(name, Unknown(words=name, parameters=parameters_of(subject)))
            if case.guard is not None:
                self.eval(case.guard)
            return self.block(case.body)

        return read

    def _try(self, node: ast.Try) -> Outcome:
        caught = tuple(name for handler in node.handlers for name in self._exceptions(handler))
        swallowed = any(not _raises(handler.body) for handler in node.handlers)
        works = self._success(node, caught)
        context = replace(
            self.context,
            caught=(*caught, *self.context.caught),
            swallowed=swallowed or self.context.swallowed,
            condition=conjunction((self.context.condition, works)),
        )
        before = dict(self.scope.names)

        def body() -> Outcome:
            with self.within(context):
                outcome = self.block(node.body)
            rest = self.block(node.orelse) if not outcome.ends else _ON
            return Outcome(outcome.ends or rest.ends, conjunction((outcome.goes, rest.goes)), outcome.alive)

        branches: list[tuple[Condition, Callable[[], Outcome]]] = [(works, body)]
        for handler in node.handlers:
            branches.append((negation(works), self._handler(handler, before)))
        outcome = self._branches(branches)
        final = self.block(node.finalbody)
        return Outcome(outcome.ends or final.ends, conjunction((outcome.goes, final.goes)), outcome.alive)

    def _success(self, node: ast.Try, caught: tuple[str, ...]) -> Condition:
        """The condition that nothing in a `try` is raised: that an import works, if it has one."""
        if not node.handlers:
            return ALWAYS
        for statement in node.body:
            if isinstance(statement, ast.Import):
                return Atom(f"import {statement.names[0].name}")
            if isinstance(statement, ast.ImportFrom):
                return Atom(f"import {self._from_module(statement)}.{statement.names[0].name}")
        place = self.source.place(node)
        return Atom(f"no {' or '.join(caught) or 'exception'} at {place.path}:{place.line}")

    def _exceptions(self, handler: ast.ExceptHandler) -> list[str]:
        if handler.type is None:
            return ["BaseException"]
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        return [render(kind, self.scope) for kind in types]

    def _handler(self, handler: ast.ExceptHandler, before: dict[str, Value]) -> Callable[[], Outcome]:
        def read() -> Outcome:
            self.scope.names = dict(before)
            if handler.name:
                self.scope.names[handler.name] = Unknown(words=handler.name)
            return self.block(handler.body)

        return read

    def _with(self, node: ast.With | ast.AsyncWith) -> Outcome:
        context = self.context
        for item in node.items:
            value = self.eval(item.context_expr)
            suppressed = self._suppressed(item.context_expr)
            if suppressed:
                context = replace(context, caught=(*suppressed, *context.caught), swallowed=True)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        with self.within(context):
            return self.block(node.body)

    def _suppressed(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Call) and render(node.func, self.scope) == "contextlib.suppress":
            return [render(argument, self.scope) for argument in node.args]
        return []

    # Loops

    def _for(self, node: ast.For | ast.AsyncFor) -> Outcome:
        iterable = self.eval(node.iter)
        items = pure.items_of(iterable) or None  # what is empty now may be filled by what is not understood
        if items is None:
            self._widen(node)
        if items is not None and not self._is_of_interest(node):
            items = items[-1:]
        place = self.source.place(node)
        loops = (*self.context.loops, (place, None if items is None else len(items)))
        alive: Condition = ALWAYS
        for item in items if items is not None else (self.each(iterable, node.iter),):
            self.step(_STEPS_OF_A_ROUND)
            self.bind(node.target, item)
            with self.within(replace(self.context, loops=loops)), self.under(alive):
                alive = conjunction((alive, self.block(node.body).alive))
        return self._after_loop(node, alive)

    def _widen(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        """Forget what variables are that a loop changes: it may have run before."""
        for name in _names_in(node)[1]:
            if isinstance(name.ctx, ast.Store) and isinstance(self.scope.names.get(name.id), _CHANGING):
                self.scope.names[name.id] = Unknown(words=name.id)

    def _while(self, node: ast.While) -> Outcome:
        self._widen(node)
        self.eval(node.test)
        loops = (*self.context.loops, (self.source.place(node), None))
        with self.within(replace(self.context, loops=loops)):
            alive = self.block(node.body).alive
        return self._after_loop(node, alive)

    def _after_loop(self, node: ast.For | ast.AsyncFor | ast.While, alive: Condition) -> Outcome:
        if alive == NEVER:
            alive = ALWAYS  # the loop may not be entered
        with self.under(alive):
            rest = self.block(node.orelse)
        alive = conjunction((alive, rest.alive))
        return Outcome(False, alive, alive)

    # Definitions

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = [self.eval(decorator) for decorator in node.decorator_list]
        function = self._new_function(node, node.name)
        value: Value = function
        argument_place = self.source.name_place(node)
        for written, decorator in zip(reversed(node.decorator_list), reversed(decorators), strict=True):
            kind = _BINDINGS.get(decorator.dotted) if isinstance(decorator, Imported) else None
            if kind is not None:
                value = function = replace(function, binding=kind)
                self.knowledge[function.place].function = function
                continue
            result = self.call(decorator, Arguments((Argument(value, written=argument_place),)), written)
            replaced = replace(value, decorated=True) if isinstance(value, Function) else value
            if isinstance(result, Result):
                value = replace(result, instead=replaced)
            else:
                value = result if is_interesting(result) and result != NONE else replaced
        self.set_name(node.name, value)

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
            self.knowledge[function.place] = _Knowledge(function)
            self._waiting.append(function)
        return function

    def _qualified(self, name: str) -> str:
        if self._class and self._class[-1].scope is self.scope:
            return f"{self._class[-1].name}.{name}"
        return f"{self._frames[-1].function.name}.<locals>.{name}" if self._frames else name

    def _class_definition(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self.eval(decorator)
        bases = tuple(self.eval(base) for base in node.bases)
        self.arguments(node)
        name = self._qualified(node.name)
        cls = Class(name, node, self.source, Scope("class", self.scope), bases)
        self._class.append(cls)
        outer, self.scope = self.scope, cls.scope
        try:
            self.block(node.body)
        finally:
            self.scope = outer
            self._class.pop()
        self.set_name(node.name, cls)

    # Imports

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            self._imported(alias, alias.name, None, alias.asname or top, relative=False)
            parts = tuple(alias.name.split("."))
            self.set_name(alias.asname or top, imported(parts[0], parts[1:] if alias.asname else ()))

    def _import_from(self, node: ast.ImportFrom) -> None:
        module, relative = self._from_module(node), node.level > 0
        for alias in node.names:
            self._imported(alias, module, alias.name, alias.asname or alias.name, relative=relative)
            if alias.name == "*":
                self._import_star(module)
                continue
            parts = tuple(module.split(".")) if module else ()
            if relative:
                value = imported(module, (alias.name,), relative=True)
            else:
                value = imported(parts[0], (*parts[1:], alias.name))
            self.set_name(alias.asname or alias.name, self.resolved(self._known(value, alias)))

    def _from_module(self, node: ast.ImportFrom) -> str:
        return relative_module(self.source.path, node.level, node.module) if node.level else node.module or ""

    def _known(self, value: Value, alias: ast.alias) -> Value:
        """What is known of a few things in Python and in torch itself."""
        dotted = value.dotted if isinstance(value, Imported) else ""
        if dotted in ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"):
            return Constant(False)
        namespace = TORCH_LIBRARIES.get(dotted)
        if namespace is None:
            return value
        return Library(LibraryState(self.source.place(alias), LIBRARY, namespace, "DEF", None, kept=True))

    def _import_star(self, module: str) -> None:
        if module == "torch.library":
            for name in ("Library", "custom_op", "define", "impl", "infer_schema", "register_fake", "triton_op"):
                self.set_name(name, Imported("torch", ("library", name)))
        else:
            self.scope.module().opaque = True

    def _imported(self, alias: ast.alias, module: str, name: str | None, bound: str, *, relative: bool) -> None:
        self.recorder.add_import(
            PythonImport(
                module,
                name,
                bound,
                self.source.place(alias),
                self.context.run,
                relative,
                self.context.caught,
                self.context.condition,
            )
        )

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
        self, value: Operator, place: Place, name: Place, kind: UseKind, called: ast.Call | None = None, api: str | None = None
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

    # Calls

    def call(self, callee: Value, arguments: Arguments, at: Place | ast.expr) -> Value:
        """Call a value."""
        callee = self.resolved(callee)
        if isinstance(callee, Choice):
            return choice(
                (condition, self._call_under(condition, option, arguments, at)) for condition, option in callee.options
            )
        chosen = _first_choice(arguments)
        if chosen is not None and self._takes_choices(callee, arguments):
            return choice(
                (condition, self._call_under(condition, callee, _with(arguments, chosen, option), at))
                for condition, option in _options(arguments, chosen)
            )
        handler = _CALLS.get(type(callee))
        result = handler(self, callee, arguments, at) if handler else None
        if result is not None:
            return result
        for value in arguments.values():
            self.escape(value)
        if isinstance(callee, Unknown) and callee.parameters and _may_register(at):
            self.depends()
        return self._call_result(callee, arguments, at)

    def _is_worth_deferring(self, names: tuple[str, ...], arguments: Arguments) -> bool:
        """Whether a function of another file, whose name ends with `names`, may register something."""
        return (bool(names) and names[-1] in self.wrappers) or _worth_deferring(names, arguments)

    def _takes_choices(self, callee: Value, arguments: Arguments) -> bool:
        """Whether it matters which of several values an argument is."""
        if isinstance(callee, Imported):
            return callee.dotted in APIS or (is_project(callee) and self._is_worth_deferring(callee.attributes, arguments))
        if isinstance(callee, Function):
            known = self.knowledge.get(callee.place)
            return self.linker is not None or (known is not None and known.depends)
        return isinstance(callee, Class | Decorator | Method | Partial | Result)

    def _call_under(self, condition: Condition, callee: Value, arguments: Arguments, at: Place | ast.expr) -> Value:
        with self.under(condition):
            return self.call(callee, arguments, at) if self.context.condition != NEVER else NONE

    def _call_result(self, callee: Value, arguments: Arguments, at: Place | ast.expr) -> Value:
        parts = (callee, *arguments.values())
        if isinstance(at, Place):
            parameters: frozenset[str] = frozenset()
            return Unknown(words="the result of a call", parameters=parameters.union(*map(parameters_of, parts)))
        return self.unknown(at, *parts)

    def _call_imported(self, callee: Imported, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        dotted = callee.dotted
        api = APIS.get(dotted)
        if api is not None:
            return self.registrar.call(api, arguments, self.place_of(at))
        special = _SPECIAL.get(dotted)
        if special is not None:
            return special(self, arguments, at)
        name = callee.attributes[-1] if callee.attributes else ""
        if name in _VIEWS and is_project(callee) and not arguments.positional:
            return Derived(replace(callee, attributes=callee.attributes[:-1]), name)
        computed = pure.FUNCTIONS.get(dotted)
        if computed is not None:
            return computed([argument.value for argument in arguments.positional])
        return self.defer(callee, arguments, at) if is_project(callee) and self._is_worth_deferring(callee.attributes, arguments) else None

    def _call_method(self, callee: Method, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        owner, name = callee.owner, callee.name
        if isinstance(owner, Library | CustomOp | Operator):
            return self.registrar.method(owner, name, arguments, self.place_of(at))
        if isinstance(owner, Super):
            return self._call_base(owner, arguments, at)
        values = [argument.value for argument in arguments.positional]
        if isinstance(owner, String):
            if name == "format" and owner.text is not None:
                keywords = {key: argument.value for key, argument in arguments.keywords}
                return pure.filled(owner.text, values, keywords)
            return pure.text_method(owner, name, values)
        self._changed(owner, name, values, at)
        return pure.mapping_method(owner, name, values) if isinstance(owner, Mapping) else None

    def _changed(self, owner: Value, name: str, values: list[Value], at: Place | ast.expr) -> None:
        """A method that changes a list or dictionary that a variable holds."""
        func = at.func if isinstance(at, ast.Call) else None
        holder = func.value if isinstance(func, ast.Attribute) else None
        if not isinstance(holder, ast.Name) or len(values) != 1:
            return
        added = pure.items_of(values[0])
        if isinstance(owner, Sequence) and name == "append":
            self.set_name(holder.id, Sequence((*owner.items, values[0]), owner.kind))
        elif isinstance(owner, Sequence) and name == "extend" and added is not None:
            self.set_name(holder.id, Sequence((*owner.items, *added), owner.kind))
        elif isinstance(owner, Mapping) and name == "update" and isinstance(values[0], Mapping):
            self.set_name(holder.id, Mapping((*owner.items, *values[0].items)))

    def _call_base(self, owner: Super, arguments: Arguments, at: Place | ast.expr) -> Value:
        """`super().__init__(…)` where the base is `torch.library.Library`."""
        if not _derives_from_library(owner.cls):
            return NONE
        made = self.call(Imported("torch", ("library", "Library")), arguments, at)
        if isinstance(made, Library):
            owner.instance.library = made
            made.state.kept = True
        return NONE

    def _call_partial(self, callee: Partial, arguments: Arguments, at: Place | ast.expr) -> Value:
        return self.call(callee.callee, callee.arguments.extended(arguments), at)

    def _call_decorator(self, callee: Decorator, arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        return callee.apply(arguments.positional[0]) if arguments.positional else None

    def _call_result_of(self, callee: Result, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        if self._is_worth_deferring(callee.attributes, arguments):
            return self.defer(callee, arguments, at)
        instead = callee.instead
        return self.call(instead, arguments, at) if isinstance(instead, Function) and not callee.attributes else None

    def _call_custom_op(self, callee: CustomOp, _arguments: Arguments, at: Place | ast.expr) -> Value | None:
        text = callee.name.text
        if text is not None and text.count("::") == 1 and isinstance(at, ast.Call):
            place = self.source.place(at.func)
            self._use(Operator((*text.split("::"), "default")), place, place, UseKind.CALL, at)
        return None

    def _call_instance(self, callee: Instance, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        method = self.attribute(callee, "__call__", at if isinstance(at, ast.expr) else ast.Constant(None))
        return self.call(method, arguments, at) if isinstance(method, Function) else None

    def _call_operator(self, callee: Operator, _arguments: Arguments, at: Place | ast.expr) -> Value | None:
        if len(callee.parts) > 1 and isinstance(at, ast.expr):
            self.use(callee, at)
        return None

    # Functions

    def _call_function(self, callee: Function, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        if callee.node is None:
            return None
        self._note_call(callee, at)
        if len(self._frames) >= _DEEPEST_CALL or any(frame.function.place == callee.place for frame in self._frames):
            return None
        if self.linker is None:
            known = self._read_alone(callee)
            if not known.depends and not parameters_of(known.returned) and not isinstance(known.returned, Function):
                return known.returned if _is_of_use(known.returned) else None
            if not known.depends and not (_is_of_use(known.returned) and _is_short(callee.node)):
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

    def _read_alone(self, function: Function) -> _Knowledge:
        """Read a function whose parameters are unknown, and what is defined in it; once."""
        known = self.knowledge.setdefault(function.place, _Knowledge(function))
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

    def _is_worth_reading(self, function: Function) -> bool:
        node = function.node
        assert node is not None
        return self._is_of_interest(node) or _is_short(node)

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

    def receiver_of(self, cls: Class) -> Instance:
        """An object of a class of which nothing is known but the class."""
        if cls.instance is None:
            cls.instance = Instance(cls, generic=True)
            made = cls.scope.names.get("__init__")
            if isinstance(made, Function):
                self._read_alone(made)
        return cls.instance

    def _run(self, function: Function, names: dict[str, Value], *, alone: bool) -> Value:
        node = function.node
        assert node is not None
        frame = _Frame(function, alone)
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

    def depends(self) -> None:
        """The functions at hand register something that depends on their parameters."""
        for frame in self._frames:
            function: Function | None = frame.function
            while function is not None:
                self.knowledge.setdefault(function.place, _Knowledge(function)).depends = True
                function = function.outer

    # Classes

    def _instantiate(self, callee: Class, arguments: Arguments, at: Place | ast.expr) -> Value:
        instance = Instance(callee)
        made = self.attribute(instance, "__init__", at if isinstance(at, ast.expr) else ast.Constant(None))
        if isinstance(made, Function):
            if self.linker is not None or _is_short(made.node) or self._is_registering(callee):
                self._follow(made, arguments, at)
        elif _derives_from_library(callee):
            library = self.call(Imported("torch", ("library", "Library")), arguments, at)
            instance.library = library if isinstance(library, Library) else None
        if instance.library is not None:
            instance.library.state.kept = True
        return instance

    def _is_registering(self, cls: Class) -> bool:
        """Whether what objects of a class register depends on how they are made."""
        self.receiver_of(cls)
        methods = [value for value in cls.scope.names.values() if isinstance(value, Function) and value.node is not None]
        if any(self._read_alone(method).depends for method in methods if self._is_worth_reading(method)):
            return True
        return any(self._is_registering(base) for base in cls.bases if isinstance(base, Class) and base is not cls)

    # Other files

    def defer(self, callee: Value, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        """Leave a call to when the other files are known; None if they are."""
        if self.linker is not None:
            return None
        place = self.place_of(at)
        site = self.site(place)
        known = self.recorder.deferred_at(site.chain)
        if known is not None:
            return Result(known.index)
        for value in arguments.values():
            self.escape(value)
        depends = bool(parameters_of(Partial(callee, arguments)))
        if depends:
            self.depends()
        index = len(self.recorder.deferred)
        self.recorder.deferred.append(
            Deferred(
                index,
                callee,
                arguments,
                site.place,
                site.spelled,
                site.chain,
                self.context,
                self.function_place(),
                depends,
            )
        )
        return Result(index)

    # Functions of Python

    def _getattr(self, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        values = [argument.value for argument in arguments.positional]
        name = values[1].text if len(values) > 1 and isinstance(values[1], String) else None
        if name is None or not isinstance(at, ast.expr):
            return None
        found = self.attribute(values[0], name, at)
        if isinstance(found, Operator) and len(found.parts) > 1:
            kind = UseKind.GUARD if len(values) > 2 else UseKind.REFERENCE
            self._use(found, self.source.place(at), arguments.positional[1].place or self.place_of(at), kind, api="getattr")
        return found

    def _hasattr(self, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        values = [argument.value for argument in arguments.positional]
        name = values[1].text if len(values) == 2 and isinstance(values[1], String) else None
        if name is None or not isinstance(at, ast.expr):
            return None
        owner = values[0]
        if isinstance(owner, Imported) and owner.dotted == "torch.library" and name in SINCE_2_4:
            return Constant(True)
        if isinstance(owner, Operator):
            found = self._operator_attribute(owner, name)
            if isinstance(found, Operator) and len(found.parts) > 1:
                where = arguments.positional[1].place or self.place_of(at)
                self._use(found, self.source.place(at), where, UseKind.GUARD, api="hasattr")
        return None

    def _partial(self, arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        if not arguments.positional:
            return None
        rest = Arguments(arguments.positional[1:], arguments.keywords, arguments.open)
        return Partial(arguments.positional[0].value, rest)

    def _first_argument(self, arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        value = arguments.positional[0].value if arguments.positional else None
        return value if value is not None and is_interesting(value) else None

    def _wraps(self, _arguments: Arguments, _at: Place | ast.expr) -> Value:
        return Decorator(lambda function: function.value)

    def _cast(self, arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        return arguments.positional[1].value if len(arguments.positional) == 2 else None

    def _super(self, _arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        frame = self._frames[-1] if self._frames else None
        node = frame.function.node if frame else None
        if frame is None or node is None or frame.function.owner is None:
            return None
        first = next(slots(node), None)
        receiver = self.scope.names.get(first.arg.arg) if first else None
        return Super(receiver, frame.function.owner) if isinstance(receiver, Instance) else None

    def _harmless(self, arguments: Arguments, at: Place | ast.expr) -> Value:
        """A function that keeps nothing of its arguments."""
        return self._call_result(NONE, arguments, at)

    def _dictionary(self, arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        first = arguments.positional[0].value if arguments.positional else Mapping(())
        if not isinstance(first, Mapping) or arguments.open:
            return None
        named = tuple((_named_key(name), argument.value) for name, argument in arguments.keywords)
        return Mapping((*first.items, *named))

    def _join_path(self, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        values = [argument.value for argument in arguments.positional]
        if arguments.open or not values or not isinstance(values[-1], String):
            return None
        return pure.text_method(plain("/"), "join", [Sequence(tuple(pure.text_of(value) for value in values))])

    def _parsed_schema(self, arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        """`torchgen.model.FunctionSchema.parse`: its `name.name.base` and `name.overload_name`."""
        schema = arguments.positional[0].value if arguments.positional else NONE
        text = schema.text if isinstance(schema, String) else None
        if text is None or not isinstance(schema, String):
            return None
        end = text.find("(")
        name, dot, overload = schema.slice(0, end), text[:end].find("."), ""
        if dot >= 0:
            name, overload = schema.slice(0, dot), text[dot + 1 : end]
        base = Record((("base", name),))
        return Record((("name", Record((("name", base), ("overload_name", plain(overload))))),))

    def _import_module(self, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        first = arguments.positional[0].value if len(arguments.positional) == 1 else None
        name = first.text if isinstance(first, String) else None
        if name is None or not name or name.startswith("."):
            return None
        place = self.place_of(at)
        self.recorder.add_import(
            PythonImport(name, None, "", place, self.context.run, False, self.context.caught, self.context.condition)
        )
        parts = name.split(".")
        return imported(parts[0], tuple(parts[1:]))


_IS_MAIN = Atom("__name__ == '__main__'")

_BINDINGS = {
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "builtins.staticmethod": "static",
    "functools.cached_property": "property",
}
"""Decorators that say how a method is bound."""

_VIEWS = frozenset({"items", "keys", "values"})
"""Methods of dictionaries that loops go over."""

_EXITS = frozenset({"os._exit", "pytest.skip", "sys.exit", "exit", "quit"})
"""Functions that do not return."""

_Special = Callable[[Interpreter, Arguments, Place | ast.expr], Value | None]

_SPECIAL: dict[str, _Special] = {
    "builtins.__import__": Interpreter._import_module,
    "builtins.dict": Interpreter._dictionary,
    "builtins.getattr": Interpreter._getattr,
    "builtins.hasattr": Interpreter._hasattr,
    "builtins.super": Interpreter._super,
    "functools.cache": Interpreter._first_argument,
    "functools.lru_cache": Interpreter._first_argument,
    "functools.partial": Interpreter._partial,
    "functools.wraps": Interpreter._wraps,
    "importlib.import_module": Interpreter._import_module,
    "os.path.join": Interpreter._join_path,
    "torchgen.model.FunctionSchema.parse": Interpreter._parsed_schema,
    "typing.cast": Interpreter._cast,
    **dict.fromkeys(
        (f"builtins.{name}" for name in ("callable", "id", "isinstance", "issubclass", "print", "repr", "type")),
        Interpreter._harmless,
    ),
}
"""Functions of Python that need more than values to be understood."""

_CALLS: dict[type[Value], Callable[..., Value | None]] = {
    Class: Interpreter._instantiate,
    CustomOp: Interpreter._call_custom_op,
    Decorator: Interpreter._call_decorator,
    Function: Interpreter._call_function,
    Imported: Interpreter._call_imported,
    Instance: Interpreter._call_instance,
    Method: Interpreter._call_method,
    Operator: Interpreter._call_operator,
    Partial: Interpreter._call_partial,
    Result: Interpreter._call_result_of,
}

_STATEMENTS: dict[type[ast.stmt], Callable[..., Outcome | None]] = {
    ast.AnnAssign: Interpreter._annotated,
    ast.Assign: Interpreter._assign,
    ast.AsyncFor: Interpreter._for,
    ast.AsyncFunctionDef: Interpreter._function,
    ast.AsyncWith: Interpreter._with,
    ast.AugAssign: Interpreter._augmented,
    ast.Break: Interpreter._jump,
    ast.ClassDef: Interpreter._class_definition,
    ast.Continue: Interpreter._jump,
    ast.Delete: Interpreter._delete,
    ast.Expr: Interpreter._expression,
    ast.For: Interpreter._for,
    ast.FunctionDef: Interpreter._function,
    ast.Global: Interpreter._global,
    ast.If: Interpreter._if,
    ast.Import: Interpreter._import,
    ast.ImportFrom: Interpreter._import_from,
    ast.Match: Interpreter._match,
    ast.Nonlocal: Interpreter._global,
    ast.Raise: Interpreter._raise,
    ast.Return: Interpreter._return,
    ast.Try: Interpreter._try,
    ast.While: Interpreter._while,
    ast.With: Interpreter._with,
}
if sys.version_info >= (3, 11):
    _STATEMENTS[ast.TryStar] = Interpreter._try

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CHANGING = (Constant, String, Sequence, Mapping)
"""Values that loops change."""

_ALWAYS_READ = (*_DEFINES, ast.Return)

_READ = (
    ast.Break,
    ast.Continue,
    ast.For,
    ast.Global,
    ast.If,
    ast.Nonlocal,
    ast.Raise,
    ast.Try,
    ast.With,
)
"""Statements that matter for what comes after them."""


def _holds(starts: list[int], place: Place) -> bool:
    """Whether one of some offsets, which are in order, is in a place."""
    index = bisect_left(starts, place.start)
    return index < len(starts) and starts[index] < place.end


def _names_in(node: ast.AST) -> tuple[int, list[ast.Name]]:
    """How many nodes there are in a node, and the names among them. (`ast.walk` is too slow for what is skipped.)"""
    names: list[ast.Name] = []
    size = 0
    waiting = [node]
    while waiting:
        current = waiting.pop()
        size += 1
        if type(current) is ast.Name:
            names.append(current)
            continue
        for field_name in current._fields:
            value = getattr(current, field_name, None)
            if type(value) is list:
                waiting.extend(item for item in value if isinstance(item, ast.AST))
            elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                waiting.append(value)
    return size, names


_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


def _is_short(node: FunctionNode | None) -> bool:
    return isinstance(node, ast.Lambda) or (node is not None and len(node.body) <= _SHORT)


def _loaded(target: ast.expr) -> ast.expr:
    """An assignment's target as an expression that reads it."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


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


def _joined(branches: list[tuple[Condition, dict[str, Value]]]) -> dict[str, Value]:
    """The names after alternatives."""
    if len(branches) == 1:
        return branches[0][1]
    names: dict[str, Value] = {}
    for name in dict.fromkeys(name for _, bound in branches for name in bound):
        options = [(condition, bound[name]) for condition, bound in branches if name in bound]
        first = options[0][1]
        names[name] = first if all(value is first for _, value in options) else choice(options)
    return names


def _reached(outcomes: Iterable[tuple[Condition, Condition]]) -> Condition:
    """The condition under which alternatives are left, given under which each of them is."""
    branches = list(outcomes)
    if all(goes == ALWAYS for _, goes in branches):
        return ALWAYS
    return disjunction(conjunction(branch) for branch in branches)


def _captured(pattern: ast.pattern) -> Iterable[str]:
    for node in ast.walk(pattern):
        name = getattr(node, "rest", None) if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
        if isinstance(name, str):
            yield name


def _raises(statements: list[ast.stmt]) -> bool:
    """Whether a handler raises again, at least in some cases."""
    return any(isinstance(node, ast.Raise) for statement in statements for node in ast.walk(statement))


def _shape(node: ast.expr) -> str:
    """The type of an argument, where the source shows it (`CallArgument.kind`)."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Constant):
        return "None" if node.value is None else type(node.value).__name__
    if isinstance(node, ast.JoinedStr):
        return "str"
    return type(node).__name__.lower() if isinstance(node, ast.List | ast.Tuple | ast.Dict) else ""


def _first_choice(arguments: Arguments) -> int | str | None:
    """The position or the name of the first argument that is one of several values."""
    for index, argument in enumerate(arguments.positional):
        if isinstance(argument.value, Choice):
            return index
    for name, argument in arguments.keywords:
        if isinstance(argument.value, Choice):
            return name
    return None


def _options(arguments: Arguments, chosen: int | str) -> tuple[tuple[Condition, Value], ...]:
    argument = arguments.positional[chosen] if isinstance(chosen, int) else dict(arguments.keywords)[chosen]
    return argument.value.options if isinstance(argument.value, Choice) else ()


def _with(arguments: Arguments, chosen: int | str, value: Value) -> Arguments:
    """The arguments with one of them given another value."""
    positional, keywords = list(arguments.positional), dict(arguments.keywords)
    if isinstance(chosen, int):
        positional[chosen] = replace(positional[chosen], value=value)
    else:
        keywords[chosen] = replace(keywords[chosen], value=value)
    return Arguments(tuple(positional), tuple(keywords.items()), arguments.open)


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
        return Mapping(tuple((_named_key(key), value) for key, value in keywords.items()))
    if slot.kind in ("positional", "any") and positional:
        return positional.pop(0)
    if name in keywords:
        return keywords.pop(name)
    return function.defaults.get(name) or Unknown(words=f"parameter `{name}`, which is not given")


def _named_key(name: str) -> Value:
    return plain(name)


def _may_register(at: Place | ast.expr) -> bool:
    """Whether a call looks like that of a method of a library or of a custom operator."""
    func = at.func if isinstance(at, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr in _REGISTERING_METHODS


_REGISTERING_METHODS = LIBRARY_METHODS | CUSTOM_OP_METHODS


def _derives_from_library(cls: Class) -> bool:
    return any(
        (isinstance(base, Imported) and base.dotted == LIBRARY) or (isinstance(base, Class) and _derives_from_library(base))
        for base in cls.bases
    )


def _is_of_use(value: Value) -> bool:
    """Whether it matters what a function returns."""
    return is_interesting(value) and value != NONE


def _worth_following(value: Value) -> bool:
    """Whether names of this value are worth looking for in the functions of a module."""
    if isinstance(value, Choice):
        return any(_worth_following(option) for _, option in value.options)
    if isinstance(value, Imported):
        dotted = value.dotted
        if is_project(value):
            name = dotted.rpartition(".")[2]
            return bool(REGISTERING_NAME.search(name) or RELATED_NAME.search(name))
        return dotted in APIS or dotted in _REGISTERING_MODULES
    return isinstance(value, Library | CustomOp | Operator | Partial | Decorator | Result | Instance)


_REGISTERING_MODULES = frozenset(name.rpartition(".")[0] for name in APIS)


def _worth_deferring(names: tuple[str, ...], arguments: Arguments) -> bool:
    """Whether a function of another file may register something, by its name and its arguments."""
    name = names[-1] if names else ""
    if REGISTERING_NAME.search(name) or name in _REGISTERING_METHODS:
        return True
    values = arguments.values()
    texts = (value.prefix for value in values if isinstance(value, String))
    if any(QUALIFIED.match(text) or SCHEMA.match(text) for text in texts):
        return True
    kinds = (Library, CustomOp, Function) if not name or RELATED_NAME.search(name) else (Library, CustomOp)
    return any(isinstance(value, kinds) for value in values) or _makes_named_object(name, values)


def _makes_named_object(name: str, values: list[Value]) -> bool:
    """Whether a call looks like making a wrapper of a library: `Fragment("namespace")`, `make_op("namespace")`."""
    first = values[0] if 1 <= len(values) <= _FEW else None
    text = first.text if isinstance(first, String) else None
    return (name[:1].isupper() or bool(RELATED_NAME.search(name))) and text is not None and text.isidentifier()


_FEW = 2
"""Arguments that such an object has at most."""
