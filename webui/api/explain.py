"""`explain`: why a sentence has its score."""

from __future__ import annotations

from typing import Any

from webui import arguments, explaining
from webui.api.operation import Call


def explain(call: Call) -> dict[str, Any]:
    asked = arguments.search(call.values, call.settings)
    found, record = explaining.explained(call.searcher.now(), asked, call.one("id") or "", call.settings)
    return found.as_dict() | {"text": record.text}
