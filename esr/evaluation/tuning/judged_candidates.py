"""A topic's candidates with their judgements, retrieved once and then scored under every setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from esr.dependency.parsed_sentences import ParsedSentences
from esr.engines.index import Filters
from esr.engines.similarities import Similarities
from esr.plans.evaluate import score_sentences
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import Static
from esr.plans.top_k import top_k
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.rerank_context import RerankContext, load_parses, read_similarities
from esr.ranking.reranker import merge_scores
from esr.ranking.searcher import Searcher, UnsearchableQuery


class JudgedCandidates(NamedTuple):
    """The candidates of a topic in collection order, and which of them are relevant.

    `relevant` has rows of the evidence. `judged` counts all relevant sentences of the topic, including those
    outside of the candidates.
    """

    prepared: PreparedQuery
    evidence: Evidence
    relevant: npt.NDArray[np.intp]
    judged: int
    sentence_id: Callable[[int], str]
    context: RerankContext

    def scores(self, ranking: Ranking) -> Array:
        """The scores of the candidates under a setting, without a search."""
        first = score_sentences(self.prepared.replan(ranking), self.evidence)
        reranker = ranking.reranker()
        if reranker is None:
            return first
        scored = np.flatnonzero(np.isfinite(first))
        top = np.sort(scored[top_k(first[scored], reranker.depth)])
        # The context has all candidates, because the best ones depend on the setting.
        return merge_scores(first, top, reranker.scores(first, self.context, top))


def retrieve_candidates(
    searcher: Searcher, query: str, ranking: Ranking, filters: Filters, relevant: Iterable[str]
) -> JudgedCandidates | None:
    """The candidates of a topic, or None if its query has no term of the index.

    They depend on the ranking's model, context and candidate rule, and not on its parameters. The evidence
    has the columns of its features and the terms of its boosts.
    """
    searcher, relevant = searcher.snapshot(), list(relevant)
    try:
        prepared = searcher.prepare(query, ranking, literal=True)
    except UnsearchableQuery:
        return None
    plan = prepared.plan
    if not plan.terms:
        return None
    reranker = ranking.reranker()
    columns = reranker.columns if reranker else ()
    statics = (*plan.statics, *(Static(column, "linear", 0.0) for column in columns))
    candidates = searcher.index.candidates(replace(plan, statics=statics), filters)
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

    index = searcher.index
    terms = [term.term for term in plan.terms]
    context = RerankContext(
        prepared.counts, prepared.statistics, terms, lambda: candidates.evidence, trees, similarities
    )
    relevant_rows = np.array(sorted(rows), np.intp)
    return JudgedCandidates(prepared, candidates.evidence, relevant_rows, len(relevant), sentence_id, context)
