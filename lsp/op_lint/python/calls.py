"""What calls do: those of torch, of Python, and of functions that other files must tell of."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable

from msgspec.structs import replace

from op_lint.condition import NEVER, Condition
from op_lint.facts import (
    Place,
    PythonImport,
    UseKind,
)
from op_lint.python import pure
from op_lint.python.expressions import RaisedError, choice, is_interesting
from op_lint.python.recorder import Deferred
from op_lint.python.registrations import LIBRARY, Registrar
from op_lint.python.signatures import slots
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
    Imported,
    Instance,
    Library,
    Mapping,
    Method,
    Operator,
    Partial,
    Record,
    Result,
    Sequence,
    String,
    Super,
    Unknown,
    Value,
    imported,
    is_project,
    parameters_of,
    plain,
)
from op_lint.python.variables import Variables
from op_lint.python.vocabulary import (
    APIS,
    CUSTOM_OP_METHODS,
    LIBRARY_METHODS,
    QUALIFIED,
    REGISTERING_NAME,
    RELATED_NAME,
    SCHEMA,
    SINCE_2_4,
)


class Calls(Variables):
    """Calls values. What a function of the file itself does is left to `op_lint.python.functions`."""

    @property
    def registrar(self) -> Registrar:
        """What understands the functions of torch. (Not kept here, since it refers to this object: see `forget`.)"""
        return Registrar(self)

    @abstractmethod
    def call_function(self, callee: Function, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        """Call a function of a file that can be read."""

    @abstractmethod
    def instantiate(self, callee: Class, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        """Make an object of a class of a file that can be read."""

    @abstractmethod
    def depends(self) -> None:
        """The functions at hand register something that depends on their parameters."""

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
            return callee.dotted in APIS or (
                is_project(callee) and self._is_worth_deferring(callee.attributes, arguments)
            )
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
        return (
            self.defer(callee, arguments, at)
            if is_project(callee) and self._is_worth_deferring(callee.attributes, arguments)
            else None
        )

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
        if not derives_from_library(owner.cls):
            return NONE
        made = self.call(Imported("torch", ("library", "Library")), arguments, at)
        if isinstance(made, Library):
            owner.instance.library = made
            made.state.kept = True
        return NONE

    def _call_partial(self, callee: Partial, arguments: Arguments, at: Place | ast.expr) -> Value:
        return self.call(callee.callee, callee.arguments.extended(arguments), at)

    def _call_decorator(self, callee: Decorator, arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        return callee.apply(arguments.positional[0], self.context) if arguments.positional else None

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
            self._use(
                found, self.source.place(at), arguments.positional[1].place or self.place_of(at), kind, api="getattr"
            )
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

    def _setattr(self, arguments: Arguments, at: Place | ast.expr) -> Value | None:
        """`setattr(torch.ops.ns, "op", …)`, which puts something in an operator's place as an assignment does."""
        values = [argument.value for argument in arguments.positional]
        name = values[1].text if len(values) == 3 and isinstance(values[1], String) else None
        if name is not None and isinstance(at, ast.expr) and isinstance(values[0], Operator):
            found = self._operator_attribute(values[0], name)
            if isinstance(found, Operator) and len(found.parts) == 2:
                where = arguments.positional[1].place or self.place_of(at)
                self._use(found, self.source.place(at), where, UseKind.ASSIGNMENT, api="setattr")
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
        return Decorator(lambda function, _: function.value)

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
        named = tuple((plain(name), argument.value) for name, argument in arguments.keywords)
        return Mapping((*first.items, *named))

    def _join_path(self, arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        values = [argument.value for argument in arguments.positional]
        if arguments.open or not values or not isinstance(values[-1], String):
            return None
        return pure.text_method(plain("/"), "join", [Sequence(tuple(pure.text_of(value) for value in values))])

    def _parsed_schema(self, arguments: Arguments, _at: Place | ast.expr) -> Value | None:
        """`torchgen.model.FunctionSchema.parse`: its `name.name.base` and `name.overload_name`.

        Text that has no arguments is refused; functions that take a schema or a name ask in this way which it is.
        """
        schema = arguments.positional[0].value if arguments.positional else NONE
        text = schema.text if isinstance(schema, String) else None
        if text is None or not isinstance(schema, String):
            return None
        end = text.find("(")
        refused = RaisedError("AssertionError")
        if end < 0:
            if refused.is_caught_by(self.context.caught):
                raise refused
            return None
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


_VIEWS = frozenset({"items", "keys", "values"})
"""Methods of dictionaries that loops go over."""


_Special = Callable[[Calls, Arguments, Place | ast.expr], Value | None]


_SPECIAL: dict[str, _Special] = {
    "builtins.__import__": Calls._import_module,
    "builtins.dict": Calls._dictionary,
    "builtins.getattr": Calls._getattr,
    "builtins.hasattr": Calls._hasattr,
    "builtins.setattr": Calls._setattr,
    "builtins.super": Calls._super,
    "functools.cache": Calls._first_argument,
    "functools.lru_cache": Calls._first_argument,
    "functools.partial": Calls._partial,
    "functools.wraps": Calls._wraps,
    "importlib.import_module": Calls._import_module,
    "os.path.join": Calls._join_path,
    "torchgen.model.FunctionSchema.parse": Calls._parsed_schema,
    "typing.cast": Calls._cast,
    **dict.fromkeys(
        (f"builtins.{name}" for name in ("callable", "id", "isinstance", "issubclass", "print", "repr", "type")),
        Calls._harmless,
    ),
}
"""Functions of Python that need more than values to be understood."""


def _call_function(calls: Calls, callee: Function, arguments: Arguments, at: Place | ast.expr) -> Value | None:
    return calls.call_function(callee, arguments, at)


def _instantiate(calls: Calls, callee: Class, arguments: Arguments, at: Place | ast.expr) -> Value | None:
    return calls.instantiate(callee, arguments, at)


_CALLS: dict[type[Value], Callable[..., Value | None]] = {
    Class: _instantiate,
    CustomOp: Calls._call_custom_op,
    Decorator: Calls._call_decorator,
    Function: _call_function,
    Imported: Calls._call_imported,
    Instance: Calls._call_instance,
    Method: Calls._call_method,
    Operator: Calls._call_operator,
    Partial: Calls._call_partial,
    Result: Calls._call_result_of,
}


def _first_choice(arguments: Arguments) -> int | str | None:
    """The position or the name of the first argument that is one of several values, if there are not too many."""
    chosen: int | str | None = None
    ways = 1
    given: tuple[tuple[int | str, Argument], ...] = (*enumerate(arguments.positional), *arguments.keywords)
    for where, argument in given:
        if isinstance(argument.value, Choice):
            chosen = where if chosen is None else chosen
            ways *= len(argument.value.options)
    return chosen if ways <= _MOST_WAYS else None


_MOST_WAYS = 16
"""How many combinations of arguments of one call are followed."""


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


def _may_register(at: Place | ast.expr) -> bool:
    """Whether a call looks like that of a method of a library or of a custom operator."""
    func = at.func if isinstance(at, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr in REGISTERING_METHODS


REGISTERING_METHODS = LIBRARY_METHODS | CUSTOM_OP_METHODS


def derives_from_library(cls: Class) -> bool:
    """Whether instances of the class are libraries."""
    return any(
        (isinstance(base, Imported) and base.dotted == LIBRARY)
        or (isinstance(base, Class) and derives_from_library(base))
        for base in cls.bases
    )


def _worth_deferring(names: tuple[str, ...], arguments: Arguments) -> bool:
    """Whether a function of another file may register something, by its name and its arguments."""
    name = names[-1] if names else ""
    if REGISTERING_NAME.search(name) or name in REGISTERING_METHODS:
        return True
    values = arguments.values()
    texts = (value.prefix for value in values if isinstance(value, String))
    if any(QUALIFIED.match(text) or SCHEMA.match(text) for text in texts):
        return True
    kinds = (Library, CustomOp, Function) if not name or RELATED_NAME.search(name) else (Library, CustomOp)
    if not name and any(isinstance(value, Imported) and value.attributes and is_project(value) for value in values):
        return True  # the result of such a call, applied to a function that is imported, too
    return any(isinstance(value, kinds) for value in values) or _makes_named_object(name, values)


def _makes_named_object(name: str, values: list[Value]) -> bool:
    """Whether a call looks like making a wrapper of a library: `Fragment("namespace")`, `make_op("namespace")`."""
    first = values[0] if 1 <= len(values) <= _FEW else None
    text = first.text if isinstance(first, String) else None
    return (name[:1].isupper() or bool(RELATED_NAME.search(name))) and text is not None and text.isidentifier()


_FEW = 2
"""Arguments that such an object has at most."""
