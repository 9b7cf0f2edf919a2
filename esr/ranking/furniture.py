"""Lowers what is no sentence, by the feature `furniture`, and searches by features that only lower.

A feature that only lowers leaves bounds of scores valid, so the best sentences without it are read until no
other sentence can be among the best with it. The answer is that of the whole plan, and takes hardly longer
than without the feature: Elasticsearch's precomputed bounds are for plans without features.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from esr.index.contract import Index
from esr.index.filters import Filters
from esr.index.hits import SearchResult
from esr.models.adjustment import Adjustment
from esr.plans.evaluate import apply_static_score
from esr.plans.plan import FEATURE_PREFIX, Plan, StaticScore
from esr.ranking.ranking import Ranking

NAME = "furniture"
LOWERED = Adjustment(NAME, "satu", {"w": -12.0, "k": 0.5})
"""Takes 8 from a sentence that is surely furniture: more than one to three words of a query add."""


def lower_furniture(ranking: Ranking, index: Index) -> Ranking:
    """The ranking with furniture lowered, if the index knows any.

    Left as it is: a ranking that uses the feature itself, or that was learned whole.
    """
    if ranking.trees is not None or NAME in ranking.feature_names() or NAME not in index.features():
        return ranking
    return replace(ranking, features=(*ranking.features, LOWERED))


_GROWTH, _MOST = 2, 2000
"""How the number of sentences read grows if the best k do not suffice, and at most how many are read."""


def search_best(index: Index, plan: Plan, k: int, filters: Filters) -> SearchResult:
    """The best k sentences of a plan with their records, as `Index.search` gives them."""
    if not plan.terms or not plan.static_scores or not all(map(_only_lowers, plan.static_scores)):
        return index.search(plan, k, filters)
    unlowered, n = replace(plan, static_scores=()), k
    names = [static_score.column.removeprefix(FEATURE_PREFIX) for static_score in plan.static_scores]
    while n <= max(_MOST, k):
        result = index.search(unlowered, n, filters)
        hits = result.hits
        features = [hit.record.features if hit.record else {} for hit in hits]
        if not any(name in known for known in features for name in names):
            return replace(result, hits=hits[:k])
        scores, ordinals = np.array([h.score for h in hits]), np.array([h.ordinal for h in hits])
        last = -scores[-1], ordinals[-1]
        for static_score, name in zip(plan.static_scores, names, strict=True):
            scores = scores + apply_static_score(
                static_score, np.array([known.get(name, np.nan) for known in features])
            )
        best = np.lexsort((ordinals, -scores))[:k]
        if len(hits) < n or (-scores[best[-1]], ordinals[best[-1]]) <= last:
            lowered = [hits[place]._replace(score=float(scores[place])) for place in best.tolist()]
            return replace(result, hits=lowered)
        n *= _GROWTH
    return index.search(plan, k, filters)


def _only_lowers(static_score: StaticScore) -> bool:
    """Whether the static score is a feature's that raises no sentence, whatever the feature's values."""
    is_feature = static_score.column.startswith(FEATURE_PREFIX) and not static_score.required
    return (
        is_feature
        and static_score.form in ("step", "satu", "sigm")
        and max(static_score.weight, static_score.constant) <= 0
    )
