"""An answer as a file: CSV for tables, a TREC run for evaluation.

A file of an answer that lacks something says so: in its name, which stays with it, and in a header, which
programs read. A run's tag says it too, and a table of several queries has a column for it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

from flask import Response

from esr.engines.index import Hit
from esr.evaluation import runs
from esr.ranking.answers import record
from esr.ranking.searcher import Answer
from webui.answers.comparison import Comparison
from webui.answers.scored_document import Reading

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
LACKS = "incomplete"
"""The last column of a table of several queries."""
INCOMPLETE = "X-Incomplete"
"""The header of a file whose answer lacks something: what it lacks, or which queries' answers do."""
TOPIC, TAG, MARK = "1", "esr", "-incomplete"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(hits: Sequence[Hit], incomplete: str | None = None) -> Response:
    """One line a sentence, UTF-8 with a byte order mark, so that spreadsheets read it."""
    return _table(COLUMNS, _rows(hits), "sentences.csv", incomplete)


def as_runs(found: Mapping[str, Answer], tag: str = TAG) -> Response:
    """The run of several topics."""
    some = lacking(found)
    lines = (line for topic, each in found.items() for line in runs.lines(topic, each.hits, tag))
    return _file("".join(lines), "text/plain", "queries.run", some)


def as_batch(queries: Mapping[str, str], found: Mapping[str, Answer]) -> Response:
    """One line a sentence, its topic's id and query before it, and what its answer lacks behind it.

    An answer that lacks something and has no sentence has a line of its own.
    """
    none = [""] * len(COLUMNS)
    rows = [
        [_cell(topic), _cell(queries[topic]), *row, _cell(each.incomplete)]
        for topic, each in found.items()
        for row in (list(_rows(each.hits)) or [none] * bool(each.incomplete))
    ]
    return _table(("id", "query", *COLUMNS, LACKS), rows, "queries.csv", lacking(found))


def lacking(found: Mapping[str, Answer]) -> str:
    """The ids of the queries whose answers lack something."""
    return ", ".join(topic for topic, each in found.items() if each.incomplete)


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
    lacks = found.left.found.incomplete or found.right.found.incomplete
    return _table(("side", "rank", "other", "score", "sentence_id", "text"), rows, "comparison.csv", lacks)


def _rows(hits: Sequence[Hit]) -> Iterator[list[str]]:
    for rank, hit in enumerate(hits, 1):
        it = record(hit)
        texts = [it.sentence_id, it.document_id, it.position, it.text, it.title, it.date, it.source, it.url]
        yield [str(rank), repr(hit.score), *(_cell(text) for text in texts)]


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], name: str, lacks: str | None = None
) -> Response:
    """Rows of cells as a file to download."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(head)
    writer.writerows(rows)
    return _file("\ufeff" + out.getvalue(), "text/csv", name, lacks)


def as_run(hits: Sequence[Hit], incomplete: str | None = None) -> Response:
    """The run of one topic, which is called TOPIC."""
    lines = runs.lines(TOPIC, hits, TAG + MARK if incomplete else TAG)
    return _file("".join(lines), "text/plain", "sentences.run", incomplete)


def _cell(value: object) -> str:
    """As text that no spreadsheet takes for a formula: an apostrophe stands before what could be one."""
    if isinstance(value, int):
        return str(value)
    text = "" if value is None else str(value)
    return "'" + text if text.startswith(_FORMULA) else text


def _file(text: str, kind: str, name: str, lacks: str | None = None) -> Response:
    if lacks:
        name = name.replace(".", f"{MARK}.")
    response = Response(text.encode("utf-8", "replace"), mimetype=kind)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    if lacks:
        response.headers[INCOMPLETE] = lacks.encode("ascii", "replace").decode()
    return response
