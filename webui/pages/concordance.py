"""The page of a concordance: the words of the query in dense lines with the text on both sides."""

from __future__ import annotations

from functools import partial

from flask import Flask, Response, request

from esr.corpus.concordance import SORTS
from esr.query import ParsedQuery
from webui.answers.lists import list_occurrences
from webui.arguments.form import split_links
from webui.arguments.query_string import decode_arguments
from webui.arguments.request import parse_search
from webui.pages.rendering import PageRenderer
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings

WIDTH = "110"
"""Characters on each side, as an argument: as many as a wide screen has room for. Others show less."""
ORDERS = {name: text for name, text in SORTS.items() if name != "best"}


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the page to the application."""

    @partial(indexes.route, app)("/concordance")
    def concordance(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "concordance", "page")
        if not arguments.first("unit"):
            arguments = arguments.with_defaults(width=WIDTH)
        search = parse_search(arguments)
        found = list_occurrences(visit.searcher, search, arguments, settings)
        own, others = split_links(request.query_string, settings, "concordance", "sort")
        return render(
            visit,
            "concordance.html",
            query=search.query,
            found=found,
            singly=[] if found.lines else list_words(search.parsed),
            orders=ORDERS,
            chosen=arguments.value("sort"),
            own=own,
            others=others,
        )


MOST_WORDS = 8
"""Most words of a query that has no lines for which the page offers lines."""


def list_words(parsed: ParsedQuery) -> list[str]:
    """The words of a plain query of several; empty for other queries."""
    words = list(dict.fromkeys(parsed.text.split()))
    return words if parsed.is_plain and 1 < len(words) <= MOST_WORDS else []
