"""Python files to facts: registrations, fakes, calls of operators, loads of libraries."""

from op_lint.python.options import PythonOptions, Wrapper
from op_lint.python.reader import read_python
from op_lint.python.resolve import resolve
from op_lint.python.scan import is_candidate, scan_imports

__all__ = ["PythonOptions", "Wrapper", "is_candidate", "read_python", "resolve", "scan_imports"]
