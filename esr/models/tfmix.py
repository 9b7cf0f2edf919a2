"""tfmix: tfisf with the context's counts mixed into the sentence's."""

from esr.models.idf import IDF
from esr.models.likelihood import ALL_CONTEXTS, NU, at_most_one, contexts
from esr.models.model import Model, Query, Ranked, Settings, register
from esr.models.tfisf import terms
from esr.parameter import TENTHS, Parameter
from esr.plans.plan import Saturation, Smoothing


def plan(settings: Settings, query: Query) -> Ranked:
    """tfisf with c(t,s) replaced by alpha c(t,s) + (1 - alpha) c(t,context)."""
    alpha, nu = settings["alpha"], settings.nu
    at_most_one("alpha + nu", alpha + nu)
    around = contexts(settings, 1.0 - alpha - nu)
    transform = Saturation(None, Smoothing(alpha), Smoothing(around.surrounding), Smoothing(around.document))
    return Ranked(terms(settings, query), transform)


TFMIX = register(
    Model(
        "tfmix",
        "tfisf over mixed counts of the sentence and its context",
        "Fernández, Losada & Azzopardi 2011; docs/formulas.md, A.12",
        plan,
        (Parameter("alpha", "share of the sentence's own counts", 0.6, grid=TENTHS), NU, IDF),
        ALL_CONTEXTS,
    )
)
