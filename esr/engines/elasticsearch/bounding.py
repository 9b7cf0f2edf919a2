"""A plan as a query for documents: the score is what the best sentence of a document can have at most.

It runs on the indices of documents, with the numbers that their entries keep (`peaks.py`). The scripts say
for one document what `esr.plans.bounds` says for arrays, from less: so their bounds are somewhat higher.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, NamedTuple

from esr.engines.elasticsearch.bounds import bounds
from esr.engines.elasticsearch.request import Query, filter_clauses
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


def bounded(
    plan: Plan, collection: CollectionStatistics, filters: Filters, leaving: Leaving | None = None
) -> Bounded | str:
    """The query, or why there are no bounds. `leaving` keeps documents out of it."""
    why = Bound(plan, collection.longest_sentence).impossible()
    if why is not None:
        return why
    inside = filter_clauses(filters, of="documents") + ([leaving.filter] if leaving else [])
    clauses = [_term_clause(plan, term) for term in plan.terms]
    # Where any term makes candidates, no second look for the documents that have one is needed.
    reaching = plan.candidates != "all" and len(plan.matching) == len(plan.terms)
    if not reaching:
        inside.append(reached(plan))
    query: Query = {"bool": {"should": clauses, "minimum_should_match": int(reaching), "filter": inside}}
    shift, size = math.fsum(bounds(static, collection)[1] for static in plan.statics), 1.0
    transform = plan.transform
    if isinstance(transform, Mixture):
        params = _base(plan, transform, collection)
        query = {"script_score": {"query": query, "script": {"id": BASE, "params": params}}}
        background = [term.weight * math.log(term.background) for term in plan.terms if term.own]
        shift += math.fsum([*background, -params["offset"]])
        size += params["offset"] + sum(map(abs, background))
    size += sum(sum(map(abs, bounds(static, collection))) for static in plan.statics)
    return Bounded(query, shift, _ROUNDING * (len(plan.terms) + 4) * size)


def reached(plan: Plan) -> Query:
    """Documents that may have candidates."""
    if plan.candidates == "all":
        return {"match_all": {}}
    return {"terms": {"context": list(plan.matching)}}


class Leaving(NamedTuple):
    """What keeps documents out that have one term alone, a frequent one; and what bounds them all."""

    filter: Query
    bound: float


def leaving_out(plan: Plan, collection: CollectionStatistics, frequent: Collection[str]) -> Leaving | None:
    """None where there is no such bound.

    It is of a sentence that has nothing but this term, in its surrounding and its document too: so it is high
    for rare terms, and of use for frequent ones.
    """
    if plan.candidates == "all" or len(plan.matching) < len(plan.terms):
        return None
    transform = plan.transform
    most = [bounds(static, collection)[1] for static in plan.statics]
    alone = [term for term in plan.terms if term.term in frequent]
    if isinstance(transform, Mixture):
        betas = _betas(transform, collection)
        shares = (transform.sentence, transform.surrounding, transform.document)
        evidence = max(math.fsum(share.constant + share.slope * beta for share in shares) for beta in betas)
        level = max(transform.collection.constant + transform.collection.slope * beta for beta in betas)
        base = _base(plan, transform, collection)
        ends = [math.log(transform.collection.constant + transform.collection.slope * b) for b in betas]
        most += [base["rising"] * max(ends), base["falling"] * min(ends)]
        most += [term.weight * math.log(term.background) for term in plan.terms]
        gains = [t.weight * math.log1p(evidence / (level * t.background)) for t in alone]
    elif transform.k1 is not None:
        gains = [term.weight * (transform.k1 + 1.0) for term in alone]
    else:
        return None
    others = [{"term": {"context": term.term}} for term in plan.terms]
    rare = [term.term for term in plan.terms if term.term not in frequent]
    two = {"bool": {"should": others, "minimum_should_match": 2}}
    return Leaving(
        {"bool": {"should": [{"terms": {"context": rare}}, two], "minimum_should_match": 1}},
        math.fsum([*most, max(0.0, *gains)]),
    )


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
