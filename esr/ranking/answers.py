"""An answer as JSON: the same from the command line and from the page."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any

from esr.engines.index import Hit, SentenceRecord
from esr.ranking.searcher import Answer

_FIELDS = tuple(field.name for field in fields(SentenceRecord))
_values = attrgetter(*_FIELDS)


def answer_dict(answer: Answer) -> dict[str, Any]:
    """`{"hits": [...], "total", "took_ms", "unseen", "incomplete", "scored", "exhaustive"}`, as in `Answer`.

    Records must have been asked for. `unseen` are words of the query that no document holds; `incomplete` is
    what is missing, or None.
    """
    return {
        "hits": [hit_dict(hit) for hit in answer.hits],
        "total": answer.total,
        "took_ms": round(answer.took_ms, 3),
        "unseen": list(answer.unseen),
        "incomplete": answer.incomplete,
        "scored": answer.scored,
        "exhaustive": answer.exhaustive,
    }


def hit_dict(hit: Hit) -> dict[str, Any]:
    """A ranked sentence with its score, its neighbours and its document."""
    shown = record(hit)
    found = {"sentence_id": shown.sentence_id, "document_id": shown.document_id, "score": hit.score}
    found.update(zip(_FIELDS, _values(shown), strict=True))
    return found


def record(hit: Hit) -> SentenceRecord:
    """A hit's sentence, where it was asked for."""
    if hit.record is None:
        raise TypeError(f"hit {hit.sentence_id!r} came without its sentence")
    return hit.record
