"""The sentences that a second stage reranks, and what its signals need to know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

import numpy as np
from msgspec import Struct

from esr.dependency.parsed_sentences import ParsedSentences
from esr.engines.index import Index
from esr.engines.similarities import Similarities
from esr.plans import evaluate
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import Plan
from esr.plans.statistics import Statistics
from esr.ranking.query_vector import encode_query


class RerankContext(Struct, frozen=True):
    """n sentences for a query. Evidence and parses are fetched when the first signal needs them.

    `counts` has c(t,q) of the query's terms in order. `terms` are the terms of the evidence, row by row: all
    that the collection has, and perhaps others.
    """

    counts: Mapping[str, int]
    statistics: Statistics
    terms: Sequence[str]
    evidence: Callable[[], Evidence]
    parses: Callable[[], ParsedSentences]
    similarities: Callable[[tuple[str, ...]], Similarities]
    """Of the query's vector and those of the sentences, and of the contexts that are named."""

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
        """A stored number of each sentence, of shape (n,): NaN where it is unknown."""
        values = np.asarray(self.evidence().columns[name], float)
        return np.where(np.isfinite(values), values, np.nan)


def build_context(
    index: Index,
    counts: Mapping[str, int],
    statistics: Statistics,
    ids: Sequence[str],
    columns: Iterable[str],
    ordinals: Sequence[int] | None = None,
    text: str = "",
) -> RerankContext:
    """The context of these sentences of an index. `columns` are needed beside those that evidence always has.

    `ordinals` are the ordinals of the sentences' hits, if they come from hits of this index. `text` is what
    the query says.
    """
    terms = [term for term in counts if statistics.terms[term].is_seen]
    return RerankContext(
        counts,
        statistics,
        terms,
        cache(lambda: index.evidence(terms, ids, columns, ordinals)),
        cache(lambda: load_parses(index, counts, ids, ordinals)),
        cache(lambda contexts: read_similarities(index, text, ids, ordinals, contexts)),
    )


def read_similarities(
    index: Index, text: str, ids: Sequence[str], ordinals: Sequence[int] | None, contexts: tuple[str, ...]
) -> Similarities:
    """The similarities of a query and these sentences. Raises EsrError without vectors or their encoder."""
    query = encode_query(index, text)
    return index.similarities(query.encoder, query.vector, ids, ordinals, contexts)


def load_parses(
    index: Index, terms: Iterable[str], ids: Sequence[str], ordinals: Sequence[int] | None = None
) -> ParsedSentences:
    """The stored parses of these sentences, for the terms of a query."""
    distinct = tuple(dict.fromkeys(terms))

    def count_terms(positions: Sequence[int]) -> Array:
        own = None if ordinals is None else [ordinals[position] for position in positions]
        own_ids = [ids[position] for position in positions]
        return index.evidence(distinct, own_ids, ordinals=own).counts["sentence"]

    return ParsedSentences.from_blobs(index.parses(ids, ordinals), distinct, count_terms)
