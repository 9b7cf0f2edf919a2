"""A server with more clients than it can answer, and one with a slow query among the others.

    python -m benchmarks.fairness INDEX queries.tsv [--clients 4 16 64 200] [--seconds 20]

INDEX is a folder or an address, served by `esr serve` with a worker for each core. Clients send the next
query after an answer, or at the time that a refusal names. In a second trial, some clients search while one
sends a query of 1,000 words, which scores every sentence and which the server is set to accept. Prints a row
for each trial: answers with status 200 per second, percentiles of their milliseconds, the same of refusals,
refusals without a time to retry, and requests without an answer.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from benchmarks.queries import read_queries
from benchmarks.speed.serving import run_clients, serve

QUERIES = 300
FEW = 4
"""Number of clients that search while the slow query is sent."""
SLOW_TERMS = 1000
LIMITS = {"ESR_QUERY_TERMS": "1000", "ESR_QUERY_CHARS": "10000"}
"""Limits above the defaults, for the slow query. An address may have 8 KB."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("index")
    options.add_argument("queries", type=Path)
    options.add_argument("--clients", type=int, nargs="+", default=[4, 16, 64, 200])
    options.add_argument("--seconds", type=float, default=20.0)
    arguments = options.parse_args()
    queries = [" ".join(words) for words in read_queries(arguments.queries, QUERIES)]
    print(
        "| | answered / s | p50 ms | p99 ms | most ms | refused / s | p99 ms | no Retry-After | no answer |"
    )
    print("| --- |" + " ---: |" * 8)
    with serve(arguments.index, ESR_WORKERS=str(os.cpu_count()), **LIMITS) as url:
        searches, slow_search = _searches(url, queries), _slow_search(url, arguments.queries)
        run_clients(searches, arguments.seconds / 2, FEW)  # warms up
        for clients in arguments.clients:
            _print(f"{clients} clients", run_clients(searches, arguments.seconds, clients))
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(run_clients, slow_search, arguments.seconds, 1)
            _print(f"{FEW} clients beside a slow query", run_clients(searches, arguments.seconds, FEW))
            _print("the slow query", slow.result())


def _searches(url: str, queries: list[str]) -> dict[str, Any]:
    return {
        "url": url,
        "requests": [[f"/api/v1/search?q={quote_plus(query)}&k=10", None] for query in queries],
    }


def _slow_search(url: str, path: Path) -> dict[str, Any]:
    """A query of the shortest words, for which every sentence is a candidate."""
    words = {word.lower() for query in read_queries(path, 20 * QUERIES) for word in query if len(word) > 2}
    chosen = sorted(words, key=lambda word: (len(word), word))[:SLOW_TERMS]
    address = f"/api/v1/search?q={quote_plus(' '.join(chosen))}&candidates=all&k=10"
    return {"url": url, "requests": [[address, None]]}


def _print(name: str, counts: dict[str, Any]) -> None:
    seconds = counts["seconds"]
    answered, failed = counts["answered_seconds"], counts["failed_seconds"]
    cells = [
        f"{counts['answered'] / seconds:.0f}",
        *(f"{1000 * answered[key]:.0f}" if answered else "" for key in ("p50", "p99", "most")),
        f"{counts['failed'] / seconds:.0f}",
        f"{1000 * failed['p99']:.0f}" if failed else "",
        str(counts["without_retry_after"]),
        str(counts["statuses"].get("0", 0)),
    ]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)
    others = {status: n for status, n in counts["statuses"].items() if status not in ("0", "200", "503")}
    if others:
        print(f"other statuses: {others}")


if __name__ == "__main__":
    main()
