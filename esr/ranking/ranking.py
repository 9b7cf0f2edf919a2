"""A ranking: a model with its settings, priors, features, boosts and second stage.

Rankings are read from JSON files (`--ranking FILE`) or by the name of one that ships with esr, and checked
key by key. `build_ranking` builds one from options of the command line or keywords of the Python API.
`Origin` names what a part of a score comes from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from esr import models
from esr.errors import InputError, UsageError, unknown
from esr.index.contract import Index
from esr.index.questions import Features, MainEncoder
from esr.models import Model, Settings
from esr.models.adjustments import Adjustment, adjustment_from_dict, parse_adjustment
from esr.models.priors import PRIORS, check_weight
from esr.plans.plan import (
    CANDIDATES,
    CandidateRule,
    CollectionStatistics,
    Mixture,
    Plan,
    StaticScore,
    Statistics,
)
from esr.ranking import boosts
from esr.ranking.boosts import Expansion, from_json, to_json
from esr.ranking.boosts.expansions import add_terms, feature_steps, term_weights
from esr.ranking.second_stage.meaning_signal import NAME, choose_model_parameters, leave_room
from esr.ranking.second_stage.query_encoder import find_obstacle
from esr.ranking.second_stage.regression_trees import TreeEnsemble, trees_from_dict
from esr.ranking.second_stage.reranker import DEPTH, Reranker
from esr.ranking.second_stage.signal_types import FEATURE, find_signal_type
from esr.ranking.second_stage.signals import RankingSignal, parse_signal, signal_from_dict
from esr.stdlib import cached_property, import_lazily

if TYPE_CHECKING:
    import tomllib
else:
    tomllib = import_lazily("tomllib")

_OBJECTS = ("params", "priors")
_NAMES = ("model", "context", "candidates")
_LISTS = ("features", "rerank")


def read_json(path: str | Path) -> Any:
    """Read a JSON file. Raises InputError with the file's name."""
    try:
        return json.loads(Path(path).read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}", f"not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "not UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise InputError(str(path), "not JSON: nested too deeply, or a number is too long") from error
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises InputError with the file's name."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "is not UTF-8, which TOML requires") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), f"is not TOML: {error}") from error


def check_types(data: Any, keys: Collection[str]) -> Mapping[str, Any]:
    """Check the JSON of a ranking, whose `keys` are optional. Raises UsageError for a bad key or type."""
    if not isinstance(data, Mapping):
        raise UsageError(f"a ranking must be a JSON object, not {type(data).__name__}")
    for key in data:
        if key not in keys:
            raise unknown("ranking key", str(key), keys)
    for key in _OBJECTS:
        if not isinstance(data.get(key, {}), Mapping):
            raise UsageError(f"ranking key {key!r} must be a JSON object, not {data[key]!r}")
    for key in _NAMES:
        is_optional = key != "model"
        if not isinstance(data.get(key, ""), str) and not (is_optional and data[key] is None):
            raise UsageError(f"ranking key {key!r} must be a name, not {data[key]!r}")
    for key in _LISTS:
        value = data.get(key, ())
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            raise UsageError(f"ranking key {key!r} must be a list, not {value!r}")
    return data


SHIPPED = {
    "words": "words alone",
    "hybrid": "words and meaning: the default model, and how close the vectors of sentence and query are; "
    "the default of searches where the index has vectors of the default encoder",
    "meaning": "meaning: how close these vectors are; words decide between equally close ones",
    "latest": "latest and best: the default ranking, where a sentence 30 days older is half as probable",
}
"""Descriptions of the shipped rankings, by name."""


def find_file(name_or_path: str | Path) -> Path:
    """The file of a shipped ranking, or the path itself. Raises UsageError for an unknown bare name."""
    if str(name_or_path) in SHIPPED:
        return Path(__file__).parent / "shipped" / f"{name_or_path}.json"
    path = Path(name_or_path)
    if path.name == str(name_or_path) and not path.suffix and not path.exists():
        raise UsageError(f"there is no ranking {str(path)!r}: give a file, or one of {', '.join(SHIPPED)}")
    return path


