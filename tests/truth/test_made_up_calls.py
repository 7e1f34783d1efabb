"""The path of a call of torch's own operators, against calls of all of them with arguments that are made up.

Most such calls fail in a kernel, at what they were given. Those that fail in the dispatcher name the operator and the
key, and these are the ones that the path says.
"""

from __future__ import annotations

import msgspec
import pytest

from op_lint.dispatch.call import Argument, Call, Layout, Mode, Transform
from op_lint.dispatch.errors import CallError
from op_lint.dispatch.path import call_path
from op_lint.dispatch.schemas import may_dispatch
from op_lint.dispatch.table import Table
from tests.truth.torch_process import installed, needs_torch, run_script

pytestmark = needs_torch

_ARGUMENTS = {
    "cpu": Argument(),
    "meta": Argument("meta"),
    **{layout.value: Argument(layout=layout) for layout in Layout if layout is not Layout.STRIDED},
}
_CALLS = {
    "": Call(),
    "vmap": Call(transforms=(Transform.VMAP,)),
    "functionalize": Call(transforms=(Transform.FUNCTIONALIZE,)),
    "fake": Call(mode=Mode.FAKE),
    "python dispatcher": Call(python_dispatcher=True),
}

# Torch's own kernels at these keys call the operator itself once more, or other code decides before the dispatcher.
_CALL_THEMSELVES = {
    ("cpu", "vmap"): {"_scaled_dot_product_"},
    ("cpu", "functionalize"): {"_sparse", "sparse", "_coalesced_", "indices", "values", "_nested_", "_resize_output_"},
    ("cpu", "fake"): {"_nested_", "_empty_affine_quantized", "_to_dense"},
    # Python gives prims a tag that the dispatcher does not know; clamp is one only with one bound.
    ("jagged", ""): {"prims::", "clamp", "_fw_primal", "_make_dual"},
    ("cpu", "python dispatcher"): {"_sparse_coo_tensor_with_dims"},
}

# What torch raises before it comes to the kernel, of what the call was given.
_OF_ARGUMENTS = (
    *(
        "fixed-size array",
        "cannot call binary pointwise function",
        "support sizes",
        "vmap: we do not yet support",
        "vmap: We do not",
    ),
    *("Cannot access accelerator", "jagged", "NestedTensor ", "NJT"),
)


def in_dispatcher(name: str, error: list[str] | None) -> bool:
    """Whether an error is one of the dispatcher's about this operator."""
    if error is None:
        return False
    kind, text = error
    python = f"{name.partition('.')[0].replace('::', '.')}.{name.partition('.')[2] or 'default'}"
    return (
        text.startswith(
            (
                f"Could not run '{name}' ",
                f"{name}: attempted to run",
                f"{name}: We could not find the fake",
                f"{name} has kernels registered to both",
                f"Batching rule not implemented for {name}.",
                f"Batching rule not implemented for {name};",
                f"could not find kernel for {python} ",
            )
        )
        or f"registered for schema {name}." in text
        or (text == python and kind in ("NotImplementedError", "UnsupportedOperatorException"))
    )


def differs(said: CallError | None, name: str, error: list[str] | None) -> bool:
    """Whether torch and the path disagree on whether the call ends in the dispatcher, or on the text."""
    if said is None:
        return in_dispatcher(name, error)
    if error is None:
        return True
    return said.text not in error[1] and (in_dispatcher(name, error) or not any(t in error[1] for t in _OF_ARGUMENTS))


@pytest.mark.parametrize(
    ("tensors", "around", "least"),
    [
        ("cpu", "", 200),
        ("meta", "", 250),
        ("sparse", "", 1000),
        ("quantized", "", 600),
        ("mkldnn", "", 700),
        ("nested", "", 2000),
        ("jagged", "", 1500),
        ("cpu", "vmap", 200),
        ("cpu", "functionalize", 200),
        ("cpu", "fake", 150),
        ("cpu", "python dispatcher", 200),
    ],
)
def test_the_dispatcher_says_what_the_path_says(tensors: str, around: str, least: int) -> None:
    torch = installed().torch
    fallbacks = torch.fallback_registrations()
    call = msgspec.structs.replace(_CALLS[around], arguments=(_ARGUMENTS[tensors],))
    without_tensors = _CALLS[around]  # whose factories are asked for plain tensors
    answers = run_script("made_up_calls.py", [tensors, around])
    assert len(answers) > (1500 if call.transforms else 2500)
    allowed = _CALL_THEMSELVES.get((tensors, around), set())
    wrong, agreed = [], 0
    for name, error in answers.items():
        operator = torch.operators[name].operator()
        made = call if may_dispatch(operator) else without_tensors
        said = call_path(Table(torch.dispatch_keys, operator, fallbacks), made).error
        agreed += said is not None and error is not None and said.text in error[1]
        if differs(said, name, error) and not any(part in name for part in allowed):
            wrong.append((name, said, error))
    assert not wrong, f"{len(wrong)} of {len(answers)}: {wrong[:5]}"
    assert agreed > least
