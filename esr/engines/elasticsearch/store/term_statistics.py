"""Reads exact statistics of terms: sf, df and cf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import msearch_dfs, search
from esr.errors import UsageError
from esr.plans.statistics import TermStatistics

_OCCURRENCES, _HOLDERS = "esr-occurrences-v2", "esr-holders-v2"
"""Scripts whose scores are cf and sf as Elasticsearch counts them, or parts of these."""
_COUNT = "esr-count-v1"
SCRIPTS = (_OCCURRENCES, _HOLDERS, _COUNT)
_EXACT = 1 << 24
"""The numbers below it are exact in a score, which has 32 bits."""


class TermStatisticsReader:
    """Reads sf and df, which are counts of hits, and cf, the engine's own statistic wherever that is exact.

    Enrichment updates sentences, and Elasticsearch counts the replaced entries too until its segments are
    merged. So it is asked for its own cf and, in the same state of the index, for its own sf: where the last
    digits of that are not those of the number of hits, occurrences are summed over the hits.

    Some versions give their sf in place of cf where a search spans several shards. An answer in which both
    differ for any term was not given by one of these. So once a term is known to be repeated in a document,
    it is asked for with all others. Without such a proof, occurrences are summed over the hits too.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._repeated: str | None = None

    def read(self, terms: Sequence[str]) -> dict[str, TermStatistics]:
        """Raises what `search` does."""
        asked = [("text", term) for term in terms]
        if self._repeated is not None:
            asked.append(("context", self._repeated))
        sentence_counts, document_counts, answer = msearch_dfs(
            self._cluster,
            [
                (self._cluster.alias, _count_each("text", terms)),
                (self._cluster.documents_alias, _count_each("context", terms)),
                (self._cluster.alias, _engine_counts(asked)),
            ],
        )
        of_engine = _decode_engine_counts(answer, len(asked))
        is_proven = _counts_occurrences(answer, of_engine)
        statistics = {}
        inexact = []
        for position, term in enumerate(terms):
            sf, df = (
                counts["aggregations"]["terms"]["buckets"][position]["doc_count"]
                for counts in (sentence_counts, document_counts)
            )
            high, low, engine_sf = of_engine[position]
            statistics[term] = TermStatistics(sf, df, high * _EXACT + low)
            if sf % _EXACT != engine_sf or (sf and not is_proven):
                inexact.append(term)
        statistics |= _sum_occurrences(self._cluster, {term: statistics[term] for term in inexact})
        if self._repeated is None:
            self._repeated = next((term for term in terms if statistics[term].cf > statistics[term].sf), None)
        return statistics

    def check_engine_counts(self) -> None:
        """Raises UsageError where Elasticsearch's own cf is not exact because of its version."""
        repeated = _find_repeated_term(self._cluster)
        if repeated is None:  # then cf is sf
            return
        asked = [("context", repeated)]
        (answer,) = msearch_dfs(self._cluster, [(self._cluster.alias, _engine_counts(asked))])
        if not _counts_occurrences(answer, _decode_engine_counts(answer, len(asked))):
            raise UsageError(
                f"--standalone would not be exact: {self._cluster.where} has several shards, over which its "
                "version of Elasticsearch counts sentences in place of occurrences. Update Elasticsearch to "
                "8.19.14, 9.2.8, 9.3.3, 9.4 or later, load with --shards 1, or leave out --standalone"
            )


def _count_each(field: str, terms: Sequence[str]) -> dict[str, Any]:
    """A search that counts the entries with each of these terms, in this order."""
    filters = [{"term": {field: term}} for term in terms]
    return {"size": 0, "track_total_hits": False, "aggs": {"terms": {"filters": {"filters": filters}}}}


def _engine_parts() -> dict[str, dict[str, Any]]:
    """Scripts for the high digits of the engine's cf, for its low ones, and for the low ones of its sf."""
    return {
        "high": {"id": _OCCURRENCES, "params": {"unit": _EXACT, "base": _EXACT}},
        "low": {"id": _OCCURRENCES, "params": {"unit": 1, "base": _EXACT}},
        "sf": {"id": _HOLDERS, "params": {"base": _EXACT}},
    }


def _engine_counts(asked: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A search for any one sentence, whose scores by named queries are the engine's counts.

    `asked` are fields and terms in them.
    """
    scripts = _engine_parts()
    named = [
        {
            "script_score": {
                "query": {"bool": {"must": [{"match_all": {}}], "should": [{"term": {field: term}}]}},
                "script": script,
                "_name": f"{name}{position}",
            }
        }
        for position, (field, term) in enumerate(asked)
        for name, script in scripts.items()
    ]
    # Not as a filter: only what scores is counted over all shards.
    query = {"bool": {"must": [{"match_all": {}}], "should": named}}
    return {"size": 1, "terminate_after": 1, "track_total_hits": False, "_source": False, "query": query}


def _decode_engine_counts(answer: Any, number: int) -> list[list[int]]:
    """The high and the low digits of cf, and the low ones of sf, for each of so many terms."""
    hits = answer["hits"]["hits"]
    scores = hits[0]["matched_queries"] if hits else {}
    names = tuple(_engine_parts())
    return [[round(scores.get(f"{name}{position}", 0)) for name in names] for position in range(number)]


def _counts_occurrences(answer: Any, of_engine: Sequence[Sequence[int]]) -> bool:
    """Whether an answer shows that cf is no sf: over one shard it never is."""
    return answer["_shards"]["total"] == 1 or any(low != sf for _, low, sf in of_engine)


def _find_repeated_term(cluster: Cluster) -> str | None:
    """The most frequent term of the longest document, if it occurs there twice."""
    answer = search(
        cluster,
        index=cluster.documents_alias,
        size=1,
        sort=[{"length": "desc"}],
        track_total_hits=False,
        source=["context"],
    )
    frequent = [Counter(hit["_source"]["context"].split()).most_common(1) for hit in answer["hits"]["hits"]]
    return next((term for counts in frequent for term, count in counts if count > 1), None)


def _sum_occurrences(cluster: Cluster, inexact: Mapping[str, TermStatistics]) -> dict[str, TermStatistics]:
    """The same statistics with a cf that is summed over the hits."""
    if not inexact:
        return {}
    searches = []
    for term in inexact:
        counts = {"query": {"term": {"text": term}}, "script": {"id": _COUNT}}
        total = {"occurrences": {"sum": {"script": "_score"}}}
        searches.append((cluster.alias, {"size": 0, "aggs": total, "query": {"script_score": counts}}))
    return {
        term: statistics._replace(cf=round(answer["aggregations"]["occurrences"]["value"]))
        for (term, statistics), answer in zip(inexact.items(), msearch_dfs(cluster, searches), strict=True)
    }
