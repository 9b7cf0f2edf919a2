"""The time that the search box waits for completions.

    python -m benchmarks.completion INDEX queries.tsv [--count N]

Each query is typed letter by letter up to some position. The text up to it is completed, and letters of the
first word are completed as a source or a name. Each text is requested once.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from pathlib import Path

from benchmarks.queries import WARM_UP, read_queries
from esr.ranking.completions import complete
from esr.ranking.searcher import open_searcher

LIMIT = 8
FIELDS = ("", "source:", "name:")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index")
    parser.add_argument("queries", type=Path)
    parser.add_argument("--count", type=int, default=400)
    arguments = parser.parse_args()
    rng = random.Random(1)
    times: dict[str, list[float]] = {field: [] for field in FIELDS}
    with open_searcher(arguments.index) as searcher:
        for n, words in enumerate(read_queries(arguments.queries, arguments.count)):
            query = " ".join(words)
            typed = query[: rng.randint(2, len(query))].rstrip()
            for field in FIELDS:
                text = typed if not field else field + words[0][: rng.randint(1, len(words[0]))]
                started = time.perf_counter()
                complete(searcher, text, LIMIT)
                if n >= WARM_UP:
                    times[field].append((time.perf_counter() - started) * 1000.0)
    print("| what is typed | p50, ms | p95, ms | longest, ms |\n| --- | --- | --- | --- |")
    for field, values in times.items():
        median, p95 = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        print(f"| {field or 'words'} | {median:.2f} | {p95:.2f} | {max(values):.1f} |")


if __name__ == "__main__":
    main()
