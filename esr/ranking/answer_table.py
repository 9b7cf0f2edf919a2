"""Answers as tables: the same columns from the command line and from the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from esr.engines.index import Hit
from esr.ranking.answers import require_record

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
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def build_rows(hits: Sequence[Hit]) -> Iterator[list[str]]:
    """The cells of each hit, in the order of COLUMNS; an unknown value is empty."""
    for rank, hit in enumerate(hits, 1):
        it = require_record(hit)
        texts = (it.text, it.title, it.date, it.source, it.url)
        yield [
            *(str(rank), repr(hit.score), it.sentence_id, it.document_id, str(it.position)),
            *(text or "" for text in texts),
        ]


def build_spreadsheet_rows(hits: Sequence[Hit]) -> Iterator[list[str]]:
    """The same with texts that no spreadsheet takes for a formula."""
    for rank, score, sentence_id, document_id, position, *texts in build_rows(hits):
        ids = (guard_formula(sentence_id), guard_formula(document_id))
        yield [rank, score, *ids, position, *map(guard_formula, texts)]


def guard_formula(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet could take it for a formula."""
    return "'" + text if text.startswith(_FORMULA_STARTS) else text
