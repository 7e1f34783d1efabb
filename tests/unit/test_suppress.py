from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from op_lint.facts import Definition, FileFacts, Language, OperatorName, Place, Suppression, Text
from op_lint.findings import Finding, Severity
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.suppress import IdleSuppression, apply_suppressions, find_suppressions

CPP, PYTHON = Language.CPP, Language.PYTHON


def found(text: str | bytes, language: Language = CPP) -> tuple[Suppression, ...]:
    data = text if isinstance(text, bytes) else text.encode()
    return find_suppressions("f", data, language)[0]


def lines(text: str | bytes, language: Language = CPP) -> list[tuple[int, ...]]:
    return [suppression.lines for suppression in found(text, language)]


@pytest.mark.parametrize(
    ("comment", "codes", "reason"),
    [
        ("// op-lint: ignore", (), ""),
        ("// op-lint: ignore why not", (), "why not"),
        ("// op-lint: ignore[OPL301]", ("OPL301",), ""),
        ("//op-lint:ignore[OPL301,some-name]: reason", ("OPL301", "some-name"), "reason"),
        ("/// op-lint: ignore [ OPL301 , OPL302 ] - a reason", ("OPL301", "OPL302"), "a reason"),
        ("/* op-lint: ignore[OPL301] reason */", ("OPL301",), "reason"),
        ("/*op-lint: ignore[OPL301]*/", ("OPL301",), ""),
        ("// NOLINT // op-lint: ignore[OPL301]", ("OPL301",), ""),
    ],
)
def test_forms_in_cpp(comment: str, codes: tuple[str, ...], reason: str) -> None:
    text = f"int a;\nint b; {comment}\nint c;\n"
    (suppression,) = found(text)
    assert (suppression.codes, suppression.reason, suppression.lines) == (codes, reason, (2,))
    assert text[suppression.place.start : suppression.place.end] == comment
    assert tuple(text[place.start : place.end] for place in suppression.code_places) == codes


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# op-lint: ignore", ()),
        ("# op-lint: ignore[A1] reason", ("A1",)),
        ("# noqa: E501 # op-lint: ignore[A1]", ("A1",)),
    ],
)
def test_forms_in_python(comment: str, codes: tuple[str, ...]) -> None:
    (suppression,) = found(f"a = 1\nb = 2  {comment}\nc = 3\n", PYTHON)
    assert (suppression.codes, suppression.lines) == (codes, (2,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a()  # op-lint: ignore[A1] reason\nb()\n", (1,)),
        ("# op-lint: ignore[A1]\na(\n  b)\n", (1, 2)),
        ("#[[ op-lint: ignore[A1] ]] a()\n", (1,)),
        ("#[=[\n op-lint: ignore[A1]\n]=]\na()\n", (1, 2, 3, 4)),
        ('a("# op-lint: ignore[A1]")\n', None),
        ("a([[# op-lint: ignore[A1]\n]])\n", None),
        ('a("\\"# op-lint: ignore[A1]")\n', None),
        ("a(\\#) # op-lint: ignore[A1]\n", (1,)),
    ],
)
def test_forms_in_cmake(text: str, expected: tuple[int, ...] | None) -> None:
    suppressions, problems = find_suppressions("CMakeLists.txt", text.encode(), None)
    assert [each.lines for each in suppressions] == ([] if expected is None else [expected])
    assert all(each.codes == ("A1",) for each in suppressions)
    assert problems == ()


@pytest.mark.parametrize("path", ["BUILD", "x/BUILD.bazel", "BUCK", "TARGETS", "defs.bzl"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a()  # op-lint: ignore[A1] reason\n", (1,)),
        ("a(\n  # op-lint: ignore[A1]\n  srcs = [\n  ],\n)\n", (2, 3)),
        ('a([["x",  # op-lint: ignore[A1]\n]])\n', (1,)),
        ("a('\"', ['b'])  # op-lint: ignore[A1]\n", (1,)),
        ("a('# op-lint: ignore[A1]')\n", None),
        ('"""\n# op-lint: ignore[A1]\n"""\n', None),
    ],
)
def test_forms_in_bazel_and_buck(path: str, text: str, expected: tuple[int, ...] | None) -> None:
    suppressions, problems = find_suppressions(path, text.encode(), None)
    assert [each.lines for each in suppressions] == ([] if expected is None else [expected])
    assert problems == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[tool.setuptools.ext-modules]]  # op-lint: ignore[A1]\n", (1,)),
        ('# op-lint: ignore[A1]\nsources = ["a.cpp"]\n', (1, 2)),
        ("a = 'C:\\'  # op-lint: ignore[A1]\n", (1,)),
        ("a = \"x\"\nb = '''\n# op-lint: ignore[A1]\n'''\n", None),
        ('a = """\\"""\n# op-lint: ignore[A1]\n"""\n', None),
        ('a = "# op-lint: ignore[A1]"\n', None),
    ],
)
def test_forms_in_toml(text: str, expected: tuple[int, ...] | None) -> None:
    suppressions, problems = find_suppressions("pyproject.toml", text.encode(), None)
    assert [each.lines for each in suppressions] == ([] if expected is None else [expected])
    assert problems == ()


