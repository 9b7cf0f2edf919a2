"""Impacts: what terms can add at most in each document, stored for one mixture, which an index names.

The scripts of the bound query compute such bounds for any ranking, document by document, in every search. For
one mixture a load can compute them: then Elasticsearch only adds them up, which takes a quarter of the time.
They are valid for the collection they were made for, since p(t|C) is part of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.plans.bounds import Bound
from esr.plans.plan import Affine, Mixture, Plan
from esr.plans.statistics import CollectionStatistics, Statistics

IMPACTS_FIELD = "impacts"
SMALLEST = 2.0**-10
"""The smallest impact of a term: with an impact of 0, the document would not match."""
EMPTY = " "
"""Stands for no term: its impact is that of a document's best sentence length, above
`Bound.least_log_collection`."""
_PARTS = ("sentence", "surrounding", "document", "collection")


def describe_impacts(transform: Mixture, collection: CollectionStatistics) -> dict[str, Any]:
    """What an index says about its impacts: the mixture and the collection that they were made for."""
    return {
        "mu": transform.mu,
        **{name: list(getattr(transform, name)) for name in _PARTS},
        "documents": collection.documents,
        "sentences": collection.sentences,
        "occurrences": collection.occurrences,
    }


def described_mixture(description: Mapping[str, Any]) -> Mixture:
    """The mixture that an index says its impacts were made for."""
    return Mixture(description["mu"], *(Affine(*description[name]) for name in _PARTS))


def has_bounds(transform: Mixture, collection: CollectionStatistics) -> bool:
    """Whether there are bounds at all for this mixture."""
    return Bound(transform, collection.longest_sentence).unavailable_reason([]) is None


def impacts_apply(description: Mapping[str, Any], plan: Plan, statistics: Statistics) -> bool:
    """Whether the impacts of an index bound the scores of a plan. `statistics` are those of its terms."""
    transform = plan.transform
    if not isinstance(transform, Mixture):
        return False
    if description != describe_impacts(transform, statistics.collection):
        return False
    return all(
        term.own
        and term.weight > 0
        and term.term in statistics.terms
        and term.background == statistics.collection.background(statistics.terms[term.term])
        for term in plan.terms
    )
