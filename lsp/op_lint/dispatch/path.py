"""The path of a call: which keys it goes through, which kernel runs at each, and where it ends.

One dispatch computes the keys once: those of the tensors, with what the thread includes, without what it excludes and
without what falls through (`DispatchKeyExtractor::getDispatchKeySetBoxed`). A kernel that redispatches goes on with
the keys below its own; one that calls the operator again starts over, with other tensors or another thread state.

What torch's own wrappers do is written here after aten/src/ATen/functorch/{DynamicLayer,Interpreter}.cpp,
core/PythonFallbackKernel.cpp, FunctionalizeFallbackKernel.cpp and core/VariableFallbackKernel.cpp of torch 2.13. A
kernel of the user's own above the backends is taken to redispatch, as a wrapper must.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cached_property

import msgspec

from op_lint.dispatch import errors
from op_lint.dispatch.call import (
    ADINPLACE_OR_VIEW,
    BACK_MODE,
    BATCHED,
    BATCHED_NESTED,
    FRONT_MODE,
    FUNCTIONALIZE,
    PYTHON,
    PYTHON_SNAPSHOT,
    TRACER,
    VMAP_MODE,
    Call,
    Layout,
    Mode,
    Transform,
    UnknownDeviceError,
    autocast_keys,
    device_key,
    tensor_keys,
    wrapped,
)
from op_lint.dispatch.errors import META, CallError
from op_lint.dispatch.keys import (
    AUTOGRAD,
    AUTOGRAD_OTHER,
    BATCHED_DECOMPOSITION,
    EXPLICIT,
    IMPLICIT,
    IMPLICIT_NESTED,
    PYTHON_DISPATCHER,
    UNDEFINED,
    KeyKind,
    KeySet,
)
from op_lint.dispatch.registration import Registration, Source
from op_lint.dispatch.schemas import (
    batching_refusal,
    has_alias_annotation,
    has_trivial_fake,
    is_jagged_pointwise,
    may_dispatch,
)
from op_lint.dispatch.table import Entry, Reason, Table
from op_lint.facts import KernelKind

BACKEND_SELECT = "BackendSelect"

# Namespaces whose operators FakeTensorMode may run for real where they have no Meta kernel
# (`FakeTensorMode._can_run_unsafe_fallback_allowed_namespaces`).
_UNSAFE_FALLBACK = frozenset({"aten", "debugprims", "prims", "quantized", "torchaudio", "torchtext", "vision", "xla"})

# Where else than at the key itself a kernel may help.
_CURES = (EXPLICIT, IMPLICIT, IMPLICIT_NESTED, AUTOGRAD, BATCHED_DECOMPOSITION)

_DECOMPOSES = "decomposes: the operators it calls are dispatched anew"
_PY_IMPL = (
    "py_impl, of which only the dispatcher in Python knows: it is given no keys, what it calls is dispatched anew"
)

# Torch's autograd kernels that do all there is to do, and call nothing below (VariableTypeManual.cpp).
_ENDS_IN_AUTOGRAD = frozenset({"aten::detach_"})


class Outcome(str, Enum):
    """What happens at one step."""

    RUNS = "runs"
    CALLS_ON = "calls on"
    SKIPPED = "skipped"
    RAISES = "raises"


class Step(msgspec.Struct, frozen=True):
    """One key on the way. `note` says in a few words what the kernel there does, empty for a kernel of one's own."""

    key: str
    outcome: Outcome
    reason: Reason
    registration: Registration | None
    note: str = ""


class Path(msgspec.Struct, frozen=True):
    """The way of a call through the dispatcher.

    `key_set` are the keys of its first dispatch, highest first, fallthroughs among them; `excluded` those that its
    tensors carry and the thread takes away. `error` is None where a kernel runs at the end; `cures` are the keys at
    which one more kernel would let the call go on.
    """

    operator: str
    key_set: tuple[str, ...]
    excluded: tuple[str, ...]
    steps: tuple[Step, ...]
    error: CallError | None = None
    cures: tuple[str, ...] = ()

    @property
    def hits(self) -> tuple[str, ...]:
        """The keys whose kernels are entered, in order."""
        return _hits(self.steps)


