"""2S-I, the default model: the sentence mixed with its context, then Dirichlet with the collection."""

from functools import lru_cache

from esr.models.likelihood import (
    BACKGROUND,
    NU,
    check_at_most_one,
    context_shares,
    mu_parameter,
    weighted_terms,
)
from esr.models.model import Model, Query, Settings, WeightedQuery, register
from esr.parameter import INNER_TENTHS, Parameter
from esr.plans.plan import Affine, Mixture


def plan(settings: Settings, query: Query) -> WeightedQuery:
    """p(t|s,d) = (1 - beta) [ (1 - lambda) p(t|s) + lambda p(t|context) ] + beta p(t).

    With both contexts: lambda for the document, nu for the surrounding, the rest for the sentence.
    """
    lambda_, nu = settings["lambda"], settings.nu
    check_at_most_one("lambda + nu", lambda_ + nu)
    transform = _mix(settings["mu"], 1.0 - lambda_ - nu, *context_shares(settings, lambda_))
    return WeightedQuery(weighted_terms(settings, query), transform)


@lru_cache(maxsize=64)
def _mix(mu: float, sentence: float, surrounding: float, document: float) -> Mixture:
    return Mixture(
        mu,
        Affine(sentence, -sentence),
        Affine(surrounding, -surrounding),
        Affine(document, -document),
        Affine(0.0, 1.0),
    )


TWO_STAGE_INVERTED = register(
    Model(
        "2si",
        "two-stage smoothing inverted: context by mixture, then collection by Dirichlet (the default)",
        "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.7",
        plan,
        (
            mu_parameter(30.0),
            Parameter(
                "lambda",
                "share of the context; of the document with --context both",
                0.25,
                grid=INNER_TENTHS,
            ),
            NU,
            BACKGROUND,
        ),
        ("both", "document", "surrounding"),
    )
)
