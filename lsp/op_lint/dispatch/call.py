"""A call as the dispatcher sees it: the keys its tensors carry and the keys its surroundings add and take away."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import msgspec

from op_lint.dispatch.keys import DENSE, RENAMED_BACKENDS, DispatchKeys, KeySet, autograd_key

ADINPLACE_OR_VIEW = "ADInplaceOrView"
FUNCTIONALIZE = "Functionalize"
PYTHON = "Python"
PYTHON_SNAPSHOT = "PythonTLSSnapshot"
FRONT_MODE = "FuncTorchDynamicLayerFrontMode"
BACK_MODE = "FuncTorchDynamicLayerBackMode"
BATCHED = "FuncTorchBatched"
BATCHED_NESTED = "BatchedNestedTensor"
VMAP_MODE = "FuncTorchVmapMode"
TRACER = "Tracer"
PRIVATE_USE = "privateuseone"
GRAD_WRAPPER = "FuncTorchGradWrapper"

# What a vmap or grad wrapper takes over from the tensor inside: `kKeysToPropagateToWrapper`,
# ATen/functorch/BatchedTensorImpl.h.
_PROPAGATED = (
    "Negative",
    "Conjugate",
    *("XLA", "XPU", "HPU", "CUDA", "CPU", "PrivateUse1"),
    *("SparseCPU", "SparseCUDA", "SparseCsrCPU", "SparseCsrCUDA"),
)


class Layout(str, Enum):
    """How a tensor's data is laid out. `sparse` is COO; `sparse-csr` stands for CSR, CSC, BSR and BSC alike.

    `jagged` is a nested tensor of that layout: a Python subclass, which takes every call that gets as far as Python.
    """

    STRIDED = "strided"
    SPARSE = "sparse"
    SPARSE_CSR = "sparse-csr"
    QUANTIZED = "quantized"
    NESTED = "nested"
    JAGGED = "jagged"
    MKLDNN = "mkldnn"


_FUNCTIONALITY = {
    Layout.STRIDED: DENSE,
    Layout.SPARSE: "Sparse",
    Layout.SPARSE_CSR: "SparseCsr",
    Layout.QUANTIZED: "Quantized",
    Layout.NESTED: "NestedTensor",
    Layout.JAGGED: "NestedTensor",
}


class Argument(msgspec.Struct, frozen=True):
    """A tensor argument.

    `device` is a device type of torch (`cuda`). `inference` is True for a tensor made under `torch.inference_mode()`.
    `conjugate`, `negative` and `zero` are the lazy bits (`x.conj()`, `x.conj().imag`, the zero tensors of forward AD).
    `subclass` is True for a tensor of a class with a `__torch_dispatch__` that calls on with the plain one inside.
    """

    device: str = "cpu"
    layout: Layout = Layout.STRIDED
    inference: bool = False
    conjugate: bool = False
    negative: bool = False
    zero: bool = False
    subclass: bool = False


class Transform(str, Enum):
    """A functorch transform around a call (`torch.vmap`, `torch.func.grad`, `torch.func.functionalize`)."""

    VMAP = "vmap"
    GRAD = "grad"
    FUNCTIONALIZE = "functionalize"


class Mode(str, Enum):
    """A `TorchDispatchMode` around a call: one that calls the operator again, or `FakeTensorMode` with fake tensors."""

    PYTHON = "python"
    FAKE = "fake"


class Call(msgspec.Struct, frozen=True):
    """What is known of a call.

    `arguments` are the tensors in its arguments, those in lists too. `device` and `layout` are what a factory function
    is asked for.
    `requires_grad` changes no key (every tensor outside inference mode has an autograd key); it decides what is said of
    gradients. `autocast` are the device types that `torch.autocast` is on for. `functionalize` is C++
    functionalization, of arguments wrapped for it. `transforms` are the functorch transforms, outermost first; each
    wraps every argument. `tracing` is under `torch.jit.trace`; `python_dispatcher` under the dispatcher written in
    Python, with which torch.compile traces.
    """

    arguments: tuple[Argument, ...] = (Argument(),)
    device: str | None = None
    requires_grad: bool = False
    autocast: tuple[str, ...] = ()
    inference_mode: bool = False
    functionalize: bool = False
    transforms: tuple[Transform, ...] = ()
    mode: Mode | None = None
    tracing: bool = False
    python_dispatcher: bool = False
    layout: Layout = Layout.STRIDED

    def without_tensors(self) -> Call:
        """The call of an operator that takes no tensors: what would be the first one's is what it is asked to make."""
        first = self.arguments[0] if self.arguments else Argument(self.device or "cpu", self.layout)
        return msgspec.structs.replace(self, arguments=(), device=first.device, layout=first.layout)


