"""`document`: a whole document, each sentence with its score for a query."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from webui.answers import scored_document as shading
from webui.api.operation import Call
from webui.arguments import search_request as arguments


def document(call: Call) -> dict[str, Any]:
    asked = arguments.search(call.values, call.settings)
    reading = shading.read(call.searcher, call.one("id") or "", asked, call.settings)
    found = asdict(reading.document)
    for sentence, shaded in zip(found["sentences"], reading.sentences, strict=True):
        del sentence["parse"]
        sentence |= {"score": shaded.score, "hit": shaded.hit}
    return found
