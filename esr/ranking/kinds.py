"""What can be a signal of the second stage: term dependence, a model, a prior, a feature.

tdsr, mrf_sdm, mrf_fdm       the signals of esr.dependency
dir, 2si both, 2si document  a model in a context, as a first stage would score
prior importance             a prior
feature subj                 a feature's value
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from esr import models, priors
from esr.adjustments.adjustment import feature_column
from esr.dependency import signals
from esr.errors import unknown
from esr.models import Model
from esr.parameter import Parameter, Value, describe
from esr.plans.evidence import Array
from esr.plans.plan import Plan
from esr.ranking.view import View

PRIOR, FEATURE = "prior ", "feature "


@dataclass(frozen=True)
class Kind:
    """A number of each sentence for a query. `scores` has shape (n,), NaN where there is no value.

    `group` is what belongs together in a report. `column` is a stored number that it looks at.
    """

    name: str
    group: str
    description: str
    source: str
    parameters: tuple[Parameter, ...]
    scores: Callable[[View, Mapping[str, Value]], Array]
    column: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return describe(self)


def find(name: str) -> Kind:
    """The signal of that name, or of its short name. Raises UsageError with the nearest name."""
    if name.startswith(FEATURE):
        return _feature(name.removeprefix(FEATURE))
    known = kinds()
    dependence = signals.ALIASES.get(name, name)
    if dependence not in known:
        raise unknown("signal", name, [*known, f"{FEATURE}len"])
    return known[dependence]


@cache
def kinds() -> Mapping[str, Kind]:
    """All that are known by name; features are as many as an index has."""
    found = [_dependence(signal) for signal in signals.SIGNALS.values()]
    for model in models.MODELS.values():
        if model.second_stage is None:
            found += [_model(model, context) for context in model.contexts or (None,)]
    found += [_prior(prior) for prior in priors.PRIORS.values()]
    return {kind.name: kind for kind in found}


def _dependence(signal: signals.Signal) -> Kind:
    def scores(view: View, settings: Mapping[str, Value]) -> Array:
        return signal.scores(view.parsed(), settings)

    return Kind(signal.name, "term dependence", signal.description, signal.source, signal.parameters, scores)


def _model(model: Model, context: models.Context | None) -> Kind:
    used = tuple(p for p in model.parameters if p.only_with in (None, context))
    name = f"{model.name} {context}" if context else model.name
    what = f"the score of model {model.name}" + (f" with context {context}" if context else "")
    return Kind(name, "models", what, model.source, used, partial(_model_scores, model, context))


def _model_scores(
    model: Model, context: models.Context | None, view: View, settings: Mapping[str, Value]
) -> Array:
    known = {p.name: settings[p.name] for p in model.parameters if p.name in settings}
    seen = {term: count for term, count in view.counts.items() if view.statistics.terms[term].seen}
    query = models.Query(seen, sum(view.counts.values()), view.statistics)
    ranked = model.plan(model.settings(known, context), query)
    found = view.scores(Plan(ranked.terms, ranked.transform, "matching", "document"))
    return np.where(np.isfinite(found), found, np.nan)


def _prior(prior: priors.Prior) -> Kind:
    def scores(view: View, settings: Mapping[str, Value]) -> Array:
        with np.errstate(divide="ignore"):
            value = view.column(prior.column)
            formed = np.log(value) if prior.form == "log" else value
        found = formed + prior.constant(view.statistics.collection)
        return np.where(np.isfinite(found), found, np.nan)

    return Kind(PRIOR + prior.name, "priors", prior.description, prior.source, (), scores, prior.column)


def _feature(feature: str) -> Kind:
    at = feature_column(feature)
    return Kind(
        FEATURE + feature,
        "features",
        f"the value of the feature {feature}",
        "docs/features.md",
        (),
        lambda view, settings: view.column(at),
        at,
    )
