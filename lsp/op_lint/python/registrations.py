"""What each function of `torch.library`, and each method of what it makes, registers (torch 2.13)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from msgspec import structs

from op_lint.facts import (
    PY_IMPL,
    Definition,
    Fallback,
    Implementation,
    Kernel,
    KernelKind,
    Language,
    LibraryLoad,
    OperatorName,
    OperatorUse,
    Place,
    PythonFunction,
    SchemaInference,
    Unit,
    Unresolved,
    UseKind,
)
from op_lint.python import pure
from op_lint.python.annotations import NotKnownError
from op_lint.python.context import Context
from op_lint.python.infer import Failure, Inferred, infer
from op_lint.python.operands import (
    BlockedError,
    Bound,
    Site,
    as_string,
    name_in,
    named_in,
    namespace_of,
    operator_string,
    parse_name,
    tags_of,
    text_or_empty,
    words_of,
)
from op_lint.python.recorder import Chain, Fact, Recorder, text_at
from op_lint.python.results import results_of
from op_lint.python.searches import picked_search
from op_lint.python.signatures import culprit_place, describe, inspected
from op_lint.python.values import (
    NONE,
    Argument,
    Arguments,
    Constant,
    CustomOp,
    Decorator,
    Function,
    Imported,
    Library,
    LibraryState,
    Method,
    Operator,
    Result,
    Run,
    Scope,
    Sequence,
    String,
    Unknown,
    Value,
    linkable,
    parameters_of,
    plain,
)
from op_lint.python.vocabulary import COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, key_of

LIBRARY = "torch.library.Library"
SCOPED_LIBRARY = "torch.library._scoped_library"
RAW_LIBRARY = "torch._C._dispatch_library"
CUSTOM_OP = "torch.library.custom_op"
TRITON_OP = "torch.library.triton_op"
LEGACY_CUSTOM_OP = "torch._custom_op.impl.custom_op"
LEGACY_CUSTOM_OPS = (LEGACY_CUSTOM_OP, "torch._custom_ops.custom_op")

_FALLTHROUGH = "torch.library.fallthrough_kernel"
_WILDCARD = "_"
_DISPATCH_KEY = re.compile(r"torch\.(?:_C\.)?(?:_dispatch\.)?DispatchKey\.(\w+)")
_FAKE_MODES = frozenset({"torch._subclasses.FakeTensorMode", "torch._subclasses.fake_tensor.FakeTensorMode"})


class Host(Protocol):
    """What the registrar asks of the interpreter."""

    recorder: Recorder
    chain: Chain

    def site(self, place: Place) -> Site:
        """The site of a call at `place` of the code at hand."""
        ...

    def within(self, context: Context) -> AbstractContextManager[None]:
        """Read something in other circumstances."""
        ...

    def resolved(self, value: Value) -> Value:
        """What other files tell about a value."""
        ...

    def words(self, node: ast.expr, scope: Scope | None) -> str:
        """An expression as what is tested is written: with imported names written out and known values put in."""
        ...

    def depends(self) -> None:
        """The functions at hand register something that depends on their parameters."""
        ...

    def defer(self, callee: Value, arguments: Arguments, place: Place) -> Value | None:
        """Leave a call to when the other files are known; None if they are."""
        ...

    def function_place(self) -> Place | None:
        """The function whose body is being read."""
        ...


@dataclass(frozen=True, slots=True)
class _Target:
    """Into what something is registered: a library object, or the unit of the call at `place` (None: its own)."""

    macro: str
    library: LibraryState | None = None
    place: Place | None = None

    @property
    def namespace(self) -> str | None:
        """The library's namespace."""
        return self.library.namespace if self.library else None


@dataclass(frozen=True, slots=True)
class _Api:
    """A function of torch, or a method of what it makes (`owner`): its parameters, and those that must be known.

    `what` is what a call registers (`Unresolved.what`), empty for nothing.
    """

    handler: Callable[..., Value]
    positional: tuple[str, ...]
    keyword: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    what: str = ""


