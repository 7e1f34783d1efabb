"""What torch raises when a call reaches an entry that cannot run: the very text.

The texts are those of torch 2.13 (`OperatorEntry::reportError`, `ambiguous_autogradother_kernel`, the Meta and
Functionalize fallbacks, `FakeTensorMode`).
"""

from __future__ import annotations

import msgspec

from op_lint.dispatch.call import Transform
from op_lint.dispatch.keys import UNDEFINED
from op_lint.dispatch.registration import Operator
from op_lint.dispatch.table import Table
from op_lint.message import Message

META = "Meta"

COULD_NOT_RUN = Message("Could not run '{operator}' with arguments from the '{key}' backend.", "Could not run '")
NO_TENSORS = Message(
    "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no fallback"
    " function is registered for schema {operator}.",
    ahead="  This usually means that",
)
STALE_TABLE = Message("expected_k._equalsBoxedAndUnboxed(dispatchTable_[idx]) INTERNAL ASSERT FAILED")
NOT_FOUND_IN_PYTHON = Message("could not find kernel for {python} at dispatch key DispatchKey.{key}")
AMBIGUOUS = Message(
    "{operator} has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther."
)
AMBIGUOUS_IN_PYTHON = Message("ambiguous autogradother kernel")
FALLTHROUGH_EXECUTED = Message(
    "fallthrough_kernel was executed but it should have been short-circuited by the dispatcher."
)
FAKE_ELSEWHERE = Message(
    "{operator}: We could not find the fake impl for this operator. The operator specified that you may need to import"
    " the '{path}' Python module to load the fake impl."
)
NO_META = Message(
    "{operator}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel"
    " registered."
)
ALIASED_OUTPUT = Message(
    "Found a custom (non-ATen) operator whose output has alias annotations: {schema}. We only support functionalizing"
    " operators whose outputs do not have alias annotations"
)
NO_NAMED_TENSORS = Message("{operator} is not yet supported with named tensors.")

# The keys that `torch._C.DispatchKey` lacks.
_WITHOUT_PYTHON_NAME = frozenset({
    "AutocastMAIA", "AutocastMTIA", "AutocastXLA", "Batched", "BatchedNestedTensor", "CustomRNGKeyId", "DeferredInit",
    "FPGA", "Fake", "Metal", "MkldnnCPU", "TESTING_ONLY_GenericMode", "TESTING_ONLY_GenericWrapper", "Tracer",
    "VmapMode", "Vulkan",
})  # fmt: skip


class CallError(msgspec.Struct, frozen=True):
    """An exception. `type` is its Python type. `text` is the message; where torch appends its own table, up to that."""

    type: str
    text: str


def missing_kernel(table: Table, key: str) -> CallError:
    """A call reached `key`, and nothing is there.

    Torch checks its table before it says so, and says that instead where the table is not up to date (`LiveTable`).
    """
    name = table.operator.name
    if table.stale:
        return CallError("RuntimeError", STALE_TABLE.write())
    available = ", ".join(entry.key for entry in table.entries if not entry.missing and entry.key != UNDEFINED)
    if key == UNDEFINED:
        return CallError(
            "NotImplementedError",
            f"{NO_TENSORS.write(operator=name)}  This usually means that this function requires a non-empty list of"
            " Tensors, or that you (the operator writer) forgot to register a fallback function. "
            f" Available functions are [{available}].",
        )
    return CallError(
        "NotImplementedError",
        f"{COULD_NOT_RUN.write(operator=name, key=key)} This could be because the operator doesn't"
        " exist for this backend, or was omitted during the selective/custom build process (if using custom build). If"
        " you are a Facebook employee using PyTorch on mobile, please visit https://fburl.com/ptmfixes for possible"
        f" resolutions. '{name}' is only available for these backends: [{available}].",
    )


def missing_in_python(operator: Operator, key: str) -> CallError:
    """The same where the dispatcher in Python looks (`torch._ops.resolve_key`), which has no name for some keys."""
    name = "???" if key in _WITHOUT_PYTHON_NAME else key
    text = NOT_FOUND_IN_PYTHON.write(python=_python_name(operator), key=name)
    return CallError("NotImplementedError", text)


