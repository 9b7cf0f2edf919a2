"""How a query is read: what switches the query language off, and what requires every word."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import click

from esr.cli.options import add_options
from esr.queries import ParsedQuery, literal, parse

F = TypeVar("F", bound=Callable[..., Any])
ALL = "all"
_OPTIONS = (
    click.option(
        "--literal", "is_literal", is_flag=True, help="Read all of the query as words, without any syntax."
    ),
    click.option(
        "--require", type=click.Choice([ALL]), help="Sentences with every word of the query, and no others."
    ),
)


class ReadQuery(NamedTuple):
    """A query of the command line. `require_all`: a sentence needs every word."""

    parsed: ParsedQuery
    require_all: bool


def query_argument(command: F) -> F:
    """Adds the argument QUERY and the options on how to read it. The command gets a `ReadQuery`, `query`."""

    @wraps(command)
    def with_query(*args: Any, query: str, is_literal: bool, require: str | None, **kwargs: Any) -> Any:
        parsed = literal(query) if is_literal else parse(query)
        return command(*args, query=ReadQuery(parsed, require == ALL), **kwargs)

    return cast(F, add_options((click.argument("query"), *_OPTIONS), with_query))
