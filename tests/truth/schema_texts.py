"""Schema strings in great number, right and wrong, from a seed: real ones changed, and some made up from parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|->|\.\.\.|\s+|'[^']*'|\"[^\"]*\"|.", re.DOTALL)
_WORDS = frozenset(
    ("Tensor", "int", "float", "bool", "str", "Scalar", "SymInt", "Device", "ScalarType", "t", "Layout", "complex")
)

_TYPES = (
    *("Tensor", "int", "float", "bool", "str", "Scalar", "SymInt", "SymBool", "SymFloat", "ScalarType", "Layout"),
    *("MemoryFormat", "Device", "Generator", "Storage", "Stream", "QScheme", "Quantizer", "complex", "None"),
    *("NoneType", "Any", "AnyEnumType", "AnyClassType", "Capsule", "t", "Tensor[]", "int[]", "int[2]", "Tensor?"),
    *("Tensor?[]", "int[]?", "SymInt[]", "SymInt[1]?", "float[3]", "bool[2]", "str[]", "Dict(str,Tensor)", "int??"),
    *("Dict(SymInt,int)", "Dict(Tensor?,int)", "(int,Tensor)", "(int,SymInt)[]", "Future(Tensor)", "RRef(int)"),
    *("Await(t)", "Union(int,float)", "Union(int,float,complex)", "Union(Tensor,None,int[])", "Union(str,str?)"),
    *("Union((int,None),(int?,int))", "Union(Tensor,int,float,complex)", "Union(Any,int)", "Tensor!", "Tensor(a!)"),
    *("Tensor(a|b)", "Tensor(a!->a|b)", "Tensor(a)[]", "Tensor(a!)[](b)", "Tensor(*)", "Tensor(a -> *)?", "Any?"),
    *("Scalar?", "Scalar[]", "None?", "Tensor[][]", "enum.Enum", "torch.Foo", "a.b", "int64_t", "double", "_x"),
    *("__torch__.torch.classes.quantized.Conv2dPackedParamsBase", "__torch__.torch.classes.q.X", "std::string"),
    *("Tensor&", "const", "std::vector<int64_t>", "Foo", "Optional[Tensor]", "void", "torch.Tensor", "Tensro"),
)
_DEFAULTS = (
    *("1", "-1", "0", "1.0", "1e-6", "-2.5", "True", "False", "None", "[]", "[1]", "[1,2]", "[1,1]", "[1.0]"),
    *("[True]", "'a'", '"b"', "'a\"b'", '"é"', "'\\n'", "'\\r'", "'\\101'", "'\\x41'", "'cpu'", "'cuda:1'"),
    *("'cuda:300'", "'cuda:x'", '"meta"', "float", "long", "Mean", "strided", "half", "int64", "contiguous_format"),
    *("1j", "2.j", "0x10", "0xe", "0x1p-1074", "1E5", ".5", "1.", "1e400", "1e-320", "99999999999999999999", "-"),
    *("--", "[Mean]", "[None]", "complex", "''", "'''a'''", "true", "nullptr", "1.0f", "-0.0", "1e22", "[1,[2]]"),
)
_BITS = (
    *("(", ")", "[", "]", ",", "=", "*", "?", "!", "|", ":", "::", ".", "...", "->", "-", "+", "$", ";", "#"),
    *("\n", "\t", "\r", "\f", "\v", "\\", "\\\n", "'", '"', "'''", "{", "}", "<", ">", "==", "!=", "**", "*=", "|="),
    *("//", "@", "é", "\x00", "\xa0", "in", "is not", "not in", "def", "None", "True", "x", "self", "# type:"),
    *("#c\n", "0", "1", "3.", "1.5", " ", "  ", "\n  ", "&", "&&", "^", "~", "`", "\u2028", "NoneType", "Ellipsis"),
)
_CHARACTERS = "()[],=*?!|:.->'\" \nabTx01_#\\é"

WRITTEN = (
    "f(None.b x) -> ()",
    "f(NoneType. b.c x) -> ()",
    "f(None.None x) -> ()",
    "f(int.b x) -> ()",
    "f(int. [] x) -> ()",
    "",
    "(",
    "f",
    "f\n",
    "f\n\n",
    "f()",
    "f() ->",
    "f() -> ()",
    "f() -> ()\n",
    "f() -> ()\n\\\n",
    "  f() -> ()\n  ",
    "# c\nf() -> () # d",
    "f() -> ()\nf() -> ()",
    "f(\n  Tensor x,  # the input\n  int n\n) -> Tensor",
    "f(Tensor x)\n-> Tensor",
    "ns::f.overload(Tensor x) -> Tensor",
    "ns:f(Tensor x) -> Tensor",
    "ns::f::g(Tensor x) -> Tensor",
    "f.default() -> ()",
    "f.__init__() -> ()",
    "f.(Tensor x) -> Tensor",
    "f.5(Tensor x) -> Tensor",
    "f(Tensor x,) -> Tensor",
    "f(, Tensor x) -> Tensor",
    "f(Tensor) -> Tensor",
    "f(Tensor in) -> Tensor",
    "f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    "f(*) -> ()",
    "f(*, *, int n) -> ()",
    "f(Tensor x, *) -> Tensor",
    "f(...) -> ...",
    "f(..., int n) -> ()",
    "f(int n=1, ...) -> ()",
    "f(int n=1, int m) -> ()",
    "f(int n=1, int[] m) -> ()",
    "f(int n=1, *, int m) -> ()",
    "f(int n) -> (int, ...)",
    "f(int n) -> (..., int)",
    "f(int n) -> int[2]",
    "f(int n) -> (int a, Tensor b)",
    "f() -> (int, int)[]",
    "f() -> ((int, int)[])",
    "f() -> ((int, int))",
    "f(Tensor(a|*|) x) -> ()",
    "f(Tensor(*|b) x) -> ()",
    "f(Tensor() x) -> ()",
    "f(Tensor(a!) x) -> Tensor(a!)[]",
    "f(Tensor(a)[][] x) -> ()",
    "f(Tensor!=None x) -> ()",
    "f(int[2][] x) -> ()",
    "f(int[][2] x) -> ()",
    "f(int[-1] x) -> ()",
    "f(int[2.9] x=1) -> ()",
    "f(int[.5] x) -> ()",
    "f(int[0] x=1) -> ()",
    "f(int[99999999999] x) -> ()",
    "f(int[] x=None) -> ()",
    "f(int[]? x=[1]) -> ()",
    "f(Tensor[2] x=None) -> ()",
    "f(str x='unfinished) -> ()",
    'f(str x="""three " quotes""") -> ()',
    "f(bool x=1 == 1) -> ()",
    "aten::f(int64_t x) -> t",
    "prim::f(a.b.c x) -> ()",
    " aten::f(t x) -> ()",
    "f(int.b x, Any.c y) -> ()",
    "f(Dict(int[], int) x) -> ()",
    "f(Union(int) x) -> ()",
    "f(__torch__.torch.classes.a x) -> ()",
    "f(__torch__.cls.a.b x) -> ()",
    "f(enum.Enum x=None) -> enum.Enum?",
)
"""Strings that a writer or a torturer would think of."""


