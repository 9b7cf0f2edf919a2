"""A process that opens an index, searches, and prints what that took and the memory it holds.

    python -m benchmarks.speed.opened INDEX < queries

Queries are lines. Memory is the resident set in MB, and the part of it that is the process's own and no
file's that others may share.
"""

from __future__ import annotations

import json
import sys
import time

import psutil

AFTER = (1, 100, 1000)
"""Searches after which memory is looked at."""


def main() -> None:
    asked = sys.stdin.read().splitlines()
    started = time.perf_counter()
    import esr
    import esr.engines.embedded.index
    import esr.ranking.searcher

    imported = time.perf_counter()
    memory = {"imported": _memory()}
    searcher = esr.open(sys.argv[1])
    opened = time.perf_counter()
    memory["opened"] = _memory()
    searched = opened
    for number, query in enumerate(asked, 1):
        searcher.search(query, records=False)
        if number == 1:
            searched = time.perf_counter()
        if number in AFTER:
            memory[str(number)] = _memory()
    steps = {"import": imported - started, "open": opened - imported, "first search": searched - opened}
    print(json.dumps({"ms": {name: round(1000 * s, 2) for name, s in steps.items()}, "memory": memory}))


def _memory() -> dict[str, float]:
    found = psutil.Process().memory_full_info()
    return {"resident": round(found.rss / 1e6, 1), "own": round(found.uss / 1e6, 1)}


if __name__ == "__main__":
    main()
