"""Rankings in query arguments: parsing them, presets with a label, and the controls that show them.

Arguments are checked one by one, so that an error names the argument at fault. Controls are built from the
registries of models, priors, features, boosts and signals. Arguments without a control are kept as
checkboxes.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

from esr import features, models
from esr.arguments.tables.rankings import MAX_DEPTH, PARAMETER, PRIOR, RERANK_DEPTH, is_ranking_argument
from esr.arguments.types import parse_whole
from esr.errors import UsageError, unknown
from esr.models import Model
from esr.models.adjustments import BUILTIN_FEATURES, parse_adjustment
from esr.models.forms import FORMS, Form
from esr.models.priors import PRIORS, Prior, check_weight
from esr.plans.plan import CANDIDATES
from esr.ranking import boosts
from esr.ranking.boosts import Boost
from esr.ranking.ranking import DEFAULT, DefaultRanking, Ranking
from esr.ranking.second_stage.cross_encoder_signal import CROSS, SECONDS
from esr.ranking.second_stage.query_encoder import CROSS_VARIABLE
from esr.ranking.second_stage.reranker import DEPTH
from esr.ranking.second_stage.signal_types import SignalType, signal_types
from esr.ranking.second_stage.signals import RankingSignal, parse_signal
from esr.registry import Parameter
from esr.text.sentence_enrichment import PARTS, VECTORS
from webui.running.problems import blame_argument
from webui.translations.language import N_, _


def parse_ranking(arguments: Mapping[str, Sequence[str]], prefix: str = "") -> Ranking:
    """The ranking described by the arguments that begin with `prefix`.

    Raises a RequestError that names the argument at fault.
    """
    by_name = {
        name.removeprefix(prefix): texts for name, texts in arguments.items() if name.startswith(prefix)
    }
    if not any(map(is_ranking_argument, by_name)):
        return DEFAULT
    first = {name: texts[0] for name, texts in by_name.items()}
    with blame_argument(prefix + "model"):
        model = models.get(first.get("model", models.DEFAULT.name))
    context = first.get("context")
    with blame_argument(prefix + "context"):
        model.context(context)
    parameters = _without_prefix(first, PARAMETER)
    for name, value in parameters.items():
        with blame_argument(prefix + PARAMETER + name):
            model.settings({name: value}, context)
    weights = {}
    for name, value in _without_prefix(first, PRIOR).items():
        with blame_argument(prefix + PRIOR + name):
            weights[name] = check_weight(PRIORS.find(name).name, value)
    candidates = first.get("candidates")
    if candidates is not None and candidates not in CANDIDATES:
        with blame_argument(prefix + "candidates"):
            raise unknown("candidates", candidates, CANDIDATES)
    with blame_argument(prefix + "feature"):
        features = tuple(parse_adjustment(text) for text in by_name.get("feature", ()))
    with blame_argument(prefix + "boost"):
        expansions = boosts.from_json(dict(map(boosts.parse, by_name.get("boost", ()))))
    with blame_argument(prefix + "rerank"):
        signals = tuple(parse_signal(text) for text in by_name.get("rerank", ()))
        check_signals(signals)
    with blame_argument(prefix + RERANK_DEPTH):
        depth = DEPTH
        if RERANK_DEPTH in first:
            depth = parse_whole(prefix + RERANK_DEPTH, first[RERANK_DEPTH], 1, MAX_DEPTH)
    with blame_argument(prefix + "rerank" if signals else prefix + "feature" if features else None):
        return Ranking(
            model.name,
            context,
            parameters,
            weights,
            candidates,
            features,
            expansions,
            rerank=signals,
            depth=depth,
        )


def check_signals(signals: Iterable[RankingSignal]) -> None:
    """Raise UsageError for a signal that only the server's operator may choose."""
    for signal in signals:
        if signal.signal.startswith(f"{CROSS} "):
            raise UsageError(f"the server chooses the cross-encoder ({CROSS_VARIABLE}): write {CROSS} alone")
        if signal.type.is_last and float(signal.settings()["seconds"]) > float(SECONDS.default):
            raise UsageError(f"'seconds' of {CROSS} is at most {SECONDS.default:g} here")


