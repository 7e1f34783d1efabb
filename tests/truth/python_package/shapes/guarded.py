"""Registrations that happen in functions, under tests, once or not at all."""

import contextlib

import torch

lib = torch.library.Library("shapes_guard", "DEF")

if hasattr(torch.library, "register_fake"):
    fake = torch.library.register_fake
elif hasattr(torch.library, "impl_abstract"):
    fake = torch.library.impl_abstract
else:

    def fake(name):
        return lambda function: function


if torch.cuda.is_available():
    lib.define("needs_cuda(Tensor x) -> Tensor")
else:
    lib.define("without_cuda(Tensor x) -> Tensor")

try:
    import a_module_that_is_not_there

    lib.define("with_extra(Tensor x) -> Tensor")
except ImportError:
    lib.define("without_extra(Tensor x) -> Tensor")

with contextlib.suppress(AttributeError):
    torch.ops.shapes_guard.missing  # noqa: B018

if not hasattr(torch.ops.shapes_guard, "once"):
    lib.define("once(Tensor x) -> Tensor")


def setup():
    lib.define("in_function(Tensor x) -> Tensor")
    lib.impl("in_function", lambda x: x.clone(), "CPU")

    def fake_of(name, function):
        for key in ("CompositeImplicitAutograd", "Meta"):
            if torch._C._dispatch_has_kernel_for_dispatch_key(name, key):
                return
        fake(name)(function)

    fake_of("shapes_guard::in_function", lambda x: torch.empty_like(x))


def never_called():
    lib.define("never(Tensor x) -> Tensor")


def dies():
    local = torch.library.Library("shapes_guard", "FRAGMENT")
    local.define("gone(Tensor x) -> Tensor")


setup()
dies()

with torch.library._scoped_library("shapes_guard", "FRAGMENT") as scoped:
    scoped.define("scoped(Tensor x) -> Tensor")

if __name__ == "__main__":
    lib.define("as_program(Tensor x) -> Tensor")
