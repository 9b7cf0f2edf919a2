"""The pages beside the results: a document, an explanation, a comparison; and files to download."""

from __future__ import annotations

from flask import Flask, Response, request
from werkzeug.wrappers import Response as Redirect

from esr.ranking.searcher import Searcher
from webui.answers import comparison as comparing
from webui.answers import downloads
from webui.answers import explanation as explaining
from webui.answers import scored_document as shading
from webui.answers.comparison import Comparison
from webui.answers.scored_document import Reading
from webui.arguments import search_request as arguments
from webui.arguments.search_request import COMPARED, KNOWN, VERSUS, BadArgument, Search
from webui.pages.highlighting import Marker
from webui.pages.renderer import Pages
from webui.pages.results import GROUPED, answer, listed, look
from webui.running.settings import Settings


def install(app: Flask, searcher: Searcher, limits: Settings, page: Pages) -> None:
    """Add the pages to the application."""
    _results(app, searcher, limits, page)
    _documents(app, searcher, limits, page)
    _explanations(app, searcher, limits, page)
    _comparisons(app, searcher, limits, page)


def shown(limits: Settings) -> tuple[Search, str]:
    """What was searched for, and the id of what is to be shown."""
    values = arguments.decode(request.query_string, limits, [*KNOWN, "id"])
    if "id" not in values:
        raise BadArgument("the address names nothing to show: give id", "id")
    return arguments.search(values, limits), values["id"][0]


def marker(searcher: Searcher, query: str) -> Marker:
    """Marks the words of a query, of none if it is empty."""
    with arguments.blaming("q"):
        return Marker(searcher.index.analyzer, searcher.terms(query) if query else ())


def _results(app: Flask, searcher: Searcher, limits: Settings, page: Pages) -> None:
    @app.get("/search")
    def results() -> Response | Redirect:
        if shorter := page.shorter("results"):
            return shorter
        asked = arguments.read(request.query_string, limits)
        view = look(searcher, asked, limits)
        mark = marker(searcher, asked.query)
        return page("results.html", asked=asked, view=view, found=view.found, mark=mark, grouped=GROUPED)

    @app.get("/search.csv")
    def results_csv() -> Response:
        return downloads.as_csv(*listed(searcher, arguments.read(request.query_string, limits), limits))

    @app.get("/search.run")
    def results_run() -> Response:
        asked = arguments.read(request.query_string, limits)
        found = answer(searcher.snapshot(), asked, asked.k, limits)[0]
        return downloads.as_run(found.hits, found.incomplete)


def _documents(app: Flask, searcher: Searcher, limits: Settings, page: Pages) -> None:
    def read() -> tuple[Search, Reading]:
        asked, document_id = shown(limits)
        return asked, shading.read(searcher, document_id, asked, limits)

    @app.get("/document")
    def document() -> Response:
        asked, reading = read()
        return page("document.html", asked=asked, reading=reading, mark=marker(searcher, asked.query))

    @app.get("/document.csv")
    def document_csv() -> Response:
        return downloads.as_reading(read()[1])


def _explanations(app: Flask, searcher: Searcher, limits: Settings, page: Pages) -> None:
    @app.get("/explain")
    def explain() -> Response:
        asked, sentence_id = shown(limits)
        told = explaining.tell(searcher, asked, sentence_id, limits)
        return page("explain.html", asked=asked, told=told, mark=marker(searcher, asked.query))


def _comparisons(app: Flask, searcher: Searcher, limits: Settings, page: Pages) -> None:
    def compared() -> tuple[Search, Comparison]:
        values = arguments.decode(request.query_string, limits, COMPARED)
        asked, versus = arguments.search(values, limits), arguments.ranking(values, VERSUS)
        return asked, comparing.compare(searcher, asked, versus, limits)

    @app.get("/compare")
    def compare() -> Response | Redirect:
        if shorter := page.shorter("compare"):
            return shorter
        asked, found = compared()
        return page("compare.html", asked=asked, compared=found, mark=marker(searcher, asked.query))

    @app.get("/compare.csv")
    def compare_csv() -> Response:
        return downloads.as_comparison(compared()[1])