OriginKind = Literal["term", "field", "collection", "length", "prior", "feature", "boost", "signal", "trees"]


class Origin(NamedTuple):
    """What a part of a score comes from. It identifies the part independent of its position in a list.

    `detail` distinguishes origins of the same name: the term of a field or of the collection, the form of a
    feature, the feature of a boost.
    """

    kind: OriginKind
    name: str
    detail: str = ""


LENGTH = Origin("length", "length")
"""The length term of a smoothed model."""
TREES = Origin("trees", "learned trees")


NO_EXPANSIONS: Mapping[str, Expansion] = {}


class Ranking(Struct, frozen=True, dict=True):
    """How to rank. Missing parameters have the model's defaults.

    Raises UsageError for an unknown name, with the nearest one, or a value out of range.
    """

    model: str = models.DEFAULT.name
    context: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    priors: Mapping[str, float] = field(default_factory=dict)
    candidates: str | None = None
    features: Sequence[Adjustment] = ()
    boosts: Mapping[str, Any] = field(default_factory=dict)
    rerank: Sequence[RankingSignal] = ()
    trees: TreeEnsemble | None = None
    depth: int = DEPTH
    """How many of the best sentences the second stage reranks."""

    def __post_init__(self) -> None:
        self.settings()
        force_setattr(self, "boosts", from_json(self.boosts))
        if not isinstance(self.depth, int) or isinstance(self.depth, bool) or self.depth < 1:
            raise UsageError(f"ranking key 'depth' must be a positive whole number, not {self.depth!r}")
        signals = [signal.signal for signal in self.rerank]
        for name in signals:
            if signals.count(name) > 1:
                raise UsageError(f"signal {name!r} is duplicated: leave one out")
        if sum(signal.type.is_last for signal in self.rerank) > 1:
            raise UsageError("a ranking has one cross-encoder at most: leave the others out")
        for name, weight in self.priors.items():
            check_weight(PRIORS.find(name).name, weight)
        if self.candidates is not None and self.candidates not in CANDIDATES:
            raise unknown("candidates", self.candidates, CANDIDATES)
        adjusted = [(adjustment.feature, adjustment.form) for adjustment in self.features]
        for feature, form in adjusted:
            if adjusted.count((feature, form)) > 1:
                raise UsageError(f"feature {feature!r} with form {form!r} is duplicated: leave one out")

    @staticmethod
    def of(ranking: Ranking | Mapping[str, Any] | str | Path) -> Ranking:
        """Return a ranking, or read a mapping, a ranking file or a shipped ranking. Raises UsageError."""
        match ranking:
            case Ranking():
                return ranking
            case Mapping():
                return Ranking.from_dict(ranking)
            case str() | Path():
                return Ranking.from_file(ranking)
        raise UsageError(f"a ranking is a Ranking, a mapping or the name of a file, not {ranking!r}")

    @staticmethod
    def from_dict(data: Any) -> Ranking:
        """Read a ranking from JSON. Every key is optional; an unknown one is an error."""
        data = check_types(data, Ranking.__struct_fields__)
        features = tuple(
            f if isinstance(f, Adjustment) else adjustment_from_dict(f) for f in data.get("features", ())
        )
        rerank = tuple(
            s if isinstance(s, RankingSignal) else signal_from_dict(s) for s in data.get("rerank", ())
        )
        trees = data.get("trees")
        if trees is not None and not isinstance(trees, TreeEnsemble):
            trees = trees_from_dict(trees)
        return Ranking(**{**data, "features": features, "rerank": rerank, "trees": trees})

    @staticmethod
    def from_file(path: str | Path) -> Ranking:
        """Read a ranking file, or the shipped ranking of that name. Raises InputError naming the file."""
        data = read_json(find_file(path))
        try:
            return Ranking.from_dict(data)
        except UsageError as error:
            raise InputError(str(path), str(error)) from error

    def settings(self) -> Settings:
        """The model's checked parameters, with defaults filled in. Those by kind of query are for no text."""
        return self._settings

    @cached_property
    def _settings(self) -> Settings:
        return self._model.settings({**self.choose_params(""), **self.params}, self.context)

    @cached_property
    def _model(self) -> Model:
        return models.get(self.model)

    def plan(
        self,
        counts: Mapping[str, int],
        statistics: Statistics,
        expansions: Mapping[str, Expansion] = NO_EXPANSIONS,
    ) -> Plan:
        """Plan a query's terms and its expansions. Terms missing from the collection are dropped."""
        model, settings, length = self._model, self._settings, sum(counts.values())
        present = {term: count for term, count in counts.items() if statistics.terms[term].is_seen}
        terms, transform = model.plan(settings, models.Query(present, length, statistics))
        weights = term_weights(self.boosts, expansions) if expansions else None
        if weights:
            once = {term: 1 for term in weights if statistics.terms[term].is_seen}
            unit_terms = model.plan(settings, models.Query(once, length, statistics)).terms
            terms = add_terms(terms, unit_terms, weights)
        rule: CandidateRule = self.candidates or model.candidates  # type: ignore[assignment]
        has_static_scores = bool(self.priors or self.features or expansions)
        return Plan(
            terms=terms,
            transform=transform,
            candidates=rule,
            context="surrounding" if settings.context == "surrounding" else "document",
            static_scores=self._static_scores(statistics.collection, expansions) if has_static_scores else (),
        )

    def _static_scores(
        self, collection: CollectionStatistics, expansions: Mapping[str, Expansion]
    ) -> tuple[StaticScore, ...]:
        return tuple(static_score for _, static_score in self.static_scores(collection, expansions))

    def static_scores(
        self, collection: CollectionStatistics, expansions: Mapping[str, Expansion] = NO_EXPANSIONS
    ) -> Iterator[tuple[Origin, StaticScore]]:
        """Yield the static scores of the plan with their origins: priors, features, and steps of boosts."""
        for name, weight in self.priors.items():
            yield (
                Origin("prior", name),
                PRIORS.find(name).static_score(check_weight(name, weight), collection),
            )
        for adjustment in self.features:
            yield Origin("feature", adjustment.feature, adjustment.form), adjustment.static_score()
        for boost, feature, static_score in feature_steps(self.boosts, expansions):
            yield Origin("boost", boost, feature), static_score

    def mixture(self) -> Mixture | None:
        """The mixture of a language model, which is independent of query and collection; else None."""
        transform = self.plan({}, Statistics(CollectionStatistics(), {})).transform
        return transform if isinstance(transform, Mixture) else None

    def reranker(self) -> Reranker | None:
        """The second stage, or None if neither the model nor the ranking has one."""
        return self._reranker

    @cached_property
    def _reranker(self) -> Reranker | None:
        model = self._model
        signals = tuple(signal for signal in self.rerank if not signal.type.is_last)
        last = next((signal for signal in self.rerank if signal.type.is_last), None)
        if model.second_stage is None:
            # Without another signal, the second stage would not change the order of the first.
            depth = self.depth if last is None or signals or self.trees else int(last.settings()["depth"])
            if not self.rerank and not self.trees:
                return None
            first_weight = 0.0 if self.trees and self.trees.alone else 1.0
            return Reranker(first_weight, signals, depth, trees=self.trees, last=last)
        settings = self.settings()
        first_weight, name, breaks_ties = model.second_stage(settings)
        if name is not None:
            names = {parameter.name for parameter in find_signal_type(name).parameters}
            params = {k: v for k, v in settings.values.items() if k in names}
            signals = (RankingSignal(name, params), *signals)
        return Reranker(first_weight, signals, self.depth, breaks_ties, self.trees, last)

    def for_query(self, text: str, encoder: str = "") -> Ranking:
        """The ranking with the defaults for a query's text and an encoder, where signals choose them."""
        rerank = tuple(signal.for_query(text, encoder) for signal in self.rerank)
        params = {**self.choose_params(text), **self.params}
        if rerank == tuple(self.rerank) and params == self.params:
            return self
        return replace(self, params=params, rerank=rerank)

    def choose_params(self, text: str) -> Mapping[str, float]:
        """The parameters of the default model for a query's text, where a signal chooses them by its kind.

        They do not exceed what the given parameters leave.
        """
        if self.rerank and self._model is models.DEFAULT:
            for signal in self.rerank:
                if signal.signal == NAME:
                    chosen = choose_model_parameters(signal.params, text)
                    return leave_room(chosen, self.params) if self.params else chosen
        return {}

    def needs(self) -> frozenset[str]:
        """The parts of enrichment that the second stage needs."""
        reranker = self.reranker()
        inputs = () if reranker is None else reranker.inputs
        return frozenset(signal.type.needs for signal in inputs if signal.type.needs)

    def feature_names(self) -> tuple[str, ...]:
        """The features that either stage uses."""
        if not self.features and not self.rerank and not self.trees:
            return ()
        signals = (*self.rerank, *(self.trees.inputs if self.trees else ()))
        names = (s.signal.removeprefix(FEATURE) for s in signals if s.signal.startswith(FEATURE))
        return (*(adjustment.feature for adjustment in self.features), *names)

    def as_dict(self) -> dict[str, Any]:
        """The ranking as JSON, so that a saved file keeps its meaning.

        Every default is filled in that does not depend on the query.
        """
        model, settings = models.get(self.model), self.settings()
        context, chosen = settings.context, self.choose_params("")
        params = {
            p.name: settings.values[p.name]
            for p in model.parameters
            if p.only_with in (None, context) and (p.name in self.params or p.name not in chosen)
        }
        return {
            "model": self.model,
            "context": context,
            "params": params,
            "priors": dict(self.priors),
            "candidates": self.candidates or model.candidates,
            "features": [adjustment.as_dict() for adjustment in self.features],
            "boosts": to_json(self.boosts),
            "rerank": [signal.as_dict() for signal in self.rerank],
            **({"trees": self.trees.as_dict()} if self.trees else {}),
            "depth": self.depth,
        }


