"""The routes of the pages: results, a document, an explanation, a comparison; and their files to download."""

from __future__ import annotations

from collections.abc import Collection

from flask import Flask, Response, request
from werkzeug.wrappers import Response as Redirect

from esr.ranking.searcher import Searcher
from webui.answers import downloads
from webui.answers.comparison import Comparison, compare_rankings
from webui.answers.explanation import explain_sentence
from webui.answers.ranked_answer import rank_sentences
from webui.answers.scored_document import SHADES, ScoredDocument, score_document
from webui.arguments.names import COMPARISON_ARGUMENTS, SEARCH_ARGUMENTS, VERSUS
from webui.arguments.presets import ranking_label
from webui.arguments.query_string import decode_arguments
from webui.arguments.ranking_arguments import parse_ranking
from webui.arguments.search_request import SearchRequest, parse_search, read_search
from webui.pages.highlighting import Highlighter
from webui.pages.reasons import describe_hits, describe_match
from webui.pages.renderer import PageRenderer
from webui.pages.results import GROUP_SENTENCES, find_results, listed_hits
from webui.pages.score_bars import score_bars
from webui.pages.tree_picture import tree_picture
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings


def install(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    """Add the pages to the application."""
    _add_results(app, searcher, settings, render)
    _add_document(app, searcher, settings, render)
    _add_explanation(app, searcher, settings, render)
    _add_comparison(app, searcher, settings, render)


def read_search_and_id(settings: Settings) -> tuple[SearchRequest, str]:
    """The search of the current request, and the id of what it shows."""
    arguments = decode_arguments(request.query_string, settings, [*SEARCH_ARGUMENTS, "id", "lost"])
    if "id" not in arguments:
        raise RequestError("the address has no id: add the id of a document or a sentence", "id")
    return parse_search(arguments, settings), arguments["id"][0]


def query_terms(searcher: Searcher, search: SearchRequest) -> Collection[str]:
    """The terms of a query's own words; none if it is empty."""
    with blame_argument("q"):
        return searcher.terms(search.parsed) if search.query else ()


def _add_results(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    @app.get("/search")
    def results() -> Response | Redirect:
        if redirection := render.redirect_form("results"):
            return redirection
        search = read_search(request.query_string, settings)
        page_results = find_results(searcher, search, settings)
        return render(
            "results.html",
            search=search,
            results=page_results,
            answer=page_results.answer,
            highlight=Highlighter(searcher.index.analyzer, page_results.terms),
            group_sentences=GROUP_SENTENCES,
        )

    @app.get("/search.csv")
    def results_csv() -> Response:
        search = read_search(request.query_string, settings)
        return downloads.sentences_csv(*listed_hits(searcher, search, settings))

    @app.get("/search.run")
    def results_run() -> Response:
        search = read_search(request.query_string, settings)
        answer = rank_sentences(searcher.snapshot(), search, search.k, settings).answer
        return downloads.sentences_run(answer.hits, answer.incomplete)


def _add_document(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    def read() -> tuple[SearchRequest, ScoredDocument]:
        search, document_id = read_search_and_id(settings)
        return search, score_document(searcher, document_id, search, settings)

    @app.get("/document")
    def document() -> Response:
        search, scored = read()
        highlight = Highlighter(searcher.index.analyzer, query_terms(searcher, search))
        return render("document.html", search=search, scored=scored, highlight=highlight, shades=SHADES)

    @app.get("/document.csv")
    def document_csv() -> Response:
        return downloads.document_csv(read()[1])


def _add_explanation(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    @app.get("/explain")
    def explain() -> Response:
        search, sentence_id = read_search_and_id(settings)
        explained = explain_sentence(searcher, search, sentence_id, settings)
        terms, analyzer = query_terms(searcher, search), searcher.index.analyzer
        return render(
            "explain.html",
            search=search,
            explained=explained,
            reason=terms and describe_match(explained.record, terms, analyzer),
            bars=score_bars(explained.explanation),
            picture=tree_picture(explained),
            highlight=Highlighter(analyzer, terms),
        )


def _add_comparison(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    def read() -> tuple[SearchRequest, Comparison]:
        arguments = decode_arguments(request.query_string, settings, COMPARISON_ARGUMENTS)
        search, versus = parse_search(arguments, settings), parse_ranking(arguments, VERSUS)
        return search, compare_rankings(searcher, search, versus, settings)

    @app.get("/compare")
    def compare() -> Response | Redirect:
        if redirection := render.redirect_form("compare"):
            return redirection
        search, comparison = read()
        terms, analyzer = query_terms(searcher, search), searcher.index.analyzer
        hits = [compared.hit for side in (comparison.left, comparison.right) for compared in side.hits]
        return render(
            "compare.html",
            search=search,
            comparison=comparison,
            highlight=Highlighter(analyzer, terms),
            reasons=describe_hits(hits, terms, analyzer),
            labels=[ranking_label(search.ranking), ranking_label(comparison.right.ranking)],
        )

    @app.get("/compare.csv")
    def compare_csv() -> Response:
        return downloads.comparison_csv(read()[1])
