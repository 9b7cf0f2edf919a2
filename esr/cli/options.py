"""Options that commands share: where the index is, how to rank, what to filter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from esr import adjustments, boosts, models, priors
from esr.documents.dates import instant, instant_end
from esr.engines.entities import TYPES
from esr.engines.generations import KEEP
from esr.engines.index import Filters
from esr.engines.options import WORKERS
from esr.errors import UsageError
from esr.evaluation.measures import DEFAULT as DEFAULT_MEASURES
from esr.plans.plan import CANDIDATES
from esr.ranking import signal
from esr.ranking.ranking import Ranking

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(dir_okay=False, path_type=Path)

_INDEX: Any = {
    "envvar": "ESR_INDEX",
    "show_envvar": True,
    "metavar": "WHERE",
    "help": "The index: a folder, or http(s)://host:port/alias for Elasticsearch.",
}
index = click.option("--index", "where", required=True, **_INDEX)
optional_index = click.option("--index", "where", **_INDEX)
place = click.argument("where", metavar="WHERE")
"""The index, as `--index` names it, for commands about the index itself."""
measures = click.option(
    "-m",
    "--measures",
    "wanted",
    multiple=True,
    default=[" ".join(DEFAULT_MEASURES)],
    show_default=True,
    help='Measures, as ir_measures names them: "AP P@10". May be repeated.',
)
keep = click.option(
    "--keep",
    type=click.IntRange(0, 1000),
    default=KEEP,
    show_default=True,
    help="Generations to keep beside the new one, for esr rollback.",
)
resume = click.option(
    "--resume", is_flag=True, help="Take up a load of the same documents that was cut off, if there is one."
)
workers = click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=WORKERS,
    show_default=True,
    help="Bulk requests at once (Elasticsearch only).",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def _names(known: Sequence[str]) -> str:
    return ", ".join(known)


def ranking(command: F) -> F:
    """Adds the RANKING options; the command gets one `ranking`."""
    options = [
        click.option("--model", help=f"Ranking model: {_names(list(models.MODELS))}. See esr models."),
        click.option("--context", help=f"Context of a sentence: {_names(list(models.CONTEXTS))}."),
        click.option(
            "--set", "params", multiple=True, metavar="NAME=VALUE", help="A parameter of the model, as mu=50."
        ),
        click.option(
            "--prior",
            "prior_weights",
            multiple=True,
            metavar="NAME[:WEIGHT]",
            help=f"A sentence prior: {_names(list(priors.PRIORS))}. See esr priors.",
        ),
        click.option(
            "--feature",
            "feature_texts",
            multiple=True,
            metavar="NAME:FORM[:WEIGHT]",
            help="A feature of the sentences, as subj:linear:0.5 or len:log:0.1:shift=0. Forms: "
            f"{_names([f.name for f in adjustments.FORMS.values() if not f.is_trained])}. See esr forms.",
        ),
        click.option(
            "--boost",
            "boost_texts",
            multiple=True,
            metavar="NAME[:WEIGHT]",
            help="What the query's words say beyond themselves, as variants or feedback:0.1:terms=10. "
            f"Boosts: {_names(list(boosts.BOOSTS))}. See esr boosts.",
        ),
        click.option(
            "--rerank",
            "signal_texts",
            multiple=True,
            metavar="NAME[:WEIGHT]",
            help="A signal that adds to the best sentences, as mrf_sdm:0.5 or tdsr:1:alpha=0.3: term "
            'dependence, a model in a context ("2si document:0.5"), a prior, a feature ("feature subj:1"). '
            "See esr signals.",
        ),
        click.option(
            "--rerank-depth",
            type=click.IntRange(1),
            help="Sentences that the second stage looks at. Default: 1000.",
        ),
        click.option(
            "--candidates",
            help="Sentences to rank: " + "; ".join(f"{k} ({v})" for k, v in CANDIDATES.items()) + ".",
        ),
        click.option(
            "--ranking",
            "ranking_file",
            type=click.Path(dir_okay=False),
            help="All of these, from a JSON file; the options above win over it.",
        ),
    ]

    @wraps(command)
    def with_ranking(
        *args: Any,
        model: str | None,
        context: str | None,
        params: tuple[str, ...],
        prior_weights: tuple[str, ...],
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
        data["params"] |= dict(_pair(text, "=", "--set wants NAME=VALUE") for text in params)
        data["priors"] |= dict(_prior(text) for text in prior_weights)
        given = {(f.feature, f.form): f for f in map(adjustments.parse, feature_texts)}
        data["features"] = list(({(f.feature, f.form): f for f in base.features} | given).values())
        data["boosts"] = {**base.boosts, **dict(map(boosts.parse, boost_texts))}
        signals = {s.signal: s for s in map(signal.parse, signal_texts)}
        data["rerank"] = list(({s.signal: s for s in base.rerank} | signals).values())
        data |= {"depth": base.depth, "trees": base.trees}
        said = {"context": context, "candidates": candidates, "depth": rerank_depth}
        data |= {key: value for key, value in said.items() if value is not None}
        return command(*args, ranking=Ranking.from_dict(data), **kwargs)

    return cast(F, _with(options, with_ranking))


def filters(command: F) -> F:
    """Adds the filter options; the command gets one `filters`."""
    options = [
        click.option("--from", "date_from", metavar="DATE", help="Documents of this ISO 8601 date or later."),
        click.option("--to", "date_to", metavar="DATE", help="Documents of this date or earlier."),
        click.option("--source", "sources", multiple=True, help="Documents of this source. May be repeated."),
        click.option("--document", "documents", multiple=True, help="This document. May be repeated."),
        click.option(
            "--entity",
            "entities",
            multiple=True,
            metavar="[TYPE:]NAME",
            help=f"Sentences that name this entity; TYPE is {_names(TYPES)}. May be repeated: any of them.",
        ),
    ]

    @wraps(command)
    def with_filters(
        *args: Any,
        date_from: str | None,
        date_to: str | None,
        sources: tuple[str, ...],
        documents: tuple[str, ...],
        entities: tuple[str, ...],
        **kwargs: Any,
    ) -> Any:
        ends = (_date(date_from, "--from", instant), _date(date_to, "--to", instant_end))
        if ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
            raise UsageError(f"--from {date_from} comes after --to {date_to}: exchange them")
        return command(*args, filters=Filters(*ends, sources, documents, entities), **kwargs)

    return cast(F, _with(options, with_filters))


def _with(options: Sequence[Callable[[Any], Any]], command: Any) -> Any:
    for option in reversed(options):
        command = option(command)
    return command


def sliced(text: str) -> tuple[int, int]:
    """The slice that an option says, such as 2/8."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--slice wants I/N, as 2/8 for the second of eight, not {text!r}")
    return int(found[1]), int(found[2])


def _pair(text: str, separator: str, message: str) -> tuple[str, str]:
    name, found, value = text.partition(separator)
    if not found or not name:
        raise UsageError(f"{message}, not {text!r}")
    return name.strip(), value.strip()


def _prior(text: str) -> tuple[str, Any]:
    name, _, weight = text.partition(":")
    return name, float(weight) if _is_number(weight) else weight or 1.0


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _date(text: str | None, option: str, convert: Callable[[str], int]) -> int | None:
    try:
        return None if text is None else convert(text)
    except ValueError as error:
        raise UsageError(f"{option} wants an ISO 8601 date such as 2017-02-28, not {text!r}") from error
