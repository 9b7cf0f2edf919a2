"""`esr query`: the Elasticsearch request, for other applications."""

from __future__ import annotations

import json

import click

import esr
from esr.cli import options
from esr.cli.filter_options import filter_options
from esr.cli.query_options import ReadQuery, query_argument
from esr.cli.ranking_options import ranking_options
from esr.engines.index import Filters
from esr.ranking.ranking import Ranking
from esr.ranking.request import can_rescore, raw_request


@click.command()
@query_argument
@options.index
@ranking_options
@filter_options
@click.option(
    "-k", type=click.IntRange(1, 10_000), default=10, show_default=True, help="Number of sentences."
)
@click.option(
    "--standalone",
    is_flag=True,
    help="Let Elasticsearch compute p(t|C), so that the terms can be changed. Language models only.",
)
def query(query: ReadQuery, where: str, ranking: Ranking, filters: Filters, k: int, standalone: bool) -> None:
    """Print the request for a query, which any application can send to the alias's _search.

    \b
    Example:
      esr query "bank fraud" --index http://localhost:9200/news > request.json
      curl -H 'Content-Type: application/json' -d @request.json 'http://localhost:9200/news/_search'
    With --standalone, send it to '_search?search_type=dfs_query_then_fetch'. The second stage of --ranking
    hybrid is part of the request, with the vector of the query in it: each shard rescores its best
    sentences by words. Only esr itself adds the sentences that only vectors find, and computes other second
    stages (--rerank with another signal, with neighbours or document, and those of tdsr and the mrf models):
    then the request is the first stage. Terms that boosts add are computed now and are part of the request;
    those of feedback change with the collection.
    """
    with esr.open(where) as searcher:
        prepared = searcher.prepare(query.parsed, ranking, require_all=query.require_all)
        body = raw_request(prepared, k, filters=filters, standalone=standalone)
    if can_rescore(ranking):
        click.echo("esr: the request lacks what only vectors find; esr itself adds it", err=True)
    elif ranking.reranker() is not None:
        click.echo("esr: the request is the first stage only; esr itself computes the second", err=True)
    click.echo(json.dumps(body, indent=1, ensure_ascii=False))
