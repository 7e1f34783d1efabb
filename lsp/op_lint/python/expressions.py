"""What expressions are: the half of the interpreter that has no statements."""

from __future__ import annotations

import ast
import builtins
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from op_lint.condition import ALWAYS, NEVER, Atom, Condition, conjunction, disjunction, negation
from op_lint.facts import Place, UseKind
from op_lint.python import pure
from op_lint.python.context import Context
from op_lint.python.render import render, render_value
from op_lint.python.source import SourceFile
from op_lint.python.values import (
    BUILTINS,
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
    Mapping,
    Method,
    Operator,
    Record,
    Result,
    Run,
    Scope,
    Sequence,
    String,
    Super,
    Unknown,
    Value,
    imported,
    linkable,
    parameters_of,
    plain,
)
from op_lint.python.vocabulary import CUSTOM_OP_METHODS, LIBRARY_METHODS, OPS_ATTRIBUTES, PACKET_ATTRIBUTES

_MOST_STEPS = 100_000
"""How many expressions of one function, or of a module without them, are looked at: far more than real ones have."""

MOST_OPTIONS = 8
"""A value with more alternatives is treated as unknown."""

_BUILTIN_NAMES = frozenset(dir(builtins))

_MODULE_ATTRIBUTES = frozenset(dir(ModuleType("")))
"""Attributes that namespaces of operators have as modules. (Operators are called `__and__`, too.)"""

_Written = Place | ast.expr
"""Where something is: a node of the source that is being read, or a place."""

_OPERATORS: dict[type[ast.operator], Callable[[object, object], object]] = {
    ast.Add: operator.add,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mult: operator.mul,
    ast.Sub: operator.sub,
}

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


_NO_PARAMETERS: frozenset[str] = frozenset()


class TooComplexError(Exception):
    """The file needs more steps than it is worth."""


