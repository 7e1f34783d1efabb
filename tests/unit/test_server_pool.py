"""The server's processes: what one file does to its reader costs that file only."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

from op_lint.facts import FileFacts, Language
from op_lint.server.pool import Cancelled, Pool


def read(path: str, data: bytes | None) -> FileFacts:
    if path == "crash":
        os.abort()
    if path == "hang":
        time.sleep(600)
    if path == "slow":
        time.sleep(0.5)
    return FileFacts(path, Language.CPP)


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(seconds=2)
    yield made
    made.close()
    assert made.process_ids == ()


def problems(pool: Pool, *paths: str, is_wanted: Callable[[], bool] = lambda: True) -> dict[str, list[str]]:
    found = pool.read(read, [(path, None) for path in paths], is_wanted)
    return {path: [problem.code for problem in facts.problems] for path, facts in found}


def test_a_crash_and_a_hang_cost_one_file_each(pool: Pool) -> None:
    assert problems(pool, "a", "crash", "b") == {"a": [], "crash": ["crash"], "b": []}
    assert problems(pool, "hang", "a") == {"hang": ["timeout"], "a": []}
    assert problems(pool, "a") == {"a": []}


def test_what_is_not_wanted_is_not_waited_for(pool: Pool) -> None:
    problems(pool, "a")
    began = time.monotonic()
    with pytest.raises(Cancelled):
        problems(pool, "slow", "slow", "slow", is_wanted=lambda: time.monotonic() < began + 0.1)
    assert time.monotonic() < began + 0.45
    assert problems(pool, "b") == {"b": []}  # and the answer that nobody waited for is not taken for this one


def test_help_is_called_for_much_work_and_dismissed(pool: Pool) -> None:
    paths = [f"f{number}" for number in range(40)]
    assert problems(pool, *paths) == {path: [] for path in paths}
    assert len(pool.process_ids) == 1
