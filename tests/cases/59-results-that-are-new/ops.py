import torch

lib = torch.library.Library("demo", "DEF")
lib.define("pick(Tensor x, Tensor y, int n) -> Tensor")
lib.define("both(Tensor x, int n) -> (Tensor, Tensor)")
lib.define("alias(Tensor(a) x) -> Tensor(a)")


def same(x, y, n):
    return x  # expect: OPL403


def view(x, y, n):
    flat = x.view(-1)
    return flat[:2].unsqueeze(0)  # expect: OPL403


def second(x, n):
    return x + 1, x.T  # expect: OPL403


def in_place(x, y, n):
    return x.mul_(2)  # expect: OPL403


def new(x, y, n):
    if n:
        x = x + 1
        return x
    if n > 2:
        return x.clone()
    return y[y > 0]


def alias(x):
    return x


lib.impl("pick", same, "CPU")
lib.impl("pick", view, "CUDA")
lib.impl("pick", in_place, "XPU")
lib.impl("pick", new, "MPS")
lib.impl("both", second, "CPU")
lib.impl("alias", alias, "CPU")
