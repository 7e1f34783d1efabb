"""Statements: what they bind, under which conditions the next one is reached."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from op_lint.condition import ALWAYS, NEVER, Atom, Condition, conjunction, disjunction, negation
from op_lint.facts import (
    Place,
    PythonImport,
    RunTime,
)
from op_lint.python import pure
from op_lint.python.context import JUMP, ON, RAISE, RETURN, Outcome
from op_lint.python.expressions import RaisedError, choice, is_interesting
from op_lint.python.functions import Functions
from op_lint.python.modules import relative_module
from op_lint.python.registrations import LIBRARY
from op_lint.python.render import render
from op_lint.python.values import (
    NONE,
    Argument,
    Arguments,
    Class,
    Constant,
    Function,
    Imported,
    Library,
    LibraryState,
    Mapping,
    Result,
    Scope,
    Sequence,
    String,
    Unknown,
    Value,
    imported,
    parameters_of,
)
from op_lint.python.vocabulary import (
    TORCH_LIBRARIES,
)

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

_IS_MAIN = Atom("__name__ == '__main__'")

_BINDINGS = {
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "builtins.staticmethod": "static",
    "functools.cached_property": "property",
}
"""Decorators that say how a method is bound."""

_EXITS = frozenset({"os._exit", "pytest.skip", "sys.exit", "exit", "quit"})
"""Functions that do not return."""


_EXPECTING = frozenset({"assertRaises", "assertRaisesRegex"})
"""Methods of `unittest.TestCase` under which an exception is what is wanted."""


class Statements(Functions):
    """Reads statements."""

    def block(self, statements: Iterable[ast.stmt]) -> Outcome:
        """Read statements one after the other."""
        goes: Condition = ALWAYS
        alive: Condition = ALWAYS
        for statement in statements:
            if goes is ALWAYS:
                outcome = self.statement(statement)
            else:
                with self.under(goes):
                    outcome = self.statement(statement)
            if outcome is ON:
                continue
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
            return ON
        outcome: Outcome | None = handler(self, node)
        return outcome or ON

    def _may_skip(self, node: ast.stmt) -> bool:
        """Whether a statement is too long to be read for the sake of the names that it binds."""
        lines = (node.end_lineno or node.lineno) - node.lineno
        if not self._frames:
            return lines > (_LONG_TABLE if isinstance(node, ast.Assign | ast.AnnAssign) else _LONG)
        return self._frames[-1].alone and (lines > _SHORT_BLOCK or not isinstance(node, _READ))

    def _skip(self, node: ast.stmt) -> None:
        """Read no more of a statement than which names it binds, and on which parameters they may depend."""
        if isinstance(node, ast.Assert):
            if _names_in(node.test)[0] <= _SMALL:
                self._assert(node)
            return
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
        return ON

    def _assert(self, node: ast.Assert) -> Outcome:
        self.test(node.test)
        return ON

    def _expression(self, node: ast.Expr) -> Outcome:
        if isinstance(node.value, ast.Constant):
            return ON
        self.eval(node.value)
        exits = isinstance(node.value, ast.Call) and render(node.value.func, self.scope) in _EXITS
        return RAISE if exits else ON

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
        return RETURN

    def _raise(self, node: ast.Raise) -> Outcome:
        self._plain_statement(node)
        return RAISE

    def _jump(self, _node: ast.Break | ast.Continue) -> Outcome:
        return JUMP

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
        branches.append((reached, lambda: ON))
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
            silenced=self._silenced(node) or self.context.silenced,
            condition=conjunction((self.context.condition, works)),
        )
        before = dict(self.scope.names)

        def body() -> Outcome:
            with self.within(context):
                outcome = self.block(node.body)
            rest = self.block(node.orelse) if not outcome.ends else ON
            return Outcome(outcome.ends or rest.ends, conjunction((outcome.goes, rest.goes)), outcome.alive)

        branches: list[tuple[Condition, Callable[[], Outcome]]] = [(works, body)]
        branches += [(negation(works), self._handler(handler, before)) for handler in node.handlers]
        try:
            outcome = self._branches(branches)
        except RaisedError as raised:
            self.scope.names = dict(before)
            catching = next((each for each in node.handlers if raised.is_caught_by(self._exceptions(each))), None)
            if catching is None:
                raise
            outcome = self._branches([(ALWAYS, self._handler(catching, before))])
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

    def _silenced(self, node: ast.Try) -> tuple[Place, ...]:
        """The first handler that lets an exception vanish without a word, and what it does."""
        for handler in node.handlers:
            if all(self._says_nothing(statement) for statement in handler.body):
                return self.source.place(handler), self.source.place(handler.body[0])
        return ()

    def _says_nothing(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Pass):
            return True
        if not isinstance(node, ast.Expr):
            return False
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            return call.func.attr in ("debug", "info")
        return isinstance(call, ast.Constant)

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
        if not isinstance(node, ast.Call):
            return []
        name = render(node.func, self.scope)
        if name == "contextlib.suppress" or name == "pytest.raises" or name.rpartition(".")[2] in _EXPECTING:
            return [render(argument, self.scope) for argument in node.args] or ["BaseException"]
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


_STATEMENTS: dict[type[ast.stmt], Callable[..., Outcome | None]] = {
    ast.AnnAssign: Statements._annotated,
    ast.Assert: Statements._assert,
    ast.Assign: Statements._assign,
    ast.AsyncFor: Statements._for,
    ast.AsyncFunctionDef: Statements._function,
    ast.AsyncWith: Statements._with,
    ast.AugAssign: Statements._augmented,
    ast.Break: Statements._jump,
    ast.ClassDef: Statements._class_definition,
    ast.Continue: Statements._jump,
    ast.Delete: Statements._delete,
    ast.Expr: Statements._expression,
    ast.For: Statements._for,
    ast.FunctionDef: Statements._function,
    ast.Global: Statements._global,
    ast.If: Statements._if,
    ast.Import: Statements._import,
    ast.ImportFrom: Statements._import_from,
    ast.Match: Statements._match,
    ast.Nonlocal: Statements._global,
    ast.Raise: Statements._raise,
    ast.Return: Statements._return,
    ast.Try: Statements._try,
    ast.While: Statements._while,
    ast.With: Statements._with,
}


if sys.version_info >= (3, 11):
    _STATEMENTS[ast.TryStar] = Statements._try


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
        elif type(current) is not ast.Constant:
            for field in current._fields:
                part = getattr(current, field)
                if type(part) is list:
                    waiting += [item for item in part if isinstance(item, ast.AST)]
                elif isinstance(part, ast.AST) and part._fields:  # operators and contexts have none
                    waiting.append(part)
    return size, names


def _loaded(target: ast.expr) -> ast.expr:
    """An assignment's target as an expression that reads it."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


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
