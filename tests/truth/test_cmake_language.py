"""CMake's language: random files, read by CMake itself and by us: what is refused, the commands, their arguments."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from op_lint.build.cmake.lexer import read_script

CMAKE = shutil.which("cmake")
pytestmark = pytest.mark.skipif(CMAKE is None, reason="not here: cmake")

ARGUMENTS = r"""
a|b;c|${x}|$ENV{H}|"q r"|"a\"b"|[[br]]|[=[a]]b]=]|(|)|#[[bc]] |\;|\ |-D="a b"|a"b"c|[|[=x|=]|]]|"|\|\\"|$<0:a;b>|é|"é"
a\nb|"a\tb"|$(x)|a$|${|@y@|"[[x]]"|[[a"b]]|[==[|{|}|\(|\#|a#b|a[[b]]|"a"[[b]]|[[a]]"b"|[=[a]=]c|;|"";|'a b'|#[[x]]a
"""
PIECES = [
    *(piece for line in ARGUMENTS.strip().splitlines() for piece in line.split("|")),
    *('"x\\\ny"', '"x\\\r\ny"', '"x\r\ny"', '"a\n\nb"', "[[\nnl]]", "[[\r\nnl\r\n]]", "[[a\\\nb]]", "#[=[bc\n]]]=]"),
    *("#c\n", "\n", "\r\n", "\t", "\x0c", "a\\\nb"),
]
BEFORE = ["", "", "  ", "\t", "#[[x]] ", "#[[x]]\n#y\n", "\ufeff"]
NAMES = ["p(", "p(", "P (", "p\t(", "_p(", "p\n(", "1p(", "p #c\n(", "p{"]
AFTER = [
    *(")\n", ")\n", ")\n", ") \n", ")\r\n", ") #c\n", ") #[[c]]\n", ")#[[c]] #d\n", ") p()\n", ") #[[c]] p()\n"),
    *(")", "\n"),
]
PRELUDE = "function(p)\nendfunction()\nfunction(_p)\nendfunction()\n"

Commands = list[tuple[str, list[str], int]]


def written(source: random.Random) -> bytes:
    """A file that may or may not be CMake: each fault is rare enough for half of the files to be without one."""
    text = PRELUDE
    for _ in range(source.randint(1, 3)):
        pieces = [source.choice(PIECES) + source.choice(["", " ", " ", "\n"]) for _ in range(source.randint(0, 3))]
        rarely = source.random() < 0.2
        before, name, after = (source.choice(each if rarely else each[:3]) for each in (BEFORE, NAMES, AFTER))
        text += before + name + "".join(pieces) + after
    return text.encode()


def as_cmake_reads(file: Path) -> Commands | None:
    """The commands with their arguments and lines; None where CMake refuses the file."""
    trace = file.with_suffix(".trace")
    options = ["-Wno-dev", "--trace", "--trace-format=json-v1", f"--trace-redirect={trace}"]
    done = subprocess.run([CMAKE or "", *options, "-P", str(file)], capture_output=True)
    if done.returncode:
        assert b"rror in cmake code" in done.stderr or b"Parse error" in done.stderr, done.stderr
        return None
    rows = [json.loads(line) for line in trace.read_text().splitlines()[1:]]
    return [(row["cmd"].lower(), row["args"], row["line"]) for row in rows if row["cmd"].lower() in ("p", "_p")]


def as_we_read(file: Path) -> Commands | None:
    script = read_script("lists.cmake", file.read_bytes())
    if script.problems:
        return None
    return [
        (command.name, [argument.text for argument in command.arguments], command.place.line)
        for command in script.commands
        if command.name in ("p", "_p")
    ]


def test_random_files(tmp_path: Path) -> None:
    source = random.Random(6)
    refused = 0
    for number in range(400):
        file = tmp_path / f"{number}.cmake"
        file.write_bytes(written(source))
        expected = as_cmake_reads(file)
        refused += expected is None
        assert as_we_read(file) == expected, file.read_bytes()
    assert 80 < refused < 320  # both kinds are there
