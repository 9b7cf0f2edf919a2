"""2S: Dirichlet smoothing with the context, then Jelinek-Mercer with the collection."""

from esr.models.likelihood import ALL_CONTEXTS, BACKGROUND, NU, mu_parameter, weighted_terms
from esr.models.model import Model, Query, Settings, WeightedQuery, register
from esr.parameter import INNER_TENTHS, Parameter
from esr.plans.plan import Affine, Mixture


def plan(settings: Settings, query: Query) -> WeightedQuery:
    """p(t|s,d) = (1 - lambda) (c(t,s) + mu p(t|context)) / (c(s) + mu) + lambda p(t).

    With both contexts, p(t|context) is (1 - nu) of the document and nu of the surrounding.
    """
    lambda_ = settings["lambda"]
    surrounding = 1.0 if settings.context == "surrounding" else settings.nu
    transform = Mixture(
        settings["mu"],
        Affine(1.0 - lambda_, lambda_ - 1.0),
        Affine(0.0, (1.0 - lambda_) * surrounding),
        Affine(0.0, (1.0 - lambda_) * (1.0 - surrounding)),
        Affine(lambda_),
    )
    return WeightedQuery(weighted_terms(settings, query), transform)


TWO_STAGE = register(
    Model(
        "2s",
        "two-stage smoothing: context by Dirichlet, then collection by mixture",
        "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.6",
        plan,
        (
            mu_parameter(),
            Parameter("lambda", "share of the collection", 0.25, open_low=True, grid=INNER_TENTHS),
            NU,
            BACKGROUND,
        ),
        ALL_CONTEXTS,
    )
)
