"""Why a sentence has its score: the plan's parts, which add up to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from esr.adjustments import Adjustment
from esr.boosts import adding
from esr.engines.index import NO_FILTERS
from esr.plans.evaluate import Parts, parts, scores
from esr.plans.evidence import Evidence
from esr.plans.plan import FieldName, Plan
from esr.ranking.explain_second import SecondPart, explain_second
from esr.ranking.rerank import Second
from esr.ranking.searcher import PreparedQuery


@dataclass(frozen=True, slots=True)
class FieldPart:
    """What one field gave for one term: its count, the field's length, and what that adds."""

    count: int
    length: int
    adds: float


@dataclass(frozen=True, slots=True)
class TermPart:
    """One term: its weight, p(t|C) (mixtures), its fields, and what the collection alone adds.

    `boosts` says how much of the weight is of which boost.
    """

    term: str
    weight: float
    probability: float | None
    fields: dict[FieldName, FieldPart]
    background: float
    boosts: Mapping[str, float]

    @property
    def adds(self) -> float:
        return self.background + sum(part.adds for part in self.fields.values())


@dataclass(frozen=True, slots=True)
class PriorPart:
    """One prior: the stored value, the weight on it, and what it adds."""

    name: str
    value: float
    weight: float
    adds: float


@dataclass(frozen=True, slots=True)
class FeaturePart:
    """One feature: its value (None where it is not known), its form, its parameters, and what it adds."""

    feature: str
    value: float | None
    form: str
    params: Mapping[str, float]
    adds: float

    def as_dict(self) -> dict[str, Any]:
        return {
            "feature": self.feature,
            "value": self.value,
            "form": self.form,
            **self.params,
            "adds": self.adds,
        }


@dataclass(frozen=True, slots=True)
class BoostPart:
    """A boost's step on a feature: the value (None where it is not known), the weight, and what it adds."""

    boost: str
    feature: str
    value: float | None
    weight: float
    adds: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score and its parts: terms, the length term of a smoothed model, priors, features, boosts.

    With a second stage these make `first`, the first stage's score, and `second` tells the rest.
    """

    sentence_id: str
    score: float
    first: float
    terms: list[TermPart]
    length: float
    priors: list[PriorPart]
    features: list[FeaturePart]
    boosts: list[BoostPart]
    second: SecondPart | None
    unseen: tuple[str, ...]
    plan: Plan

    @property
    def boosted(self) -> dict[str, float]:
        """What each boost adds in all: by its share of the terms' weights, and by its steps."""
        found: dict[str, float] = {}
        for part in self.terms:
            for name, weight in part.boosts.items():
                found[name] = found.get(name, 0.0) + part.adds * weight / part.weight
        for step in self.boosts:
            found[step.boost] = found.get(step.boost, 0.0) + step.adds
        return found

    def as_dict(self) -> dict[str, Any]:
        return {
            "sentence_id": self.sentence_id,
            "score": _finite(self.score),
            "first": _finite(self.first),
            "terms": [
                {
                    "term": part.term,
                    "weight": part.weight,
                    "probability": part.probability,
                    "fields": {
                        name: {"count": f.count, "length": f.length, "adds": f.adds}
                        for name, f in part.fields.items()
                    },
                    "background": part.background,
                    "adds": part.adds,
                    "boosts": dict(part.boosts),
                }
                for part in self.terms
            ],
            "length": self.length,
            "priors": [
                {"name": p.name, "value": p.value, "weight": p.weight, "adds": _finite(p.adds)}
                for p in self.priors
            ],
            "features": [part.as_dict() for part in self.features],
            "boosts": [asdict(part) for part in self.boosts],
            "boosted": self.boosted,
            "second": self.second and self.second.as_dict(),
            "unseen": list(self.unseen),
            "plan": self.plan.as_dict(),
        }


def _finite(value: float) -> float | None:
    """A sentence that the ranking has no value for has null in JSON, which knows no infinity."""
    return value if math.isfinite(value) else None


def explain(prepared: PreparedQuery, sentence_id: str) -> Explanation:
    """The parts of a sentence's score for a prepared query. Raises UsageError for an unknown sentence."""
    index, ranking, plan, unseen = prepared.index, prepared.ranking, prepared.plan, prepared.unseen
    columns = [static.column for static in plan.statics]
    evidence = index.evidence([term.term for term in plan.terms], [sentence_id], columns)
    if not plan.terms:
        return Explanation(sentence_id, 0.0, 0.0, [], 0.0, [], [], [], None, unseen, plan)
    split = parts(plan, evidence)
    values = [float(evidence.columns[static.column][0]) for static in plan.statics]
    rest = list(zip(plan.statics, values, (float(part[0]) for part in split.statics), strict=True))
    priors = [
        PriorPart(name, value, static.weight, adds)
        for name, (static, value, adds) in zip(ranking.priors, rest, strict=False)
    ]
    features = [
        FeaturePart(each.feature, _known(value), each.form, _params(each), adds)
        for each, (_, value, adds) in zip(ranking.features, rest[len(priors) :], strict=False)
    ]
    steps = [
        BoostPart(boost, feature, _known(value), static.weight, adds)
        for (boost, feature, _), (static, value, adds) in zip(
            adding.statics(ranking.boosts, prepared.added), rest[len(priors) + len(features) :], strict=True
        )
    ]
    own = replace(ranking, boosts={}).plan(prepared.counts, prepared.statistics)
    boosted = adding.by_boost(ranking.boosts, prepared.added, plan.terms, own.terms)
    terms = _terms(plan, evidence, split, boosted)
    first = float(scores(plan, evidence)[0])
    stage = ranking.second()
    second = None
    if stage is not None:
        view = prepared.view([sentence_id], stage.columns)
        learned = _from_trees(prepared, sentence_id, stage)
        second = explain_second(index, view, sentence_id, stage, first, learned)
    score = first if second is None else second.score
    length = float(split.length[0])
    return Explanation(
        sentence_id, score, first, terms, length, priors, features, steps, second, unseen, plan
    )


def _terms(
    plan: Plan, evidence: Evidence, split: Parts, boosted: Mapping[str, Mapping[str, float]]
) -> list[TermPart]:
    return [
        TermPart(
            term.term,
            term.weight,
            term.background or None,
            {
                name: FieldPart(
                    int(evidence.counts[name][row, 0]), int(evidence.lengths[name][0]), float(adds[row, 0])
                )
                for name, adds in split.fields.items()
            },
            float(split.background[row, 0]),
            boosted.get(term.term, {}),
        )
        for row, term in enumerate(plan.terms)
    ]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _from_trees(prepared: PreparedQuery, sentence_id: str, stage: Second) -> float | None:
    """What trees add to a sentence among the best of the first stage, which they compare it with."""
    if stage.trees is None:
        return None
    hits = prepared.index.search(prepared.plan, stage.depth, NO_FILTERS, records=False).hits
    ids = list(dict.fromkeys([*(hit.sentence_id for hit in hits), sentence_id]))
    adds = stage.trees.adds(prepared.view(ids, stage.columns), np.arange(len(ids)))
    return float(adds[ids.index(sentence_id)])


def _params(adjustment: Adjustment) -> dict[str, float]:
    """The parameters that the form is computed with."""
    full = adjustment.as_dict()
    return {name: value for name, value in full.items() if name not in ("feature", "form", "curve")}
