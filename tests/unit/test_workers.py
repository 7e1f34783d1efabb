from __future__ import annotations

import gc
import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest

from op_lint.analysis import analyse
from op_lint.collector import without_collector
from op_lint.config import Settings
from op_lint.facts import FileFacts, Language, Place, Problem
from op_lint.files import SourceTree
from op_lint.workers import Failure, processors, read_in_workers


def read(path: str, data: bytes | None) -> FileFacts:
    if path == "crash":
        os.abort()
    if path == "exit":
        os._exit(3)
    if path == "hang":
        time.sleep(600)
    if path == "memory":
        bytearray(64 * 1024**3)
    return FileFacts(path if data is None else path + data.decode(), Language.CPP)


def answers(*paths: str, jobs: int = 2, seconds: float = 30) -> dict[str, FileFacts | Failure]:
    tasks = [(path, b"!" if path == "with-data" else None) for path in paths]
    return dict(read_in_workers(read, tasks, FileFacts, jobs=jobs, seconds=seconds))


def good(*paths: str) -> dict[str, FileFacts | Failure]:
    return {path: FileFacts(path, Language.CPP) for path in paths}


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_task_is_answered(jobs: int) -> None:
    paths = [f"f{number}" for number in range(17)]
    assert answers(*paths, jobs=jobs) == good(*paths)
    assert answers(jobs=jobs) == {}


def test_content_is_handed_over() -> None:
    assert answers("with-data") == {"with-data": FileFacts("with-data!", Language.CPP)}


def test_a_crash_costs_one_file() -> None:
    seen = answers("a", "crash", "b", "exit", "c", "memory", "d")
    assert {path: answer for path, answer in seen.items() if path in "abcd"} == good("a", "b", "c", "d")
    assert seen["crash"] == Failure("crash", "the reader died on this file (SIGABRT)")
    assert seen["exit"] == Failure("crash", "the reader died on this file (exit status 3)")
    assert isinstance(seen["memory"], Failure)


def test_a_hang_costs_one_file() -> None:
    seen = answers("a", "hang", "b", "c", seconds=0.5)
    assert seen.pop("hang") == Failure("timeout", "reading took more than 0.5 seconds and was given up")
    assert seen == good("a", "b", "c")


def test_beside_other_threads_processes_are_spawned() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        seen = answers("a", "crash", "b")
    finally:
        stop.set()
        thread.join()
    assert seen.pop("crash") == Failure("crash", "the reader died on this file (SIGABRT)")
    assert seen == good("a", "b")


def test_workers_end_with_their_reader_of_answers() -> None:
    stream = read_in_workers(read, [("a", None), ("b", None), ("hang", None)], FileFacts, jobs=1)
    next(stream)
    stream.close()
    assert multiprocessing.active_children() == []


def test_there_is_a_processor() -> None:
    assert processors() >= 1


def tells_of_its_collector(path: str, data: bytes | None) -> FileFacts:
    return FileFacts(path, Language.CPP, problems=(Problem(str(gc.isenabled()), "", Place(path, 1, 0, 0)),))


def test_a_worker_collects_garbage_where_its_parent_does_not() -> None:
    with without_collector():
        ((_, facts),) = read_in_workers(tells_of_its_collector, [("a.cpp", None)], FileFacts, jobs=1)
    assert isinstance(facts, FileFacts)
    assert facts.problems[0].code == "True"


def test_reading_here_leaves_no_garbage_where_there_is_no_collector(tmp_path: Path) -> None:
    source = '#include <torch/library.h>\nTORCH_LIBRARY(demo{}, m) {{ m.def("f(Tensor x) -> Tensor"); }}\n'
    for number in range(20):
        (tmp_path / f"ops{number}.cpp").write_text(source.format(number))
    tree = SourceTree(str(tmp_path), tuple(f"ops{number}.cpp" for number in range(20)))
    gc.collect()
    with without_collector():
        analysis = analyse(tree, Settings(), jobs=0)
        left = gc.collect()
    assert len(analysis.files) == 20
    assert left < 500  # what the last files and the linking leave, and not what all of them do


def leaves_a_mark(path: str, data: bytes | None) -> FileFacts:
    Path((data or b"").decode(), path).touch()
    return FileFacts(path, Language.CPP)


def test_a_worker_goes_on_while_its_answer_is_looked_at(tmp_path: Path) -> None:
    tasks = [(path, str(tmp_path).encode()) for path in ("first", "second")]
    stream = read_in_workers(leaves_a_mark, tasks, FileFacts, jobs=1)
    assert next(stream)[0] == "first"
    end = time.monotonic() + 30
    while not (tmp_path / "second").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert (tmp_path / "second").exists()
    assert [path for path, _ in stream] == ["second"]
