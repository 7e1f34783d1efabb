import torch

KEPT = []


def kept(ns, schema, fn):
    lib = torch.library.Library(ns, "FRAGMENT")
    lib.define(schema)
    lib.impl(schema.split("(")[0], fn, "CPU")
    KEPT.append(lib)


def given_back():
    lib = torch.library.Library("demo_kept", "FRAGMENT")
    lib.define("second(Tensor q) -> Tensor")
    return lib


def used_while_it_lives(x):
    lib = torch.library.Library("demo_kept", "FRAGMENT")
    lib.define("third(Tensor q) -> Tensor")
    lib.impl("third", lambda q: q * 2, "CompositeExplicitAutograd")
    return torch.ops.demo_kept.third(x)


def for_a_while():
    lib = torch.library.Library("demo_kept", "FRAGMENT")
    lib.define("fourth(Tensor q) -> Tensor")
    yield
    lib._destroy()


kept("demo_kept", "first(Tensor q) -> Tensor", lambda q: q)
SECOND = given_back()
