"""Inlay hints: the schema that a kernel means where none is written, and what an alias key stands for."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from op_lint.facts import Place
from op_lint.kernels import parsed, schema_text
from op_lint.schema import format_schema, infer_schema
from op_lint.schema.model import Name
from op_lint.server.site import KeySite, sites_in
from op_lint.server.snapshot import Snapshot


class Hint(msgspec.Struct, frozen=True):
    """A text after a place."""

    text: str
    place: Place


def hints(snapshot: Snapshot, path: str) -> Iterator[Hint]:
    """The hints of one file."""
    for facts in snapshot.facts_about(path):
        for definition in facts.definitions:
            kernel = definition.kernel
            name = parsed(schema_text(definition).value)
            if definition.place.path != path or kernel is None or kernel.signature is None:
                continue
            inferred = infer_schema(kernel.signature, name) if isinstance(name, Name) else None
            if inferred is not None:
                yield Hint(
                    format_schema(inferred).partition("(")[1] + format_schema(inferred).partition("(")[2],
                    definition.name_place,
                )
    keys = snapshot.program.keys
    if keys is None:
        return
    for site in dict.fromkeys(sites_in(snapshot, path)):
        key = keys.canonical(site.key) if isinstance(site, KeySite) else None
        if key is not None and keys.is_alias(key):
            yield Hint(f"{len(keys.included(key))} keys", site.place)
