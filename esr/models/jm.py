"""Jelinek-Mercer smoothing: the sentence mixed with the collection."""

from esr.models.likelihood import BACKGROUND, weighted_terms
from esr.models.model import Model, Query, Settings, WeightedQuery, register
from esr.parameter import INNER_TENTHS, Parameter
from esr.plans.plan import Affine, Mixture


def transform(settings: Settings) -> Mixture:
    """p(t|s) = (1 - lambda) c(t,s)/c(s) + lambda p(t)."""
    collection = settings["lambda"]
    return Mixture(0.0, Affine(1.0 - collection), Affine(), Affine(), Affine(collection))


def plan(settings: Settings, query: Query) -> WeightedQuery:
    return WeightedQuery(weighted_terms(settings, query), transform(settings))


JM = register(
    Model(
        "jm",
        "Jelinek-Mercer language model of the sentence",
        "Fernández, Losada & Azzopardi 2011, eq. 2; docs/formulas.md, A.2",
        plan,
        (Parameter("lambda", "share of the collection", 0.5, open_low=True, grid=INNER_TENTHS), BACKGROUND),
    )
)
