"""Options of searches: the ranking, how the query is read, and the filters.

Each decorator combines its options into one parameter of the command: `ranking`, `query` or `filters`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import click

from esr import models
from esr.arguments.argument import COMMAND
from esr.arguments.filters import filters_of, read_filters
from esr.arguments.types import Day
from esr.cli.options import add_options
from esr.errors import UsageError
from esr.models.static_scores import FORMS, PRIORS
from esr.plans.plan import CANDIDATES
from esr.query import ParsedQuery, in_language, literal, parse
from esr.ranking import boosts
from esr.ranking.ranking import SHIPPED, build_ranking

F = TypeVar("F", bound=Callable[..., Any])


def _join(names: Iterable[str]) -> str:
    return ", ".join(names)


_RANKING_OPTIONS = (
    click.option("--model", help=f"Ranking model: {_join(models.MODELS.own)}. See esr models."),
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
        multiple=True,
        metavar="NAME[:WEIGHT]",
        help=f"A sentence prior: {_join(PRIORS.own)}. See esr priors.",
    ),
    click.option(
        "--feature",
        multiple=True,
        metavar="NAME:FORM[:WEIGHT]",
        help="A feature of the sentences, such as subj:linear:0.5 or len:log:0.1:shift=0. Forms: "
        f"{_join(f.name for f in FORMS.own.values() if not f.is_trained)}. See esr forms.",
    ),
    click.option(
        "--boost",
        multiple=True,
        metavar="NAME[:WEIGHT]",
        help="A boost beyond the query's words, such as variants or feedback:0.1:terms=10. "
        f"Boosts: {_join(boosts.BOOSTS.own)}. See esr boosts.",
    ),
    click.option(
        "--rerank",
        multiple=True,
        metavar="NAME[:WEIGHT]",
        help="A signal that adds to the best sentences, such as mrf_sdm:0.5 or tdsr:1:alpha=0.3: term "
        'dependence, a model in a context ("2si document:0.5"), a prior, a feature ("feature subj:1"), '
        "meaning, a cross-encoder (cross:hf:OWNER/NAME). See esr signals.",
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
        help="Take all of these from a JSON file, or from a ranking that esr ships: "
        f"{'; '.join(f'{name} ({text})' for name, text in SHIPPED.items())}. "
        "The options above take precedence over it.",
    ),
)
_RANKING_NAMES = ("model", "context", "prior", "feature", "boost", "rerank", "rerank_depth", "candidates")
"""The options that are passed unchanged to `build_ranking`, by its names."""


def ranking_options(command: F) -> F:
    """Add the options of a ranking. The command receives them as the parameter `ranking`."""

    @wraps(command)
    def with_ranking(*args: Any, ranking_file: str | None, params: tuple[str, ...], **kwargs: Any) -> Any:
        given = {name: kwargs.pop(name) for name in _RANKING_NAMES}
        ranking = build_ranking(ranking_file, params=dict(map(_parse_param, params)), **given)
        return command(*args, ranking=ranking, **kwargs)

    return cast(F, add_options(_RANKING_OPTIONS, with_ranking))


def _parse_param(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--set needs NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


# The query


ALL = "all"
query_language = click.option(
    "--query-language",
    metavar="CODE",
    help="The language of the query, such as de, for an index by language. Default: found by its words.",
)
_QUERY_OPTIONS = (
    click.option(
        "--literal", "is_literal", is_flag=True, help="Read all of the query as words, without any syntax."
    ),
    click.option(
        "--require", type=click.Choice([ALL]), help="Require every word of the query in a sentence."
    ),
    query_language,
)


class ReadQuery(NamedTuple):
    """A parsed query. `require_all`: whether a sentence must contain every word."""

    parsed: ParsedQuery
    require_all: bool


def query_argument(command: F, required: bool = True) -> F:
    """Add the argument QUERY and its options. The command receives a `ReadQuery` as the parameter `query`."""

    @wraps(command)
    def with_query(
        *args: Any,
        query: str,
        is_literal: bool,
        require: str | None,
        query_language: str | None,
        **kwargs: Any,
    ) -> Any:
        parsed = in_language(literal(query) if is_literal else parse(query), query_language)
        return command(*args, query=ReadQuery(parsed, require == ALL), **kwargs)

    argument = click.argument("query") if required else click.argument("query", default="")
    return cast(F, add_options((argument, *_QUERY_OPTIONS), with_query))


# Filters


def _filter_options() -> Iterator[Callable[[Any], Any]]:
    """An option for each filter, and hidden ones for their former names."""
    for row in filters_of(COMMAND):
        for name, type in row.names(COMMAND):
            yield click.option(
                f"--{name}",
                name,
                multiple=row.is_repeatable,
                metavar=_METAVARS.get(name, "DATE" if isinstance(type, Day) else None),
                hidden=name != row.name,
                help=row.sentence() + " May be repeated." * row.is_repeatable,
            )


_METAVARS = {"meta": "KEY=VALUE", "entity": "[TYPE:]NAME"}
_FILTER_OPTIONS = tuple(_filter_options())
_FILTER_NAMES = tuple(name for row in filters_of(COMMAND) for name, _ in row.names(COMMAND))


def filter_options(command: F) -> F:
    """Add the filter options. The command receives them as the parameter `filters`."""

    @wraps(command)
    def with_filters(*args: Any, **kwargs: Any) -> Any:
        values = {name: kwargs.pop(name) for name in _FILTER_NAMES}
        return command(*args, filters=read_filters(values, label="--{}".format), **kwargs)

    return cast(F, add_options(_FILTER_OPTIONS, with_filters))
