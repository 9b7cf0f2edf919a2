"""A plan as a query whose scores are upper bounds, for the sentences of documents or for single sentences.

The bounds of documents come from the term maxima in their entries. For one document, the scripts compute what
`esr.plans.bounds` computes for arrays, from less data, so their bounds are somewhat higher. Most sentences of
a document get far less than its best one: a sentence's score depends on the terms near it, in the sentence
or, if that counts, in its surrounding. So `NearQueries` bounds scores by the number of terms near a sentence.

The bounds of sentences exist for the mixture of the impacts only (`esr.elastic.impacts`). They need no
script: what a term adds to any sentence far from it is one number, and the rest is stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from esr.elastic.impacts import EMPTY, GREATEST_LENGTH, IMPACT_BOOST, IMPACTS_FIELD, MAXIMA_FIELD, Slack
from esr.elastic.search.filters import (
    Query,
    condition_clauses,
    document_query,
    document_rule_clause,
    filter_clauses,
    rule_clause,
)
from esr.elastic.search.score_query import mixture_numbers
from esr.elastic.statistics import static_bounds
from esr.index.filters import Filters
from esr.plans.bounds import Bound
from esr.plans.evaluate import Array
from esr.plans.plan import CollectionStatistics, FieldName, Mixture, Plan, PlanTerm, Unprunable

Amount = Literal["bound", "far", "lift"]
"""The most that a term adds: to any sentence, to one far from it, and the increment for one near it."""
_MIXTURE_SCRIPTS: Mapping[Amount, str] = {
    "bound": "esr-mixture-bound-v2",
    "far": "esr-mixture-far-v1",
    "lift": "esr-mixture-lift-v1",
}
_SATURATION_SCRIPTS: Mapping[Amount, str] = {
    "bound": "esr-saturation-bound-v1",
    "far": "esr-saturation-far-v1",
    "lift": "esr-saturation-lift-v1",
}
BASE_SCRIPT = "esr-base-v2"
SCRIPTS = (*_MIXTURE_SCRIPTS.values(), *_SATURATION_SCRIPTS.values(), BASE_SCRIPT)
ROLES: dict[str, FieldName] = {"own": "sentence", "middle": "surrounding", "wide": "document"}
_ROUNDING = 1e-6
"""More than the relative error of one operation on 32-bit scores."""
_MANY_TERMS = 100
"""With more terms, there is no query for `impact`, since the clauses of a request are limited."""


_bound = lru_cache(64)(Bound)
"""Cached, since transforms are few and queries many."""


class BoundQuery(NamedTuple):
    """A query for documents or sentences. Its scores plus `shift` are upper bounds, except for rounding.

    A sentence with the score s, and its document, have a bound of at least s - rounding_margin * (1 + |s|).
    """

    query: Query
    shift: float
    rounding_margin: float

    def least_bound(self, score: float) -> float:
        """The least bound that a sentence of this score can have."""
        return score - self.rounding_margin * (1 + abs(score))


def bound_query(plan: Plan, collection: CollectionStatistics, filters: Filters) -> BoundQuery | Unprunable:
    """The query that bounds the sentences of each document, or the reason why there is none."""
    bound = _bound(plan.transform, collection.longest_sentence)
    reason = bound.unavailable_reason(plan.terms)
    if reason is not None:
        return Unprunable(reason)
    if collection.longest_sentence > GREATEST_LENGTH:
        return Unprunable(f"a sentence has more than {GREATEST_LENGTH:,} terms")
    return _with_rest(plan, collection, _term_sum(plan, filters))


def _with_rest(plan: Plan, collection: CollectionStatistics, query: Query) -> BoundQuery:
    """Add the other parts of scores to a query that sums up what terms can add."""
    ranges = [static_bounds(static_score, collection) for static_score in plan.static_scores]
    shift, magnitude = math.fsum(high for _, high in ranges), 1.0
    transform = plan.transform
    if isinstance(transform, Mixture):
        constants = [term.weight * math.log(term.background) for term in plan.terms if term.own]
        numbers, offset = _base_numbers(plan, transform, collection)
        script = {"id": BASE_SCRIPT, "params": {"numbers": numbers}}
        query = {"script_score": {"query": query, "script": script}}
        constants.append(-offset)
        shift += math.fsum(constants)
        magnitude += sum(map(abs, constants))
    magnitude += sum(sum(map(abs, range)) for range in ranges)
    return BoundQuery(query, shift, rounding_margin(plan, magnitude))


def rounding_margin(plan: Plan, magnitude: float) -> float:
    """The margin of a query, given the sum of the absolute values that are added to its scores."""
    return _ROUNDING * (len(plan.terms) + 4) * magnitude


class NearQueries(NamedTuple):
    """Queries that bound the sentences of a document by the number of terms near them.

    A sentence with n of the terms near it gets at most `far` + n `impact`. `field` is the field that contains
    these terms. `impact` is None if unknown.
    """

    far: BoundQuery
    impact: Query | None
    field: FieldName

    def impact_per_term(self, scores: Array) -> Array:
        """The impacts of documents, given their scores of the query `impact`."""
        return scores * (1 + _ROUNDING)


def near_queries(plan: Plan, collection: CollectionStatistics) -> NearQueries:
    """The queries of a plan that has bounds. `far` matches every document."""
    clauses = [_term_clause(plan, term, "far") for term in plan.terms]
    query: Query = {"bool": {"should": clauses, "filter": [{"match_all": {}}]}}
    impact: Query | None = None
    if 0 < len(plan.terms) <= _MANY_TERMS:
        impact = {"dis_max": {"queries": [_term_clause(plan, term, "lift") for term in plan.terms]}}
    field: FieldName = "surrounding" if "surrounding" in plan.transform.fields() else "sentence"
    return NearQueries(_with_rest(plan, collection, query), impact, field)


def _term_sum(plan: Plan, filters: Filters) -> Query:
    """A query that scores documents which may have candidates by the sum of what each term can add."""
    clauses = [_term_clause(plan, term) for term in plan.terms]
    filter = filter_clauses(filters, of="documents")
    of_condition = None if plan.condition is None else document_query(plan.condition)
    filter += [] if of_condition is None else [of_condition]
    # If every term makes candidates, the clauses match exactly the documents that can have candidates.
    terms_match_candidates = plan.candidates != "all" and len(plan.candidate_terms) == len(plan.terms)
    if not terms_match_candidates:
        filter.append(document_rule_clause(plan))
    return {
        "bool": {"should": clauses, "minimum_should_match": int(terms_match_candidates), "filter": filter}
    }


def _term_clause(plan: Plan, term: PlanTerm, amount: Amount = "bound") -> Query:
    """A query for what a term adds to a document. Its script reads the weight of the term maxima.

    The clause on `context` adds nothing to the score; it provides the count.
    """
    count: Query = {"term": {"context": {"value": term.term, "boost": 0}}}
    query = {"bool": {"should": [{"term": {MAXIMA_FIELD: term.term}}, count]}}
    transform = plan.transform
    params: dict[str, Any] = {role: list(getattr(transform, name)) for role, name in ROLES.items()}
    if isinstance(transform, Mixture):
        script = _MIXTURE_SCRIPTS[amount]
        params = {"numbers": [*mixture_numbers(transform, term, **params), not term.own]}
    else:
        script = _SATURATION_SCRIPTS[amount]
        params |= {"weight": term.weight, "k1": -1 if transform.k1 is None else transform.k1}
    if amount == "far":
        query = count
    return {"script_score": {"query": query, "script": {"id": script, "params": params}}}


def _base_numbers(
    plan: Plan, transform: Mixture, collection: CollectionStatistics
) -> tuple[list[float], float]:
    """The parameters of esr-base-v2, and the offset among them, which keeps scores above 0."""
    weights = [term.weight for term in plan.terms if term.own]
    positive = math.fsum(weight for weight in weights if weight > 0)
    negative = math.fsum(weight for weight in weights if weight <= 0)
    constant, slope = transform.collection
    log_collection = [math.log(constant + slope * beta) for beta in _beta_range(transform, collection)]
    lowest = positive * min(log_collection) + negative * max(log_collection)
    offset = max(0.0, -lowest)
    return [transform.mu, constant, slope, offset, positive, negative], offset


def _beta_range(transform: Mixture, collection: CollectionStatistics) -> tuple[float, float]:
    """beta of an empty sentence and of the collection's longest one."""
    mu = transform.mu
    return (1.0, mu / (collection.longest_sentence + mu)) if mu else (0.0, 0.0)


