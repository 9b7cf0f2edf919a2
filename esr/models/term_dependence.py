"""Models of term dependence: a first stage by single terms, then a second by dependency trees.

TDSR ranks by the best set of query terms alone; its first stage, tfisf, only selects sentences. The Markov
random fields add potentials of term sets to f_I, the potential of single terms, which is the first stage.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from esr.dependency.random_fields import ALIASES as SHORT_NAMES
from esr.dependency.random_fields import MRF_PARAMETERS
from esr.dependency.tdsr import TDSR_PARAMETERS
from esr.models.language_models import DIR, JM
from esr.models.model import ALIASES, Model, Query, SecondStage, Settings, WeightedQuery
from esr.models.tfidf_models import TFISF, tfisf_idf
from esr.plans.plan import PlanTerm, Saturation, Smoothing

# Parameters of the single-term models that are fixed in these models.
_FIXED = {"background": "occurrences", "idf": "sentence"}


def _tfisf(settings: Settings, query: Query) -> WeightedQuery:
    """sum over the query's positions of log(c(t,s) + 1) log( (N + 1) / (0.5 + sf) )."""
    terms = tuple(
        PlanTerm(term, count * tfisf_idf(settings, query, term)) for term, count in query.counts.items()
    )
    return WeightedQuery(terms, Saturation(None, Smoothing(1.0), Smoothing(), Smoothing()))


def _binary(settings: Settings, query: Query) -> WeightedQuery:
    """The number of the query's positions whose term is in the sentence."""
    terms = tuple(PlanTerm(term, float(count)) for term, count in query.counts.items())
    return WeightedQuery(terms, Saturation(0.0, Smoothing(1.0), Smoothing(), Smoothing()))


F_I: dict[str, Callable[[Settings, Query], WeightedQuery]] = {
    "dir": DIR.plan,
    "jm": JM.plan,
    "tfisf": _tfisf,
    "binary": _binary,
}
"""The potential of single terms, f_I, summed over a query (docs/formulas.md, D.3)."""


def _first_stage_settings(settings: Settings) -> Settings:
    return Settings({**_FIXED, **settings.values}, settings.context)


def _plan_mrf(settings: Settings, query: Query) -> WeightedQuery:
    return F_I[settings.choice("f_I")](_first_stage_settings(settings), query)


def _plan_tdsr(settings: Settings, query: Query) -> WeightedQuery:
    return TFISF.plan(_first_stage_settings(settings), query)


def _tdsr_second_stage(settings: Settings) -> SecondStage:
    return SecondStage(0.0, "tdsr", settings.choice("ties") == "score")


def _mrf_second_stage(signal: str | None, settings: Settings) -> SecondStage:
    return SecondStage(settings["lambda_I"], signal)


TDSR = Model(
    "tdsr",
    "the sentence's best set of query terms in its dependency tree, over candidates by tfisf",
    "Cai, Bu, Chen & Liu 2007; docs/formulas.md, section C",
    _plan_tdsr,
    TDSR_PARAMETERS,
    second_stage=_tdsr_second_stage,
)


def _mrf(name: str, signal: str | None, cliques: str) -> Model:
    return Model(
        name,
        f"Markov random field of {cliques} over the dependency tree",
        "Cai, Chen, Liu, Bu & Huang 2007; docs/formulas.md, section D",
        _plan_mrf,
        MRF_PARAMETERS,
        second_stage=partial(_mrf_second_stage, signal),
    )


MRF_FIDM = _mrf("mrf_fidm", None, "single query terms (full independence)")
MRF_SDM = _mrf("mrf_sdm", "mrf_sdm", "single terms and pairs of neighbours (sequential dependence)")
MRF_FDM = _mrf("mrf_fdm", "mrf_fdm", "single terms and all their sets (full dependence)")
ALIASES.update(SHORT_NAMES)
