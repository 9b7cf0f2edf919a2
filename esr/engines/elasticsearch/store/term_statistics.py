"""Reads exact statistics of terms: sf, df and cf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import msearch_dfs
from esr.plans.statistics import TermStatistics

_OCCURRENCES, _HOLDERS = "esr-occurrences-v2", "esr-holders-v2"
"""Scripts whose scores are cf and sf as Elasticsearch counts them, or parts of these."""
_COUNT = "esr-count-v1"
SCRIPTS = (_OCCURRENCES, _HOLDERS, _COUNT)
_EXACT = 1 << 24
"""The numbers below it are exact in a score, which has 32 bits."""


def read_term_statistics(cluster: Cluster, terms: Sequence[str]) -> dict[str, TermStatistics]:
    """sf and df are counts of hits; cf is the engine's own statistic wherever that is exact.

    Enrichment updates sentences, and Elasticsearch counts the replaced entries too until its segments are
    merged. So it is asked for its own cf and, in the same state of the index, for its own sf: where the last
    digits of that are not those of the number of hits, occurrences are summed over the hits.
    """
    sentence_counts, document_counts, engine_counts = msearch_dfs(
        cluster,
        [
            (cluster.alias, _count_each("text", terms)),
            (cluster.documents_alias, _count_each("context", terms)),
            (cluster.alias, _engine_counts(terms)),
        ],
    )
    hits = engine_counts["hits"]["hits"]
    scores = hits[0]["matched_queries"] if hits else {}
    names = tuple(_engine_parts())
    statistics = {}
    inexact = []
    for position, term in enumerate(terms):
        sf, df = (
            answer["aggregations"]["terms"]["buckets"][position]["doc_count"]
            for answer in (sentence_counts, document_counts)
        )
        high, low, engine_sf = (round(scores.get(f"{name}{position}", 0)) for name in names)
        statistics[term] = TermStatistics(sf, df, high * _EXACT + low)
        if sf % _EXACT != engine_sf:
            inexact.append(term)
    return statistics | _sum_occurrences(cluster, {term: statistics[term] for term in inexact})


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


def _engine_counts(terms: Sequence[str]) -> dict[str, Any]:
    """A search for any one sentence, whose scores by named queries are the engine's counts of these terms."""
    scripts = _engine_parts()
    named = [
        {
            "script_score": {
                "query": {"bool": {"must": [{"match_all": {}}], "should": [{"term": {"text": term}}]}},
                "script": script,
                "_name": f"{name}{position}",
            }
        }
        for position, term in enumerate(terms)
        for name, script in scripts.items()
    ]
    # Not as a filter: only what scores is counted over all shards.
    query = {"bool": {"must": [{"match_all": {}}], "should": named}}
    return {"size": 1, "terminate_after": 1, "track_total_hits": False, "_source": False, "query": query}


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
