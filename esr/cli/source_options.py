"""The options of commands that read source files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from esr.cli.options import FILE, add_options, describe_choices
from esr.loaders import duplicates, made_ids, same_ids
from esr.loaders.limits import DEFAULT_LIMITS
from esr.loaders.mapping import FIELDS

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
    click.option("--format", "source_format", default="auto", show_default=True, help="See esr formats."),
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
        help="Do not read these files, nor what is in folders of this name. May be repeated.",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="Refuse files of folders and archives that no loader knows, instead of counting them.",
    ),
    click.option(
        "--id",
        "make_id",
        type=click.Choice(list(made_ids.POLICIES)),
        help="Make the ids of documents of something, whether they have others or not: "
        + describe_choices(made_ids.POLICIES),
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="The encoding of text, JSON and tables, such as windows-1252. By default UTF-8, or what their "
        "letters show.",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        help="What separates the columns of a table: a character, or tab. By default the first row shows it.",
    ),
    click.option(
        "--quote",
        metavar="CHAR",
        help="What is around fields of a table that contain the delimiter; none if nothing is.",
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
        show_default=True,
        help="How many times its size a packed file may unpack to.",
    ),
    click.option(
        "--max-unpacked",
        type=click.FloatRange(0, min_open=True),
        default=DEFAULT_LIMITS.unpacked / 2**30,
        show_default=True,
        metavar="GIB",
        help="How much a packed file may unpack to.",
    ),
)
"""How a source is read. `esr sync` takes them for each of its sources."""

DELIVERY_OPTIONS = (
    click.option(
        "--same-id",
        type=click.Choice(list(same_ids.POLICIES)),
        default="refuse",
        show_default=True,
        help="Documents of one delivery with the same id but other content: "
        + describe_choices(same_ids.POLICIES),
    ),
    click.option(
        "--duplicates",
        type=click.Choice(list(duplicates.POLICIES)),
        default="keep",
        show_default=True,
        help="Documents that repeat an earlier one, exactly or nearly: "
        + describe_choices(duplicates.POLICIES),
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
        show_default=True,
        metavar="N%",
        callback=_parse_percentage,
        help="Refuse a delivery of which more than this share of documents has no sentence.",
    ),
)
"""What is done with the documents of all sources together."""


def source_options(command: F) -> F:
    """Adds these options. The command passes them to `open_pipeline` as keyword arguments."""
    return cast(F, add_options((*SOURCE_OPTIONS, *DELIVERY_OPTIONS), command))
