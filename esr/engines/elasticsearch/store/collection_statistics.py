"""Reads the statistics of the collection behind an alias."""

from __future__ import annotations

from typing import Any

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import msearch_dfs
from esr.plans.statistics import CollectionStatistics

_SENTENCE_SUMS = ("length", "surrounding_length", "document_length")
_DOCUMENT_SUMS = ("length", "terms")


def read_collection_statistics(cluster: Cluster) -> CollectionStatistics:
    of_sentences: dict[str, Any] = {name: {"sum": {"field": name}} for name in _SENTENCE_SUMS}
    of_sentences["longest"] = {"max": {"field": "length"}}
    of_documents = {name: {"sum": {"field": name}} for name in _DOCUMENT_SUMS}
    totals = {"size": 0, "track_total_hits": True}
    sentences, documents = msearch_dfs(
        cluster,
        [
            (cluster.alias, {**totals, "aggs": of_sentences}),
            (cluster.documents_alias, {**totals, "aggs": of_documents}),
        ],
    )

    def value(answer: Any, name: str) -> int:
        return int(answer["aggregations"][name]["value"] or 0.0)

    return CollectionStatistics(
        sentences=sentences["hits"]["total"]["value"],
        documents=documents["hits"]["total"]["value"],
        occurrences=value(sentences, "length"),
        document_length=value(documents, "length"),
        surrounding_length=value(sentences, "surrounding_length"),
        weighted_document_length=value(sentences, "document_length"),
        document_terms=value(documents, "terms"),
        longest_sentence=value(sentences, "longest"),
    )


def read_next_ordinals(cluster: Cluster) -> tuple[int, int]:
    """The first `ordinal` that was never used, of sentences and of documents."""
    body = {"size": 0, "aggs": {"last": {"max": {"field": "ordinal"}}}}
    answers = msearch_dfs(cluster, [(cluster.alias, body), (cluster.documents_alias, body)])
    greatest = [answer["aggregations"]["last"]["value"] for answer in answers]
    sentences, documents = (0 if value is None else int(value) + 1 for value in greatest)
    return sentences, documents
