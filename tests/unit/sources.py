"""Texts of registrations, for tests of rules about what kernels an operator has."""

from __future__ import annotations

HEAD = (
    "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\nat::Tensor make(int64_t n);\n"
    "void boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack);\n"
)
"""Four lines: the first registration after it is in line 5."""


def define(*schemas: str, namespace: str = "demo") -> str:
    """One line: a block that defines operators, each by its schema or by what is given to `def`."""
    calls = "".join(f"m.def({schema if schema.startswith(chr(34)) else quoted(schema)}); " for schema in schemas)
    return f"TORCH_LIBRARY({namespace}, m) {{ {calls}}}\n"


def implement(key: str, *names: str, namespace: str = "demo", kernel: str = "&f") -> str:
    """One line: a block that registers one kernel for some operators at a key."""
    calls = "".join(f"m.impl({quoted(name)}, {kernel}); " for name in names)
    return f"TORCH_LIBRARY_IMPL({namespace}, {key}, m) {{ {calls}}}\n"


def fallthrough(key: str, *names: str) -> str:
    """One line: a block that registers fallthroughs for some operators at a key."""
    return implement(key, *names, kernel="torch::CppFunction::makeFallthrough()")


def fallback(key: str, function: str = "makeFromBoxedFunction<&boxed>()") -> str:
    """One line: a block that registers a backend fallback."""
    return f"TORCH_LIBRARY_IMPL(_, {key}, m) {{ m.fallback(torch::CppFunction::{function}); }}\n"


def under(condition: str, text: str) -> str:
    """The text under a condition of the preprocessor; two lines longer."""
    return f"#if {condition}\n{text}#endif\n"


UNREAD = "TORCH_LIBRARY_FRAGMENT(demo, m) { for (auto name : names()) m.impl(name, &f); }\n"
"""A block with a registration whose name is known at run time only."""


def quoted(text: str) -> str:
    """A C++ string."""
    return f'"{text}"'