def _without_prefix(first: Mapping[str, str], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in first.items() if name.startswith(prefix)}


# Presets


def plain_number(value: object) -> str:
    """A number without trailing zeros; other values as text."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


@dataclass(frozen=True)
class Preset:
    """A ranking as query arguments, with a label and a short explanation.

    `needs`: features or parts of enrichment, at least one of which the index must have.
    """

    label: str
    help: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()

    def fits(self, index_features: Collection[str]) -> bool:
        """Whether an index with these features and parts of enrichment can answer it."""
        text = self.arguments.get("feature")
        needs = self.needs | ({parse_adjustment(text).feature} if text else set())
        return not needs or not needs.isdisjoint(index_features)


def _as_text(signal: RankingSignal) -> str:
    values = {name: plain_number(value) for name, value in signal.as_dict().items()}
    name, weight = values.pop("signal"), values.pop("w", None)
    return ":".join([name, *([weight] if weight else []), *(f"{name}={v}" for name, v in values.items())])


_ANSWER_FEATURES = frozenset({"pers", "loc", "org", "numbers"})
_HYBRID = Ranking.from_file("hybrid")
_MEANING = Ranking.from_file("meaning")
_LATEST = Ranking.from_file("latest")
BY_MEANING = {
    **{f"{PARAMETER}{name}": f"{value:g}" for name, value in _HYBRID.params.items()},
    "rerank": _as_text(_HYBRID.rerank[0]),
    RERANK_DEPTH: str(_HYBRID.depth),
}
"""The arguments that rank by words and meaning."""
WORDS, WORDS_AND_MEANING = N_("With context"), N_("Words and meaning")
PRESETS = (
    Preset(
        WORDS,
        N_("the words of the sentence, its neighbours and its document"),
        {"model": models.DEFAULT.name},
    ),
    Preset(
        WORDS_AND_MEANING,
        N_("also sentences that say it in other words"),
        BY_MEANING,
        frozenset({VECTORS}),
    ),
    Preset(
        N_("Meaning"),
        N_("sentences that say it, in whatever words"),
        {"rerank": _as_text(_MEANING.rerank[0]), RERANK_DEPTH: str(_MEANING.depth)},
        frozenset({VECTORS}),
    ),
    Preset(N_("Sentence alone"), N_("only the words of the sentence itself, with BM25"), {"model": "bm25"}),
    Preset(
        N_("Latest and best"),
        N_("a sentence thirty days older counts half"),
        {"rerank": _as_text(_LATEST.rerank[0])},
    ),
    Preset(N_("Passage"), N_("the sentence and its neighbours"), {"context": "surrounding"}),
    Preset(N_("Long sentences"), N_("longer sentences rank higher"), {"prior.length": "1"}),
    Preset(
        N_("Leads first"),
        N_("sentences near the top of their story rank higher"),
        {"feature": "position:satu:-4:k=2"},
    ),
    Preset(
        N_("Questions"),
        N_("answers to who, where, when, how many"),
        {"boost": "answer_type"},
        _ANSWER_FEATURES,
    ),
    Preset(N_("Reports first"), N_("sentences without opinions rank higher"), {"feature": "subj:step:-2"}),
    Preset(N_("Opinions first"), N_("sentences with opinions rank higher"), {"feature": "subj:step:2"}),
)


def available_presets(index_features: Collection[str]) -> list[Preset]:
    """The presets that an index with these features and parts of enrichment can answer."""
    return [preset for preset in PRESETS if preset.fits(index_features)]


def ranking_label(ranking: Ranking) -> str | None:
    """The label of the preset equal to this ranking, or None."""
    if isinstance(ranking, DefaultRanking):
        return WORDS_AND_MEANING if ranking.name == "hybrid" else WORDS
    return next((label for label, of_preset in _preset_rankings() if of_preset == ranking), None)


@cache
def _preset_rankings() -> list[tuple[str, Ranking]]:
    """The labels of the presets with their rankings."""
    arguments = ((p.label, {name: [value] for name, value in p.arguments.items()}) for p in PRESETS)
    return [(label, parse_ranking(of_preset)) for label, of_preset in arguments]


def preset_label(arguments: Sequence[tuple[str, str]], default: str = WORDS) -> str | None:
    """The label of the preset with exactly these ranking arguments, `default` without any, or None."""
    if not arguments:
        return default
    return next((p.label for p in PRESETS if sorted(p.arguments.items()) == sorted(arguments)), None)


def preset_arguments(label: str) -> Mapping[str, str] | None:
    """The ranking arguments of the preset with this label, or None."""
    return next((preset.arguments for preset in PRESETS if preset.label == label), None)


# Controls


def first_phrase(description: str) -> str:
    """The first phrase of a description, short enough for an option."""
    return re.split(r"[:;,(]", description, maxsplit=1)[0].strip()


class Option(NamedTuple):
    """An option of a select. `label`: its text; for a name of the rankings, what it means, if known.

    `is_possible`: whether it is compatible with the other selections.
    """

    value: str
    label: str
    is_selected: bool
    is_possible: bool = True


class Checkbox(NamedTuple):
    """A setting without another control in the form. It is kept until its box is unticked."""

    name: str
    value: str
    label: str


class ParameterControl(NamedTuple):
    """A parameter of a model: its range and default from the registry, and its value."""

    name: str
    parameter: Parameter
    value: str

    @property
    def is_number(self) -> bool:
        """Whether a browser's number field can hold the value."""
        try:
            return not self.parameter.choices and (not self.value or math.isfinite(float(self.value)))
        except ValueError:
            return False


