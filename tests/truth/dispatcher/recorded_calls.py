"""Child process: registers kernels that record themselves and redispatch, calls the operators, and says what was hit.

Standard input is a JSON list of cases: `name`, `registrations` (`[key, kernel | fallthrough]` in order), `python` (keys
of `py_impl`) and `call` (the fields of `op_lint.dispatch.call.Call`). Standard output is a JSON list of
`{hits, error}`, where `error` is null or `[type, text]`.
"""

from __future__ import annotations

import functools
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.truth.dispatcher.layouts import LAYOUTS

C = torch._C
NAMESPACE = "op_lint_recorded"
SHAPE = (1, 1)  # one slice under every vmap, so that the slow batching rule calls once
ENDS = ("Composite", "FuncTorchBatchedDecomposition")
TRANSFORMS: dict[str, Callable[..., Any]] = {
    "vmap": torch.vmap,
    "grad": lambda function: torch.func.grad(lambda *tensors: function(*tensors).sum().real),
    "functionalize": torch.func.functionalize,
}


class Wrapper(torch.Tensor):  # type: ignore[misc] # torch is not followed
    """A tensor around another, which calls every operator again with that one."""

    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        wrapper = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)
        wrapper.inner = inner
        return wrapper

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*(arg.inner if isinstance(arg, cls) else arg for arg in args), **(kwargs or {}))


class PassingMode(TorchDispatchMode):  # type: ignore[misc] # torch is not followed
    """Calls every operator again."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def ends_call(key: str) -> bool:
    """Whether a kernel at this key is the last one: backends, and the composite ones."""
    if C._dispatch_is_alias_key(key_of(key)):
        return key.startswith(ENDS)
    included = C._dispatch_is_included_in_alias(key_of(key), key_of("CompositeExplicitAutograd"))
    return bool(included) or key.startswith("NestedTensor")


def key_of(name: str) -> Any:
    return C._parse_dispatch_key(name)


def kernel_at(operator: str, key: str, hits: list[str]) -> Callable[..., Any]:
    """A kernel that records its key, and then calls on as a kernel at that key would."""
    after_key = "AutogradOther" if key.startswith("Autograd") else key

    def record(keyset: Any, *tensors: Any) -> Any:
        hits.append(key)
        if ends_call(key):
            given = [tensor for tensor in tensors if tensor is not None]
            return given[0].clone() if given else torch.empty(())
        overload = getattr(getattr(torch.ops, NAMESPACE), operator).default
        if key == "FuncTorchBatched":
            return unbatched(overload, tensors)
        return overload.redispatch(keyset & C._dispatch_keyset_full_after(key_of(after_key)), *tensors)

    return record


def unbatched(overload: Any, tensors: tuple[Any, ...]) -> Any:
    """A batching rule for operators that work on each number by itself."""
    functorch = C._functorch
    level = functorch.current_level() if hasattr(functorch, "current_level") else functorch.maybe_get_level(tensors[0])
    plain = [None if tensor is None else functorch._unwrap_batched(tensor, level)[0] for tensor in tensors]
    with C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.FuncTorchBatched)):
        return functorch._add_batch_dim(overload(*plain), 0, level)


def register(library: Any, case: dict[str, Any], hits: list[str]) -> None:
    name = case["name"]
    library.define(f"{name}(Tensor? x=None, Tensor? y=None) -> Tensor")
    for key, kind in case["registrations"]:
        fallthrough = kind == "fallthrough"
        kernel = torch.library.fallthrough_kernel if fallthrough else kernel_at(name, key, hits)
        # Not `library.impl`: that refuses some sets (Meta beside CompositeImplicitAutograd) which C++ may register.
        library.m.impl(name, key, kernel, not fallthrough)
    for key in case["python"]:
        overload = getattr(getattr(torch.ops, NAMESPACE), name).default
        overload.py_impl(FakeTensorMode if key == "FakeTensorMode" else key_of(key))(python_kernel(key, hits))


def python_kernel(key: str, hits: list[str]) -> Callable[..., Any]:
    """A kernel of `py_impl` that records its key. It ends the call: it is not given the keys to redispatch with."""

    def record(*tensors: Any) -> Any:
        given = [tensor for tensor in tensors if isinstance(tensor, torch.Tensor)]
        hits.append(f"python {key}")
        return given[0].clone() if given else torch.empty(())

    return record


def tensor_for(argument: dict[str, Any], requires_grad: bool) -> Any:
    tensor = plain_tensor(argument)
    if requires_grad and not argument["inference"] and tensor.dtype.is_floating_point and tensor.is_leaf:
        tensor.requires_grad_()
    return tensor


def plain_tensor(argument: dict[str, Any]) -> Any:
    with torch.inference_mode(argument["inference"]):
        if argument["zero"]:
            return torch._efficientzerotensor(*SHAPE)
        complex_bits = argument["conjugate"] or argument["negative"]
        tensor = torch.ones(SHAPE, dtype=torch.cfloat if complex_bits else torch.float)
        tensor = LAYOUTS[argument["layout"]](tensor.to(argument["device"]))
        if argument["conjugate"]:
            tensor = tensor.conj()
        if argument["negative"]:
            tensor = torch._neg_view(tensor)
        return Wrapper(tensor) if argument["subclass"] else tensor


@contextmanager
def functionalization() -> Iterator[None]:
    torch._enable_functionalization(reapply_views=True)
    try:
        yield
    finally:
        torch._disable_functionalization()


@contextmanager
def autocast(device: str) -> Iterator[None]:
    # torch.autocast refuses devices that this machine does not have.
    before = torch.is_autocast_enabled(device)
    torch.set_autocast_enabled(device, True)
    try:
        yield
    finally:
        torch.set_autocast_enabled(device, before)


def call(case: dict[str, Any]) -> None:
    asked = case["call"]
    function: Callable[..., Any] = getattr(getattr(torch.ops, NAMESPACE), case["name"]).default
    with ExitStack() as stack:
        if asked["mode"] == "fake":
            fake = FakeTensorMode()
            with fake:
                tensors = [torch.ones(SHAPE, device=argument["device"]) for argument in asked["arguments"]]
        else:
            tensors = [tensor_for(argument, asked["requires_grad"]) for argument in asked["arguments"]]
        if asked["functionalize"]:
            tensors = [torch._to_functional_tensor(tensor) for tensor in tensors]
            stack.enter_context(functionalization())
        stack.enter_context(torch.inference_mode(asked["inference_mode"]))
        for device in asked["autocast"]:
            stack.enter_context(autocast(device))
        if asked["mode"] is not None:
            stack.enter_context(fake if asked["mode"] == "fake" else PassingMode())
        for transform in reversed(asked["transforms"]):
            function = TRANSFORMS[transform](function)
        if asked["python_dispatcher"]:
            stack.enter_context(enable_python_dispatcher())
        if asked["tracing"]:
            traced(function, tensors)
        else:
            function(*tensors)


def traced(function: Callable[..., Any], tensors: list[Any]) -> None:
    torch.jit.trace(lambda *given: function(*given), tuple(tensors), check_trace=False)


def run(library: Any, case: dict[str, Any]) -> dict[str, Any]:
    hits: list[str] = []
    register(library, case, hits)
    try:
        call(case)
    except Exception as error:
        kind = type(error)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        return {"hits": hits, "error": [name, str(error)]}
    return {"hits": hits, "error": None}


def main() -> None:
    warnings.simplefilter("ignore")
    library = torch.library.Library(NAMESPACE, "DEF")
    answers = list(map(functools.partial(run, library), json.load(sys.stdin)))
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
