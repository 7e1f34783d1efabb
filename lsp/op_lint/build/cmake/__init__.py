"""CMake's build files, read statically, and exactly where a build folder has been configured."""

from op_lint.build.cmake.reader import read_cmake

__all__ = ["read_cmake"]
