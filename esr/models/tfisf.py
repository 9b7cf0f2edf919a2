"""tfisf, the baseline: term frequency times inverse sentence frequency."""

import math

from esr.models.idf import IDF, tfisf_idf
from esr.models.model import Model, Query, Settings, WeightedQuery, register
from esr.plans.plan import PlanTerm, Saturation, Smoothing


def weighted_terms(settings: Settings, query: Query) -> tuple[PlanTerm, ...]:
    """log(c(t,q) + 1) * idf."""
    return tuple(
        PlanTerm(term, math.log1p(count) * tfisf_idf(settings, query, term))
        for term, count in query.counts.items()
    )


def plan(settings: Settings, query: Query) -> WeightedQuery:
    """sum of log(c(t,q) + 1) log(c(t,s) + 1) log( (N + 1) / (0.5 + sf) )."""
    return WeightedQuery(
        weighted_terms(settings, query), Saturation(None, Smoothing(1.0), Smoothing(), Smoothing())
    )


TFISF = register(
    Model(
        "tfisf",
        "term frequency times inverse sentence frequency",
        "Allan, Wade & Bolivar 2003; docs/formulas.md, A.10",
        plan,
        (IDF,),
    )
)
