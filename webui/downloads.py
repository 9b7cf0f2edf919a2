"""An answer as a file: CSV for tables, a TREC run for evaluation."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from flask import Response

from esr.engines.index import Hit
from esr.evaluation import runs
from esr.ranking.answers import record
from webui.shading import Reading

COLUMNS = (
    "rank",
    "score",
    "sentence_id",
    "document_id",
    "position",
    "text",
    "title",
    "date",
    "source",
    "url",
)
TOPIC, TAG = "1", "esr"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(hits: Sequence[Hit]) -> Response:
    """One line a sentence, UTF-8 with a byte order mark, so that spreadsheets read it."""
    return table(COLUMNS, (row(rank, hit) for rank, hit in enumerate(hits, 1)), "sentences.csv")


def row(rank: int, hit: Hit) -> list[str]:
    """The cells of COLUMNS for a hit."""
    it = record(hit)
    texts = [it.sentence_id, it.document_id, it.position, it.text, it.title, it.date, it.source, it.url]
    return [str(rank), repr(hit.score), *(_cell(text) for text in texts)]


def as_reading(reading: Reading) -> Response:
    """One line a sentence of a document, in its order."""
    rows = [
        [
            str(each.position),
            "" if each.score is None else repr(each.score),
            _cell(each.sentence_id),
            _cell(each.text),
        ]
        for each in reading.sentences
    ]
    return table(("position", "score", "sentence_id", "text"), rows, "document.csv")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], name: str) -> Response:
    """Rows of cells as a file to download."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(head)
    writer.writerows(rows)
    return file("\ufeff" + out.getvalue(), "text/csv", name)


def as_run(hits: Sequence[Hit]) -> Response:
    """The run of one topic, which is called TOPIC."""
    return file("".join(runs.lines(TOPIC, hits, TAG)), "text/plain", "sentences.run")


def _cell(value: object) -> str:
    """As text that no spreadsheet takes for a formula: an apostrophe stands before what could be one."""
    if isinstance(value, int):
        return str(value)
    text = "" if value is None else str(value)
    return "'" + text if text.startswith(_FORMULA) else text


def file(text: str, kind: str, name: str) -> Response:
    """A text to download."""
    response = Response(text.encode("utf-8", "replace"), mimetype=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
