"""A plan as a query for sentences, whose score bounds their scores from above, for the mixture of the lifts.

No script runs: what a term adds to any sentence far from it is one number, and how much more it adds to those
near it is stored (`esr.engines.elasticsearch.store.lifts`).
"""

from __future__ import annotations

import math

from esr.engines.elasticsearch.search.bound_query import BoundQuery, rounding_margin
from esr.engines.elasticsearch.search.candidate_query import condition_clauses, rule_clause
from esr.engines.elasticsearch.search.filter_clauses import Query, filter_clauses
from esr.engines.elasticsearch.store.lift_description import Widening
from esr.engines.elasticsearch.store.lifts import (
    EMPTY,
    LIFT_BOOST,
    LIFTS_FIELD,
)
from esr.engines.index import Filters
from esr.plans.plan import Mixture, Plan

_MOST_TERMS = 100
"""With more, another way is faster, and a request has only so many clauses."""
_GREATEST_WIDENING = 1.0
"""If deliveries have added more for each term, another way is faster: too many bounds reach the last hit."""
_GREATEST_WEIGHT = 16.0
"""With greater weights in all, boosts would be too great for 32 bits."""


def sentence_bounds(plan: Plan, filters: Filters, widening: Widening) -> BoundQuery | None:
    """The query, or None for a plan that has none. It may match sentences too that are no candidates.

    The plan has terms. `widening`: what makes bounds of the lifts. A plan with priors or features has no such
    query: with what these can add at most, too many sentences would reach the last hit.
    """
    weight = math.fsum(term.weight for term in plan.terms)
    transform = plan.transform
    if plan.statics or not isinstance(transform, Mixture):
        return None
    if weight > _GREATEST_WEIGHT or len(plan.terms) > _MOST_TERMS:
        return None
    if widening.mean(plan.terms) > _GREATEST_WIDENING:
        return None
    clauses = [_lift_clause(EMPTY, weight)]
    constants = [weight * widening.base.log_collection]
    for term in plan.terms:
        far = math.log1p(widening.base.scale / term.background) + widening.of_term(term.term)
        has_term = {"term": {"context": term.term}}
        clauses.append(_lift_clause(term.term, term.weight))
        clauses.append({"constant_score": {"filter": has_term, "boost": term.weight * far}})
        constants.append(term.weight * math.log(term.background))
    filter = [*filter_clauses(filters), *condition_clauses(plan)]
    if (plan.candidates, plan.context) != ("context", "document"):
        filter.append(rule_clause(plan))
    least = 0 if plan.candidates == "all" else 1
    query: Query = {"bool": {"should": clauses, "minimum_should_match": least, "filter": filter}}
    return BoundQuery(query, math.fsum(constants), rounding_margin(plan, 1 + sum(map(abs, constants))))


def _lift_clause(term: str, weight: float) -> Query:
    """Its score is the lift of the term, times the weight."""
    return {"term": {LIFTS_FIELD: {"value": term, "boost": weight * LIFT_BOOST}}}
