"""An answer as JSON: the same from the command line and from the page."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from esr.ranking.searcher import Answer


def answer_dict(answer: Answer) -> dict[str, Any]:
    """`{"hits": [...], "total", "took_ms", "unseen", "incomplete"}`; records must have been asked for."""
    hits = []
    for hit in answer.hits:
        assert hit.record is not None, "an answer without records has nothing to show"
        hits.append({"score": hit.score, **asdict(hit.record)})
    return {
        "hits": hits,
        "total": answer.total,
        "took_ms": round(answer.took_ms, 3),
        "unseen": list(answer.unseen),
        "incomplete": answer.incomplete,
    }
