"""`document`: a document, each sentence with its score for a query."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from esr.documents.direction import text_direction
from webui.answers.scored_document import score_document
from webui.api.operation import Call
from webui.arguments.search_request import parse_search


def document(call: Call) -> dict[str, Any]:
    search = parse_search(call.arguments, call.settings)
    scored = score_document(call.searcher, call.first("id") or "", search, call.settings)
    data: dict[str, Any] = to_builtins(scored.document) | {
        "direction": text_direction(scored.document.language)
    }
    for sentence in scored.sentences:
        sentence_data = data["sentences"][sentence.position]
        del sentence_data["parse"]
        sentence_data |= {"score": sentence.score, "hit": sentence.is_hit}
    return data
