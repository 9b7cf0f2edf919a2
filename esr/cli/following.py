"""Commands that follow the news: `esr timeline` counts sentences over time, `esr watch` reports new matches
of saved searches, `esr collection` counts what there is, and `esr similar` shows sentences that say the same
as a given one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from esr.arguments.tables.commands import COMMANDS
from esr.arguments.tables.counting import COUNTS
from esr.arguments.tables.lists import LISTS
from esr.cli import options
from esr.cli.arguments import add_arguments, collect_options
from esr.cli.output import (
    FORMATS,
    check_output,
    data_format_option,
    format_option,
    note_unknown,
    print_answer,
    write_csv,
)
from esr.cli.ranking_options import filter_options, literal_option, query_language, ranking_options
from esr.errors import UsageError
from esr.following.alerts.saved_searches import list_deprecations, read_searches
from esr.following.alerts.watch import WatchFailed, append_lines, find_news, write_feeds, write_stream
from esr.following.alerts.watch_state import WatchState
from esr.following.holdings import COLUMNS as HOLDINGS_COLUMNS
from esr.following.holdings import Holdings, describe_holdings
from esr.following.similar_sentences import prepare_similar, search_similar
from esr.following.timeline import (
    TABLE_COLUMNS,
    Interval,
    Series,
    Timeline,
    build_timeline,
    timeline_rows,
)
from esr.index.filters import Filters
from esr.query import in_language, parse
from esr.query import literal as parse_literally
from esr.ranking.answers import single
from esr.ranking.query_report import report_reading
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.stdlib import import_lazily
from esr.wording import count

if TYPE_CHECKING:
    from esr.following import timeline_svg
else:
    timeline_svg = import_lazily("esr.following.timeline_svg")

_BAR = 40
"""Length of the longest bar, in characters."""
_MOST_EMPTY = 2
"""Maximum consecutive empty periods that have separate lines; more are one line."""


class TimelineOptions(Struct, frozen=True):
    """How `esr timeline` reads queries and counts their sentences."""

    interval: Interval | None
    peaks: int
    rate: bool
    literal: bool
    query_language: str | None


@click.command()
@add_arguments(COMMANDS, "timeline", "queries")
@options.index
@add_arguments(COUNTS, "timeline", "interval", "peaks")
@add_arguments(COMMANDS, "timeline", "rate")
@literal_option
@query_language
@data_format_option(
    "text", "json", "csv", "svg", help="csv has a line for each period of each query; svg is a chart."
)
@ranking_options
@filter_options
@collect_options(TimelineOptions, "settings")
def timeline(
    queries: tuple[str, ...],
    where: str,
    settings: TimelineOptions,
    format_name: str,
    ranking: Ranking,
    filters: Filters,
) -> None:
    """Count the sentences with all words of a query over time.

    Periods are days, weeks, months or years. Several queries are counted over the same periods. Dates are in
    UTC; sentences of documents without a date are counted apart.

    \b
    Example:
      esr timeline "travel ban" --index my-index
      esr timeline "travel ban" "health care" --interval month --rate --index my-index
      esr timeline '"white house" -trump' --after 2017-02 --format csv --index my-index
      esr timeline "travel ban" --format svg --index my-index > travel-ban.svg
    """
    if settings.rate and format_name not in ("text", "svg"):
        raise UsageError(f"--rate is for text and svg: --format {format_name} has rates and counts")
    read = parse_literally if settings.literal else parse
    with open_searcher(where) as searcher:
        snapshot = searcher.snapshot()
        parsed = [in_language(read(query), settings.query_language) for query in queries]
        prepared = [snapshot.prepare(query, ranking) for query in parsed]
        result = build_timeline(prepared, filters, settings.interval, settings.peaks)
        note_unknown(snapshot, filters)
    if format_name == "json":
        click.echo(json.dumps(result.as_dict(), indent=1, ensure_ascii=False))
    elif format_name == "svg":
        click.echo(timeline_svg.draw_svg(result, "rate" if settings.rate else "count"), nl=False)
    elif format_name == "csv":
        rows = (row.values() for row in timeline_rows(result))
        click.echo(write_csv([TABLE_COLUMNS, *rows]), nl=False)
    else:
        click.echo(
            "\n".join(line for series in result.series for line in _to_text(result, series, settings.rate))
        )


def _to_text(timeline: Timeline, series: Series, rate: bool) -> Iterator[str]:
    """The counts of a query as bars, then the central sentence of each peak. Gaps are lines of their own."""
    yield click.style(series.query, bold=True)
    values = timeline.rates(series) if rate else list(map(float, series.counts))
    greatest = max((value or 0.0 for value in values), default=0.0)
    rows = zip(timeline.periods, values, timeline.sentences, strict=True)
    for empty, group in groupby(rows, key=lambda row: "" if row[1] else "none" if row[2] else "no articles"):
        together = [*group]
        if empty and len(together) > _MOST_EMPTY:
            yield f"{together[0][0]} to {together[-1][0]}: {empty}"
            continue
        for period, value, number in together:
            bar = "█" * max(round(_BAR * value / greatest), 1) if value else ""
            if not number:
                bar, text = "no articles", ""
            elif value is None:
                bar, text = f"too few sentences for a rate: {number:,} of {timeline.least_sentences:,}", ""
            else:
                text = f"{value:.1f}" if rate else f"{value:,.0f}"
            yield f"{period:<10} {text:>9}  {bar}".rstrip()
    unit = " per million" if rate else ""
    undated = f", {series.undated:,} without a date" if series.undated else ""
    yield f"{count(series.total, 'sentence')} with all words{undated}{'; bars' + unit if rate else ''}\n"
    for peak in series.peaks:
        record = peak.hit.record
        assert record is not None
        of_sources = f" of {count(peak.sources, 'source')}" if peak.sources else ""
        yield f"{peak.period}  {peak.count:,}{of_sources}: {record.text} ({peak.hit.sentence_id})"
    if series.peaks:
        yield ""


# esr watch


NOTHING_NEW = 3
"""The exit status of a run that reported nothing."""


@click.command()
@add_arguments(COMMANDS, "watch", "searches")
@options.index
@add_arguments(COMMANDS, "watch", "state", "output", "feeds", "from_start")
def watch(
    searches: Path, where: str, state: Path | None, output: Path | None, feeds: Path | None, from_start: bool
) -> None:
    """Report what saved searches have found since the last run.

    Sentences are JSON lines, the oldest first. SEARCHES is a TOML file, each search a table: [floods], query
    = "flood OR storm", and optionally literal, ranking, and filters such as after and source. A sentence is
    reported once, if it has all words of the query. The first run of a search reports nothing: what the index
    has by then is known.

    \b
    Exit status:
      0   there was something new
      1   it failed; the next run reports what this one did not
      2   the command or SEARCHES is wrong
      3   there was nothing new
      75  another run has not finished yet

    \b
    Example:
      esr watch searches.toml --index my-index
      esr watch searches.toml --output news.jsonl --feeds feeds --index my-index
    """
    state = state or searches.with_name(f"{searches.name}.state")
    if output:
        check_output(output, searches, state)
    saved = read_searches(searches)
    for line in list_deprecations(searches):
        click.echo(f"esr: {line}", err=True)
    failure: WatchFailed | None = None
    with WatchState(state) as known:
        with open_searcher(where) as searcher:
            try:
                begun = find_news(searcher, saved, known, tell_all=from_start)
                if begun and not from_start:
                    click.echo(
                        f"new: {', '.join(begun)}; later runs report what comes after this one "
                        "(--from-start reports what is there)",
                        err=True,
                    )
            except WatchFailed as error:
                failure = error  # raised after the results of the other searches are written
        reported = append_lines(known, output) if output else write_stream(known, sys.stdout.buffer)
        if feeds:
            write_feeds(known, saved, feeds)
        with known.transaction():
            known.forget_old()
    if failure is not None:
        raise failure
    if not reported:
        sys.exit(NOTHING_NEW)


# esr collection


@click.command()
@options.index
@data_format_option(
    "text", "json", "csv", help="Print text for people, json, or csv with a line for each source and period."
)
def collection(where: str, format_name: str) -> None:
    """Show what the collection has.

    These are the numbers of its sources over time, of documents without a date or a title, of languages, of
    copies after esr enrich --only reuse, and of documents that are enriched. The page has them under The
    collection.

    \b
    Example:
      esr collection --index my-index
      esr collection --index my-index --format csv > sources.csv
    """
    with open_searcher(where) as searcher:
        holdings = describe_holdings(searcher)
    print_answer(
        format_name,
        holdings.as_dict(),
        holdings.rows(),
        lambda: "\n".join(_draw_holdings(holdings)),
        HOLDINGS_COLUMNS,
    )


_SHADES = "▁▂▃▄▅▆▇█"


def _draw_holdings(holdings: Holdings) -> Iterator[str]:
    """A line for each number, and one for each source, with a bar for each of its periods."""
    dates = f", {holdings.first} to {holdings.last}" if holdings.first else ""
    yield f"{count(holdings.sentences, 'sentence')} of {count(holdings.documents, 'document')}{dates}"
    copies = "not looked for" if holdings.copies is None else count(holdings.copies, "sentence")
    languages = [f"{code or 'undeclared'} {number:,}" for code, number in holdings.languages.items()]
    facts = {
        "undated": count(holdings.undated, "document"),
        "untitled": count(holdings.untitled, "document"),
        "copies": copies,
        "languages": ", ".join(languages) or "none",
        **{part: count(number, "document") for part, number in holdings.enriched.items()},
    }
    for name, text in facts.items():
        yield f"{name:<12} {text}"
    if not holdings.sources or not holdings.periods:
        return
    yield f"\nSentences by source and {holdings.interval}, {holdings.periods[0]} to {holdings.periods[-1]}:"
    width = max(len(row.source) for row in holdings.sources)
    greatest = max(max(row.counts) for row in holdings.sources)
    for row in holdings.sources:
        bars = "".join(
            _SHADES[(number * len(_SHADES) - 1) // greatest] if number else " " for number in row.counts
        )
        yield f"{row.source:<{width}} {row.sentences:>10,} {bars}".rstrip()


# esr similar


@click.command()
@add_arguments(COMMANDS, "similar")
@options.index
@add_arguments(LISTS, "similar", "k", "own_document")
@format_option("text")
@ranking_options
@filter_options
def similar(
    sentence_id: str,
    where: str,
    k: int,
    own_document: bool,
    format_name: str,
    ranking: Ranking,
    filters: Filters,
) -> None:
    """Show the sentences that repeat or continue a sentence.

    The search is for those of its words that are rare in the collection or frequent in the sentence.

    \b
    Example:
      esr similar NA-12.s3 --index my-index
      esr similar NA-12.s3 --own-document --format json --index my-index
    """
    with open_searcher(where) as searcher:
        prepared, document_id = prepare_similar(searcher, sentence_id, ranking)
        left_out = None if own_document else document_id
        answer = search_similar(prepared, sentence_id, left_out, k, filters)
        report = report_reading(prepared)
        note_unknown(searcher, filters)
    click.echo(
        FORMATS.find(format_name).render(answer, report, single([hit] for hit in answer.hits)),
        nl=False,
    )
