"""The commands `esr collocations` and `esr contrast`."""

from __future__ import annotations

from functools import wraps
from typing import Any, cast

import click
from msgspec import Struct

from esr.corpus.choices import MEASURES
from esr.corpus.collocations import By, Collocations, Reach, contrast_collocations, find_collocations
from esr.corpus.commands.word_tables import (
    F,
    against_option,
    draw_columns,
    table_format_option,
)
from esr.plugin import index_option
from esr.plugin.provisional import (
    TABLE,
    ArgumentRow,
    Filters,
    ReadQuery,
    add_arguments,
    argument_types,
    build_option,
    collect_options,
    filter_options,
    note_unknown,
    open_searcher,
    parse_query,
    print_answer,
    query_argument,
)

_SENTENCE = ArgumentRow("sentence", "count all words of the sentence as near", argument_types.Flag())


def _reach_options(command: F) -> F:
    """Add the options of the window around the node. The command receives them as the parameter `reach`."""

    @wraps(command)
    def with_reach(*args: Any, window: int, sentence: bool, by: By, stop_words: bool, **kwargs: Any) -> Any:
        return command(*args, reach=Reach(None if sentence else window or None, by, stop_words), **kwargs)

    sentence = build_option(_SENTENCE)
    others = add_arguments(TABLE, "collocations", "by", "stop_words")
    return cast(F, add_arguments(TABLE, "collocations", "window")(sentence(others(with_reach))))


@click.command()
@query_argument
@index_option
@_reach_options
@add_arguments(TABLE, "collocations", "measure", "min_count", "k")
@table_format_option
@filter_options
def collocations(
    query: ReadQuery,
    where: str,
    reach: Reach,
    measure: str,
    min_count: int,
    k: int,
    format_name: str,
    filters: Filters,
) -> None:
    """Show the words that are typical near a word or phrase.

    They are near it more often than their frequency explains. The query is read as by esr concordance. Words
    near the node are compared with the whole collection. See also esr contrast.

    \b
    Example:
      esr collocations immigration --index my-index
      esr collocations "climate change" --sentence --measure log-likelihood --after 2017 --index my-index
      esr collocations budget --by forms --stop-words --window 2 --index my-index
    """
    with open_searcher(where) as searcher:
        result = find_collocations(
            searcher, query.parsed, filters, reach=reach, measure=measure, min_count=min_count, k=k
        )
        note_unknown(searcher, filters)
    answer = result.as_dict()
    print_answer(format_name, answer, answer["collocations"], lambda: _draw_table(result), result.columns())


class ContrastOptions(Struct, frozen=True):
    """The parts that `esr contrast` compares, and how many words it lists."""

    part: str
    against: str | None
    min_count: int
    k: int


@click.command()
@query_argument
@add_arguments(TABLE, "contrast", "part")
@index_option
@against_option
@_reach_options
@add_arguments(TABLE, "contrast", "min_count", "k")
@table_format_option
@filter_options
@collect_options(ContrastOptions)
def contrast(
    query: ReadQuery,
    options: ContrastOptions,
    where: str,
    reach: Reach,
    format_name: str,
    filters: Filters,
) -> None:
    """Compare the words near a word or phrase in two parts.

    PART is a query for the sentences of a part: a source, a period, other words. The words near the node
    there are compared with those near it in the sentences of --against, or in all other sentences.

    \b
    Example:
      esr contrast immigration source:bbc.co.uk --index my-index
      esr contrast immigration after:2017 --against before:2017 --by forms --index my-index
    """
    with open_searcher(where) as searcher:
        result = contrast_collocations(
            searcher,
            query.parsed,
            filters,
            parse_query(options.part),
            None if options.against is None else parse_query(options.against),
            reach=reach,
            min_count=options.min_count,
            k=options.k,
        )
        note_unknown(searcher, filters)
    answer = result.as_dict()
    rows, (node, other), sentences = answer["collocations"], result.node, result.sentences
    sizes = f"{node:,} and {other:,} times in {sentences[0]:,} and {sentences[1]:,} sentences"
    print_answer(format_name, answer, rows, lambda: draw_columns(rows, _CONTRAST, sizes), result.columns())


_CONTRAST = {
    "near": "near",
    "other": "in other",
    "log_likelihood": "log-likelihood",
    "log_ratio": "log ratio",
}


def _draw_table(result: Collocations) -> str:
    header = f"{'word':<24}{'near':>8}{'in all':>10}" + "".join(f"{name:>16}" for name in MEASURES)
    rows = [
        f"{collocation.word:<24}{collocation.near:>8,}{collocation.frequency:>10,}"
        + "".join(f"{collocation.measures[name]:>16.2f}" for name in MEASURES)
        for collocation in result.collocations
    ]
    sizes = f"{result.node:,} times in {result.sentences:,} sentences"
    return "\n".join([click.style(header, bold=True), *rows, "", sizes] if rows else [f"Too rare: {sizes}"])
