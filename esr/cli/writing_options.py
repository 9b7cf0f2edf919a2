"""The options of commands that write an index: how it is made, kept and loaded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from esr.cli.options import add_options
from esr.engines.generations import DEFAULT_KEEP
from esr.engines.options import DEFAULT_WORKERS
from esr.errors import UsageError
from esr.ranking.ranking import Ranking

F = TypeVar("F", bound=Callable[..., Any])

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
lifts = click.option(
    "--lifts/--no-lifts",
    "precomputed_mixture",
    callback=lambda context, option, value: Ranking().mixture() if value else None,
    default=True,
    show_default=True,
    help="Store bounds of each sentence's score by the default model, for faster searches by it. The index "
    "is a third larger with them (Elasticsearch only).",
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


def new_index(command: F) -> F:
    """Adds the options of an index that is made."""
    return cast(F, add_options(NEW_INDEX_OPTIONS, command))


def parse_slice(text: str) -> tuple[int, int]:
    """`2/8` as (2, 8). Raises UsageError."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--slice needs I/N, like 2/8 for the second of eight, not {text!r}")
    return int(match[1]), int(match[2])
