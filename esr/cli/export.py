"""`esr export`: an index's documents as JSON Lines."""

from __future__ import annotations

import click
from tqdm import tqdm

import esr
from esr.cli.options import place
from esr.cli.output_file import open_output
from esr.documents.serialisation import to_json_line


@click.command()
@place
@click.option(
    "-o", "--output", default="-", show_default=True, metavar="FILE", help="The file; - is standard output."
)
def export(where: str, output: str) -> None:
    """Write all documents of an index as JSON Lines, in its order. esr load makes the same index from them.

    Sentences, features and parses are those of the original documents. What esr enrich stored is not
    included: run it again.

    \b
    Example:
      esr export my-index -o news.jsonl
      esr export http://localhost:9200/news > news.jsonl
    """
    with esr.open(where) as searcher, open_output(output) as file:
        index = searcher.index.snapshot()
        total = index.status()["documents"]
        documents = tqdm(index.documents(), total=total, unit=" documents", disable=None, leave=False)
        for document in documents:
            file.write(to_json_line(document) + "\n")
    if output != "-":
        click.echo(f"wrote {total:,} documents to {output}")