class Registrar:
    """Turns calls of the torch API into facts."""

    def __init__(self, host: Host) -> None:
        self.host = host

    @property
    def recorder(self) -> Recorder:
        """Where the facts go."""
        return self.host.recorder

    def call(self, name: str, arguments: Arguments, place: Place) -> Value:
        """Call the function of torch that is called `name`."""
        api = _APIS[name]
        bound = Bound(arguments, api.positional, api.keyword)
        postponed = self._postponed(Imported(name), api, bound, arguments, place)
        if postponed is not None:
            return postponed
        bound.resolve(self.host.resolved)
        return _waiting_for(api.handler(self, name, bound, place), arguments)

    def method(
        self, owner: Library | CustomOp | Operator, name: str, arguments: Arguments, place: Place
    ) -> Value | None:
        """Call a method of a library, of a custom operator, or of `torch.ops.…`; None where it registers nothing."""
        api = _METHODS[type(owner)].get(name)
        if api is None:
            return None
        bound = Bound(arguments, api.positional, api.keyword)
        postponed = self._postponed(Method(owner, name), api, bound, arguments, place)
        if postponed is not None:
            return postponed
        bound.resolve(self.host.resolved)
        return _waiting_for(api.handler(self, owner, bound, place), arguments)

    def _postponed(self, callee: Value, api: _Api, bound: Bound, arguments: Arguments, place: Place) -> Value | None:
        """Leave a call to when the files are known that its arguments come from."""
        blocking = next((name for name in api.needed if linkable(bound.value(name))), None)
        result = None if blocking is None else self.host.defer(callee, arguments, place)
        if result is not None and blocking is not None and api.what:
            self._event(place, api.what, lambda _: self._block(f"`{blocking}`", bound.value(blocking)))
        return result

    def _block(self, what: str, value: Value) -> Fact:
        raise BlockedError(what, value)

    # Events

    def _event(
        self,
        place: Place,
        what: str,
        make: Callable[[Site], Fact],
        target: _Target | None = None,
        refine: Value = NONE,
        tag: str = "",
    ) -> None:
        """Add the fact that `make` makes, once for each call that tells more; what it lacks makes the event unresolved.

        A call tells more if something that blocks the fact, or `refine`, depends on a parameter. `tag` keeps events
        apart that one call makes.
        """
        site = self.host.site(place)
        identity = (site.chain, what, tag)
        if self.recorder.is_settled(identity):
            return
        self.recorder.loop(site.context.loops)
        open_to = parameters_of(refine)
        try:
            fact = make(site)
        except BlockedError as blocked:
            fact = self._unresolved(site, what, blocked, target)
            open_to = parameters_of(blocked.value)
        if open_to:
            self.host.depends()
            self.recorder.pend(identity, fact)
        else:
            self.recorder.supersede(identity)
            self.recorder.add(fact)
            self.recorder.settle(identity)

    def _unresolved(self, site: Site, what: str, blocked: BlockedError, target: _Target | None) -> Unresolved:
        library = target.library if target else None
        return Unresolved(
            what,
            f"{blocked.what} is {words_of(blocked.value)}",
            site.place,
            library.unit if library and library.home is self.recorder else None,
            blocked.known.get("namespace") or (library.namespace if library else None) or namespace_of(blocked.value),
            blocked.known.get("key"),
            Language.PYTHON,
            site.condition,
            blocked.known.get("operator"),
        )

    def _applied(self, function: Argument | None, apply: Callable[[Argument], Value]) -> Value:
        """Many functions of torch take the function at once or, as a decorator, later."""
        return self._decorator(apply) if function is None else apply(function)

    def _decorator(self, apply: Callable[[Argument], Value]) -> Decorator:
        """A decorator that registers as if at the calls that lead to its making, where and when it is applied."""
        chain = self.host.chain

        def apply_there(function: Argument, context: Context) -> Value:
            outer, self.host.chain = self.host.chain, chain or self.host.chain
            try:
                with self.host.within(context):
                    return apply(function)
            finally:
                self.host.chain = outer

        return Decorator(apply_there)

    def _unit(self, target: _Target, site: Site, namespace: str) -> int:
        library = target.library
        if library is None:
            place = target.place or site.place
            spelled = None if target.place else site.spelled
            return self.recorder.unit_by_name(target.macro, place, namespace, site.condition, spelled=spelled)
        if library.namespace is None:
            raise BlockedError("the library's namespace", Unknown(words="not known", parameters=library.parameters))
        if library.home is self.recorder and library.unit is not None:
            return library.unit
        named = None if library.namespace == _WILDCARD else library.namespace
        return self.recorder.unit_by_name(library.macro, library.place, named, library.condition, key=library.key)

    # Libraries

    def _library(self, api: str, bound: Bound, place: Place) -> Value:
        chain = self.host.site(place).chain
        made = self.recorder.library_at(chain) if self.recorder.is_settled((chain, "unit", "")) else None
        if made is not None:
            return Library(made)
        namespace = bound.value("ns")
        state = LibraryState(
            place,
            api,
            text_or_empty(namespace),
            text_or_empty(bound.value("kind")),
            text_or_empty(bound.value("dispatch_key")) or None,
            parameters_of(namespace),
            self.host.site(place).condition,
            self.host.function_place(),
            scoped=api == SCOPED_LIBRARY,
            home=self.recorder,
        )
        self.recorder.add_library(chain, state)
        self._event(place, "unit", lambda site: self._library_unit(state, namespace, bound, site))
        return Library(state)

    def _library_unit(self, state: LibraryState, namespace: Value, bound: Bound, site: Site) -> Unit:
        if state.namespace is None:
            raise BlockedError("the namespace", namespace)
        unit = self.recorder.new_unit(
            state.macro,
            state.place,
            None if state.namespace == _WILDCARD else state.namespace,
            site.condition,
            key=state.key,
            namespace_place=bound.place("ns"),
            key_place=bound.place("dispatch_key"),
        )
        state.unit = unit.id
        return unit

    def _library_define(self, library: Library, bound: Bound, place: Place) -> Value:
        schema = bound.value("schema")
        target = _Target(library.state.macro, library.state)
        analysis = text_or_empty(bound.value("alias_analysis")) or None
        self._define(target, schema, bound.place("schema"), place, tags_of(bound.value("tags")), analysis)
        return name_in(schema)

    def _library_impl(self, library: Library, bound: Bound, place: Place) -> Value:
        target = _Target(library.state.macro, library.state)
        key, function = bound.get("dispatch_key"), bound.get("fn")
        if function is not None and bound.value("with_keyset") not in (NONE, Constant(False)):
            function = Argument(Unknown(words="a kernel that takes the key set"))
        self._implement(target, bound.get("op_name"), function, key, place, devices=False)
        return NONE

    def _library_fake(self, library: Library, bound: Bound, place: Place) -> Value:
        target = _Target(library.state.macro, library.state)
        self._implement_at(target, bound.get("op_name"), bound.get("fn"), _META, place, KernelKind.FAKE)
        return NONE

    def _library_fallback(self, library: Library, bound: Bound, place: Place) -> Value:
        target = _Target(library.state.macro, library.state)
        function = bound.value("fn")
        self._event(place, "fallback", lambda site: self._fallback(target, bound, site), target, function)
        return NONE

    def _fallback(self, target: _Target, bound: Bound, site: Site) -> Fallback:
        library = target.library
        assert library is not None
        argument = bound.get("dispatch_key")
        key = library.key if argument is None else text_or_empty(argument.value)
        if argument is not None and key is None:
            raise BlockedError("the key", argument.value)
        return Fallback(
            self._unit(target, site, library.namespace or ""),
            key or None,
            self._kernel(bound.get("fn"), site, KernelKind.KERNEL),
            site.place,
            None if library.namespace == _WILDCARD else library.namespace,
            None if argument is None else argument.place,
            Language.PYTHON,
            site.condition,
            site.guard,
            site.spelled,
        )

    # Definitions

    def _define(
        self,
        target: _Target,
        schema: Value,
        written: Place | None,
        place: Place,
        tags: tuple[str, ...] = (),
        analysis: str | None = None,
        name: Argument | None = None,
    ) -> None:
        """An operator is defined. `schema` begins with the operator's name; `name` is that alone, if an argument."""

        def make(site: Site) -> Definition:
            string = as_string(schema)
            text, named = named_in(string)
            namespace = named.namespace or target.namespace
            if not namespace:
                raise BlockedError("the name", plain(text))
            at = site.here(written or (name.place if name else None))
            whole = text_at(string.slice(0, len(text)), at)
            own = text_at(string.slice(named.start, len(text)), at) if name else whole
            return Definition(
                self._unit(target, site, namespace),
                OperatorName(namespace, named.name, named.overload),
                site.place,
                whole.place_of(named.start, named.end),
                text_at(as_string(name.value), at) if name else whole,
                own if string.text is not None else None,
                explicit_namespace=named.namespace,
                tags=tags,
                alias_analysis=analysis,
                language=Language.PYTHON,
                condition=site.condition,
                runtime_guard=site.guard,
                spelled=site.spelled,
            )

        self._event(place, "def", make, target, schema)

    def _define_by_name(self, api: str, bound: Bound, place: Place) -> Value:
        name = bound.value("qualname")
        if isinstance(name, Library):
            return self._define_decorator(name, bound, place)
        schema = pure.concatenate((name, bound.value("schema")))
        tags = tags_of(bound.value("tags"))
        self._define(_by_name(api, bound), schema, None, place, tags, name=bound.given.get("qualname"))
        return NONE

    def _define_decorator(self, library: Library, bound: Bound, place: Place) -> Value:
        """`@torch.library.define(lib, schema)`, the old form, which registers the function, too."""
        schema, written = bound.value("schema"), bound.place("schema")
        target = _Target(library.state.macro, library.state)

        def apply(function: Argument) -> Value:
            self._define(target, schema, written, place)
            self._implement(target, Argument(name_in(schema), written=written), function, None, place)
            return function.value

        return self._decorator(apply)

    def _custom_op(self, api: str, bound: Bound, place: Place) -> Value:
        def apply(function: Argument) -> Value:
            made = self._new_custom_op(api, bound, function, place)
            name, devices = Argument(made.name, written=bound.place("name")), bound.get("device_types")
            target = _Target(api, place=made.place)
            if devices is None:
                self._implement_at(target, name, function, COMPOSITE_EXPLICIT, place)
            else:
                self._implement(target, name, function, devices, place)
            if api == TRITON_OP:
                self._implement_at(target, name, function, _META, place, KernelKind.FAKE)
            return made

        return self._applied(bound.get("fn"), apply)

    def _new_custom_op(self, api: str, bound: Bound, function: Argument, place: Place) -> CustomOp:
        name, schema, tags = bound.value("name"), bound.value("schema"), tags_of(bound.value("tags"))
        if schema == NONE:
            schema = self._inferred(function.value, bound.value("mutates_args"), tags, place)
        made = CustomOp(as_string(name), api, self.host.site(place).place)
        whole = pure.concatenate((name, schema))
        self._define(_Target(api, place=made.place), whole, None, place, tags, name=bound.given.get("name"))
        return made

    def _legacy_custom_op(self, api: str, bound: Bound, place: Place) -> Value:
        """`torch._custom_op.impl.custom_op` and `torch._custom_ops.custom_op`: a name, and a schema or a function."""
        schema = bound.get("schema")

        def apply(function: Argument) -> Value:
            spelled = schema.value if schema else self._inferred(function.value, Sequence(()), (), place)
            name = bound.value("name")
            made = CustomOp(as_string(name), api, self.host.site(place).place)
            whole = pure.concatenate((name, spelled))
            self._define(_Target(api, place=made.place), whole, None, place, name=bound.given.get("name"))
            return made if api == LEGACY_CUSTOM_OP else function.value

        if api != LEGACY_CUSTOM_OP and schema is not None:
            function, schema = (None, schema) if isinstance(schema.value, String) else (schema, None)
            return apply(function or Argument(NONE))
        return self._decorator(apply)

    # Kernels

    def _implement(
        self,
        target: _Target,
        operator: Argument | None,
        function: Argument | None,
        keys: Argument | None,
        place: Place,
        *,
        devices: bool = True,
    ) -> None:
        """A kernel is registered at one or several keys (or `devices`), which may be those of the library."""
        if keys is None or text_or_empty(keys.value) == "":
            key = (target.library.key if target.library else None) or COMPOSITE_IMPLICIT
            self._implement_at(target, operator, function, key, place)
            return
        written = keys.value.items if isinstance(keys.value, Sequence) else (keys.value,)
        for value in dict.fromkeys(written):
            text = text_or_empty(value)
            if text is None:
                self._event(place, "impl", partial(self._no_key, target, operator, value), target, tag="?")
            else:
                key = key_of(text) if devices else text
                self._implement_at(target, operator, function, key, place, key_place=keys.place)

    def _no_key(self, target: _Target, operator: Argument | None, value: Value, _site: Site) -> Fact:
        known: dict[str, Any] = {}
        text = operator_string(operator.value if operator else NONE).text
        if text is not None:
            named = parse_name(text)
            namespace = named.namespace or target.namespace
            if namespace:
                known = {"operator": OperatorName(namespace, named.name, named.overload), "namespace": namespace}
        raise BlockedError("the key", value, **known)

    def _implement_at(
        self,
        target: _Target,
        operator: Argument | None,
        function: Argument | None,
        key: str,
        place: Place,
        kind: KernelKind = KernelKind.KERNEL,
        key_place: Place | None = None,
    ) -> None:
        """A kernel is registered at a key."""

        def make(site: Site) -> Implementation:
            string = operator_string(operator.value if operator else NONE)
            if string.text is None:
                raise BlockedError("the operator's name", string, key=key)
            named = parse_name(string.text)
            namespace = named.namespace or target.namespace
            if not namespace:
                raise BlockedError("the name", string, key=key)
            text = text_at(string, site.here(operator.place if operator else None))
            return Implementation(
                self._unit(target, site, namespace),
                OperatorName(namespace, named.name, named.overload),
                key,
                self._kernel(function, site, kind),
                site.place,
                text.place_of(named.start, named.end),
                text,
                key_place,
                key if key_place is not None else None,
                named.namespace,
                Language.PYTHON,
                site.condition,
                site.guard,
                site.spelled,
            )

        self._event(place, "impl", make, target, function.value if function else NONE, f"{kind.value} {key}")

    def _kernel(self, argument: Argument | None, site: Site, kind: KernelKind) -> Kernel:
        value = argument.value if argument else NONE
        if isinstance(value, Result) and value.instead is not None and not value.attributes:
            value = value.instead
        at = site.here(argument.place if argument else None)
        if isinstance(value, Function):
            described = describe(value)
            if described is not None:
                if value.node is not None and value.described is None:
                    described = structs.replace(described, results=results_of(value.node, value.source))
                self.recorder.functions[described.place] = described
            return Kernel(kind, value.name, at, defined=value.place)
        if isinstance(value, Imported) and value.dotted == _FALLTHROUGH:
            return Kernel(KernelKind.FALLTHROUGH, _FALLTHROUGH, at)
        return Kernel(kind, words_of(value).strip("`"), at)

    def _named_string(self, api: str, operator: Value, place: Place, written: Place | None) -> None:
        """A string names an operator for a function of torch."""
        text = operator.text if isinstance(operator, String) else None
        named = parse_name(text) if text is not None else None
        if named is None or not named.namespace or not isinstance(operator, String):
            return
        at = written or place
        self.recorder.use(
            OperatorUse(
                OperatorName(named.namespace, named.name, named.overload),
                False,
                UseKind.STRING,
                at,
                text_at(operator, at).place_of(named.start, named.end),
                self.host.site(place).context.run,
                api,
                caught=self.host.site(place).context.caught,
                function=self.host.function_place(),
                condition=self.host.site(place).condition,
            )
        )

    def _register(self, api: str, bound: Bound, place: Place, key: str, kind: KernelKind) -> Value:
        """The functions of `torch.library` that take an operator and, now or later, a function."""
        operator = bound.get("op")
        self._named_string(api, bound.value("op"), place, bound.place("op"))

        def apply(function: Argument) -> Value:
            self._implement_at(self._target(api, bound, operator), operator, function, key, place, kind)
            return function.value

        return self._applied(bound.get("func"), apply)

    def _target(self, api: str, bound: Bound, operator: Argument | None) -> _Target:
        if operator is not None and isinstance(operator.value, CustomOp):
            return _Target(operator.value.macro, place=operator.value.place)
        return _by_name(api, bound)

    def _register_fake(self, api: str, bound: Bound, place: Place) -> Value:
        return self._register(api, bound, place, _META, KernelKind.FAKE)

    def _register_autograd(self, api: str, bound: Bound, place: Place) -> Value:
        return self._register(api, bound, place, _AUTOGRAD, KernelKind.AUTOGRAD)

    def _register_vmap(self, api: str, bound: Bound, place: Place) -> Value:
        return self._register(api, bound, place, _VMAP, KernelKind.KERNEL)

    def _impl(self, api: str, bound: Bound, place: Place) -> Value:
        operator = bound.get("op")
        if operator is not None and isinstance(operator.value, Library):
            return self._legacy_impl(operator.value, bound, place)
        self._named_string(api, bound.value("op"), place, bound.place("op"))
        keys = bound.get("types") or Argument(plain(COMPOSITE_EXPLICIT))

        def apply(function: Argument) -> Value:
            self._implement(self._target(api, bound, operator), operator, function, keys, place)
            return function.value

        return self._applied(bound.get("func"), apply)

    def _legacy_impl(self, library: Library, bound: Bound, place: Place) -> Value:
        """`@torch.library.impl(lib, "name", "CPU")`."""
        target = _Target(library.state.macro, library.state)
        key = bound.get("func") or bound.get("dispatch_key")
        name = bound.get("types") or bound.get("name")

        def apply(function: Argument) -> Value:
            self._implement(target, name, function, key, place, devices=False)
            return function.value

        return self._decorator(apply)

    def _custom_ops_impl(self, api: str, bound: Bound, place: Place) -> Value:
        """`torch._custom_ops.impl`: for CPU and CUDA unless other devices are named."""
        devices = bound.get("device_types") or Argument(Sequence((plain("cpu"), plain("cuda"))))

        def apply(function: Argument) -> Value:
            self._implement(_by_name(api, bound), bound.get("op"), function, devices, place)
            return function.value

        return self._applied(bound.get("func"), apply)

    def _register_autocast(self, api: str, bound: Bound, place: Place) -> Value:
        operator = bound.get("op")
        self._named_string(api, bound.value("op"), place, bound.place("op"))
        self._autocast(self._target(api, bound, operator), operator, bound, place)
        return NONE

    def _autocast(self, target: _Target, operator: Argument | None, bound: Bound, place: Place) -> None:
        device = bound.value("device_type")
        text = text_or_empty(device)
        function = Argument(Unknown(words="torch.library.register_autocast"))
        if text is None:
            self._event(place, "impl", partial(self._no_key, target, operator, device), target, tag="?")
        else:
            key = f"Autocast{key_of(text)}"
            self._implement_at(target, operator, function, key, place, key_place=bound.place("device_type"))

    def _register_torch_dispatch(self, api: str, bound: Bound, place: Place) -> Value:
        """A kernel for the calls that one class takes in Python: the operator has it, and no key does."""
        operator = bound.get("op")
        self._named_string(api, bound.value("op"), place, bound.place("op"))

        def apply(function: Argument) -> Value:
            target, key = self._target(api, bound, operator), Unknown(words="a class with `__torch_dispatch__`")
            self._event(place, "impl", partial(self._no_key, target, operator, key), target)
            return function.value

        return self._applied(bound.get("func"), apply)

    def _register_op_impl(self, api: str, bound: Bound, place: Place) -> Value:
        operator = bound.value("op")
        if not isinstance(operator, Operator):
            return NONE
        return self._register(api, bound, place, _META, KernelKind.FAKE)

    # Methods of custom operators and of `torch.ops.…`

    def _op_fake(self, owner: CustomOp, bound: Bound, place: Place) -> Value:
        return self._op_register(owner, bound, place, _META, KernelKind.FAKE)

    def _op_autograd(self, owner: CustomOp, bound: Bound, place: Place) -> Value:
        return self._op_register(owner, bound, place, _AUTOGRAD, KernelKind.AUTOGRAD)

    def _op_vmap(self, owner: CustomOp, bound: Bound, place: Place) -> Value:
        return self._op_register(owner, bound, place, _VMAP, KernelKind.KERNEL)

    def _op_register(self, owner: CustomOp, bound: Bound, place: Place, key: str, kind: KernelKind) -> Value:
        def apply(function: Argument) -> Value:
            self._implement_at(
                _Target(owner.macro, place=owner.place), Argument(owner.name), function, key, place, kind
            )
            return function.value

        return self._applied(bound.get("fn"), apply)

    def _op_kernel(self, owner: CustomOp, bound: Bound, place: Place) -> Value:
        devices = bound.get("device_types") or Argument(plain(COMPOSITE_EXPLICIT))

        def apply(function: Argument) -> Value:
            self._implement(_Target(owner.macro, place=owner.place), Argument(owner.name), function, devices, place)
            return function.value

        return self._applied(bound.get("fn"), apply)

    def _op_factory(self, owner: CustomOp, bound: Bound, place: Place) -> Value:
        return self._op_register(owner, bound, place, "BackendSelect", KernelKind.KERNEL)

    def _op_autocast(self, owner: CustomOp, bound: Bound, place: Place) -> Value:
        self._autocast(_Target(owner.macro, place=owner.place), Argument(owner.name), bound, place)
        return NONE

    def _py_impl(self, owner: Operator, bound: Bound, place: Place) -> Value:
        key = bound.value("k")
        dotted = key.dotted if isinstance(key, Imported) else ""
        found = _DISPATCH_KEY.fullmatch(dotted)
        operator = Argument(owner, written=place)

        def apply(function: Argument) -> Value:
            if found:
                self._implement_at(_Target(PY_IMPL), operator, function, found[1], place, key_place=bound.place("k"))
            elif dotted in _FAKE_MODES:
                self._implement_at(_Target(PY_IMPL), operator, function, _META, place, KernelKind.FAKE)
            return function.value

        return self._decorator(apply)

    # Schemas, loads, names

    def _infer_schema(self, _api: str, bound: Bound, place: Place) -> Value:
        given = "mutates_args" in bound.given
        mutates = bound.value("mutates_args") if given else Unknown(words="`mutates_args`")
        schema = self._inferred(bound.value("function"), mutates, tags_of(bound.value("tags")), place)
        name = bound.value("op_name")
        return schema if name == NONE else pure.concatenate((name, schema))

    def _inferred(self, function: Value, mutates: Value, tags: tuple[str, ...], place: Place) -> Value:
        """The schema that torch makes of a function's annotations: a string that may be unknown."""
        depends = parameters_of(function) | parameters_of(mutates)
        unknown = String((Run("("), Unknown(words="an inferred schema", parameters=depends)))
        described = describe(function) if isinstance(function, Function) else None
        if described is None or depends or not isinstance(function, Function):
            return unknown
        try:
            made = inspected(function)
            result = infer(made.signature, made.evaluate, made.objects.object_of(mutates), tags)
        except NotKnownError:
            return unknown
        self.recorder.functions.setdefault(described.place, described)
        self._event(place, "schema", lambda site: _inference(site, described, result, made.objects.exact))
        return unknown if isinstance(result, Failure) else plain(result.schema)

    def _load(self, api: str, bound: Bound, place: Place) -> Value:
        path = bound.value("path" if "path" in bound.given else "name")

        def make(site: Site) -> LibraryLoad:
            context = site.context
            return LibraryLoad(
                site.place,
                api,
                text_or_empty(path),
                words_of(path).strip("`"),
                context.run,
                context.caught,
                context.swallowed,
                self.host.function_place(),
                context.condition,
                context.silenced if context.swallowed else (),
                self.recorder.is_tested(words_of(path)),
                self._picked_from(path),
            )

        self._event(place, "load", make, refine=path)
        return Unknown(words=f"{api}(...)")

    def _picked_from(self, path: Value) -> Place | None:
        """The search for files of whose results a path is whichever comes first."""
        value = path.parts[0] if isinstance(path, String) and len(path.parts) == 1 else path
        search = picked_search(value) if isinstance(value, Unknown) else None
        if search is None or self.recorder.is_counted(self.host.words(search.call, search.scope)):
            return None
        return search.source.place(search.call)

    def _name_only(self, api: str, bound: Bound, place: Place) -> Value:
        self._named_string(api, bound.value("op"), place, bound.place("op"))
        return Unknown(words=f"{api}(...)")


