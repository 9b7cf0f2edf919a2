"""Elasticsearch: esr's index beside an index with a plain text mapping, on the same node."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from elasticsearch import helpers

import esr
from benchmarks.speed import corpus, prepared, queries
from benchmarks.speed.figures import tree
from benchmarks.speed.prepared import collection
from benchmarks.speed.setup import ANALYZER, BOTH_K, Setup
from benchmarks.speed.timing import Search, interleaved
from esr import resources
from esr.analysis.analyzer import DEFINITION
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.index import ElasticsearchIndex
from esr.engines.elasticsearch.search.sentence_search import Search as SentenceSearch
from esr.engines.elasticsearch.store import meta
from esr.engines.index import Filters
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

ALIAS, PLAIN = "esr-speed", "esr-speed-plain"


def where(setup: Setup) -> str:
    """esr's index on the node, with the plain one beside it. Loaded where the code that loads has changed."""
    url = f"{setup.elasticsearch}/{ALIAS}"
    cluster = Cluster(url)
    mark = setup.work / "elasticsearch.json"
    wanted = {"url": url, "code": tree("esr/engines/elasticsearch", "index_templates")}
    there = cluster.client.indices.exists(index=[ALIAS, PLAIN])
    if there and mark.exists() and json.loads(mark.read_text("utf-8")) == wanted:
        return url
    mark.unlink(missing_ok=True)
    source = collection(setup, 1)
    report = prepared.load(source, url, "--keep", "0")
    print(f"loaded {report['sentences']:,} sentences into Elasticsearch in {report['seconds']:.0f} s")
    _load_plain(cluster, setup)
    cluster.close()
    mark.write_text(json.dumps(wanted), "utf-8")
    return url


def _load_plain(cluster: Cluster, setup: Setup) -> None:
    """The sentences as one text field, analysed as esr's, all else as Elasticsearch has it by default."""
    client = cluster.client
    analysis = resources.load_json(DEFINITION)["template"]["settings"]["analysis"]
    client.indices.delete(index=PLAIN, ignore_unavailable=True)
    client.indices.create(
        index=PLAIN,
        settings={
            "number_of_shards": 1,
            "number_of_replicas": 0,
            "refresh_interval": "-1",
            "analysis": analysis,
        },
        mappings={"properties": {"text": {"type": "text", "analyzer": ANALYZER}}},
    )
    actions = (
        {"_index": PLAIN, "_id": f"{document['id']}.s{place}", "text": sentence["text"]}
        for document in corpus.read(collection(setup, 1))
        for place, sentence in enumerate(document["sentences"])
    )
    started = time.perf_counter()
    helpers.bulk(client, actions, chunk_size=2000, request_timeout=120)
    client.indices.refresh(index=PLAIN)
    print(f"loaded the plain index in {time.perf_counter() - started:.0f} s")


def elasticsearch(setup: Setup) -> Iterator[dict[str, Any]]:
    """The default model beside native BM25 `match`: client time."""
    asked, place = queries.chosen(setup), where(setup)
    cluster, searcher = Cluster(place), esr.open(place)
    native = {f"match, top {k}": partial(_match, cluster, PLAIN, k=k) for k in BOTH_K}
    native |= {f"match in esr's index, top {k}": partial(_match, cluster, ALIAS, k=k) for k in BOTH_K}
    native["match, top 100, all counted"] = partial(_match, cluster, PLAIN, k=100, track_total_hits=True)
    native["nothing, top 100"] = partial(_nothing, cluster)
    searches: dict[str, Search] = dict(native)
    for k in BOTH_K:
        searches[f"esr, top {k}"] = partial(searcher.search, k=k, ranking=Ranking(), records=False)
    searches["esr with texts, top 10"] = partial(searcher.search, k=10, ranking=Ranking())
    searches["esr, exhaustive, top 100"] = partial(_exhaustive, cluster, searcher, k=100)
    more = {"own terms only": Ranking(candidates="matching"), "dir": Ranking("dir"), "bm25": Ranking("bm25")}
    for name, ranking in more.items():
        searches[f"esr, {name}, top 100"] = partial(searcher.search, k=100, ranking=ranking, records=False)
    times = interleaved(searches, asked, setup.rounds)
    answers = _answers(cluster, searcher, asked)
    yield {"times": times, "bytes": _sizes(cluster), "answers": answers, **_described(cluster)}


def _exhaustive(cluster: Cluster, searcher: Searcher, query: str, k: int) -> list[tuple[int | None, float]]:
    """Every candidate scored: nothing of the public interface asks for that."""
    now = searcher.snapshot()
    plan, index = now.prepare(query, Ranking()).plan, now.index
    assert isinstance(index, ElasticsearchIndex)
    result = SentenceSearch(cluster, plan, index.bounded_collection(plan), Filters(), False).exhaustive(
        k, None
    )
    return [(hit.ordinal, hit.score) for hit in result.hits]


def _answers(cluster: Cluster, searcher: Searcher, asked: Sequence[str]) -> dict[str, Any]:
    """Of the top 100: how many sentences match and are scored, and how often pruning told otherwise."""
    found = [searcher.search(query, 100, records=False) for query in asked]
    every = [_exhaustive(cluster, searcher, query, 100) for query in asked]
    pairs = zip(found, every, strict=True)
    return {
        "matches": [answer.total for answer in found],
        "scored": [answer.scored for answer in found],
        "exhaustive": sum(answer.exhaustive is not None for answer in found),
        "differ": sum([(hit.ordinal, hit.score) for hit in one.hits] != all for one, all in pairs),
    }


def _match(cluster: Cluster, index: str, query: str, k: int, **more: Any) -> object:
    return cluster.client.search(index=index, query={"match": {"text": query}}, size=k, source=False, **more)


def _nothing(cluster: Cluster, query: str) -> object:
    """What a request costs that ranks nothing."""
    return cluster.client.search(index=PLAIN, query={"match_all": {}}, size=100, source=False)


def _sizes(cluster: Cluster) -> dict[str, int]:
    """Bytes of esr's index of sentences, of that of documents, and of the plain one."""
    (load,) = meta.searchable_loads(cluster)
    names = {"sentences": load.index, "documents": load.documents_index, "plain": PLAIN}
    cluster.client.indices.flush(index=list(names.values()))
    found = {}
    for what, name in names.items():
        stats = cluster.client.indices.stats(index=name, metric=["store"])
        found[what] = stats["_all"]["primaries"]["store"]["size_in_bytes"]
    return found


def _described(cluster: Cluster) -> dict[str, Any]:
    stats = cluster.client.indices.stats(index=[ALIAS, PLAIN], metric=["segments", "docs"])["indices"]
    segments = {name: each["primaries"]["segments"]["count"] for name, each in stats.items()}
    return {"version": str(cluster.client.info()["version"]["number"]), "segments": sorted(segments.values())}
