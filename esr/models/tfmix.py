"""tfmix: tfisf with the context's counts mixed into the sentence's."""

from esr.models.idf import IDF
from esr.models.likelihood import ALL_CONTEXTS, NU, check_at_most_one, context_shares
from esr.models.model import Model, Query, Settings, WeightedQuery, register
from esr.models.tfisf import weighted_terms
from esr.parameter import TENTHS, Parameter
from esr.plans.plan import Saturation, Smoothing


def plan(settings: Settings, query: Query) -> WeightedQuery:
    """tfisf with c(t,s) replaced by alpha c(t,s) + (1 - alpha) c(t,context)."""
    alpha, nu = settings["alpha"], settings.nu
    check_at_most_one("alpha + nu", alpha + nu)
    shares = context_shares(settings, 1.0 - alpha - nu)
    transform = Saturation(None, Smoothing(alpha), Smoothing(shares.surrounding), Smoothing(shares.document))
    return WeightedQuery(weighted_terms(settings, query), transform)


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