def call_path(table: Table, call: Call) -> Path:
    """The path of `call` through the operator's table. Raises UnknownDeviceError for a device torch does not have."""
    if not may_dispatch(table.operator):
        call = call.without_tensors()
    walk = _Walk(table, call)
    visible, carried = walk.visible, walk.tensors
    walk.run()
    return Path(
        table.operator.name,
        tuple(key for key in _descending(visible) if key in visible),
        tuple(key for key in _descending(carried) if key in carried and key not in visible),
        tuple(walk.steps),
        walk.error,
        tuple(_cures(walk)) if walk.error is not None else (),
    )


def _cures(walk: _Walk) -> Iterator[str]:
    """The keys at which one more kernel lets the call get further, the narrowest first.

    Found by walking with each of them: a composite kernel that makes another entry ambiguous is no cure.
    """
    for key in dict.fromkeys((walk.failed_at, *_CURES)):
        if key == UNDEFINED:
            continue
        after = _Walk(_with_kernel(walk.table, key), walk.call)
        after.run()
        if after.error is None or len(_hits(after.steps)) > len(_hits(walk.steps)):
            yield key


def cures_at(table: Table, key: str) -> Iterator[str]:
    """The keys at which one more kernel gives a call that is at `key` something to run, the narrowest first.

    The same as `Path.cures`, for a call of which only the key is known at which it raised.
    """
    for cure in dict.fromkeys((key, *_CURES)):
        entry = _with_kernel(table, cure)[key] if cure != UNDEFINED else None
        if entry is not None and not entry.missing and entry.reason is not Reason.AMBIGUOUS:
            yield cure


def _with_kernel(table: Table, key: str) -> Table:
    """The table of an operator that has one more kernel."""
    registrations = (*table.operator.registrations, Registration(key, origin=""))
    operator = msgspec.structs.replace(table.operator, registrations=registrations)
    return type(table)(table.keys, operator, table.fallbacks)


def _hits(steps: Sequence[Step]) -> tuple[str, ...]:
    return tuple(step.key for step in steps if step.outcome in (Outcome.RUNS, Outcome.CALLS_ON))


def _descending(keys: KeySet) -> Iterator[str]:
    """The key that each functionality in the set stands for, given its highest backend; highest first."""
    while (key := keys.highest) != UNDEFINED:
        yield key
        keys &= keys.keys.below(key) - keys.keys.set(PYTHON_DISPATCHER)


class _Layer(msgspec.Struct, frozen=True):
    """A functorch transform on the stack, and the keys of the tensors inside its wrappers."""

    transform: Transform
    inner: KeySet


