"""Generator expressions, as far as they decide what is compiled and linked: their values, each under a condition."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from op_lint.build.cmake.expressions import constant
from op_lint.build.cmake.template import is_known
from op_lint.build.guards import ALWAYS, NEVER, Guard, all_of, any_of, atom, opposite

_DEEPEST = 24


class Value(NamedTuple):
    """A text that an expression can have, and when."""

    text: str
    condition: Guard = ALWAYS


Values = list[Value]
TargetExists = Callable[[str], Guard]

KEPT = frozenset({"TARGET_OBJECTS", "LINK_LIBRARY", "LINK_GROUP"})
"""Expressions that stay in a value, since they say how a target takes part in a link."""

_FILES = frozenset({
    "TARGET_FILE", "TARGET_LINKER_FILE", "TARGET_SONAME_FILE", "TARGET_FILE_NAME", "TARGET_LINKER_LIBRARY_FILE",
    "TARGET_NAME", "TARGET_NAME_IF_EXISTS",
})  # fmt: skip
_TRANSPARENT = frozenset({
    "BUILD_INTERFACE", "BUILD_LOCAL_INTERFACE", "LINK_ONLY", "HOST_LINK", "DEVICE_LINK", "GENEX_EVAL", "COMPILE_ONLY",
    "LOWER_CASE", "UPPER_CASE", "MAKE_C_IDENTIFIER", "SHELL_PATH",
})  # fmt: skip
_ASKED = frozenset({
    "CONFIG", "PLATFORM_ID", "C_COMPILER_ID", "CXX_COMPILER_ID", "CUDA_COMPILER_ID", "CXX_COMPILER_FRONTEND_VARIANT",
    "COMPILE_LANGUAGE", "COMPILE_LANG_AND_ID", "LINK_LANGUAGE", "LINK_LANG_AND_ID", "COMPILE_FEATURES",
    "CXX_COMPILER_VERSION",
})  # fmt: skip


def evaluate(text: str, exists: TargetExists, depth: int = 0) -> Values:
    """The values of a text that may hold generator expressions. What is not understood stays as it is written."""
    if "$<" not in text or depth > _DEEPEST:
        return [Value(text)]
    found: Values = [Value("")]
    position = 0
    while position < len(text):
        start = text.find("$<", position)
        end = _closing(text, start) if start >= 0 else -1
        if end < 0:
            found = _joined(found, [Value(text[position:])])
            break
        found = _joined(found, [Value(text[position:start])])
        found = _joined(found, _expression(text[start + 2 : end], exists, depth + 1))
        position = end + 1
    return found


def parts_of(text: str) -> tuple[str, list[str]] | None:
    """The name and the arguments of a text that is one whole expression `$<NAME:a,b>`, else None."""
    if not text.startswith("$<") or _closing(text, 0) != len(text) - 1:
        return None
    name, separator, rest = text[2:-1].partition(":")
    return (name, _arguments(rest)) if separator else (name, [])


def _joined(left: Values, right: Values) -> Values:
    if len(left) * len(right) > 64:
        return left
    both = [Value(a.text + b.text, all_of((a.condition, b.condition))) for a in left for b in right]
    return [value for value in both if value.condition is not NEVER]


def _closing(text: str, start: int) -> int:
    depth = 0
    position = start
    while position < len(text):
        if text.startswith("$<", position):
            depth += 1
            position += 2
            continue
        if text[position] == ">":
            depth -= 1
            if depth == 0:
                return position
        position += 1
    return -1


def _expression(inner: str, exists: TargetExists, depth: int) -> Values:
    """The values of what stands between `$<` and `>`."""
    head, rest = _split_head(inner)
    if head.startswith("$<") or head in ("0", "1"):
        condition = _any_of(evaluate(head, exists, depth))
        return [*_guarded(evaluate(rest or "", exists, depth), condition), *_guarded([Value("")], opposite(condition))]
    arguments = _arguments(rest or "")
    if head in KEPT:
        return _kept(head, arguments, exists, depth)
    if head in _FILES:
        return [Value(f"$<TARGET_FILE:{value.text}>", value.condition) for value in evaluate(rest or "", exists, depth)]
    if head in _TRANSPARENT:
        return evaluate(rest or "", exists, depth)
    if head in ("INSTALL_INTERFACE", "INSTALL_PREFIX"):
        return [Value("")]
    if head in ("SEMICOLON", "COMMA", "ANGLE-R", "QUOTE"):
        return [Value({"SEMICOLON": ";", "COMMA": ",", "ANGLE-R": ">", "QUOTE": '"'}[head])]
    condition_of = _LOGIC.get(head)
    if condition_of is not None:
        return _as_values(condition_of([evaluate(argument, exists, depth) for argument in arguments]))
    if head == "TARGET_EXISTS":
        return _as_values(exists(rest or ""))
    if head == "IF" and len(arguments) == 3:
        test, yes, no = (evaluate(argument, exists, depth) for argument in arguments)
        return [*_guarded(yes, _any_of(test)), *_guarded(no, opposite(_any_of(test)))]
    if head in _ASKED:
        return _as_values(atom(f"{head} {rest}" if rest else head))
    return [Value(f"$<{inner}>")]


def _guarded(values: Values, condition: Guard) -> Values:
    both = (Value(value.text, all_of((value.condition, condition))) for value in values)
    return [value for value in both if value.condition is not NEVER]


def _kept(head: str, arguments: list[str], exists: TargetExists, depth: int) -> Values:
    found: Values = [Value(f"$<{head}:")]
    for number, argument in enumerate(arguments):
        found = _joined(found, [Value("," if number else "")])
        found = _joined(found, evaluate(argument, exists, depth))
    return _joined(found, [Value(">")])


def _as_values(condition: Guard) -> Values:
    if condition in (ALWAYS, NEVER):
        return [Value("1" if condition is ALWAYS else "0")]
    return [Value("1", condition), Value("0", opposite(condition))]


def _boolean(text: str) -> Guard:
    if text in ("0", "1"):
        return ALWAYS if text == "1" else NEVER
    known = constant(text) if is_known(text) else None
    return atom(text) if known is None else (ALWAYS if known else NEVER)


def _bool(arguments: Sequence[Values]) -> Guard:
    return any_of(
        all_of((value.condition, ALWAYS if is_known(value.text) and value.text else _truth(value.text)))
        for values in arguments[:1]
        for value in values
        if not (is_known(value.text) and constant(value.text) is False)
    )


def _truth(text: str) -> Guard:
    found = re.fullmatch(r"\$\{([^${}]+)\}", text)
    return atom(found[1] if found else text) if text else NEVER


def _all(arguments: Sequence[Values]) -> Guard:
    return all_of(_any_of(values) for values in arguments)


def _any(arguments: Sequence[Values]) -> Guard:
    return any_of(_any_of(values) for values in arguments)


def _any_of(values: Values) -> Guard:
    return any_of(all_of((value.condition, _boolean(value.text))) for value in values)


def _not(arguments: Sequence[Values]) -> Guard:
    return opposite(_any(arguments[:1]))


def _equal(arguments: Sequence[Values]) -> Guard:
    if len(arguments) != 2:
        return NEVER
    parts: list[Guard] = []
    for left in arguments[0]:
        for right in arguments[1]:
            both = all_of((left.condition, right.condition))
            if not is_known(left.text + right.text) or "$<" in left.text + right.text:
                both = all_of((both, atom(f"{left.text} STREQUAL {right.text}")))
            elif left.text != right.text:
                continue
            parts.append(both)
    return any_of(parts)


_LOGIC: dict[str, Callable[[Sequence[Values]], Guard]] = {
    "BOOL": _bool,
    "NOT": _not,
    "AND": _all,
    "OR": _any,
    "STREQUAL": _equal,
    "EQUAL": _equal,
    "VERSION_EQUAL": _equal,
}


def _split_head(inner: str) -> tuple[str, str | None]:
    """What stands before and after the first `:` that is not inside a nested expression."""
    depth = position = 0
    while position < len(inner):
        if inner.startswith("$<", position):
            depth += 1
            position += 1
        elif inner[position] == ">":
            depth -= 1
        elif inner[position] == ":" and depth == 0:
            return inner[:position], inner[position + 1 :]
        position += 1
    return inner, None


def _arguments(text: str) -> list[str]:
    arguments: list[str] = []
    depth = start = position = 0
    while position < len(text):
        if text.startswith("$<", position):
            depth += 1
            position += 1
        elif text[position] == ">":
            depth -= 1
        elif text[position] == "," and depth == 0:
            arguments.append(text[start:position])
            start = position + 1
        position += 1
    arguments.append(text[start:])
    return arguments
