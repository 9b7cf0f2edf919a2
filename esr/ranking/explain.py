"""Explains a sentence's score: the parts of the plan, which add up to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from esr.boosts import plan_expansion
from esr.engines.index import NO_FILTERS, Filters
from esr.plans.evaluate import score_sentences, score_static, split_scores
from esr.plans.evidence import Evidence
from esr.plans.plan import Plan
from esr.ranking.explain_parts import Addition, BoostPart, FeaturePart, FieldPart, PriorPart, TermPart
from esr.ranking.explain_second import SecondPart, explain_second
from esr.ranking.origin import LENGTH, Origin
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.rerank_context import RerankContext
from esr.ranking.reranker import Reranker


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score and its parts: terms, the length term of a smoothed model, priors, features, boosts.

    With a second stage these add up to `first`, the first stage's score, and `second` has the rest.
    """

    sentence_id: str
    score: float
    first: float
    terms: Sequence[TermPart]
    length: float
    priors: Sequence[PriorPart]
    features: Sequence[FeaturePart]
    boosts: Sequence[BoostPart]
    second: SecondPart | None
    unseen: tuple[str, ...]
    plan: Plan

    @property
    def rows(self) -> list[tuple[Origin, list[Addition]]]:
        """What adds to the first stage's score: several additions for a term, one for anything else."""
        rows = [(part.origin, part.additions) for part in self.terms]
        if self.length:
            rows.append((LENGTH, [Addition(LENGTH, self.length)]))
        statics: list[PriorPart | FeaturePart | BoostPart] = [*self.priors, *self.features, *self.boosts]
        return rows + [(part.origin, [Addition(part.origin, part.adds)]) for part in statics]

    @property
    def boosted(self) -> dict[str, float]:
        """What each boost adds in all: by its share of the terms' weights, and by its steps."""
        totals: dict[str, float] = {}
        for term in self.terms:
            for name, weight in term.boosts.items():
                totals[name] = totals.get(name, 0.0) + term.adds * weight / term.weight
        for step in self.boosts:
            totals[step.origin.name] = totals.get(step.origin.name, 0.0) + step.adds
        return totals

    def as_dict(self) -> dict[str, Any]:
        return {
            "sentence_id": self.sentence_id,
            "score": _finite_or_none(self.score),
            "first": _finite_or_none(self.first),
            "terms": [part.as_dict() for part in self.terms],
            "length": self.length,
            "priors": [
                {
                    "name": part.origin.name,
                    "value": part.value,
                    "weight": part.weight,
                    "adds": _finite_or_none(part.adds),
                }
                for part in self.priors
            ],
            "features": [part.as_dict() for part in self.features],
            "boosts": [part.as_dict() for part in self.boosts],
            "boosted": self.boosted,
            "second": self.second and self.second.as_dict(),
            "unseen": list(self.unseen),
            "plan": self.plan.as_dict(),
        }


def explain(prepared: PreparedQuery, sentence_id: str, filters: Filters = NO_FILTERS) -> Explanation:
    """The parts of a sentence's score for a prepared query. Raises UsageError for an unknown sentence.

    `filters` are those of the search: some parts depend on the other sentences that it ranks.
    """
    index, plan, unseen = prepared.index, prepared.plan, prepared.unseen
    columns = [static.column for static in plan.statics]
    evidence = index.evidence([term.term for term in plan.terms], [sentence_id], columns)
    second, reranker = None, prepared.ranking.reranker()
    terms: list[TermPart] = []
    priors: list[PriorPart] = []
    features: list[FeaturePart] = []
    steps: list[BoostPart] = []
    length = first = 0.0
    if plan.terms:
        terms, length = _term_parts(prepared, evidence)
        priors, features, steps = _static_parts(prepared, evidence)
        first = float(score_sentences(plan, evidence)[0])
    if reranker is not None and (plan.terms or reranker.uses_vectors):
        context = prepared.rerank_context([sentence_id], reranker.columns)
        tree_score, missing = _list_effects(prepared, sentence_id, reranker, context, filters)
        second = explain_second(index, context, sentence_id, reranker, first, tree_score, missing)
    score = first if second is None else second.score
    return Explanation(
        sentence_id, score, first, terms, length, priors, features, steps, second, unseen, plan
    )


def _term_parts(prepared: PreparedQuery, evidence: Evidence) -> tuple[list[TermPart], float]:
    """The terms of the plan, and what the length adds."""
    plan, ranking = prepared.plan, prepared.ranking
    unboosted = replace(ranking, boosts={}).plan(prepared.counts, prepared.statistics)
    boosted = plan_expansion.weights_by_boost(
        ranking.boosts, prepared.expansions, plan.terms, unboosted.terms
    )
    split = split_scores(plan, evidence)
    terms = [
        TermPart(
            Origin("term", term.term),
            term.weight,
            term.background or None,
            [
                FieldPart(
                    Origin("field", name, term.term),
                    int(evidence.counts[name][row, 0]),
                    int(evidence.lengths[name][0]),
                    float(adds[row, 0]),
                )
                for name, adds in split.fields.items()
            ],
            float(split.background[row, 0]),
            boosted.get(term.term, {}),
        )
        for row, term in enumerate(plan.terms)
    ]
    return terms, float(split.length[0])


def _static_parts(
    prepared: PreparedQuery, evidence: Evidence
) -> tuple[list[PriorPart], list[FeaturePart], list[BoostPart]]:
    adjustments = {(a.feature, a.form): a for a in prepared.ranking.features}
    priors: list[PriorPart] = []
    features: list[FeaturePart] = []
    steps: list[BoostPart] = []
    for origin, static in prepared.statics():
        column = evidence.columns[static.column]
        value, adds = float(column[0]), float(score_static(static, column)[0])
        value_or_none = None if math.isnan(value) else value
        if origin.kind == "prior":
            priors.append(PriorPart(origin, value, static.weight, adds))
        elif origin.kind == "feature":
            adjustment = adjustments[origin.name, origin.detail]
            features.append(FeaturePart(origin, value_or_none, adjustment, adds))
        else:
            steps.append(BoostPart(origin, value_or_none, static.weight, adds))
    return priors, features, steps


def _list_effects(
    prepared: PreparedQuery,
    sentence_id: str,
    reranker: Reranker,
    alone: RerankContext,
    filters: Filters,
) -> tuple[float | None, dict[str, float]]:
    """What depends on the sentences that are reranked, which this one is compared with.

    That is what trees add, and what signals add that it has no value of. `alone` is its own context.
    """
    signals = [s for s in reranker.signals if s.type.uses_vectors and math.isnan(s.values(alone)[0])]
    if reranker.trees is None and not signals:
        return None, {}
    result = prepared.search_first_stage(reranker.depth, filters)
    candidates = prepared.add_candidates(result, reranker, filters)
    ids = list(dict.fromkeys([*candidates.top.ids, sentence_id]))
    context, place = prepared.rerank_context(ids, reranker.columns), ids.index(sentence_id)
    all_places = np.arange(len(ids))
    by_words = all_places[: candidates.by_words]
    trees = None if reranker.trees is None else float(reranker.trees.adds(context, all_places)[place])
    adds = {signal.signal: signal.adds(context, all_places, by_words)[place] for signal in signals}
    return trees, {name: float(added) for name, added in adds.items()}


def _finite_or_none(value: float) -> float | None:
    """The number for JSON, which has no infinity: null for a sentence that cannot be scored."""
    return value if math.isfinite(value) else None
