"""2S: Dirichlet smoothing with the context, then Jelinek-Mercer with the collection."""

from esr.models.likelihood import ALL_CONTEXTS, BACKGROUND, NU, mu, terms
from esr.models.model import Model, Query, Ranked, Settings, register
from esr.parameter import INNER_TENTHS, Parameter
from esr.plans.plan import Affine, Mixture


def plan(settings: Settings, query: Query) -> Ranked:
    """p(t|s,d) = (1 - lambda) (c(t,s) + mu p(t|context)) / (c(s) + mu) + lambda p(t).

    With both contexts, p(t|context) is (1 - nu) of the document and nu of the surrounding.
    """
    weight = settings["lambda"]
    around = 1.0 if settings.context == "surrounding" else settings.nu
    transform = Mixture(
        settings["mu"],
        Affine(1.0 - weight, weight - 1.0),
        Affine(0.0, (1.0 - weight) * around),
        Affine(0.0, (1.0 - weight) * (1.0 - around)),
        Affine(weight),
    )
    return Ranked(terms(settings, query), transform)


TWO_STAGE = register(
    Model(
        "2s",
        "two-stage smoothing: context by Dirichlet, then collection by mixture",
        "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.6",
        plan,
        (
            mu(),
            Parameter("lambda", "share of the collection", 0.25, open_low=True, grid=INNER_TENTHS),
            NU,
            BACKGROUND,
        ),
        ALL_CONTEXTS,
    )
)
