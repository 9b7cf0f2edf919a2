"""`esr explain` shows why a sentence has its score; `esr query` prints the Elasticsearch request of a query,
for other applications.
"""

from __future__ import annotations

import json
from functools import partial

import click

from esr.cli import options
from esr.cli.ranking_options import ReadQuery, filter_options, query_argument, ranking_options
from esr.errors import UsageError
from esr.index.filters import Filters
from esr.json_text import replace_nonfinite
from esr.ranking.explain import explain as explain_sentence
from esr.ranking.ranking import Ranking, lower_furniture
from esr.ranking.requests import can_rescore, raw_request, request_template, search_template
from esr.ranking.searcher import open_searcher


@click.command()
@query_argument
@click.argument("sentence_id")
@options.index
@ranking_options
@options.furniture
@options.as_json
def explain(
    query: ReadQuery, sentence_id: str, where: str, ranking: Ranking, with_furniture: bool, as_json: bool
) -> None:
    """Show the parts of a sentence's score, which add up to it.

    \b
    Example:
      esr explain "earthquake relief China" NA-12.s3 --index my-index
    """
    with open_searcher(where) as searcher:
        snapshot = searcher.snapshot()
        ranking = ranking if with_furniture else lower_furniture(ranking, snapshot.index)
        prepared = snapshot.prepare(query.parsed, ranking, require_all=query.require_all)
        explanation = explain_sentence(prepared, sentence_id)
        (record,) = prepared.index.sentences([sentence_id])
    if as_json:
        click.echo(json.dumps(replace_nonfinite(explanation.as_dict()), indent=1))
        return
    click.echo(f"{sentence_id}  {record.text}\n")
    click.echo(explanation)


# esr query


@click.command()
@partial(query_argument, required=False)
@options.index
@ranking_options
@filter_options
@click.option("-k", type=click.IntRange(1, 10_000), default=10, help="Number of sentences.")
@click.option(
    "--standalone",
    is_flag=True,
    help="Let Elasticsearch compute p(t|C), so that the terms can be changed. Language models only.",
)
@click.option(
    "--as",
    "form",
    type=click.Choice(["request", "slots", "template"]),
    default="request",
    help="Print a request for any words, by a language model. slots: with slots that clients/ fill in; "
    "template: store it in Elasticsearch as a search template, and print the call for QUERY.",
)
def query(
    query: ReadQuery, where: str, ranking: Ranking, filters: Filters, k: int, standalone: bool, form: str
) -> None:
    """Print the Elasticsearch request for a query.

    Any application can send it to the alias's _search.

    \b
    Example:
      esr query "bank fraud" --index http://localhost:9200/news > request.json
      curl -H 'Content-Type: application/json' -d @request.json 'http://localhost:9200/news/_search'
    With --standalone, send it to '_search?search_type=dfs_query_then_fetch'. The second stage of --ranking
    hybrid is part of the request, with the vector of the query in it: each shard rescores its best
    sentences by words. Only esr itself adds the sentences that only vectors find, and computes other second
    stages (--rerank with another signal, with neighbours or document, and those of tdsr and the mrf models):
    then the request is the first stage. The vector of the query and the terms that boosts add are computed
    now and are part of the request; those from feedback change with the collection.
    \b
    For any words, with a language model:
      esr query --as slots --model jm --index http://localhost:9200/news > request.json
      esr query "bank fraud" --as template --index http://localhost:9200/news
    The second stores a search template, and prints what to send to
    '_search/template?search_type=dfs_query_then_fetch'. Store it again after each load.
    """
    if form != "request" and filters != Filters():
        raise UsageError(f"--as {form} is for any filters: leave out those of one query")
    with open_searcher(where) as searcher:
        if form == "slots":
            click.echo(json.dumps(request_template(ranking, searcher.index), indent=1))
            return
        prepared = searcher.prepare(query.parsed, ranking, require_all=query.require_all)
        if form == "template":
            name = searcher.index.store_search_template(search_template(ranking, searcher.index))
            terms = [term.term for term in prepared.plan.terms for _ in range(int(term.weight))]
            click.echo(json.dumps({"id": name, "params": {"terms": terms, "k": k}}, ensure_ascii=False))
            return
        body = raw_request(prepared, k, filters=filters, standalone=standalone)
    if can_rescore(ranking):
        click.echo("esr: the request lacks what only vectors find; esr itself adds it", err=True)
    elif ranking.reranker() is not None:
        click.echo("esr: the request is the first stage only; esr itself computes the second", err=True)
    click.echo(json.dumps(body, indent=1, ensure_ascii=False))
