"""A process that opens a folder and searches it, and prints times and memory.

    python -m benchmarks.scale_search INDEX [--archive] < queries

Queries are lines, as people type them. A first round searches each once with terms that are not cached; a
second round is timed again. Pages are the ten best sentences with texts, facets and counts. Times are
milliseconds of the wall clock and of the thread, whose median is more reliable on a busy machine. `memory` is
in MB; `own` is anonymous memory.

`--archive`, for the documents of `corpus.archive_lines`, also measures searches with one filter (three months
of 24) and with four (half a year, three sources, a section, a word of the title), timelines, and concordances
of frequent words. Each is asked once, for terms that were searched before.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from esr.corpus.concordance import build_concordance
from esr.folder.search.kernel_loader import LOADER
from esr.following.timeline import build_timeline
from esr.index.filters import FACET_FIELDS, NO_FILTERS, Filters
from esr.index.questions import ByField
from esr.query import parse
from esr.ranking.query_report import report_query
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, UnsearchableQuery, open_searcher

PAGES = 30
ONE_FILTER = Filters(date_from="2025-04", date_to="2025-06")
THREE_FILTERS = Filters(
    date_from="2025-01",
    date_to="2025-06",
    sources=("reuters21578", "reutersC50", "usnews-economy"),
    attributes={"section": "newswire"},
)
TITLE = "+title:oil"
"""The fourth filter: a word of the document's title."""
FREQUENT = ("said", "year", "government", "market", "president")
"""Words of concordances, in every fourth sentence to every fiftieth."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--archive", action="store_true")
    options = parser.parse_args()
    queries = sys.stdin.read().splitlines()
    LOADER.load()
    memory = {"before": _memory()}
    started = _clocks()
    searcher = open_searcher(options.index)
    opened = _clocks()
    searcher.search("news", records=False)
    searched = _clocks()
    milliseconds = {
        f"{name}{suffix}": round((end - start) * 1000, 1)
        for name, till in (("open", opened), ("opened", searched))
        for suffix, start, end in zip(("", " thread"), started, till, strict=True)
    }
    queries = [query for query in queries if _is_searchable(searcher, query)]
    times = {"first, top 10": _time(lambda q: searcher.search(q, 10, records=False), queries)}
    memory[str(len(queries))] = _memory()
    for k in (10, 100):
        times[f"top {k}"] = _time(lambda q, k=k: searcher.search(q, k, records=False), queries)  # type: ignore[misc]
        times[f"top {k} with texts"] = _time(lambda q, k=k: searcher.search(q, k), queries)  # type: ignore[misc]
    times["first page with facets"] = _time(lambda q: _page(searcher, q), queries[:PAGES])
    if options.archive:
        times |= _time_archive(searcher, queries)
    memory["end"] = _memory()
    print(json.dumps({**milliseconds, "queries": len(queries), "ms": times, "memory": memory}))


def _clocks() -> tuple[float, float]:
    """Seconds of the wall clock and of the thread."""
    return time.perf_counter(), time.thread_time()


def _time_archive(searcher: Searcher, queries: Sequence[str]) -> dict[str, dict[str, float]]:
    def search(k: int, filters: Filters, clause: str = "") -> Callable[[str], object]:
        return lambda query: searcher.search(f"{query} {clause}", k, filters=filters, records=False)

    def timeline(query: str) -> None:
        build_timeline([searcher.prepare(parse(query), Ranking())], NO_FILTERS)

    def concordance(word: str) -> None:
        build_concordance(searcher, parse(word), NO_FILTERS)

    times = {}
    for k in (10, 100):
        times[f"top {k}, one filter"] = _time(search(k, ONE_FILTER), queries)
        times[f"top {k}, four filters"] = _time(search(k, THREE_FILTERS, TITLE), queries)
    times["timeline"] = _time(timeline, queries[:PAGES])
    times["timeline of a frequent word"] = _time(timeline, FREQUENT)
    times["concordance of a frequent word"] = _time(concordance, FREQUENT)
    return times


def _page(searcher: Searcher, query: str) -> None:
    """The calls of a first page: the best sentences, their total, and the counts of facets."""
    prepared = searcher.prepare(parse(query), Ranking())
    prepared.search(10)
    report_query(prepared, NO_FILTERS)
    prepared.index.count([prepared.matching], NO_FILTERS, ByField(FACET_FIELDS, 10))


def _is_searchable(searcher: Searcher, query: str) -> bool:
    try:
        searcher.terms(query)
    except UnsearchableQuery:
        return False
    return True


def _time(search: Callable[[str], object], queries: Sequence[str]) -> dict[str, float]:
    """Percentiles over the queries of the wall-clock time and of the thread's time, in milliseconds."""
    wall, thread = [], []
    for query in queries:
        started, thread_started = time.perf_counter(), time.thread_time()
        search(query)
        thread.append((time.thread_time() - thread_started) * 1000)
        wall.append((time.perf_counter() - started) * 1000)
    result: dict[str, Any] = {}
    for name, values in (("", wall), (" thread", thread)):
        result |= {f"p{p}{name}": round(float(np.percentile(values, p)), 3) for p in (50, 95)}
        result[f"mean{name}"] = round(float(np.mean(values)), 3)
    return result


def _memory() -> dict[str, float]:
    """Memory in MB. `own`: anonymous memory, which the system cannot reclaim; `resident`: also file pages."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines())
    return {
        "own": round(int(fields["RssAnon"].split()[0]) / 1000, 1),
        "resident": round(int(fields["VmRSS"].split()[0]) / 1000, 1),
    }


if __name__ == "__main__":
    main()
