"""The page "More like this": sentences that say the same as one, or go on from it."""

from __future__ import annotations

from flask import Flask, Response, request

from esr.ranking.searcher import Searcher
from webui.answers.similar_sentences import find_for_request
from webui.arguments.names import SEARCH_ARGUMENTS, SIMILAR_ARGUMENTS
from webui.arguments.presets import BY_MEANING
from webui.arguments.query_string import decode_arguments
from webui.pages.highlighting import Highlighter
from webui.pages.renderer import PageRenderer
from webui.running.settings import Settings


def install(app: Flask, searcher: Searcher, settings: Settings, render: PageRenderer) -> None:
    """Add the page to the application."""

    @app.get("/similar")
    def similar() -> Response:
        arguments = decode_arguments(
            request.query_string, settings, [*SEARCH_ARGUMENTS, *SIMILAR_ARGUMENTS, "id"]
        )
        found = find_for_request(searcher, arguments, settings)
        return render(
            "similar.html",
            found=found,
            search=found.search,
            by_meaning=BY_MEANING,
            highlight=Highlighter(searcher.index.analyzer, found.terms),
        )
