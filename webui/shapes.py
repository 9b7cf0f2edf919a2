"""Answers as JSON: the shape that programs can rely on."""

from __future__ import annotations

from typing import Any

from esr.engines.index import Hit, SentenceRecord
from esr.ranking.searcher import Answer


def answer(found: Answer) -> dict[str, Any]:
    """An answer. `unseen` are words of the query that no document holds; `incomplete` is what is missing."""
    return {
        "hits": [hit(each) for each in found.hits],
        "total": found.total,
        "took_ms": round(found.took_ms, 3),
        "unseen": list(found.unseen),
        "incomplete": found.incomplete,
    }


def hit(found: Hit) -> dict[str, Any]:
    """A ranked sentence with its neighbours and its document."""
    sentence = record(found)
    return {
        "sentence_id": found.sentence_id,
        "document_id": sentence.document_id,
        "score": found.score,
        "text": sentence.text,
        "previous": sentence.previous,
        "next": sentence.next,
        "title": sentence.title,
        "source": sentence.source,
        "date": sentence.date,
        "url": sentence.url,
    }


def record(found: Hit) -> SentenceRecord:
    """A hit's sentence. Searches of the page always ask for it."""
    if found.record is None:
        raise TypeError(f"hit {found.sentence_id!r} came without its sentence")
    return found.record
