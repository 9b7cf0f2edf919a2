"""The page of the collection: its sources over time with gaps, what is missing, languages and enrichment."""

from __future__ import annotations

from functools import partial

from flask import Flask, Response, request

from webui.answers.articles import find_headings
from webui.answers.downloads import table_csv
from webui.answers.holdings import LACKING, LEVELS, Holdings, describe_holdings, list_lacking
from webui.arguments.request import decode_arguments
from webui.pages.home import PART_LABELS
from webui.pages.rendering import PageRenderer
from webui.pages.wording import write_axis, write_period
from webui.running.served_indexes import Route, ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import ngettext

_TICKS = 12
"""Approximate number of labelled periods of the map."""


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the page, its table, and the lists that it leads to."""
    app.jinja_env.globals["enriched_documents"] = write_enriched
    get = partial(indexes.route, app)

    @get("/collection")
    def collection(visit: Visit) -> Response:
        decode_arguments(request.query_string, settings, "page")
        holdings = describe_holdings(visit.searcher)
        return render(
            visit,
            "collection.html",
            holdings=holdings,
            levels=LEVELS,
            ticks=label_periods(holdings),
            labels=PART_LABELS,
        )

    @get("/collection.csv")
    def collection_csv(visit: Visit) -> Response:
        """A line for each source and period."""
        decode_arguments(request.query_string, settings, "page")
        holdings = describe_holdings(visit.searcher)
        rows = (
            {"source": row.source, "period": period, "sentences": cell.sentences}
            for row in holdings.rows
            for period, cell in zip(holdings.periods, row.cells, strict=True)
        )
        return table_csv(rows, "collection")

    for name in LACKING:
        _add_list(get, settings, render, name)


def _add_list(get: Route, settings: Settings, render: PageRenderer, name: str) -> None:
    @get(f"/collection/{name}", f"collection_{name}")
    def lacking(visit: Visit) -> Response:
        decode_arguments(request.query_string, settings, "page")
        records, number = list_lacking(visit.searcher, name)
        headings = find_headings(visit.searcher.index, records)
        return render(visit, "lacking.html", name=name, records=records, number=number, headings=headings)


def write_enriched(part: str, number: int) -> str:
    """What a number of documents have of a part of enrichment; the number itself is beside it."""
    match part:
        case "entities":
            return ngettext("document searched for names", "documents searched for names", number)
        case "quotes":
            return ngettext("document searched for quotations", "documents searched for quotations", number)
        case "vectors":
            return ngettext("document with vectors", "documents with vectors", number)
        case "parse":
            return ngettext("document with parses", "documents with parses", number)
    return ngettext("document with features", "documents with features", number)


def label_periods(holdings: Holdings) -> dict[int, str]:
    """Labels of some periods of the map, by their positions: their first days, or months or years."""
    every = -(-len(holdings.periods) // _TICKS) or 1
    cells = holdings.rows[0].cells if holdings.rows else ()
    form = {"week": lambda n: write_axis(cells[n].first, False)}.get(holdings.interval)
    return {n: form(n) if form else write_period(holdings.periods[n]) for n in range(0, len(cells), every)}