@pytest.mark.parametrize(
    "text",
    [
        'auto s = "// op-lint: ignore";',
        'auto s = "a \\" // op-lint: ignore";',
        'auto s = R"(\n// op-lint: ignore\n)";',
        'auto s = u8R"x(\n)" // op-lint: ignore\n)x";',
        'auto c = \'"\'; auto s = "// op-lint: ignore";',
        'int n = 1\'000; auto s = "// op-lint: ignore";',
        "// a sentence about op-lint: ignore",
        "// see op-lint: ignore[OPL301]",
        "int op = lint; // op-lint ignore",
        'auto s = "unfinished // op-lint: ignore',
    ],
)
def test_no_comment_in_cpp(text: str) -> None:
    assert find_suppressions("f", text.encode(), CPP) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        's = "# op-lint: ignore"',
        "s = '''\n# op-lint: ignore\n'''",
        's = rb"\\" # op-lint: ignore"',
        "s = f'{1} # op-lint: ignore'",
        "# a sentence about op-lint: ignore",
    ],
)
def test_no_comment_in_python(text: str) -> None:
    assert find_suppressions("f", text.encode(), PYTHON) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        'FOOR"x" // op-lint: ignore',
        "#error don't // op-lint: ignore\nx // op-lint: ignore",
        'auto s = R"(\')"; // op-lint: ignore',
        "int n = 0x1'0 + 1e+5; // op-lint: ignore",
        "// continued \\\nop-lint: ignore nothing\nx // op-lint: ignore",
        "x /* op-lint: ignore",
    ],
)
def test_a_comment_in_cpp_after_all(text: str) -> None:
    assert found(text)[-1].codes == ()


def test_a_comment_alone_speaks_for_the_next_line_with_code() -> None:
    assert lines("// op-lint: ignore\nint a;\nint b;\n") == [(1, 2)]
    assert lines("  // op-lint: ignore\n\n// other\n/* and\nmore */\nint a;\n") == [(1, 6)]
    assert lines("// op-lint: ignore[A]\n// op-lint: ignore[B]\nint a;\n") == [(1, 3), (2, 3)]
    assert lines("/* op-lint: ignore\n*/ int a;\nint b;\n") == [(1, 2)]
    assert lines("int a; // op-lint: ignore\nint b;\n") == [(1,)]
    assert lines("// op-lint: ignore\n") == [(1,)]
    assert lines("# op-lint: ignore\n\n@decorated\ndef f(): ...\n", PYTHON) == [(1, 3)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    assert lines(f"int a;{end}int b; // op-lint: ignore{end}// op-lint: ignore{end}int c;{end}")[0] == (2,)
    assert lines(f"a = 1{end}b = 2 # op-lint: ignore{end}c = 3{end}", PYTHON) == [(2,)]


def test_a_whole_file() -> None:
    (suppression,) = found("// op-lint: ignore-file[OPL301] generated\nint a;\n")
    assert (suppression.lines, suppression.codes, suppression.reason) == ((), ("OPL301",), "generated")


def test_places_count_bytes() -> None:
    text = "# é\nname = 'é'  # op-lint: ignore[A1]\n".encode()
    (suppression,) = found(text, PYTHON)
    assert text[suppression.place.start : suppression.place.end] == b"# op-lint: ignore[A1]"
    assert text[suppression.code_places[0].start : suppression.code_places[0].end] == b"A1"
    assert suppression.place.line == 2


def test_latin_1_and_byte_order_marks_change_nothing() -> None:
    assert lines(b"\xef\xbb\xbfx = '\xe9'\ny = 1 # op-lint: ignore\n", PYTHON) == [(2,)]
    assert lines(b"// \xe9\nint a; // op-lint: ignore\n") == [(2,)]


def test_broken_python_is_read_up_to_the_break() -> None:
    assert lines("a = 1 # op-lint: ignore\nb = (\n", PYTHON) == [(1,)]
    assert lines("a = 1 # op-lint: ignore\ns = '''\n# op-lint: ignore\n", PYTHON) == [(1,)]


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("// op-lint: ignored[A1]", "`op-lint: ignored` means nothing"),
        ("// op-lint: disable", "`op-lint: disable` means nothing"),
        ("// op-lint:", "`op-lint: ` means nothing"),
        ("// op-lint: ignore[]", "`op-lint: ignore[]` names no rule"),
    ],
)
def test_a_comment_that_cannot_be_understood_is_a_problem(comment: str, words: str) -> None:
    suppressions, problems = find_suppressions("f", comment.encode(), CPP)
    assert suppressions == ()
    assert [
        (problem.code, problem.message.partition(":" if "names" in words else ": write")[0]) for problem in problems
    ]
    assert problems[0].message.startswith(words)


