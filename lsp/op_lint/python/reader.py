"""Python files to facts."""

from __future__ import annotations

import ast
import warnings

from msgspec.structs import replace

from op_lint.collector import without_collector
from op_lint.facts import FileFacts, Language, Place, Problem, PythonFacts
from op_lint.python.expressions import TooComplexError
from op_lint.python.interpreter import Interpreter
from op_lint.python.linkage import linkage_of
from op_lint.python.modules import module_name
from op_lint.python.options import PythonOptions
from op_lint.python.recorder import Recorder
from op_lint.python.scan import HotLines, is_candidate, scan_imports
from op_lint.python.source import SourceFile, decode
from op_lint.python.values import Scope

_LARGEST = 4_000_000
"""Bytes of the largest file that is read: generated tables are larger, registrations never are."""


def read_python(path: str, data: bytes, options: PythonOptions | None = None) -> FileFacts:
    """The facts of one Python file. Never raises: what cannot be read is a `Problem`.

    `path` is relative to the project's root: relative imports are resolved by it. Of a file that cannot register, load
    or call operators (`is_candidate`) only the imports are read. What other files must explain is left to
    `op_lint.python.resolve`. Suppression comments are not read here.
    """
    options = options or PythonOptions()
    if len(data) > _LARGEST:
        return _unreadable(path, "too-large", f"{len(data)} bytes are more than op-lint reads of one file ({_LARGEST})")
    if not is_candidate(data) and not options.mentions(data):
        return scan_imports(path, data)
    try:
        source = decode(path, data)
    except (SyntaxError, UnicodeDecodeError) as error:
        return _unreadable(path, "not-text", f"the file is not text in the encoding that it declares: {error}")
    with without_collector():
        return _parse(path, data, source, options)


def _parse(path: str, data: bytes, source: SourceFile, options: PythonOptions) -> FileFacts:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the compiler's opinions on the user's string escapes
            tree = ast.parse(source.text)
    except SyntaxError as error:
        return _broken(path, data, source, error)
    except (ValueError, RecursionError, MemoryError) as error:
        return _unreadable(path, "parse-error", f"Python cannot parse the file: {error or type(error).__name__}")
    return _read(source, tree, options)


def _read(source: SourceFile, tree: ast.Module, options: PythonOptions) -> FileFacts:
    source.postponed = any(
        isinstance(node, ast.ImportFrom) and node.module == "__future__" and node.names[0].name == "annotations"
        for node in tree.body
    )
    recorder = Recorder(source.path)
    interest = HotLines(source.layout)
    interest.follow(options.names)
    interpreter = Interpreter(source, Scope("module"), recorder, interest, wrappers=options.names)
    problems: list[Problem] = []
    try:
        interpreter.module(tree)
    except (RecursionError, TooComplexError):
        problems.append(_problem(source.path, "too-complex", "the file is too complex to be read to its end"))
    problems += (
        Problem("too-complex", f"`{function.name}` is too complex to be read to its end", function.place)
        for function in interpreter.unread[:1]
    )
    interpreter.finish()
    facts = recorder.facts(module_name(source.path), linkage_of(interpreter))
    interpreter.forget()
    return replace(facts, problems=tuple(problems))


def _broken(path: str, data: bytes, source: SourceFile, error: SyntaxError) -> FileFacts:
    """A file with a syntax error: its imports, and where it breaks."""
    line = max(error.lineno or 1, 1)
    try:
        start = source.offset(line, 0)
    except IndexError:
        line, start = 1, 0
    place = Place(path, line, start, min(start + max(error.offset or 1, 1), len(data)))
    facts = scan_imports(path, data)
    return replace(facts, problems=(Problem("parse-error", f"not valid Python: {error.msg}", place),))


def _unreadable(path: str, code: str, message: str) -> FileFacts:
    return FileFacts(
        path, Language.PYTHON, problems=(_problem(path, code, message),), python=PythonFacts(module_name(path))
    )


def _problem(path: str, code: str, message: str) -> Problem:
    return Problem(code, message, Place(path, 1, 0, 0))
