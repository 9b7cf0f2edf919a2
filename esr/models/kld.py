"""Negative Kullback-Leibler divergence between the query and a Dirichlet-smoothed sentence."""

from esr.models.dir import transform
from esr.models.likelihood import BACKGROUND, mu_parameter, weighted_terms
from esr.models.model import Model, Query, Settings, WeightedQuery, register


def plan(settings: Settings, query: Query) -> WeightedQuery:
    """sum of p(t|q) log p(t|s), p(t|q) = c(t,q)/c(q): `dir` divided by the query's length.

    A prior or a feature is added to the score, so it counts c(q) times as much as beside `dir`.
    """
    return WeightedQuery(
        weighted_terms(settings, query, scale=1.0 / max(query.length, 1)), transform(settings)
    )


KLD = register(
    Model(
        "kld",
        "Kullback-Leibler divergence with Dirichlet smoothing; ranks as dir does without priors and features",
        "Larkey et al. 2002; Fernández & Losada 2012; docs/formulas.md, B.2",
        plan,
        (mu_parameter(), BACKGROUND),
    )
)