class RaisedError(Exception):
    """What is read raises an exception for certain, and something around it catches that. `name` is its class."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def is_caught_by(self, names: Iterable[str]) -> bool:
        """Whether a handler of exceptions of these names catches it."""
        return not {self.name, "Exception", "BaseException"}.isdisjoint(names)


class Expressions(ABC):
    """Evaluates expressions. `source` and `scope` are those of the code at hand, `context` its circumstances."""

    def __init__(self, source: SourceFile, scope: Scope) -> None:
        self.source = source
        self.scope = scope
        self.context = Context()
        self.changed: frozenset[str] = frozenset()
        """The names of the module that functions assign to."""
        self._texts: dict[ast.expr, str] = {}
        """The strings that expressions were when they were last read, for the text of conditions."""
        self._steps = 0

    @abstractmethod
    def call(self, callee: Value, arguments: Arguments, at: _Written) -> Value:
        """Call a value."""

    @abstractmethod
    def use(
        self, value: Operator, node: ast.expr, *, called: ast.Call | None = None, kind: UseKind = UseKind.REFERENCE
    ) -> None:
        """Note that `node` names the operator `value`, and calls it where `called` is set."""

    @abstractmethod
    def defined_function(self, node: ast.Lambda) -> Function:
        """The function that a lambda expression makes."""

    @abstractmethod
    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign to a target."""

    @abstractmethod
    def yielded(self, value: Value) -> None:
        """A generator gives a value."""

    @abstractmethod
    def tested(self, text: str) -> None:
        """Note that something asks whether an expression, of this text, counts as true."""

    @abstractmethod
    def resolved(self, value: Value) -> Value:
        """What other files tell about a value."""

    def restart(self) -> None:
        """Give what is read next the full number of steps."""
        self._steps = 0

    @contextmanager
    def within(self, context: Context) -> Iterator[None]:
        """Read something in other circumstances."""
        outer, self.context = self.context, context
        try:
            yield
        finally:
            self.context = outer

    def under(self, condition: Condition) -> AbstractContextManager[None]:
        """Read something that runs under a further condition."""
        if condition == ALWAYS:
            return nullcontext()
        return self.within(replace(self.context, condition=conjunction((self.context.condition, condition))))

    def eval(self, node: ast.expr) -> Value:
        """What an expression is. Every operator that it names is noted."""
        self.step()
        value = _HANDLERS.get(type(node), Expressions._other)(self, node)
        if isinstance(value, String) and value.text is not None and not isinstance(node, ast.Constant):
            self._texts[node] = value.text
        return value

    def step(self, count: int = 1) -> None:
        """Count what has been done. Raises TooComplexError where that is more than a file is worth."""
        self._steps += count
        if self._steps > _MOST_STEPS:
            raise TooComplexError

    def unknown(self, node: ast.expr, *parts: Value, condition: Condition | None = None) -> Unknown:
        """A value of which only the expression is known, made of `parts`."""
        parameters = _NO_PARAMETERS
        for part in parts:
            found = parameters_of(part)
            if found:
                parameters |= found
        return Unknown(node, self.source, self.scope, parameters, condition)

    # Names and attributes

    def _name(self, node: ast.Name) -> Value:
        found = self.scope.lookup(node.id)
        if found is not None:
            if isinstance(found, Constant) and node.id in self.changed and node.id not in self.scope.names:
                return Unknown(node, self.source)
            return self.resolved(found)
        if node.id in _BUILTIN_NAMES:
            return Imported(BUILTINS, (node.id,))
        return Unknown(node, self.source, self.scope)

    def _attribute(self, node: ast.Attribute) -> Value:
        value = self._quiet_attribute(node)
        if isinstance(value, Operator) and len(value.parts) > 1:
            self.use(value, node)
        return value

    def quiet(self, node: ast.expr) -> Value:
        """As `eval`, but without noting the operator that the expression itself is."""
        return self._quiet_attribute(node) if isinstance(node, ast.Attribute) else self.eval(node)

    def _quiet_attribute(self, node: ast.Attribute) -> Value:
        owner = self.quiet(node.value)
        value = self.attribute(owner, node.attr, node)
        if isinstance(owner, Operator) and len(owner.parts) > 1 and not isinstance(value, Operator):
            self.use(owner, node.value)
        return value

    def attribute(self, owner: Value, name: str, node: ast.expr) -> Value:
        """An attribute of a value; `node` is the expression that it stands for."""
        if isinstance(owner, Unknown):
            return self.unknown(node, owner)
        if isinstance(owner, Imported):
            return self.resolved(imported(owner.module, (*owner.attributes, name), relative=owner.relative))
        if isinstance(owner, Operator):
            return self._operator_attribute(owner, name)
        if isinstance(owner, Choice):
            return choice((condition, self.attribute(value, name, node)) for condition, value in owner.options)
        if isinstance(owner, Result):
            return self.resolved(Result(owner.index, (*owner.attributes, name), owner.path))
        found = self._object_attribute(owner, name)
        return found if found is not None else self.unknown(node, owner)

    def _operator_attribute(self, owner: Operator, name: str) -> Value:
        depth = len(owner.parts)
        if depth == 0 and name in OPS_ATTRIBUTES:
            return Imported("torch", ("ops", name))
        if depth == 3 or name in _MODULE_ATTRIBUTES or (depth == 2 and (name in PACKET_ATTRIBUTES or name[0] == "_")):
            return Method(owner, name)
        return Operator((*owner.parts, name))

    def _object_attribute(self, owner: Value, name: str) -> Value | None:
        if isinstance(owner, Library):
            return self._library_attribute(owner, name)
        if isinstance(owner, CustomOp):
            return self._custom_op_attribute(owner, name)
        if isinstance(owner, Instance):
            return self._instance_attribute(owner, name)
        if isinstance(owner, Class):
            is_enum = any(isinstance(base, Imported) and base.module == "enum" for base in owner.bases)
            return None if is_enum else self._class_attribute(owner, owner, name)
        if isinstance(owner, Super):
            return self._super_attribute(owner, name)
        if isinstance(owner, Record):
            return dict(owner.attributes).get(name)
        if isinstance(owner, Function):
            return plain(owner.name.rpartition(".")[2]) if name == "__name__" else None
        return Method(owner, name) if isinstance(owner, String | Sequence | Mapping) else None

    def _library_attribute(self, owner: Library, name: str) -> Value | None:
        if name == "ns" and owner.state.namespace is not None:
            return plain(owner.state.namespace)
        return Method(owner, name) if name in LIBRARY_METHODS else None

    def _custom_op_attribute(self, owner: CustomOp, name: str) -> Value | None:
        if name == "_opoverload" and owner.name.text is not None:
            return Operator((*owner.name.text.split("::", 1), "default"))
        if name == "_qualname":
            return owner.name
        return Method(owner, name) if name in CUSTOM_OP_METHODS else None

    def _instance_attribute(self, owner: Instance, name: str) -> Value | None:
        if name in owner.attributes:
            value = self.resolved(owner.attributes[name])
            changing = owner.generic and isinstance(value, Constant | Sequence | Mapping)
            return Unknown(words=f"self.{name}") if changing else value
        found = self._class_attribute(owner.cls, owner, name)
        if isinstance(found, Constant):
            return Unknown(words=f"self.{name}")  # a default, which objects change
        if found is None and owner.library is not None:
            return self._library_attribute(owner.library, name)
        return found

    def _class_attribute(self, cls: Class, receiver: Instance | Class, name: str, depth: int = 0) -> Value | None:
        found = cls.scope.names.get(name)
        if found is not None:
            return self._bound(found, receiver)
        for base in cls.bases:
            base = self.resolved(base)
            if isinstance(base, Class) and depth < MOST_OPTIONS:
                found = self._class_attribute(base, receiver, name, depth + 1)
                if found is not None:
                    return found
        return None

    def _bound(self, value: Value, receiver: Instance | Class) -> Value:
        if not isinstance(value, Function) or value.receiver is not None or value.binding == "static":
            return self.resolved(value)
        if value.binding == "class":
            return value.bound(receiver.cls if isinstance(receiver, Instance) else receiver)
        if isinstance(receiver, Class):
            return value
        if value.binding == "property":
            node = value.node
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            return self.call(value.bound(receiver), Arguments(), value.source.name_place(node))
        return value.bound(receiver)

    def _super_attribute(self, owner: Super, name: str) -> Value | None:
        for base in owner.cls.bases:
            base = self.resolved(base)
            if isinstance(base, Class):
                found = self._class_attribute(base, owner.instance, name)
                if found is not None:
                    return found
            elif isinstance(base, Imported) and name == "__init__":
                return Method(owner, name)
        return None

    # Literals

    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, str):
            return String((Run(node.value, self.source, node),))
        return Constant(node.value)

    def _joined(self, node: ast.JoinedStr) -> Value:
        parts: list[Run | Value] = []
        index = 0
        for part in node.values:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                parts.append(Run(part.value, self.source, node, index))
                index += 1
            elif isinstance(part, ast.FormattedValue):
                value = pure.text_of(self._formatted(part))
                parts.extend(value.parts if isinstance(value, String) else (value,))
        return _distributed(String(tuple(parts)))

    def _formatted(self, node: ast.FormattedValue) -> Value:
        value = self.eval(node.value)
        plainly = node.format_spec is None and node.conversion in (-1, ord("s"))
        return value if plainly else self.unknown(node.value, value)

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        kind = type(node).__name__.lower()
        items: list[Value] = []
        known = True
        for element in node.elts:
            if isinstance(element, ast.Starred):
                unpacked = pure.items_of(self.eval(element.value))
                known = known and unpacked is not None
                items.extend(unpacked or ())
            elif isinstance(element, ast.Constant):
                items.append(self._constant(element))
            else:
                items.append(self.eval(element))
        return Sequence(tuple(items), kind) if known else self.unknown(node, *items)

    def _dict(self, node: ast.Dict) -> Value:
        items: list[tuple[Value, Value]] = []
        known = True
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                items.append((self.eval(key), self.eval(value)))
                continue
            unpacked = self.eval(value)
            known = known and isinstance(unpacked, Mapping)
            items.extend(unpacked.items if isinstance(unpacked, Mapping) else ())
        return Mapping(tuple(items)) if known else self.unknown(node)

    def _lambda(self, node: ast.Lambda) -> Value:
        return self.defined_function(node)

    # Operations

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.eval(node.left), self.eval(node.right)
        if isinstance(node.op, ast.Add) and (isinstance(left, String) or isinstance(right, String)):
            return _distributed(String((left, right)))
        if isinstance(node.op, ast.Mod) and isinstance(left, String) and left.text is not None:
            values = right.items if isinstance(right, Sequence) and right.kind == "tuple" else (right,)
            return pure.formatted(left.text, values) or self.unknown(node, left, right)
        if isinstance(node.op, ast.Add) and isinstance(left, Sequence) and isinstance(right, Sequence):
            return Sequence(left.items + right.items, left.kind)
        return self._computed(node, left, right)

    def _computed(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        compute = _OPERATORS.get(type(node.op))
        if isinstance(node.op, ast.Pow) and _is_small_power(left, right):
            compute = operator.pow
        if compute and isinstance(left, Constant) and isinstance(right, Constant):
            try:
                return pure.lifted(compute(left.value, right.value))
            except (TypeError, ValueError, ArithmeticError):
                pass
        return self.unknown(node, left, right)

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self._truth_value(node, negation(self.test(node.operand)))
        value = self.eval(node.operand)
        if isinstance(value, Constant) and isinstance(value.value, int | float):
            if isinstance(node.op, ast.USub):
                return Constant(-value.value)
            if isinstance(node.op, ast.UAdd):
                return Constant(+value.value)
        return self.unknown(node, value)

    def _boolean(self, node: ast.BoolOp) -> Value:
        """`a or b`, `a and b`: the operand that decides; where that is not known, a choice or a truth value."""
        decisive = isinstance(node.op, ast.Or)
        options: list[tuple[Condition, Value]] = []
        reached: Condition = ALWAYS
        for operand in node.values:
            with self.under(reached):
                value = self.eval(operand)
            holds = self.condition_of(value, operand)
            stops = holds if decisive else negation(holds)
            last = operand is node.values[-1]
            options.append((reached if last else conjunction((reached, stops)), value))
            reached = conjunction((reached, negation(stops)))
            if reached == NEVER:
                break
        options = [option for option in options if option[0] != NEVER]
        if len(options) == 1 or any(is_interesting(value) for _, value in options):
            return choice(options)
        tests = [self.condition_of(value, operand) for (_, value), operand in zip(options, node.values, strict=False)]
        combined = disjunction(tests) if decisive else conjunction(tests)
        return self.unknown(node, *(value for _, value in options), condition=combined)

    def _truth_value(self, node: ast.expr, condition: Condition) -> Value:
        if condition in (ALWAYS, NEVER):
            return Constant(condition == ALWAYS)
        return self.unknown(node, condition=condition)

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.eval(operand) for operand in (node.left, *node.comparators)]
        if len(node.ops) == 1:
            known = _compared(node.ops[0], values[0], values[1])
            if known is not None:
                return Constant(known)
        return self.unknown(node, *values)

    def _conditional(self, node: ast.IfExp) -> Value:
        condition = self.test(node.test)
        options: list[tuple[Condition, Value]] = []
        for holds, branch in ((condition, node.body), (negation(condition), node.orelse)):
            if holds != NEVER:
                with self.under(holds):
                    options.append((holds, self.eval(branch)))
        return choice(options)

    def test(self, node: ast.expr) -> Condition:
        """The condition that an expression is, as the test of an `if`."""
        if isinstance(node, ast.BoolOp):
            tests: list[Condition] = []
            reached: Condition = ALWAYS
            for operand in node.values:
                with self.under(reached):
                    tests.append(self.test(operand))
                if tests[-1] == (NEVER if isinstance(node.op, ast.And) else ALWAYS):
                    break
                reached = conjunction((reached, tests[-1] if isinstance(node.op, ast.And) else negation(tests[-1])))
            return conjunction(tests) if isinstance(node.op, ast.And) else disjunction(tests)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negation(self.test(node.operand))
        return self.condition_of(self.eval(node), node)

    def words(self, node: ast.expr, scope: Scope | None) -> str:
        """The text of an expression, with imported names written out and known values put in."""
        return render(node, scope, self._texts)

    def condition_of(self, value: Value, node: ast.expr) -> Condition:
        """The condition under which a value counts as true."""
        known = pure.truth(value)
        if known is not None:
            return ALWAYS if known else NEVER
        if isinstance(value, Choice):
            return disjunction(
                conjunction((condition, self.condition_of(option, node))) for condition, option in value.options
            )
        if isinstance(value, Unknown) and value.condition is not None:
            return value.condition
        if isinstance(value, Unknown) and value.node is not None and value.node is not node:
            text = render_value(value)
        else:
            text = self.words(node, self.scope)
        self.tested(text)
        return Atom(text)

    def _subscript(self, node: ast.Subscript) -> Value:
        owner, index = self.eval(node.value), self.eval(node.slice)
        found = _item(owner, index, node.slice)
        key = pure.key_of(index)
        if found is None and key is not None and linkable(owner):
            return Derived(owner, "item", key)
        return found if found is not None else self.unknown(node, owner, index)

    def _slice(self, node: ast.Slice) -> Value:
        parts = [self.eval(part) for part in (node.lower, node.upper, node.step) if part is not None]
        return self.unknown(node.lower or node.upper or node.step or ast.Constant(None), *parts)

    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.eval(node.value)
        self.bind(node.target, value)
        return value

    # Comprehensions

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        items: list[Value] = []
        known = self._generate(node.generators, lambda: items.append(self.eval(node.elt)))
        return (
            Sequence(tuple(items), "set" if isinstance(node, ast.SetComp) else "list") if known else self.unknown(node)
        )

    def _dict_comprehension(self, node: ast.DictComp) -> Value:
        items: list[tuple[Value, Value]] = []
        known = self._generate(node.generators, lambda: items.append((self.eval(node.key), self.eval(node.value))))
        return Mapping(tuple(items)) if known else self.unknown(node)

    def _generate(self, generators: list[ast.comprehension], produce: Callable[[], None]) -> bool:
        """Run a comprehension, item by item where its items are known; whether they all were."""
        outer, self.scope = self.scope, Scope("function", self.scope)
        try:
            return self._generate_from(generators, produce)
        finally:
            self.scope = outer

    def _generate_from(self, generators: list[ast.comprehension], produce: Callable[[], None]) -> bool:
        if not generators:
            produce()
            return True
        first, rest = generators[0], generators[1:]
        iterable = self.eval(first.iter)
        items = pure.items_of(iterable)
        known = items is not None
        for item in items if items is not None else (self.each(iterable, first.iter),):
            self.bind(first.target, item)
            tests = [self.test(condition) for condition in first.ifs]
            if NEVER in tests:
                continue
            known = known and all(test == ALWAYS for test in tests)
            with self.under(conjunction(tests)):
                known = self._generate_from(rest, produce) and known
        return known

    def each(self, iterable: Value, node: ast.expr) -> Value:
        """Any item of something that is not known here; `node` is where it is iterated over."""
        if linkable(iterable):
            return Derived(iterable, "each", loop=self.source.place(node))
        return Unknown(node, self.source, self.scope, parameters_of(iterable))

    # Calls

    def _call(self, node: ast.Call) -> Value:
        callee = self.quiet(node.func)
        arguments = self.arguments(node)
        if isinstance(callee, Operator) and len(callee.parts) > 1:
            self.use(callee, node.func, called=node)
            return self.unknown(node, *arguments.values())
        return self.call(callee, arguments, node)

    def arguments(self, node: ast.Call | ast.ClassDef) -> Arguments:
        """The arguments of a call, those included that are unpacked from what is known."""
        given = node.args if isinstance(node, ast.Call) else []
        positional: list[Argument] = []
        keywords: dict[str, Argument] = {}
        is_open = False
        for argument in given:
            if not isinstance(argument, ast.Starred):
                positional.append(Argument(self.eval(argument), argument, self.source))
                continue
            items = pure.items_of(self.eval(argument.value))
            is_open = is_open or items is None
            positional.extend(Argument(item, argument, self.source) for item in items or ())
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = Argument(value, keyword.value, self.source)
                continue
            names = _keywords(value)
            is_open = is_open or names is None
            for name, item in names or ():
                keywords[name] = Argument(item, keyword.value, self.source)
        return Arguments(tuple(positional), tuple(keywords.items()), is_open)

    def _await(self, node: ast.Await) -> Value:
        return self.eval(node.value)

    def _yield(self, node: ast.Yield) -> Value:
        if node.value is not None:
            self.yielded(self.eval(node.value))
        return self.unknown(node)

    def _other(self, node: ast.expr) -> Value:
        parts = [self.eval(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return self.unknown(node, *parts)


_HANDLERS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Attribute: Expressions._attribute,
    ast.Await: Expressions._await,
    ast.BinOp: Expressions._binary,
    ast.BoolOp: Expressions._boolean,
    ast.Call: Expressions._call,
    ast.Compare: Expressions._compare,
    ast.Constant: Expressions._constant,
    ast.Dict: Expressions._dict,
    ast.DictComp: Expressions._dict_comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.IfExp: Expressions._conditional,
    ast.JoinedStr: Expressions._joined,
    ast.Lambda: Expressions._lambda,
    ast.List: Expressions._sequence,
    ast.ListComp: Expressions._comprehension,
    ast.Name: Expressions._name,
    ast.NamedExpr: Expressions._walrus,
    ast.Set: Expressions._sequence,
    ast.SetComp: Expressions._comprehension,
    ast.Slice: Expressions._slice,
    ast.Subscript: Expressions._subscript,
    ast.Tuple: Expressions._sequence,
    ast.UnaryOp: Expressions._unary,
    ast.Yield: Expressions._yield,
}


def _is_small_power(base: Value, exponent: Value) -> bool:
    known = (
        base.value if isinstance(base, Constant) else None,
        exponent.value if isinstance(exponent, Constant) else None,
    )
    return all(isinstance(number, int) and 0 <= number <= _LARGEST_POWER for number in known)


_LARGEST_POWER = 64


def is_interesting(value: Value) -> bool:
    """Whether a value is more than a truth value or something unknown."""
    if isinstance(value, Choice):
        return any(is_interesting(option) for _, option in value.options)
    if isinstance(value, Constant):
        return not isinstance(value.value, bool)
    return not isinstance(value, Unknown)


def choice(options: Iterable[tuple[Condition, Value]]) -> Value:
    """One of several values. Equal ones join; where there are too many, it is unknown which."""
    flat: list[tuple[Condition, Value]] = []
    for condition, value in options:
        nested = value.options if isinstance(value, Choice) else ((ALWAYS, value),)
        for inner, option in nested:
            _add_option(flat, conjunction((condition, inner)), option)
    if len(flat) == 1:
        return flat[0][1]
    if not flat or len(flat) > MOST_OPTIONS:
        parameters: frozenset[str] = frozenset()
        for _, value in flat:
            parameters |= parameters_of(value)
        return Unknown(words="one of several values", parameters=parameters)
    return Choice(tuple(flat))


def _add_option(flat: list[tuple[Condition, Value]], condition: Condition, value: Value) -> None:
    if condition == NEVER:
        return
    for index, (other, known) in enumerate(flat):
        if known is value or known == value:
            flat[index] = (disjunction((other, condition)), known)
            return
    flat.append((condition, value))


def _distributed(string: String) -> Value:
    """A string in whose parts there is no choice: a choice of strings if need be."""
    options: list[tuple[Condition, tuple[Run | Value, ...]]] = [(ALWAYS, ())]
    for part in string.parts:
        alternatives: tuple[tuple[Condition, Run | Value], ...] = ((ALWAYS, part),)
        if isinstance(part, Choice):
            alternatives = part.options
        options = [
            (conjunction((condition, under)), (*parts, *_string_parts(value)))
            for condition, parts in options
            for under, value in alternatives
        ]
        if len(options) > MOST_OPTIONS:
            return String(tuple(part for part in string.parts))
    return choice((condition, String(parts)) for condition, parts in options)


def _string_parts(value: Run | Value) -> tuple[Run | Value, ...]:
    if isinstance(value, Constant):
        return (Run(str(value.value)),)
    return value.parts if isinstance(value, String) else (value,)


def _compared(comparison: ast.cmpop, left: Value, right: Value) -> bool | None:
    if isinstance(comparison, ast.Is | ast.IsNot):
        same = _identical(left, right)
        return None if same is None else same == isinstance(comparison, ast.Is)
    if isinstance(comparison, ast.In | ast.NotIn):
        inside = _contained(left, right)
        return None if inside is None else inside == isinstance(comparison, ast.In)
    try:
        first, second = pure.native(left), pure.native(right)
        return bool(_COMPARISONS[type(comparison)](first, second))
    except (ValueError, TypeError):
        return None


def _identical(left: Value, right: Value) -> bool | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Constant) and one.value is None:
            if isinstance(other, Constant):
                return other.value is None
            return False if _is_object(other) else None
    return None


