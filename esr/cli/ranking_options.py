"""The options of a ranking: model, parameters, priors, features, boosts, and the second stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar, cast

import click

from esr import adjustments, boosts, models, priors
from esr.cli.options import add_options
from esr.errors import UsageError
from esr.plans.plan import CANDIDATES
from esr.ranking import ranking_signal
from esr.ranking.ranking import Ranking
from esr.ranking.shipped import SHIPPED

F = TypeVar("F", bound=Callable[..., Any])


def _join(names: Iterable[str]) -> str:
    return ", ".join(names)


_OPTIONS = (
    click.option("--model", help=f"Ranking model: {_join(models.MODELS)}. See esr models."),
    click.option("--context", help=f"Context of a sentence: {_join(models.CONTEXTS)}."),
    click.option(
        "--set",
        "params",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the model, such as mu=50.",
    ),
    click.option(
        "--prior",
        "prior_texts",
        multiple=True,
        metavar="NAME[:WEIGHT]",
        help=f"A sentence prior: {_join(priors.PRIORS)}. See esr priors.",
    ),
    click.option(
        "--feature",
        "feature_texts",
        multiple=True,
        metavar="NAME:FORM[:WEIGHT]",
        help="A feature of the sentences, such as subj:linear:0.5 or len:log:0.1:shift=0. Forms: "
        f"{_join(f.name for f in adjustments.FORMS.values() if not f.is_trained)}. See esr forms.",
    ),
    click.option(
        "--boost",
        "boost_texts",
        multiple=True,
        metavar="NAME[:WEIGHT]",
        help="A boost beyond the query's words, such as variants or feedback:0.1:terms=10. "
        f"Boosts: {_join(boosts.BOOSTS)}. See esr boosts.",
    ),
    click.option(
        "--rerank",
        "signal_texts",
        multiple=True,
        metavar="NAME[:WEIGHT]",
        help="A signal that adds to the best sentences, such as mrf_sdm:0.5 or tdsr:1:alpha=0.3: term "
        'dependence, a model in a context ("2si document:0.5"), a prior, a feature ("feature subj:1"), '
        "meaning. See esr signals.",
    ),
    click.option(
        "--rerank-depth",
        type=click.IntRange(1),
        help="Number of sentences that the second stage reranks. Default: 1000.",
    ),
    click.option(
        "--candidates",
        help="Sentences to rank: " + "; ".join(f"{k} ({v})" for k, v in CANDIDATES.items()) + ".",
    ),
    click.option(
        "--ranking",
        "ranking_file",
        type=click.Path(dir_okay=False),
        help="All of these, from a JSON file or by a name that esr ships: "
        f"{'; '.join(f'{name} ({text})' for name, text in SHIPPED.items())}. "
        "The options above take precedence over it.",
    ),
)


def ranking_options(command: F) -> F:
    """Adds the options of a ranking. The command gets them as one parameter, `ranking`."""

    @wraps(command)
    def with_ranking(
        *args: Any,
        model: str | None,
        context: str | None,
        params: tuple[str, ...],
        prior_texts: tuple[str, ...],
        feature_texts: tuple[str, ...],
        boost_texts: tuple[str, ...],
        signal_texts: tuple[str, ...],
        rerank_depth: int | None,
        candidates: str | None,
        ranking_file: str | None,
        **kwargs: Any,
    ) -> Any:
        base = Ranking.from_file(ranking_file) if ranking_file else Ranking()
        data: dict[str, Any] = {"model": base.model, "context": base.context, "candidates": base.candidates}
        data |= {"params": dict(base.params), "priors": dict(base.priors)}
        if model is not None and model != base.model:
            data |= {"model": model, "context": None, "params": {}}  # another model has other parameters
        data["params"] |= dict(map(_parse_param, params))
        data["priors"] |= dict(map(_parse_prior, prior_texts))
        features = {(f.feature, f.form): f for f in map(adjustments.parse, feature_texts)}
        data["features"] = list(({(f.feature, f.form): f for f in base.features} | features).values())
        data["boosts"] = {**base.boosts, **dict(map(boosts.parse, boost_texts))}
        signals = {s.signal: s for s in map(ranking_signal.parse, signal_texts)}
        data["rerank"] = list(({s.signal: s for s in base.rerank} | signals).values())
        data |= {"depth": base.depth, "trees": base.trees}
        overrides = {"context": context, "candidates": candidates, "depth": rerank_depth}
        data |= {key: value for key, value in overrides.items() if value is not None}
        return command(*args, ranking=Ranking.from_dict(data), **kwargs)

    return cast(F, add_options(_OPTIONS, with_ranking))


def _parse_param(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--set needs NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


def _parse_prior(text: str) -> tuple[str, Any]:
    name, _, weight = text.partition(":")
    return name, float(weight) if _is_number(weight) else weight or 1.0


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
