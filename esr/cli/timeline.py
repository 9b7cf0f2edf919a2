"""`esr timeline`: how many sentences of each day, week, month or year have all words of a query."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import click

import esr
from esr.cli import options
from esr.cli.filter_options import filter_options
from esr.cli.ranking_options import ranking_options
from esr.engines.index import Filters
from esr.errors import UsageError
from esr.following.periods import INTERVALS, Interval
from esr.following.timeline import (
    MAX_PEAKS,
    PEAKS,
    TABLE_COLUMNS,
    Series,
    Timeline,
    build_timeline,
    timeline_rows,
)
from esr.queries import literal, parse
from esr.ranking.ranking import Ranking

_BAR = 40
"""Characters of the longest bar."""


@click.command()
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@options.index
@click.option(
    "--interval", type=click.Choice(INTERVALS), help="Default: the finest that makes a readable picture."
)
@click.option(
    "--peaks",
    type=click.IntRange(0, MAX_PEAKS),
    default=PEAKS,
    show_default=True,
    help="Peaks of each query that are shown with their best sentence.",
)
@click.option("--rate", is_flag=True, help="In text, show sentences per million of those of the period.")
@click.option(
    "--literal", "is_literal", is_flag=True, help="Read all of a query as words, without any syntax."
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="csv has a line for each period of each query.",
)
@ranking_options
@filter_options
def timeline(
    queries: tuple[str, ...],
    where: str,
    interval: Interval | None,
    peaks: int,
    rate: bool,
    is_literal: bool,
    format_name: str,
    ranking: Ranking,
    filters: Filters,
) -> None:
    """Count the sentences of each day, week, month or year that have all words of a query.

    Several queries are counted over the same periods. Dates are in UTC; sentences of documents without a date
    are counted apart.

    \b
    Example:
      esr timeline "travel ban" --index my-index
      esr timeline "travel ban" "health care" --interval month --rate --index my-index
      esr timeline '"white house" -trump' --from 2017-02 --format csv --index my-index
    """
    if rate and format_name != "text":
        raise UsageError(f"--rate is for text: --format {format_name} has rates and counts")
    read = literal if is_literal else parse
    with esr.open(where) as searcher:
        snapshot = searcher.snapshot()
        prepared = [snapshot.prepare(read(query), ranking) for query in queries]
        made = build_timeline(prepared, filters, interval, peaks)
    if format_name == "json":
        click.echo(json.dumps(made.as_dict(), indent=1, ensure_ascii=False))
    elif format_name == "csv":
        click.echo(_to_csv(made), nl=False)
    else:
        click.echo("\n".join(line for series in made.series for line in _to_text(made, series, rate)))


def _to_csv(made: Timeline) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, TABLE_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(timeline_rows(made))
    return out.getvalue()


def _to_text(made: Timeline, series: Series, rate: bool) -> Iterator[str]:
    """The counts of a query as bars, then the best sentences of its peaks."""
    yield click.style(series.query, bold=True)
    values = made.rates(series) if rate else list(map(float, series.counts))
    greatest = max(values, default=0.0)
    for period, value in zip(made.periods, values, strict=True):
        bar = "█" * max(round(_BAR * value / greatest), value > 0) if greatest else ""
        yield f"{period:<10} {f'{value:.1f}' if rate else f'{value:,.0f}':>9}  {bar}".rstrip()
    unit = " per million" if rate else ""
    undated = f", {series.undated:,} without a date" if series.undated else ""
    yield f"{series.total:,} sentences with all words{undated}{'; bars' + unit if rate else ''}\n"
    for peak in series.peaks:
        record = peak.hit.record
        assert record is not None
        yield f"{peak.period}  {peak.count:,}: {record.text} ({peak.hit.sentence_id})"
    if series.peaks:
        yield ""