class DefaultRanking(Ranking, frozen=True, dict=True):
    """The ranking of searches that name none: by words, until `choose_ranking` knows the index.

    `name` is that of the shipped ranking that was chosen. If it is `words` although the index has vectors,
    `note` says why.
    """

    name: str = ""
    note: str | None = None


DEFAULT = DefaultRanking()
_DEFAULT_BY_WORDS = DefaultRanking(name="words")
ENCODER_SECONDS = 0.1
"""How long a search of a server or a library waits for the encoder of queries."""


@cache
def _default_by_meaning() -> DefaultRanking:
    hybrid = Ranking.from_file("hybrid")
    return DefaultRanking(params=hybrid.params, rerank=hybrid.rerank, depth=hybrid.depth, name="hybrid")


def choose_ranking(ranking: Ranking, index: Index, seconds: float | None = None) -> Ranking:
    """The ranking on an index: if it is DEFAULT, `hybrid` for an index with vectors, otherwise `words`.

    The encoder must be one that `hybrid` suits. It is waited for at most so many seconds, by default until
    it is loaded. Until then, and if it cannot be loaded and the index has no table, words alone rank.
    """
    if not isinstance(ranking, DefaultRanking) or ranking.name:
        return ranking
    if index.status(MainEncoder()) is None:
        return _DEFAULT_BY_WORDS
    obstacle = find_obstacle(index, seconds)
    return _default_by_meaning() if obstacle is None else DefaultRanking(name="words", note=obstacle or None)


