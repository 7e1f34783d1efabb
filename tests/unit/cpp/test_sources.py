"""From libclang's points to places in the files as they are."""

from __future__ import annotations

from op_lint.cpp.libclang import Cursor, CursorKind
from op_lint.cpp.macro_bodies import MacroBodies
from op_lint.cpp.scanned import ScannedFile
from op_lint.cpp.sources import SourceMap
from op_lint.facts import Place
from tests.unit.cpp_parsing import parse


def _variables(text: str, header: str = "") -> tuple[SourceMap, dict[str, Cursor]]:
    tu, preprocessed, errors = parse(text, h=header)
    bodies = MacroBodies(preprocessed.views, lambda view: ScannedFile(view.data), {})
    sources = SourceMap(tu, preprocessed, errors, bodies)
    found = tu.declarations(lambda _: False, None)
    return sources, {each.spelling: each for each in found if each.kind == CursorKind.VAR_DECL}


def _place(sources: SourceMap, cursor: Cursor) -> Place:
    place = sources.place(cursor)
    assert place is not None
    return place


def test_the_place_of_a_declaration() -> None:
    text = "int first;\n/* \u00e9 */ int   second = 1;\n"
    sources, variables = _variables(text)
    place = _place(sources, variables["second"])
    assert (place.path, place.line) == ("ops.cpp", 2)
    assert text.encode()[place.start : place.end] == b"int   second = 1"
    assert sources.text(place) == "int second = 1"
    assert not sources.in_macro(variables["second"])
    second = variables["second"]
    assert sources.call_in_macro(second.location, "second") is None


def test_what_a_macro_makes_is_where_the_macro_is_used() -> None:
    text = "#define MAKE(n) int n = 1\nMAKE(made);\n"
    sources, variables = _variables(text)
    place = _place(sources, variables["made"])
    assert (place.line, sources.text(place)) == (2, "MAKE(made)")
    assert sources.in_macro(variables["made"])


def test_a_header_has_its_own_places() -> None:
    sources, variables = _variables('#include "h.h"\n', "\n\nint there;\n")
    assert _place(sources, variables["there"]) == Place("h.h", 3, 2, 11)


def test_words() -> None:
    text = "int alphabet, alpha;\n"
    sources, _ = _variables(text)
    whole = Place("ops.cpp", 1, 0, len(text))
    assert sources.find_word(whole, "alpha") == Place("ops.cpp", 1, 14, 19)
    assert sources.find_word(whole, "beta") is None
    assert sources.word_at(sources.main, 4) == "alphabet"
    assert sources.word_at(sources.main, 3) == ""


def test_errors() -> None:
    text = "Missing bad;\nint good;\n"
    sources, _ = _variables(text)
    assert sources.has_error(Place("ops.cpp", 1, 0, 12))
    assert not sources.has_error(Place("ops.cpp", 2, 13, len(text)))
