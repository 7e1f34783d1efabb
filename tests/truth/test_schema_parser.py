"""The schema parser and printer against torch's own.

Torch names a place in most of its errors. Ours is that character or an earlier one. It is earlier where torch

- has read one token further before it looked at a name (a type, a default) that it does not know,
- checks only when all has been read: a default in a schema with `...`, an argument without a default after one with,
- gives the C++ exception of a conversion and names no place at all.

The kinds of error for which ours may be earlier are `_EARLIER`; of any other kind it is the same character.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pytest

from op_lint.schema import ErrorKind, SchemaError, format_schema, parse_declaration, parse_schema
from tests.truth.schema_texts import WRITTEN, schema_texts

torch = pytest.importorskip("torch", reason="torch is not installed here")

_EARLIER = (ErrorKind.UNKNOWN_TYPE, ErrorKind.DEFAULT, ErrorKind.ORDER, ErrorKind.TYPE, ErrorKind.NAME)
_SEED = 2026
_COUNT = 40_000
_HUGE_LIST = re.compile(r"\[\s*\d{6,}")
"""A fixed-size list whose default torch would really build, element by element."""

_LABELS = re.compile(r"[\w*$]+(?:\|[\w*$]+){2,}")


@lru_cache
def installed_schemas() -> tuple[str, ...]:
    """Every schema that this torch has, as it prints it: TorchScript's operators and the dispatcher's."""
    schemas = {str(schema) for schema in torch._C._jit_get_all_schemas()}
    for name in torch._C._dispatch_get_all_op_names():
        dump = torch._C._dispatch_dump(name)
        schemas.update(line.removeprefix("schema: ") for line in dump.splitlines() if line.startswith("schema: "))
    return tuple(sorted(schemas))


@lru_cache
def registered_types() -> frozenset[str]:
    """The custom classes and opaque types of this torch that its schemas name."""
    from torch._library.opaque_object import _OPAQUE_TYPES_BY_NAME

    classes = re.findall(r"__torch__\.torch\.classes\.\w+\.\w+", "\n".join(installed_schemas()))
    classes += re.findall(
        r"__torch__\.torch\.classes\.\w+\.\w+", "\n".join(map(str, torch._C._jit_get_custom_class_schemas()))
    )
    return frozenset((*classes, *_OPAQUE_TYPES_BY_NAME))


def torch_parses(text: str, typevars: bool) -> tuple[str | None, str]:
    """What torch prints for a schema, or None and its error."""
    try:
        return str(torch._C.parse_schema(text, typevars)), ""
    except UnicodeDecodeError:
        # Python cannot decode torch's error text, which cuts a character in two.
        return None, ""
    except (RuntimeError, ValueError, IndexError) as error:
        return None, str(error)


def torch_place(error: str, text: str) -> int | None:
    """The character that torch's error points at, looked for in one-line schemas only; None where it points at none."""
    lines = error.split("\n")
    for above, line in pairwise(lines):
        if line.endswith(" <--- HERE") and above == text:
            column = len(line) - len(line.lstrip(" "))
            return len(text.encode()[:column].decode(errors="replace"))
    return None


def in_any_order(printed: str) -> str:
    """A print with alias sets of three or more labels sorted: torch's own order depends on the names seen before."""
    return _LABELS.sub(lambda match: "|".join(sorted(match[0].split("|"))), printed)


def test_every_installed_schema_prints_as_torch_prints_it() -> None:
    schemas = installed_schemas()
    assert len(schemas) >= 3_500
    same_as_given = 0
    for text in schemas:
        schema = parse_schema(text, typevars=True, registered=registered_types())
        assert not isinstance(schema, SchemaError), (text, schema)
        assert format_schema(schema) == str(torch._C.parse_schema(text))
        same_as_given += format_schema(schema) == text
    # Torch itself turns a set of two labels around each time that it reads and prints one.
    assert len(schemas) - same_as_given == sum("|" in text for text in schemas)


def test_torch_turns_alias_sets_around() -> None:
    turned = [text for text in installed_schemas() if "|" in text]
    assert turned
    assert all(str(torch._C.parse_schema(text)) != text for text in turned)


def disagreement(text: str, typevars: bool) -> tuple[str, Any] | None:
    """In what op-lint and torch disagree about a string, None where they agree."""
    printed, error = torch_parses(text, typevars)
    schema = parse_schema(text, typevars=typevars, registered=registered_types())
    if isinstance(schema, SchemaError):
        if printed is not None:
            return "refused by op-lint only", schema
        place = torch_place(error, text)
        if place is None or schema.span.start == place:
            return None
        is_earlier = schema.span.start < place and schema.kind in _EARLIER
        return None if is_earlier else ("another place", (schema, error))
    if printed is None:
        return "refused by torch only", error
    return None if in_any_order(format_schema(schema)) == in_any_order(printed) else ("another print", printed)


@pytest.mark.parametrize("typevars", [True, False])
@pytest.mark.parametrize("text", WRITTEN)
def test_written_strings(text: str, typevars: bool) -> None:
    assert disagreement(text, typevars) is None


def test_changed_and_made_up_strings() -> None:
    outcomes: Counter[str] = Counter()
    for index, text in enumerate(schema_texts(installed_schemas(), _SEED, _COUNT)):
        if _HUGE_LIST.search(text):
            continue
        typevars = index % 2 == 0
        assert disagreement(text, typevars) is None, (text, typevars)
        error = parse_schema(text, typevars=typevars, registered=registered_types())
        place = torch_place(torch_parses(text, typevars)[1], text)
        outcomes["accepted" if not isinstance(error, SchemaError) else "refused"] += 1
        outcomes["same place"] += isinstance(error, SchemaError) and place == error.span.start
    # The strings must be good ones: many on both sides, and most errors at torch's place.
    assert outcomes["accepted"] + outcomes["refused"] >= 20_000
    assert outcomes["accepted"] > _COUNT // 10
    assert outcomes["same place"] > outcomes["refused"] // 2


def test_every_prefix_of_a_schema_is_judged_as_torch_does() -> None:
    text = "ns::f.o(Tensor(a! -> a|b)[] x, SymInt[2]? n=None, *, str s='a\\n', Dict(str, int)? d=None) -> (int r, ...)"
    for end in range(len(text) + 1):
        assert disagreement(text[:end], typevars=False) is None


def test_suggestions_make_the_schema_parse() -> None:
    """Each suggestion, applied, mends the string, or moves the error on: none is made twice."""
    mended = 0
    for text in schema_texts(installed_schemas(), _SEED + 1, 4_000):
        for _ in range(20):
            result = parse_declaration(text)
            if not isinstance(result, SchemaError) or result.suggestion is None:
                break
            span = result.suggestion.span
            assert span.start < span.end
            changed = text[: span.start] + result.suggestion.text + text[span.end :]
            assert changed != text
            text = changed
            mended += 1
        else:
            pytest.fail(f"suggestions go around in circles: {text}")
    assert mended > 50
