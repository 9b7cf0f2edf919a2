"""Expansions in plans: the terms and steps that boosts add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from esr.models.adjustments import Adjustment
from esr.plans.plan import PlanTerm, StaticScore
from esr.ranking.boosts.boost import WEIGHT, Expansion, get

Boosts = Mapping[str, Mapping[str, Any]]
"""The boosts of a ranking, with their parameters."""
Expansions = Mapping[str, Expansion]
"""Expansions by the name of their boost."""


def boost_weight(boosts: Boosts, name: str) -> float:
    return get(name).settings(boosts[name])[WEIGHT]


def term_weights(boosts: Boosts, expansions: Expansions) -> dict[str, float]:
    """The expansion terms in order, each with the sum of its weights from all boosts."""
    weights: dict[str, float] = {}
    for name, expansion in expansions.items():
        for term, share in expansion.terms.items():
            weights[term] = weights.get(term, 0.0) + boost_weight(boosts, name) * share
    return weights


def add_terms(
    query_terms: Sequence[PlanTerm], unit_terms: Sequence[PlanTerm], weights: Mapping[str, float]
) -> tuple[PlanTerm, ...]:
    """Return the query's terms, then the other expansion terms, which do not make sentences candidates.

    `unit_terms` are the expansion terms as if each occurred once in the query. A term that is also in the
    query gets the sum of both weights.
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
    """Split the weight of each expanded term of a plan by boost.

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


def feature_steps(boosts: Boosts, expansions: Expansions) -> Iterator[tuple[str, str, StaticScore]]:
    """Yield the boost, the feature and the static score of each step on a feature."""
    for name, expansion in expansions.items():
        for feature in expansion.features:
            step = Adjustment(feature, "step", {"w": boost_weight(boosts, name)})
            yield name, feature, step.static_score()