@given(
    st.lists(
        st.sampled_from(["op-lint: ignore", "[A]", "//", "/*", "*/", "#", '"', "'", "\\", "\n", "R", "(", ")", "é"])
    )
)
def test_never_raises(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    for language in Language:
        for suppression in found(data, language):
            assert data[suppression.place.start : suppression.place.end].startswith((b"//", b"/*", b"#"))


class _Silent(Rule):
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        yield from ()


class One(_Silent):
    code = "OPL101"
    name = "one"


class Two(_Silent):
    code = "OPL102"
    name = "two"


class OptIn(_Silent):
    code = "OPL103"
    name = "opt-in"
    default = False


RULES = (One, Two, OptIn)


def finding(rule: type[Rule], line: int, start: int = 0) -> Finding:
    return Finding(rule.code, rule.name, rule.severity, "", Place("f", line, start, start + 1))


def applied(
    text: str, *findings: Finding, ran: tuple[type[Rule], ...] = (One, Two), definitions: tuple[Definition, ...] = ()
) -> tuple[list[tuple[str, int]], list[tuple[tuple[int, ...], tuple[int, ...]]]]:
    facts = FileFacts("f", CPP, definitions=definitions, suppressions=found(text))
    result = apply_suppressions(findings, {"f": facts}, RULES, ran)
    assert result.suppressed == len(findings) - len(result.findings)
    return (
        [(each.code, each.place.line) for each in result.findings],
        [(each.unused, each.unknown) for each in result.idle],
    )


def test_codes_names_and_prefixes_suppress() -> None:
    for codes in ("", "[OPL101]", "[one]", "[OPL1]", "[OPL101, OPL102]"):
        left, _ = applied(f"a // op-lint: ignore{codes}\nb\n", finding(One, 1), finding(One, 2))
        assert left == [("OPL101", 2)]


def test_findings_in_other_files_stay() -> None:
    facts = FileFacts("f", CPP, suppressions=found("// op-lint: ignore-file"))
    elsewhere = Finding("OPL101", "one", Severity.WARNING, "", Place("g", 1, 0, 1))
    assert apply_suppressions([elsewhere], {"f": facts}, RULES, ()).findings == (elsewhere,)


def test_a_whole_file_is_suppressed_by_code() -> None:
    left, idle = applied("a\nb // op-lint: ignore-file[OPL101]\n", finding(One, 1), finding(Two, 1))
    assert (left, idle) == ([("OPL102", 1)], [])


def test_a_comment_above_a_call_covers_its_later_lines() -> None:
    place = Place("f", 2, 10, 50)
    name = Place("f", 3, 20, 30)
    definition = Definition(0, OperatorName("n", "a"), place, name, Text("a", name))
    text = "// op-lint: ignore[OPL101]\nm.def(\n  'a'\n)\n"
    assert applied(text, finding(One, 3, start=22), definitions=(definition,))[0] == []
    assert applied(text, finding(One, 5, start=60), definitions=(definition,))[0] == [("OPL101", 5)]


def test_what_did_nothing_is_told_by_code() -> None:
    assert applied("a // op-lint: ignore[OPL101, OPL102]\n", finding(One, 1)) == ([], [((1,), ())])
    assert applied("a // op-lint: ignore[OPL999, OPL101]\n", finding(One, 1)) == ([], [((), (0,))])
    assert applied("a // op-lint: ignore[OPL101]\n")[1] == [((0,), ())]


def test_nothing_is_said_of_rules_that_did_not_run() -> None:
    assert applied("a // op-lint: ignore[OPL102]\n", ran=(One,))[1] == []
    assert applied("a // op-lint: ignore[OPL103]\n")[1] == []
    assert applied("a // op-lint: ignore[OPL1]\n")[1] == []
    assert applied("a // op-lint: ignore\n", ran=(One,))[1] == []


def test_a_comment_for_all_is_idle_when_every_default_rule_ran() -> None:
    facts = FileFacts("f", CPP, suppressions=found("a // op-lint: ignore\n"))
    result = apply_suppressions([], {"f": facts}, RULES, (One, Two))
    assert result.idle == (IdleSuppression(facts.suppressions[0]),)
    assert applied("a // op-lint: ignore\n", finding(One, 1)) == ([], [])
