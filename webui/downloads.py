"""An answer as a file: CSV for tables, a TREC run for evaluation."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from flask import Response

from esr.engines.index import Hit
from esr.evaluation import runs
from esr.ranking.answers import record
from webui.comparing import Comparison
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
    return _table(COLUMNS, _rows(hits), "sentences.csv")


def as_runs(found: Mapping[str, Sequence[Hit]], tag: str = TAG) -> Response:
    """The run of several topics."""
    lines = (line for topic, hits in found.items() for line in runs.lines(topic, hits, tag))
    return _file("".join(lines), "text/plain", "queries.run")


def as_batch(queries: Mapping[str, str], found: Mapping[str, Sequence[Hit]]) -> Response:
    """One line a sentence, its topic's id and query before it."""
    rows = [
        [_cell(topic), _cell(queries[topic]), *row] for topic, hits in found.items() for row in _rows(hits)
    ]
    return _table(("id", "query", *COLUMNS), rows, "queries.csv")


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
    return _table(("position", "score", "sentence_id", "text"), rows, "document.csv")


def as_comparison(found: Comparison) -> Response:
    """One line a sentence of each list, the left one first. `other` is its rank in the other list."""
    rows = [
        [side, str(each.rank), "" if each.other is None else str(each.other), repr(each.hit.score)]
        + [_cell(text) for text in (each.hit.sentence_id, record(each.hit).text)]
        for side, of in (("left", found.left), ("right", found.right))
        for each in of.hits
    ]
    return _table(("side", "rank", "other", "score", "sentence_id", "text"), rows, "comparison.csv")


def _rows(hits: Sequence[Hit]) -> Iterator[list[str]]:
    for rank, hit in enumerate(hits, 1):
        it = record(hit)
        texts = [it.sentence_id, it.document_id, it.position, it.text, it.title, it.date, it.source, it.url]
        yield [str(rank), repr(hit.score), *(_cell(text) for text in texts)]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], name: str) -> Response:
    """Rows of cells as a file to download."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(head)
    writer.writerows(rows)
    return _file("\ufeff" + out.getvalue(), "text/csv", name)


def as_run(hits: Sequence[Hit]) -> Response:
    """The run of one topic, which is called TOPIC."""
    return _file("".join(runs.lines(TOPIC, hits, TAG)), "text/plain", "sentences.run")


def _cell(value: object) -> str:
    """As text that no spreadsheet takes for a formula: an apostrophe stands before what could be one."""
    if isinstance(value, int):
        return str(value)
    text = "" if value is None else str(value)
    return "'" + text if text.startswith(_FORMULA) else text


def _file(text: str, kind: str, name: str) -> Response:
    response = Response(text.encode("utf-8", "replace"), mimetype=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
