"""The command `esr quotes`, which lists what somebody said."""

from __future__ import annotations

import json

import click

from esr.cli import options
from esr.cli.output import data_format_option, write_table
from esr.cli.ranking_options import filter_options
from esr.corpus.quotations import QUOTATIONS, Quotations, check_quotations, find_quotations
from esr.index.filters import Filters
from esr.query import parse
from esr.ranking.searcher import open_searcher


@click.command()
@click.argument("speaker", required=False)
@options.index
@click.option(
    "--about", metavar="QUERY", help="Show the best quotations for this query, instead of the newest."
)
@click.option("-k", type=click.IntRange(1), default=QUOTATIONS, show_default=True, help="Quotations to show.")
@data_format_option("text", "json", "csv")
@filter_options
def quotes(
    speaker: str | None, where: str, about: str | None, k: int, format_name: str, filters: Filters
) -> None:
    """Show what SPEAKER said, or everybody, newest first.

    Quotations are direct speech. They come with the documents, or from esr enrich --only quotes. Name a
    speaker in full: quotations by "she" or a last name are found too, where it is clear who is meant.

    \b
    Example:
      esr quotes "Theresa May" --about brexit --index my-index
      esr quotes --from 2017-03 --format csv --index my-index
    """
    with open_searcher(where) as searcher:
        found = find_quotations(searcher, speaker, parse(about) if about else None, filters, k=k)
        if not found.quotations:
            check_quotations(searcher.index)
    if format_name == "text":
        click.echo(_draw(found))
    elif format_name == "json":
        click.echo(json.dumps(found.as_dict(), indent=1, ensure_ascii=False))
    else:
        rows = found.as_dict()["quotations"]
        click.echo(write_table(rows[0], (row.values() for row in rows)) if rows else "", nl=False)


def _draw(found: Quotations) -> str:
    if not found.quotations:
        return "Nothing matched."
    blocks = []
    for each in found.quotations:
        place = ", ".join(filter(None, (each.source, each.date and each.date[:10], each.sentence_id)))
        blocks.append(f"{each.text}\n  {click.style(each.speaker or 'unknown', bold=True)} ({place})")
    return "\n".join([*blocks, "", f"{found.sentences:,} sentences match"])
