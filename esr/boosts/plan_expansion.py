"""Expansions as parts of a plan: further terms, and steps on features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from esr import adjustments
from esr.boosts.boost import WEIGHT, Expansion, get
from esr.plans.plan import PlanTerm, Static

Boosts = Mapping[str, Mapping[str, Any]]
"""The boosts of a ranking and their parameters."""
Expansions = Mapping[str, Expansion]
"""By the name of the boost."""


def boost_weight(boosts: Boosts, name: str) -> float:
    return get(name).settings(boosts[name])[WEIGHT]


def term_weights(boosts: Boosts, expansions: Expansions) -> dict[str, float]:
    """The expansion terms in their order, with the sum of the weights that boosts give them."""
    weights: dict[str, float] = {}
    for name, expansion in expansions.items():
        for term, share in expansion.terms.items():
            weights[term] = weights.get(term, 0.0) + boost_weight(boosts, name) * share
    return weights


def add_terms(
    query_terms: Sequence[PlanTerm], unit_terms: Sequence[PlanTerm], weights: Mapping[str, float]
) -> tuple[PlanTerm, ...]:
    """The query's terms, then the other expansion terms, which make no candidates.

    `unit_terms` are the expansion terms as if each occurred once in the query. A term that the query has too
    gets heavier.
    """
    terms = {term.term: term for term in query_terms}
    for term in unit_terms:
        added = weights[term.term] * term.weight
        query_term = terms.get(term.term)
        terms[term.term] = (
            term._replace(weight=added, own=False)
            if query_term is None
            else query_term._replace(weight=query_term.weight + added)
        )
    return tuple(terms.values())


def weights_by_boost(
    boosts: Boosts, expansions: Expansions, terms: Sequence[PlanTerm], query_terms: Sequence[PlanTerm]
) -> dict[str, dict[str, float]]:
    """For each expanded term of a plan, how much of its weight comes from which boost.

    `query_terms` are those of the plan without boosts.
    """
    plain = {term.term: term.weight for term in query_terms}
    totals = term_weights(boosts, expansions)
    added = {term.term: term.weight - plain.get(term.term, 0.0) for term in terms if term.term in totals}
    return {
        term: {
            name: weight * boost_weight(boosts, name) * expansion.terms[term] / totals[term]
            for name, expansion in expansions.items()
            if term in expansion.terms
        }
        for term, weight in added.items()
        if weight
    }


def feature_steps(boosts: Boosts, expansions: Expansions) -> Iterator[tuple[str, str, Static]]:
    """The steps on features: the boost, the feature and the static of each."""
    for name, expansion in expansions.items():
        for feature in expansion.features:
            step = adjustments.Adjustment(feature, "step", {"w": boost_weight(boosts, name)})
            yield name, feature, step.static()
