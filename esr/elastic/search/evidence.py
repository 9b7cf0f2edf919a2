"""Evidence of sentences and their vector similarities.

Counts are exact: the index's analyzer computes them from the stored texts. A script computes the products of
a query's vector with the vectors of sentences.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from esr.elastic.cluster import Cluster
from esr.elastic.requests import hits_of, search, search_pages
from esr.elastic.search.plan_query import SORT, candidate_query
from esr.elastic.search.sentence_search import PAGE, decode_hits, hit_fields
from esr.elastic.vectors import SCALE, vector_field
from esr.index.filters import Filters
from esr.index.hits import EVIDENCE_COLUMNS, CandidateEvidence, Hit
from esr.index.similarities import Similarities, SimilarityRescoring, average_documents, average_neighbours
from esr.plans.evaluate import Array, Evidence, concatenate
from esr.plans.plan import DAY, FEATURE_PREFIX, Plan
from esr.stdlib import batched
from esr.text.analyzer import Analyzer
from esr.text.dates import DAY as MILLISECONDS_PER_DAY
from esr.text.dates import parse_date_start
from esr.text.sentence_enrichment import QuantizedVector

_PAGE = 1000
_CACHED_SENTENCES = 20_000
"""Maximum number of sentences with cached term counts, a few kilobytes each."""
_CACHED_DOCUMENTS = 2_000


class EvidenceReader:
    """Computes evidence from the `_source` of sentences.

    A sentence is a neighbour of others and a candidate of many queries, so its term counts are cached.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._count_text = lru_cache(_CACHED_SENTENCES)(
            lambda text, language: Counter(analyzer.for_language(language).terms(text))
        )
        self._count_context = lru_cache(_CACHED_DOCUMENTS)(lambda terms: Counter(terms.split()))

    def evidence(
        self, terms: Sequence[str], sources: Sequence[Mapping[str, Any]], columns: Iterable[str]
    ) -> Evidence:
        counts = np.zeros((3, len(terms), len(sources)))
        for column, source in enumerate(sources):
            language = source.get("language")
            in_sentence = self._count_text(source["text"], language)
            beside = [source[name] for name in ("previous", "next") if source.get(name)]
            neighbours = [self._count_text(text, language) for text in beside]
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
        columns = [static_score.column for static_score in plan.static_scores]
        body: dict[str, Any] = {"query": candidate_query(plan, filters), "sort": [{"ordinal": "asc"}]}
        for answer in search_pages(cluster, _PAGE, index=cluster.alias, **body):
            hits = hits_of(answer)
            ids += [hit["_id"] for hit in hits]
            pages.append(self.evidence(terms, [hit["_source"] for hit in hits], columns))
        places = {sentence_id: place for place, sentence_id in enumerate(ids)}
        return CandidateEvidence(concatenate(pages), ids.__getitem__, places.get)


def _column(sources: Sequence[Mapping[str, Any]], name: str) -> Array:
    return np.array([_value(source, name) for source in sources], float)


def _value(source: Mapping[str, Any], column: str) -> float:
    """The value of a column in a stored sentence, NaN if it has none."""
    if column == DAY:
        date = source.get("date")
        return math.nan if date is None else parse_date_start(date) / MILLISECONDS_PER_DAY
    name = column.removeprefix(FEATURE_PREFIX)
    value = source[column] if name == column else source.get("features", {}).get(name)
    return math.nan if value is None else float(value)


PRODUCT_SCRIPT, MEANING_SCRIPT = "esr-product-v1", "esr-meaning-v1"
SCRIPTS = (PRODUCT_SCRIPT, MEANING_SCRIPT)
_BATCH = 5_000
_NAN = float("nan")
_GREATEST = 3.1
"""An upper bound of similarities: a query's vector sums three of length 1, with weights up to 1."""
_ROUNDING = 1e-6
"""Similarities that differ by less may change order in 32-bit scores."""
_MORE = 20
"""Hits fetched beyond k, since rounding may rank some of the best k lower."""
_GRAPH_SHARE, _LOOKED_AT = 3, 10_000
"""Hits read from a graph per hit requested, and the candidates examined per shard.

Elasticsearch allows no more candidates. If more hits would be read, the search is exact.
"""
Query = dict[str, Any]


