"""The cost of an index in Elasticsearch by profile, compared with a plain index: bytes, load and searches.

    python -m benchmarks.profiles documents.jsonl.gz queries.tsv.gz http://localhost:9200

The client's bulk helper loads only the sentences into an index with a plain text field. Then each profile is
loaded into one shard, and the queries are searched in all profiles in turns, with texts. The node must do
nothing else, since its processor time is that of the whole process. Other work on the machine makes loads
take more seconds, but hardly more processor time.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.queries import WARM_UP, read_queries
from benchmarks.speed import cluster as plain
from benchmarks.speed import workspace
from benchmarks.speed.timing import Search, p50, p95, time_interleaved, warm_up
from benchmarks.speed.workspace import RESULT_SIZES
from esr.elastic.cluster import Cluster
from esr.ranking.searcher import open_searcher

VARIANTS = {
    "balanced": (),
    "balanced, one worker": ("--workers", "1"),
    "lean": ("--profile", "lean"),
    "fast": ("--profile", "fast"),
}
"""The options of `esr load` by the name of the row."""
ALIAS, PLAIN = "esr-profiles", "esr-profiles-plain"
WARM_UP_SECONDS = 60.0


class Cost(NamedTuple):
    """The cost of a load: seconds, and processor seconds of the node and of the loader."""

    seconds: float
    node: float
    loader: float


def measure(cluster: Cluster, load: Callable[[], object]) -> Cost:
    """The cost of a load into the cluster."""
    started, node, own = time.perf_counter(), _node_seconds(cluster), own_seconds()
    load()
    seconds = time.perf_counter() - started
    return Cost(seconds, _node_seconds(cluster) - node, own_seconds() - own)


def _node_seconds(cluster: Cluster) -> float:
    """Processor seconds of all nodes since they started."""
    nodes = cluster.client.nodes.stats(metric="process")["nodes"].values()
    return sum(float(node["process"]["cpu"]["total_in_millis"]) for node in nodes) / 1000


def own_seconds() -> float:
    """Processor seconds of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def location(url: str, variant: str) -> str:
    """The index of a variant."""
    return f"{url}/{ALIAS}-{variant.replace(', ', '-').replace(' ', '-')}"


def load_plain(documents: Path, url: str) -> Cost:
    """Load the sentences by the client's bulk helper. Prints the rate."""
    with closing(Cluster(f"{url}/{ALIAS}")) as cluster:
        cost = measure(cluster, partial(plain.load_plain, cluster, documents, PLAIN))
        sentences = cluster.client.count(index=PLAIN)["count"]
    print(f"{sentences / cost.seconds:,.0f} sentences a second; the node takes {cost.node:.0f} s", flush=True)
    return cost


def load_all(documents: Path, url: str, beside: Cost) -> None:
    """Load every variant. Prints bytes per sentence, the cost, and ratios to that of the plain index."""
    columns = ["", "sentences", "documents", "sum", "seconds", "node", "loader", "rate, ratio", "node, ratio"]
    print_row(columns)
    print_row(["---", *["---:"] * (len(columns) - 1)])
    for variant, options in VARIANTS.items():
        where = location(url, variant)
        with closing(Cluster(where)) as cluster:
            shards = ("--shards", "1", "--replicas", "0", "--keep", "0")
            cost = measure(cluster, partial(workspace.load, documents, where, *shards, *options))
            sizes = plain.sizes(cluster, PLAIN)
            sentences = cluster.client.count(index=cluster.alias)["count"]
        of_sentences, of_documents = (sizes[kind] / sentences for kind in ("sentences", "documents"))
        numbers = (of_sentences, of_documents, of_sentences + of_documents, *cost)
        ratios = (beside.seconds / cost.seconds, cost.node / beside.node)
        print_row([variant, *(f"{each:,.0f}" for each in numbers), *(f"{each:.2f}" for each in ratios)])


def search_all(queries: Path, url: str, count: int) -> None:
    """Search the queries in all variants, with texts. Prints milliseconds by variant.

    p50 and p95 are those of the client, of searches in turns. The node's processor time is the mean of all
    queries, one variant after another.
    """
    sample = [" ".join(words) for words in read_queries(queries, count)]
    others, timed = sample[:WARM_UP], sample[WARM_UP:]
    searches: dict[str, Search] = {}
    with ExitStack() as opened:
        cluster = opened.enter_context(closing(Cluster(f"{url}/{ALIAS}")))
        for variant in VARIANTS:
            searcher = opened.enter_context(open_searcher(location(url, variant)))
            for k in RESULT_SIZES:
                searches[f"{variant}, {k}"] = partial(searcher.search, k=k)
        warm_up(searches, others, WARM_UP_SECONDS)
        times = time_interleaved(searches, timed, 1)
        node = {
            name: 1000 * measure(cluster, partial(_search_each, search, timed)).node / len(timed)
            for name, search in searches.items()
        }
    print_row(["", *(f"{k} hits, {name}" for k in RESULT_SIZES for name in ("p50", "p95", "node"))])
    print_row(["---", *["---:"] * (3 * len(RESULT_SIZES))])
    for variant in VARIANTS:
        cells = []
        for name in (f"{variant}, {k}" for k in RESULT_SIZES):
            cells += [f"{each:.1f}" for each in (p50(times[name]), p95(times[name]), node[name])]
        print_row([variant, *cells])


def _search_each(search: Search, queries: list[str]) -> None:
    for query in queries:
        search(query)


def print_row(cells: list[str]) -> None:
    print("|", " | ".join(cells), "|", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("url")
    parser.add_argument("--count", type=int, default=200, help="of queries")
    parser.add_argument("--loaded", action="store_true", help="search the indices of an earlier run")
    options = parser.parse_args()
    if not options.loaded:
        load_all(options.documents, options.url, load_plain(options.documents, options.url))
    search_all(options.queries, options.url, options.count)


if __name__ == "__main__":
    main()
