"""The options that restrict a search: dates, sources, attributes, documents, names."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import click

from esr.cli.options import add_options
from esr.documents.dates import parse_date_end, parse_date_start
from esr.engines.entities import ENTITY_TYPES
from esr.engines.filters import build_attribute_filters
from esr.engines.index import Filters
from esr.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def filter_options(command: F) -> F:
    """Adds the filter options. The command gets them as one parameter, `filters`."""
    options = [
        click.option("--from", "date_from", metavar="DATE", help="Documents of this ISO 8601 date or later."),
        click.option("--to", "date_to", metavar="DATE", help="Documents of this date or earlier."),
        click.option("--source", "sources", multiple=True, help="Documents of this source. May be repeated."),
        click.option("--author", "authors", multiple=True, help="Documents of this author. May be repeated."),
        click.option("--section", "sections", multiple=True, help="Documents of it. May be repeated."),
        click.option("--keyword", "keywords", multiple=True, help="Documents with it. May be repeated."),
        click.option(
            "--meta",
            "metadata",
            multiple=True,
            metavar="KEY=VALUE",
            help="Documents with this value in their metadata. May be repeated (any value of all keys).",
        ),
        click.option("--document", "documents", multiple=True, help="This document. May be repeated."),
        click.option(
            "--entity",
            "entities",
            multiple=True,
            metavar="[TYPE:]NAME",
            help=f"Sentences that name this entity; TYPE is {', '.join(ENTITY_TYPES)}. "
            "May be repeated (any).",
        ),
    ]

    @wraps(command)
    def with_filters(
        *args: Any,
        date_from: str | None,
        date_to: str | None,
        sources: tuple[str, ...],
        authors: tuple[str, ...],
        sections: tuple[str, ...],
        keywords: tuple[str, ...],
        metadata: tuple[str, ...],
        documents: tuple[str, ...],
        entities: tuple[str, ...],
        **kwargs: Any,
    ) -> Any:
        start = _parse_date(date_from, "--from", parse_date_start)
        end = _parse_date(date_to, "--to", parse_date_end)
        if start is not None and end is not None and start > end:
            raise UsageError(f"--from {date_from} is after --to {date_to}: swap them")
        attributes = {"author": authors, "section": sections, "keyword": keywords}
        wanted = build_attribute_filters(attributes, metadata)
        filters = Filters(start, end, sources, documents, entities, wanted)
        return command(*args, filters=filters, **kwargs)

    return cast(F, add_options(options, with_filters))


def _parse_date(text: str | None, option: str, parse: Callable[[str], int]) -> int | None:
    try:
        return None if text is None else parse(text)
    except ValueError as error:
        raise UsageError(f"{option} needs an ISO 8601 date such as 2017-02-28, not {text!r}") from error
