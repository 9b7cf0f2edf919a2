"""The command `esr concordance`."""

from __future__ import annotations

import click

from esr.corpus.commands.word_tables import table_format_option
from esr.corpus.concordance import OUTSIDE, Concordance, LineOptions, build_concordance
from esr.plugin import index_option
from esr.plugin.provisional import (
    TABLE,
    Filters,
    ReadQuery,
    add_arguments,
    collect_options,
    count,
    filter_options,
    note_unknown,
    open_searcher,
    print_answer,
    query_argument,
)


@click.command()
@query_argument
@index_option
@add_arguments(TABLE, "concordance", *("k", "sort", "width", "unit", "sample", "seed"))
@table_format_option
@filter_options
@collect_options(LineOptions)
def concordance(
    query: ReadQuery,
    where: str,
    options: LineOptions,
    format_name: str,
    filters: Filters,
) -> None:
    """Show the occurrences of a word or phrase in context.

    Each is a line, with the text on both sides. Words without syntax are read as a phrase. If the query has a
    phrase in quotes, a prefix or alternatives, the first of them is shown, and the rest of the query only
    chooses the sentences.

    \b
    Example:
      esr concordance "climate change" --sort right1 --index my-index
      esr concordance "immigra* +policy" --sample 500 --format csv --index my-index
    """
    with open_searcher(where) as searcher:
        result = build_concordance(searcher, query.parsed, filters, options)
        note_unknown(searcher, filters)
    answer = result.as_dict()
    print_answer(
        format_name, answer, answer["lines"], lambda: _draw_lines(result, options.sort), result.columns()
    )
    is_partial = result.read < result.sentences and (
        options.sample is not None or len(result.lines) < options.k or result.read > options.k
    )
    if format_name == "text" and is_partial:
        click.echo(f"{result.read:,} of {result.sentences:,} sentences were read", err=True)


def _draw_lines(result: Concordance, sort: str) -> str:
    if not result.lines:
        return "Nothing matched."
    left = max(len(line.left.strip()) for line in result.lines)
    lines = [
        f"{line.left.strip():>{left}} {click.style(line.node, bold=True)}{line.right.rstrip()}"
        for line in result.lines
    ]
    if (outside := next((n for n, line in enumerate(result.lines) if line.group == ""), None)) is not None:
        lines.insert(outside, f"{'':>{left}} {OUTSIDE[sort.rstrip('123')]}:")
    exact = f"{count(result.sentences, 'sentence')} with exactly this form"
    others = (
        f", {result.all_words:,} with all forms" if result.all_words not in (None, result.sentences) else ""
    )
    return "\n".join([*lines, "", f"{count(len(result.lines), 'line')}, {exact}{others}"])
