"""The page of the collection: its sources over time with gaps, what is missing, languages and enrichment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from flask import Flask, Response, request

from esr.following.holdings import COLUMNS, LACKING, Holdings, describe_holdings, list_lacking
from webui.answers.articles import find_headings
from webui.answers.downloads import table_csv
from webui.arguments.request import decode_arguments
from webui.pages.home import PART_LABELS
from webui.pages.rendering import PageRenderer
from webui.pages.wording import write_axis, write_period
from webui.running.served_indexes import Route, ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import ngettext

LEVELS = 5
"""Shades of the map."""
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
            cells=make_cells(holdings),
            levels=LEVELS,
            ticks=label_periods(holdings),
            labels=PART_LABELS,
        )

    @get("/collection.csv")
    def collection_csv(visit: Visit) -> Response:
        """A line for each source and period."""
        decode_arguments(request.query_string, settings, "page")
        holdings = describe_holdings(visit.searcher)
        return table_csv(holdings.rows(), "collection", columns=COLUMNS)

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


class Cell(NamedTuple):
    """The sentences of a source in a period, from its first to its last day. `level` is 0 without any."""

    sentences: int
    level: int
    first: str
    last: str


def make_cells(holdings: Holdings) -> Mapping[str, Sequence[Cell]]:
    """The cells of each source."""
    greatest = max((max(row.counts, default=0) for row in holdings.sources), default=0)
    return {
        row.source: [
            Cell(count, _find_level(count, greatest), *end)
            for count, end in zip(row.counts, holdings.days, strict=True)
        ]
        for row in holdings.sources
    }


def _find_level(count: int, greatest: int) -> int:
    """The shade of a cell. Each has twice the share of the one before, so that small sources are seen too."""
    return max(1, LEVELS - sum(count * 2**n < greatest for n in range(LEVELS - 1))) if count else 0


def label_periods(holdings: Holdings) -> dict[int, str]:
    """Labels of some periods of the map, by their positions: their first days, or months or years."""
    step = -(-len(holdings.periods) // _TICKS) or 1
    form = {"week": lambda n: write_axis(holdings.days[n][0], False)}.get(holdings.interval)
    return {
        n: form(n) if form else write_period(holdings.periods[n])
        for n in range(0, len(holdings.periods), step)
    }
