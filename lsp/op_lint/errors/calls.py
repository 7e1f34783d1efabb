"""Errors of calls: the dispatcher finds no kernel, no operator, or one that cannot do what is asked."""

from __future__ import annotations

from op_lint.dispatch import errors
from op_lint.errors.kind import Kind, Stage
from op_lint.message import Message

MISSING_KERNEL = Kind(
    "missing-kernel",
    Stage.CALL,
    (
        errors.COULD_NOT_RUN,
        errors.NOT_FOUND_IN_PYTHON,
        Message("no kernel for {key} for {operator}", "no kernel for "),
        Message("no kernel for {key} on {operator}", "no kernel for "),
        Message("{name} does not have a kernel registered for {word}. Please use register_kernel to do so."),
    ),
    "a call reached a dispatch key at which this operator had no kernel in that process. The dispatcher does not go on"
    " to another backend: it raises.",
    ("register a kernel at that key, and see that the file which does so is compiled, linked and loaded",),
    ("OPL201", "OPL301", "OPL501", "OPL502", "OPL505", "OPL506", "OPL602", "OPL607", "OPL304", "OPL306", "OPL409"),
)

NO_TENSORS = Kind(
    "no-tensor-argument",
    Stage.CALL,
    (errors.NO_TENSORS,),
    "the backend of a call is that of its tensors, and this call had none: there was nothing to choose a kernel by.",
    (
        "register a kernel at CompositeExplicitAutograd, which needs no tensor, or one at BackendSelect that chooses",
        "or do not call it with an empty list of tensors",
    ),
    ("OPL305",),
)

AMBIGUOUS = Kind(
    "ambiguous-autograd-other",
    Stage.CALL,
    (errors.AMBIGUOUS, errors.AMBIGUOUS_IN_PYTHON),
    "the operator has a composite kernel and one of a backend whose autograd key is AutogradOther, which several"
    " backends share: torch will not choose between gradients of the one and the kernel of the other.",
    (
        "register the composite kernel at CompositeExplicitAutograd, and gradients at Autograd",
        "or take the backend's kernel out, or call the operator under torch.inference_mode()",
    ),
    ("OPL413",),
)

MISSING_FAKE = Kind(
    "missing-fake",
    Stage.CALL,
    (
        errors.NO_META,
        errors.FAKE_ELSEWHERE,
        Message("{operator}: We could not find the abstract impl for this operator."),
        Message("{operator}: while attempting to run this operator with Meta Tensors:"),
        Message("UnsupportedOperatorException: {python}"),
        Message("unsupported operator: {python}"),
        Message("There was no fake impl registered for <CustomOpDef({operator})>"),
        Message("There was no abstract impl registered for <CustomOpDef({operator})>"),
    ),
    "torch.compile, torch.export and opcheck call operators with tensors that have shapes and no data, and this one"
    " has nothing that says what shape it returns.",
    (
        'register a fake: @torch.library.register_fake("{operator}"), or a kernel at Meta in C++',
        "the module that does so must be imported before the first call",
    ),
    ("OPL302", "OPL308", "OPL603", "OPL607", "OPL201", "OPL501", "OPL602"),
)

DATA_DEPENDENT_FAKE = Kind(
    "data-dependent-fake",
    Stage.CALL,
    (
        Message("DynamicOutputShapeException: {python}"),
        Message("You're trying to run this operator with meta Tensors (as opposed to FakeTensors), but this operator"),
    ),
    "the shape of what the operator returns depends on its data, and this call has none: its fake asked for it with"
    " torch.library.get_ctx() where there is no such context.",
    (
        "call it with tensors of FakeTensorMode and not on the meta device",
        "and capture such shapes: torch._dynamo.config.capture_dynamic_output_shape_ops = True",
    ),
    ("OPL302", "OPL411"),
)

NO_OPERATOR = Kind(
    "no-operator",
    Stage.CALL,
    (
        Message("'_OpNamespace' '{namespace}' object has no attribute '{name}'", "'_OpNamespace' '"),
        Message("'_OpNamespace' object has no attribute '{name}'"),
        Message("operator {operator} does not exist", " does not exist"),
        Message("No such operator {operator}"),
        Message("Could not find schema for {operator}", "Could not find schema for "),
        Message("Couldn't find an operator for {operator}"),
        Message("Could not find the operator {operator}. Please make sure you have already registered"),
        Message("Unknown builtin op: {operator}"),
    ),
    "no operator of that name was defined in that process when it was asked for. Kernels without a definition do not"
    " count, and a library that failed to load, or was not loaded yet, defines nothing.",
    ("load the library, or import the module, that defines it before it is named",),
    ("OPL601", "OPL201", "OPL501", "OPL502", "OPL505", "OPL602", "OPL603", "OPL606", "OPL607", "OPL508", "OPL207"),
)

NO_OVERLOAD = Kind(
    "no-overload",
    Stage.CALL,
    (Message("The underlying op of '{qualified}' has no overload name '{word}'"),),
    "the operator exists, an overload of that name does not. A definition without `.name` is the overload `default`.",
    ("name one of the overloads that are defined",),
    ("OPL601", "OPL201"),
)