class _Walk:
    """A call under way: what its tensors carry, what the thread includes and excludes, the functorch stack."""

    def __init__(self, table: Table, call: Call) -> None:
        self.table = table
        self.keys = table.keys
        self.call = call
        self.steps: list[Step] = []
        self.error: CallError | None = None
        self.failed_at = ""
        self.faking = False
        self.mode = call.mode
        # Whether the tensors are in the wrappers of the transform that has the call, and still in those of one that is
        # done: functionalize checks that when it is, vmap only when the last transform is.
        self.wrapped = False
        self.stuck = False
        self.layers: list[_Layer] = []
        self.saved: list[tuple[KeySet, KeySet]] = []
        self.tensors = self.keys.set()
        for argument in call.arguments:
            self.tensors |= tensor_keys(self.keys, argument)
        self.has_subclass = any(argument.subclass for argument in call.arguments)
        if call.mode is Mode.FAKE and call.arguments:
            self.tensors |= self.keys.set(PYTHON, PYTHON_SNAPSHOT)
        self.included, self.excluded = self._thread_state()
        self._wrap()

    def _thread_state(self) -> tuple[KeySet, KeySet]:
        keys, call = self.keys, self.call
        included, excluded = keys.set(*keys.facts.included), keys.set(*keys.facts.excluded)
        excluded -= autocast_keys(keys, call.autocast)
        if call.inference_mode:
            included -= keys.set(ADINPLACE_OR_VIEW)
            excluded |= keys.autograd
        if call.mode is not None:
            included |= keys.set(PYTHON, PYTHON_SNAPSHOT)
        if call.functionalize:
            included |= keys.set(FUNCTIONALIZE)
        if call.tracing:
            included |= keys.set(TRACER)
        if call.python_dispatcher:
            included |= keys.set(PYTHON_DISPATCHER)
        if call.transforms:
            included |= keys.set(FRONT_MODE, BACK_MODE)
        return included, excluded

    def _wrap(self) -> None:
        self.plain = self.tensors
        if self.call.functionalize:
            self.tensors = wrapped(self.keys, self.tensors, Transform.FUNCTIONALIZE)
        for transform in self.call.transforms:
            self.layers.append(_Layer(transform, self.tensors))
            self.tensors = wrapped(self.keys, self.tensors, transform)

    @property
    def visible(self) -> KeySet:
        """The keys of a dispatch now, before fallthroughs are taken out."""
        return (self.tensors | self.included) - self.excluded

    def run(self) -> None:
        """Walk until a kernel ends the call, or it raises."""
        visible: KeySet | None = self.visible
        while visible is not None:
            skipped = self.table.fallthroughs(self.keys.highest_backend(visible.bits))
            visible = self._descend(visible, skipped)

    def _descend(self, visible: KeySet, skipped: KeySet) -> KeySet | None:
        """One dispatch. None when the call has ended, else the keys with which it is dispatched again."""
        current = visible - skipped
        for key in (*_descending(visible), UNDEFINED):
            entry = self._entry(key)
            if self.keys.bits(self.keys.split(key)[0]) & skipped.bits:
                self._step(entry, Outcome.SKIPPED, "fallthrough")
            elif key == current.highest:
                again = self._enter(entry)
                if self.steps[-1].outcome is not Outcome.CALLS_ON or again is not None:
                    return again
                current &= self._below(key)
        return None

    def _entry(self, key: str) -> Entry:
        """What a call finds at a key.

        The dispatcher in Python goes by the same precedence but for one thing: beside a kernel of a backend or at
        CompositeExplicitAutograd it does not take the composite one for nested tensors (`torch._ops.resolve_key`).
        """
        if not self.call.python_dispatcher:
            return self.table[key]
        table = self._python_table
        entry = table[key]
        if entry.reason is not Reason.NESTED:
            return entry
        if EXPLICIT not in table.kernels and not table.shape.has_kernel_in(self.keys.autograd_backends(key)):
            return entry
        others = tuple(each for each in table.operator.registrations if each.key != IMPLICIT_NESTED)
        operator = msgspec.structs.replace(table.operator, registrations=others)
        return Table(table.keys, operator, table.fallbacks)[key]

    @cached_property
    def _python_table(self) -> Table:
        """The table as the dispatcher in Python has it: with the kernels of `py_impl`, each over the one at its key."""
        operator = self.table.operator
        kernels = [each for each in operator.python if each.kind is not KernelKind.FAKE]
        if not kernels:
            return self.table
        operator = msgspec.structs.replace(operator, registrations=(*operator.registrations, *kernels))
        return Table(self.keys, operator, self.table.fallbacks)

    def _is_of_python(self, entry: Entry) -> bool:
        return any(entry.registration is each for each in self.table.operator.python)

    def _below(self, key: str) -> KeySet:
        """What a wrapper at `key` leaves: below one autograd key there is no other (`after_autograd_keyset`)."""
        return self.keys.below(AUTOGRAD_OTHER if self.keys.kind(key) is KeyKind.AUTOGRAD else key)

    def _step(self, entry: Entry, outcome: Outcome, note: str) -> None:
        self.steps.append(Step(entry.key, outcome, entry.reason, entry.registration, note))

    def _raise(self, entry: Entry, error: CallError, lacking: str | None = None) -> None:
        """The call raises at an entry, for want of a kernel at `lacking` (the same key, unless said)."""
        self.error = error
        self.failed_at = lacking or entry.key
        self._step(entry, Outcome.RAISES, "")

    def _enter(self, entry: Entry) -> KeySet | None:
        """Run what is at an entry. The keys to dispatch again with, None where the call goes on below or has ended."""
        if entry.key == PYTHON_DISPATCHER:
            return self.leave_python_dispatcher(entry)
        error = self._error(entry)
        if error is not None and self.faking and error.type == "NotImplementedError":
            return self._without_meta(entry)
        if error is not None:
            self._raise(entry, error)
            return None
        if self._is_of_python(entry):
            self._step(entry, Outcome.RUNS, _PY_IMPL)
        elif entry.reason in (Reason.MATH, Reason.NESTED, Reason.BATCHED) or self._is_hack(entry):
            self._step(entry, Outcome.RUNS, _DECOMPOSES)
        elif self.keys.kind(entry.key) is KeyKind.AUTOGRAD and self._ends_in_autograd(entry):
            self._step(entry, Outcome.RUNS, "PyTorch's autograd: does all of it")
        elif (handler := _HANDLERS.get((entry.key, entry.reason is Reason.FALLBACK))) is not None:
            return handler(self, entry)
        elif self.keys.kind(entry.key) in (KeyKind.BACKEND, KeyKind.UNDEFINED):
            self._step(entry, Outcome.RUNS, "")
        else:
            self._step(entry, Outcome.CALLS_ON, self._note(entry))
        return None

    def _is_hack(self, entry: Entry) -> bool:
        """Whether it is a kernel of torch's in the place of all transforms (`PyTorchOperatorHacks.cpp`)."""
        return entry.key == FRONT_MODE and entry.reason is Reason.KERNEL and _is_torchs(entry.registration)

    def _ends_in_autograd(self, entry: Entry) -> bool:
        return self.table.operator.name in _ENDS_IN_AUTOGRAD and _is_torchs(entry.registration)

    def _error(self, entry: Entry) -> CallError | None:
        operator = self.table.operator
        if entry.missing and self.call.python_dispatcher:
            return errors.missing_in_python(operator, entry.key)
        if entry.missing:
            return errors.missing_kernel(self.table, entry.key)
        if entry.reason is Reason.AMBIGUOUS:
            return errors.ambiguous_kernel(operator, in_python=self.call.python_dispatcher)
        if entry.fallthrough:
            return errors.fallthrough_executed()
        if entry.registration is not None and entry.registration.refusal:
            return errors.refused(entry.registration.refusal)
        if entry.registration is not None and entry.registration.kind is KernelKind.NOT_SUPPORTED:
            return errors.not_supported(operator)
        if entry.reason is Reason.FALLBACK and entry.key == META:
            return errors.no_meta_kernel(operator)
        if entry.reason is Reason.FALLBACK and entry.key == FUNCTIONALIZE and has_alias_annotation(operator):
            return errors.cannot_functionalize(operator)
        return None

    def _without_meta(self, entry: Entry) -> KeySet | None:
        """FakeTensorMode found no Meta kernel: `FakeTensorMode._dispatch_impl`, `can_generate_trivial_fake_impl`."""
        operator = self.table.operator
        if operator.name.partition("::")[0] in _UNSAFE_FALLBACK:
            self._step(entry, Outcome.CALLS_ON, "no Meta kernel: fake mode runs the real one on made-up data")
            self.faking = False
            self.included, self.excluded = self.saved.pop()
            return self.visible
        if has_trivial_fake(operator):
            self._step(entry, Outcome.RUNS, "no Meta kernel needed: it returns nothing new")
        else:
            self._raise(entry, errors.no_fake(operator))
        return None

    def _note(self, entry: Entry) -> str:
        kind = self.keys.kind(entry.key)
        if entry.reason is Reason.FALLBACK and kind is KeyKind.AUTOGRAD:
            warning = ", gradients stop here and backward() warns" if self.call.requires_grad else ""
            return f'PyTorch\'s "autograd not implemented": calls on{warning}'
        if entry.reason is Reason.FALLBACK or _is_torchs(entry.registration):
            return _NOTES.get(entry.key) or _NOTES_BY_KIND.get(kind, "PyTorch's wrapper: calls on")
        return ""

    def enter_transform(self, entry: Entry) -> KeySet:
        """The innermost functorch transform takes the call: only its own keys stay (`Interpreter.cpp`)."""
        transform = self.layers[-1].transform
        self._step(entry, Outcome.CALLS_ON, f"functorch: {transform.value} takes the call")
        self.saved.append((self.included, self.excluded))
        self.wrapped = transform is not Transform.GRAD and bool(self.call.arguments)
        entering = self._entering(transform)
        self.excluded = (self.excluded | (self._transform_keys() - entering)) - entering
        if transform is Transform.VMAP:
            self.included |= self.keys.set(VMAP_MODE)
        elif transform is Transform.FUNCTIONALIZE:
            self.included |= self.keys.set(FUNCTIONALIZE)
        return self.visible

    def _entering(self, transform: Transform) -> KeySet:
        if transform is Transform.VMAP:
            return self.keys.set(BATCHED, BATCHED_NESTED)
        if transform is Transform.FUNCTIONALIZE:
            return self.keys.set(FUNCTIONALIZE)
        return self.keys.autograd | self.keys.set(ADINPLACE_OR_VIEW)

    def _transform_keys(self) -> KeySet:
        """The functionalities from above the back mode to the front mode, but for autocast and vmap's own mode."""
        keys = self.keys
        between = keys.below(FRONT_MODE) - keys.below(BACK_MODE) - keys.set(BACK_MODE, VMAP_MODE)
        autocast = keys.set(*(key for key in keys.runtime if keys.kind(key) is KeyKind.AUTOCAST))
        return (between | keys.set(FRONT_MODE)) - autocast

    def _unwrap(self, inner: KeySet) -> None:
        self.wrapped = False
        if not self.stuck:
            self.tensors = inner

    def leave_transform(self, entry: Entry) -> KeySet | None:
        """The transform is done: the call goes to the one around it, in the thread state from before."""
        if not self.saved:
            self._raise(entry, errors.not_entered(), BACK_MODE)
            return None
        layer = self.layers.pop()
        if self.wrapped and not self.stuck and layer.transform is Transform.FUNCTIONALIZE:
            self._raise(entry, errors.still_wrapped(layer.transform), FUNCTIONALIZE)
            return None
        self.stuck = self.stuck or self.wrapped
        if self.stuck and not self.layers:
            self._raise(entry, errors.still_wrapped(Transform.VMAP), BATCHED)
            return None
        self._step(entry, Outcome.CALLS_ON, f"functorch: {layer.transform.value} is done, calls on outside it")
        self.included, self.excluded = self.saved.pop()
        self._unwrap(layer.inner)
        if not self.layers:
            self.included -= self.keys.set(FRONT_MODE, BACK_MODE)
        return self.visible

    def unwrap_batched(self, entry: Entry) -> KeySet | None:
        """A batching rule. Torch's own call other operators; the fallback and a user's call this one, unwrapped."""
        if entry.reason is Reason.KERNEL and _is_torchs(entry.registration):
            self._step(entry, Outcome.RUNS, "PyTorch's batching rule: the operators it calls are dispatched anew")
            return None
        slow = entry.reason is Reason.FALLBACK
        if slow and (refusal := batching_refusal(self.table.operator)) is not None:
            self._raise(entry, errors.cannot_batch(refusal))
            return None
        self._step(entry, Outcome.CALLS_ON, "no batching rule: calls the operator for each slice" if slow else "")
        self._unwrap(self.layers[-1].inner)
        self.excluded |= self.keys.set(BATCHED)
        return self.visible

    def unwrap_functional(self, entry: Entry) -> KeySet | None:
        """Functionalization. The fallback calls the operator unwrapped, a kernel of torch's another operator."""
        if entry.reason is not Reason.FALLBACK:
            torchs = _is_torchs(entry.registration)
            outcome = Outcome.RUNS if torchs else Outcome.CALLS_ON
            self._step(entry, outcome, "calls the functional operator" if torchs else "")
            return None
        self._step(entry, Outcome.CALLS_ON, "functionalization: unwraps and calls on")
        self._unwrap(self.layers[-1].inner if self.layers else self.plain)
        self.excluded |= self.keys.set(FUNCTIONALIZE)
        return self.visible

    def leave_python_dispatcher(self, entry: Entry) -> KeySet:
        """It looks the kernel up in Python (`OpOverload._get_dispatch`), where `py_impl` may have put another one."""
        self._step(entry, Outcome.CALLS_ON, "the dispatcher in Python: looks the kernel up there, calls on")
        self.included -= self.keys.set(PYTHON_DISPATCHER)
        return self.visible

    def enter_python(self, entry: Entry) -> KeySet | None:
        """A `__torch_dispatch__` takes the call, with all keys above Python off, and calls the operator again.

        That of a mode comes before those of tensors.
        """
        keys = self.keys
        above = keys.set(*keys.runtime) - keys.below(PYTHON) - keys.set(PYTHON, PYTHON_DISPATCHER)
        if self.mode is None and self.has_subclass:
            self._step(
                entry, Outcome.CALLS_ON, "__torch_dispatch__ of the tensor's class: unwraps and calls on, if it does"
            )
            self._unwrap_subclasses()
            self.excluded |= above
            return self.visible
        if self.mode is None:
            self._enter_jagged(entry)
            return None
        if (fake := self._fake_of_python) is not None:
            self._step(Entry(entry.key, Reason.KERNEL, fake), Outcome.RUNS, "py_impl for FakeTensorMode")
            return None
        self.mode = None
        self.included -= keys.set(PYTHON, PYTHON_SNAPSHOT)
        self.excluded |= above
        if self.call.mode is not Mode.FAKE:
            self._step(entry, Outcome.CALLS_ON, "__torch_dispatch__ of the mode: calls on, if it does")
            return self.visible
        composite = self._decomposition
        if composite is not None:
            self._step(entry, Outcome.CALLS_ON, "FakeTensorMode: prefers the composite kernel")
            return self._enter(Entry(IMPLICIT, Reason.MATH, composite))
        self.faking = True
        self.saved.append((self.included, self.excluded | self.keys.set(PYTHON)))
        self.included |= keys.set(META)
        self.excluded |= keys.set(PYTHON)
        self._step(entry, Outcome.CALLS_ON, "FakeTensorMode: calls on with Meta tensors")
        return self.visible

    def _unwrap_subclasses(self) -> None:
        self.has_subclass = False
        self.tensors = self.keys.set()
        for argument in self.call.arguments:
            self.tensors |= tensor_keys(self.keys, msgspec.structs.replace(argument, subclass=False))

    @property
    def _fake_of_python(self) -> Registration | None:
        """A kernel of `py_impl(FakeTensorMode)`, which the dispatcher in Python takes in place of the mode."""
        if self.mode is not Mode.FAKE or not self.call.python_dispatcher:
            return None
        return next((each for each in self.table.operator.python if each.kind is KernelKind.FAKE), None)

    @property
    def _decomposition(self) -> Registration | None:
        """What `OpOverload.decompose` takes, which modes ask for: a composite kernel of `py_impl`, else torch's."""
        python = [each for each in self.table.operator.python if each.key == IMPLICIT]
        return python[-1] if python else self.table[IMPLICIT].registration

    def _enter_jagged(self, entry: Entry) -> None:
        """`NestedTensor.__torch_dispatch__` (torch/nested/_internal/nested_tensor.py): a composite kernel, or nothing.

        What torch implements itself is tried first; which operators these are is not known of every torch.
        """
        operator = self.table.operator
        if operator.jagged or is_jagged_pointwise(operator):
            self._step(entry, Outcome.RUNS, "the jagged layout: torch's implementation in Python")
            return
        for key in (IMPLICIT_NESTED, IMPLICIT):
            composite = self.table[key].registration
            if composite is not None:
                self._step(entry, Outcome.CALLS_ON, "the jagged layout: takes the composite kernel")
                self._enter(Entry(key, Reason.MATH, composite))
                return
        if operator.jagged is None:
            self._step(entry, Outcome.RUNS, "the jagged layout: torch's implementation in Python, if it has one")
            return
        self._raise(entry, errors.no_jagged_kernel(operator), IMPLICIT_NESTED)

    def trace(self, entry: Entry) -> KeySet:
        """The tracer calls the operator anew, without itself (`general_trace_function`, torch/csrc/jit/passes)."""
        self._step(entry, Outcome.CALLS_ON, "torch.jit.trace: records the call, calls anew")
        self.included -= self.keys.set(TRACER)
        self.excluded |= self.keys.set(TRACER)
        return self.visible

    def select_backend(self, entry: Entry) -> KeySet | None:
        """A factory function: the backend comes from its `device` argument, and there is no autograd below.

        Torch's own kernels take the CPU where neither that argument nor a tensor says otherwise.
        """
        self._step(entry, Outcome.CALLS_ON, "chooses the backend by the device argument")
        device = self.call.device if not self.faking else META.lower()
        if device is None and not self.call.arguments and _is_torchs(entry.registration):
            device = "cpu"
        if device is None:
            return None
        if self.call.layout in (Layout.NESTED, Layout.JAGGED):
            raise UnknownDeviceError(f"no dispatch key for making {self.call.layout.value} tensors on `{device}`")
        return (self.visible & self.keys.below(BACKEND_SELECT)) | self.keys.set(
            device_key(self.keys, device, self.call.layout)
        )


