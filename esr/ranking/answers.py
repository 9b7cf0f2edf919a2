"""Answers as JSON and as tables, the same from the command line and from the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from esr.index.hits import Hit, SentenceRecord
from esr.ranking.passages import Passage
from esr.ranking.prepared_query import Answer
from esr.ranking.query_report import QueryReport
from esr.text.analyzer import Analyzer
from esr.text.document import LIST_FIELDS, text_direction

H = TypeVar("H")
_RECORD_FIELDS = SentenceRecord._fields


def answer_dict(
    answer: Answer, report: QueryReport | None = None, passages: Sequence[Passage] | None = None
) -> dict[str, Any]:
    """The answer as JSON, with the names of `Answer`: `{"hits": [...], "total", "took_ms", ...}`.

    With a report, it also has `"query"`, as in `QueryReport`. With passages, its hits are their best ones,
    each with `"passage"`, `"folded"`, `"more"` and `"reason"`. The search must have included records.
    """
    if passages is None:
        hits = [hit_dict(hit) for hit in answer.hits]
    else:
        hits = [passage_dict(passage) for passage in passages]
    return {
        "hits": hits,
        "total": answer.total,
        "took_ms": round(answer.took_ms, 3),
        "unseen": list(answer.unseen),
        "incomplete": answer.incomplete,
        "scored": answer.scored,
        "exhaustive": answer.exhaustive,
        "unknown_filters": [value._asdict() for value in answer.unknown_filters],
        "without_vector": answer.without_vector,
        "without_parse": answer.without_parse,
        "unread": answer.unread,
        **({} if report is None else {"query": report.as_dict()}),
    }


def hit_dict(hit: Hit) -> dict[str, Any]:
    """A hit as JSON: its score, its neighbours, its document, and the direction of its script."""
    record = require_record(hit)
    fields: dict[str, Any] = {
        "sentence_id": record.sentence_id,
        "document_id": record.document_id,
        "score": hit.score,
    }
    fields.update(zip(_RECORD_FIELDS, record, strict=True))
    for name in LIST_FIELDS:
        fields[name] = list(fields[name])
    fields["direction"] = text_direction(record.language)
    return fields


def passage_dict(passage: Passage) -> dict[str, Any]:
    """The best hit of a passage as JSON. `"passage"` has all its sentences, if there are several."""
    return {**hit_dict(passage.best), **passage_fields(passage, hit_dict)}


PASSAGE_FIELDS = ("passage", "folded", "more", "reason")


def passage_fields(passage: Passage, write: Callable[[Hit], dict[str, Any]]) -> dict[str, Any]:
    """PASSAGE_FIELDS: what a passage adds to its best hit. `write` makes JSON of its other hits."""
    several = passage.sentences if len(passage.sentences) > 1 else ()
    return {
        "passage": [write(hit) for hit in several],
        "folded": [write(hit) for hit in passage.similar],
        "more": passage.more,
        "reason": passage.reason,
    }


def analysis_dict(analyzer: Analyzer, text: str) -> dict[str, Any]:
    """`{"analyzer", "version", "text", "tokens": [{"start", "end", "term"}]}`: the terms of a text in order.

    Each has the position of its word, in characters (code points) of the text. Bigrams overlap.
    """
    return {
        "analyzer": analyzer.name,
        "version": analyzer.version,
        "text": text,
        "tokens": [token._asdict() for token in analyzer.tokens(text)],
    }


def require_record(hit: Hit) -> SentenceRecord:
    """The hit's sentence record. Raises TypeError if the search left out records."""
    if hit.record is None:
        raise TypeError(f"hit {hit.sentence_id!r} has no record: search with records")
    return hit.record


def best_of_documents(find: Callable[[int], Sequence[H]], k: int, document_of: Callable[[H], str]) -> list[H]:
    """The best sentence of each of the k documents whose best sentences are best.

    `find` gives the best n sentences, or fewer if there are no more.
    """
    n = 4 * k
    while True:
        hits = find(n)
        best: dict[str, H] = {}
        for hit in hits:
            best.setdefault(document_of(hit), hit)
        if len(best) >= k or len(hits) < n:
            return list(best.values())[:k]
        n *= 4


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
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What may begin a formula; some spreadsheets take the wide forms of East Asia for the usual ones."""


def build_rows(hits: Sequence[Hit]) -> Iterator[list[str]]:
    """Yield the cells of each hit, in the order of COLUMNS; unknown values are empty."""
    for rank, hit in enumerate(hits, 1):
        it = require_record(hit)
        texts = (it.text, it.title, it.date, it.source, it.url)
        yield [
            *(str(rank), repr(hit.score), it.sentence_id, it.document_id, str(it.position)),
            *(text or "" for text in texts),
        ]


def build_spreadsheet_rows(hits: Sequence[Hit]) -> Iterator[list[str]]:
    """Yield the rows with texts that no spreadsheet takes for a formula."""
    for rank, score, sentence_id, document_id, position, *texts in build_rows(hits):
        ids = (guard_formula(sentence_id), guard_formula(document_id))
        yield [rank, score, *ids, position, *map(guard_formula, texts)]


def guard_formula(text: str) -> str:
    """Prefix an apostrophe if a spreadsheet could take the text for a formula."""
    return "'" + text if text.startswith(_FORMULA_STARTS) else text
