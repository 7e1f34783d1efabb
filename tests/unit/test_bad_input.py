"""Whatever stands in a file: a note with its path, every other file is still reported, and no traceback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.check import Outcome, run, run_process, write_project

WRONG = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("other::a(Tensor x) -> Tensor", &f); }\n'
START = "#include <torch/library.h>\nTORCH_LIBRARY(more, m) {"
BOMB = "".join(f"#define B{number} B{number - 1} B{number - 1}\n" for number in range(1, 41))


def check(folder: Path, *arguments: str) -> tuple[Outcome, list[tuple[str, str, int]]]:
    arguments = ("check", "--no-torch", "--no-cache", "--output-format", "json", *arguments)
    outcome = run(folder, *arguments)
    assert "Traceback" not in outcome.err
    assert outcome.status in (0, 1)
    return outcome, [(each["code"], each["path"], each["line"]) for each in json.loads(outcome.out)]


NOTED: dict[str, bytes] = {
    "binary.cpp": bytes(range(256)) * 40 + b"TORCH_LIBRARY",
    "object.cpp": b"\x7fELF\0\0\0\0" * 100,
    "large.cpp": b"// TORCH_LIBRARY\n" + b"int a;\n" * (20 * 1024 * 1024 // 7),
    "utf16.cpp": WRONG.encode("utf-16"),
    "jinja.cpp": b'{% for t in types %}\nTORCH_LIBRARY(j, m) { m.def("a_{{ t }}(Tensor x)"); }\n{% endfor %}\n',
    "bomb.cpp": (BOMB.replace("B0", "x") + START + " B40 }").encode(),
}

READ: dict[str, bytes] = {
    "latin1.cpp": WRONG.replace("\n", "  // caf\xe9\n", 1).encode("latin-1"),
    "latin1_before.cpp": WRONG.replace("m) {", "m) { /* \xe9 */").encode("latin-1"),
    "crlf.cpp": WRONG.replace("\n", "\r\n").encode(),
    "bom.cpp": b"\xef\xbb\xbf" + WRONG.encode(),
    "no_newline.cpp": WRONG.rstrip().encode(),
    "tabs.cpp": WRONG.replace(" { ", " {\f\t").encode(),
}


@pytest.mark.parametrize("name", NOTED)
def test_what_cannot_be_understood_is_noted(tmp_path: Path, name: str) -> None:
    write_project(tmp_path, {name: NOTED[name], "good.cpp": WRONG})
    outcome, found = check(tmp_path)
    assert outcome.status == 1
    assert ("OPL206", "good.cpp", 2) in found
    assert [path for code, path, _ in found if code == "OPL902"] == [name], outcome


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read(tmp_path: Path, name: str) -> None:
    write_project(tmp_path, {name: READ[name]})
    outcome, found = check(tmp_path)
    assert found == [("OPL206", name, 2)]
    line = READ[name].decode("utf-8-sig", "replace").split("\n")[1]
    assert json.loads(outcome.out)[0]["column"] == line.index("other") + 1


@pytest.mark.parametrize("length", [0, 1, 40, len(START), len(START) + 5, len(START) + 20])
def test_a_truncated_file(tmp_path: Path, length: int) -> None:
    text = START + ' m.def("a(Tensor x) -> Tensor", &f); m.def("other::b(Tensor x) -> Tensor", &f); }'
    write_project(tmp_path, {"cut.cpp": text[:length], "good.cpp": WRONG})
    _, found = check(tmp_path)
    assert ("OPL206", "good.cpp", 2) in found


@pytest.mark.parametrize("end", ["", 'm.def("a(Tensor', 'm.def("a(Tensor x) -> Tensor"', 'm.def("a() -> ()");'])
def test_a_block_that_does_not_end(tmp_path: Path, end: str) -> None:
    write_project(tmp_path, {"cut.cpp": f"{START} {end}", "good.cpp": WRONG})
    outcome, found = check(tmp_path)
    line = START[: START.index("TORCH_LIBRARY")].count("\n") + 1
    assert ("OPL902", "cut.cpp", line) in found
    assert ("OPL206", "good.cpp", 2) in found
    assert outcome.status == 1


def test_brackets_of_arms_are_no_truncation(tmp_path: Path) -> None:
    arms = "#if A\nTORCH_LIBRARY(demo, m) {\n#else\nTORCH_LIBRARY(other, m) {\n#endif\n}\n"
    write_project(tmp_path, {"ops.cpp": f"#include <torch/library.h>\n{arms}"})
    _, found = check(tmp_path)
    assert found == []


def test_includes_in_a_circle_and_into_nowhere(tmp_path: Path) -> None:
    write_project(
        tmp_path,
        {
            "a.h": '#include "b.h"\n#include "a.h"\n',
            "b.h": '#include "a.h"\n#include "gone.h"\n',
            "ops.cpp": '#include "a.h"\n#include <no/such/header.h>\n' + WRONG,
        },
    )
    _, found = check(tmp_path)
    assert found == [("OPL206", "ops.cpp", 4)]


def test_python_that_is_none(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "broken.py": "import torch\n@torch.library.register_fake('demo::a'\ndef f(:\n",
        "binary.py": b"import torch.library\0\xff\xfe\x00",
        "latin1.py": "import torch.library\nx = 'caf\xe9'\n".encode("latin-1"),
        "deep.py": "import torch.library\nx = " + "(" * 5000 + ")" * 5000 + "\n",
        "good.cpp": WRONG,
    }
    write_project(tmp_path, files)
    _, found = check(tmp_path)
    assert ("OPL206", "good.cpp", 2) in found
    assert {path for code, path, _ in found if code == "OPL902"} <= {"broken.py", "binary.py", "latin1.py", "deep.py"}
    assert ("OPL902", "broken.py", 3) in found


def test_strange_files(tmp_path: Path) -> None:
    write_project(tmp_path, {"good.cpp": WRONG})
    (tmp_path / "folder.cpp").mkdir()
    (tmp_path / "link.cpp").symlink_to("nowhere.cpp")
    os.mkfifo(tmp_path / "pipe.cpp")
    _, found = check(tmp_path)
    assert found == [("OPL206", "good.cpp", 2)]


def test_a_process_of_its_own_says_the_same(tmp_path: Path) -> None:
    write_project(tmp_path, {**NOTED, "large.cpp": b"", "good.cpp": WRONG})
    arguments = ("check", "--no-torch", "--no-cache", "--output-format", "json")
    inside, outside = run(tmp_path, *arguments), run_process(tmp_path, *arguments)
    assert inside == outside


def test_every_byte_string_is_a_file(tmp_path: Path) -> None:
    """Pieces of real files and noise, glued together in ways that nobody would write."""
    pieces = [
        START,
        "}",
        '"',
        "//",
        "/*",
        "(",
        ")",
        "#if 0\n",
        "#endif\n",
        "#define A(",
        'R"x(',
        "\\\n",
        "\0",
        "é",
        "{{",
        "m.def(",
    ]
    files: dict[str, str | bytes] = {
        f"noise{number}.cpp": "".join(pieces[(number * 7 + step * (number + 3)) % len(pieces)] for step in range(30))
        for number in range(24)
    }
    write_project(tmp_path, {**files, "good.cpp": WRONG})
    _, found = check(tmp_path)
    assert ("OPL206", "good.cpp", 2) in found


@pytest.mark.parametrize("command", ["check", "ops", "doctor"])
def test_a_name_that_is_no_text(tmp_path: Path, command: str) -> None:
    """Noted where it can be written, and no matter to the other files, to the build graph, or to the cache."""
    write_project(
        tmp_path, {"a.cpp": WRONG, "CMakeLists.txt": "file(GLOB all *.cpp)\nadd_library(demo SHARED ${all})\n"}
    )
    try:
        (tmp_path / os.fsdecode(b"n\xff.cpp")).write_text(WRONG, "utf-8")
    except OSError:
        pytest.skip("this file system takes no such name")
    cache = str(tmp_path / "cache")
    runs = [run_process(tmp_path, command, "--cache-dir", cache) for _ in range(2)]
    for outcome in runs:
        assert "Traceback" not in outcome.err
        assert "please report" not in outcome.err
        assert outcome.status == (1 if command == "check" else 0), outcome
    assert runs[0].out == runs[1].out
    if command == "check":
        assert "OPL206" in runs[0].out


def test_unknown_macros_by_the_thousand(tmp_path: Path) -> None:
    """Each is asked whether it stands at file scope; a search for that from the start takes longer than a file may."""
    uses = "".join(f"void f{each}() {{ if (x) {{ SOME_MACRO({each}); OTHER_MACRO(1); }} }}\n" for each in range(8000))
    write_project(tmp_path, {"ops.cpp": WRONG + uses})
    outcome = run_process(tmp_path, "check", "--no-torch", "--no-cache", "--jobs", "1", "--output-format", "json")
    assert [each["code"] for each in json.loads(outcome.out)] == ["OPL206"]
