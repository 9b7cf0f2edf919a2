"""Times of searches that take turns: every peer answers a query before the next one comes."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

Search = Callable[[str], object]
Times = dict[str, list[float]]
"""Milliseconds of each query, the median of its rounds, by peer."""


def interleaved(searches: Mapping[str, Search], queries: Sequence[str], rounds: int) -> Times:
    """One round warms up. The order of peers differs from query to query: none always follows the same."""
    chance = random.Random(1)
    order = list(searches)
    times: dict[str, list[list[float]]] = {name: [[] for _ in queries] for name in order}
    for turn in range(rounds + 1):
        gc.collect()
        for place, query in enumerate(queries):
            chance.shuffle(order)
            for name in order:
                took = timed(searches[name], query)
                if turn:
                    times[name][place].append(took)
    return {name: [round(float(np.median(each)), 4) for each in found] for name, found in times.items()}


def timed(search: Search, query: str) -> float:
    """Milliseconds of one search."""
    started = time.perf_counter()
    search(query)
    return (time.perf_counter() - started) * 1000


def p50(times: Sequence[float]) -> float:
    return float(np.percentile(times, 50))


def p95(times: Sequence[float]) -> float:
    return float(np.percentile(times, 95))
