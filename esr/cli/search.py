"""Commands for one query: `esr search` ranks sentences and shows them with their neighbours, `esr explain`
shows why one has its score, and `esr query` prints the Elasticsearch request, for other applications.

What only the last two need is imported at first use, so that a search begins at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import astuple

from esr.arguments.tables.commands import COMMANDS
from esr.arguments.tables.lists import LISTS
from esr.cli import options
from esr.cli.arguments import add_arguments, collect_options
from esr.cli.output import FORMATS, describe_query, format_option
from esr.cli.ranking_options import ReadQuery, filter_options, furniture, query_argument, ranking_options
from esr.errors import UsageError
from esr.following.overlap import DEFAULT_THRESHOLD
from esr.following.passages import find_passages
from esr.index.factory import store_search_template
from esr.index.filters import Filters
from esr.index.questions import MainEncoder, Records
from esr.query import across_languages, read_languages
from esr.ranking.answers import single
from esr.ranking.prepared_query import Answer
from esr.ranking.query_report import report_query
from esr.ranking.ranking import DefaultRanking, Ranking, choose_ranking, lower_furniture
from esr.ranking.searcher import open_searcher
from esr.stdlib import import_lazily, replace_nonfinite

if TYPE_CHECKING:
    from esr.following import newest, novelty
    from esr.ranking import requests
    from esr.ranking.explanation import explain as explaining
else:
    newest = import_lazily("esr.following.newest")
    novelty = import_lazily("esr.following.novelty")
    explaining = import_lazily("esr.ranking.explanation.explain")
    requests = import_lazily("esr.ranking.requests")


class ListOptions(Struct, frozen=True):
    """How `esr search` lists the sentences it finds."""

    languages: str | None
    sort: str
    novel: bool
    overlap: float | None
    fold: bool
    passages: bool
    per_document: int | None
    k: int


@click.command()
@query_argument
@options.index
@ranking_options
@filter_options
@add_arguments(
    LISTS,
    "search",
    *("languages", "sort", "novel", "overlap", "fold", "passages", "per_document", "k"),
    languages={"metavar": "CODE,...|all"},
    overlap={"default": None, "note": f"For --fold and --novel. Default: {DEFAULT_THRESHOLD}."},
)
@furniture
@format_option(default=None)
@add_arguments(COMMANDS, "search")
@collect_options(ListOptions, "settings")
def search(
    query: ReadQuery,
    where: str,
    ranking: Ranking,
    filters: Filters,
    settings: ListOptions,
    furniture: bool,
    format_name: str | None,
    as_json: bool,
) -> None:
    """Rank the sentences of an index for a query.

    A query is words, or says more in the query language of docs/query-language.md.

    \b
    Example:
      esr search "earthquake relief China" --index my-index
      esr search "bank fraud" --index my-index --model bm25 --set k1=1.5 -k 3 --json
      esr search "bank fraud" --index my-index --after 2017-02 --source bbc.co.uk
      esr search "bank fraud" --index my-index --format tsv > hits.tsv
      esr search "bank fraud" --index my-index --sort date --format bibtex
      esr search "bank fraud" --index my-index --novel --after 2017-02-03
      esr search '"white house" -trump before:2017-03' --index my-index
      esr search "earthquake relief" --index my-languages --languages all
    In text, only lines of the sentence itself begin with ">", and its neighbours have "…".
    """
    if as_json and format_name not in (None, "json"):
        raise UsageError(f"--format {format_name} and --json exclude each other: leave one out")
    if settings.overlap is not None and not (settings.novel or settings.fold):
        raise UsageError("--overlap says what repeats another: give it with --novel or without --no-fold")
    if settings.novel and settings.sort != "score":
        raise UsageError(
            f"--novel lists from the oldest on, and so has no --sort {settings.sort}: leave one out"
        )
    if settings.languages and (settings.novel or settings.sort != "score"):
        raise UsageError("--languages is for the best sentences: leave --novel and --sort out")
    output = FORMATS.find("json" if as_json else format_name or "text")
    with open_searcher(where) as searcher:
        snapshot = searcher.snapshot()
        if settings.sort == "score" or settings.novel:
            ranking = choose_ranking(ranking, snapshot.index)
        ranking = ranking if furniture else lower_furniture(ranking, snapshot.index)
        parsed = across_languages(
            query.parsed, read_languages(settings.languages) if settings.languages else ()
        )
        prepared = snapshot.prepare(parsed, ranking, require_all=query.require_all)
        threshold = settings.overlap or DEFAULT_THRESHOLD
        joins = settings.passages and output.has_passages and settings.sort == "score"
        if settings.novel:
            answer, repeats = astuple(novelty.find_novel(prepared, settings.k, filters, threshold=threshold))
            listed = single(
                [hit, *(repeats[hit.sentence_id] if settings.fold else ())] for hit in answer.hits
            )
        else:
            by_date = partial(newest.find_newest, prepared, oldest_first=settings.sort == "oldest")
            find = prepared.search if settings.sort == "score" else by_date
            answer, listed = find_passages(
                partial(find, filters=filters),
                prepared,
                settings.k,
                filters,
                overlap=threshold if settings.fold else None,
                joins=joins,
                per_document=settings.per_document,
            )
        report = report_query(prepared, filters)
    if not output.has_warnings:
        for line in (*_warn(answer), *describe_query(report, answer.unseen, where, bool(listed))):
            click.echo(line, err=True)
    click.echo(output.render(answer, report, listed), nl=False)


def _warn(answer: Answer) -> Iterator[str]:
    """Lines about missing parts of an answer, and about filters that no sentence passes."""
    if answer.incomplete:
        yield f"The answer is incomplete: {answer.incomplete}."
    if answer.no_meaning:
        yield f"Ranked by words alone: {answer.no_meaning}."
    if answer.without_vector:
        yield (
            f"{answer.without_vector:,} of the sentences ranked by meaning have no vector and are ranked "
            "by their words: run esr enrich --only vectors."
        )
    if answer.without_parse:
        yield (
            f"{answer.without_parse:,} of the sentences ranked by term dependence have no parse, so it "
            "adds nothing to them: run esr enrich --only parse."
        )
    if answer.unread:
        yield (
            f"The cross-encoder had no time for {answer.unread:,} of the sentences. They keep their "
            "order below the others: give it more with :seconds=, or a smaller :depth=."
        )
    yield from (value.message for value in answer.unknown_filters)


# esr explain


@click.command()
@query_argument
@add_arguments(COMMANDS, "explain")
@options.index
@ranking_options
@furniture
@options.as_json
def explain(
    query: ReadQuery, sentence_id: str, where: str, ranking: Ranking, furniture: bool, as_json: bool
) -> None:
    """Show the parts of a sentence's score, which add up to it.

    \b
    Example:
      esr explain "earthquake relief China" NA-12.s3 --index my-index
    """
    with open_searcher(where) as searcher:
        snapshot = searcher.snapshot()
        ranking = choose_ranking(ranking, snapshot.index)
        ranking = ranking if furniture else lower_furniture(ranking, snapshot.index)
        prepared = snapshot.prepare(query.parsed, ranking, require_all=query.require_all)
        explanation = explaining.explain(prepared, sentence_id)
        (record,) = prepared.index.read([sentence_id], Records())
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
@add_arguments(LISTS, "query", "k", "standalone")
@add_arguments(COMMANDS, "query", "as")
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
            click.echo(json.dumps(requests.request_template(ranking, searcher.index), indent=1))
            return
        prepared = searcher.prepare(query.parsed, ranking, require_all=query.require_all)
        if form == "template":
            name = store_search_template(where, requests.search_template(ranking, searcher.index))
            repeats = ([term.term] * prepared.counts[term.term] for term in prepared.plan.terms)
            terms = [*chain.from_iterable(repeats)]
            click.echo(json.dumps({"id": name, "params": {"terms": terms, "k": k}}, ensure_ascii=False))
            return
        body = requests.raw_request(prepared, k, filters=filters, standalone=standalone)
        has_vectors = searcher.index.status(MainEncoder()) is not None
    if has_vectors and isinstance(ranking, DefaultRanking):
        click.echo("esr: the request ranks by words; with --ranking hybrid, by meaning too", err=True)
    if requests.can_rescore(ranking):
        click.echo("esr: the request lacks what only vectors find; esr itself adds it", err=True)
    elif ranking.reranker() is not None:
        click.echo("esr: the request is the first stage only; esr itself computes the second", err=True)
    click.echo(json.dumps(body, indent=1, ensure_ascii=False))
