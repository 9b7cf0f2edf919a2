"""The page of a concordance: the words of the query in dense lines with the text on both sides."""

from __future__ import annotations

from functools import partial

from flask import Flask, Response, request

from esr.corpus.concordance import SORTS, build_concordance
from webui.arguments.form import Links, change_arguments
from webui.arguments.query_string import decode_arguments, split_pairs
from webui.arguments.request import check_query, parse_search
from webui.arguments.table import PAGE, rows
from webui.pages.rendering import PageRenderer
from webui.running.request_errors import blame_argument
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings

MOST_SENTENCES = 20_000
"""Most sentences that a page reads, so that none keeps others waiting."""
_OWN: dict[str, str | None] = dict.fromkeys({*(rows("concordance").keys() - PAGE.keys()), "sort", "k"})
"""Arguments that have another meaning on other pages, or none."""
ORDERS = {name: text for name, text in SORTS.items() if name != "best"}


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the page to the application."""

    @partial(indexes.route, app)("/concordance")
    def concordance(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "concordance", "page")
        value, search = arguments.value, parse_search(arguments)
        searcher = visit.searcher
        check_query(searcher, search.parsed, settings)
        with blame_argument(None):
            found = build_concordance(
                searcher,
                search.parsed,
                search.filters,
                most=MOST_SENTENCES,
                **{name: value(name) for name in ("k", "sort", "width", "unit", "sample", "seed")},
            )
        own = Links([pair for pair in split_pairs(request.query_string, settings) if pair[1].strip()])
        return render(
            visit,
            "concordance.html",
            query=search.query,
            found=found,
            orders=ORDERS,
            chosen=value("sort"),
            own=own,
            others=Links(change_arguments(own.arguments, **_OWN)),
        )
