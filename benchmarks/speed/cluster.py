"""Elasticsearch: esr's index and an index with a plain text mapping, on the same node."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from elasticsearch import helpers

from benchmarks.speed import corpus, queries, workspace
from benchmarks.speed.figures import tree_ids
from benchmarks.speed.timing import Search, time_interleaved, warm_up
from benchmarks.speed.workspace import ANALYZER, HEADLINES, RESULT_SIZES, Setup, collection_file
from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.index import ElasticsearchSnapshot
from esr.elastic.search.sentence_search import Search as SentenceSearch
from esr.index.filters import Filters
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.analyzer_definitions import get_definition

ALIAS, PLAIN = "esr-speed", "esr-speed-plain"


def prepare_indexes(setup: Setup) -> str:
    """The location of esr's index on the node. Both indices are loaded again if the engine has changed."""
    url = f"{setup.elasticsearch}/{ALIAS}"
    cluster = Cluster(url)
    mark = setup.work / "elasticsearch.json"
    state = {"url": url, "code": tree_ids("esr/elastic", "index_templates")}
    exist = cluster.client.indices.exists(index=[ALIAS, PLAIN])
    if exist and mark.exists() and json.loads(mark.read_text("utf-8")) == state:
        return url
    mark.unlink(missing_ok=True)
    report = workspace.load(collection_file(setup, 1), url, "--keep", "0")
    print(f"loaded {report['sentences']:,} sentences into Elasticsearch in {report['seconds']:.0f} s")
    load_plain(cluster, collection_file(setup, 1), PLAIN)
    cluster.close()
    mark.write_text(json.dumps(state), "utf-8")
    return url


def load_plain(cluster: Cluster, source: Path, index: str) -> None:
    """Load the sentences as one text field with esr's analysis and the defaults of Elasticsearch."""
    client = cluster.client
    analysis = get_definition(ANALYZER).settings
    client.indices.delete(index=index, ignore_unavailable=True)
    client.indices.create(
        index=index,
        settings={
            "number_of_shards": 1,
            "number_of_replicas": 0,
            "refresh_interval": "-1",
            "analysis": analysis,
        },
        mappings={"properties": {"text": {"type": "text", "analyzer": ANALYZER}}},
    )
    actions = (
        {"_index": index, "_id": f"{document['id']}.s{number}", "text": sentence["text"]}
        for document in corpus.read(source)
        for number, sentence in enumerate(document["sentences"])
    )
    started = time.perf_counter()
    helpers.bulk(client, actions, chunk_size=2000, request_timeout=120)
    client.indices.refresh(index=index)
    print(f"loaded the plain index in {time.perf_counter() - started:.0f} s")


def elasticsearch(setup: Setup) -> Iterator[dict[str, Any]]:
    """The default model and native BM25 `match`: times of the client, by both kinds of queries."""
    location = prepare_indexes(setup)
    for key, sample in (("", queries.sample(setup)), (HEADLINES, queries.headlines(setup))):
        yield {"key": key, **_measure(location, sample, setup)}


def _measure(location: str, sample: Sequence[str], setup: Setup) -> dict[str, Any]:
    cluster, searcher = Cluster(location), open_searcher(location)
    native = {f"match, top {k}": partial(match, cluster, PLAIN, k=k) for k in RESULT_SIZES}
    native |= {f"match in esr's index, top {k}": partial(match, cluster, ALIAS, k=k) for k in RESULT_SIZES}
    native["match, top 100, all counted"] = partial(match, cluster, PLAIN, k=100, track_total_hits=True)
    native["nothing, top 100"] = partial(_match_all, cluster)
    searches: dict[str, Search] = dict(native)
    for k in RESULT_SIZES:
        searches[f"esr, top {k}"] = partial(searcher.search, k=k, ranking=Ranking(), records=False)
    searches["esr with texts, top 10"] = partial(searcher.search, k=10, ranking=Ranking())
    searches["esr, exhaustive, top 100"] = partial(_exhaustive, cluster, searcher, k=100)
    rankings = {
        "own terms only": Ranking(candidates="matching"),
        "dir": Ranking("dir"),
        "bm25": Ranking("bm25"),
    }
    for name, ranking in rankings.items():
        searches[f"esr, {name}, top 100"] = partial(searcher.search, k=100, ranking=ranking, records=False)
    others = [query for query in queries.all_queries(setup) if query not in sample]
    warm_up(searches, others, setup.warm_up)
    times = time_interleaved(searches, sample, setup.rounds)
    answers = compare_answers(cluster, searcher, sample)
    return {"times": times, "bytes": sizes(cluster, PLAIN), "answers": answers, **_describe(cluster)}