def resume_ranking(ranking: Ranking, name: str, index: Index) -> Ranking:
    """The ranking of a further page of a list whose pages before `choose_ranking` ranked by `name`.

    An encoder that was loaded meanwhile changes nothing. For hybrid it is waited for.
    """
    if not isinstance(ranking, DefaultRanking) or not name:
        return ranking
    if name == "hybrid":
        return _default_by_meaning()
    has_vectors = index.status(MainEncoder()) is not None
    return DefaultRanking(name="words", note="the page before was, too" if has_vectors else None)


FURNITURE = "furniture"
"""The feature of text that is no sentence of the article."""
LOWERED = Adjustment(FURNITURE, "satu", {"w": -12.0, "k": 0.5})
"""Lowers a sentence that is surely furniture by 8: more than one to three words of a query add."""


def lower_furniture(ranking: Ranking, index: Index) -> Ranking:
    """The ranking with LOWERED, if the index has the feature of furniture.

    A ranking that uses the feature itself, or was learned as a whole, is unchanged.
    """
    if (
        ranking.trees is not None
        or FURNITURE in ranking.feature_names()
        or FURNITURE not in index.status(Features())
    ):
        return ranking
    return replace(ranking, features=(*ranking.features, LOWERED))


Texts = str | Iterable[str | Mapping[str, Any]] | Mapping[str, Any]
"""Texts as on the command line, such as "subj:linear:0.5", or JSON as in a ranking file."""


