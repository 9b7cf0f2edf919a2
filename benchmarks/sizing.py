"""The size and speed of an index in Elasticsearch, to plan larger ones: bytes per sentence, time per search.

python benchmarks/sizing.py http://localhost:9200/news examples/topics.tsv
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher

ROUNDS = 3


def print_size(where: str) -> None:
    """Print the bytes per sentence of one copy, by kind of index."""
    cluster = Cluster(where)
    loads = meta.searchable_loads(cluster)
    sizes = {}
    sentences = 0
    for kind in ("index", "documents_index"):
        names = [getattr(load, kind) for load in loads]
        answer = cluster.client.indices.stats(index=names, metric=["store", "docs"])["_all"]["primaries"]
        sentences = sentences or answer["docs"]["count"]
        sizes[kind] = answer["store"]["size_in_bytes"] / sentences
    print(
        f"{sentences:,} sentences: {sizes['index']:.0f} bytes each, "
        f"{sizes['documents_index']:.0f} more in the index of documents"
    )
    cluster.close()


def print_search_time(where: str, queries: list[str], **options: Any) -> None:
    """Print a fit of the time of a search: a constant plus a time per thousand candidates."""
    ranking = Ranking(**options)
    rows = []
    with open_searcher(where) as searcher:
        for query in queries:
            times = []
            for _ in range(ROUNDS + 1):
                started = time.perf_counter()
                total = searcher.search(query, 100, ranking=ranking).total
                times.append(1000 * (time.perf_counter() - started))
            rows.append((total, median(times[1:])))
    candidates, ms = np.array(rows, float).T
    slope, fixed = np.polyfit(candidates, ms, 1)
    name = " ".join(options.values()) or "default"
    print(
        f"{name}: {len(rows)} queries, medians {np.median(ms):.1f} ms, "
        f"{np.median(candidates):,.0f} candidates; "
        f"{fixed:.1f} ms + {1000 * slope:.3f} ms a thousand candidates"
    )


if __name__ == "__main__":
    where, topics = sys.argv[1:]
    lines = [line.split("\t")[1] for line in Path(topics).read_text("utf-8").splitlines()]
    print_size(where)
    print_search_time(where, lines)
    print_search_time(where, lines, candidates="matching")
