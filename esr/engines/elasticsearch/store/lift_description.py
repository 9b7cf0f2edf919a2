"""What an index says about its lifts: their base and the collection that they are for.

p(t|C) is part of them, and every delivery changes it. A bound grows by no more than log p(t|C) falls, so the
index says what bounds that fall, and a search adds it (docs/performance.md, "Lifts after a delivery").
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from esr.engines.elasticsearch.store.lifts import LiftBase
from esr.plans.bounds import Bound
from esr.plans.plan import Affine, Mixture, Plan, PlanTerm
from esr.plans.statistics import CollectionStatistics, Statistics

_PARTS = ("sentence", "surrounding", "document", "collection")


@dataclass(frozen=True, slots=True)
class Widening:
    """What makes bounds of the lifts of an index: their base, and what deliveries since then add to it.

    `growth` is to be added for every term that is in a sentence's document, and `losses` for these terms.
    """

    base: LiftBase
    growth: float
    losses: Mapping[str, float]

    def of_term(self, term: str) -> float:
        """What is to be added where this term is in the document."""
        return self.growth + self.losses.get(term, 0.0)

    def mean(self, terms: Sequence[PlanTerm]) -> float:
        """What is added to a bound for each term of a query, of terms that are all in the document."""
        added = math.fsum(term.weight * self.of_term(term.term) for term in terms)
        return added / math.fsum(term.weight for term in terms)


def describe_lifts(base: LiftBase, collection: CollectionStatistics) -> dict[str, Any]:
    """What an index says about its lifts: their base and the collection that they are for.

    `least_occurrences` is the least length of the collection for which any of them were computed. Since the
    first were, no term has lost more than `lost` occurrences.
    """
    return {
        "mu": base.transform.mu,
        **{name: list(getattr(base.transform, name)) for name in _PARTS},
        "length": base.length,
        "scale": base.scale,
        **_describe_collection(collection),
        "least_occurrences": collection.occurrences,
        "lost": 0,
    }


def describe_after_delivery(
    description: Mapping[str, Any], before: CollectionStatistics, after: CollectionStatistics, lost: int
) -> dict[str, Any]:
    """The description after a delivery; its own lifts are for the collection `after` it.

    `lost` is the most occurrences that any term loses by it. {} if the lifts do not apply to `before`.
    """
    if not _describes(description, before):
        return {}
    return {
        **description,
        **_describe_collection(after),
        "least_occurrences": min(description["least_occurrences"], after.occurrences),
        "lost": description["lost"] + lost,
    }


def _describe_collection(collection: CollectionStatistics) -> dict[str, int]:
    return {name: getattr(collection, name) for name in ("documents", "sentences", "occurrences")}


def _describes(description: Mapping[str, Any], collection: CollectionStatistics) -> bool:
    """Whether the lifts are for this collection: a load may have set documents aside."""
    return "lost" in description and _describe_collection(collection).items() <= description.items()


def described_base(description: Mapping[str, Any]) -> LiftBase:
    """The base that an index says its lifts have."""
    transform = Mixture(description["mu"], *(Affine(*description[name]) for name in _PARTS))
    return LiftBase(transform, description["length"], description["scale"])


def find_widening(description: Mapping[str, Any], plan: Plan, statistics: Statistics) -> Widening | None:
    """What makes bounds of a plan's scores of the lifts; None if they do not apply to it.

    `statistics` are those of its terms.
    """
    transform, collection = plan.transform, statistics.collection
    if not isinstance(transform, Mixture) or not _describes(description, collection):
        return None
    base = described_base(description)
    if base.transform != transform:
        return None
    for term in plan.terms:
        if not term.own or term.weight <= 0 or term.term not in statistics.terms:
            return None
        if term.background != collection.background(statistics.terms[term.term]):
            return None
    growth = collection.occurrences / max(description["least_occurrences"], 1)
    losses = {}
    if description["lost"]:
        for term in plan.terms:
            left = max(statistics.terms[term.term].cf, 1)
            losses[term.term] = math.log((left + description["lost"]) / left)
    return Widening(base, math.log(max(growth, 1.0)), losses)


def has_bounds(transform: Mixture, collection: CollectionStatistics) -> bool:
    """Whether there are bounds at all for this mixture."""
    return Bound(transform, collection.longest_sentence).unavailable_reason([]) is None
