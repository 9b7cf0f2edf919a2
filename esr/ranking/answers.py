"""Answers as JSON: the same from the command line and from the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from esr.analysis import Analyzer
from esr.documents.direction import text_direction
from esr.documents.fields import LIST_FIELDS
from esr.engines.index import Hit, SentenceRecord
from esr.ranking.prepared_query import Answer
from esr.ranking.query_report import QueryReport

_RECORD_FIELDS = SentenceRecord._fields


def answer_dict(
    answer: Answer, report: QueryReport | None = None, folded: Mapping[str, Sequence[Hit]] | None = None
) -> dict[str, Any]:
    """`{"hits": [...], "total", "took_ms", "unseen", "incomplete", "scored", "exhaustive",
    "unknown_filters": [...], "without_vector", "without_parse"}`, as in `Answer`.

    With a report, also `"query"`, as in `QueryReport`. With `folded`, the hits that repeat each hit by its
    sentence's id, each hit has them as `"folded"`. The search must have included records.
    """
    hits = [hit_dict(hit) for hit in answer.hits]
    if folded is not None:
        for hit in hits:
            hit["folded"] = [hit_dict(repeat) for repeat in folded.get(hit["sentence_id"], ())]
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
        **({} if report is None else {"query": report.as_dict()}),
    }


def hit_dict(hit: Hit) -> dict[str, Any]:
    """A ranked sentence with its score, its neighbours, its document, and the direction of its writing."""
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


def analysis_dict(analyzer: Analyzer, text: str) -> dict[str, Any]:
    """`{"analyzer", "version", "text", "tokens": [{"start", "end", "term"}]}`: the terms of a text in order,
    each with the place of its word, in characters (code points) of the text. Bigrams overlap.
    """
    return {
        "analyzer": analyzer.name,
        "version": analyzer.version,
        "text": text,
        "tokens": [token._asdict() for token in analyzer.tokens(text)],
    }


def require_record(hit: Hit) -> SentenceRecord:
    """A hit's sentence. Raises TypeError if the search left out records."""
    if hit.record is None:
        raise TypeError(f"hit {hit.sentence_id!r} has no record: search with records")
    return hit.record
