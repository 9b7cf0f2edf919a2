"""A topic's candidates with their judgements, retrieved once and then scored under every setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.dependency.parsed_sentences import ParsedSentences
from esr.engines.index import EVIDENCE_COLUMNS, CandidateEvidence, Filters
from esr.engines.similarities import Similarities
from esr.plans.evidence import Array, Evidence, concatenate, no_evidence
from esr.plans.plan import Plan, Static
from esr.plans.top_k import top_k
from esr.ranking.nearest import score_nearest
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.query_vector import encode_query
from esr.ranking.ranking import Ranking
from esr.ranking.rerank_context import RerankContext, load_parses, read_similarities
from esr.ranking.reranker import merge_scores
from esr.ranking.searcher import Searcher, UnsearchableQuery


class JudgedCandidates(NamedTuple):
    """The candidates of a topic in collection order, and which of them are relevant.

    The first `by_words` are those of the plan; after them come others that only vectors found. `nearest` has
    the rows of all that vectors found. `relevant` has rows of the evidence. `judged` counts all relevant
    sentences of the topic, including those outside of the candidates.
    """

    prepared: PreparedQuery
    evidence: Evidence
    relevant: npt.NDArray[np.intp]
    judged: int
    sentence_id: Callable[[int], str]
    context: RerankContext
    by_words: int
    nearest: npt.NDArray[np.intp]

    def scores(self, ranking: Ranking) -> Array:
        """The scores of the candidates under a setting, without a search."""
        first = score_nearest(self.prepared.replan(ranking), self.evidence)
        reranker = ranking.reranker()
        if reranker is None:
            return first
        scored = np.flatnonzero(np.isfinite(first[: self.by_words]))
        best = np.sort(scored[top_k(first[scored], reranker.depth)])
        top = np.union1d(best, self.nearest[np.isfinite(first[self.nearest])])
        # The context has all candidates, because the best ones depend on the setting.
        return merge_scores(first, top, reranker.scores(first, self.context, top, best))


def retrieve_candidates(
    searcher: Searcher, query: str, ranking: Ranking, filters: Filters, relevant: Iterable[str]
) -> JudgedCandidates | None:
    """The candidates of a topic, or None if there are none.

    They depend on the ranking's model, context and candidate rule, on the depth of a second stage that uses
    vectors, and not on parameters. The evidence has the columns of its features and the terms of its boosts.
    """
    searcher, relevant = searcher.snapshot(), list(relevant)
    try:
        prepared = searcher.prepare(query, ranking, literal=True)
    except UnsearchableQuery:
        return None
    plan = prepared.plan
    reranker = ranking.reranker()
    uses_vectors = reranker is not None and reranker.uses_vectors
    if not plan.terms and not uses_vectors:
        return None
    columns = reranker.columns if reranker else ()
    statics = (*plan.statics, *(Static(column, "linear", 0.0) for column in columns))
    plan = replace(plan, statics=statics)
    index = searcher.index
    candidates = index.candidates(plan, filters) if prepared.has_candidates else _no_candidates(plan)
    by_words, nearest = len(candidates.evidence.lengths["sentence"]), np.zeros(0, np.intp)
    if reranker is not None and uses_vectors:
        candidates, nearest = _add_nearest(prepared, plan, candidates, reranker.depth, filters)
    rows = [row for row in map(candidates.row_of, relevant) if row is not None]
    # The same few sentences tie under many settings.
    sentence_id = cache(candidates.sentence_id)

    @cache
    def ids() -> list[str]:
        return [candidates.sentence_id(row) for row in range(len(candidates.evidence.lengths["sentence"]))]

    @cache
    def trees() -> ParsedSentences:
        return load_parses(index, prepared.counts, ids())

    @cache
    def similarities(contexts: tuple[str, ...]) -> Similarities:
        return read_similarities(index, prepared.interpretation.ranked_text, ids(), None, contexts)

    terms = [term.term for term in plan.terms]
    context = RerankContext(
        prepared.counts, prepared.statistics, terms, lambda: candidates.evidence, trees, similarities
    )
    relevant_rows = np.array(sorted(rows), np.intp)
    return JudgedCandidates(
        prepared,
        candidates.evidence,
        relevant_rows,
        len(relevant),
        sentence_id,
        context,
        by_words,
        nearest,
    )


def _no_candidates(plan: Plan) -> CandidateEvidence:
    columns = {*EVIDENCE_COLUMNS, *(static.column for static in plan.statics)}
    return CandidateEvidence(no_evidence(len(plan.terms), columns), lambda row: "", lambda id: None)


def _add_nearest(
    prepared: PreparedQuery, plan: Plan, candidates: CandidateEvidence, depth: int, filters: Filters
) -> tuple[CandidateEvidence, npt.NDArray[np.intp]]:
    """The candidates with those below them that only vectors found, in collection order; and the rows of all
    that vectors found."""
    text = prepared.interpretation.ranked_text
    if not text.strip():
        return candidates, np.zeros(0, np.intp)
    index, by_words = prepared.index, len(candidates.evidence.lengths["sentence"])
    encoder, vector = encode_query(index, text)
    nearest = index.nearest(encoder, vector, depth, plan.condition, filters)
    rows = [candidates.row_of(hit.sentence_id) for hit in nearest]
    new = sorted(
        (hit for hit, row in zip(nearest, rows, strict=True) if row is None), key=lambda hit: hit.ordinal
    )
    ids, ordinals = [hit.sentence_id for hit in new], [hit.ordinal for hit in new]
    columns = [static.column for static in plan.statics]
    evidence = index.evidence([term.term for term in plan.terms], ids, columns, ordinals)
    new_rows = {id: by_words + n for n, id in enumerate(ids)}

    def row_of(id: str) -> int | None:
        return new_rows[id] if id in new_rows else candidates.row_of(id)

    with_nearest = CandidateEvidence(
        concatenate([candidates.evidence, evidence]),
        lambda row: candidates.sentence_id(row) if row < by_words else ids[row - by_words],
        row_of,
    )
    known = [row for row in rows if row is not None]
    return with_nearest, np.array([*known, *new_rows.values()], np.intp)
