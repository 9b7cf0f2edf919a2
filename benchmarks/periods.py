"""The cost of an index folder in twelve periods, compared with the same documents undivided.

    python -m benchmarks.periods documents.jsonl.gz queries.tsv.gz [--count 20000]

The documents get dates of one year, in their order. Both indices take each step in turn. Times are processor
times of this process and its children, so other work on the machine hardly changes them; searches take
wall-clock time, each query in both indices in turn.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

import esr
from benchmarks.profiles import own_seconds, print_row
from benchmarks.queries import WARM_UP, read_queries
from benchmarks.speed.timing import p50, p95, time_interleaved, warm_up
from esr import loaders
from esr.index.filters import Filters
from esr.index.questions import Summary
from esr.ranking.searcher import open_searcher
from esr.text.document import Document

MONTHS, DELIVERED = 12, 1000
DIVIDED = "periods"
"""The name of the folder that is divided."""
WARM_UP_SECONDS = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--count", type=int, default=20_000, help="of documents")
    options = parser.parse_args()
    documents = list(_read(options.documents, options.count + DELIVERED))
    loaded, delivered = documents[: options.count], documents[options.count :]
    with tempfile.TemporaryDirectory() as work:
        indices = {"undivided": Path(work, "undivided"), "twelve periods": Path(work, DIVIDED)}
        print_row(["", *indices])
        print_row(["---", *["---:"] * len(indices)])

        def measure(name: str, step: Callable[[Path], object]) -> None:
            cells = []
            for where in indices.values():
                started = own_seconds()
                step(where)
                cells.append(f"{own_seconds() - started:.2f} s")
            print_row([name, *cells])

        measure("load", partial(_load, documents=loaded))
        print_row(["size", *map(_size, indices.values())])
        measure("open", lambda where: esr.open(where).close())
        _search(indices, options.queries)
        measure(f"append {DELIVERED:,} documents of one month", partial(_append, documents=delivered))
        measure("remove one document", partial(_remove, ids=[loaded[0].id]))
        measure("remove all before the second month", partial(_remove, before="2024-02"))


def _read(source: Path, count: int) -> Iterator[Document]:
    """The first documents, dated in twelve months in this order; the last ones in the last month."""
    documents = (located.document for located in loaders.read_documents([str(source)]))
    for number, document in enumerate(islice(documents, count)):
        month = min(number * MONTHS // (count - DELIVERED), MONTHS - 1) + 1
        yield replace(document, date=f"2024-{month:02}-15")


def _load(where: Path, documents: list[Document]) -> None:
    by: Literal["month"] | None = "month" if where.name == DIVIDED else None
    esr.create(where, documents, by=by, meaning=False).close()


def _size(where: Path) -> str:
    with open_searcher(str(where)) as searcher:
        return f"{searcher.index.status(Summary())['size_bytes'] / 1e6:.1f} MB"


def _append(where: Path, documents: list[Document]) -> None:
    with esr.open(where) as index:
        index.append(documents)


def _remove(where: Path, ids: list[str] | None = None, before: str | None = None) -> None:
    with esr.open(where) as index:
        index.remove(ids, before=before)


def _search(indices: dict[str, Path], queries: Path) -> None:
    """Print milliseconds of the best 10, without a filter and of one month."""
    sample = [" ".join(words) for words in read_queries(queries, 60 + WARM_UP)]
    june = Filters(date_from="2024-06", date_to="2024-06")
    searchers = {name: open_searcher(str(where)) for name, where in indices.items()}
    for label, filters in (("best 10", Filters()), ("best 10 of one month", june)):
        searches = {name: partial(s.search, k=10, filters=filters) for name, s in searchers.items()}
        warm_up(searches, sample[:WARM_UP], WARM_UP_SECONDS)
        times = time_interleaved(searches, sample[WARM_UP:], 3)
        for name, percentile in (("p50", p50), ("p95", p95)):
            print_row([f"{label}, {name}", *(f"{percentile(times[of]):.2f} ms" for of in indices)])
    for searcher in searchers.values():
        searcher.index.close()


if __name__ == "__main__":
    main()
