from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from op_lint import cache as cache_module
from op_lint.cache import FactsCache
from op_lint.condition import All, Atom, Not
from op_lint.facts import FileFacts, Language, Place, Suppression, Unit, UnitKind

FACTS = FileFacts(
    "a.cpp",
    Language.CPP,
    units=(
        Unit(
            1,
            UnitKind.IMPL,
            "TORCH_LIBRARY_IMPL",
            Place("a.cpp", 3, 10, 20),
            "demo",
            "CPU",
            condition=All((Atom("A"), Not(Atom("B")))),
        ),
    ),
    suppressions=(Suppression(Place("a.cpp", 1, 0, 5), ("OPL101",), (1, 2), "é"),),
)


def entries(folder: Path) -> list[Path]:
    return sorted(file for file in (folder / "facts").glob("*/*") if file.is_file())


def test_what_was_put_is_got(tmp_path: Path) -> None:
    kept = FactsCache(tmp_path)
    assert kept.get("a.cpp", "k") is None
    kept.put("a.cpp", "k", FACTS)
    assert kept.get("a.cpp", "k") == FACTS
    assert FactsCache(tmp_path).get("a.cpp", "k") == FACTS
    assert kept.size()[0] == 1


def test_path_and_key_both_count(tmp_path: Path) -> None:
    kept = FactsCache(tmp_path)
    kept.put("a.cpp", "k", FACTS)
    assert kept.get("a.cpp", "other") is None
    assert kept.get("b.cpp", "k") is None


@pytest.mark.parametrize("damage", [b"", b"x", b"\0" * 400])
def test_a_damaged_entry_is_thrown_away(tmp_path: Path, damage: bytes) -> None:
    kept = FactsCache(tmp_path)
    kept.put("a.cpp", "k", FACTS)
    (entry,) = entries(tmp_path)
    entry.write_bytes(damage)
    assert kept.get("a.cpp", "k") is None
    assert entries(tmp_path) == []


def test_an_entry_cut_short_or_with_one_byte_changed_is_thrown_away(tmp_path: Path) -> None:
    kept = FactsCache(tmp_path)
    kept.put("a.cpp", "k", FACTS)
    (entry,) = entries(tmp_path)
    whole = entry.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), whole + b"\0"):
        entry.write_bytes(damaged)
        assert kept.get("a.cpp", "k") is None


def test_an_intact_entry_of_another_kind_is_thrown_away(tmp_path: Path) -> None:
    kept = FactsCache(tmp_path)
    kept.put("a.cpp", "k", FACTS)
    (entry,) = entries(tmp_path)
    payload = b"\x93\x01\x02\x03"
    entry.write_bytes(cache_module._digest(payload) + payload)
    assert kept.get("a.cpp", "k") is None


def test_another_vocabulary_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FactsCache(tmp_path).put("a.cpp", "k", FACTS)
    monkeypatch.setattr(cache_module, "vocabulary", lambda: b"another")
    assert FactsCache(tmp_path).get("a.cpp", "k") is None


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = FactsCache(tmp_path / "file")
    kept.put("a.cpp", "k", FACTS)
    assert kept.get("a.cpp", "k") is None
    kept.prune()
    assert kept.size() == (0, 0)


def test_a_folder_that_is_there_gets_no_file_of_ours_but_facts(tmp_path: Path) -> None:
    FactsCache(tmp_path).put("a.cpp", "k", FACTS)
    assert [file.name for file in tmp_path.iterdir()] == ["facts"]
    assert (tmp_path / "facts" / "CACHEDIR.TAG").exists()


def test_the_old_and_the_too_much_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FactsCache(tmp_path)
    now = time.time()
    for name in ("old", "middle", "new"):
        kept.put("a.cpp", name, FACTS)
    for age, name in ((40, "old"), (2, "middle"), (0, "new")):
        file = kept._file("a.cpp", name)
        os.utime(file, (now - age * 86400,) * 2)
    kept.prune(now)
    assert [kept._file("a.cpp", name).exists() for name in ("old", "middle", "new")] == [False, True, True]
    os.utime(kept._file("a.cpp", "middle"), (now - 40 * 86400,) * 2)
    kept.prune(now)
    assert len(entries(tmp_path)) == 2, "once a day is enough"
    monkeypatch.setattr(cache_module, "_LARGEST", kept._file("a.cpp", "new").stat().st_size)
    kept.prune(now + 2 * 86400)
    assert [kept._file("a.cpp", name).exists() for name in ("old", "middle", "new")] == [False, False, True]


def test_a_cache_that_grows_above_its_limit_is_cut_back_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = FactsCache(tmp_path)
    kept.put("a.cpp", "first", FACTS)
    kept.prune()
    size = kept._file("a.cpp", "first").stat().st_size
    monkeypatch.setattr(cache_module, "_LARGEST", 3 * size)
    for number in range(6):  # each of them a run, all on one day
        another = FactsCache(tmp_path)
        another.put("a.cpp", str(number), FACTS)
        another.prune()
        assert another.size()[1] <= 3 * size
    assert len(entries(tmp_path)) == 3
    assert FactsCache(tmp_path).get("a.cpp", "5") == FACTS
    assert FactsCache(tmp_path).get("a.cpp", "first") is None


@pytest.mark.parametrize("damage", [b"", b"a lot", b"\xff\xfe", b"-"])
def test_a_damaged_note_of_the_size_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    kept = FactsCache(tmp_path)
    kept.put("a.cpp", "k", FACTS)
    (tmp_path / "facts" / "pruned").write_bytes(damage)
    kept.prune()
    assert int((tmp_path / "facts" / "pruned").read_text()) == kept.size()[1]


def test_use_makes_an_entry_young(tmp_path: Path) -> None:
    kept = FactsCache(tmp_path)
    kept.put("a.cpp", "k", FACTS)
    file = kept._file("a.cpp", "k")
    os.utime(file, (0, 0))
    assert kept.get("a.cpp", "k") == FACTS
    assert time.time() - file.stat().st_mtime < 3600


_HAMMER = """
import sys
from pathlib import Path
from op_lint.cache import FactsCache
from op_lint.facts import FileFacts, Language
kept = FactsCache(Path(sys.argv[1]))
for round in range(40):
    for name in "abcdefgh":
        facts = FileFacts(name, Language.CPP)
        kept.put(name, "k", facts)
        assert kept.get(name, "k") in (facts, None)
print("done")
"""


def test_ten_processes_at_once_corrupt_nothing(tmp_path: Path) -> None:
    hammers = [
        subprocess.Popen([sys.executable, "-c", _HAMMER, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(10)
    ]
    assert [(hammer.communicate(), hammer.returncode) for hammer in hammers] == [((b"done\n", b""), 0)] * 10
    kept = FactsCache(tmp_path)
    assert [kept.get(name, "k") for name in "abcdefgh"] == [FileFacts(name, Language.CPP) for name in "abcdefgh"]
    assert len(entries(tmp_path)) == 8
