"""Saved searches, clippings and judgements, which readers keep in their browsers. The server stores none.

It writes a search as lines for `esr watch`, and clippings that are sent to it as a file of any format.
"""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Response, request

from esr.arguments.argument import WATCH
from esr.arguments.filters import filters_of
from esr.arguments.reading import reading_of
from esr.arguments.types import Flag
from esr.dossiers.contents import Clipping
from esr.following.alerts.saved_searches import write_search
from esr.following.exports import (
    NOTE,
    SPEAKER,
    TAGS,
    ExportFormat,
    Row,
)
from esr.index.hits import Hit, SentenceRecord
from esr.ranking.ranking import DEFAULT
from webui.answers.downloads import export_file
from webui.arguments.request import (
    decode_arguments,
    parse_search,
)
from webui.pages.rendering import PageRenderer
from webui.running.problems import RequestError, blame_argument
from webui.running.served_indexes import Route, Visit
from webui.running.settings import Settings

_COLUMNS = (
    "text",
    SPEAKER,
    "title",
    "authors",
    "source",
    "date",
    "url",
    NOTE,
    TAGS,
    "permalink",
    "sentence_id",
)
MOST_KNOWN = 100
"""Number of the newest sentences of a saved search that a browser remembers, to recognise new ones."""


def _row(clipping: Clipping) -> Row:
    """A clipping as a row of a file."""
    record = SentenceRecord(
        clipping.sentence_id,
        clipping.document_id,
        0,
        clipping.text,
        None,
        None,
        clipping.title,
        clipping.date,
        clipping.source,
        clipping.url,
        clipping.language,
        authors=clipping.authors,
    )
    return Row(Hit(clipping.sentence_id, 0.0, record), msgspec.to_builtins(clipping))


def add_saved_searches(get: Route, settings: Settings, render: PageRenderer) -> None:
    @get("/saved")
    def saved(visit: Visit) -> Response:
        return render(visit, "saved.html")

    @get("/judge")
    def judge(visit: Visit) -> Response:
        return render(visit, "judge.html")

    @get("/search.toml")
    def results_watch(visit: Visit) -> Response:
        """The search as lines of a file for `esr watch`. The index is only checked to exist."""
        arguments = decode_arguments(request.query_string, settings, "page")
        search = parse_search(arguments)
        with blame_argument("q"):
            visit.searcher.interpret(search.parsed)
        if search.languages:
            raise RequestError(
                "a file for esr watch finds words, each in its own language: leave languages out, or make an "
                "alert of the search",
                "languages",
            )
        table: dict[str, Any] = {"query": search.query, "literal": search.is_literal}
        for row in (*reading_of(WATCH), *filters_of(WATCH)):
            texts = arguments.get(row.name, ())
            if isinstance(row.type, Flag):
                table.setdefault(row.name, bool(texts) and texts[-1] == row.type.words[0])
            else:
                table[row.name] = list(texts) if row.is_repeatable else arguments.first(row.name)
        if search.ranking != DEFAULT:
            table["ranking"] = search.ranking.as_dict()
        response = Response(write_search(table), mimetype="application/toml")
        response.headers["Content-Disposition"] = 'attachment; filename="searches.toml"'
        return response


def add_clippings(get: Route, format: ExportFormat) -> None:
    @get(f"/clippings.{format.suffix}", f"clippings_{format.name}", method="POST")
    def clippings(_: Visit) -> Response:
        """The clippings in the body, a JSON list, as a file. They are neither stored nor logged."""
        try:
            sent = msgspec.json.decode(request.get_data(), type=list[Clipping])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise RequestError(f"the body must be a JSON list of clippings: {error}", None) from error
        with blame_argument(None):
            format.check()
        columns = _COLUMNS if format.has_columns and format.name != "jsonl" else ()
        response = export_file(format, map(_row, sent), columns, None, len(sent))
        response.headers["Content-Disposition"] = f'attachment; filename="clippings.{format.ending}"'
        return response
