"""BM25 over sentences."""

from esr.models.idf import K3, bm25_idf, saturated_count
from esr.models.model import Model, Query, Settings, WeightedQuery, register
from esr.parameter import TENTHS, Parameter
from esr.plans.plan import PlanTerm, Saturation, Smoothing

K1_GRID = tuple(1.0 + tenth for tenth in TENTHS)
K1 = Parameter("k1", "saturation of repeated terms", 1.2, high=float("inf"), grid=K1_GRID)


def weighted_terms(settings: Settings, query: Query) -> tuple[PlanTerm, ...]:
    """idf times the saturated count of the term in the query."""
    return tuple(
        PlanTerm(term, bm25_idf(query, term) * saturated_count(count, settings["k3"]))
        for term, count in query.counts.items()
    )


def plan(settings: Settings, query: Query) -> WeightedQuery:
    """sum of idf (k1 + 1) c(t,s) / ( k1 ((1 - b) + b c(s)/avsl) + c(t,s) )."""
    average_length = query.statistics.collection.average_sentence or 1.0
    sentence = Smoothing(1.0, settings["b"], average_length)
    return WeightedQuery(
        weighted_terms(settings, query), Saturation(settings["k1"], sentence, Smoothing(), Smoothing())
    )


BM25 = register(
    Model(
        "bm25",
        "Okapi BM25 over sentences",
        "Robertson et al. 1999; docs/formulas.md, A.9",
        plan,
        (K1, Parameter("b", "length normalisation", 0.75, grid=TENTHS), K3),
    )
)
