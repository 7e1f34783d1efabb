"""Python files to facts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from op_lint.collector import without_collector
from op_lint.facts import BrokenStatement, FileFacts, Language, Place, Problem, PythonFacts, Unresolved
from op_lint.python.expressions import TooComplexError
from op_lint.python.interpreter import Interpreter
from op_lint.python.linkage import linkage_of
from op_lint.python.mended import CANNOT_PARSE, Broken, Lines, mended, parsed
from op_lint.python.modules import module_name
from op_lint.python.options import PythonOptions
from op_lint.python.recorder import Recorder, ordered
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
        tree = parsed(source.text)
    except CANNOT_PARSE as error:
        return _broken(path, data, source, error, options)
    return _read(source, tree, options)


def _broken(path: str, data: bytes, source: SourceFile, error: Exception, options: PythonOptions) -> FileFacts:
    """A file with a syntax error: what it says outside of the broken statements; where there is no outside, imports."""
    rest = mended(source.text)
    if rest is None:
        message = f"Python cannot parse the file: {error or type(error).__name__}"
        return replace(scan_imports(path, data), problems=(_problem(path, "parse-error", message),))
    tree = parsed(rest.text)
    facts = _read(SourceFile(path, rest.applied(data), rest.text, source.encoding), tree, options)
    return replace(
        facts,
        problems=(_syntax_error(source, rest.broken), *facts.problems),
        unresolved=ordered((*facts.unresolved, *_hidden(source, tree, rest.broken, options))),
        python=facts.python and _without_broken(facts.python, source, data, rest.broken),
    )


def _syntax_error(source: SourceFile, broken: Sequence[Broken]) -> Problem:
    """What is wrong with the first broken statement, and where."""
    first, *others = broken
    start = source.offset(first.line, first.column)
    end = _place(source, Lines(first.line, first.line)).end
    if first.lines.first == first.lines.last:
        without = f"line {first.lines.first}"
    else:
        without = f"lines {first.lines.first} to {first.lines.last}"
    more = f" and {len(others)} more statement{'s' if len(others) > 1 else ''}" if others else ""
    message = f"not valid Python: {first.reason}; op-lint reads the file without {without}{more}"
    return Problem("syntax-error", message, Place(source.path, first.line, min(start, end), end))


def _hidden(
    source: SourceFile, tree: ast.Module, broken: Iterable[Broken], options: PythonOptions
) -> Iterator[Unresolved]:
    """What broken statements may do: at module level anything, in functions what they have words for."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    interest = HotLines(source.layout)
    interest.follow(options.names)
    for each in broken:
        first, last = each.lines.first, each.lines.last
        local = any(node.lineno < first <= (node.end_lineno or first) for node in functions)
        if not local or interest.between(first, last):
            reason = "it is in a statement that is not valid Python"
            yield Unresolved("statement", reason, _place(source, each.lines), language=Language.PYTHON)


def _without_broken(facts: PythonFacts, source: SourceFile, data: bytes, broken: Iterable[Broken]) -> PythonFacts:
    """Facts with the broken statements, and the imports in them; of functions with broken statements no results."""
    found = tuple(BrokenStatement(_place(source, each.lines), _place(source, each.statement)) for each in broken)
    lines = {line for each in broken for line in range(each.lines.first, each.lines.last + 1)}
    scanned = scan_imports(source.path, data).python
    imports = [each for each in scanned.imports if each.place.line in lines] if scanned else []
    functions = tuple(
        replace(function, results=())
        if any(function.place.start <= statement.place.start < function.place.end for statement in found)
        else function
        for function in facts.functions
    )
    return replace(facts, imports=ordered((*facts.imports, *imports)), functions=functions, broken=found)


def _place(source: SourceFile, lines: Lines) -> Place:
    """The code in some lines."""
    data, start = source.lines(lines.first, lines.last)
    code = data.rstrip()
    start += len(code) - len(code.lstrip())
    return Place(source.path, lines.first, start, start + len(code.lstrip()))


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


def _unreadable(path: str, code: str, message: str) -> FileFacts:
    return FileFacts(
        path, Language.PYTHON, problems=(_problem(path, code, message),), python=PythonFacts(module_name(path))
    )


def _problem(path: str, code: str, message: str) -> Problem:
    return Problem(code, message, Place(path, 1, 0, 0))
