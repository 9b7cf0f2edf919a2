"""A plan as a query for documents: the score is what the best sentence of a document can have at most.

It runs on the indices of documents, with the numbers that their entries keep. The scripts say from `peaks.py`
for one document what `esr.plans.bounds` says for arrays, from less: so their bounds are somewhat higher. For
one mixture it is kept what those say (`impacts.py`), and no script runs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from esr.engines.elasticsearch.search.request import Query, filter_clauses
from esr.engines.elasticsearch.store.bounds import bounds
from esr.engines.elasticsearch.store.impacts import EMPTY
from esr.engines.index import Filters
from esr.plans.bounds import Bound
from esr.plans.plan import FieldName, Mixture, Plan, PlanTerm
from esr.plans.statistics import CollectionStatistics

MIXTURE, SATURATION, BASE = "esr-mixture-bound-v1", "esr-saturation-bound-v1", "esr-base-v1"
SCRIPTS = (MIXTURE, SATURATION, BASE)
ROLES: dict[str, FieldName] = {"own": "sentence", "middle": "surrounding", "wide": "document"}
_ROUNDING = 1e-6
"""What one operation on 32-bit scores may lose of them, and more."""


class Bounded(NamedTuple):
    """A query for documents, what to add to its scores to get bounds, and what rounding may take from both.

    A sentence of score s may be in the documents whose bound is at least s - slack * (1 + |s|).
    """

    query: Query
    shift: float
    slack: float

    def reach(self, score: float) -> float:
        """The least bound of documents that may have a sentence of this score."""
        return score - self.slack * (1 + abs(score))


def bounded(plan: Plan, collection: CollectionStatistics, filters: Filters, kept: bool) -> Bounded | str:
    """The query, or why there are no bounds. `kept`: by the impacts that documents have, as they fit it."""
    bound = Bound(plan.transform, collection.longest_sentence)
    why = bound.impossible(plan.terms)
    if why is not None:
        return why
    inside = filter_clauses(filters, of="documents")
    clauses = [_impact(term.term, term.weight) if kept else _term_clause(plan, term) for term in plan.terms]
    # Where any term makes candidates, no second look for the documents that have one is needed.
    reaching = plan.candidates != "all" and len(plan.matching) == len(plan.terms)
    if not reaching:
        inside.append(_reached(plan))
    query: Query = {"bool": {"should": clauses, "minimum_should_match": int(reaching), "filter": inside}}
    shift, size = math.fsum(bounds(static, collection)[1] for static in plan.statics), 1.0
    transform = plan.transform
    if isinstance(transform, Mixture):
        constants = [term.weight * math.log(term.background) for term in plan.terms if term.own]
        if kept:
            weight = math.fsum(term.weight for term in plan.terms)
            query = {"bool": {"must": [query], "should": [_impact(EMPTY, weight)]}}
            constants.append(weight * bound.least)
        else:
            params = _base(plan, transform, collection)
            query = {"script_score": {"query": query, "script": {"id": BASE, "params": params}}}
            constants.append(-params["offset"])
        shift += math.fsum(constants)
        size += sum(map(abs, constants))
    size += sum(sum(map(abs, bounds(static, collection))) for static in plan.statics)
    return Bounded(query, shift, _ROUNDING * (len(plan.terms) + 4) * size)


def _reached(plan: Plan) -> Query:
    """Documents that may have candidates."""
    if plan.candidates == "all":
        return {"match_all": {}}
    return {"terms": {"context": list(plan.matching)}}


def _impact(term: str, weight: float) -> Query:
    """The score of `impacts` is what the term adds at most, times the boost."""
    return {"term": {"impacts": {"value": term, "boost": weight}}}


def _term_clause(plan: Plan, term: PlanTerm) -> Query:
    """The score of `peaks` is its weight; `context` adds nothing to it, and is there to be counted."""
    peak = {"term": {"peaks": term.term}}
    count = {"term": {"context": {"value": term.term, "boost": 0}}}
    transform = plan.transform
    params: dict[str, Any] = {role: list(getattr(transform, name)) for role, name in ROLES.items()}
    params["weight"] = term.weight
    if isinstance(transform, Mixture):
        script = MIXTURE
        params |= {"mu": transform.mu, "collection": list(transform.collection)}
        params |= {"background": term.background, "gain": not term.own}
    else:
        script = SATURATION
        params |= {"k1": -1 if transform.k1 is None else transform.k1}
    query = {"bool": {"should": [peak, count]}}
    return {"script_score": {"query": query, "script": {"id": script, "params": params}}}


def _base(plan: Plan, transform: Mixture, collection: CollectionStatistics) -> dict[str, Any]:
    """The parameters of esr-base-v1; the offset keeps scores above 0."""
    own = [term.weight for term in plan.terms if term.own]
    rising, falling = (math.fsum(w for w in own if (w > 0) is up) for up in (True, False))
    constant, slope = transform.collection
    ends = [math.log(constant + slope * beta) for beta in _betas(transform, collection)]
    lowest = rising * min(ends) + falling * max(ends)
    return {
        "mu": transform.mu,
        "collection": [constant, slope],
        "rising": rising,
        "falling": falling,
        "offset": max(0.0, -lowest),
    }


def _betas(transform: Mixture, collection: CollectionStatistics) -> tuple[float, float]:
    """beta of an empty sentence and of the collection's longest."""
    mu = transform.mu
    return (1.0, mu / (collection.longest_sentence + mu)) if mu else (0.0, 0.0)
