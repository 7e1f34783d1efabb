"""What strings, lists and the built-in functions do with values that are known: nothing of the project is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Sequence as AbstractSequence
from string import Formatter

from op_lint.python.values import (
    NONE,
    Class,
    Constant,
    CustomOp,
    Function,
    Instance,
    Library,
    Mapping,
    Operator,
    Run,
    Sequence,
    String,
    Value,
    plain,
)

MOST_ITEMS = 512
"""Longer sequences are not followed item by item."""

_MOST_CHARACTERS = 100_000

_TEXT_METHODS = frozenset(
    (
        *("capitalize", "casefold", "count", "endswith", "find", "format", "index", "isalnum", "isalpha", "isascii"),
        *("isdigit", "isidentifier", "islower", "isspace", "isupper", "join", "ljust", "lower", "lstrip", "partition"),
        *("removeprefix", "removesuffix", "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip"),
        *("split", "splitlines", "startswith", "strip", "swapcase", "title", "upper", "zfill"),
    )
)


def concatenate(parts: Iterable[Value]) -> Value:
    """Strings, known or not, one after the other."""
    joined: list[Run | Value] = []
    for part in parts:
        joined.extend(part.parts if isinstance(part, String) else (part,))
    return String(tuple(joined))


def text_of(value: Value) -> Value:
    """`str(value)`, as a string that may be unknown."""
    if isinstance(value, String):
        return value
    if isinstance(value, Constant):
        return plain(str(value.value))
    return String((value,))


def native(value: Value) -> object:
    """The Python object that a value is; raises ValueError where that is not known throughout."""
    if isinstance(value, String) and value.text is not None:
        return value.text
    if isinstance(value, Constant):
        return value.value
    if isinstance(value, Sequence):
        items = [native(item) for item in value.items]
        return tuple(items) if value.kind == "tuple" else items
    raise ValueError(value)


def lifted(result: object) -> Value:
    """The value that a Python object is; raises ValueError where there is none."""
    if isinstance(result, str):
        return plain(result)
    if result is None or isinstance(result, bool | int | float | complex | bytes):
        return Constant(result)
    if isinstance(result, list | tuple):
        return Sequence(tuple(lifted(item) for item in result), "tuple" if isinstance(result, tuple) else "list")
    raise ValueError(result)


def text_method(owner: String, name: str, arguments: AbstractSequence[Value]) -> Value | None:
    """The result of a string method; None where it is not known."""
    if name not in _TEXT_METHODS:
        return None
    if name == "join" and owner.text is not None and len(arguments) == 1 and isinstance(arguments[0], Sequence):
        return _join(owner, arguments[0].items)
    if owner.text is None:
        return None
    try:
        return _located(owner, owner.text, name, [native(argument) for argument in arguments])
    except (ValueError, TypeError, IndexError, KeyError, AttributeError):
        return None


def _join(separator: String, items: tuple[Value, ...]) -> Value:
    parts: list[Value] = []
    for item in items:
        if parts:
            parts.append(separator)
        parts.append(item)
    return concatenate(parts)


def _located(owner: String, text: str, name: str, arguments: list[object]) -> Value:
    """Call the method, and keep the origin of results that are cut out of the string in order."""
    result: object = getattr(text, name)(*arguments)
    if isinstance(result, str) and len(result) > _MOST_CHARACTERS:
        raise ValueError(name)
    if name in ("strip", "lstrip", "rstrip", "removeprefix", "removesuffix"):
        return _cut(owner, text, [str(result)], name in ("rstrip", "removesuffix"))[0]
    if name in ("split", "partition") and isinstance(result, list | tuple) and len(result) <= MOST_ITEMS:
        return Sequence(tuple(_cut(owner, text, [str(item) for item in result], True)), "list")
    return lifted(result)


def _cut(owner: String, text: str, results: list[str], from_start: bool) -> list[String]:
    found: list[String] = []
    position = 0
    for result in results:
        at = text.find(result, position) if from_start or found else text.rfind(result)
        found.append(owner.slice(at, at + len(result)) if result else plain(""))
        position = at + len(result)
    return found


def formatted(template: str, values: AbstractSequence[Value]) -> Value | None:
    """`template % values` for `%s` and `%d` only."""
    pieces = template.replace("%%", "\0").split("%")
    if len(pieces) != len(values) + 1 or any(piece[:1] not in ("s", "d") for piece in pieces[1:]):
        return None
    parts: list[Value] = [plain(pieces[0].replace("\0", "%"))]
    for piece, value in zip(pieces[1:], values, strict=True):
        parts += (text_of(value), plain(piece[1:].replace("\0", "%")))
    return concatenate(parts)


def filled(template: str, positional: AbstractSequence[Value], keywords: dict[str, Value]) -> Value | None:
    """`template.format(...)` for fields without conversions and format specifications."""
    parts: list[Value] = []
    automatic = 0
    for literal, rest in _fields(template):
        parts.append(plain(literal))
        if rest is None:
            continue
        if rest == "":
            rest, automatic = str(automatic), automatic + 1
        value = keywords.get(rest)
        if rest.isdigit() and int(rest) < len(positional):
            value = positional[int(rest)]
        if value is None:
            return None
        parts.append(text_of(value))
    return concatenate(parts)


def _fields(template: str) -> Iterable[tuple[str, str | None]]:
    try:
        for literal, field, specification, conversion in Formatter().parse(template):
            plain_field = None if field is None else field + (specification or "") + (conversion or "")
            yield literal, plain_field
    except ValueError:
        yield "", "?"


def items_of(value: Value) -> tuple[Value, ...] | None:
    """The items that iterating over a value gives; None where they are not known."""
    if isinstance(value, Sequence):
        return value.items if len(value.items) <= MOST_ITEMS else None
    if isinstance(value, Mapping):
        return tuple(key for key, _ in value.items)
    if isinstance(value, String) and value.text is not None and len(value.text) <= MOST_ITEMS:
        return tuple(value.slice(at, at + 1) for at in range(len(value.text)))
    return None


def key_of(value: Value) -> int | str | None:
    """The number or string that selects an item."""
    if isinstance(value, String):
        return value.text
    known = value.value if isinstance(value, Constant) else None
    return known if isinstance(known, int) and not isinstance(known, bool) else None


def item_of(owner: Value, key: int | str) -> Value | None:
    """The item of a container that a number or a string selects."""
    if isinstance(owner, Mapping) and isinstance(key, str):
        return owner.get(key)
    items = items_of(owner)
    if items is None or isinstance(key, str) or isinstance(owner, Mapping):
        return None
    return items[key] if -len(items) <= key < len(items) else None


def mapping_method(owner: Mapping, name: str, arguments: AbstractSequence[Value]) -> Value | None:
    """The result of a method of a dictionary."""
    if name == "items" and not arguments:
        return Sequence(tuple(Sequence(item, "tuple") for item in owner.items))
    if name == "keys" and not arguments:
        return Sequence(tuple(key for key, _ in owner.items))
    if name == "values" and not arguments:
        return Sequence(tuple(value for _, value in owner.items))
    if name == "get" and arguments and isinstance(arguments[0], String) and arguments[0].text is not None:
        found = owner.get(arguments[0].text)
        return found or (arguments[1] if len(arguments) > 1 else NONE)
    if name == "copy":
        return owner
    return None


def _as_sequence(kind: str) -> Callable[[AbstractSequence[Value]], Value | None]:
    def convert(arguments: AbstractSequence[Value]) -> Value | None:
        if not arguments:
            return Sequence((), kind)
        items = items_of(arguments[0])
        return None if items is None else Sequence(items, kind)

    return convert


def _sorted(arguments: AbstractSequence[Value]) -> Value | None:
    try:
        texts = [str(native(item)) for item in items_of(arguments[0]) or ()]
    except ValueError:
        return None
    return Sequence(tuple(plain(text) for text in sorted(texts))) if texts else None


def _range(arguments: AbstractSequence[Value]) -> Value | None:
    numbers = [item.value for item in arguments if isinstance(item, Constant) and isinstance(item.value, int)]
    if len(numbers) != len(arguments) or not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
        return None
    counted = range(*numbers)
    return Sequence(tuple(Constant(number) for number in counted)) if len(counted) <= MOST_ITEMS else None


def _enumerate(arguments: AbstractSequence[Value]) -> Value | None:
    items = items_of(arguments[0]) if len(arguments) == 1 else None
    if items is None:
        return None
    return Sequence(tuple(Sequence((Constant(number), item), "tuple") for number, item in enumerate(items)))


def _reversed(arguments: AbstractSequence[Value]) -> Value | None:
    items = items_of(arguments[0]) if len(arguments) == 1 else None
    return None if items is None else Sequence(items[::-1])


def _zip(arguments: AbstractSequence[Value]) -> Value | None:
    columns = [items_of(argument) for argument in arguments]
    known = [column for column in columns if column is not None]
    if not known or len(known) != len(columns):
        return None
    return Sequence(tuple(Sequence(row, "tuple") for row in zip(*known, strict=False)))


def _product(arguments: AbstractSequence[Value]) -> Value | None:
    rows: list[tuple[Value, ...]] = [()]
    for argument in arguments:
        items = items_of(argument)
        if items is None or len(rows) * len(items) > MOST_ITEMS:
            return None
        rows = [(*row, item) for row in rows for item in items]
    return Sequence(tuple(Sequence(row, "tuple") for row in rows))


def _length(arguments: AbstractSequence[Value]) -> Value | None:
    if len(arguments) == 1 and isinstance(arguments[0], Sequence | Mapping) and arguments[0].items:
        return Constant(len(arguments[0].items))
    if len(arguments) == 1 and isinstance(arguments[0], String) and arguments[0].text is not None:
        return Constant(len(arguments[0].text))
    return None


def _number(convert: Callable[[str], int | float]) -> Callable[[AbstractSequence[Value]], Value | None]:
    def call(arguments: AbstractSequence[Value]) -> Value | None:
        try:
            return Constant(convert(str(native(arguments[0])))) if len(arguments) == 1 else None
        except ValueError:
            return None

    return call


def _bool(arguments: AbstractSequence[Value]) -> Value | None:
    known = truth(arguments[0]) if len(arguments) == 1 else None
    return None if known is None else Constant(known)


def _str(arguments: AbstractSequence[Value]) -> Value | None:
    return text_of(arguments[0]) if len(arguments) == 1 else None


FUNCTIONS: dict[str, Callable[[AbstractSequence[Value]], Value | None]] = {
    "builtins.bool": _bool,
    "builtins.enumerate": _enumerate,
    "builtins.float": _number(float),
    "builtins.frozenset": _as_sequence("set"),
    "builtins.int": _number(int),
    "builtins.iter": _as_sequence("list"),
    "builtins.len": _length,
    "builtins.list": _as_sequence("list"),
    "builtins.range": _range,
    "builtins.reversed": _reversed,
    "builtins.set": _as_sequence("set"),
    "builtins.sorted": _sorted,
    "builtins.str": _str,
    "builtins.tuple": _as_sequence("tuple"),
    "builtins.zip": _zip,
    "itertools.product": _product,
}
"""What the functions of Python's own modules return, where that follows from values that are known."""


def truth(value: Value) -> bool | None:
    """Whether a value counts as true; None where that is not known."""
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, Sequence | Mapping):
        return True if value.items else None  # what is empty now may be filled later
    if isinstance(value, String):
        return bool(value.text) if value.text is not None else (True if value.prefix else None)
    return True if isinstance(value, Class | CustomOp | Function | Instance | Library | Operator) else None