class UnknownDeviceError(ValueError):
    """A call names a device type, or a layout on it, that this torch has no dispatch key for."""


def device_key(keys: DispatchKeys, device: str, layout: Layout = Layout.STRIDED) -> str:
    """The backend key of a tensor on `device` with `layout`. Raises UnknownDeviceError."""
    dense = keys.facts.devices.get(PRIVATE_USE if device in RENAMED_BACKENDS else device)
    if dense is None:
        known = ", ".join(sorted(keys.facts.devices))
        raise UnknownDeviceError(
            f"this torch has no device type `{device}`: use one of {known}; a backend outside torch is {PRIVATE_USE},"
            " whatever name it gives itself"
        )
    if layout is Layout.STRIDED:
        return dense
    functionality, backend = keys.split(dense)
    if layout is Layout.MKLDNN and device == "cpu":
        return "MkldnnCPU"
    if layout is Layout.MKLDNN or backend is None or functionality != DENSE:
        raise UnknownDeviceError(f"no dispatch key for {layout.value} tensors on `{device}`")
    return keys.join(_FUNCTIONALITY[layout], backend)


def autocast_keys(keys: DispatchKeys, devices: Sequence[str]) -> KeySet:
    """The keys that `torch.autocast` turns on for device types. Raises UnknownDeviceError where it has none for any."""
    wanted = (f"Autocast{keys.split(device_key(keys, device))[1]}" for device in devices)
    found = keys.set(*filter(keys.is_runtime, wanted))
    if devices and not found:
        raise UnknownDeviceError(f"torch.autocast has no dispatch key for `{devices[0]}`")
    return found


def tensor_keys(keys: DispatchKeys, argument: Argument) -> KeySet:
    """The key set that a tensor carries. Raises UnknownDeviceError."""
    own = keys.set(device_key(keys, argument.device, argument.layout))
    for flag, key in (
        (argument.conjugate, "Conjugate"),
        (argument.negative, "Negative"),
        (argument.zero, "ZeroTensor"),
    ):
        if flag:
            own |= keys.set(key)
    own |= _related(keys, own, argument.inference)
    if argument.layout in (Layout.NESTED, Layout.JAGGED) and not argument.inference:
        own |= keys.set("AutogradNestedTensor")
    if argument.layout is Layout.JAGGED:
        own |= keys.set(device_key(keys, argument.device), PYTHON, PYTHON_SNAPSHOT)
    if argument.subclass:
        own |= keys.set(PYTHON, PYTHON_SNAPSHOT)
    return own


def _related(keys: DispatchKeys, own: KeySet, inference: bool) -> KeySet:
    """What TensorImpl's constructor adds for the highest backend in `own`: autocast, and autograd outside inference."""
    backends = [backend for index, backend in enumerate(keys.facts.backends) if own.bits >> index & 1]
    backend = backends[-1] if backends else None
    related = keys.set()
    if backend is not None and keys.is_runtime(f"Autocast{backend}"):
        related |= keys.set(f"Autocast{backend}")
    if not inference:
        related |= keys.set(ADINPLACE_OR_VIEW, autograd_key(keys, backend))
    return related


def wrapped(keys: DispatchKeys, inner: KeySet, transform: Transform) -> KeySet:
    """The key set of the tensor that a functorch transform makes around one with the keys `inner`."""
    if transform is Transform.FUNCTIONALIZE:
        return inner | keys.set(FUNCTIONALIZE)
    propagated = inner & keys.set(*_PROPAGATED)
    wrapper = propagated | keys.set(BATCHED if transform is Transform.VMAP else GRAD_WRAPPER)
    return wrapper | _related(keys, wrapper, inference=False)
