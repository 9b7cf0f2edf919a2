"""Reads exact statistics of terms: sf, df and cf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import msearch_dfs
from esr.plans.statistics import TermStatistics

_ENGINE_STATISTICS = ("esr-occurrences-v1", "esr-holders-v1")
"""Scripts whose scores are cf and sf as Elasticsearch counts them."""


def read_term_statistics(cluster: Cluster, terms: Sequence[str]) -> dict[str, TermStatistics]:
    """sf and df are counts of hits, of all terms in one search each.

    cf is the engine's own statistic wherever that is exact. Enrichment updates sentences, and Elasticsearch
    counts the replaced entries too until its segments are merged. So one hit is asked for the engine's cf
    and, in the same state of the index, for the engine's sf: where that is not the number of hits,
    occurrences are summed over the hits.
    """
    sentence_counts, document_counts, *one_hits = msearch_dfs(
        cluster,
        [
            (cluster.alias, _count_each("text", terms)),
            (cluster.documents_alias, _count_each("context", terms)),
            *((cluster.alias, _explain_hit(term)) for term in terms),
        ],
    )
    statistics = {}
    inexact = []
    for position, (term, one_hit) in enumerate(zip(terms, one_hits, strict=True)):
        sf, df = (
            answer["aggregations"]["terms"]["buckets"][position]["doc_count"]
            for answer in (sentence_counts, document_counts)
        )
        hits = one_hit["hits"]["hits"]
        details = hits[0]["_explanation"]["details"] if hits else ()
        cf, engine_sf = (round(detail["value"]) for detail in details) if hits else (0, 0)
        statistics[term] = TermStatistics(sf, df, cf)
        if sf != engine_sf:
            inexact.append(term)
    return statistics | _sum_occurrences(cluster, {term: statistics[term] for term in inexact})


def _count_each(field: str, terms: Sequence[str]) -> dict[str, Any]:
    """A search that counts the entries with each of these terms, in this order."""
    filters = [{"term": {field: term}} for term in terms]
    return {"size": 0, "track_total_hits": False, "aggs": {"terms": {"filters": {"filters": filters}}}}


def _explain_hit(term: str) -> dict[str, Any]:
    """A search for one sentence with this term, explained by the engine's statistics of the term."""
    in_sentence = {"term": {"text": term}}
    engine_statistics = [
        {"script_score": {"query": in_sentence, "script": {"id": script}}} for script in _ENGINE_STATISTICS
    ]
    one_hit = {"size": 1, "terminate_after": 1, "_source": False, "explain": True}
    return {**one_hit, "query": {"bool": {"should": engine_statistics}}}


def _sum_occurrences(cluster: Cluster, inexact: Mapping[str, TermStatistics]) -> dict[str, TermStatistics]:
    """The same statistics with a cf that is summed over the hits."""
    if not inexact:
        return {}
    searches = []
    for term in inexact:
        counts = {"query": {"term": {"text": term}}, "script": {"id": "esr-count-v1"}}
        total = {"occurrences": {"sum": {"script": "_score"}}}
        searches.append((cluster.alias, {"size": 0, "aggs": total, "query": {"script_score": counts}}))
    return {
        term: statistics._replace(cf=round(answer["aggregations"]["occurrences"]["value"]))
        for (term, statistics), answer in zip(inexact.items(), msearch_dfs(cluster, searches), strict=True)
    }