def add_rescoring(
    body: Mapping[str, Any], rescoring: SimilarityRescoring, marks: Sequence[str]
) -> dict[str, Any]:
    """The body of a search that adds similarities to its best sentences. `marks` as in `SimilarityReader`.

    The sort is dropped, since Elasticsearch sorts rescored hits by score alone.
    """
    shift = abs(rescoring.weight) * _GREATEST
    has_vector = {"bool": {"filter": _vector_clauses(marks)}}
    similarity = _similarity_query(has_vector, rescoring.query, rescoring.weight, shift)
    boost = rescoring.weight * rescoring.missing + shift
    missing = {"constant_score": {"filter": {"bool": {"must_not": [has_vector]}}, "boost": boost}}
    query = {"rescore_query": {"bool": {"should": [similarity, missing]}}}
    unsorted = {name: value for name, value in body.items() if name != "sort"}
    return {**unsorted, "rescore": {"window_size": rescoring.window, "query": query}}


def find_nearest(
    cluster: Cluster,
    marks: Sequence[str],
    query: QuantizedVector,
    k: int,
    clauses: Sequence[Query],
    has_graph: bool = False,
) -> list[Hit]:
    """The k sentences with the greatest products among those that match `clauses`, best first.

    The search is exact, unless the vectors are in a graph: then a few of the k may be missing, and the next
    ones take their places.
    """
    if not marks:
        return []
    filters = [*clauses, *_vector_clauses(marks)]
    body: dict[str, Any] = {"sort": SORT, "track_total_hits": False, **hit_fields(False)}
    hits: list[Hit] = []
    units: list[float] = []
    if has_graph and k * _GRAPH_SHARE <= _LOOKED_AT:
        answer = search(
            cluster,
            index=cluster.alias,
            size=k * _GRAPH_SHARE,
            query=_graph_query(query, k * _GRAPH_SHARE, filters),
            **body,
        )
        hits = decode_hits(hits_of(answer), False, 0.0)
    else:
        scored = _similarity_query({"bool": {"filter": filters}}, query, 1.0, _GREATEST)
        body["docvalue_fields"] = [*body["docvalue_fields"], {"field": SCALE}]
        for answer in search_pages(cluster, min(k + _MORE, PAGE), index=cluster.alias, query=scored, **body):
            page = hits_of(answer)
            hits += decode_hits(page, False, -_GREATEST)
            units += [_unit(hit, query) for hit in page]
            if len(hits) > k and hits[-1].score < hits[k - 1].score - _ROUNDING:
                break
    ordinals = np.array([hit.ordinal for hit in hits], np.int64)
    if min(units, default=0.0) > _ROUNDING:  # a score tells the whole number that it is a multiple of
        products = np.rint(np.array([hit.score for hit in hits]) / units) * units
    else:
        products = SimilarityReader(cluster, marks, query).read(ordinals.tolist(), ()).sentence
    best = np.lexsort((ordinals, -products))[:k].tolist()
    return [hits[n]._replace(score=float(products[n])) for n in best]


def _unit(hit: Any, query: QuantizedVector) -> float:
    """What a product of whole numbers is multiplied by to be the similarity of a hit."""
    return float(np.float32(hit["fields"][SCALE][0])) * query.scale


def _graph_query(query: QuantizedVector, number: int, filters: Sequence[Query]) -> Query:
    """A query for the nearest by cosine in the graph. Each shard examines _LOOKED_AT candidates."""
    return {
        "knn": {
            "field": vector_field(len(query.values)),
            "query_vector": query.array.tolist(),
            "k": number,
            "num_candidates": _LOOKED_AT,
            "filter": list(filters),
        }
    }


def _similarity_query(matching: Query, query: QuantizedVector, weight: float, shift: float) -> Query:
    """A query that scores the sentences of `matching` by similarity times `weight`, plus `shift`."""
    params = {
        "query": query.array.tolist(),
        "field": vector_field(len(query.values)),
        "scale": SCALE,
        "weight": weight * query.scale,
        "shift": shift,
    }
    return {"script_score": {"query": matching, "script": {"id": MEANING_SCRIPT, "params": params}}}


