"""Commands for linguists: `esr concordance` shows words in context, `esr collocations` what is near them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from esr.cli import options
from esr.cli.options import describe_choices
from esr.cli.output import write_csv
from esr.cli.ranking_options import ReadQuery, filter_options, query_argument
from esr.corpus.collocations import COLLOCATIONS, MEASURES, MIN_COUNT, WINDOW, Collocations, find_collocations
from esr.corpus.concordance import LINES, SORTS, WIDTH, Concordance, Unit, build_concordance
from esr.index.filters import Filters
from esr.ranking.answers import guard_formula
from esr.ranking.searcher import open_searcher

_format = click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="text for people, json and csv for programs.",
)


@click.command()
@query_argument
@options.index
@click.option("-k", type=click.IntRange(1), default=LINES, show_default=True, help="Lines to show.")
@click.option(
    "--sort",
    type=click.Choice(list(SORTS)),
    default="newest",
    show_default=True,
    help=describe_choices(SORTS),
)
@click.option(
    "--width", type=click.IntRange(0, 1000), default=WIDTH, show_default=True, help="Text on each side."
)
@click.option(
    "--unit",
    type=click.Choice(["characters", "words"]),
    default="characters",
    show_default=True,
    help="What --width counts.",
)
@click.option("--sample", type=click.IntRange(1), help="Read this many sentences, drawn at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws another sample.")
@_format
@filter_options
def concordance(
    query: ReadQuery,
    where: str,
    k: int,
    sort: str,
    width: int,
    unit: Unit,
    sample: int | None,
    seed: int,
    format_name: str,
    filters: Filters,
) -> None:
    """Show the occurrences of a word, a phrase or a prefix, one a line, with the text on both sides.

    Words without syntax are read as a phrase. If the query has a phrase in quotes, a prefix or alternatives,
    the first of them is shown, and the rest of the query only chooses the sentences.

    \b
    Example:
      esr concordance "climate change" --sort right1 --index my-index
      esr concordance "immigra* +policy" --sample 500 --format csv --index my-index
    """
    with open_searcher(where) as searcher:
        made = build_concordance(
            searcher, query.parsed, filters, k=k, sort=sort, width=width, unit=unit, sample=sample, seed=seed
        )
    if format_name == "text":
        click.echo(_draw_lines(made))
        if made.read < made.sentences and (sample is not None or len(made.lines) < k or made.read > k):
            click.echo(f"{made.read:,} of {made.sentences:,} sentences were read", err=True)
    else:
        click.echo(_to_text(format_name, made.as_dict(), "lines"), nl=False)


def _draw_lines(made: Concordance) -> str:
    if not made.lines:
        return "Nothing matched."
    left = max(len(line.left.strip()) for line in made.lines)
    lines = (
        f"{line.left.strip():>{left}} {click.style(line.node, bold=True)}{line.right.rstrip()}"
        for line in made.lines
    )
    count = f"{len(made.lines):,} lines, {made.sentences:,} sentences with all words"
    return "\n".join([*lines, "", count])


@click.command()
@query_argument
@options.index
@click.option(
    "--window",
    type=click.IntRange(1, 100),
    default=WINDOW,
    show_default=True,
    help="Words on each side that are near.",
)
@click.option("--sentence", is_flag=True, help="All words of the sentence are near.")
@click.option(
    "--measure",
    type=click.Choice(list(MEASURES)),
    default="logdice",
    show_default=True,
    help="The measure to order by.",
)
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=MIN_COUNT,
    show_default=True,
    help="Show words that are near at least this many times.",
)
@click.option("-k", type=click.IntRange(1), default=COLLOCATIONS, show_default=True, help="Words to show.")
@_format
@filter_options
def collocations(
    query: ReadQuery,
    where: str,
    window: int,
    sentence: bool,
    measure: str,
    min_count: int,
    k: int,
    format_name: str,
    filters: Filters,
) -> None:
    """Show the words that stand near a word or phrase more often than their frequency explains.

    The query is read as by esr concordance. Forms with the same term count together; stop words are not
    counted. Words near the node are compared with all of the collection.

    \b
    Example:
      esr collocations immigration --index my-index
      esr collocations "climate change" --sentence --measure log-likelihood --from 2017 --index my-index
    """
    reach = None if sentence else window
    with open_searcher(where) as searcher:
        found = find_collocations(
            searcher, query.parsed, filters, window=reach, measure=measure, min_count=min_count, k=k
        )
    if format_name == "text":
        click.echo(_draw_table(found))
        return
    click.echo(_to_text(format_name, found.as_dict(), "collocations"), nl=False)


def _draw_table(found: Collocations) -> str:
    header = f"{'word':<24}{'near':>8}{'in all':>10}" + "".join(f"{name:>16}" for name in MEASURES)
    rows = [
        f"{each.word:<24}{each.near:>8,}{each.frequency:>10,}"
        + "".join(f"{each.measures[name]:>16.2f}" for name in MEASURES)
        for each in found.collocations
    ]
    count = f"{found.node:,} times in {found.sentences:,} sentences"
    return "\n".join([click.style(header, bold=True), *rows, "", count] if rows else [f"Too rare: {count}"])


def _flatten(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, cell in row.items():
        yield from cell.items() if isinstance(cell, Mapping) else [(name, cell)]


def _to_text(format_name: str, answer: Mapping[str, Any], key: str) -> str:
    """The answer as JSON, or its list `key` as CSV."""
    if format_name == "json":
        return json.dumps(answer, indent=1, ensure_ascii=False) + "\n"
    rows: Sequence[dict[str, Any]] = [
        {name: guard_formula(cell) if isinstance(cell, str) else cell for name, cell in _flatten(row)}
        for row in answer[key]
    ]
    return write_csv([rows[0], *(row.values() for row in rows)]) if rows else ""
