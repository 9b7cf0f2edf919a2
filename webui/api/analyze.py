"""`analyze`: the terms that the index's analyzer makes of a text."""

from __future__ import annotations

from typing import Any

from esr.ranking.answers import analysis_dict
from webui.api.operation import Call


def analyze(call: Call) -> dict[str, Any]:
    return analysis_dict(call.searcher.index.analyzer, call.first("text") or "")
