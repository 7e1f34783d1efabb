"""What torch.library.opcheck and its kin say of an operator that does not do what its registrations promise."""

from __future__ import annotations

from op_lint.errors.kind import Kind, Stage
from op_lint.message import Message

MUTATED = Kind(
    "undeclared-mutation",
    Stage.CHECK,
    (
        Message("Argument {word} is not defined as mutable but was mutated"),
        Message("{name}: for argument '{word}': the operator's schema {schema} specified that the operator mutates the"
                " argument, but this seems to be empirically wrong.",
                "argument, but this seems to be empirically wrong."),
        Message("{name}: for argument '{word}': the operator's schema {schema} specified that the operator does not"
                " mutate the argument, but this seems to be empirically wrong.",
                "argument, but this seems to be empirically wrong."),
    ),
    "a kernel writes an argument that the schema calls read-only. In eager mode nobody notices; under torch.compile the"
    " write is lost.",
    ("say so: `Tensor(a!) {word}` in the schema, `mutates_args=(\"{word}\",)` of custom_op; or do not write it",),
    ("OPL401", "OPL605"),
)  # fmt: skip

ALIASED = Kind(
    "undeclared-alias",
    Stage.CHECK,
    (
        Message("Argument {word} is not defined to alias output but was aliasing"),
        Message("Argument {word} is not defined to alias output {number} but was aliasing"),
        Message("Outputs {number} and {number2} alias unexpectedly"),
    ),
    "a kernel returns one of its arguments, or a view of one, and the schema says that the result is fresh.",
    ("return a clone; or write the argument in place and return nothing",),
    ("OPL403",),
)

FAKE_DIFFERS = Kind(
    "fake-differs",
    Stage.CHECK,
    (
        Message("When comparing the output of {python} on FakeTensor and concrete Tensors, found mismatched tensor"
                " metadata: {text}!"),
        Message("When comparing the output of {python} on FakeTensor and concrete Tensors, found"),
    ),
    "the fake of the operator and its kernel return different shapes, strides, types or devices: what torch.compile"
    " makes of it computes with the wrong ones.",
    ("let the fake return what the kernel does, stride for stride",),
    ("OPL411", "OPL410", "OPL403"),
)  # fmt: skip

AUTOGRAD_ELSEWHERE = Kind(
    "autograd-under-backend-key",
    Stage.CHECK,
    (
        Message("{operator}: at least one output of this operator has requires_grad=True but the operator does not have"
                " an autograd kernel defined at an autograd key"),
    ),
    "a kernel at the key of a backend calls differentiable operators, so that gradients come from inside it: they are"
    " right by accident, and not for every mode.",
    (
        "register the formula with torch.library.register_autograd, or at Autograd",
        "or, where it only calls torch's operators, register the function at CompositeImplicitAutograd",
    ),
    ("OPL408", "OPL303"),
)  # fmt: skip

OPCHECK = Kind(
    "opcheck",
    Stage.CHECK,
    (
        Message("opcheck(op, ...): {word} failed with {text}(scroll up for stack trace)", "opcheck(op, ...): "),
        Message("op '{operator}' was tagged with torch.Tag.pt2_compliant_tag but it failed some of the generated"
                " opcheck tests"),
    ),
    "a test of torch.library.opcheck failed. What it found is the error above this one.",
    ("look at the error that is its cause",),
    (),
)  # fmt: skip

KINDS = (MUTATED, ALIASED, FAKE_DIFFERS, AUTOGRAD_ELSEWHERE, OPCHECK)
