"""What boosts add, as parts of a plan: further terms, and steps on features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from esr import adjustments
from esr.boosts.boost import WEIGHT, Added, get
from esr.plans.plan import PlanTerm, Static

Boosts = Mapping[str, Mapping[str, Any]]


def weight_of(boosts: Boosts, name: str) -> float:
    """The weight of a boost of a ranking."""
    return get(name).settings(boosts[name])[WEIGHT]


def term_weights(boosts: Boosts, added: Mapping[str, Added]) -> dict[str, float]:
    """The terms that boosts add, in their order, and by how much. Several boosts may add to one."""
    found: dict[str, float] = {}
    for name, each in added.items():
        for term, share in each.terms.items():
            found[term] = found.get(term, 0.0) + weight_of(boosts, name) * share
    return found


def with_terms(
    own: Sequence[PlanTerm], once: Sequence[PlanTerm], weights: Mapping[str, float]
) -> tuple[PlanTerm, ...]:
    """The query's own terms, then the others. `once` are the added terms as if each stood once in the query.

    What is added to an own term makes it heavier. The others make no candidates.
    """
    terms = {term.term: term for term in own}
    for term in once:
        more = weights[term.term] * term.weight
        known = terms.get(term.term)
        terms[term.term] = (
            term._replace(weight=more, own=False)
            if known is None
            else known._replace(weight=known.weight + more)
        )
    return tuple(terms.values())


def by_boost(
    boosts: Boosts, added: Mapping[str, Added], terms: Sequence[PlanTerm], own: Sequence[PlanTerm]
) -> dict[str, dict[str, float]]:
    """Of the terms of a plan, how much of the weight is of which boost. `own` are those without any boost."""
    plain = {term.term: term.weight for term in own}
    whole = term_weights(boosts, added)
    gained = {term.term: term.weight - plain.get(term.term, 0.0) for term in terms if term.term in whole}
    return {
        term: {
            name: weight * weight_of(boosts, name) * each.terms[term] / whole[term]
            for name, each in added.items()
            if term in each.terms
        }
        for term, weight in gained.items()
        if weight
    }


def statics(boosts: Boosts, added: Mapping[str, Added]) -> Iterator[tuple[str, str, Static]]:
    """The steps on features: the boost, the feature and the static of each."""
    for name, each in added.items():
        for feature in each.features:
            step = adjustments.Adjustment(feature, "step", {"w": weight_of(boosts, name)})
            yield name, feature, step.static()
