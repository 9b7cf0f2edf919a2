"""The options of commands that read source files, and of those that write an index."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from esr.cli.options import FILE, add_options, describe_choices
from esr.index.generations import DEFAULT_KEEP
from esr.index.writer import (
    DEFAULT_PROFILE,
    DEFAULT_WORKERS,
    PROFILES,
)
from esr.loaders.fields import FIELDS
from esr.loaders.files import DEFAULT_LIMITS
from esr.loaders.ids import DUPLICATE_POLICIES, MADE_ID_POLICIES, SAME_ID_POLICIES
from esr.plans.plan import Mixture
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from esr.ranking import ranking
else:
    # Deliveries need neither the query language nor rankings.
    ranking = import_lazily("esr.ranking.ranking")


F = TypeVar("F", bound=Callable[..., Any])


def _parse_percentage(context: click.Context, parameter: click.Parameter, value: str) -> float:
    try:
        percentage = float(value.removesuffix("%"))
    except ValueError:
        percentage = -1.0
    if not 0 <= percentage <= 100:
        raise click.BadParameter(f"{value!r} is no share: write for example 80%")
    return percentage


SOURCE_OPTIONS = (
    click.option("--format", "source_format", default="auto", help="Source format: see esr formats."),
    click.option(
        "--base",
        type=click.Path(),
        metavar="FOLDER",
        help="Make ids of files from their paths below this folder, instead of their full paths.",
    ),
    click.option(
        "--mapping",
        "pairs",
        multiple=True,
        metavar="FIELD=COLUMN",
        help=f"Take a field ({', '.join(FIELDS)}) from a column with another name. May be repeated.",
    ),
    click.option(
        "--set",
        "constants",
        multiple=True,
        metavar="FIELD=VALUE",
        help="Give every document this value of a field or of its metadata (meta.desk=Berlin), in place of "
        "its own. May be repeated.",
    ),
    click.option(
        "--include",
        multiple=True,
        metavar="PATTERN",
        help="Read only these files of folders and archives: a name such as '*.json', or a path below the "
        "folder. May be repeated.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        help="Skip these files, and everything in folders of this name. May be repeated.",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="Refuse files of folders and archives that no loader knows, instead of counting them.",
    ),
    click.option(
        "--id",
        "make_id",
        type=click.Choice(list(MADE_ID_POLICIES)),
        help="Make ids for all documents, also for those that have one: "
        + describe_choices(MADE_ID_POLICIES),
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="The encoding of text, JSON and tables, such as windows-1252. Default: UTF-8, or the "
        "encoding that their letters show.",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        help="The character between the columns of a table, or tab. Default: found in the first row.",
    ),
    click.option(
        "--quote",
        metavar="CHAR",
        help="The character around fields of a table that contain the delimiter; none if there is none.",
    ),
    click.option(
        "--columns",
        metavar="NAME,...",
        help="The names of a table's columns, if its first row is a document.",
    ),
    click.option(
        "--day-first/--month-first",
        default=None,
        help="The order of day and month in dates such as 05/03/2024, which are refused without it.",
    ),
    click.option("--detect-language", is_flag=True, help="Detect the language of documents without one."),
    click.option(
        "--max-expansion",
        type=click.IntRange(1),
        default=DEFAULT_LIMITS.expansion,
        help="How many times its size a packed file may unpack to.",
    ),
    click.option(
        "--max-unpacked",
        type=click.FloatRange(0, min_open=True),
        default=DEFAULT_LIMITS.unpacked / 2**30,
        metavar="GIB",
        help="How much a packed file may unpack to.",
    ),
)
"""How a source is read. `esr sync` has them for each of its sources."""

DELIVERY_OPTIONS = (
    click.option(
        "--same-id",
        type=click.Choice(list(SAME_ID_POLICIES)),
        default="refuse",
        help="Documents of one delivery with the same id but other content: "
        + describe_choices(SAME_ID_POLICIES),
    ),
    click.option(
        "--duplicates",
        type=click.Choice(list(DUPLICATE_POLICIES)),
        default="keep",
        help="Documents that repeat an earlier one, exactly or nearly: "
        + describe_choices(DUPLICATE_POLICIES),
    ),
    click.option(
        "--bad-documents",
        type=FILE,
        metavar="FILE",
        help="List documents that cannot be loaded, with the reason, in FILE (JSON Lines), "
        "and load the others; exit status 1.",
    ),
    click.option(
        "--allow-empty-documents",
        default="50%",
        metavar="N%",
        callback=_parse_percentage,
        help="Refuse a delivery of which more than this share of documents has no sentence.",
    ),
)
"""How the documents of all sources together are treated."""


def source_options(command: F) -> F:
    """Add these options. The command passes them to `open_pipeline` as keyword arguments."""
    return cast(F, add_options((*SOURCE_OPTIONS, *DELIVERY_OPTIONS), command))


keep = click.option(
    "--keep",
    type=click.IntRange(0, 1000),
    default=DEFAULT_KEEP,
    help="Keep this many generations beside the new one, for esr rollback.",
)


def _precompute_mixture(context: click.Context, parameter: click.Parameter, value: bool) -> Mixture | None:
    return ranking.Ranking().mixture() if value else None


merge = click.option(
    "--merge/--no-merge",
    default=True,
    help="Merge the segments of the new index before it is served, for faster searches (Elasticsearch only).",
)
impacts = click.option(
    "--impacts/--no-impacts",
    "precomputed_mixture",
    callback=_precompute_mixture,
    default=True,
    help="Store bounds of each sentence's score by the default model, for faster searches by it. The index "
    "is a third larger with them (Elasticsearch only).",
)
profile = click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help=f"What the new index is made for (Elasticsearch only). Default: {DEFAULT_PROFILE}. "
    + describe_choices(PROFILES),
)
resume = click.option(
    "--resume", is_flag=True, help="Resume an interrupted load of the same documents, if any."
)
meaning = click.option(
    "--meaning/--no-meaning",
    default=None,
    help="Fit a table of vectors to the documents. Default: to at least 2,000 sentences, if the encoder is "
    "on this machine.",
)
workers = click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=DEFAULT_WORKERS,
    help="Send this many bulk requests at the same time (Elasticsearch only).",
)
NEW_INDEX_OPTIONS = (
    click.option(
        "--analyzer",
        help="How text becomes terms: one of esr analyzers, or auto (default), which chooses by the "
        "languages of a sample of the documents.",
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
"""Settings of an index that does not exist yet."""


def new_index(command: F) -> F:
    """Add NEW_INDEX_OPTIONS."""
    return cast(F, add_options(NEW_INDEX_OPTIONS, command))
