"""C++ sources -> facts: libclang over overlay headers. Importing this package does not import libclang."""

from op_lint.cpp.link import link
from op_lint.cpp.options import CppOptions
from op_lint.cpp.reader import CppReader

__all__ = ["CppOptions", "CppReader", "link"]
