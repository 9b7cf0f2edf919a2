"""`esr search`: one query, ranked sentences with their neighbours."""

from __future__ import annotations

import json
from textwrap import fill

import click

import esr
from esr.cli import options
from esr.cli.ranking_options import ranking_options
from esr.engines.index import Filters, Hit
from esr.ranking import answers
from esr.ranking.ranking import Ranking


@click.command()
@click.argument("query")
@options.index
@ranking_options
@options.filters
@click.option("-k", type=click.IntRange(1, 100_000), default=10, show_default=True, help="Sentences to show.")
@options.as_json
def search(query: str, where: str, ranking: Ranking, filters: Filters, k: int, as_json: bool) -> None:
    """Rank the sentences of an index for a query.

    \b
    Example:
      esr search "earthquake relief China" --index my-index
      esr search "bank fraud" --index my-index --model bm25 --set k1=1.5 -k 3 --json
      esr search "bank fraud" --index my-index --from 2017-02 --source bbc.co.uk
    """
    with esr.open(where) as searcher:
        answer = searcher.search(query, k, ranking=ranking, filters=filters)
    if as_json:
        click.echo(json.dumps(answers.answer_dict(answer), indent=1, ensure_ascii=False))
        return
    if answer.incomplete:
        click.echo(f"The answer is incomplete: {answer.incomplete}.", err=True)
    if answer.unseen:
        click.echo(f"In no document: {', '.join(answer.unseen)}.", err=True)
    for rank, hit in enumerate(answer.hits, 1):
        click.echo(_format(rank, hit))
    if not answer.hits:
        click.echo("Nothing matched.")
    click.echo(f"{len(answer.hits):,} of {answer.total:,} sentences, {answer.took_ms:.0f} ms")


def _format(rank: int, hit: Hit) -> str:
    record = answers.require_record(hit)
    metadata = " · ".join(part for part in (record.title, record.source, record.date) if part)
    lines = [click.style(f"{rank:>3}  {hit.score:.4f}  {hit.sentence_id}", bold=True)]
    lines += [f"     {metadata}"] if metadata else []
    lines += [click.style(_wrap(f"… {record.previous}"), dim=True)] if record.previous else []
    lines.append(_wrap(record.text or "(an empty sentence)"))
    lines += [click.style(_wrap(f"{record.next} …"), dim=True)] if record.next else []
    return "\n".join(lines) + "\n"


def _wrap(text: str) -> str:
    return fill(text, 96, initial_indent="     ", subsequent_indent="     ")
