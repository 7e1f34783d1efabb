"""Lists that a CMake file has a Python script print: `execute_process(COMMAND python -c "..." OUTPUT_VARIABLE x)`.

The script is not run. It is read as a build script is (`op_lint.build.script`), and what it prints is known where it
prints texts that follow from what it says.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Sequence

from op_lint.build.cmake.template import is_known
from op_lint.build.files import BuildFiles
from op_lint.build.guarded import Item
from op_lint.build.script.evaluator import Evaluator
from op_lint.build.script.library import text_of
from op_lint.build.script.values import FilePath, Text, Value, entries_of

_PYTHON = re.compile(r"(?:.*/)?python[\d.]*(?:\.exe)?|\$\{\w*python\w*\}", re.IGNORECASE)
_LONGEST = 4_000
"""Characters of a program on the command line that is still looked at."""


class Programs:
    """The scripts of one project; each is evaluated once, whoever asks it for another of its lists."""

    def __init__(self, files: BuildFiles) -> None:
        self._files = files
        self._evaluators: dict[str, Evaluator] = {}

    def printed(self, words: Sequence[str], folder: str) -> list[Item] | None:
        """What a command prints, taken apart at `;`; None where it is no such script or not known.

        `words` are the command's, `folder` is the one that it runs in.
        """
        if len(words) < 3 or not _PYTHON.fullmatch(words[0]) or words[1] != "-c" or len(words[2]) > _LONGEST:
            return None
        try:
            body = ast.parse(words[2]).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        *before, last = body or [ast.Pass()]
        printed = _print_of(last)
        scripts = [_executed(statement) for statement in before]
        known = [script for script in scripts if script is not None and is_known(script)]
        if printed is None or not known or len(known) != len(scripts):
            return None
        evaluator = self._evaluator(self._files.absolute(known[-1], folder)) if len(known) == 1 else None
        return None if evaluator is None else list(_items(evaluator, printed))

    def _evaluator(self, path: str) -> Evaluator | None:
        known = self._evaluators.get(path)
        if known is None:
            known = self._evaluators[path] = Evaluator(self._files, _leave)
            known.folder = posixpath.dirname(path)
            known.run_file(path, posixpath.dirname(path))
        known.scope = known.modules.get(path, known.scope)
        return known if path in known.modules else None


def _leave(*_: object) -> Value | None:
    """Nothing that such a script calls is of interest but what it prints."""
    return None


def _print_of(node: ast.stmt) -> ast.expr | None:
    """The one argument of a `print`."""
    call = node.value if isinstance(node, ast.Expr) else None
    return _argument_of(call, "print") if isinstance(call, ast.Call) and len(call.args) == 1 else None


def _executed(node: ast.stmt) -> str | None:
    """The file of `exec(open("file").read())`."""
    execute = node.value if isinstance(node, ast.Expr) else None
    read = _argument_of(execute, "exec")
    if not isinstance(read, ast.Call) or not isinstance(read.func, ast.Attribute) or read.func.attr != "read":
        return None
    file = _argument_of(read.func.value, "open")
    return file.value if isinstance(file, ast.Constant) and isinstance(file.value, str) else None


def _argument_of(node: ast.expr | None, name: str) -> ast.expr | None:
    """The first argument of a call of the function `name`."""
    is_it = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    return node.args[0] if isinstance(node, ast.Call) and is_it and node.args else None


def _items(evaluator: Evaluator, printed: ast.expr) -> Iterator[Item]:
    """The elements of what is printed, at their places in the script. What is not known stays as a symbol."""
    separator = _separator(printed)
    if isinstance(printed, ast.Call) and separator == ";":
        entries, complete = entries_of(evaluator.evaluate(printed.args[0]))
        for entry in entries:
            text = text_of(entry.value)
            place = entry.value.place if isinstance(entry.value, Text | FilePath) else None
            yield Item(text if text is not None else "${...}", entry.condition, place)
        if not complete:
            yield Item("${...}")
    else:
        text = text_of(evaluator.evaluate(printed))
        yield from (Item(each) for each in text.split(";")) if text is not None else [Item("${...}")]


def _separator(node: ast.expr) -> object:
    """The text in `"text".join(...)`; None for any other expression."""
    called = node.func if isinstance(node, ast.Call) and len(node.args) == 1 else None
    if isinstance(called, ast.Attribute) and called.attr == "join" and isinstance(called.value, ast.Constant):
        return called.value.value
    return None
