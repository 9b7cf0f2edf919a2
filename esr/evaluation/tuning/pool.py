"""A topic's candidates, gathered once: what every setting of a model is then computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.dependency.parsed_sentences import ParsedSentences
from esr.engines.index import Filters
from esr.plans.evaluate import score_sentences
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import Static
from esr.plans.top_k import top_k
from esr.ranking.ranking import Ranking
from esr.ranking.rerank_context import RerankContext, load_parses
from esr.ranking.reranker import merge_scores
from esr.ranking.searcher import PreparedQuery, Searcher, UnsearchableQuery


class JudgedPool(NamedTuple):
    """The candidates of a topic in collection order, and which of them are relevant.

    `relevant` holds places among the candidates; `judged` counts all relevant sentences of the topic,
    those outside the candidates too. `name` gives the id of the candidate at a place.
    """

    prepared: PreparedQuery
    evidence: Evidence
    relevant: npt.NDArray[np.intp]
    judged: int
    name: Callable[[int], str]
    context: RerankContext

    def scores(self, ranking: Ranking) -> Array:
        """The scores of the candidates under a setting. No search is made."""
        first = score_sentences(self.prepared.replan(ranking), self.evidence)
        reranker = ranking.reranker()
        if reranker is None:
            return first
        valued = np.flatnonzero(np.isfinite(first))
        top = np.sort(valued[top_k(first[valued], reranker.depth)])
        # All candidates are seen: which are the best depends on the setting.
        return merge_scores(first, top, reranker.scores(first, self.context, top))


def gather(
    searcher: Searcher, query: str, ranking: Ranking, filters: Filters, relevant: Iterable[str]
) -> JudgedPool | None:
    """The pool of a topic, or None if there is nothing to rank for it.

    The candidates depend on the ranking's model, context and candidate rule, not on its parameters; the
    evidence has the columns of its features, and the terms of its boosts.
    """
    searcher, relevant = searcher.snapshot(), list(relevant)
    try:
        prepared = searcher.prepare(query, ranking)
    except UnsearchableQuery:
        return None
    plan = prepared.plan
    if not plan.terms:
        return None
    reranker = ranking.reranker()
    columns = reranker.columns if reranker else ()
    looked_at = (*plan.statics, *(Static(column, "linear", 0.0) for column in columns))
    pool = searcher.index.candidates(replace(plan, statics=looked_at), filters)
    places = [place for place in map(pool.row_of, relevant) if place is not None]
    # The same few sentences tie under many settings.
    name = cache(pool.sentence_id)

    @cache
    def trees() -> ParsedSentences:
        ids = [pool.sentence_id(place) for place in range(len(pool.evidence.lengths["sentence"]))]
        return load_parses(index, prepared.counts, ids)

    index = searcher.index
    terms = [term.term for term in plan.terms]
    context = RerankContext(prepared.counts, prepared.statistics, terms, lambda: pool.evidence, trees)
    return JudgedPool(
        prepared, pool.evidence, np.array(sorted(places), np.intp), len(relevant), name, context
    )