class ModelOption(NamedTuple):
    """A model and the controls of its parameters."""

    model: Model
    is_selected: bool
    parameters: Sequence[ParameterControl]


class PriorControl(NamedTuple):
    name: str
    prior: Prior
    value: str


class ControlRow(NamedTuple):
    """A feature, boost or signal as fields; only features have a form. An empty row adds a new one."""

    name: str = ""
    form: str = ""
    weight: str = ""
    parameters: str = ""


class RowControls(NamedTuple):
    """The boosts of a ranking, or the signals of its second stage with their depth; and those on offer."""

    rows: Sequence[ControlRow]
    available: Sequence[Boost | SignalType]
    depth: str = ""
    default_depth: int = DEPTH
    max_depth: int = MAX_DEPTH


@dataclass(frozen=True, eq=False)
class RankingControls:
    """All controls of one ranking. The names of their arguments begin with `prefix`.

    Equal arguments share one object, which is compared by identity, so that its HTML can be cached.
    """

    prefix: str
    models: list[ModelOption]
    contexts: list[Option]
    candidates: list[Option]
    priors: list[PriorControl]
    feature_rows: list[ControlRow]
    features: list[Option]
    forms: list[Form]
    boosts: RowControls
    signals: RowControls
    checkboxes: list[Checkbox] = field(default_factory=list)

    @property
    def model(self) -> ModelOption:
        return next(option for option in self.models if option.is_selected)

    @property
    def summary(self) -> list[str]:
        """The settings, in a few words."""
        phrases = [_("ranked by %(model)s", model=self.model.model.name)]
        phrases += [_("context %(name)s", name=c.value) for c in self.contexts if c.is_selected and c.value]
        phrases += [f"{p.parameter.name} {p.value}" for p in self.model.parameters if p.value]
        phrases += [c.value for c in self.candidates if c.is_selected and c.value]
        phrases += [f"{_('prior')} {p.prior.name} × {p.value}" for p in self.priors if p.value]
        phrases += [f"{r.name} {r.form} {r.weight}".strip() for r in self.feature_rows if r.name]
        phrases += [f"{_('boost')} {b.name} {b.weight}".strip() for b in self.boosts.rows if b.name]
        phrases += [f"{_('signal')} {s.name} {s.weight}".strip() for s in self.signals.rows if s.name]
        phrases += [_("depth %(number)s", number=self.signals.depth)] if self.signals.depth else []
        return phrases + [box.label for box in self.checkboxes]


CACHED_RANKINGS = 64
"""Number of rankings whose controls are cached. Most searches use one of a few."""


