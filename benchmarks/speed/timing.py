"""Interleaved timing: every peer answers a query before the next query."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle

import numpy as np

Search = Callable[[str], object]
Times = dict[str, list[float]]
"""By peer, the milliseconds of each query: the median of its rounds."""


def time_interleaved(searches: Mapping[str, Search], queries: Sequence[str], rounds: int) -> Times:
    """Time all peers after a warm-up round. The order of peers changes from query to query."""
    rng = random.Random(1)
    order = list(searches)
    times: dict[str, list[list[float]]] = {name: [[] for _ in queries] for name in order}
    for number in range(rounds + 1):
        gc.collect()
        for position, query in enumerate(queries):
            rng.shuffle(order)
            for name in order:
                milliseconds = time_search(searches[name], query)
                if number:
                    times[name][position].append(milliseconds)
    return {
        name: [round(float(np.median(of_query)), 4) for of_query in of_peer]
        for name, of_peer in times.items()
    }


def warm_up(searches: Mapping[str, Search], queries: Sequence[str], seconds: float) -> None:
    """Run queries for `seconds`, by every peer in turn: a Java process compiles code that runs often."""
    end = time.perf_counter() + seconds
    for query in cycle(queries):
        for search in searches.values():
            search(query)
        if time.perf_counter() >= end:
            return


def time_search(search: Search, query: str) -> float:
    """Milliseconds of one search."""
    started = time.perf_counter()
    search(query)
    return (time.perf_counter() - started) * 1000


def p50(times: Sequence[float]) -> float:
    return float(np.percentile(times, 50))


def p95(times: Sequence[float]) -> float:
    return float(np.percentile(times, 95))
