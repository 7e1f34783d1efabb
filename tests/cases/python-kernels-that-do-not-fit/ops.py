import functools

import torch

lib = torch.library.Library("demo", "DEF")
lib.define("scale(Tensor x, float s=1.0, *, bool exact=False, Tensor? out) -> Tensor")


def no_parameter_for_s(x, *, exact=False, out):  # expect: OPL604
    return x


def default_of_schema_forgotten(x, s, *, exact=False, out):  # expect: OPL604
    return x


def other_keyword(x, s=1.0, *, precise=False, out):  # expect: OPL604
    return x


def one_too_many(x, s=1.0, t=None, u=None, *, exact=False, out, device):  # expect: OPL604
    return x


lib.impl("scale", no_parameter_for_s, "CPU")
lib.impl("scale", default_of_schema_forgotten, "CUDA")
lib.impl("scale", other_keyword, "XPU")
lib.impl("scale", one_too_many, "MPS")


def other_names(a, b=1.0, *, exact=False, out):
    return a.clone()


def anything(*args, **kwargs):
    return args[0].clone()


def more_with_defaults(x, s=1.0, more=None, *, exact=False, out=None, another=3):
    return x.clone()


def by_position_or_name(x, s=1.0, exact=False, out=None):
    return x.clone()


def with_key_set(keys, x, s=1.0, *, exact=False, out):
    return x.clone()


def adapted(function):
    @functools.wraps(function)
    def inner(x, s=1.0, *, exact=False, out):
        return function(x)

    return inner


@adapted
def alone(x):
    return x.clone()


lib.impl("scale", other_names, "HPU")
lib.impl("scale", anything, "XLA")
lib.impl("scale", more_with_defaults, "MTIA")
lib.impl("scale", by_position_or_name, "IPU")
lib.impl("scale", with_key_set, "Autograd", with_keyset=True)
lib.impl("scale", alone, "PrivateUse1")


@torch.library.register_fake("demo::scale")
def _(x, s=1.0):  # expect: OPL604
    return torch.empty_like(x)
