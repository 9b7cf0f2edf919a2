"""`esr similar`: more like a sentence."""

from __future__ import annotations

import click

import esr
from esr.cli import answer_formats, options
from esr.cli.filter_options import filter_options
from esr.cli.ranking_options import ranking_options
from esr.engines.index import Filters
from esr.following.similar import prepare_similar, search_similar
from esr.ranking.query_report import report_reading
from esr.ranking.ranking import Ranking


@click.command()
@click.argument("sentence_id")
@options.index
@click.option("-k", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Sentences to show.")
@click.option("--own-document", is_flag=True, help="Also show sentences of its own document.")
@answer_formats.format_option("text")
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
    """Show the sentences that say the same as a sentence, or go on from it.

    It is searched for by those of its words that say most.

    \b
    Example:
      esr similar NA-12.s3 --index my-index
      esr similar NA-12.s3 --own-document --format json --index my-index
    """
    with esr.open(where) as searcher:
        prepared, document_id = prepare_similar(searcher, sentence_id, ranking)
        left_out = None if own_document else document_id
        answer = search_similar(prepared, sentence_id, left_out, k, filters)
        report = report_reading(prepared)
    click.echo(
        answer_formats.FORMATS.find(format_name).render(answer, report, answer_formats.NOTHING_FOLDED),
        nl=False,
    )
