"""The controls of a ranking, built from the registries and from the arguments of an address."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from esr import adjustments, boosts, features, models, priors
from esr.adjustments import Adjustment
from esr.adjustments.adjustment import BUILTIN_FEATURES
from esr.documents.enrichment import PARTS
from esr.errors import UsageError
from esr.models import Model
from esr.plans.plan import CANDIDATES
from esr.ranking import ranking_signal
from esr.ranking.ranking import Ranking
from esr.ranking.signal_types import SignalType, signal_types
from webui.arguments.controls import (
    BoostControls,
    Checkbox,
    FeatureRow,
    ModelOption,
    NamedRow,
    Option,
    ParameterControl,
    PriorControl,
    RankingControls,
    SignalControls,
)
from webui.arguments.labels import first_phrase, plain_number
from webui.arguments.names import PARAMETER, PRIOR, is_ranking_argument

CACHED_RANKINGS = 64
"""Rankings whose controls are cached; most searches use one of a few."""


def ranking_controls(
    arguments: Iterable[tuple[str, str]],
    index_features: Sequence[str],
    prefix: str = "",
    stored: Iterable[str] = PARTS,
) -> RankingControls:
    """The controls that hold these arguments.

    `index_features`: the features that the index has. `stored`: the parts of enrichment that it has. What
    needs others is offered only where it is chosen already.
    """
    own = ((name.removeprefix(prefix), value) for name, value in arguments if name.startswith(prefix))
    ranking = tuple(pair for pair in own if is_ranking_argument(pair[0]))
    return _build(ranking, tuple(index_features), prefix, frozenset(stored))


@lru_cache(CACHED_RANKINGS)
def _build(
    arguments: tuple[tuple[str, str], ...],
    index_features: tuple[str, ...],
    prefix: str,
    stored: frozenset[str],
) -> RankingControls:
    first = dict(reversed(arguments))
    name = first.get("model", "")
    selected = models.MODELS[name if name in models.MODELS else models.DEFAULT.name]
    feature_rows, bad_features = _feature_rows([v for n, v in arguments if n == "feature"])
    boost_rows, bad_boosts = _named_rows([v for n, v in arguments if n == "boost"], _parse_boost)
    signal_rows, bad_signals = _named_rows([v for n, v in arguments if n == "rerank"], _parse_signal)
    unreadable = {"feature": bad_features, "boost": bad_boosts, "rerank": bad_signals}
    others = [
        *_foreign(arguments, selected),
        *((name, text) for name, texts in unreadable.items() for text in texts),
    ]
    return RankingControls(
        prefix,
        [
            _model_option(model, model is selected, first, prefix)
            for model in models.MODELS.values()
            if model is selected or Ranking(model.name).needs() <= stored
        ],
        _contexts(first.get("context", ""), selected),
        _candidates(first.get("candidates", ""), selected),
        [PriorControl(prefix + PRIOR + n, p, first.get(PRIOR + n, "")) for n, p in priors.PRIORS.items()],
        feature_rows,
        _features(index_features),
        [form for form in adjustments.FORMS.values() if not form.is_trained],
        BoostControls(boost_rows, list(boosts.BOOSTS.values())),
        SignalControls(
            signal_rows, _signals({row.name for row in signal_rows}, stored), first.get("depth", "")
        ),
        [_checkbox(prefix + name, value) for name, value in others],
    )


def _signals(chosen: Collection[str], stored: Collection[str]) -> list[SignalType]:
    """The signals that rows offer; others are chosen elsewhere or by address."""
    kinds = [kind for kind in signal_types().values() if kind.group in ("term dependence", "meaning")]
    return [kind for kind in kinds if kind.needs in stored or kind.name in chosen]


def _foreign(arguments: Iterable[tuple[str, str]], model: Model) -> list[tuple[str, str]]:
    """Parameters and priors that there are no controls for."""
    names = {PARAMETER + p.name for p in model.parameters} | {PRIOR + name for name in priors.PRIORS}
    return [(n, v) for n, v in arguments if n.startswith((PARAMETER, PRIOR)) and n not in names]


def _checkbox(name: str, value: str) -> Checkbox:
    kind, _, short = name.rpartition(".")
    label = f"prior {short} × {value}" if kind.endswith("prior") else f"{short} {value}"
    return Checkbox(name, value, label)


def _model_option(model: Model, is_selected: bool, first: Mapping[str, str], prefix: str) -> ModelOption:
    controls = [
        ParameterControl(prefix + PARAMETER + p.name, p, first.get(PARAMETER + p.name, ""))
        for p in model.parameters
    ]
    return ModelOption(model, is_selected, controls)


def _contexts(selected: str, model: Model) -> list[Option]:
    default = model.contexts[0] if model.contexts else "none: the sentence alone"
    options = [Option("", f"the model's default ({default})", selected not in models.CONTEXTS)]
    return options + [
        Option(name, f"{name} – {first_phrase(description)}", name == selected, name in model.contexts)
        for name, description in models.CONTEXTS.items()
    ]


def _candidates(selected: str, model: Model) -> list[Option]:
    options = [Option("", f"the model's default ({model.candidates})", selected not in CANDIDATES)]
    rules = CANDIDATES.items()
    return options + [Option(name, f"{name} – {text}", name == selected) for name, text in rules]


def _features(index_features: Sequence[str]) -> list[Option]:
    names = dict.fromkeys([*BUILTIN_FEATURES, *index_features])
    registered = features.FEATURES
    return [
        Option(name, f"{name} – {registered[name].description}" if name in registered else name, False)
        for name in names
    ]


def _feature_rows(texts: Sequence[str]) -> tuple[list[FeatureRow], list[str]]:
    """A row for each feature and an empty one; and the texts that cannot be read."""
    rows, unreadable = [], []
    for text in texts:
        try:
            rows.append(_feature_row(adjustments.parse(text)))
        except UsageError:
            unreadable.append(text)
    return [*rows, FeatureRow("", "", "", "")], unreadable


def _feature_row(adjustment: Adjustment) -> FeatureRow:
    params = dict(adjustment.params)
    weight = f"{params.pop('w'):g}" if "w" in params else ""
    return FeatureRow(
        adjustment.feature,
        adjustment.form,
        weight,
        ":".join(f"{name}={value:g}" for name, value in params.items()),
    )


def _named_rows(
    texts: Sequence[str], parse: Callable[[str], tuple[str, Mapping[str, Any]]]
) -> tuple[list[NamedRow], list[str]]:
    """A row for each boost or signal and an empty one; and the texts that cannot be read."""
    rows, unreadable = [], []
    for text in texts:
        try:
            name, params = parse(text)
        except UsageError:
            unreadable.append(text)
            continue
        values = {key: plain_number(value) for key, value in params.items()}
        weight = values.pop(boosts.WEIGHT, "")
        rows.append(NamedRow(name, weight, ":".join(f"{key}={value}" for key, value in values.items())))
    return [*rows, NamedRow("", "", "")], unreadable


def _parse_signal(text: str) -> tuple[str, Mapping[str, Any]]:
    parsed = ranking_signal.parse(text)
    return parsed.signal, parsed.params


def _parse_boost(text: str) -> tuple[str, Mapping[str, Any]]:
    name, values = boosts.parse(text)
    boosts.from_json({name: values})
    return name, values
