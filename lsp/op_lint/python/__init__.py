"""Python files to facts: registrations, fakes, calls of operators, loads of libraries.

Two phases: `read_python` says what one file says, `resolve` what all files together say more. `answers` has the
questions that rules ask of the result.
"""

from typing import TYPE_CHECKING

from op_lint.on_demand import on_demand

if TYPE_CHECKING:
    from op_lint.python.answers import ImportGraph, dump_place, enclosing_function, implied_keys
    from op_lint.python.options import PythonOptions, Wrapper
    from op_lint.python.reader import read_python
    from op_lint.python.resolve import resolve
    from op_lint.python.scan import is_candidate, scan_imports

__all__ = [
    "ImportGraph",
    "PythonOptions",
    "Wrapper",
    "dump_place",
    "enclosing_function",
    "implied_keys",
    "is_candidate",
    "read_python",
    "resolve",
    "scan_imports",
]

__getattr__ = on_demand(
    __name__,
    {
        "ImportGraph": "answers",
        "PythonOptions": "options",
        "Wrapper": "options",
        "dump_place": "answers",
        "enclosing_function": "answers",
        "implied_keys": "answers",
        "is_candidate": "scan",
        "read_python": "reader",
        "resolve": "resolve",
        "scan_imports": "scan",
    },
)
