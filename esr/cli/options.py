"""Options that several commands share: the index, output formats, measures, generations, filters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from esr.documents.dates import parse_date_end, parse_date_start
from esr.engines.entities import ENTITY_TYPES
from esr.engines.filters import build_attribute_filters
from esr.engines.generations import DEFAULT_KEEP
from esr.engines.index import Filters
from esr.engines.options import DEFAULT_WORKERS
from esr.errors import UsageError
from esr.evaluation.measures import DEFAULT as DEFAULT_MEASURES

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
"""The index, in the same form as for `--index`, for commands that manage indexes."""
measures = click.option(
    "-m",
    "--measures",
    "measure_texts",
    multiple=True,
    default=[" ".join(DEFAULT_MEASURES)],
    show_default=True,
    help='Measures, as ir_measures names them: "AP P@10". May be repeated.',
)
keep = click.option(
    "--keep",
    type=click.IntRange(0, 1000),
    default=DEFAULT_KEEP,
    show_default=True,
    help="Generations to keep beside the new one, for esr rollback.",
)
merge = click.option(
    "--merge/--no-merge",
    default=True,
    show_default=True,
    help="Merge the segments of the new index before it is served, for faster searches (Elasticsearch only).",
)
resume = click.option(
    "--resume", is_flag=True, help="Resume an interrupted load of the same documents, if any."
)
workers = click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=DEFAULT_WORKERS,
    show_default=True,
    help="Concurrent bulk requests (Elasticsearch only).",
)
NEW_INDEX_OPTIONS = (
    click.option(
        "--analyzer",
        help="How text becomes terms: one of esr analyzers, or auto (default), which chooses by the "
        "language of the first documents.",
    ),
    click.option(
        "--title/--no-title",
        default=None,
        help="Count a title's terms in its document's context (default).",
    ),
    click.option(
        "--shards", type=click.IntRange(1, 1024), help="Shards of the new index (Elasticsearch only)."
    ),
    click.option(
        "--replicas",
        type=click.IntRange(0, 10),
        help="Copies of each shard (Elasticsearch only). Default: one if there is a second node.",
    ),
)
"""How an index is made that does not exist yet."""
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def describe_choices(choices: Mapping[str, str]) -> str:
    """The choices of an option or a command with what each means, for its help."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in choices.items()) + "."


def add_options(options: Sequence[Callable[[Any], Any]], command: Any) -> Any:
    """The command with these options, which its help shows in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def new_index(command: F) -> F:
    """Adds the options of an index that is made."""
    return cast(F, add_options(NEW_INDEX_OPTIONS, command))


def filters(command: F) -> F:
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


def parse_slice(text: str) -> tuple[int, int]:
    """`2/8` as (2, 8). Raises UsageError."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--slice needs I/N, like 2/8 for the second of eight, not {text!r}")
    return int(match[1]), int(match[2])


def _parse_date(text: str | None, option: str, parse: Callable[[str], int]) -> int | None:
    try:
        return None if text is None else parse(text)
    except ValueError as error:
        raise UsageError(f"{option} needs an ISO 8601 date such as 2017-02-28, not {text!r}") from error