def ranking_controls(
    arguments: Iterable[tuple[str, str]],
    index_features: Sequence[str],
    prefix: str = "",
    stored: Iterable[str] = PARTS,
) -> RankingControls:
    """The controls that hold these arguments.

    `index_features`: the features of the index. `stored`: its parts of enrichment. Models and signals that
    need other parts are offered only if they are already selected.
    """
    unprefixed = ((name.removeprefix(prefix), value) for name, value in arguments if name.startswith(prefix))
    ranking = tuple(pair for pair in unprefixed if is_ranking_argument(pair[0]))
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
    others = _foreign(arguments, selected)
    rows: dict[str, list[ControlRow]] = {kind: [] for kind in _PARSERS}
    for kind, parse in _PARSERS.items():
        for text in (value for name, value in arguments if name == kind):
            try:
                rows[kind].append(_row(*parse(text)))
            except UsageError:
                others.append((kind, text))
        rows[kind].append(ControlRow())
    return RankingControls(
        prefix,
        [
            _model_option(model, model is selected, first, prefix)
            for model in models.MODELS.values()
            if model is selected or Ranking(model.name).needs() <= stored
        ],
        _contexts(first.get("context", ""), selected),
        _candidates(first.get("candidates", ""), selected),
        [PriorControl(prefix + PRIOR + n, p, first.get(PRIOR + n, "")) for n, p in PRIORS.items()],
        rows["feature"],
        _features(index_features),
        [form for form in FORMS.values() if not form.is_trained],
        RowControls(rows["boost"], list(boosts.BOOSTS.values())),
        RowControls(
            rows["rerank"],
            _signals({row.name for row in rows["rerank"]}, stored),
            first.get(RERANK_DEPTH, ""),
        ),
        [_checkbox(prefix + name, value) for name, value in others],
    )


OFFERED_SIGNALS = ("term dependence", "meaning", "time", "cross-encoder")
"""The groups of the signals that rows offer, the last one if the server has a cross-encoder."""


def _signals(chosen: Collection[str], stored: Collection[str]) -> list[SignalType]:
    """The signals that rows offer. Others are set by other controls or in the address."""
    offered = OFFERED_SIGNALS if os.environ.get(CROSS_VARIABLE) else OFFERED_SIGNALS[:-1]
    kinds = [kind for kind in signal_types().values() if kind.group in offered]
    return [kind for kind in kinds if kind.needs is None or kind.needs in stored or kind.name in chosen]


def _foreign(arguments: Iterable[tuple[str, str]], model: Model) -> list[tuple[str, str]]:
    """Parameters and priors without a control."""
    names = {PARAMETER + p.name for p in model.parameters} | {PRIOR + name for name in PRIORS}
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
        Option(name, description, name == selected, name in model.contexts)
        for name, description in models.CONTEXTS.items()
    ]


def _candidates(selected: str, model: Model) -> list[Option]:
    options = [Option("", f"the model's default ({model.candidates})", selected not in CANDIDATES)]
    rules = CANDIDATES.items()
    return options + [Option(name, meaning, name == selected) for name, meaning in rules]


def _features(index_features: Sequence[str]) -> list[Option]:
    names = dict.fromkeys([*BUILTIN_FEATURES, *index_features])
    registered = features.FEATURES
    return [Option(name, registered[name].description if name in registered else "", False) for name in names]


def _row(name: str, form: str, params: Mapping[str, Any]) -> ControlRow:
    values = {key: plain_number(value) for key, value in params.items()}
    weight = values.pop(boosts.WEIGHT, "")
    return ControlRow(name, form, weight, ":".join(f"{key}={value}" for key, value in values.items()))


def _parse_feature(text: str) -> tuple[str, str, Mapping[str, Any]]:
    parsed = parse_adjustment(text)
    return parsed.feature, parsed.form, dict(parsed.params)


def _parse_boost(text: str) -> tuple[str, str, Mapping[str, Any]]:
    name, values = boosts.parse(text)
    boosts.from_json({name: values})
    return name, "", values


def _parse_signal(text: str) -> tuple[str, str, Mapping[str, Any]]:
    parsed = parse_signal(text)
    return parsed.signal, "", parsed.params


_PARSERS = {"feature": _parse_feature, "boost": _parse_boost, "rerank": _parse_signal}
"""By argument, the parser of a row's name, form and parameters. Raises UsageError."""