def _is_object(value: Value) -> bool:
    """Whether a value is certainly not None."""
    return not isinstance(value, Unknown | Choice | Imported | Result | Derived)


def _contained(item: Value, container: Value) -> bool | None:
    try:
        if isinstance(container, String) and container.text is not None:
            return str(pure.native(item)) in container.text
        items = pure.items_of(container)
        return None if items is None else pure.native(item) in [pure.native(known) for known in items]
    except ValueError:
        return None


def _item(owner: Value, index: Value, node: ast.expr) -> Value | None:
    if isinstance(node, ast.Slice):
        return _sliced(owner, node)
    key = pure.key_of(index)
    return None if key is None else pure.item_of(owner, key)


def _sliced(owner: Value, node: ast.Slice) -> Value | None:
    parts = (node.lower, node.upper, node.step)
    try:
        bounds = [None if part is None else ast.literal_eval(part) for part in parts]
    except (TypeError, ValueError):
        return None
    if any(bound is not None and not isinstance(bound, int) for bound in bounds) or bounds[2] not in (None, 1):
        return None
    if isinstance(owner, Sequence):
        return Sequence(owner.items[bounds[0] : bounds[1]], owner.kind)
    if isinstance(owner, String) and owner.text is not None:
        start, end, _ = slice(*bounds).indices(len(owner.text))
        return owner.slice(start, end)
    return None


def _keywords(value: Value) -> list[tuple[str, Value]] | None:
    if not isinstance(value, Mapping):
        return None
    names = [(key.text if isinstance(key, String) else None, item) for key, item in value.items]
    known = [(name, item) for name, item in names if name is not None]
    return known if len(known) == len(names) else None
