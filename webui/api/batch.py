"""`batch`: several queries at once, answered as JSON, as a TREC run or as CSV."""

from __future__ import annotations

from typing import Any

from flask import Response

from esr.engines.index import Filters
from esr.errors import UsageError
from esr.queries import literal, parse
from esr.ranking.answers import answer_dict
from esr.ranking.prepared_query import Answer
from esr.ranking.ranking import Ranking
from webui.answers import downloads
from webui.api.batch_body import read_body
from webui.api.json_response import json_response
from webui.api.operation import Call
from webui.arguments.names import MAX_DEPTH
from webui.arguments.query_check import check_query
from webui.arguments.query_string import check_text
from webui.arguments.search_request import parse_filters
from webui.running.problems import describe_error, problem_dict
from webui.running.rate_limit import count_queries
from webui.running.request_errors import RequestError, blame_argument

RUN, CSV = "text/plain", "text/csv"
AnswerOrError = Answer | UsageError


def batch(call: Call) -> Response:
    body = read_body(call.settings)
    queries: dict[str, str] = {query["id"]: query["query"] for query in body["queries"]}
    count_queries(len(body["queries"]))
    if len(queries) < len(body["queries"]):
        raise RequestError("two queries have the same id: give each its own id", "queries")
    ranking = _ranking(call, body.get("ranking", {}))
    results = _answer_queries(call, body, ranking, _filters(call, body.get("filters", {})))
    format = body.get("format", "json")
    if format == "json":
        return json_response({"answers": [_as_dict(name, result) for name, result in results.items()]})
    answers = {name: result for name, result in results.items() if isinstance(result, Answer)}
    skipped = {name: str(result) for name, result in results.items() if not isinstance(result, Answer)}
    if format == "run":
        return downloads.queries_run(answers, body.get("tag", downloads.TAG), skipped)
    return downloads.queries_csv(queries, answers, skipped)


def _ranking(call: Call, data: dict[str, Any]) -> Ranking:
    with blame_argument("ranking"):
        ranking = Ranking.from_dict(data)
        if ranking.depth > MAX_DEPTH:
            raise UsageError(f"ranking key 'depth' is {ranking.depth:,}: at most {MAX_DEPTH:,} is allowed")
        call.searcher.check_features(feature.feature for feature in ranking.features)
    return ranking


def _filters(call: Call, data: dict[str, Any]) -> Filters:
    """The filters of a body: those of an address, with lists for those that may be repeated."""
    arguments = {name: [value] if isinstance(value, str) else value for name, value in data.items()}
    for name, texts in arguments.items():
        for text in texts:
            check_text(name, text, call.settings.value_chars)
    return parse_filters({name: texts for name, texts in arguments.items() if texts})


def _answer_queries(
    call: Call, body: dict[str, Any], ranking: Ranking, filters: Filters
) -> dict[str, AnswerOrError]:
    """By id. What is wrong with one query is its answer; what is wrong with all of them is raised."""
    snapshot = call.searcher.snapshot()
    k = body.get("k", call.settings.default_k)
    has_records = body.get("format") != "run"
    read = literal if body.get("literal", False) else parse
    results: dict[str, AnswerOrError] = {}
    for number, query in enumerate(body["queries"]):
        field = f"queries.{number}.query"
        try:
            check_text("q", query["query"], call.settings.query_chars)
            parsed = read(query["query"])
            check_query(snapshot, parsed, call.settings, field)
        except UsageError as error:
            results[query["id"]] = RequestError(str(error), field)
            continue
        with blame_argument(None):
            prepared = snapshot.prepare(parsed, ranking)
            results[query["id"]] = prepared.search(k, filters, records=has_records)
    return results


def _as_dict(name: str, result: AnswerOrError) -> dict[str, Any]:
    if isinstance(result, UsageError):
        return {"id": name, "error": problem_dict(describe_error(result))}
    return {"id": name, **answer_dict(result)}
