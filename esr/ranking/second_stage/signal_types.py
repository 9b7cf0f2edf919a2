"""Types of signals of the second stage.

A signal is one of:

    tdsr, mrf_sdm, mrf_fdm       term dependence (esr.dependency)
    dir, 2si both, 2si document  the first-stage score of a model, in a context
    prior importance             a prior
    feature subj                 the value of a feature
    meaning                      similarity of vectors (docs/formulas.md, section F)
    cross hf:OWNER/NAME          the score of a cross-encoder for query and sentence
    freshness                    how new the document is
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from esr import models
from esr.dependency.random_fields import ALIASES
from esr.errors import unknown
from esr.index.contract import Index
from esr.index.questions import HasParses, MainEncoder
from esr.models import Model
from esr.models.adjustments import feature_column
from esr.models.priors import PRIORS, Prior
from esr.plans.evaluate import Array
from esr.plans.plan import DAY, Plan
from esr.ranking.second_stage.cross_encoder_signal import CROSS, CROSS_DEPTH, SECONDS, cross_scores
from esr.ranking.second_stage.meaning_signal import (
    MEANING_WEIGHT,
    NAME,
    PARAMETERS,
    choose_weights,
    meaning_shares,
    meaning_values,
)
from esr.ranking.second_stage.query_encoder import CROSS_VARIABLE
from esr.ranking.second_stage.rerank_context import RerankContext
from esr.registry import Parameter, Value, describe
from esr.stdlib import import_lazily
from esr.text.sentence_enrichment import PARSE, VECTORS

if TYPE_CHECKING:
    from esr.dependency import dependence_signals
else:
    # A search without a second stage needs none.
    dependence_signals = import_lazily("esr.dependency.dependence_signals")

FRESHNESS = "freshness"
HALF_LIFE = Parameter(
    "half_life",
    "days after which a sentence is half as probable",
    30.0,
    high=1e6,
    open_low=True,
    grid=(7.0, 30.0, 90.0, 365.0),
)

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
    """A type of signal: a number per sentence for a query. `compute` returns shape (n,), NaN for no value.

    Reports group signals by `group`. `column` names the stored number that the signal equals, if any. `parts`
    returns the addends of the value. `needs` is the part of enrichment that the values come from.

    `choose_defaults` returns the defaults that depend on the query, for the parameters as given, the text
    of the query, and the name of the encoder of the index's vectors, empty if there are none.

    A signal that `is_last` is computed only for the best sentences by all other signals, and reorders them. A
    signal that needs vectors also adds the nearest sentences by vector to the candidates. A sentence without
    a vector gets the mean of the others: similarities are far above 0, so the usual 0 would be a penalty.
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
    is_last: bool = False
    choose_defaults: Callable[[Mapping[str, Any], str, str], Mapping[str, Value]] | None = None

    @property
    def uses_vectors(self) -> bool:
        return self.needs == VECTORS

    def has_values(self, index: Index) -> bool:
        """Whether the index has what the signal needs."""
        if self.needs == PARSE:
            return index.status(HasParses())
        return self.needs is None or index.status(MainEncoder()) is not None

    def as_dict(self) -> dict[str, Any]:
        return describe(self)


def find_signal_type(name: str) -> SignalType:
    """Return the signal type of a name or short name. Raises UsageError with the nearest name."""
    if name.startswith(FEATURE):
        return _feature(name.removeprefix(FEATURE))
    if name.startswith(f"{CROSS} "):
        return _cross(name.removeprefix(f"{CROSS} "))
    full_name = ALIASES.get(name, name)
    built_in = _signal_types(tuple(models.MODELS.built_in), tuple(PRIORS.built_in))
    if full_name in built_in:
        return built_in[full_name]
    by_name = signal_types()
    if full_name not in by_name:
        raise unknown("signal", name, [*by_name, f"{FEATURE}len"])
    return by_name[full_name]


def signal_types() -> Mapping[str, SignalType]:
    """All signal types by name, except features, which depend on the index."""
    return _signal_types(tuple(models.MODELS), tuple(PRIORS))


@cache
def _signal_types(model_names: Sequence[str], prior_names: Sequence[str]) -> Mapping[str, SignalType]:
    types = [_dependence(signal) for signal in dependence_signals.SIGNALS.values()]
    for model in map(models.MODELS.__getitem__, model_names):
        if model.second_stage is None:
            types += [_model(model, context) for context in model.contexts or (None,)]
    types += [_prior(PRIORS[name]) for name in prior_names]
    types += [_meaning(), _cross(""), _freshness()]
    return {signal_type.name: signal_type for signal_type in types}


def _dependence(signal: dependence_signals.Signal) -> SignalType:
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
    present = {
        term: count for term, count in context.counts.items() if context.statistics.terms[term].is_seen
    }
    query = models.Query(present, sum(context.counts.values()), context.statistics)
    weighted = model.plan(model.settings(values, model_context), query)
    scores = context.plan_scores(Plan(weighted.terms, weighted.transform, "matching", "document"))
    return np.where(np.isfinite(scores), scores, np.nan)


def _prior(prior: Prior) -> SignalType:
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
        NAME,
        "meaning",
        "how close the vectors of the sentence, its neighbours and its document are to that of the query",
        "docs/formulas.md, F.1",
        PARAMETERS,
        meaning_values,
        weight=MEANING_WEIGHT,
        parts=meaning_shares,
        needs=VECTORS,
        choose_defaults=choose_weights,
    )


@cache
def _cross(model: str) -> SignalType:
    def compute(context: RerankContext, settings: Settings) -> Array:
        return cross_scores(model, context.text, context.sentence_texts())

    return SignalType(
        f"{CROSS} {model}".strip(),
        "cross-encoder",
        f"the score of a cross-encoder, {model or CROSS_VARIABLE}, for the query and the sentence",
        "Nogueira & Cho 2019; docs/meaning.md",
        (CROSS_DEPTH, SECONDS),
        compute,
        is_last=True,
    )


def _freshness() -> SignalType:
    return SignalType(
        FRESHNESS,
        "time",
        "log prior of the date: each half-life before the newest sentence of the index halves it; a sentence "
        "without a date is one half-life old",
        "Li & Croft 2003; docs/formulas.md, B.12",
        (HALF_LIFE,),
        freshness_values,
        DAY,
    )


def freshness_values(context: RerankContext, settings: Settings) -> Array:
    """The signal `freshness`: -log 2 for each half-life of a sentence's age, of shape (n,)."""
    ages = np.maximum(context.newest_day() - context.column(DAY), 0.0)
    half_lives = np.nan_to_num(ages / float(settings["half_life"]), nan=1.0)
    return -math.log(2.0) * half_lives


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