BAD_ARGUMENTS = Kind(
    "call-does-not-fit",
    Stage.CALL,
    (
        Message("{operator}() is missing value for argument '{word}'. Declaration: {declaration}"),
        Message("{operator}() expected at most {number} argument(s) but received {number2} argument(s). Declaration:"
                " {declaration}"),
        Message("{operator}() Expected a value of type '{text}' for argument '{word}' but instead found type"
                " '{text2}'."),
        Message("Unknown keyword argument '{word}' for operator '{operator}'. Schema: {declaration}"),
    ),
    "the arguments of a call do not fit the schema that the operator was defined with in that process.",
    ("call it as the schema says, or change the schema where it is defined and build again",),
    ("OPL608", "OPL111", "OPL507"),
)  # fmt: skip

NO_AUTOGRAD = Kind(
    "no-autograd-kernel",
    Stage.CALL,
    (
        Message(
            "{operator}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop"
            " through it."
        ),
        Message("Trying to backward through {python} but no autograd formula was registered."),
        Message("derivative for {operator} is not implemented", "derivative for "),
    ),
    "a gradient is asked for through an operator that has no formula for one: with the warning gradients stop there,"
    " and what is trained is wrong.",
    (
        'give it one: torch.library.register_autograd("{operator}", backward, setup_context=...), or a kernel at'
        " Autograd in C++",
        "or, where it has none on purpose, detach its inputs",
    ),
    ("OPL303", "OPL307", "OPL406", "OPL408"),
)

FALLTHROUGH = Kind(
    "fallthrough-executed",
    Stage.CALL,
    (errors.FALLTHROUGH_EXECUTED,),
    "every key of the call fell through: below the last fallthrough there was no kernel, so nothing was left to run.",
    ("register a kernel at the key of the backend, and not a fallthrough",),
    ("OPL409", "OPL301"),
)

ALIASED_OUTPUT = Kind(
    "aliased-output",
    Stage.CALL,
    (errors.ALIASED_OUTPUT,),
    "functionalization, which torch.compile and torch.export need, cannot take an operator apart whose result is one"
    " of its arguments or a view of it.",
    ("return a fresh tensor and leave the alias annotation out of the return; or mutate an argument and return `()`",),
    ("OPL107", "OPL403"),
)

NO_BATCHING = Kind(
    "no-batching-rule",
    Stage.CALL,
    (
        Message("Batching rule not implemented for {operator}. We could not generate a fallback."),
        Message("Batching rule not implemented for {operator}; the fallback path doesn't work on out= or view ops."),
        Message("Batching rule not implemented for {operator}. The fallback path does not support operations with no"
                " returns."),
    ),
    "torch.vmap has no rule for the operator, and cannot call it once for each slice either: it takes or returns"
    " something else than tensors, writes an argument, or returns a view.",
    ("register a rule: torch.library.register_vmap(\"{operator}\", ...)", "or do not call it under torch.vmap"),
    ("OPL107",),
)  # fmt: skip

NAMED_TENSORS = Kind(
    "named-tensors",
    Stage.CALL,
    (errors.NO_NAMED_TENSORS,),
    "a tensor with named dimensions was given to an operator that refuses them.",
    ("drop the names with tensor.rename(None)",),
)

STALE_TABLE = Kind(
    "stale-table",
    Stage.CALL,
    (errors.STALE_TABLE,),
    "torch found that its table of kernels is out of date while it made the message about a missing one: a kernel was"
    " registered or removed at a key for which it does not look again. The error behind it is a missing kernel.",
    ("look for the missing kernel with `op-lint why`",),
    ("OPL301", "OPL602"),
)

NO_CLASS = Kind(
    "no-class",
    Stage.CALL,
    (
        Message("Tried to instantiate class '{name}', but it does not exist! Ensure that it is registered via"
                " torch::class_"),
        Message("Unknown custom class type {name}. Please ensure it is registered."),
    ),
    "no TorchScript class of that name was registered in that process when it was asked for.",
    (
        "load the library with its m.class_<T>(...) first",
        "a schema that names it can stand only where that has run already, earlier in the order of linking",
    ),
    ("OPL101", "OPL501", "OPL502"),
)  # fmt: skip

OTHER_SIGNATURE = Kind(
    "other-signature",
    Stage.CALL,
    (
        Message("Tried to access or call an operator with a wrong signature.\n  operator: {schema}\n    {place}\n"
                "  correct signature:  {text}\n    {place2}\n  accessed/called as: {text2}\n"
                "This likely happened", "Tried to access or call an operator with a wrong signature."),
    ),
    "C++ code asked for the operator with `.typed<...>()` and other types than its kernels were registered with.",
    ("write in `.typed<...>()` the C++ type of the kernel, reference for reference",),
    ("OPL102",),
)  # fmt: skip

KINDS = (
    MISSING_KERNEL, NO_TENSORS, AMBIGUOUS, MISSING_FAKE, DATA_DEPENDENT_FAKE, NO_OPERATOR, NO_OVERLOAD, BAD_ARGUMENTS,
    NO_AUTOGRAD, FALLTHROUGH, ALIASED_OUTPUT, NO_BATCHING, NAMED_TENSORS, STALE_TABLE, NO_CLASS, OTHER_SIGNATURE,
)  # fmt: skip
