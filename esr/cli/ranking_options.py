"""Options of searches: the ranking, how the query is read, and the filters.

Each decorator combines its options into one parameter of the command: `ranking`, `query` or `filters`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import click

from esr import models
from esr.arguments.argument import COMMAND
from esr.arguments.filters import filters_of, read_filters
from esr.arguments.reading import FURNITURE, reading_of
from esr.arguments.tables.common import QUERY
from esr.arguments.tables.rankings import ranking_of
from esr.cli.arguments import add_options, build_option
from esr.errors import UsageError
from esr.models.forms import FORMS
from esr.models.priors import PRIORS
from esr.plans.plan import CANDIDATES
from esr.query import ParsedQuery, in_language, parse
from esr.query import literal as parse_literally
from esr.ranking import boosts
from esr.ranking.ranking import SHIPPED, build_ranking
from esr.ranking.second_stage.reranker import DEPTH

F = TypeVar("F", bound=Callable[..., Any])


def _join(names: Iterable[str]) -> str:
    return ", ".join(names)


_NOTES = {
    "model": f"Models: {_join(models.MODELS.built_in)}. See esr models.",
    "context": f"Contexts: {_join(models.CONTEXTS)}.",
    "set": "For example, mu=50.",
    "rerank_depth": f"Default: {DEPTH}.",
    "prior": f"Priors: {_join(PRIORS.built_in)}. See esr priors.",
    "feature": f"Forms: {_join(f.name for f in FORMS.built_in.values() if not f.is_trained)}. See esr forms.",
    "boost": f"Boosts: {_join(boosts.BOOSTS.built_in)}. See esr boosts.",
    "rerank": 'Signals are term dependence, a model in a context ("2si document:0.5"), a prior, a feature '
    '("feature subj:1"), meaning, and cross-encoders (cross:hf:OWNER/NAME). See esr signals.',
    "candidates": f"Rules: {'; '.join(f'{k} ({v})' for k, v in CANDIDATES.items())}.",
    "ranking": f"Shipped are {'; '.join(f'{name} ({text})' for name, text in SHIPPED.items())}.",
}
"""What values there are, by option."""
_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "set": {"metavar": "NAME=VALUE", "multiple": True},
    "prior": {"metavar": "NAME[:WEIGHT]", "multiple": True},
    "feature": {"metavar": "NAME:FORM[:WEIGHT]"},
    "boost": {"metavar": "NAME[:WEIGHT]"},
    "rerank": {"metavar": "NAME[:WEIGHT]"},
    "rerank_depth": {"default": None},
    "ranking": {"type": click.Path(dir_okay=False)},
}
_ROWS = {row.name_at(COMMAND): row for row in ranking_of(COMMAND)}
_RANKING_OPTIONS = tuple(
    build_option(row, note=_NOTES.get(name, ""), **_SETTINGS.get(name, {})) for name, row in _ROWS.items()
)
_BUILT = tuple(name for name in _ROWS if name not in ("set", "ranking"))
"""The options that are passed unchanged to `build_ranking`, by its names."""


def ranking_options(command: F) -> F:
    """Add the options of a ranking. The command receives them as the parameter `ranking`."""

    @wraps(command)
    def with_ranking(*args: Any, **kwargs: Any) -> Any:
        params = dict(map(_parse_param, kwargs.pop("set")))
        settings = {name: kwargs.pop(name) for name in _BUILT}
        return command(
            *args, ranking=build_ranking(kwargs.pop("ranking"), params=params, **settings), **kwargs
        )

    return cast(F, add_options(_RANKING_OPTIONS, with_ranking))


def _parse_param(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--set needs NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


# The query


_READING = {row.name: row for row in reading_of(COMMAND)}
query_language: Callable[[Any], Any] = build_option(_READING["query_language"], metavar="CODE")
literal_option: Callable[[Any], Any] = build_option(_READING["literal"])
furniture: Callable[[Any], Any] = build_option(FURNITURE)


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
        literal: bool,
        require: str | None,
        query_language: str | None,
        **kwargs: Any,
    ) -> Any:
        parsed = in_language(parse_literally(query) if literal else parse(query), query_language)
        return command(*args, query=ReadQuery(parsed, require is not None), **kwargs)

    argument = build_option(QUERY) if required else build_option(QUERY, required=False, default="")
    added = (argument, literal_option, build_option(_READING["require"]), query_language)
    return cast(F, add_options(added, with_query))


# Filters


def _filter_options() -> Iterator[Callable[[Any], Any]]:
    """An option for each filter, and hidden ones for their former names."""
    for row in filters_of(COMMAND):
        for name, type in row.names(COMMAND):
            settings = {"metavar": _METAVARS[name]} if name in _METAVARS else {}
            yield build_option(row, name, type, parameter=name, hidden=name != row.name, **settings)


_METAVARS = {"meta": "KEY=VALUE", "entity": "[TYPE:]NAME"}
_FILTER_OPTIONS = tuple(_filter_options())
_FILTER_NAMES = tuple(name for row in filters_of(COMMAND) for name, _ in row.names(COMMAND))


def filter_options(command: F) -> F:
    """Add the filter options. The command receives them as the parameter `filters`."""

    @wraps(command)
    def with_filters(*args: Any, **kwargs: Any) -> Any:
        values = {name: kwargs.pop(name) for name in _FILTER_NAMES}
        names = [name for name, value in values.items() if value is not None]
        for row in filters_of(COMMAND):
            for line in row.deprecations(names, COMMAND, "--{}".format):
                click.echo(f"esr: {line}", err=True)
        return command(*args, filters=read_filters(values, label="--{}".format), **kwargs)

    return cast(F, add_options(_FILTER_OPTIONS, with_filters))
