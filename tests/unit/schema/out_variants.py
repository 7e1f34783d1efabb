"""Schemas of out variants, and what is wrong with them."""

from __future__ import annotations

KEYWORD = "make it keyword-only, with a `*` as an argument of its own before it"
LAST = "move it behind all other arguments"
RETURN = "return it, with the same alias annotation"
ORDER = "return the out arguments in the order in which they are declared"
NOTHING = "let the operator return nothing (`-> ()`), since only a plain `Tensor` can be returned"

BAD = (
    ("f.out(Tensor x, Tensor(a!) out) -> Tensor(a!)", "out", KEYWORD),
    ("f.dim_out(Tensor(a!) out, Tensor x) -> Tensor(a!)", "out", KEYWORD),
    ("f.out(Tensor x, *, Tensor(a!) out, int n) -> Tensor(a!)", "out", LAST),
    ("f.out(Tensor x, *, Tensor(a!) o, int n, Tensor(b!) p) -> (Tensor(a!), Tensor(b!))", "o", LAST),
    ("f.out(Tensor x, *, Tensor(a!) out) -> Tensor", "out", RETURN),
    ("f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a)", "out", RETURN),
    ("f.out(Tensor x, *, Tensor(a!) o, Tensor(b!) p) -> Tensor(a!)", "p", RETURN),
    ("f.out(Tensor x, *, Tensor(a!) o, Tensor(b!) p) -> (Tensor(b!), Tensor(a!))", "o", ORDER),
    ("f.out(Tensor x, *, Tensor(a!)[] out) -> Tensor[]", "out", NOTHING),
    ("f.out(Tensor x, *, Tensor(a!)[] out) -> Tensor(a!)[]", "out", NOTHING),
)
"""A schema, the argument that is not seen as an out argument, and the cure."""

GOOD = (
    "f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    "f.dim_out(Tensor x, *, int n, Tensor(a!) o, Tensor(b!) p) -> (Tensor(a!), Tensor(b!))",
    "f.out(Tensor x, *, Tensor(a!)[] out) -> ()",
    "f.out(Tensor x, *, Tensor(a!) out, Tensor(b!) _scratch_0) -> Tensor(a!)",
    "f.out(Tensor x, Tensor(b!) cache, *, Tensor(a!) out) -> Tensor(a!)",
)

NO_VARIANTS = (
    "f(Tensor x, Tensor(a!) out) -> ()",
    "f.layout(Tensor x, Tensor(a!) out) -> ()",
    "f_out(Tensor x, Tensor(a!) out) -> ()",
    "f.out(Tensor x) -> Tensor",
)
"""Schemas of operators that are not called as out variants are, or that write to nothing."""