_META = "Meta"
_AUTOGRAD = "Autograd"
_VMAP = "FuncTorchBatched"

_OP_NAMES = ("lib",)

_APIS: dict[str, _Api] = {
    LIBRARY: _Api(Registrar._library, ("ns", "kind", "dispatch_key"), needed=("ns", "dispatch_key"), what="unit"),
    SCOPED_LIBRARY: _Api(
        Registrar._library, ("ns", "kind", "dispatch_key"), needed=("ns", "dispatch_key"), what="unit"
    ),
    RAW_LIBRARY: _Api(Registrar._library, ("kind", "ns", "dispatch_key"), needed=("ns", "dispatch_key"), what="unit"),
    "torch.library.define": _Api(
        Registrar._define_by_name, ("qualname", "schema"), ("lib", "tags"), ("qualname", "schema", "lib"), "def"
    ),
    CUSTOM_OP: _Api(
        Registrar._custom_op,
        ("name", "fn"),
        ("mutates_args", "device_types", "schema", "tags"),
        ("name", "mutates_args", "device_types", "schema"),
        "def",
    ),
    TRITON_OP: _Api(
        Registrar._custom_op, ("name", "fn"), ("mutates_args", "schema"), ("name", "mutates_args", "schema"), "def"
    ),
    LEGACY_CUSTOM_OP: _Api(Registrar._legacy_custom_op, ("name", "schema"), (), ("name", "schema"), "def"),
    LEGACY_CUSTOM_OPS[1]: _Api(Registrar._legacy_custom_op, ("name", "schema"), (), ("name",), "def"),
    "torch._custom_ops.impl": _Api(
        Registrar._custom_ops_impl, ("op",), ("device_types", "func"), ("op", "device_types"), "impl"
    ),
    "torch._custom_ops.impl_abstract": _Api(Registrar._register_fake, ("op",), ("func",), ("op",), "impl"),
    "torch._custom_ops.impl_backward": _Api(
        Registrar._register_autograd, ("op", "output_differentiability"), ("func",), ("op",), "impl"
    ),
    "torch._subclasses.fake_impls.register_op_impl": _Api(Registrar._register_op_impl, ("op",), (), ("op",), "impl"),
    "torch.library.impl": _Api(
        Registrar._impl,
        ("op", "types", "func"),
        ("lib", "name", "dispatch_key"),
        ("op", "types", "name", "lib"),
        "impl",
    ),
    "torch.library.register_kernel": _Api(
        Registrar._impl, ("op", "types", "func"), _OP_NAMES, ("op", "types", "lib"), "impl"
    ),
    "torch.library.register_fake": _Api(Registrar._register_fake, ("op", "func"), _OP_NAMES, ("op", "lib"), "impl"),
    "torch.library.impl_abstract": _Api(Registrar._register_fake, ("op", "func"), _OP_NAMES, ("op", "lib"), "impl"),
    "torch.library.register_autograd": _Api(
        Registrar._register_autograd, ("op", "func"), ("setup_context", "lib"), ("op", "lib"), "impl"
    ),
    "torch.library.register_vmap": _Api(Registrar._register_vmap, ("op", "func"), _OP_NAMES, ("op", "lib"), "impl"),
    "torch.library.register_autocast": _Api(
        Registrar._register_autocast,
        ("op", "device_type", "cast_inputs"),
        _OP_NAMES,
        ("op", "device_type", "lib"),
        "impl",
    ),
    "torch.library.register_torch_dispatch": _Api(
        Registrar._register_torch_dispatch, ("op", "torch_dispatch_class", "func"), _OP_NAMES, ("op",), "impl"
    ),
    "torch.library.infer_schema": _Api(
        # Before torch 2.5, as `torch._custom_op.impl.infer_schema`, it took both as positional arguments.
        Registrar._infer_schema,
        ("function", "mutates_args"),
        ("op_name", "tags"),
        ("op_name", "mutates_args"),
    ),
    "torch.library.get_kernel": _Api(Registrar._name_only, ("op",)),
    "torch.library.opcheck": _Api(Registrar._name_only, ("op",)),
    **{
        name: _Api(Registrar._load, ("path",))
        for name in ("torch.classes.load_library", "torch.ops.import_module", "torch.ops.load_library")
    },
    **{
        f"torch.utils.cpp_extension.{name}": _Api(Registrar._load, ("path",), ("name",))
        for name in ("load", "load_inline")
    },
}

