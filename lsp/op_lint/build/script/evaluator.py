"""A partial evaluator of Python's syntax: both arms of an `if` that the script does not decide, each under a condition.

Nothing of the script is run. A call is evaluated where the function is one of the project's scripts or one of the few
that make lists of files (`op_lint.build.script.library`); everything else is a value that is not known.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from op_lint.build.files import BuildFiles, line_of
from op_lint.build.guards import ALWAYS, NEVER, Guard, any_of, both, opposite, simplified
from op_lint.build.memory import Changes, Memory, Scope
from op_lint.build.model import Switch
from op_lint.build.script import library
from op_lint.build.script.effects import is_idle
from op_lint.build.script.operators import compare, operate
from op_lint.build.script.values import (
    FALSE,
    NOTHING,
    TRUE,
    UNPACKED,
    Arguments,
    Builtin,
    Class,
    Entry,
    FilePath,
    Function,
    Instance,
    Items,
    Method,
    Module,
    Named,
    Number,
    Table,
    Text,
    Truth,
    Unknown,
    Value,
    Variable,
    choice,
    entries_of,
    mapped,
    merged,
    options_of,
    truth,
    words_of,
)
from op_lint.facts import Place
from op_lint.python.source import SourceFile, decode

_DEEPEST_CALL = 12
_DEEPEST_EXPRESSION = 80
_MOST_TURNS = 500
_CONSTANTS = {
    "os.sep": "/",
    "os.path.sep": "/",
    "os.pathsep": ":",
    "os.curdir": ".",
    "os.path.curdir": ".",
    "os.linesep": "\n",
}


class Flow(NamedTuple):
    """When control does not go on after a statement, and why."""

    condition: Guard = NEVER
    kind: str = "next"


_NEXT = Flow()

Handler = Callable[["Evaluator", str, Arguments, Place], Value | None]
"""What a reader does with a call of a dotted or built-in name; None where it leaves the call to the library."""


class Evaluator:
    """Evaluates the scripts of one project. `handle` is asked first about calls of what is not theirs."""

    def __init__(self, files: BuildFiles, handle: Handler, builtins: Mapping[str, Value] = {}) -> None:
        self.files = files
        self.handle = handle
        self.builtins = dict(builtins)
        self.switches: dict[str, Switch] = {}
        self.memory: Memory[Value] = Memory(merged)
        self.modules: dict[str, Scope[Value]] = {}
        self.called: set[int] = set()
        self.copies: dict[str, str] = {}
        """Files that the scripts make by copying others, by their absolute path."""
        self.source: SourceFile | None = None
        self.folder = files.root
        self.scope: Scope[Value] = Scope()
        self._module: Scope[Value] = self.scope
        self._paths: list[Guard] = [ALWAYS]
        self._returns: list[list[tuple[Guard, Value]]] = []
        self._depth = 0
        self._idle: dict[int, bool] = {}

    @property
    def path(self) -> Guard:
        """The condition under which control gets here."""
        return self._paths[-1]

    @contextmanager
    def within(self, condition: Guard) -> Iterator[None]:
        """Follow what happens inside under a further condition."""
        self._paths.append(both(self.path, condition))
        try:
            yield
        finally:
            self._paths.pop()

    # Scripts.

    def run_file(self, path: str, folder: str | None = None) -> Scope[Value] | None:
        """Evaluate a script once; None where it cannot be read or parsed.

        `folder` is where the relative paths of a program start; without one the script is a module that is imported.
        """
        if path in self.modules:
            return self.modules[path]
        parsed = self.parse(path)
        if parsed is None:
            return None
        source, tree = parsed
        scope: Scope[Value] = Scope()
        self.modules[path] = scope
        outer = (self.source, self.scope, self._module, self.folder)
        self.source, self.scope, self._module = source, scope, scope
        self.folder = folder or self.folder
        self.write("__file__", Text(path))
        self.write("__name__", Text("__main__" if folder else posixpath.splitext(posixpath.basename(path))[0]))
        try:
            self.run(tree.body)
        finally:
            self.source, self.scope, self._module, self.folder = outer
        return scope

    def parse(self, path: str) -> tuple[SourceFile, ast.Module] | None:
        """The text and the syntax tree of a script; None, with a problem noted, where it has none."""
        data = self.files.read(path)
        relative = self.files.relative(path)
        if data is None:
            if self.files.is_there(path):
                self.files.lose(relative)
            return None
        try:
            source = decode(relative, data)
            return source, ast.parse(source.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            place = line_of(relative, data, getattr(error, "lineno", None) or 1)
            reason = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
            self.files.give_up("build-syntax", f"not valid Python, so what it builds is not known: {reason}", place)
            return None

    def place(self, node: ast.expr | ast.stmt) -> Place:
        """Where a node of the present script is written."""
        return self.source.place(node) if self.source else Place("", 1, 0, 0)

    # Names.

    def write(self, name: str, value: Value) -> None:
        """Bind a name in the present scope."""
        self.memory.write(self.scope, name, value)

    def read(self, name: str) -> Value:
        """What a name stands for."""
        value = self.scope.value(name)
        if value is not None:
            return value
        return self.builtins.get(name) or Named(f"builtins.{name}")

    # Statements.

    def run(self, body: Sequence[ast.stmt]) -> Flow:
        """Follow statements in order; what comes after an undecided `return` is under the opposite of its condition."""
        ended = NEVER
        kind = "next"
        narrowed: list[Guard] = []
        for statement in body:
            self.files.budget.spend()
            flow = self._statement(statement)
            if flow.condition is NEVER:
                continue
            kind = flow.kind
            ended = any_of((ended, flow.condition))
            if simplified(ended, self.path) is ALWAYS:
                ended = ALWAYS
                break
            narrowed.append(opposite(flow.condition))
            self._paths.append(both(self.path, narrowed[-1]))
            self.memory.begin()
        for condition in reversed(narrowed):
            self._paths.pop()
            self.memory.merge([(condition, self.memory.undo()), (opposite(condition), {})])
        return Flow(ended, kind)

    def _statement(self, node: ast.stmt) -> Flow:
        handler = _STATEMENTS.get(type(node))
        return handler(self, node) if handler else _NEXT

    def branch(self, arms: Sequence[tuple[Guard, Callable[[], Flow]]]) -> Flow:
        """Follow arms whose conditions exclude each other; what holds in none of them changes nothing."""
        taken: list[tuple[Guard, Changes[Value]]] = []
        flows: list[Flow] = []
        rest = ALWAYS
        for condition, follow in arms:
            given = simplified(condition, self.path)
            rest = both(rest, opposite(condition))
            if given is NEVER:
                continue
            if given is ALWAYS and not taken:
                return follow()
            self.memory.begin()
            with self.within(condition):
                flow = follow()
            changes = self.memory.undo()
            if not (flow.kind == "raise" and flow.condition is ALWAYS):
                taken.append((condition, changes))
            # Where an error is raised there is no build: what follows is not said to depend on that.
            if flow.condition is not NEVER and flow.kind != "raise":
                flows.append(Flow(both(condition, flow.condition), flow.kind))
        if rest is not NEVER:
            taken.append((rest, {}))
        self.memory.merge(taken)
        kinds = [flow.kind for flow in flows]
        kind = "return" if "return" in kinds else (kinds[0] if kinds else "next")
        return Flow(any_of(flow.condition for flow in flows), kind)

    def run_if(self, node: ast.If) -> Flow:
        """An `if` statement."""
        condition = truth(self.evaluate(node.test))
        return self.branch(
            [(condition, lambda: self.run(node.body)), (opposite(condition), lambda: self.run(node.orelse))]
        )

    def run_for(self, node: ast.For | ast.AsyncFor) -> Flow:
        """A loop over what is known item by item; once with an unknown item for what is not, or is too much."""
        value = self.evaluate(node.iter)
        entries, complete = entries_of(value)
        if not complete or len(entries) > _MOST_TURNS:
            entries = [*entries[:_MOST_TURNS], Entry(Unknown(words_of(value)), ALWAYS)]
        returned = NEVER
        for entry in entries:
            flow = self._turn(node, entry)
            if flow.kind in ("return", "raise"):
                returned = any_of((returned, flow.condition))
            if flow.condition is ALWAYS and flow.kind != "continue":
                break
        else:
            self.run(node.orelse)
        return Flow(returned, "return") if returned is not NEVER else _NEXT

    def _turn(self, node: ast.For | ast.AsyncFor, entry: Entry) -> Flow:
        def follow() -> Flow:
            self.assign(node.target, entry.value)
            return self.run(node.body)

        return self.branch([(entry.condition, follow)])

    def run_while(self, node: ast.While) -> Flow:
        """A loop whose condition is rarely known: its body, once, under that condition."""
        condition = truth(self.evaluate(node.test))
        flow = self.branch([(condition, lambda: self.run(node.body))])
        return flow if flow.kind == "return" and condition is not ALWAYS else _NEXT

    def run_try(self, node: ast.Try) -> Flow:
        """The body as if nothing were raised; what handlers set only where nothing else does."""
        flow = self.run([*node.body, *node.orelse])
        for handler in node.handlers:
            for statement in handler.body:
                if isinstance(statement, ast.Assign):
                    for target in statement.targets:
                        if isinstance(target, ast.Name) and self.scope.value(target.id) is None:
                            self.assign(target, self.evaluate(statement.value))
        self.run(node.finalbody)
        return _NEXT if flow.kind == "raise" else flow

    def run_with(self, node: ast.With | ast.AsyncWith) -> Flow:
        """The body of a `with`."""
        for item in node.items:
            value = self.evaluate(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
        return self.run(node.body)

    def run_return(self, node: ast.Return) -> Flow:
        """Remember what a function returns under the condition of the path."""
        value = self.evaluate(node.value) if node.value else NOTHING
        if self._returns:
            self._returns[-1].append((self.path, value))
        return Flow(ALWAYS, "return")

    def run_assign(self, node: ast.Assign) -> Flow:
        """`target = value`."""
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)
        return _NEXT

    def run_annotated(self, node: ast.AnnAssign) -> Flow:
        """`target: type = value`."""
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))
        return _NEXT

    def run_augmented(self, node: ast.AugAssign) -> Flow:
        """`target += value`: a list is extended where it is."""
        current = self.evaluate(node.target)
        added = self.evaluate(node.value)
        lists = [option for _, option in options_of(current) if isinstance(option, Items) and option.kind != "tuple"]
        if isinstance(node.op, ast.Add) and lists:
            for condition, option in options_of(current):
                if isinstance(option, Items):
                    with self.within(condition):
                        self.extend(option, added)
            return _NEXT
        self.assign(node.target, operate(node.op, current, added))
        return _NEXT

    def run_import(self, node: ast.Import) -> Flow:
        """`import module`: the project's own are read, too."""
        for alias in node.names:
            module = self._own_module(alias.name, 0)
            bound = alias.asname or alias.name.partition(".")[0]
            self.write(bound, module or Named(alias.name if alias.asname else bound))
        return _NEXT

    def run_import_from(self, node: ast.ImportFrom) -> Flow:
        """`from module import names`."""
        dotted = node.module or ""
        module = self._own_module(dotted, node.level)
        for alias in node.names:
            if alias.name == "*":
                for name, value in (module.scope.names if module else {}).items():
                    if value is not None and not name.startswith("_"):
                        self.write(name, value)
                continue
            inner = module.scope.value(alias.name) if module else None
            if inner is None and (module or node.level):
                inner = self._own_module(f"{dotted}.{alias.name}" if dotted else alias.name, node.level)
            self.write(alias.asname or alias.name, inner or Named(f"{dotted}.{alias.name}"))
        return _NEXT

    def _own_module(self, dotted: str, level: int) -> Module | None:
        """A script of the project under the folder of `setup.py`, or relative to the present one."""
        base = self.folder
        if level and self.source:
            base = posixpath.dirname(self.files.absolute(self.source.path))
            for _ in range(level - 1):
                base = posixpath.dirname(base)
        stem = posixpath.join(base, *dotted.split(".")) if dotted else base
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            if len(self.modules) < 100 and self.files.is_file(path):
                scope = self.run_file(path)
                return Module(scope) if scope is not None else None
        return None

    def run_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Flow:
        """Bind a function."""
        self.write(node.name, self._function(node))
        return _NEXT

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Function:
        path = self.source.path if self.source else ""
        return Function(node, self.scope, path, self._defaults(node.args))

    def _defaults(self, arguments: ast.arguments) -> dict[str, Value]:
        positional = [*arguments.posonlyargs, *arguments.args]
        given = zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
        found = {parameter.arg: self.evaluate(default) for parameter, default in given}
        for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None:
                found[parameter.arg] = self.evaluate(default)
        return found

    def run_class(self, node: ast.ClassDef) -> Flow:
        """Bind a class, whose body has a scope of its own."""
        bases = tuple(self.evaluate(base) for base in node.bases)
        outer = self.scope
        self.scope = Scope(outer)
        try:
            self.run([statement for statement in node.body if not isinstance(statement, ast.Expr)])
            made = Class(node.name, self.scope, bases)
        finally:
            self.scope = outer
        self.write(node.name, made)
        return _NEXT

    def run_expression(self, node: ast.Expr) -> Flow:
        """An expression for its effects; one that ends the program ends the path."""
        if isinstance(node.value, ast.Call) and self._has_no_effect(node.value):
            return _NEXT
        value = self.evaluate(node.value)
        return Flow(ALWAYS, "raise") if isinstance(value, Unknown) and value.words == library.EXIT else _NEXT

    def _has_no_effect(self, node: ast.Call) -> bool:
        """Whether a call of a script's function, whose value is not used, cannot change what is built."""
        function = self.scope.value(node.func.id) if isinstance(node.func, ast.Name) else None
        if not isinstance(function, Function) or isinstance(function.node, ast.Lambda) or node.keywords:
            return False
        if not all(isinstance(argument, ast.Constant | ast.JoinedStr) for argument in node.args):
            return False
        if id(function.node) not in self._idle:
            self._idle[id(function.node)] = is_idle(function.node)
        return self._idle[id(function.node)]

    def run_assert(self, node: ast.Assert) -> Flow:
        """Where an assertion fails there is no build."""
        return Flow(opposite(truth(self.evaluate(node.test))), "raise") if _is_false(node.test) else _NEXT

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind what stands on the left of `=`."""
        if isinstance(target, ast.Name):
            self.write(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target.elts, value)
        elif isinstance(target, ast.Subscript):
            owner, key = self.evaluate(target.value), self.evaluate(target.slice)
            for condition, option in options_of(owner):
                if isinstance(option, Table) and isinstance(key, Text):
                    old = option.entries.get(key.text)
                    given = both(self.path, condition)
                    kept = ((opposite(given), old),) if old is not None else ()
                    option.entries[key.text] = choice(((given, value), *kept))
        elif isinstance(target, ast.Attribute):
            owner = self.evaluate(target.value)
            if isinstance(owner, Instance | Class | Module):
                self.memory.write(owner.scope, target.attr, value)

    def _unpack(self, targets: Sequence[ast.expr], value: Value) -> None:
        options = list(options_of(value))
        for index, target in enumerate(targets):
            column: list[tuple[Guard, Value]] = []
            for condition, option in options:
                known = isinstance(option, Items) and len(option.entries) == len(targets)
                item = option.entries[index].value if known and isinstance(option, Items) else Unknown(words_of(option))
                column.append((condition, item))
            self.assign(target, choice(column))

    def extend(self, target: Items, value: Value) -> None:
        """Add the items of `value` to a list, under the condition of the path."""
        entries, complete = entries_of(value)
        self.files.budget.spend(len(entries))
        target.entries += [Entry(entry.value, both(self.path, entry.condition)) for entry in entries]
        target.open |= not complete

    # Expressions.

    def evaluate(self, node: ast.expr) -> Value:
        """What an expression is."""
        self.files.budget.spend()
        handler = _EXPRESSIONS.get(type(node))
        if handler is None or self._depth > _DEEPEST_EXPRESSION:
            return Unknown(_shortened(ast.unparse(node)) if self._depth <= _DEEPEST_EXPRESSION else "...")
        self._depth += 1
        try:
            return handler(self, node)
        finally:
            self._depth -= 1

    def constant(self, node: ast.Constant) -> Value:
        """A literal."""
        if isinstance(node.value, str):
            return Text(node.value, self.place(node))
        if isinstance(node.value, bool):
            return TRUE if node.value else FALSE
        if isinstance(node.value, int | float):
            return Number(node.value)
        return NOTHING if node.value is None else Unknown(_shortened(ast.unparse(node)))

    def joined(self, node: ast.JoinedStr) -> Value:
        """An f-string."""
        parts: list[Value] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                plain = part.format_spec is None
                parts.append(self.evaluate(part.value) if plain else Unknown(_shortened(ast.unparse(part.value))))
            else:
                parts.append(self.evaluate(part))
        return library.concatenated(parts, self.place(node))

    def sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        """A list, tuple or set."""
        kind = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}[type(node)]
        made = Items([], kind)
        for element in node.elts:
            if isinstance(element, ast.Starred):
                entries, complete = entries_of(self.evaluate(element.value))
                made.entries += entries
                made.open |= not complete
            else:
                made.entries.append(Entry(self.evaluate(element)))
        return made

    def dictionary(self, node: ast.Dict) -> Value:
        """A dictionary."""
        made = Table()
        for key, value in zip(node.keys, node.values, strict=True):
            found = self.evaluate(value)
            name = self.evaluate(key) if key is not None else None
            if isinstance(name, Text):
                made.entries[name.text] = found
            elif name is None and isinstance(found, Table):
                made.entries |= found.entries
                made.open |= found.open
            else:
                made.open = True
        return made

    def name(self, node: ast.Name) -> Value:
        """A name."""
        return self.read(node.id)

    def attribute(self, node: ast.Attribute) -> Value:
        """`owner.attribute`."""
        return mapped(self.evaluate(node.value), lambda owner: self.attribute_of(owner, node.attr))

    def attribute_of(self, owner: Value, name: str) -> Value:
        """An attribute of one value."""
        if isinstance(owner, Named):
            dotted = f"{owner.dotted}.{name}"
            return Text(_CONSTANTS[dotted]) if dotted in _CONSTANTS else Named(dotted)
        if isinstance(owner, Module):
            return owner.scope.value(name) or Unknown(name)
        if isinstance(owner, Instance):
            found = owner.scope.names.get(name) or _class_value(owner.cls, name)
            if isinstance(found, Function):
                return Function(found.node, found.scope, found.path, found.defaults, owner)
            return found or Method(owner, name)
        if isinstance(owner, Class):
            return _class_value(owner, name) or Method(owner, name)
        if isinstance(owner, FilePath):
            return library.path_attribute(owner, name) or Method(owner, name)
        if isinstance(owner, Unknown | Variable):
            return Unknown(_shortened(f"{owner.words}.{name}"))
        return Method(owner, name)

    def subscript(self, node: ast.Subscript) -> Value:
        """`owner[index]`."""
        owner = self.evaluate(node.value)
        if isinstance(owner, Named) and owner.dotted == "os.environ":
            key = self.evaluate(node.slice)
            return self.environment(key, NOTHING, self.place(node))
        if isinstance(node.slice, ast.Slice):
            bounds = [self.evaluate(each) if each else None for each in (node.slice.lower, node.slice.upper)]
            return mapped(owner, lambda option: library.sliced(option, bounds, node.slice))
        index = self.evaluate(node.slice)
        return mapped(owner, lambda option: library.item(option, index))

    def binary(self, node: ast.BinOp) -> Value:
        """`left + right` and the like."""
        return operate(node.op, self.evaluate(node.left), self.evaluate(node.right))

    def boolean(self, node: ast.BoolOp) -> Value:
        """`and` and `or`, whose value is one of the operands."""
        is_and = isinstance(node.op, ast.And)
        value = self.evaluate(node.values[0])
        for following in node.values[1:]:
            condition = truth(value)
            stop = opposite(condition) if is_and else condition
            if stop is ALWAYS:
                return value
            with self.within(opposite(stop)):
                other = self.evaluate(following)
            value = choice(((stop, _decided(value, not is_and)), (opposite(stop), other)))
        return value

    def unary(self, node: ast.UnaryOp) -> Value:
        """`not` and signs."""
        operand = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            return Truth(opposite(truth(operand)))
        if isinstance(node.op, ast.USub) and isinstance(operand, Number):
            return Number(-operand.value)
        return Unknown(_shortened(ast.unparse(node)))

    def comparison(self, node: ast.Compare) -> Value:
        """A chain of comparisons."""
        left = self.evaluate(node.left)
        result = ALWAYS
        for operator, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node)
            result = both(result, compare(operator, left, right))
            self._remember_switch(operator, left, right)
            left = right
        return Truth(result)

    def _remember_switch(self, operator: ast.cmpop, left: Value, right: Value) -> None:
        """A test of a variable of the environment is a switch, with the default that the script gives."""
        if isinstance(left, Variable) and isinstance(operator, ast.Eq | ast.NotEq):
            equal = compare(ast.Eq(), left, right)
            default = compare(ast.Eq(), left.default, right)
            if equal.low is not None and left.place is not None:
                self.switches.setdefault(equal.text, Switch(equal.text, default is ALWAYS, left.place))

    def conditional(self, node: ast.IfExp) -> Value:
        """`a if test else b`."""
        condition = simplified(truth(self.evaluate(node.test)), self.path)
        arms: list[tuple[Guard, Value]] = []
        for given, arm in ((condition, node.body), (opposite(condition), node.orelse)):
            if given is not NEVER:
                with self.within(given):
                    arms.append((given, self.evaluate(arm)))
        return choice(arms)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        """A list made from others."""
        made = Items([], "set" if isinstance(node, ast.SetComp) else "list")
        outer = self.scope
        self.scope = Scope(outer)
        base = self.path
        try:
            self._generate(node.generators, lambda: made.entries.append(self._relative(node.elt, base)), made)
        finally:
            self.scope = outer
        return made

    def _relative(self, element: ast.expr, base: Guard) -> Entry:
        value = self.evaluate(element)
        return Entry(value, ALWAYS if self.path is base else self.path)

    def table_comprehension(self, node: ast.DictComp) -> Value:
        """A dictionary made from lists."""
        made = Table()
        outer = self.scope
        self.scope = Scope(outer)

        def add() -> None:
            key, value = self.evaluate(node.key), self.evaluate(node.value)
            if isinstance(key, Text):
                made.entries[key.text] = value

        try:
            self._generate(node.generators, add, Items())
        finally:
            self.scope = outer
        return made

    def _generate(self, generators: Sequence[ast.comprehension], add: Callable[[], None], made: Items) -> None:
        if not generators:
            add()
            return
        generator = generators[0]
        entries, complete = entries_of(self.evaluate(generator.iter))
        made.open |= not complete
        for entry in entries:
            self.files.budget.spend()
            with self.within(entry.condition):
                self.assign(generator.target, entry.value)
                tests = ALWAYS
                for test in generator.ifs:
                    tests = both(tests, truth(self.evaluate(test)))
                if simplified(tests, self.path) is not NEVER:
                    with self.within(tests):
                        self._generate(generators[1:], add, made)

    def anonymous(self, node: ast.Lambda) -> Value:
        """A lambda."""
        return self._function(node)

    def named_expression(self, node: ast.NamedExpr) -> Value:
        """`(name := value)`."""
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value

    def starred(self, node: ast.Starred) -> Value:
        """A starred expression where it stands alone."""
        return self.evaluate(node.value)

    # Calls.

    def call(self, node: ast.Call) -> Value:
        """A call."""
        callee = self.evaluate(node.func)
        arguments = self._arguments(node)
        place = self.place(node)
        return choice(
            (condition, self._call_under(condition, option, arguments, place))
            for condition, option in options_of(callee)
        )

    def _call_under(self, condition: Guard, callee: Value, arguments: Arguments, place: Place) -> Value:
        with self.within(condition):
            return self.invoke(callee, arguments, place)

    def _arguments(self, node: ast.Call) -> Arguments:
        positional: list[Value] = []
        keywords: dict[str, Value] = {}
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                positional += (entry.value for entry in entries_of(self.evaluate(argument.value))[0])
            else:
                positional.append(self.evaluate(argument))
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
                continue
            if isinstance(value, Table):
                keywords |= value.entries
            if not isinstance(value, Table) or value.open:
                keywords[UNPACKED] = Unknown(UNPACKED)
        return positional, keywords

    def invoke(self, callee: Value, arguments: Arguments, place: Place) -> Value:
        """What a call of `callee` returns."""
        if isinstance(callee, Function):
            return self.invoke_function(callee, arguments)
        if isinstance(callee, Class):
            return self._instantiate(callee, arguments, place)
        if isinstance(callee, Builtin | Named):
            dotted = callee.name if isinstance(callee, Builtin) else callee.dotted
            handled = self.handle(self, dotted, arguments, place)
            return library.call(self, dotted, arguments, place) if handled is None else handled
        if isinstance(callee, Method):
            return library.call_method(self, callee, arguments, place)
        if isinstance(callee, Unknown):
            return Unknown(_shortened(f"{callee.words}({', '.join(map(words_of, arguments[0]))})"))
        return Unknown("...")

    def invoke_function(self, function: Function, arguments: Arguments) -> Value:
        """What a function of a script returns, by following its body."""
        self.called.add(id(function.node))
        if len(self._returns) >= _DEEPEST_CALL:
            return Unknown("...")
        outer = (self.scope, self.source)
        if self.source is None or function.path != self.source.path:
            parsed = self.files.read(self.files.absolute(function.path))
            self.source = decode(function.path, parsed) if parsed is not None else self.source
        self.scope = Scope(function.scope)
        self._bind(function, arguments)
        self._returns.append([])
        base = self.path
        try:
            if isinstance(function.node, ast.Lambda):
                return self.evaluate(function.node.body)
            flow = self.run(function.node.body)
            returned = self._returns[-1]
            if not returned:
                return NOTHING
            if len(returned) > 1 or flow.condition is not ALWAYS:
                missing = opposite(any_of(condition for condition, _ in returned))
                returned = [*returned, (both(base, missing), NOTHING)]
            return choice((simplified(condition, base), value) for condition, value in returned)
        finally:
            self._returns.pop()
            self.memory.leave(self.scope)
            self.scope, self.source = outer

    def _bind(self, function: Function, arguments: Arguments) -> None:
        positional, keywords = arguments
        if function.receiver is not None:
            positional = [function.receiver, *positional]
        written = function.node.args
        names = [parameter.arg for parameter in (*written.posonlyargs, *written.args)]
        for name in (*names, *(parameter.arg for parameter in written.kwonlyargs)):
            self.write(name, function.defaults.get(name) or keywords.get(name) or Unknown(name))
        for name, value in zip(names, positional, strict=False):
            self.write(name, value)
        for name, value in keywords.items():
            if name in names or any(name == parameter.arg for parameter in written.kwonlyargs):
                self.write(name, value)
        if written.vararg:
            self.write(written.vararg.arg, Items([Entry(value) for value in positional[len(names) :]], "tuple"))
        if written.kwarg:
            known = {*names, *(parameter.arg for parameter in written.kwonlyargs)}
            rest = {name: value for name, value in keywords.items() if name not in known}
            more = rest.pop(UNPACKED, None)
            self.write(written.kwarg.arg, Table(rest, open=more is not None))

    def _instantiate(self, cls: Class, arguments: Arguments, place: Place) -> Value:
        for base in _ancestors(cls):
            if isinstance(base, Named):
                made = self.handle(self, f"{base.dotted}@{cls.name}", arguments, place)
                if made is not None:
                    return made
        instance = Instance(cls, Scope())
        initialiser = _class_value(cls, "__init__")
        if isinstance(initialiser, Function):
            bound = Function(
                initialiser.node, initialiser.scope, initialiser.path, initialiser.defaults, receiver=instance
            )
            self.invoke_function(bound, arguments)
        return instance

    def remember_copy(self, source: str | None, target: str | None) -> None:
        """A script makes the file `target`, or one in the folder of that name, from `source`."""
        if source is None or target is None:
            return
        made = self.files.absolute(target, self.folder)
        if self.files.is_folder(made):
            made = posixpath.join(made, posixpath.basename(source))
        self.copies[made] = self.files.absolute(source, self.folder)

    def environment(self, key: Value, default: Value, place: Place) -> Value:
        """A variable of the environment."""
        return Variable(key.text, default, place) if isinstance(key, Text) else Unknown("an environment variable")


def _ancestors(cls: Class) -> Iterator[Value]:
    pending: list[Value] = list(cls.bases)
    for _ in range(20):
        if not pending:
            return
        base = pending.pop(0)
        yield base
        if isinstance(base, Class):
            pending += base.bases


def _class_value(cls: Class, name: str) -> Value | None:
    """An attribute of a class or of the classes of the scripts that it derives from."""
    found = cls.scope.names.get(name)
    if found is not None:
        return found
    owners = (base for base in _ancestors(cls) if isinstance(base, Class))
    return next((value for base in owners if (value := base.scope.names.get(name)) is not None), None)


def _decided(value: Value, is_true: bool) -> Value:
    """An operand of `and` or `or` that is the result: of an unknown one, its truth is what is known."""
    return Truth(ALWAYS if is_true else NEVER) if isinstance(value, Unknown | Truth | Named) else value


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _shortened(words: str) -> str:
    return words if len(words) <= 100 else words[:97] + "..."


_STATEMENTS: dict[type[ast.stmt], Callable[[Evaluator, Any], Flow]] = {
    ast.If: Evaluator.run_if,
    ast.For: Evaluator.run_for,
    ast.AsyncFor: Evaluator.run_for,
    ast.While: Evaluator.run_while,
    ast.Try: Evaluator.run_try,
    ast.With: Evaluator.run_with,
    ast.AsyncWith: Evaluator.run_with,
    ast.Return: Evaluator.run_return,
    ast.Assign: Evaluator.run_assign,
    ast.AnnAssign: Evaluator.run_annotated,
    ast.AugAssign: Evaluator.run_augmented,
    ast.Import: Evaluator.run_import,
    ast.ImportFrom: Evaluator.run_import_from,
    ast.FunctionDef: Evaluator.run_function,
    ast.AsyncFunctionDef: Evaluator.run_function,
    ast.ClassDef: Evaluator.run_class,
    ast.Expr: Evaluator.run_expression,
    ast.Assert: Evaluator.run_assert,
    ast.Raise: lambda *_: Flow(ALWAYS, "raise"),
    ast.Break: lambda *_: Flow(ALWAYS, "break"),
    ast.Continue: lambda *_: Flow(ALWAYS, "continue"),
}

_EXPRESSIONS: dict[type[ast.expr], Callable[[Evaluator, Any], Value]] = {
    ast.Constant: Evaluator.constant,
    ast.JoinedStr: Evaluator.joined,
    ast.List: Evaluator.sequence,
    ast.Tuple: Evaluator.sequence,
    ast.Set: Evaluator.sequence,
    ast.Dict: Evaluator.dictionary,
    ast.Name: Evaluator.name,
    ast.Attribute: Evaluator.attribute,
    ast.Subscript: Evaluator.subscript,
    ast.BinOp: Evaluator.binary,
    ast.BoolOp: Evaluator.boolean,
    ast.UnaryOp: Evaluator.unary,
    ast.Compare: Evaluator.comparison,
    ast.IfExp: Evaluator.conditional,
    ast.ListComp: Evaluator.comprehension,
    ast.SetComp: Evaluator.comprehension,
    ast.GeneratorExp: Evaluator.comprehension,
    ast.DictComp: Evaluator.table_comprehension,
    ast.Lambda: Evaluator.anonymous,
    ast.NamedExpr: Evaluator.named_expression,
    ast.Starred: Evaluator.starred,
    ast.Call: Evaluator.call,
}
