"""`explain`: why a sentence has its score."""

from __future__ import annotations

from typing import Any

from esr.errors import UsageError
from esr.ranking.explain import explain as explained
from webui import arguments
from webui.api.operation import Call
from webui.api.terms import check_terms
from webui.arguments import NotThere


def explain(call: Call) -> dict[str, Any]:
    asked = arguments.search(call.values, call.settings)
    sentence = call.one("sentence") or ""
    now = call.searcher.now()
    check_terms(now, asked.query, call.settings, "q")
    try:
        (record,) = now.index.sentences([sentence])
    except UsageError as error:
        raise NotThere(f"there is no sentence {sentence!r}", "sentence") from error
    with arguments.blaming(None):
        return explained(now, asked.query, sentence, asked.ranking).as_dict() | {"text": record.text}
