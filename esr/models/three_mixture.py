"""3MM: sentence, context and collection mixed with fixed weights."""

from esr.models.likelihood import (
    ALL_CONTEXTS,
    BACKGROUND,
    NU,
    check_at_most_one,
    context_shares,
    weighted_terms,
)
from esr.models.model import Model, Query, Settings, WeightedQuery, register
from esr.parameter import INNER_TENTHS, Parameter
from esr.plans.plan import Affine, Mixture


def plan(settings: Settings, query: Query) -> WeightedQuery:
    """Three readings of the formula; flat and flat_jm differ only in the meaning of `lambda`.

    flat     lambda p(t|s) + gamma p(t|context) + (1 - lambda - gamma) p(t)
    flat_jm  (1 - lambda - gamma) p(t|s) + gamma p(t|context) + lambda p(t)
    nested   (1 - lambda) [ (1 - gamma) p(t|s) + gamma p(t|context) ] + lambda p(t)
    """
    lambda_, gamma, nu, form = settings["lambda"], settings["gamma"], settings.nu, settings.choice("form")
    shares = context_shares(settings, gamma)
    scale = 1.0
    if form == "nested":
        check_at_most_one("gamma + nu", gamma + nu)
        scale = 1.0 - lambda_
        sentence, collection = scale * (1.0 - gamma - nu), lambda_
    else:
        rest = 1.0 - lambda_ - gamma - nu
        check_at_most_one("lambda + gamma + nu", lambda_ + gamma + nu, strictly=form == "flat")
        sentence, collection = (lambda_, rest) if form == "flat" else (rest, lambda_)
    if collection == 0.0:
        check_at_most_one("the share of all but the collection", 1.0, strictly=True)
    transform = Mixture(
        0.0,
        Affine(sentence),
        Affine(scale * shares.surrounding),
        Affine(scale * shares.document),
        Affine(collection),
    )
    return WeightedQuery(weighted_terms(settings, query), transform)


THREE_MIXTURE = register(
    Model(
        "3mm",
        "three-mixture model: sentence, context, collection",
        "Murdock 2006; Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.5",
        plan,
        (
            Parameter(
                "lambda",
                "share of the sentence (flat) or of the collection (flat_jm, nested)",
                0.5,
                grid=INNER_TENTHS,
            ),
            Parameter("gamma", "share of the context", 0.25, grid=INNER_TENTHS),
            NU,
            Parameter("form", "reading of the formula", "flat", choices=("flat", "flat_jm", "nested")),
            BACKGROUND,
        ),
        ALL_CONTEXTS,
    )
)
