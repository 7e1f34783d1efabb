"""Names from constants, f-strings and loops over what is written down."""

import functools
import itertools

import torch

from .constants import NAMESPACE, UNARY

NS = "shapes_loop"
lib = torch.library.Library(NS, "DEF")
BINARY = ("add", "mul")
KEYS = {"CPU": "cpu", "CUDA": "cuda"}

for name in ["first", "second"]:
    lib.define(f"{name}(Tensor x) -> Tensor")
    lib.impl(name, lambda x: x.clone(), "CPU")

for name in BINARY:
    schema = name + "(Tensor x, Tensor y) -> Tensor"
    lib.define(schema)
    for key, device in KEYS.items():
        lib.impl(name, lambda x, y: x + y, key)
        torch.library.register_fake(f"{NS}::{name}", lambda x, y: x) if device == "cpu" else None

for index, kind in enumerate(("a", "b")):
    lib.define("%s_%d(Tensor x) -> Tensor" % (kind, index))

for kind, size in itertools.product(("m", "n"), (1, 2)):
    lib.define("{}{}(Tensor x) -> Tensor".format(kind, size))

lib.define("_".join(["joined", "name"]) + "(Tensor x) -> Tensor")
lib.define("  upper(Tensor x) -> Tensor".strip())
[lib.define(f"listed_{letter}(Tensor x) -> Tensor") for letter in "xy"]

consts = torch.library.Library(NAMESPACE, "DEF")
for unary in UNARY:
    consts.define(f"{unary}(Tensor x) -> Tensor")
consts.impl(UNARY[0], lambda x: -x, "CPU")

define_here = functools.partial(torch.library.define, lib=lib)
define_here("shapes_loop::partial", "(Tensor x) -> Tensor")

OPERATORS = {
    "dict_one": {"CPU": lambda x: x.clone(), "Meta": lambda x: torch.empty_like(x)},
    "dict_two": {"CPU": lambda x: x.clone()},
}
for operator, kernels in OPERATORS.items():
    lib.define(f"{operator}(Tensor x) -> Tensor")
    for key, kernel in kernels.items():
        lib.impl(operator, kernel, key)
