"""The second stage's data about the sentences it reranks: evidence, parses and similarities.

The query's vector is the encoder's vector of the query's text, minus that of an empty query, plus the mean of
the vectors of the best sentences of a first ranking (docs/formulas.md, F.1). The first ranking is the same
for all rankings and filters, so none of these changes the vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct

from esr.index.contract import Index
from esr.index.filters import NO_FILTERS
from esr.index.hits import LazyHits, SearchResult
from esr.index.questions import (
    EvidenceOf,
    Hits,
    Parses,
    Records,
    SimilaritiesTo,
    Vectors,
)
from esr.index.similarities import Numbers, Similarities
from esr.index.view import start_beside
from esr.plans import evaluate
from esr.plans.evaluate import Array, Evidence
from esr.plans.plan import DateRange, Plan, Statistics
from esr.ranking.second_stage.query_encoder import QueryVector, encode_query
from esr.registry import Value
from esr.stdlib import cached_property, import_lazily
from esr.text.dates import DAY, parse_date_start
from esr.text.sentence_enrichment import QuantizedVector

if TYPE_CHECKING:
    from esr import encoders
    from esr.dependency import clique_search
    from esr.dependency.clique_search import ParsedSentences
else:
    clique_search = import_lazily("esr.dependency.clique_search")
    encoders = import_lazily("esr.encoders")

FEEDBACK = 3
"""The number of sentences, the best of a first ranking by words and meaning, whose mean vector is added."""
_CANDIDATES, _WEIGHT = 100, 30.0
"""The first ranking adds _WEIGHT times the similarity to the scores of the _CANDIDATES best by words."""


class VectorWeights(NamedTuple):
    """The weights of the vectors subtracted from, and added to, the vector of a query's text."""

    empty: float
    feedback: float

    @staticmethod
    def of(settings: Mapping[str, Value]) -> VectorWeights:
        """The weights among the settings of the signal `meaning`."""
        return VectorWeights(float(settings["empty"]), float(settings["feedback"]))


class QueryVectors:
    """The vectors of a query for an index, one for each choice of weights.

    `best_by_words(n)` returns the best n sentences of the whole index by the default ranking. `incomplete`
    says what that search was missing, if feedback needed it, or is None.
    """

    def __init__(self, index: Index, text: str, best_by_words: Callable[[int], SearchResult]) -> None:
        self._index = index
        self.text = text
        self._best_by_words = best_by_words
        self._started: dict[tuple[VectorWeights, tuple[str, ...]], _Started] = {}
        self.incomplete: str | None = None

    def vector(self, weights: VectorWeights) -> QueryVector:
        """The vector for these weights. For a query without text, such as `harb*`, it is only feedback.

        Raises as `encode_query`.
        """
        encoder, vector = encode_query(self._index, self.text)
        if self.has_text and not any(weights):
            return QueryVector(encoder, vector)
        total = np.zeros(len(vector.values))
        if self.has_text:
            total += _numbers(vector)
            if weights.empty:
                total -= weights.empty * _numbers(encode_query(self._index, "").vector)
        if weights.feedback:
            total += weights.feedback * self._feedback
        return QueryVector(encoder, encoders.quantize(total.astype(np.float32)))

    @property
    def has_text(self) -> bool:
        """Whether the query has text to encode."""
        return bool(self.text.strip())

    def similarities(
        self,
        weights: VectorWeights,
        ids: Sequence[str],
        ordinals: Sequence[int] | None,
        contexts: Collection[str],
    ) -> Similarities:
        """The similarities of the query to these sentences. Raises as `encode_query`."""
        started = self._started.get((weights, tuple(contexts)))
        places = None if started is None or ordinals is None else _find_all(started.ordinals, ordinals)
        if started is not None and places is not None:
            return started.finish().at(places)
        encoder, vector = self.vector(weights)
        return self._index.read(ids, SimilaritiesTo(encoder, vector, contexts), ordinals)

    def start_similarities(self, weights: VectorWeights, contexts: tuple[str, ...], hits: LazyHits) -> None:
        """Start to read the similarities of hits, of which some or all will be asked for."""
        encoder, vector = self.vector(weights)
        question, ordinals = SimilaritiesTo(encoder, vector, contexts), hits.ordinals.tolist()
        finish = start_beside(self._index, partial(self._index.read, hits.ids, question, ordinals))
        self._started[weights, contexts] = _Started(hits.ordinals, cache(finish))

    @cached_property
    def _feedback(self) -> Array:
        """The mean vector of the best sentences, of shape (dimensions,): zeros if none has a vector."""
        encoder, vector = encode_query(self._index, self.text)
        result = self._best_by_words(_CANDIDATES)
        hits, self.incomplete = result.hits, result.incomplete
        ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
        if not hits:
            return np.zeros(len(vector.values))
        similarities = self._index.read(ids, SimilaritiesTo(encoder, vector), ordinals).sentence
        weight = _WEIGHT if self.has_text else 0.0
        scores = np.array([hit.score for hit in hits]) + weight * similarities
        known = np.flatnonzero(np.isfinite(scores))
        best = known[np.lexsort((np.array(ordinals)[known], -scores[known]))[:FEEDBACK]].tolist()
        stored = self._index.read([ids[n] for n in best], Vectors(encoder), [ordinals[n] for n in best])
        vectors = [_numbers(stored_vector) for stored_vector in stored if stored_vector is not None]
        return np.mean(vectors, axis=0) if vectors else np.zeros(len(vector.values))


