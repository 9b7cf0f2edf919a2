"""The time of a search before a delivery, after it, and after a load of all documents.

    python -m benchmarks.append WHERE documents.jsonl.gz queries.tsv.gz [--documents N] [--share .05]

WHERE is the beginning of the names of three indices, folders or aliases, which are replaced: one without
the delivery, one to which it was appended, and one of all documents. Every query is searched in all three in
turn, so that other work on the machine slows all of them. The percentiles are over queries.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import statistics
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks.queries import describe_times, read_queries
from benchmarks.speed.workspace import ESR
from esr.ranking.searcher import open_searcher

NAMES = ("before", "appended", "fresh")


def split(documents: Path, count: int | None, share: float, folder: Path) -> tuple[Path, Path]:
    """The files of the loaded documents and of the delivery, which has the last documents."""
    with gzip.open(documents, "rt", encoding="utf-8") as lines:
        chosen = list(itertools.islice(lines, count))
    end = round(len(chosen) * (1 - share))
    files = folder / "loaded.jsonl", folder / "delivery.jsonl"
    for file, part in zip(files, (chosen[:end], chosen[end:]), strict=True):
        file.write_text("".join(part), encoding="utf-8")
    return files


def build(where: str, loaded: Path, delivery: Path) -> list[str]:
    """The locations of the three indices."""
    locations = [f"{where}-{name}" for name in NAMES]
    for location, files in zip(locations, ([loaded], [loaded], [loaded, delivery]), strict=True):
        run("load", *files, "--index", location, "--if-exists", "replace", "--keep", "0")
    run("append", delivery, "--index", locations[1], "--keep", "0")
    return locations


def run(*arguments: object) -> None:
    subprocess.run([*ESR, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def measure(locations: list[str], queries: list[list[str]], k: int) -> dict[str, list[float]]:
    """Milliseconds of each query, by index. Each query is first searched once untimed."""
    times: dict[str, list[float]] = {name: [] for name in NAMES}
    with ExitStack() as opened:
        searchers = [opened.enter_context(open_searcher(location)) for location in locations]
        for words in queries:
            query = " ".join(words)
            for searcher in searchers:
                searcher.search(query, k)
            for name, searcher in zip(NAMES, searchers, strict=True):
                started = time.perf_counter()
                searcher.search(query, k)
                times[name].append((time.perf_counter() - started) * 1000.0)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("where")
    parser.add_argument("documents", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--documents", type=int, dest="limit", help="the first ones only")
    parser.add_argument("--share", type=float, default=0.05, help="of the documents that are delivered")
    parser.add_argument("--count", type=int, default=300, help="of queries")
    parser.add_argument("-k", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="esr-benchmark-") as folder:
        files = split(arguments.documents, arguments.limit, arguments.share, Path(folder))
        locations = build(arguments.where, *files)
    times = measure(locations, read_queries(arguments.queries, arguments.count), arguments.k)
    fresh = statistics.median(times["fresh"])
    for name, values in times.items():
        print(f"{name:<9} {describe_times(values)}   {statistics.median(values) / fresh:.2f}")


if __name__ == "__main__":
    main()
