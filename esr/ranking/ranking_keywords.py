"""The options of a ranking, as the command line takes them, and keywords of the Python API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from esr.errors import UsageError
from esr.models.adjustment import adjustment_from_dict, parse_adjustment
from esr.ranking import boosts
from esr.ranking.ranking import Ranking
from esr.ranking.signals import parse_signal, signal_from_dict

Texts = str | Iterable[str | Mapping[str, Any]] | Mapping[str, Any]
"""Texts as on the command line, such as "subj:linear:0.5", or JSON as in a ranking file."""

_DEFAULT = Ranking()


def build_ranking(
    ranking: Ranking | Mapping[str, Any] | str | Path | None = None,
    *,
    model: str | None = None,
    context: str | None = None,
    params: Mapping[str, Any] | None = None,
    prior: Texts = (),
    feature: Texts = (),
    boost: Texts = (),
    rerank: Texts = (),
    rerank_depth: int | None = None,
    candidates: str | None = None,
) -> Ranking:
    """A ranking with these options, which take precedence over those of `ranking`. Raises UsageError.

    Another model than that of `ranking` has none of its parameters, because parameters belong to a model.
    """
    base = _DEFAULT if ranking is None else Ranking.of(ranking)
    data: dict[str, Any] = {"model": base.model, "context": base.context, "candidates": base.candidates}
    data |= {"params": dict(base.params), "priors": dict(base.priors)}
    if model is not None and model != base.model:
        data |= {"model": model, "context": None, "params": {}}
    data["params"] |= params or {}
    data["priors"] |= _read_named("prior", prior, _parse_prior)
    data["boosts"] = {**base.boosts, **_read_named("boost", boost, boosts.parse)}
    features = _read_list("feature", feature, parse_adjustment, adjustment_from_dict)
    data["features"] = list({(f.feature, f.form): f for f in (*base.features, *features)}.values())
    signals = _read_list("rerank", rerank, parse_signal, signal_from_dict)
    data["rerank"] = list({signal.signal: signal for signal in (*base.rerank, *signals)}.values())
    data |= {"depth": base.depth, "trees": base.trees}
    overrides = {"context": context, "candidates": candidates, "depth": rerank_depth}
    data |= {key: value for key, value in overrides.items() if value is not None}
    return Ranking.from_dict(data)


def _read_named(name: str, value: Texts, parse: Callable[[str], tuple[str, Any]]) -> Mapping[str, Any]:
    """Values by name, from texts or a mapping."""
    if isinstance(value, Mapping):
        return value
    return dict(map(parse, _check_texts(name, value, str)))


def _read_list(name: str, value: Texts, parse: Callable[[str], Any], read: Callable[[Any], Any]) -> list[Any]:
    """What texts and JSON objects mean."""
    given = _check_texts(name, [value] if isinstance(value, Mapping) else value, (str, Mapping))
    return [parse(each) if isinstance(each, str) else read(each) for each in given]


def _check_texts(name: str, value: Any, types: Any) -> list[Any]:
    values = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    for each in values:
        if not isinstance(each, types):
            raise UsageError(f"{name} is a text such as NAME:WEIGHT, or several, not {each!r}")
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
