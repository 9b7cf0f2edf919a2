"""The command `esr reuse`."""

from __future__ import annotations

import click

from esr.evidence.reuse import Reuse, Taking, find_reuse
from esr.plugin import index_option
from esr.plugin.provisional import (
    TABLE,
    Filters,
    add_arguments,
    data_format_option,
    filter_options,
    note_unknown,
    open_searcher,
    print_answer,
)

_GRAPHML = "graphml"
_LISTED = 30
"""Pairs that the text shows."""


@click.command()
@index_option
@add_arguments(TABLE, "reuse", "least")
@data_format_option(
    "text", "json", "csv", _GRAPHML, help="Print text for people, or json, csv or graphml for programs."
)
@filter_options
def reuse(where: str, least: int, format_name: str, filters: Filters) -> None:
    """Show which sources take sentences from others.

    A sentence is taken from the source in which it stood first, also edited: esr enrich --only reuse finds
    copies. Those without a date, or of the same date, are not counted, since nobody knows who was first. The
    filters are for the sentences that were taken.

    \b
    Example:
      esr reuse --index my-index
      esr reuse --index my-index --after 2017-03 --least 5 --format graphml > sources.graphml
    """
    with open_searcher(where) as searcher:
        takings = find_reuse(searcher, filters, least=least)
        note_unknown(searcher, filters)
    if format_name == _GRAPHML:
        click.echo(takings.to_graphml(), nl=False)
    else:
        answer = takings.as_dict()
        print_answer(format_name, answer, answer["pairs"], lambda: _draw(takings), Taking.__struct_fields__)


def _draw(takings: Reuse) -> str:
    if not takings.pairs:
        return "No source has sentences that another printed before."
    shown = takings.pairs[:_LISTED]
    width = max(len(pair.taker) for pair in shown)
    lines = [f"{pair.sentences:>6,}  {pair.taker:<{width}}  from {pair.origin}" for pair in shown]
    if len(takings.pairs) > _LISTED:
        lines.append(f"and {len(takings.pairs) - _LISTED:,} more pairs: --format csv lists all")
    return "\n".join(lines)
