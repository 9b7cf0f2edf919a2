"""The pages beside the results: a document, an explanation, a comparison, and files to download."""

from __future__ import annotations

from flask import Flask, Response, request
from werkzeug.wrappers import Response as Redirect

from esr.engines.index import Hit
from esr.ranking.searcher import Searcher
from webui import arguments, comparing, downloads, explaining, shading
from webui.arguments import COMPARED, KNOWN, VERSUS, BadArgument, Search
from webui.marking import Marker
from webui.page import Pages
from webui.results import answer, look
from webui.settings import Settings


def install(app: Flask, searcher: Searcher, limits: Settings, page: Pages) -> None:
    """Add the pages to the application."""

    def shown() -> tuple[Search, str]:
        """What was searched for, and the id of what is to be shown."""
        values = arguments.decode(request.query_string, limits, [*KNOWN, "id"])
        if "id" not in values:
            raise BadArgument("the address names nothing to show: give id", "id")
        return arguments.search(values, limits), values["id"][0]

    def marker(query: str) -> Marker:
        return Marker(searcher.index.analyzer, searcher.terms(query) if query else ())

    def listed() -> list[Hit]:
        asked = arguments.read(request.query_string, limits)
        entries = look(searcher, asked, limits).entries
        return [each.hit for entry in entries for each in entry.folded]

    @app.get("/search.csv")
    def results_csv() -> Response:
        return downloads.as_csv(listed())

    @app.get("/search.run")
    def results_run() -> Response:
        asked = arguments.read(request.query_string, limits)
        return downloads.as_run(answer(searcher.now(), asked, asked.k, limits)[0].hits)

    @app.get("/document")
    def document() -> Response:
        asked, document_id = shown()
        reading = shading.read(searcher, document_id, asked, limits)
        mark = marker(asked.query)
        return page("document.html", asked=asked, reading=reading, mark=mark)

    @app.get("/document.csv")
    def document_csv() -> Response:
        asked, document_id = shown()
        reading = shading.read(searcher, document_id, asked, limits)
        return downloads.as_reading(reading)

    @app.get("/explain")
    def explain() -> Response:
        asked, sentence_id = shown()
        told = explaining.tell(searcher, asked, sentence_id, limits)
        mark = marker(asked.query)
        return page("explain.html", asked=asked, it=told.record, told=told, found=told.found, mark=mark)

    @app.get("/compare")
    def compare() -> Response | Redirect:
        if shorter := page.shorter("compare"):
            return shorter
        values = arguments.decode(request.query_string, limits, COMPARED)
        asked, versus = arguments.search(values, limits), arguments.ranking(values, VERSUS)
        found = comparing.compare(searcher, asked, versus, limits)
        return page("compare.html", asked=asked, compared=found, mark=marker(asked.query))
