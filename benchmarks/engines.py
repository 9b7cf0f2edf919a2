"""esr beside its peers on the same sentences, queries and k, in one run.

    python benchmarks/engines.py docs.jsonl.gz queries.tsv [--elasticsearch http://localhost:9200]

Embedded: bm25s (numba) and tantivy. Elasticsearch: native `match` (BM25) on the same node and index.
Queries are interleaved: every peer answers a query before the next one comes. Medians and 95th
percentiles of the last rounds, after one to warm up; ratios are of medians. The embedded engine prunes; rows
that say `exhaustive` score every candidate instead. Needs `pip install esr[bench]`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import bm25s
import numpy as np
import tantivy

import esr
from esr import loaders
from esr.analysis import get
from esr.engines.embedded import manifest
from esr.engines.embedded.exhaustive import exhaustive
from esr.engines.embedded.snapshot import Snapshot
from esr.engines.index import Filters
from esr.engines.opening import LoadOptions, loading
from esr.evaluation import topics
from esr.models import MODELS
from esr.ranking.ranking import Ranking

Search = Callable[[str], object]
Maker = Callable[[int], dict[str, Search]]
ANALYZER = "english-stem"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("documents")
    options.add_argument("queries", type=Path)
    options.add_argument("--elasticsearch", help="URL of a node; its alias esr-benchmark is replaced")
    options.add_argument("-k", type=int, nargs="+", default=[10, 100])
    options.add_argument("--index", help="an index folder that holds these documents already")
    options.add_argument("--number", type=int, default=200, help="queries to send")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("-o", "--output", type=Path, help="raw numbers, as JSON")
    given = options.parse_args()
    terms = get(ANALYZER).terms
    every = (topic.query() for topic in topics.read(given.queries))
    queries = [query for query in every if 2 <= len(set(terms(query))) <= 6][: given.number]
    raw: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        where = given.index or _load(given.documents, f"{folder}/index")
        makers = [_bm25s(given.documents), _tantivy(given.documents, folder)]
        for k in given.k:
            peers = _esr(where, k) | _exhaustive(where, k)
            for maker in makers:
                peers |= maker(k)
            raw[f"embedded {k}"] = _measure(peers, queries, given.rounds)
            _print(f"embedded, top {k}", raw[f"embedded {k}"], "bm25s BM25")
    if given.elasticsearch:
        where = _load(given.documents, f"{given.elasticsearch}/esr-benchmark")
        for k in given.k:
            peers = _esr(where, k) | _native(where, k)
            raw[f"elasticsearch {k}"] = _measure(peers, queries, given.rounds)
            _print(f"elasticsearch, top {k}", raw[f"elasticsearch {k}"], "native match")
    if given.output:
        given.output.write_text(json.dumps(raw), "utf-8")


def _load(documents: str, where: str) -> str:
    engine = loading(where, LoadOptions("replace", ANALYZER))
    report = engine.load(loaders.documents([documents]))
    print(f"loaded {report.sentences:,} sentences into {where} in {report.seconds:.1f} s")
    return where


def _esr(where: str, k: int) -> dict[str, Search]:
    searcher = esr.open(where)
    found: dict[str, Search] = {}
    for name, model in MODELS.items():
        for context in model.contexts or (None,):
            ranking = Ranking(name, context)
            label = f"esr {name}" + (f" {context}" if context else "")
            found[label] = lambda q, r=ranking: searcher.search(q, k, ranking=r, records=False)
    own = Ranking(candidates="matching")
    found["esr 2si both, own terms"] = lambda q: searcher.search(q, k, ranking=own, records=False)
    return found


def _exhaustive(where: str, k: int) -> dict[str, Search]:
    """The default ranking with every candidate scored."""
    searcher, ranking = esr.open(where), Ranking()
    snapshot = Snapshot(Path(where), manifest.read(Path(where)))

    def search(query: str) -> object:
        return exhaustive(searcher.prepare(query, ranking).plan, snapshot, k, Filters())

    return {"esr 2si both, exhaustive": search}


def _sentences(documents: str) -> list[list[str]]:
    terms = get(ANALYZER).terms
    return [terms(s.text) for _, d in loaders.documents([documents]) for s in d.sentences]


def _bm25s(documents: str) -> Maker:
    peer = bm25s.BM25(backend="numba")
    started = time.perf_counter()
    peer.index(_sentences(documents), show_progress=False)
    print(f"bm25s indexed in {time.perf_counter() - started:.1f} s, analysis included")
    terms = get(ANALYZER).terms
    return lambda k: {
        "bm25s BM25": lambda q: peer.retrieve([terms(q)], k=k, show_progress=False, n_threads=0)
    }


def _tantivy(documents: str, folder: str) -> Maker:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="whitespace", index_option="freq")
    Path(folder, "tantivy").mkdir()
    index = tantivy.Index(builder.build(), path=f"{folder}/tantivy")
    started = time.perf_counter()
    writer = index.writer(500_000_000, 1)
    for sentence in _sentences(documents):
        writer.add_document(tantivy.Document(text=" ".join(sentence)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    print(f"tantivy indexed in {time.perf_counter() - started:.1f} s, analysis included")
    searcher, schema, terms = index.searcher(), index.schema, get(ANALYZER).terms

    def search(query: str, k: int) -> object:
        should = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", term)) for term in terms(query)
        ]
        return searcher.search(tantivy.Query.boolean_query(should), k)

    return lambda k: {"tantivy BM25": lambda q: search(q, k)}


def _native(where: str, k: int) -> dict[str, Search]:
    from esr.engines.elasticsearch.cluster import Cluster

    cluster = Cluster(where)

    def search(query: str) -> object:
        return cluster.client.search(
            index=cluster.alias, query={"match": {"text": query}}, size=k, source=False, track_total_hits=True
        )

    return {"native match": search}


def _measure(peers: dict[str, Search], queries: list[str], rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in peers}
    for turn in range(rounds + 1):
        for query in queries:
            for name, search in peers.items():
                started = time.perf_counter()
                search(query)
                if turn:
                    times[name].append((time.perf_counter() - started) * 1000)
    return times


def _print(engine: str, times: dict[str, list[float]], base: str) -> None:
    one = np.median(times[base])
    print(f"\n{engine:<28}{'p50 ms':>9}{'p95 ms':>9}   p50 over {base}")
    for name, values in times.items():
        p50, p95 = np.percentile(values, [50, 95])
        print(f"{name:<28}{p50:>9.2f}{p95:>9.2f}   {p50 / one:.2f}")


if __name__ == "__main__":
    main()
