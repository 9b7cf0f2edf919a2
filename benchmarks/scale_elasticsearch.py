"""Loads and searches of Elasticsearch at several sizes: on one node with 1 and 4 shards, and on all nodes.

    python -m tests.support.node --nodes 3 --heap 1g --port 9200
    python -m benchmarks.scale_elasticsearch documents.jsonl.gz queries.tsv.gz --work FOLDER \\
        --elasticsearch http://localhost:9200 --times 10 20

For each size, `--loaders` processes send one slice each into one shard, and Elasticsearch's bulk helper loads
only the sentences, for a plain `match`. Both indices are on the first node and are searched in turns. They
are searched again after a split into 4 shards, and after these have spread over all nodes. Figures are
appended to docs/capacity.jsonl after each step.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.scale import headlines
from benchmarks.speed import cluster as plain
from benchmarks.speed import figures
from benchmarks.speed.figures import ROOT
from benchmarks.speed.timing import Search, p50, p95, time_interleaved, warm_up
from benchmarks.speed.workspace import ANALYZER, ESR, RESULT_SIZES, Setup, collection_file
from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.location import new_sentences_index
from esr.ranking.searcher import open_searcher

PART = "scale, Elasticsearch"
ALIAS, PLAIN = "esr-scale", "esr-scale-plain"
SHARDS = 4
QUERIES, COMPARED = 60, 20
"""Numbers of timed queries, and of queries whose pruned answer is compared with exhaustive scoring."""
WARM_UP = 120
"""Seconds of other queries before the timed ones."""
PATIENT = 3600
"""Timeout of a request that moves or merges an index, in seconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--elasticsearch", required=True)
    parser.add_argument("--times", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--loaders", type=int, default=2, help="processes, one for each slice")
    parser.add_argument("--raw", type=Path, default=ROOT / "docs" / "capacity.jsonl")
    options = parser.parse_args()
    environment = figures.describe_environment()
    for figure in measure(options):
        print(json.dumps(figure), flush=True)
        figures.append(options.raw, PART, figure, environment)


def measure(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    queries = headlines(options.queries)
    location = f"{options.elasticsearch}/{ALIAS}"
    for times in options.times:
        source = collection_file(Setup(options.documents, options.queries, options.work), times)
        cluster = Cluster(location)
        _set_excluded(cluster, _other_nodes(cluster))
        _delete_all(cluster)
        loads = {
            "esr": load(source, location, options.loaders),
            "plain": load_plain(cluster, source),
            "loaders": options.loaders,
        }
        yield {"key": f"{times}x, loads", "times": times, **loads}
        searched = partial(search, location, queries=queries)
        yield {"key": f"{times}x, 1 node, 1 shard", "times": times, **searched()}
        split(cluster)
        yield {"key": f"{times}x, 1 node, {SHARDS} shards", "times": times, **searched()}
        _set_excluded(cluster, [])
        _wait_until_spread(cluster)
        nodes = len(cluster.client.nodes.info()["nodes"])
        yield {"key": f"{times}x, {nodes} nodes, {SHARDS} shards", "times": times, **searched()}
        cluster.client.indices.delete(index=f"{PLAIN}-{SHARDS}")
        cluster.close()


def load(source: Path, location: str, slices: int) -> dict[str, Any]:
    """Seconds of a load in slices, one process each, or of a load without slices if there is only one."""
    command = [*ESR, "load", str(source), "--index", location, "--analyzer", ANALYZER]
    command += ["--if-exists", "replace", "--keep", "0", "--shards", "1", "--replicas", "0"]
    started = time.perf_counter()
    parts = [["--slice", f"{number}/{slices}"] for number in range(1, slices + 1)] if slices > 1 else [[]]
    loaders = [subprocess.Popen([*command, *part], cwd=ROOT) for part in parts]
    failures = [loader.wait() for loader in loaders]
    if any(failures):
        sys.exit("a load failed")
    seconds = time.perf_counter() - started
    with open_searcher(location) as searcher:
        sentences = searcher.index.statistics(()).collection.sentences
    return _rate(sentences, seconds)


def load_plain(cluster: Cluster, source: Path) -> dict[str, Any]:
    """Seconds of the bulk helper for only the sentences, from the same file."""
    started = time.perf_counter()
    plain.load_plain(cluster, source, PLAIN)
    return _rate(cluster.client.count(index=PLAIN)["count"], time.perf_counter() - started)


def _rate(sentences: int, seconds: float) -> dict[str, Any]:
    return {"sentences": sentences, "seconds": round(seconds, 1), "a second": round(sentences / seconds)}


def search(location: str, queries: list[str]) -> dict[str, Any]:
    """Times of both indices in turns, answers compared with exhaustive scoring, bytes and segments.

    The first queries are timed; the others warm up the nodes.
    """
    queries, others = queries[:QUERIES], queries[QUERIES:]
    cluster = Cluster(location)
    with open_searcher(location) as searcher:
        searches: dict[str, Search] = {}
        for k in RESULT_SIZES:
            searches[f"match, top {k}"] = partial(plain.match, cluster, PLAIN, k=k)
            searches[f"esr, top {k}"] = partial(searcher.search, k=k, records=False)
        warm_up(searches, others, WARM_UP)
        times = time_interleaved(searches, queries, 1)
        answers = plain.compare_answers(cluster, searcher, queries[:COMPARED])
    result = {
        "ms": {name: {"p50": round(p50(of), 2), "p95": round(p95(of), 2)} for name, of in times.items()},
        "differ": answers["differ"],
        "exhaustive": answers["exhaustive"],
        "scored": sum(answers["scored"]) / sum(answers["matches"]),
        "bytes": plain.sizes(cluster, PLAIN),
        "segments": plain.segments(cluster, [ALIAS, PLAIN]),
    }
    cluster.close()
    return result


def split(cluster: Cluster) -> None:
    """Replace each index by one of 4 shards with the same entries."""
    client = cluster.client.options(request_timeout=PATIENT)
    (load,) = meta.searchable_loads(cluster)
    sentences = new_sentences_index(ALIAS, "")
    new = replace(load, index=sentences, members=(sentences,))
    for old, name in (
        (load.index, new.index),
        (load.documents_index, new.documents_index),
        (PLAIN, f"{PLAIN}-{SHARDS}"),
    ):
        client.indices.put_settings(index=old, settings={"index.blocks.write": True})
        settings = {
            "index.number_of_shards": SHARDS,
            "index.number_of_replicas": 0,
            "index.blocks.write": None,
        }
        client.indices.split(index=old, target=name, settings=settings, wait_for_active_shards="all")
        client.indices.forcemerge(index=name, max_num_segments=1)
    meta.write(cluster, new)
    actions: list[dict[str, Any]] = []
    aliases = client.indices.get_alias(index=[load.index, load.documents_index])
    for old, body in aliases.items():
        name = new.index if old == load.index else new.documents_index
        for alias in body["aliases"]:
            actions += [{"remove": {"index": old, "alias": alias}}, {"add": {"index": name, "alias": alias}}]
    client.indices.update_aliases(actions=actions)
    client.indices.delete(index=[load.index, load.documents_index, PLAIN])
    client.indices.put_alias(index=f"{PLAIN}-{SHARDS}", name=PLAIN)


def _delete_all(cluster: Cluster) -> None:
    """Delete indices of an earlier run: a load in slices that is already served would load nothing."""
    names = [*cluster.client.indices.get(index=f"{ALIAS}-*")]
    if names:
        cluster.client.indices.delete(index=names)


def _other_nodes(cluster: Cluster) -> list[str]:
    return sorted(node["name"] for node in cluster.client.nodes.info()["nodes"].values())[1:]


def _set_excluded(cluster: Cluster, nodes: list[str]) -> None:
    """Keep shards off these nodes."""
    value = ",".join(nodes) or None
    cluster.client.cluster.put_settings(persistent={"cluster.routing.allocation.exclude._name": value})


def _wait_until_spread(cluster: Cluster) -> None:
    client = cluster.client.options(request_timeout=PATIENT)
    time.sleep(5)
    client.cluster.health(wait_for_no_relocating_shards=True, timeout=f"{PATIENT}s")
    client.cluster.health(wait_for_no_initializing_shards=True, timeout=f"{PATIENT}s")


if __name__ == "__main__":
    main()