_Handler = Callable[[_Walk, Entry], KeySet | None]

# By key, and whether what is there is the backend fallback.
_HANDLERS: dict[tuple[str, bool], _Handler] = {
    (FRONT_MODE, True): _Walk.enter_transform,
    (BACK_MODE, True): _Walk.leave_transform,
    (BATCHED, True): _Walk.unwrap_batched,
    (BATCHED, False): _Walk.unwrap_batched,
    (FUNCTIONALIZE, True): _Walk.unwrap_functional,
    (FUNCTIONALIZE, False): _Walk.unwrap_functional,
    (PYTHON, True): _Walk.enter_python,
    (TRACER, True): _Walk.trace,
    (BACKEND_SELECT, False): _Walk.select_backend,
}

_NOTES = {
    ADINPLACE_OR_VIEW: "PyTorch's view and version bookkeeping: calls on",
    PYTHON_SNAPSHOT: "remembers the thread state for __torch_dispatch__: calls on",
    "Conjugate": "conjugates in memory, then calls on",
    "Negative": "negates in memory, then calls on",
    "ZeroTensor": "makes real zeros, then calls on",
}

_NOTES_BY_KIND = {
    KeyKind.AUTOGRAD: "PyTorch's autograd: records the operation, calls on",
    KeyKind.AUTOCAST: "PyTorch's autocast: casts the arguments, calls on",
}


def _is_torchs(registration: Registration | None) -> bool:
    """Whether torch itself registered it: its places are relative to its own source tree (`op_lint.installed.dump`)."""
    path = registration.path if registration is not None and registration.source is Source.INSTALLED else None
    return path is not None and path.startswith(("aten/", "torch/", "build/aten/", "build/torch/"))