class RankingSettings(TypedDict, total=False):
    """The options of a ranking; those that are absent, None or empty change nothing."""

    model: str | None
    context: str | None
    params: Mapping[str, Any] | None
    prior: Texts
    feature: Texts
    boost: Texts
    rerank: Texts
    rerank_depth: int | None
    candidates: str | None


def build_ranking(
    ranking: Ranking | Mapping[str, Any] | str | Path | None = None, **settings: Unpack[RankingSettings]
) -> Ranking:
    """Build a ranking with these options, which take precedence over those of `ranking`. Raises UsageError.

    Without any of them, it is `ranking`, or DEFAULT. If `model` differs from that of `ranking`, the
    parameters of `ranking` are dropped: they belong to its model.
    """
    base = DEFAULT if ranking is None else Ranking.of(ranking)
    single = "context", "candidates", "rerank_depth"
    if not any(value is not None if name in single else value for name, value in settings.items()):
        return base
    data: dict[str, Any] = {"model": base.model, "context": base.context, "candidates": base.candidates}
    data |= {"params": dict(base.params), "priors": dict(base.priors)}
    model = settings.get("model")
    if model is not None and model != base.model:
        data |= {"model": model, "context": None, "params": {}}
    data["params"] |= settings.get("params") or {}
    data["priors"] |= _read_named("prior", settings.get("prior", ()), _parse_prior)
    data["boosts"] = {**base.boosts, **_read_named("boost", settings.get("boost", ()), boosts.parse)}
    features = _read_list("feature", settings.get("feature", ()), parse_adjustment, adjustment_from_dict)
    data["features"] = list({(f.feature, f.form): f for f in (*base.features, *features)}.values())
    signals = _read_list("rerank", settings.get("rerank", ()), parse_signal, signal_from_dict)
    data["rerank"] = list({signal.signal: signal for signal in (*base.rerank, *signals)}.values())
    data |= {"depth": base.depth, "trees": base.trees}
    overrides = {
        "context": settings.get("context"),
        "candidates": settings.get("candidates"),
        "depth": settings.get("rerank_depth"),
    }
    data |= {key: value for key, value in overrides.items() if value is not None}
    return Ranking.from_dict(data)


def _read_named(name: str, value: Texts, parse: Callable[[str], tuple[str, Any]]) -> Mapping[str, Any]:
    """Read values by name from texts or a mapping."""
    if isinstance(value, Mapping):
        return value
    return dict(map(parse, _check_texts(name, value, str)))


def _read_list(name: str, value: Texts, parse: Callable[[str], Any], read: Callable[[Any], Any]) -> list[Any]:
    """Read a list of texts and JSON objects."""
    values = _check_texts(name, [value] if isinstance(value, Mapping) else value, (str, Mapping))
    return [parse(item) if isinstance(item, str) else read(item) for item in values]


def _check_texts(name: str, value: Any, types: Any) -> list[Any]:
    values = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    for item in values:
        if not isinstance(item, types):
            raise UsageError(f"{name} is a text such as NAME:WEIGHT, or several, not {item!r}")
    return values


def _parse_prior(text: str) -> tuple[str, Any]:
    name, _, weight = text.partition(":")
    return name, float(weight) if _is_number(weight) else weight or 1.0


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
