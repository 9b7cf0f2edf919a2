"""`timeline`: how many sentences of each day, week, month or year have all words of a query."""

from __future__ import annotations

from typing import Any

from esr.following.timeline import MAX_PEAKS, PEAKS
from webui.answers.query_timeline import make_timeline
from webui.api.operation import Call
from webui.arguments.query_string import parse_count
from webui.arguments.timeline_request import parse_timeline


def timeline(call: Call) -> dict[str, Any]:
    request = parse_timeline(call.arguments, call.settings)
    peaks = parse_count("peaks", call.first("peaks"), PEAKS, MAX_PEAKS, 0)
    return make_timeline(call.searcher, request, call.settings, peaks).as_dict()
