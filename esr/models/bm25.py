"""BM25 over sentences."""

from esr.models.idf import K3, bm25_idf, repeated
from esr.models.model import Model, Query, Ranked, Settings, register
from esr.parameter import TENTHS, Parameter
from esr.plans.plan import PlanTerm, Saturation, Smoothing

K1_GRID = tuple(1.0 + tenth for tenth in TENTHS)
K1 = Parameter("k1", "saturation of repeated terms", 1.2, high=float("inf"), grid=K1_GRID)


def terms(settings: Settings, query: Query) -> tuple[PlanTerm, ...]:
    """idf times the weight of a repeated query term."""
    return tuple(
        PlanTerm(term, bm25_idf(query, term) * repeated(count, settings["k3"]))
        for term, count in query.counts.items()
    )


def plan(settings: Settings, query: Query) -> Ranked:
    """sum of idf (k1 + 1) c(t,s) / ( k1 ((1 - b) + b c(s)/avsl) + c(t,s) )."""
    average = query.statistics.collection.average_sentence or 1.0
    sentence = Smoothing(1.0, settings["b"], average)
    return Ranked(terms(settings, query), Saturation(settings["k1"], sentence, Smoothing(), Smoothing()))


BM25 = register(
    Model(
        "bm25",
        "Okapi BM25 over sentences",
        "Robertson et al. 1999; docs/formulas.md, A.9",
        plan,
        (K1, Parameter("b", "length normalisation", 0.75, grid=TENTHS), K3),
    )
)
