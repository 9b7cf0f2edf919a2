"""`batch`: several queries at once, answered as JSON, as a TREC run or as CSV."""

from __future__ import annotations

from typing import Any

from flask import Response

from esr.engines.index import Filters
from esr.errors import UsageError
from esr.ranking import answers
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Answer
from webui.answers import downloads
from webui.api import batch_body as body
from webui.api.batch_body import SKIPPED
from webui.api.json_response import json_answer
from webui.api.operation import Call
from webui.arguments import search_request as arguments
from webui.arguments.query_check import check_terms
from webui.running.problems import problem, shape
from webui.running.rate_limit import charge

RUN, CSV = "text/plain", "text/csv"
Found = dict[str, Answer | UsageError]


def batch(call: Call) -> Response:
    asked = body.read(call.settings)
    charge(len(asked["queries"]) - 1)
    ids = [each["id"] for each in asked["queries"]]
    if len(set(ids)) < len(ids):
        raise arguments.BadArgument("two queries have the same id: give each its own", "queries")
    ranking = _ranking(call, asked.get("ranking", {}))
    found = _answers(call, asked, ranking, _filters(call, asked.get("filters", {})))
    form = asked.get("format", "json")
    if form == "json":
        return json_answer({"answers": [_as_dict(name, answer) for name, answer in found.items()]})
    answered = {name: answer for name, answer in found.items() if isinstance(answer, Answer)}
    if form == "run":
        response = downloads.as_runs(answered, asked.get("tag", downloads.TAG))
    else:
        response = downloads.as_batch({each["id"]: each["query"] for each in asked["queries"]}, answered)
    response.headers[SKIPPED] = ", ".join(name for name in found if name not in answered)
    return response


def _ranking(call: Call, data: dict[str, Any]) -> Ranking:
    with arguments.blaming("ranking"):
        made = Ranking.from_dict(data)
        if made.depth > arguments.MAX_DEPTH:
            raise UsageError(f"ranking key 'depth' is at most {arguments.MAX_DEPTH:,}, not {made.depth:,}")
        call.searcher.check_features(each.feature for each in made.features)
    return made


def _filters(call: Call, data: dict[str, Any]) -> Filters:
    """The filters of a body: those of an address, with lists for those that may be given more than once."""
    values = {name: [given] if isinstance(given, str) else given for name, given in data.items()}
    for name, given in values.items():
        for text in given:
            arguments.check_text(name, text, call.settings.value_chars)
    return arguments.filters({name: given for name, given in values.items() if given})


def _answers(call: Call, asked: dict[str, Any], ranking: Ranking, filters: Filters) -> Found:
    """By id. What is wrong with one query is its answer; what is wrong with all of them is raised."""
    now = call.searcher.snapshot()
    k = asked.get("k", call.settings.default_k)
    found: Found = {}
    for place, each in enumerate(asked["queries"]):
        field = f"queries.{place}.query"
        try:
            arguments.check_text("q", each["query"], call.settings.query_chars)
            check_terms(now, each["query"], call.settings, field)
        except UsageError as error:
            found[each["id"]] = arguments.BadArgument(str(error), field)
            continue
        records = asked.get("format") != "run"
        with arguments.blaming(None):
            found[each["id"]] = now.search(
                each["query"], k, ranking=ranking, filters=filters, records=records
            )
    return found


def _as_dict(name: str, answer: Answer | UsageError) -> dict[str, Any]:
    if isinstance(answer, UsageError):
        return {"id": name, "error": shape(problem(answer))}
    return {"id": name, **answers.answer_dict(answer)}
