"""A process that opens an index, searches, and prints its times and memory.

    python -m benchmarks.speed.cold_start INDEX < queries

Queries are lines. Memory is the resident set in MB, and its part that is private to the process.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module

import psutil

MEMORY_SAMPLES = (1, 100, 1000)
"""Numbers of searches after which memory is measured."""


def main() -> None:
    queries = sys.stdin.read().splitlines()
    started = time.perf_counter()
    open_searcher = import_module("esr.ranking.searcher").open_searcher
    import_end = time.perf_counter()
    memory = {"imported": _memory()}
    searcher = open_searcher(sys.argv[1])
    open_end = time.perf_counter()
    memory["opened"] = _memory()
    search_end = open_end
    for number, query in enumerate(queries, 1):
        searcher.search(query, records=False)
        if number == 1:
            search_end = time.perf_counter()
        if number in MEMORY_SAMPLES:
            memory[str(number)] = _memory()
    steps = {
        "import": import_end - started,
        "open": open_end - import_end,
        "first search": search_end - open_end,
    }
    print(json.dumps({"ms": {name: round(1000 * s, 2) for name, s in steps.items()}, "memory": memory}))


def _memory() -> dict[str, float]:
    memory = psutil.Process().memory_full_info()
    return {"resident": round(memory.rss / 1e6, 1), "own": round(memory.uss / 1e6, 1)}


if __name__ == "__main__":
    main()
