"""Why a sentence has its score: the plan's parts, which add up to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esr.adjustments import Adjustment
from esr.plans.evaluate import parts, scores
from esr.plans.plan import FieldName, Plan
from esr.ranking.explain_second import SecondPart, explain_second
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher


@dataclass(frozen=True, slots=True)
class FieldPart:
    """What one field gave for one term: its count, the field's length, and what that adds."""

    count: int
    length: int
    adds: float


@dataclass(frozen=True, slots=True)
class TermPart:
    """One query term: its weight, p(t|C) (mixtures), its fields, and what the collection alone adds."""

    term: str
    weight: float
    probability: float | None
    fields: dict[FieldName, FieldPart]
    background: float

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
class Explanation:
    """A score and its parts: terms, the length term of a smoothed model, priors, features.

    With a second stage these make `first`, the first stage's score, and `second` tells the rest.
    """

    sentence_id: str
    score: float
    first: float
    terms: list[TermPart]
    length: float
    priors: list[PriorPart]
    features: list[FeaturePart]
    second: SecondPart | None
    unseen: tuple[str, ...]
    plan: Plan

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
                }
                for part in self.terms
            ],
            "length": self.length,
            "priors": [
                {"name": p.name, "value": p.value, "weight": p.weight, "adds": _finite(p.adds)}
                for p in self.priors
            ],
            "features": [part.as_dict() for part in self.features],
            "second": self.second and self.second.as_dict(),
            "unseen": list(self.unseen),
            "plan": self.plan.as_dict(),
        }


def _finite(value: float) -> float | None:
    """A sentence that the ranking has no value for has null in JSON, which knows no infinity."""
    return value if math.isfinite(value) else None


def explain(searcher: Searcher, query: str, sentence_id: str, ranking: Ranking) -> Explanation:
    """The parts of a sentence's score. Raises UsageError for an unknown sentence or a bad query."""
    searcher = searcher.now()
    plan, query_terms, unseen = searcher.prepare(query, ranking)
    columns = [static.column for static in plan.statics]
    evidence = searcher.index.evidence([term.term for term in plan.terms], [sentence_id], columns)
    if not plan.terms:
        return Explanation(sentence_id, 0.0, 0.0, [], 0.0, [], [], None, unseen, plan)
    split = parts(plan, evidence)
    terms = [
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
        )
        for row, term in enumerate(plan.terms)
    ]
    values = [float(evidence.columns[static.column][0]) for static in plan.statics]
    adds = [float(part[0]) for part in split.statics]
    rest = list(zip(plan.statics, values, adds, strict=True))
    priors = [
        PriorPart(name, value, static.weight, adds)
        for name, (static, value, adds) in zip(ranking.priors, rest, strict=False)
    ]
    features = [
        FeaturePart(each.feature, None if math.isnan(value) else value, each.form, _params(each), adds)
        for each, (_, value, adds) in zip(ranking.features, rest[len(priors) :], strict=True)
    ]
    first = float(scores(plan, evidence)[0])
    stage = ranking.second()
    second = None if stage is None else explain_second(searcher.index, query_terms, sentence_id, stage, first)
    score = first if second is None else second.score
    length = float(split.length[0])
    return Explanation(sentence_id, score, first, terms, length, priors, features, second, unseen, plan)


def _params(adjustment: Adjustment) -> dict[str, float]:
    """The parameters that the form is computed with."""
    full = adjustment.as_dict()
    return {name: value for name, value in full.items() if name not in ("feature", "form", "curve")}
