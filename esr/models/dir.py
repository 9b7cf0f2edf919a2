"""Dirichlet smoothing with the collection: the longer a sentence, the less it is smoothed."""

from esr.models.likelihood import BACKGROUND, mu_parameter, weighted_terms
from esr.models.model import Model, Query, Settings, WeightedQuery, register
from esr.plans.plan import Affine, Mixture


def transform(settings: Settings) -> Mixture:
    """p(t|s) = (c(t,s) + mu p(t)) / (c(s) + mu) = (1 - beta) c(t,s)/c(s) + beta p(t)."""
    return Mixture(settings["mu"], Affine(1.0, -1.0), Affine(), Affine(), Affine(0.0, 1.0))


def plan(settings: Settings, query: Query) -> WeightedQuery:
    return WeightedQuery(weighted_terms(settings, query), transform(settings))


DIR = register(
    Model(
        "dir",
        "Dirichlet language model of the sentence",
        "Fernández, Losada & Azzopardi 2011, eq. 3; docs/formulas.md, A.3",
        plan,
        (mu_parameter(), BACKGROUND),
    )
)