def schema_texts(real: Sequence[str], seed: int, count: int) -> Iterator[str]:
    """`count` strings: two thirds are schemas of `real` after one to five changes, the rest are made of parts."""
    random = Random(seed)
    for _ in range(count):
        kind = random.random()
        if kind < 0.7:
            yield _changed(random, random.choice(real))
        else:
            text = _made_up(random)
            yield _changed(random, text) if kind < 0.85 else text


def _made_up(random: Random) -> str:
    arguments = []
    for _ in range(random.randrange(5)):
        type_ = random.choice(_TYPES) + random.choice(("", "", "", "[]", "[2]", "?", "(a)", "!"))
        default = random.choice(("", "", f"={random.choice(_DEFAULTS)}"))
        arguments.append(random.choice(("*", "...", *(f"{type_} {name}{default}" for name in "abcdefghijklmnopqrst"))))
    returns = [random.choice(_TYPES) + random.choice(("", " r")) for _ in range(random.randrange(4))]
    name = random.choice(("f", "ns::f", "aten::f.o", "f.default", "prim::x"))
    result = returns[0] if len(returns) == 1 and random.random() < 0.7 else f"({', '.join(returns)})"
    return f"{name}({', '.join(arguments)}) -> {result}"


def _changed(random: Random, text: str) -> str:
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        tokens: list[str] = _TOKEN.findall(text)
        if not tokens:
            return random.choice(_BITS)
        text = random.choice(_CHANGES)(random, tokens)
    return text


def _delete(random: Random, tokens: list[str]) -> str:
    del tokens[random.randrange(len(tokens))]
    return "".join(tokens)


def _insert(random: Random, tokens: list[str]) -> str:
    tokens.insert(random.randrange(len(tokens)), random.choice(_BITS))
    return "".join(tokens)


def _swap(random: Random, tokens: list[str]) -> str:
    first, second = random.randrange(len(tokens)), random.randrange(len(tokens))
    tokens[first], tokens[second] = tokens[second], tokens[first]
    return "".join(tokens)


def _duplicate(random: Random, tokens: list[str]) -> str:
    index = random.randrange(len(tokens))
    tokens.insert(index, tokens[index])
    return "".join(tokens)


def _replace_type(random: Random, tokens: list[str]) -> str:
    places = [index for index, token in enumerate(tokens) if token in _WORDS]
    if places:
        tokens[random.choice(places)] = random.choice(_TYPES)
    return "".join(tokens)


def _insert_type(random: Random, tokens: list[str]) -> str:
    tokens.insert(random.randrange(len(tokens)), random.choice(_TYPES))
    return "".join(tokens)


def _insert_argument(random: Random, tokens: list[str]) -> str:
    places = [index for index, token in enumerate(tokens) if token == "("]
    if places:
        default = random.choice(("", f"={random.choice(_DEFAULTS)}"))
        argument = f"{random.choice(_TYPES)} z{default}{random.choice((', ', ''))}"
        tokens.insert(random.choice(places) + 1, argument)
    return "".join(tokens)


def _give_default(random: Random, tokens: list[str]) -> str:
    places = [index for index, token in enumerate(tokens) if token in (",", ")")]
    if places:
        tokens.insert(random.choice(places), f"={random.choice(_DEFAULTS)}")
    return "".join(tokens)


def _replace_default(random: Random, tokens: list[str]) -> str:
    places = [index for index, token in enumerate(tokens[:-1]) if token == "="]
    if not places:
        return _give_default(random, tokens)
    tokens[random.choice(places) + 1] = random.choice(_DEFAULTS)
    return "".join(tokens)


def _edit_character(random: Random, tokens: list[str]) -> str:
    text = "".join(tokens)
    place = random.randrange(len(text) + 1)
    return text[:place] + random.choice(_CHARACTERS) + text[place + random.randrange(2) :]


def _truncate(random: Random, tokens: list[str]) -> str:
    text = "".join(tokens)
    return text[: random.randrange(len(text) + 1)]


def _behead(random: Random, tokens: list[str]) -> str:
    text = "".join(tokens)
    return text[random.randrange(min(4, len(text))) :]


_CHANGES = (
    _delete,
    _insert,
    _swap,
    _duplicate,
    _replace_type,
    _insert_type,
    _insert_argument,
    _replace_default,
    _edit_character,
    _truncate,
    _behead,
)
