"""The cost of phrases, exclusions and prefixes, compared with the same words without syntax.

    python -m benchmarks.query_language INDEX queries.tsv [--count N]

Each query is searched as words, and in three forms with syntax made of the same words, in turns. It was first
searched without conditions, so that its terms are cached, but not its conditions.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

import esr
import esr.errors
from benchmarks.queries import WARM_UP, read_queries
from esr.index.filters import NO_FILTERS
from esr.query import ParsedQuery, literal, parse
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher

FORMS = ("words", "phrase", "exclusion", "prefix")


def variants(words: list[str]) -> Iterator[tuple[str, ParsedQuery]]:
    """The words in each form, by the name of the form."""
    first, last, rest = words[0], words[-1], " ".join(words[:-1])
    yield "words", literal(" ".join(words))
    yield "phrase", parse(f'"{first} {words[1]}" {" ".join(words[2:])}')
    yield "exclusion", parse(f"{rest} -{last}")
    yield "prefix", parse(f"{rest} {last[:5]}*")


def measure(searcher: Searcher, queries: list[list[str]], k: int) -> dict[str, list[float]]:
    """Milliseconds of each search by form, without queries that have nothing to search for."""
    ranking = Ranking()
    times: dict[str, list[float]] = {form: [] for form in FORMS}
    for n, words in enumerate(queries):
        for form, query in variants(words):
            try:
                plan = searcher.prepare(query, ranking).plan
                searcher.index.search(replace(plan, condition=None), k, NO_FILTERS)
                started = time.perf_counter()
                searcher.search(query, k)
            except esr.errors.UsageError:
                continue
            if n >= WARM_UP:
                times[form].append((time.perf_counter() - started) * 1000.0)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index")
    parser.add_argument("queries", type=Path)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("-k", type=int, default=10)
    arguments = parser.parse_args()
    with open_searcher(arguments.index) as searcher:
        searcher.index.warm_up()
        times = measure(searcher, read_queries(arguments.queries, arguments.count), arguments.k)
    base = statistics.median(times["words"])
    print("| form | p50, ms | over words | p95, ms |\n| --- | --- | --- | --- |")
    for form, values in times.items():
        median, p95 = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        print(f"| {form} | {median:.2f} | {median / base:.2f} | {p95:.2f} |")


if __name__ == "__main__":
    main()
