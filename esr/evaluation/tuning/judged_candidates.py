"""A topic's candidates with their judgements, retrieved once and then scored under every setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from esr.dependency.parsed_sentences import ParsedSentences
from esr.engines.index import Filters
from esr.plans.evaluate import scores
from esr.plans.evidence import Array, Evidence
from esr.plans.plan import Static
from esr.plans.top_k import top_k
from esr.ranking.ranking import Ranking
from esr.ranking.rerank import merged
from esr.ranking.searcher import NothingToSearchFor, PreparedQuery, Searcher
from esr.ranking.view import View, parsed


class JudgedCandidates(NamedTuple):
    """The candidates of a topic in collection order, and which of them are relevant.

    `relevant` has positions among the candidates. `judged` counts all relevant sentences of the topic,
    including those outside of the candidates. `name` returns the id of the candidate at a position.
    """

    prepared: PreparedQuery
    evidence: Evidence
    relevant: npt.NDArray[np.intp]
    judged: int
    name: Callable[[int], str]
    view: View

    def scores(self, ranking: Ranking) -> Array:
        """The scores of the candidates under a setting, without a search."""
        first = scores(self.prepared.replan(ranking), self.evidence)
        second = ranking.second()
        if second is None:
            return first
        scored = np.flatnonzero(np.isfinite(first))
        top = np.sort(scored[top_k(first[scored], second.depth)])
        # The context has all candidates, because the best ones depend on the setting.
        return merged(first, top, second.scores(first, self.view, top))


def retrieve_candidates(
    searcher: Searcher, query: str, ranking: Ranking, filters: Filters, relevant: Iterable[str]
) -> JudgedCandidates | None:
    """The candidates of a topic, or None if its query has no term of the index.

    They depend on the ranking's model, context and candidate rule, and not on its parameters. The evidence
    has the columns of its features and the terms of its boosts.
    """
    searcher, relevant = searcher.snapshot(), list(relevant)
    try:
        prepared = searcher.prepare(query, ranking)
    except NothingToSearchFor:
        return None
    plan = prepared.plan
    if not plan.terms:
        return None
    second = ranking.second()
    columns = second.columns if second else ()
    statics = (*plan.statics, *(Static(column, "linear", 0.0) for column in columns))
    candidates = searcher.index.candidates(replace(plan, statics=statics), filters)
    places = [place for place in map(candidates.place, relevant) if place is not None]
    # The same few sentences tie under many settings.
    name = cache(candidates.name)

    @cache
    def trees() -> ParsedSentences:
        ids = [candidates.name(place) for place in range(len(candidates.evidence.lengths["sentence"]))]
        return parsed(index, prepared.counts, ids)

    index = searcher.index
    terms = [term.term for term in plan.terms]
    view = View(prepared.counts, prepared.statistics, terms, lambda: candidates.evidence, trees)
    positions = np.array(sorted(places), np.intp)
    return JudgedCandidates(prepared, candidates.evidence, positions, len(relevant), name, view)
