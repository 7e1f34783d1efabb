"""C++ sources -> facts: libclang over overlay headers. To import this package imports neither it nor the reader."""

from typing import TYPE_CHECKING

from op_lint.cpp.link import link
from op_lint.cpp.options import CppOptions
from op_lint.on_demand import on_demand

if TYPE_CHECKING:
    from op_lint.cpp.reader import CppReader

__all__ = ["CppOptions", "CppReader", "link"]

__getattr__ = on_demand(__name__, {"CppReader": "reader"})
