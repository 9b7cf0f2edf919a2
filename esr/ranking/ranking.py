"""A ranking: which model with which settings. What `--ranking FILE` holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from esr import adjustments, models, priors
from esr.adjustments import Adjustment
from esr.boosts import Expansion, from_json, plan_expansion, to_json
from esr.errors import InputError, UsageError, unknown
from esr.models import Settings
from esr.plans.plan import CANDIDATES, Mixture, Plan, Rule, Static
from esr.plans.statistics import CollectionStatistics, Statistics
from esr.priors.prior import check_weight
from esr.ranking import kinds, signal, trees
from esr.ranking.kinds import FEATURE
from esr.ranking.origin import Origin
from esr.ranking.rerank import DEPTH, Second
from esr.ranking.signal import RankingSignal
from esr.ranking.trees import Trees

NO_BOOST: Mapping[str, Expansion] = {}


@dataclass(frozen=True)
class Ranking:
    """How to rank. Whatever is left out takes the model's default. Checked when made.

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
    trees: Trees | None = None
    depth: int = DEPTH
    """How many of the best sentences the second stage looks at, where there is one."""

    def __post_init__(self) -> None:
        self.settings()
        object.__setattr__(self, "boosts", from_json(self.boosts))
        if not isinstance(self.depth, int) or isinstance(self.depth, bool) or self.depth < 1:
            raise UsageError(f"ranking key 'depth' is a positive whole number, not {self.depth!r}")
        called = [each.signal for each in self.rerank]
        for name in called:
            if called.count(name) > 1:
                raise UsageError(f"signal {name!r} stands twice: leave one out")
        for name, weight in self.priors.items():
            check_weight(priors.get(name).name, weight)
        if self.candidates is not None and self.candidates not in CANDIDATES:
            raise unknown("candidates", self.candidates, CANDIDATES)
        names = [(each.feature, each.form) for each in self.features]
        for feature, form in names:
            if names.count((feature, form)) > 1:
                raise UsageError(f"feature {feature!r} stands twice with form {form!r}: leave one out")

    @staticmethod
    def from_dict(data: Any) -> Ranking:
        """From JSON. Every key may be left out; an unknown one is an error."""
        if not isinstance(data, Mapping):
            raise UsageError(f"a ranking is a JSON object, not {type(data).__name__}")
        known = Ranking.__dataclass_fields__
        for key in data:
            if key not in known:
                raise unknown("ranking key", str(key), known)
        for key in ("params", "priors"):
            if not isinstance(data.get(key, {}), Mapping):
                raise UsageError(f"ranking key {key!r} is a JSON object, not {data[key]!r}")
        for key in ("model", "context", "candidates"):
            optional = key != "model"
            if not isinstance(data.get(key, ""), str) and not (optional and data[key] is None):
                raise UsageError(f"ranking key {key!r} is a name, not {data[key]!r}")
        for key in ("features", "rerank"):
            if isinstance(data.get(key, ()), str | Mapping) or not isinstance(data.get(key, ()), Sequence):
                raise UsageError(f"ranking key {key!r} is a list, not {data[key]!r}")
        features = tuple(
            f if isinstance(f, Adjustment) else adjustments.from_dict(f) for f in data.get("features", ())
        )
        rerank = tuple(
            s if isinstance(s, RankingSignal) else signal.from_dict(s) for s in data.get("rerank", ())
        )
        learned = data.get("trees")
        if learned is not None and not isinstance(learned, Trees):
            learned = trees.from_dict(learned)
        return Ranking(**{**data, "features": features, "rerank": rerank, "trees": learned})

    @staticmethod
    def from_file(path: str | Path) -> Ranking:
        """From a ranking file. Raises InputError with the file's name."""
        try:
            return Ranking.from_dict(json.loads(Path(path).read_text("utf-8")))
        except json.JSONDecodeError as error:
            raise InputError(f"{path}:{error.lineno}", f"not JSON: {error.msg}") from error
        except UnicodeDecodeError as error:
            raise InputError(str(path), "not UTF-8 text") from error
        except (ValueError, RecursionError) as error:
            raise InputError(
                str(path), "not JSON: it is nested too deeply, or has too long a number"
            ) from error
        except OSError as error:
            raise InputError(str(path), f"cannot be read: {error.strerror}") from error
        except UsageError as error:
            raise InputError(str(path), str(error)) from error

    def settings(self) -> Settings:
        """The model's parameters with defaults filled in, checked."""
        return self._settings

    @cached_property
    def _settings(self) -> Settings:
        return models.get(self.model).settings(self.params, self.context)

    def plan(
        self, counts: Mapping[str, int], statistics: Statistics, added: Mapping[str, Expansion] = NO_BOOST
    ) -> Plan:
        """The plan for a query's terms and what boosts add. Terms that the collection lacks are dropped."""
        model = models.get(self.model)
        settings = self.settings()
        seen = {term: count for term, count in counts.items() if statistics.terms[term].seen}
        terms, transform = model.plan(settings, models.Query(seen, sum(counts.values()), statistics))
        weights = plan_expansion.term_weights(self.boosts, added)
        if weights:
            once = {term: 1 for term in weights if statistics.terms[term].seen}
            more = model.plan(settings, models.Query(once, sum(counts.values()), statistics)).terms
            terms = plan_expansion.add_terms(terms, more, weights)
        rule: Rule = self.candidates or model.candidates  # type: ignore[assignment]
        return Plan(
            terms=terms,
            transform=transform,
            candidates=rule,
            context="surrounding" if settings.context == "surrounding" else "document",
            statics=tuple(static for _, static in self.statics(statistics.collection, added)),
        )

    def statics(
        self, collection: CollectionStatistics, added: Mapping[str, Expansion] = NO_BOOST
    ) -> Iterator[tuple[Origin, Static]]:
        """The statics of the plan, each with its origin: priors, features, and what boosts add."""
        for name, weight in self.priors.items():
            yield Origin("prior", name), priors.get(name).static(check_weight(name, weight), collection)
        for adjustment in self.features:
            yield Origin("feature", adjustment.feature, adjustment.form), adjustment.static()
        for boost, feature, static in plan_expansion.feature_steps(self.boosts, added):
            yield Origin("boost", boost, feature), static

    def mixture(self) -> Mixture | None:
        """What it mixes, if it is a language model: that depends on no query and on no collection."""
        transform = self.plan({}, Statistics(CollectionStatistics(), {})).transform
        return transform if isinstance(transform, Mixture) else None

    def second(self) -> Second | None:
        """The second stage, if the model or a signal asks for one."""
        model = models.get(self.model)
        if model.second_stage is None:
            asked = self.rerank or self.trees
            return Second(1.0, tuple(self.rerank), self.depth, trees=self.trees) if asked else None
        settings = self.settings()
        first, name, ties = model.second_stage(settings)
        own: tuple[RankingSignal, ...] = ()
        if name is not None:
            known = {parameter.name for parameter in kinds.find(name).parameters}
            own = (RankingSignal(name, {k: v for k, v in settings.values.items() if k in known}),)
        return Second(first, (*own, *self.rerank), self.depth, ties, self.trees)

    def feature_names(self) -> tuple[str, ...]:
        """The features that either stage looks at."""
        inputs = (*self.rerank, *(self.trees.inputs if self.trees else ()))
        asked = (each.signal.removeprefix(FEATURE) for each in inputs if each.signal.startswith(FEATURE))
        return (*(each.feature for each in self.features), *asked)

    def as_dict(self) -> dict[str, Any]:
        """With every default filled in, so that a saved file keeps its meaning."""
        model, settings = models.get(self.model), self.settings()
        context = settings.context
        params = {
            p.name: settings.values[p.name]
            for p in model.parameters
            if p.only_with is None or p.only_with == context
        }
        return {
            "model": self.model,
            "context": context,
            "params": params,
            "priors": dict(self.priors),
            "candidates": self.candidates or model.candidates,
            "features": [each.as_dict() for each in self.features],
            "boosts": to_json(self.boosts),
            "rerank": [each.as_dict() for each in self.rerank],
            **({"trees": self.trees.as_dict()} if self.trees else {}),
            "depth": self.depth,
        }