_MOST_TERMS = 100
"""With more terms, searches by documents are faster, and the clauses of a request are limited."""
_GREATEST_SLACK = 1.0
"""With more slack per term, too many bounds reach the last hit, and searches by documents are faster."""
_GREATEST_WEIGHT = 16.0
"""With a greater sum of weights, boosts would be too great for 32 bits."""


def sentence_bounds(plan: Plan, filters: Filters, slack: Slack) -> BoundQuery | None:
    """The query that bounds sentences, or None if the plan has none. It may also match non-candidates.

    The plan has terms. `slack` is the base and slack of the impacts. Plans with priors or features have no
    such query: with the most that these can add, too many sentences would reach the last hit.
    """
    weight = math.fsum(term.weight for term in plan.terms)
    transform = plan.transform
    if plan.static_scores or not isinstance(transform, Mixture):
        return None
    if weight > _GREATEST_WEIGHT or len(plan.terms) > _MOST_TERMS:
        return None
    if slack.mean(plan.terms) > _GREATEST_SLACK:
        return None
    clauses = [_impact_clause(EMPTY, weight)]
    constants = [weight * slack.base.log_collection]
    for term in plan.terms:
        far = math.log1p(slack.base.scale / term.background) + slack.of_term(term.term)
        has_term = {"term": {"context": term.term}}
        clauses.append(_impact_clause(term.term, term.weight))
        clauses.append({"constant_score": {"filter": has_term, "boost": term.weight * far}})
        constants.append(term.weight * math.log(term.background))
    filter = [*filter_clauses(filters), *condition_clauses(plan)]
    if (plan.candidates, plan.context) != ("context", "document"):
        filter.append(rule_clause(plan))
    least = 0 if plan.candidates == "all" else 1
    query: Query = {"bool": {"should": clauses, "minimum_should_match": least, "filter": filter}}
    return BoundQuery(query, math.fsum(constants), rounding_margin(plan, 1 + sum(map(abs, constants))))


def _impact_clause(term: str, weight: float) -> Query:
    """A clause that scores the impact of the term, times the weight."""
    return {"term": {IMPACTS_FIELD: {"value": term, "boost": weight * IMPACT_BOOST}}}


def with_named_scores(query: Query, others: Mapping[str, Query]) -> Query:
    """A query with the matches and ranking of `query`, whose hits also have scores by `others`, by name."""
    # An optional clause of a filter has no influence on matches, so it is not run for them. But it has a
    # name, so Elasticsearch scores the hits of the answer by it.
    named = [{"bool": {"should": [other], "_name": name}} for name, other in others.items()]
    optional = {"bool": {"filter": [{"match_all": {}}], "should": named}}
    return {"bool": {"must": [query], "filter": [optional]}}
