"""Errors of the Python side: torch.library, custom_op and their decorators."""

from __future__ import annotations

from op_lint.errors.kind import Kind, Stage
from op_lint.message import Message

UNINFERABLE = Kind(
    "uninferable-schema",
    Stage.LOAD,
    (
        Message("infer_schema(func): {reason} Got func with signature {line}", "infer_schema(func): "),
        Message("mutates_args must either be a sequence of the names of the arguments that are mutated or the string"
                " 'unknown'."),
    ),
    "torch makes the schema of a custom_op from the annotations of its function, and cannot from these.",
    ("annotate every parameter and the return with types that a schema has, or give `schema=`",),
    ("OPL605",),
)  # fmt: skip

FAKE_REFUSED = Kind(
    "fake-refused",
    Stage.LOAD,
    (
        Message("register_fake(...): the operator {operator} already has a fake impl registered at {where}.",
                " already has a fake impl registered at "),
        Message("register_fake(...): the operator {operator} already has an fake impl registered at {where}.",
                " already has an fake impl registered at "),
        Message("register_fake(...): the operator {operator} already has a DispatchKey::Meta implementation",
                " already has a DispatchKey::Meta implementation"),
        Message("register_fake(...): the operator {operator} already has an DispatchKey::Meta implementation",
                " already has an DispatchKey::Meta implementation"),
        Message("register_fake(...): the operator {operator} already has an implementation for this device type via a"
                " pre-existing registration to DispatchKey::CompositeImplicitAutograd",
                " already has an implementation for this device type via a pre-existing registration"),
        Message("We should not register a meta kernel directly to the operator '{operator}', because it has a"
                " CompositeImplicitAutograd kernel in core."),
        Message("We should not register a meta kernel directly to the operator '{name}', because it has a"
                " CompositeImplicitAutograd kernel in core."),
    ),
    "the operator has what a fake would replace: a Meta kernel, another fake, or a composite kernel, which is one.",
    (
        "keep one of them",
        "a kernel given with a definition and without a key is composite: register it at a backend's key if it is none",
    ),
    ("OPL204", "OPL407"),
)  # fmt: skip

AUTOGRAD_REFUSED = Kind(
    "autograd-refused",
    Stage.LOAD,
    (
        Message("Cannot register autograd formula for non-functional operator {python} with schema {schema}. Please"
                " create a functional operator and register an autograd formula for that."),
        Message("Cannot register autograd formula for non-functional operator <CustomOpDef({operator})> with schema"
                " {schema}. Please create a functional operator and register an autograd formula for that."),
        Message("Cannot register autograd formula for operator tagged with torch.Tag.out: {text}. Out variants do not"
                " support autograd."),
        Message("register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your"
                " tensors not kwarg-only. Got: {declaration}"),
        Message("custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: {declaration}"),
        Message("register_vmap with kwarg-only Tensor args. In the original definition of the op, please make your"
                " tensors not kwarg-only. Got: {declaration}"),
    ),
    "formulas for gradients and batching rules are for operators that write none of their arguments, and whose tensors"
    " are not keyword-only.",
    ("define a functional operator, give it the formula, and let the mutating one call it",),
    ("OPL106", "OPL107"),
)  # fmt: skip

RETURNS_INPUT = Kind(
    "returns-input",
    Stage.CALL,
    (
        Message("{name} (with implementation in {text}): The output of this custom operator (1) must not also be an"
                " input to this custom operator and (2) may not alias any inputs to this custom operator or other"
                " returns."),
        Message("{name} (with implementation in {text}): An operator tagged with torch.Tag.inplace must return its"
                " first argument."),
        Message("{name} (with implementation in {text}): An operator tagged with torch.Tag.out must return its mutable"
                " keyword-only arguments."),
    ),
    "the result of a custom operator must be a tensor of its own: not an argument, not a view of one, and no tensor"
    " twice.",
    ("return a clone; or mutate the argument (`mutates_args`) and return None",),
    ("OPL403",),
)  # fmt: skip

LIBRARY_GONE = Kind(
    "library-destroyed",
    Stage.LOAD,
    (Message("Library object has been destroyed"),),
    "a torch.library.Library was used after it was destroyed; with it all its registrations are gone.",
    ("keep the Library in a variable of a module",),
    ("OPL602",),
)

WRONG_LIBRARY = Kind(
    "wrong-library-kind",
    Stage.LOAD,
    (
        Message("Unsupported kind: {word}"),
        Message("Invalid alias_analysis type {word}"),
        Message("Functions without tensor inputs are required to have a `device: torch.device` argument"),
        Message("Input function is required to be a callable but found type"),
    ),
    "torch.library was given what it does not take.",
    ('the kinds of a Library are "DEF", "FRAGMENT" and "IMPL"; a kernel is a function',),
    ("OPL211", "OPL605"),
)

KINDS = (UNINFERABLE, FAKE_REFUSED, AUTOGRAD_REFUSED, RETURNS_INPUT, LIBRARY_GONE, WRONG_LIBRARY)
