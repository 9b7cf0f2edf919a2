"""The commands `esr frequencies` and `esr keyness`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from esr.corpus.choices import Grouping
from esr.corpus.commands.word_tables import (
    against_option,
    draw_columns,
    table_format_option,
)
from esr.corpus.frequencies import TABLE_COLUMNS, Frequencies, Frequency, count_frequencies, find_key_words
from esr.plugin import index_option
from esr.plugin.provisional import (
    COMMANDS,
    TABLE,
    Filters,
    ReadQuery,
    add_arguments,
    filter_options,
    note_unknown,
    open_searcher,
    parse_query,
    print_answer,
    query_argument,
)


@click.command()
@add_arguments(COMMANDS, "frequencies")
@index_option
@add_arguments(TABLE, "frequencies", "by")
@table_format_option
@filter_options
def frequencies(
    queries: tuple[str, ...], where: str, by: Grouping, format_name: str, filters: Filters
) -> None:
    """Count words and phrases by period or source.

    Each query is read as by esr concordance: words without syntax are a phrase. Words are counted as they are
    written. Rates are per million words that the index counts, which leaves out stop words.

    \b
    Example:
      esr frequencies "climate change" brexit --by month --index my-index
      esr frequencies "immigra*" --by source --format csv --index my-index
    """
    with open_searcher(where) as searcher:
        result = count_frequencies(searcher, list(map(parse_query, queries)), filters, by)
        note_unknown(searcher, filters)
    lines = (line for series in result.series for line in _draw_frequency(result, series))
    print_answer(format_name, result.as_dict(), result.rows(), lambda: "\n".join(lines), TABLE_COLUMNS)


def _draw_frequency(result: Frequencies, series: Frequency) -> Iterator[str]:
    """The counts of a query with bars of its rates, then its total."""
    rates = result.rates(series)
    yield click.style(series.query, bold=True)
    width, most = max(map(len, result.groups), default=0), max(rates, default=0.0) or 1.0
    for group, number, rate in zip(result.groups, series.counts, rates, strict=True):
        bar = "█" * round(_BAR * rate / most)
        yield f"  {group:<{width}}{number:>9,}{rate:>12,.1f} {bar}".rstrip()
    ungrouped = f", {series.ungrouped:,} without a {result.by}" if series.ungrouped else ""
    yield (
        f"  {series.total:,} times in {series.sentences:,} sentences{ungrouped}; "
        f"{result.rate(series):,.1f} per million words"
    )


_BAR = 40
"""Length of the longest bar, in characters."""


@click.command()
@query_argument
@index_option
@against_option
@add_arguments(TABLE, "keyness", "order", "min_count", "k")
@table_format_option
def keyness(
    query: ReadQuery,
    where: str,
    against: str | None,
    order: str,
    min_count: int,
    k: int,
    format_name: str,
) -> None:
    """Show the key words of a part of the collection.

    These are words that are more frequent there than in another part. QUERY selects the sentences of the
    part: by a source, a date, a word. They are compared with the sentences of --against, or with the rest of
    the collection. Forms with the same term count together; stop words are not counted.

    \b
    Example:
      esr keyness source:bbc.co.uk --index my-index
      esr keyness "source:BBC after:2017" --against "source:Reuters" --order log-ratio --index my-index
    """
    with open_searcher(where) as searcher:
        key_words = find_key_words(
            searcher,
            query.parsed,
            None if against is None else parse_query(against),
            order=order,
            min_count=min_count,
            k=k,
        )
    answer = key_words.as_dict()
    rows, sizes = (
        answer["words"],
        f"{key_words.sizes[0]:,} words in the part, {key_words.sizes[1]:,} in the other",
    )
    print_answer(format_name, answer, rows, lambda: draw_columns(rows, _KEYNESS, sizes), key_words.columns())


_KEYNESS = {
    "own": "in part",
    "other": "in other",
    "log_likelihood": "log-likelihood",
    "log_ratio": "log ratio",
    "percent_difference": "%diff",
}
"""Columns of tables: the key of the answer, and the heading."""