def ambiguous_kernel(operator: Operator, *, in_python: bool = False) -> CallError:
    """A call reached AutogradOther, where CompositeImplicitAutograd and a backend's own kernel compete.

    `in_python` says that the dispatcher in Python says so.
    """
    if in_python:
        return CallError("RuntimeError", AMBIGUOUS_IN_PYTHON.write())
    return CallError(
        "RuntimeError",
        f"{AMBIGUOUS.write(operator=operator.name)} This makes the backend kernel unreachable; the dispatcher will"
        " always prefer the CompositeImplicitAutograd lowering (see Note [Ambiguity in AutogradOther kernel]). If you"
        " want to override CompositeImplicitAutograd, please open an issue to request a dedicated Autograd dispatch key"
        " for the backend.",
    )


def fallthrough_executed() -> CallError:
    """A call has no keys left, and what stands at `Undefined` is a fallthrough: there is nothing to fall to."""
    return CallError("RuntimeError", FALLTHROUGH_EXECUTED.write())


def still_wrapped(transform: Transform) -> CallError:
    """A functorch transform ends with its wrappers still on the tensors: its key falls through for this operator."""
    condition = (
        "batched == nullptr"
        if transform is Transform.VMAP
        else "!at::functionalization::impl::isFunctionalTensor(tensor)"
    )
    return CallError("RuntimeError", f"{condition} INTERNAL ASSERT FAILED")


def no_meta_kernel(operator: Operator) -> CallError:
    """A call with Meta tensors reached torch's Meta fallback."""
    if operator.python_module is not None:
        # `throw_abstract_impl_not_imported_error`: the definition names a Python module.
        text = FAKE_ELSEWHERE.write(operator=operator.name, path=operator.python_module)
        return CallError("NotImplementedError", text)
    return CallError("NotImplementedError", NO_META.write(operator=operator.name))


def not_entered() -> CallError:
    """A functorch transform is left that was not entered: a kernel at the key above it took its call."""
    return CallError("RuntimeError", "savedLocalDispatchKeySet_.has_value() INTERNAL ASSERT FAILED")


def cannot_batch(refusal: str) -> CallError:
    """Torch's fallback for vmap cannot call an operator for each slice (`batching_refusal`)."""
    return CallError("RuntimeError", refusal)


def no_fake(operator: Operator) -> CallError:
    """The same under FakeTensorMode; its message is the operator's name in Python."""
    return CallError("torch._subclasses.fake_tensor.UnsupportedOperatorException", _python_name(operator))


def no_fake_of_custom_op(operator: Operator, function: str) -> str:
    """What the fake says that `custom_op` registers for `function`, until another is registered."""
    return (
        f"There was no fake impl registered for <CustomOpDef({operator.name})>. This is necessary for"
        f" torch.compile/export/fx tracing to work. Please use `{function}.register_fake` to add an fake impl."
    )


def no_jagged_kernel(operator: Operator) -> CallError:
    """`NestedTensor.__torch_dispatch__` has no implementation of an operator for the jagged layout."""
    return CallError("NotImplementedError", _python_name(operator))


def _python_name(operator: Operator) -> str:
    base, _, overload = operator.name.partition(".")
    return f"{base.replace('::', '.')}.{overload or 'default'}"


def cannot_functionalize(operator: Operator) -> CallError:
    """C++ functionalization reached its fallback with an operator whose schema has alias annotations."""
    return CallError("RuntimeError", ALIASED_OUTPUT.write(schema=str(operator.schema)))


def refused(refusal: str) -> CallError:
    """A call reached a kernel that only says what is missing (`Registration.refusal`)."""
    return CallError("RuntimeError", refusal)


def not_supported(operator: Operator) -> CallError:
    """A call reached a kernel that was made to refuse (`CppFunction::makeNamedNotSupported`, gone by torch 2.13)."""
    return CallError(
        "RuntimeError",
        f"{NO_NAMED_TENSORS.write(operator=operator.name)} Please drop names via"
        " `tensor = tensor.rename(None)`, call the op with an unnamed tensor, and set names on the result of the"
        " operation.",
    )
