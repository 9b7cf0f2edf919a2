"""The command `esr sources`."""

from __future__ import annotations

import click

import esr
from esr.plugin import index_option
from esr_example.counting import count_sources


@click.command()
@click.argument("query")
@index_option
@click.option("--limit", type=click.IntRange(1, 100), default=10, help="How many sources to print.")
def sources(query: str, where: str, limit: int) -> None:
    """Count the sources of the best 100 sentences for a query.

    \b
    Example:
      esr sources "storm" --index my-index
    """
    with esr.open(where) as index:
        for source, sentences in count_sources(index, query, limit):
            click.echo(f"{sentences:6,}  {source}")