def _exhaustive(cluster: Cluster, searcher: Searcher, query: str, k: int) -> list[tuple[int | None, float]]:
    """A search that scores every candidate, which the public interface does not offer."""
    snapshot = searcher.snapshot()
    plan, index = snapshot.prepare(query, Ranking()).plan, snapshot.index
    assert isinstance(index, ElasticsearchSnapshot)
    result = SentenceSearch(cluster, plan, index.bounded_collection(plan), Filters(), False).exhaustive(
        k, None
    )
    return [(hit.ordinal, hit.score) for hit in result.hits]


def compare_answers(cluster: Cluster, searcher: Searcher, sample: Sequence[str]) -> dict[str, Any]:
    """For the top 100: how many sentences match and are scored, and how many pruned answers differ."""
    pruned = [searcher.search(query, 100, records=False) for query in sample]
    exhaustive = [_exhaustive(cluster, searcher, query, 100) for query in sample]
    pairs = zip(pruned, exhaustive, strict=True)
    return {
        "matches": [answer.total for answer in pruned],
        "scored": [answer.scored for answer in pruned],
        "exhaustive": sum(answer.exhaustive is not None for answer in pruned),
        "differ": sum([(hit.ordinal, hit.score) for hit in answer.hits] != hits for answer, hits in pairs),
    }


def match(cluster: Cluster, index: str, query: str, k: int, **options: Any) -> object:
    return cluster.client.search(
        index=index, query={"match": {"text": query}}, size=k, source=False, **options
    )


def _match_all(cluster: Cluster, query: str) -> object:
    """A request that ranks nothing, as the cost of any request."""
    return cluster.client.search(index=PLAIN, query={"match_all": {}}, size=100, source=False)


def sizes(cluster: Cluster, plain: str) -> dict[str, int]:
    """Bytes of esr's indexes of sentences and documents, and of the plain index."""
    (load,) = meta.searchable_loads(cluster)
    names = {"sentences": load.index, "documents": load.documents_index, "plain": plain}
    cluster.client.indices.refresh(index=list(names.values()))
    cluster.client.indices.flush(index=list(names.values()))
    return {kind: _count_bytes(cluster, name) for kind, name in names.items()}


def _count_bytes(cluster: Cluster, index: str) -> int:
    """Bytes of the segments of an index. Those in its statistics may be ten seconds old."""
    shards = cluster.client.indices.segments(index=index)["indices"][index]["shards"].values()
    return sum(
        segment["size_in_bytes"]
        for copies in shards
        for copy in copies
        if copy["routing"]["primary"]
        for segment in copy["segments"].values()
    )


def _describe(cluster: Cluster) -> dict[str, Any]:
    version = str(cluster.client.info()["version"]["number"])
    return {"version": version, "segments": segments(cluster, [ALIAS, PLAIN])}


def segments(cluster: Cluster, indices: Sequence[str]) -> list[int]:
    """The numbers of segments of the indices behind these names."""
    stats = cluster.client.indices.stats(index=indices, metric=["segments"])["indices"]
    return sorted(index["primaries"]["segments"]["count"] for index in stats.values())
