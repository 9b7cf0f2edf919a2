"""Dirichlet smoothing: the sentence smoothed with the collection, less so the longer it is."""

from esr.models.likelihood import BACKGROUND, mu, terms
from esr.models.model import Model, Query, Ranked, Settings, register
from esr.plans.plan import Affine, Mixture


def transform(settings: Settings) -> Mixture:
    """p(t|s) = (c(t,s) + mu p(t)) / (c(s) + mu) = (1 - beta) c(t,s)/c(s) + beta p(t)."""
    return Mixture(settings["mu"], Affine(1.0, -1.0), Affine(), Affine(), Affine(0.0, 1.0))


def plan(settings: Settings, query: Query) -> Ranked:
    return Ranked(terms(settings, query), transform(settings))


DIR = register(
    Model(
        "dir",
        "Dirichlet language model of the sentence",
        "Fernández, Losada & Azzopardi 2011, eq. 3; docs/formulas.md, A.3",
        plan,
        (mu(), BACKGROUND),
    )
)