def _vector_clauses(marks: Sequence[str]) -> list[Query]:
    """Clauses for sentences with a vector of one of these fingerprints."""
    return [{"terms": {"enriched": list(marks)}}, {"exists": {"field": SCALE}}]


class SimilarityReader:
    """Reads products with one query's vector. `marks` are the fingerprints of the vectors to use."""

    def __init__(self, cluster: Cluster, marks: Sequence[str], query: QuantizedVector) -> None:
        self._cluster = cluster
        self._marks = list(marks)
        self._query = query
        # No product is less than -shift. Sums of up to 520 products are exact in 32-bit scores.
        self._shift = len(query.values) * 127.0**2

    def read(self, ordinals: Sequence[int], contexts: Collection[str]) -> Similarities:
        """The products of sentences, given by ordinal, and of the requested contexts."""
        beside = (-1, 0, 1) if "neighbours" in contexts else (0,)
        wanted = sorted({ordinal + step for ordinal in ordinals for step in beside})
        documents: dict[int, str] = {}
        products: dict[int, float] = {}
        for batch in batched(wanted, _BATCH):
            body = self._body({"terms": {"ordinal": batch}}, with_documents=bool(contexts))
            answer = search(self._cluster, size=len(batch), **body)
            for ordinal, document, product in self._decode(answer):
                documents[ordinal], products[ordinal] = document, product
        sentence_products = np.array([products.get(ordinal, _NAN) for ordinal in ordinals])
        columns = {"sentence": sentence_products}
        if "neighbours" in contexts:
            sides = [
                np.array(
                    [
                        products[ordinal + step]
                        if ordinal in documents and documents.get(ordinal + step) == documents[ordinal]
                        else _NAN
                        for ordinal in ordinals
                    ]
                )
                for step in (-1, 1)
            ]
            columns["neighbours"] = average_neighbours(sentence_products, *sides)
        if "document" in contexts:
            means = self._document_means({documents[n] for n in ordinals if n in documents})
            columns["document"] = np.array(
                [means[documents[ordinal]] if ordinal in documents else _NAN for ordinal in ordinals]
            )
        return Similarities(**columns)

    def _document_means(self, documents: Iterable[str]) -> Mapping[str, float]:
        """The mean product of the sentences of each document."""
        products: dict[str, list[float]] = {}
        for batch in batched(sorted(documents), _BATCH):
            body = self._body({"terms": {"document_id": batch}}, with_documents=True)
            # In collection order, since sums of floats depend on the order.
            for answer in search_pages(
                self._cluster, _BATCH, **body, sort=[{"ordinal": "asc"}], track_scores=True
            ):
                for _, document, product in self._decode(answer):
                    products.setdefault(document, []).append(product)
        ends = np.cumsum([0, *map(len, products.values())])
        flat = np.array([product for of_document in products.values() for product in of_document])
        return dict(zip(products, average_documents(flat, ends).tolist(), strict=True))

    def _body(self, clause: Query, with_documents: bool) -> dict[str, Any]:
        """The request for the products of the sentences that match the clause.

        `with_documents` also reads the ids of documents, which only contexts need.
        """
        params = {
            "query": self._query.array.tolist(),
            "field": vector_field(len(self._query.values)),
            "shift": self._shift,
        }
        query = {"bool": {"filter": [clause, *_vector_clauses(self._marks)]}}
        fields = ["ordinal", SCALE, *(["document_id"] if with_documents else [])]
        return {
            "index": self._cluster.alias,
            "query": {"script_score": {"query": query, "script": {"id": PRODUCT_SCRIPT, "params": params}}},
            "stored_fields": "_none_",
            "docvalue_fields": [{"field": name} for name in fields],
        }

    def _decode(self, answer: Any) -> Iterator[tuple[int, str, float]]:
        for hit in hits_of(answer):
            fields = hit["fields"]
            (document,) = fields.get("document_id", ("",))
            product = (hit["_score"] - self._shift) * _unit(hit, self._query)
            yield fields["ordinal"][0], document, product
