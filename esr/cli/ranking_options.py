"""Options of searches: the ranking, how the query is read, and the filters.

Each decorator combines its options into one parameter of the command: `ranking`, `query` or `filters`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import click

from esr import models
from esr.cli.options import add_options
from esr.errors import UsageError
from esr.index.filters import Filters, build_attribute_filters
from esr.index.names import ENTITY_TYPES
from esr.models.static_scores import FORMS, PRIORS
from esr.plans.plan import CANDIDATES
from esr.query import ParsedQuery, in_language, literal, parse
from esr.ranking import boosts
from esr.ranking.ranking import SHIPPED, build_ranking
from esr.text.dates import parse_date_end, parse_date_start
from esr.text.document import ATTRIBUTES

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


_OF_DOCUMENTS = {
    "source": "of this source",
    "author": "of this author",
    "section": "of this section",
    "keyword": "with this keyword",
}
_FILTER_OPTIONS = (
    click.option(
        "--from", "date_from", metavar="DATE", help="Use only documents of this ISO 8601 date or later."
    ),
    click.option("--to", "date_to", metavar="DATE", help="Use only documents of this date or earlier."),
    *(
        click.option(f"--{name}", multiple=True, help=f"Use only documents {text}. May be repeated.")
        for name, text in _OF_DOCUMENTS.items()
    ),
    click.option(
        "--meta",
        multiple=True,
        metavar="KEY=VALUE",
        help="Use only documents with this metadata. May be repeated: any value of all keys.",
    ),
    click.option("--document", multiple=True, help="Use only this document. May be repeated."),
    click.option(
        "--entity",
        multiple=True,
        metavar="[TYPE:]NAME",
        help=f"Use only sentences that name this entity; TYPE is {', '.join(ENTITY_TYPES)}. "
        "May be repeated: any of them.",
    ),
)


def filter_options(command: F) -> F:
    """Add the filter options. The command receives them as the parameter `filters`."""

    @wraps(command)
    def with_filters(*args: Any, date_from: str | None, date_to: str | None, **kwargs: Any) -> Any:
        start = _parse_date(date_from, "--from", parse_date_start)
        end = _parse_date(date_to, "--to", parse_date_end)
        if start is not None and end is not None and start > end:
            raise UsageError(f"--from {date_from} is after --to {date_to}: swap them")
        attributes = {name: kwargs.pop(name) for name in ATTRIBUTES}
        wanted = build_attribute_filters(attributes, kwargs.pop("meta"))
        sources, documents, entities = (kwargs.pop(name) for name in ("source", "document", "entity"))
        filters = Filters(start, end, sources, documents, entities, wanted)
        return command(*args, filters=filters, **kwargs)

    return cast(F, add_options(_FILTER_OPTIONS, with_filters))


def _parse_date(text: str | None, option: str, parse: Callable[[str], int]) -> int | None:
    try:
        return None if text is None else parse(text)
    except ValueError as error:
        raise UsageError(f"{option} needs an ISO 8601 date such as 2017-02-28, not {text!r}") from error