_LIBRARY_METHODS: dict[str, _Api] = {
    "define": _Api(Registrar._library_define, ("schema", "alias_analysis"), ("tags",), ("schema",), "def"),
    "impl": _Api(
        Registrar._library_impl,
        ("op_name", "fn", "dispatch_key", "with_keyset"),
        ("allow_override",),
        ("op_name", "dispatch_key"),
        "impl",
    ),
    "_impl_with_aoti_compile": _Api(
        Registrar._library_impl, ("op_name", "dispatch_key"), (), ("op_name", "dispatch_key"), "impl"
    ),
    "_register_fake": _Api(Registrar._library_fake, ("op_name", "fn"), (), ("op_name",), "impl"),
    "fallback": _Api(Registrar._library_fallback, ("fn", "dispatch_key"), (), ("dispatch_key",), "fallback"),
}

_CUSTOM_OP_METHODS: dict[str, _Api] = {
    "register_fake": _Api(Registrar._op_fake, ("fn",)),
    "register_kernel": _Api(Registrar._op_kernel, ("device_types", "fn"), (), ("device_types",), "impl"),
    "register_autograd": _Api(Registrar._op_autograd, ("fn",), ("setup_context",)),
    "register_vmap": _Api(Registrar._op_vmap, ("fn",), ("func",)),
    "register_autocast": _Api(Registrar._op_autocast, ("device_type", "cast_inputs"), (), ("device_type",), "impl"),
    "impl": _Api(Registrar._op_kernel, ("device_types",), (), ("device_types",), "impl"),
    "impl_abstract": _Api(Registrar._op_fake, ()),
    "impl_backward": _Api(Registrar._op_autograd, ()),
    "impl_factory": _Api(Registrar._op_factory, ()),
}

_METHODS: dict[type[Value], dict[str, _Api]] = {
    Library: _LIBRARY_METHODS,
    CustomOp: _CUSTOM_OP_METHODS,
    Operator: {"py_impl": _Api(Registrar._py_impl, ("k",))},
}


def _inference(site: Site, function: PythonFunction, result: Inferred | Failure, exact: bool) -> SchemaInference:
    caught = site.context.caught
    if isinstance(result, Inferred):
        return SchemaInference(site.place, function.place, result.schema, caught=caught)
    culprit = culprit_place(function, result.culprit)
    return SchemaInference(site.place, function.place, None, result.text, culprit, exact, caught)


def _waiting_for(value: Value, arguments: Arguments) -> Value:
    """The result of a call; a decorator depends on what it was made with."""
    if not isinstance(value, Decorator):
        return value
    parameters: frozenset[str] = frozenset()
    return structs.replace(value, parameters=parameters.union(*map(parameters_of, arguments.values())))


def _by_name(api: str, bound: Bound) -> _Target:
    """The target of a function that takes the operator's full name, and may be given a library."""
    library = bound.value("lib")
    return _Target(api, library.state) if isinstance(library, Library) else _Target(api)
