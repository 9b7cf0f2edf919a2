"""The results of a search as files: a route for each format, for people and programs alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flask import Flask, Response, request
from msgspec.structs import replace

from esr.batches import batched
from esr.following.exports import EXPORTS, FIELDS, RANK, ExportFormat, Row
from esr.ranking.answers import COLUMNS
from esr.ranking.passages import single
from webui.answers.downloads import export_file
from webui.answers.hit_fields import HitWriter
from webui.answers.lists import Listing, list_hits
from webui.arguments.query_string import decode_arguments
from webui.arguments.request import HitShape, parse_search
from webui.arguments.values import ALL
from webui.running.request_errors import RequestError, blame_argument
from webui.running.served_indexes import ServedIndexes, Visit
from webui.running.settings import Settings

_BATCH = 500


def install(app: Flask, indexes: ServedIndexes, settings: Settings) -> None:
    """Add a route for each format of files, and the formats for templates: `results_` and its name."""
    app.jinja_env.globals.update(export_formats=EXPORTS, export_columns=FIELDS, usual_columns=COLUMNS)
    for format in EXPORTS.values():
        _add_format(app, indexes, settings, format)


def _add_format(app: Flask, indexes: ServedIndexes, settings: Settings, format: ExportFormat) -> None:
    @indexes.route(
        app, f"/search.{format.suffix}", f"results_{format.name}", seconds=settings.export_deadline
    )
    def export(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "export", "page")
        search, columns = parse_search(arguments), arguments.values_of("fields")
        if columns and not format.has_columns:
            raise RequestError(f"{format.label} has no columns to choose: leave out fields", "fields")
        with blame_argument(None):
            format.check()
        is_all = arguments.first("k") == ALL
        if format.most and search.k > format.most:
            search, is_all = replace(search, k=format.most), True
        listing = list_hits(visit.searcher.snapshot(), search, settings, is_all)
        rows = _write_rows(listing, columns, arguments.first("index"))
        return export_file(format, rows, columns, listing.incomplete, listing.total)


def _write_rows(listing: Listing, columns: Sequence[str], index_name: str) -> Iterator[Row]:
    shape = HitShape(frozenset(columns))
    prepared, rank = listing.prepared, 0
    for hits in batched(listing.hits, _BATCH):
        writer = HitWriter(prepared.index, shape, prepared.counts, index_name)
        written = writer.write_entries([list(single([[hit]])) for hit in hits], is_list=False)
        for hit, (fields,) in zip(hits, written, strict=True):
            rank += 1
            if RANK in columns or not columns:
                fields = {RANK: rank, **fields}
            yield Row(hit, fields)
