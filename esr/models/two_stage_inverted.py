"""2S-I, the default model: the sentence mixed with its context, then Dirichlet with the collection."""

from esr.models.likelihood import BACKGROUND, NU, at_most_one, contexts, mu, terms
from esr.models.model import Model, Query, Ranked, Settings, register
from esr.parameter import INNER_TENTHS, Parameter
from esr.plans.plan import Affine, Mixture


def plan(settings: Settings, query: Query) -> Ranked:
    """p(t|s,d) = (1 - beta) [ (1 - lambda) p(t|s) + lambda p(t|context) ] + beta p(t).

    With both contexts: lambda for the document, nu for the surrounding, the rest for the sentence.
    """
    weight, nu = settings["lambda"], settings.nu
    at_most_one("lambda + nu", weight + nu)
    around = contexts(settings, weight)
    sentence = 1.0 - weight - nu
    transform = Mixture(
        settings["mu"],
        Affine(sentence, -sentence),
        Affine(around.surrounding, -around.surrounding),
        Affine(around.document, -around.document),
        Affine(0.0, 1.0),
    )
    return Ranked(terms(settings, query), transform)


TWO_STAGE_INVERTED = register(
    Model(
        "2si",
        "two-stage smoothing inverted: context by mixture, then collection by Dirichlet (the default)",
        "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.7",
        plan,
        (
            mu(30.0),
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