class _Started(NamedTuple):
    """Sentences whose similarities are being read, and what waits for these."""

    ordinals: Numbers
    finish: Callable[[], Similarities]


def _find_all(among: Numbers, ordinals: Sequence[int]) -> Numbers | None:
    """The places of ordinals among others, None if one is missing."""
    order = np.argsort(among)
    places = order[np.searchsorted(among, ordinals, sorter=order).clip(max=len(among) - 1)]
    return places if np.array_equal(among[places], ordinals) else None


def _numbers(vector: QuantizedVector) -> Array:
    return vector.array.astype(float) * vector.scale


class RerankContext(Struct, frozen=True):
    """n sentences and a query. Evidence and parses are fetched when a signal first needs them.

    `counts` has c(t,q) of the query's terms in order. `terms` are the terms of the evidence, row by row: all
    query terms that the collection has, and perhaps others.
    """

    counts: Mapping[str, int]
    statistics: Statistics
    terms: Sequence[str]
    evidence: Callable[[], Evidence]
    parses: Callable[[], ParsedSentences]
    similarities: Callable[[tuple[str, ...], VectorWeights], Similarities]
    """Similarities of the query's vector to the sentences, and to the named contexts."""
    newest_day: Callable[[], float]
    """The day of the newest sentence of the index, in days since the epoch, NaN if none has a date."""
    text: str = ""
    """The text of the query."""
    sentence_texts: Callable[[], Sequence[str]] = tuple
    """The texts of the sentences."""

    def plan_scores(self, plan: Plan) -> Array:
        """The sentences' scores by a plan for this query, of shape (n,)."""
        evidence = self.evidence()
        plan_terms = [term.term for term in plan.terms]
        if plan_terms != list(self.terms):
            rows = [self.terms.index(term) for term in plan_terms]
            counts = {name: field_counts[rows] for name, field_counts in evidence.counts.items()}
            evidence = Evidence(counts, evidence.lengths, evidence.columns)
        return evaluate.score_sentences(plan, evidence)

    def column(self, name: str) -> Array:
        """A stored number of each sentence, of shape (n,), NaN where unknown."""
        values = np.asarray(self.evidence().columns[name], float)
        return np.where(np.isfinite(values), values, np.nan)


def build_context(
    index: Index,
    counts: Mapping[str, int],
    statistics: Statistics,
    ids: Sequence[str],
    columns: Iterable[str],
    ordinals: Sequence[int] | None = None,
    query: QueryVectors | None = None,
) -> RerankContext:
    """Build the context of these sentences of an index. `columns` are read in addition to the usual evidence.

    `ordinals` are those of the sentences' hits, if they come from hits of this index. Only signals of meaning
    and cross-encoders need the text and the vectors of the `query`.
    """
    query = query or QueryVectors(index, "", lambda k: SearchResult([], 0))
    terms = [term for term in counts if statistics.terms[term].is_seen]
    return RerankContext(
        counts,
        statistics,
        terms,
        cache(lambda: index.read(ids, EvidenceOf(terms, columns), ordinals)),
        cache(lambda: load_parses(index, counts, ids, ordinals)),
        cache(lambda contexts, weights: query.similarities(weights, ids, ordinals, contexts)),
        cache(lambda: read_newest_day(index)),
        query.text,
        cache(lambda: [record.text for record in index.read(ids, Records())]),
    )


def read_newest_day(index: Index) -> float:
    """The day of the newest sentence of the index, in days since the epoch, NaN if none has a date."""
    hits = index.select(DateRange(), 1, NO_FILTERS, Hits()).hits
    date = hits[0].record.date if hits and hits[0].record else None
    return math.nan if date is None else parse_date_start(date) / DAY


def load_parses(
    index: Index, terms: Iterable[str], ids: Sequence[str], ordinals: Sequence[int] | None = None
) -> ParsedSentences:
    """The stored parses of these sentences, for the terms of a query."""
    distinct = tuple(dict.fromkeys(terms))

    def count_terms(positions: Sequence[int]) -> Array:
        parses = None if ordinals is None else [ordinals[position] for position in positions]
        own_ids = [ids[position] for position in positions]
        return index.read(own_ids, EvidenceOf(distinct), parses).counts["sentence"]

    return clique_search.ParsedSentences.from_blobs(
        index.read(ids, Parses(), ordinals), distinct, count_terms
    )
