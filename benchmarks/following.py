"""The times of following a story: timelines, the newest sentences, new ones, and ones similar to a sentence.

    python -m benchmarks.following INDEX queries.tsv [--count N]

Queries are those of 2 to 6 words, each first searched once untimed. The percentiles are over queries.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import esr
import esr.errors
from benchmarks.queries import describe_times, read_queries
from esr.following.newest import find_newest
from esr.following.novelty import find_novel
from esr.following.similar_sentences import find_similar
from esr.following.timeline import build_timeline
from esr.index.filters import NO_FILTERS
from esr.query import literal
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher


def show_timeline(searcher: Searcher, query: str) -> None:
    build_timeline([searcher.prepare(literal(query), Ranking())], NO_FILTERS)


def show_newest(searcher: Searcher, query: str) -> None:
    find_newest(searcher.prepare(literal(query), Ranking()))


def show_novel(searcher: Searcher, query: str) -> None:
    find_novel(searcher.prepare(literal(query), Ranking()))


def show_similar(searcher: Searcher, query: str) -> None:
    """Sentences similar to the best one, which is looked up outside the measured time: see `measure`."""
    find_similar(searcher, query)


TASKS: dict[str, Callable[[Searcher, str], None]] = {
    "timeline": show_timeline,
    "newest": show_newest,
    "novel": show_novel,
    "similar": show_similar,
}


def measure(
    searcher: Searcher, queries: list[list[str]], task: Callable[[Searcher, str], None]
) -> list[float]:
    """Milliseconds of each query that has something to search for."""
    times = []
    for words in queries:
        with suppress(esr.errors.UsageError):
            query = " ".join(words)
            best = searcher.search(query, 1).hits
            asked = best[0].sentence_id if task is show_similar and best else query
            started = time.perf_counter()
            task(searcher, asked)
            times.append((time.perf_counter() - started) * 1000.0)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index")
    parser.add_argument("queries", type=Path)
    parser.add_argument("--count", type=int, default=200)
    arguments = parser.parse_args()
    with open_searcher(arguments.index) as searcher:
        queries = read_queries(arguments.queries, arguments.count)
        for name, task in TASKS.items():
            print(f"{name:<12} {describe_times(measure(searcher, queries, task))}")


if __name__ == "__main__":
    main()
