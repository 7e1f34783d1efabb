"""`custom_op`, `triton_op` and what is registered on what they return."""

from typing import List, Optional, Sequence, Tuple

import torch
from torch import Tensor
from torch.library import custom_op, triton_op
from torch._library.custom_ops import custom_op as inner_custom_op


@torch.library.custom_op("shapes_custom::plain", mutates_args=())
def plain(x: Tensor) -> Tensor:
    return x.clone()


@custom_op("shapes_custom::everything", mutates_args={"out"}, device_types="cpu")
def everything(
    x: Tensor,
    maybe: Optional[Tensor],
    many: List[Tensor],
    sizes: Sequence[int],
    out: Tensor,
    n: int = 3,
    scale: float = 0.5,
    flag: bool = True,
    mode: str = "fast",
    dtype: torch.dtype = torch.float32,
    device: Optional[torch.device] = None,
) -> Tuple[Tensor, Tensor]:
    return x.clone(), x.clone()


@custom_op("shapes_custom::two_devices", mutates_args=[], device_types=["cpu", "cuda"])
def two_devices(x: Tensor) -> Tensor:
    return x.clone()


@custom_op("shapes_custom::unknown", mutates_args="unknown")
def unknown(x: Tensor) -> None:
    x.add_(1)


@custom_op("shapes_custom::inplace_", mutates_args={"x"}, tags=torch.Tag.inplace)
def inplace_(x: Tensor) -> Tensor:
    return x


@custom_op("shapes_custom::to_out", mutates_args={"out"}, tags=(torch.Tag.out,))
def to_out(x: Tensor, *, out: Tensor) -> Tensor:
    return out


@custom_op("shapes_custom::given", mutates_args=(), schema="(Tensor a, int b=2) -> Tensor")
def given(a, b=2):
    return a + b


@inner_custom_op("shapes_custom::inner", mutates_args=())
def inner(x: "torch.Tensor") -> "torch.Tensor":
    return x.clone()


@custom_op("shapes_custom::factory", mutates_args=(), device_types="cpu")
def factory(n: int, device: torch.device) -> Tensor:
    return torch.zeros(n, device=device)


def late(x: Tensor) -> Tensor:
    return x.clone()


late_op = custom_op("shapes_custom::late", late, mutates_args=())


@triton_op("shapes_custom::triton", mutates_args=())
def triton(x: Tensor) -> Tensor:
    return x.clone()


@plain.register_fake
def _(x):
    return torch.empty_like(x)


@plain.register_kernel("cuda")
def plain_cuda(x):
    return x.clone()


two_devices.register_kernel("xpu", plain_cuda)
late_op.register_kernel(["mps"])(plain_cuda)
late_op.register_fake(lambda x: torch.empty_like(x))
plain.register_autograd(lambda ctx, grad: grad, setup_context=lambda ctx, inputs, output: None)


@plain.register_vmap
def plain_vmap(info, in_dims, x):
    return x, in_dims[0]


plain.register_autocast("cuda", torch.float16)
torch.library.register_kernel(inner, "cuda", plain_cuda)
torch.library.register_fake("shapes_custom::given", lambda a, b=2: torch.empty_like(a))
torch.library.register_fake(torch.ops.shapes_custom.two_devices.default)(lambda x: torch.empty_like(x))
