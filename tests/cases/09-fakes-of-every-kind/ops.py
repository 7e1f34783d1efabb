import torch


@torch.library.register_fake("demo::in_python")
def _(x):
    return torch.empty_like(x)


@torch.library.impl("demo::meta_in_python", "meta")
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("demo::custom", mutates_args=())  # expect: OPL302
def custom(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.custom_op("demo::custom_with_fake", mutates_args=())
def custom_with_fake(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@custom_with_fake.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("demo::custom_writes", mutates_args={"out"})
def custom_writes(out: torch.Tensor, x: torch.Tensor) -> None:
    out.copy_(x)


def test_an_operator_of_a_test():
    torch.library.define("demo::of_a_test", "(Tensor x) -> Tensor")
    torch.library.impl("demo::of_a_test", "cpu", lambda x: x.clone())
