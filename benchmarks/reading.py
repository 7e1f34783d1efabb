"""How long reading a project's C++ takes: beside libclang's own parse of the same files, and from the cache.

    python benchmarks/reading.py FOLDER [ROUNDS]

Everything runs in one process. `reading` is all that op-lint does for the files that may register, without a cache;
`parse` is libclang alone on the first pass of the same files, with the same overlay, arguments and buffers. The two
alternate within each round, and the median of the rounds counts. Seconds are the processor's, so that other programs do
not count. The ratios are what is meant to be compared.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from op_lint.analysis import analyse
from op_lint.cache import FactsCache
from op_lint.config import Settings
from op_lint.cpp import CppReader, clang, passes
from op_lint.cpp.overlay_header import OVERLAY, overlay
from op_lint.files import DEFAULT_EXCLUDE, SourceTree, find_sources


def main(folder: Path, rounds: int) -> None:
    tree = find_sources(folder, exclude=DEFAULT_EXCLUDE)
    readings, parses = [], []
    files = CppReader(folder, tree.cpp).candidates()
    for _ in range(rounds):
        readings.append(_seconds_to_read(folder, tree))
        parses.append(_seconds_to_parse(folder, tree))
    print(f"{len(files)} of {len(tree.cpp)} C++ files may register")
    print(f"reading          {median(readings):8.2f} s")
    print(f"libclang's parse {median(parses):8.2f} s")
    print(f"ratio            {median(readings) / median(parses):8.2f}   (at most 2)")
    cold, warm = _seconds_with_cache(tree)
    print(f"cold, with cache {cold:8.2f} s")
    print(f"warm             {warm:8.2f} s")
    print(f"ratio            {warm / cold:8.2f}   (at most 0.15)")
    print(f"peak memory      {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MiB")


def _seconds_to_read(folder: Path, tree: SourceTree) -> float:
    reader = CppReader(folder, tree.cpp)
    files = reader.candidates()
    start = time.process_time()
    for path in files:
        reader.read(path)
    return time.process_time() - start


def _seconds_to_parse(folder: Path, tree: SourceTree) -> float:
    """The first pass of each file, handed to libclang as the reader does; what leads up to it is not counted."""
    reader = CppReader(folder, tree.cpp)
    seconds = 0.0
    for path in reader.candidates():
        data = reader.load(path)
        if data is None:
            continue
        preprocessed = reader.preprocessed(path, data)
        (first, *_) = passes.plan(
            preprocessed, lambda view, arm: reader.mention.search(view.data, arm.start, arm.end) is not None
        ).assignments
        buffers = {view.alias: view.rewritten(first, {}) for view in preprocessed.views}
        buffers[OVERLAY] = overlay()
        start = time.process_time()
        unit = clang.parse(preprocessed.main.alias, buffers, reader.arguments(path))
        seconds += time.process_time() - start
        del unit
    return seconds


def _seconds_with_cache(tree: SourceTree) -> tuple[float, float]:
    only_cpp = SourceTree(tree.root, tree.cpp)
    with tempfile.TemporaryDirectory() as place:
        times = []
        for _ in range(2):
            start = time.process_time()
            analyse(only_cpp, Settings(), cache=FactsCache(Path(place)), jobs=0)
            times.append(time.process_time() - start)
    return times[0], times[1]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
