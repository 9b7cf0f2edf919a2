"""Answers as files: CSV for tables, TREC runs for evaluation, and citations.

An incomplete answer is marked in the name of its file, for people, and in a header, for programs. A run is
also marked in its tag, and a table of several queries in a column.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from flask import Response, stream_with_context
from msgspec import Struct, json

from esr.disk_errors import NO_SPACE
from esr.following.exports import CitationFormat, Cited, ExportFormat, Row
from esr.following.timeline import TABLE_COLUMNS
from esr.index.hits import Hit
from esr.ranking.answers import COLUMNS, build_spreadsheet_rows, guard_formula, require_record
from esr.ranking.prepared_query import Answer
from esr.topics.runs import format_lines
from esr.wording import flatten_row
from webui.answers.explanations import Comparison, ScoredDocument
from webui.running.problems import NoSpace

INCOMPLETE_COLUMN = "incomplete"
"""The last column of a table of several queries."""
INCOMPLETE_HEADER = "X-Incomplete"
"""The header of an incomplete file: what is missing, or the ids of queries with incomplete answers."""
SKIPPED_HEADER = "X-Skipped"
"""The header with the ids of queries that cannot be searched for."""
NOTHING: Mapping[str, str] = {}
TOPIC, TAG, INCOMPLETE_MARK = "1", "esr", "-incomplete"


TOTAL_HEADER = "X-Total-Count"
"""The header with the number of sentences that match, of which a file may have fewer."""
_AT_ONCE = 1 << 20
"""Bytes of a file that are written before the answer begins: errors until then are answered as such."""


def export_file(
    format: ExportFormat, rows: Iterable[Row], columns: Sequence[str], incomplete: str | None, total: int
) -> Response:
    """A file of hits. A large one is written while the client reads it, so it needs neither disk nor memory.

    Raises NoSpace if the format needs the disk, and that is full.
    """
    pieces = format.write(rows, columns)
    begin = bytearray()
    is_whole = True
    try:
        for piece in pieces:
            begin += piece
            if len(begin) > _AT_ONCE:
                is_whole = False
                break
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise NoSpace(f"cannot write a file of {format.label}: {(error.strerror or '').lower()}") from error
    if is_whole:
        response = Response(bytes(begin), mimetype=format.media_type)
    else:
        body = stream_with_context(chain([bytes(begin)], pieces))
        response = Response(body, mimetype=format.media_type)
    response.headers[TOTAL_HEADER] = str(total)
    return _name(response, f"sentences.{format.ending}", incomplete)


def sentences_run(hits: Sequence[Hit], incomplete: str | None = None) -> Response:
    """The run of a single topic, named TOPIC."""
    lines = format_lines(TOPIC, hits, _mark_incomplete(TAG, incomplete))
    return _file("".join(lines), "text/plain", "sentences.run", incomplete)


def queries_csv(
    queries: Mapping[str, str], answers: Mapping[str, Answer], skipped: Mapping[str, str] = NOTHING
) -> Response:
    """One line per sentence: the id and text of its query, the sentence, and what is missing from the answer.

    A query that cannot be searched for has a separate line, and so has an incomplete answer without
    sentences. `skipped`: why queries cannot be searched for, by topic.
    """
    blank = [""] * len(COLUMNS)
    rows = []
    for topic, query in queries.items():
        cells: Iterable[Sequence[str]] = [blank]
        if topic in skipped:
            missing = f"not searched: {skipped[topic]}"
        else:
            missing = answers[topic].incomplete or ""
            cells = list(build_spreadsheet_rows(answers[topic].hits)) or [blank] * bool(missing)
        rows += [[guard_formula(topic), guard_formula(query), *row, guard_formula(missing)] for row in cells]
    columns = ("id", "query", *COLUMNS, INCOMPLETE_COLUMN)
    return _name_skipped(_csv(columns, rows, "queries.csv", incomplete_topics(answers)), skipped)


def queries_run(
    answers: Mapping[str, Answer], tag: str = TAG, skipped: Mapping[str, str] = NOTHING
) -> Response:
    """The run of several topics. Topics in `skipped`, which cannot be searched for, have no lines."""
    incomplete = incomplete_topics(answers)
    tag = _mark_incomplete(tag, incomplete)
    lines = (line for topic, answer in answers.items() for line in format_lines(topic, answer.hits, tag))
    return _name_skipped(_file("".join(lines), "text/plain", "queries.run", incomplete), skipped)


def incomplete_topics(answers: Mapping[str, Answer]) -> str:
    """The ids of queries with incomplete answers, separated by commas."""
    return ", ".join(topic for topic, answer in answers.items() if answer.incomplete)


def document_csv(scored: ScoredDocument) -> Response:
    """One line per sentence of a document, in order."""
    rows = [
        [
            str(sentence.position),
            "" if sentence.score is None else repr(sentence.score),
            guard_formula(sentence.sentence_id),
            guard_formula(sentence.text),
        ]
        for sentence in scored.sentences
    ]
    return _csv(("position", "score", "sentence_id", "text"), rows, "document.csv")


def citations_file(citation: CitationFormat, sentences: Sequence[Cited]) -> Response:
    """The citations of these sentences. Lines are shown by browsers, other formats are files."""
    name = "sentences" if len(sentences) != 1 else "sentence"
    response = _file(citation.render(sentences), citation.media_type, f"{name}.{citation.ending}")
    if citation.media_type == "text/plain":
        response.headers["Content-Disposition"] = f'inline; filename="{name}.{citation.ending}"'
    return response


def timeline_csv(rows: Sequence[Mapping[str, str]]) -> Response:
    """One line per period of each query."""
    return _csv(
        TABLE_COLUMNS, [[guard_formula(cell) for cell in row.values()] for row in rows], "timeline.csv"
    )


def image_file(svg: str, name: str) -> Response:
    """A picture as an SVG file."""
    return _file(svg, "image/svg+xml", name)


def table_csv(
    rows: Iterable[Mapping[str, Any]],
    name: str,
    incomplete: str | None = None,
    columns: Sequence[str] = (),
) -> Response:
    """One line per row, with a column for each of its values. `columns`: the head without rows."""
    flat = [flatten_row(row) for row in rows]
    cells = [
        [guard_formula(cell) if isinstance(cell, str) else cell for cell in row.values()] for row in flat
    ]
    return _csv(list(flat[0]) if flat else columns, cells, f"{name}.csv", incomplete)


def json_lines(rows: Sequence[Struct], name: str, incomplete: str | None = None) -> Response:
    """A line of JSON for each row."""
    lines = json.Encoder().encode_lines(rows)
    return _name(Response(lines, mimetype="application/x-ndjson"), f"{name}.jsonl", incomplete)


def comparison_csv(comparison: Comparison) -> Response:
    """One line per hit of both lists, left first. `other`: its rank in the other list."""
    rows = [
        [name, str(hit.rank), "" if hit.other_rank is None else str(hit.other_rank), repr(hit.hit.score)]
        + [guard_formula(text) for text in (hit.hit.sentence_id, require_record(hit.hit).text)]
        for name, side in (("left", comparison.left), ("right", comparison.right))
        for hit in side.hits
    ]
    incomplete = comparison.left.answer.incomplete or comparison.right.answer.incomplete
    columns = ("side", "rank", "other", "score", "sentence_id", "text")
    return _csv(columns, rows, "comparison.csv", incomplete)


def _name_skipped(response: Response, skipped: Iterable[str]) -> Response:
    if topics := ", ".join(skipped):
        response.headers[SKIPPED_HEADER] = _as_header(topics)
    return response


def _as_header(text: str) -> str:
    return text.encode("ascii", "replace").decode()


def _mark_incomplete(tag: str, incomplete: str | None) -> str:
    return tag + INCOMPLETE_MARK if incomplete else tag


def _csv(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], name: str, incomplete: str | None = None
) -> Response:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(rows)
    return _file("\ufeff" + out.getvalue(), "text/csv", name, incomplete)


def _file(text: str, mimetype: str, name: str, incomplete: str | None = None) -> Response:
    return _name(Response(text.encode("utf-8", "replace"), mimetype=mimetype), name, incomplete)


def _name(response: Response, name: str, incomplete: str | None) -> Response:
    if incomplete:
        name = name.replace(".", f"{INCOMPLETE_MARK}.", 1)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    if incomplete:
        response.headers[INCOMPLETE_HEADER] = _as_header(incomplete)
    return response
