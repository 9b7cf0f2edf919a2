"""Evidence of sentences: exact counts, made from the stored texts by the analyzer of the index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from esr.analysis import Analyzer
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import search_pages
from esr.engines.elasticsearch.search.candidate_query import candidate_query
from esr.engines.index import EVIDENCE_COLUMNS, CandidateEvidence, Filters
from esr.plans.evidence import Array, Evidence, concatenate
from esr.plans.plan import FEATURE_PREFIX, Plan

_PAGE = 1000
_CACHED_SENTENCES = 20_000
"""Sentences whose term counts are cached, some kilobytes each."""
_CACHED_DOCUMENTS = 2_000


class EvidenceReader:
    """Makes evidence of the `_source` of sentences.

    Sentences are neighbours of others and candidates of many queries, so their term counts are cached.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._count_text = lru_cache(_CACHED_SENTENCES)(lambda text: Counter(analyzer.terms(text)))
        self._count_context = lru_cache(_CACHED_DOCUMENTS)(lambda terms: Counter(terms.split()))

    def evidence(
        self, terms: Sequence[str], sources: Sequence[Mapping[str, Any]], columns: Iterable[str]
    ) -> Evidence:
        counts = np.zeros((3, len(terms), len(sources)))
        for column, source in enumerate(sources):
            in_sentence = self._count_text(source["text"])
            neighbours = [self._count_text(source[name]) for name in ("previous", "next") if source.get(name)]
            in_document = self._count_context(source["context"])
            for row, term in enumerate(terms):
                count = in_sentence[term]
                in_surrounding = count + sum(neighbour[term] for neighbour in neighbours)
                counts[:, row, column] = count, in_surrounding, in_document[term]
        return Evidence(
            {"sentence": counts[0], "surrounding": counts[1], "document": counts[2]},
            {
                "sentence": _column(sources, "length"),
                "surrounding": _column(sources, "surrounding_length"),
                "document": _column(sources, "document_length"),
            },
            {name: _column(sources, name) for name in {*EVIDENCE_COLUMNS, *columns}},
        )

    def candidate_evidence(self, cluster: Cluster, plan: Plan, filters: Filters) -> CandidateEvidence:
        """All candidates of a plan with their evidence, in collection order."""
        ids: list[str] = []
        pages: list[Evidence] = []
        terms = [term.term for term in plan.terms]
        columns = [static.column for static in plan.statics]
        body: dict[str, Any] = {"query": candidate_query(plan, filters), "sort": [{"ordinal": "asc"}]}
        for answer in search_pages(cluster, _PAGE, index=cluster.alias, **body):
            hits = answer["hits"]["hits"]
            ids += [hit["_id"] for hit in hits]
            pages.append(self.evidence(terms, [hit["_source"] for hit in hits], columns))
        places = {sentence_id: place for place, sentence_id in enumerate(ids)}
        return CandidateEvidence(concatenate(pages), ids.__getitem__, places.get)


def _column(sources: Sequence[Mapping[str, Any]], name: str) -> Array:
    return np.array([_value(source, name) for source in sources], float)


def _value(source: Mapping[str, Any], column: str) -> float:
    """The value of a column in a stored sentence, NaN if it has none."""
    name = column.removeprefix(FEATURE_PREFIX)
    value = source[column] if name == column else source.get("features", {}).get(name)
    return math.nan if value is None else float(value)
