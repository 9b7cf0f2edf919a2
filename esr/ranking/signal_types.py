"""The types of signals of a second stage: term dependence, a model, a prior, a feature.

tdsr, mrf_sdm, mrf_fdm       the signals of esr.dependency
dir, 2si both, 2si document  a model in a context, with the score of a first stage
prior importance             a prior
feature subj                 a feature's value
meaning                      how close the vectors of sentence and query are
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from msgspec import Struct

from esr import models, priors
from esr.adjustments.adjustment import feature_column
from esr.dependency import signals
from esr.documents.enrichment import PARSE, VECTORS
from esr.engines.index import Index
from esr.errors import unknown
from esr.models import Model
from esr.parameter import Parameter, Value, describe
from esr.plans.evidence import Array
from esr.plans.plan import Plan
from esr.ranking import meaning
from esr.ranking.rerank_context import RerankContext

PRIOR, FEATURE = "prior ", "feature "
WEIGHT = Parameter(
    "w",
    "weight of the signal",
    1.0,
    low=-1e6,
    high=1e6,
    grid=(0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
)
Settings = Mapping[str, Value]


class SignalType(Struct, frozen=True):
    """A number of each sentence for a query. `compute` gives shape (n,), NaN where there is no value.

    Reports show signals by `group`. `column` is the stored number that the signal is, if it is one. `parts`
    gives what the value is the sum of. `needs` is the part of enrichment that its values come from. One that
    needs vectors also finds sentences by theirs, and a sentence without a vector gets the mean of the others:
    nothing, as with other signals, would be far less than any value.
    """

    name: str
    group: str
    description: str
    source: str
    parameters: tuple[Parameter, ...]
    compute: Callable[[RerankContext, Settings], Array]
    column: str | None = None
    weight: Parameter = WEIGHT
    parts: Callable[[RerankContext, Settings], Mapping[str, Array]] | None = None
    needs: str | None = None

    @property
    def uses_vectors(self) -> bool:
        return self.needs == VECTORS

    def has_values(self, index: Index) -> bool:
        """Whether the index has what the signal needs."""
        if self.needs == PARSE:
            return index.has_parses()
        return self.needs is None or index.encoder() is not None

    def as_dict(self) -> dict[str, Any]:
        return describe(self)


def find_signal_type(name: str) -> SignalType:
    """The signal of that name or short name. Raises UsageError with the nearest name."""
    if name.startswith(FEATURE):
        return _feature(name.removeprefix(FEATURE))
    by_name = signal_types()
    full_name = signals.ALIASES.get(name, name)
    if full_name not in by_name:
        raise unknown("signal", name, [*by_name, f"{FEATURE}len"])
    return by_name[full_name]


@cache
def signal_types() -> Mapping[str, SignalType]:
    """All signals by name except features, which depend on the index."""
    types = [_dependence(signal) for signal in signals.SIGNALS.values()]
    for model in models.MODELS.values():
        if model.second_stage is None:
            types += [_model(model, context) for context in model.contexts or (None,)]
    types += [_prior(prior) for prior in priors.PRIORS.values()]
    types.append(_meaning())
    return {signal_type.name: signal_type for signal_type in types}


def _dependence(signal: signals.Signal) -> SignalType:
    def compute(context: RerankContext, settings: Mapping[str, Value]) -> Array:
        return signal.scores(context.parses(), settings)

    group = "term dependence"
    return SignalType(
        signal.name, group, signal.description, signal.source, signal.parameters, compute, needs=PARSE
    )


def _model(model: Model, context: models.Context | None) -> SignalType:
    parameters = tuple(p for p in model.parameters if p.only_with in (None, context))
    name = f"{model.name} {context}" if context else model.name
    description = f"the score of model {model.name}" + (f" with context {context}" if context else "")
    compute = partial(_model_scores, model, context)
    return SignalType(name, "models", description, model.source, parameters, compute)


def _model_scores(
    model: Model,
    model_context: models.Context | None,
    context: RerankContext,
    settings: Mapping[str, Value],
) -> Array:
    values = {p.name: settings[p.name] for p in model.parameters if p.name in settings}
    seen = {term: count for term, count in context.counts.items() if context.statistics.terms[term].is_seen}
    query = models.Query(seen, sum(context.counts.values()), context.statistics)
    weighted = model.plan(model.settings(values, model_context), query)
    scores = context.plan_scores(Plan(weighted.terms, weighted.transform, "matching", "document"))
    return np.where(np.isfinite(scores), scores, np.nan)


def _prior(prior: priors.Prior) -> SignalType:
    def compute(context: RerankContext, settings: Mapping[str, Value]) -> Array:
        with np.errstate(divide="ignore"):
            column = context.column(prior.column)
            values = np.log(column) if prior.form == "log" else column
        log_priors = values + prior.constant(context.statistics.collection)
        return np.where(np.isfinite(log_priors), log_priors, np.nan)

    return SignalType(
        PRIOR + prior.name, "priors", prior.description, prior.source, (), compute, prior.column
    )


def _meaning() -> SignalType:
    return SignalType(
        meaning.NAME,
        "meaning",
        "how close the vectors of the sentence, its neighbours and its document are to that of the query",
        "docs/formulas.md, F.1",
        meaning.PARAMETERS,
        meaning.meaning_values,
        weight=meaning.WEIGHT,
        parts=meaning.meaning_shares,
        needs=VECTORS,
    )


def _feature(feature: str) -> SignalType:
    column = feature_column(feature)
    return SignalType(
        FEATURE + feature,
        "features",
        f"the value of the feature {feature}",
        "docs/features.md",
        (),
        lambda context, settings: context.column(column),
        column,
    )
