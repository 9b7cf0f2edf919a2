"""`esr export`: an index's documents as JSON Lines."""

from __future__ import annotations

import click
from tqdm import tqdm

import esr
from esr.cli.options import place
from esr.cli.output import written
from esr.documents.fields import line


@click.command()
@place
@click.option(
    "-o", "--output", default="-", show_default=True, metavar="FILE", help="Where to; - is standard output."
)
def export(where: str, output: str) -> None:
    """Write all documents of an index as JSON Lines, in its order: what esr load makes the same index of.

    Sentences, features and parses are those that the documents came with. What esr enrich found is not
    among them: it can be made again.

    \b
    Example:
      esr export my-index -o news.jsonl
      esr export http://localhost:9200/news > news.jsonl
    """
    with esr.open(where) as searcher, written(output) as file:
        index = searcher.index.snapshot()
        total = index.status()["documents"]
        documents = tqdm(index.documents(), total=total, unit=" documents", disable=None, leave=False)
        for document in documents:
            file.write(line(document) + "\n")
    if output != "-":
        click.echo(f"wrote {total:,} documents to {output}")
