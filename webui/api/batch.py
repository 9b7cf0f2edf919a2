"""The operation `batch`: several queries at once, answered as JSON, as a TREC run or as CSV.

The body is checked against its JSON Schema. An error in one query is the answer to that query; an error in
what all queries share rejects the batch.
"""

from __future__ import annotations

from typing import Any

from flask import Response

from esr.errors import UsageError
from esr.index.filters import Filters
from esr.query import literal, parse
from esr.ranking.answers import answer_dict
from esr.ranking.prepared_query import Answer
from esr.ranking.ranking import Ranking
from webui.answers import downloads
from webui.answers.downloads import INCOMPLETE_HEADER, SKIPPED_HEADER
from webui.api.bodies import RANKING, filter_arguments, filters_schema, read_body, read_ranking
from webui.api.operation import Call, json_response
from webui.arguments.query_string import check_text
from webui.arguments.request import check_query, parse_filters
from webui.arguments.values import Schema
from webui.running.problems import describe_error, problem_dict
from webui.running.rate_limit import count_queries
from webui.running.request_errors import RequestError, blame_argument
from webui.running.searches import record_search
from webui.running.settings import Settings

_WORD = "^[!-~]{1,64}$"


def body_schema(settings: Settings) -> Schema:
    """The JSON Schema of a body."""
    query = {
        "type": "object",
        "required": ["id", "query"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": "string", "pattern": _WORD, "description": "a word that identifies the query"},
            "query": {
                "type": "string",
                "maxLength": settings.query_chars,
                "description": "words, or the query language",
            },
        },
    }
    return {
        "type": "object",
        "required": ["queries"],
        "additionalProperties": False,
        "properties": {
            "queries": {
                "type": "array",
                "minItems": 1,
                "maxItems": settings.batch_queries,
                "items": query,
                "description": "the queries, each with its own id",
            },
            "literal": {
                "type": "boolean",
                "default": False,
                "description": "read all of each query as words, without any syntax",
            },
            "k": {
                "type": "integer",
                "minimum": 1,
                "maximum": settings.batch_k,
                "default": settings.default_k,
                "description": "sentences for each query",
            },
            "ranking": RANKING,
            "filters": filters_schema(settings),
            "format": {
                "enum": ["json", "run", "csv"],
                "default": "json",
                "description": "of the answer; of a run and of CSV, the header "
                f"{SKIPPED_HEADER} names the queries that could not be searched for, and {INCOMPLETE_HEADER} "
                "those whose answers are incomplete; the last column of CSV says what is missing",
            },
            "tag": {"type": "string", "pattern": _WORD, "default": "esr", "description": "the run's name"},
        },
    }


RUN, CSV = "text/plain", "text/csv"
AnswerOrError = Answer | UsageError


def batch(call: Call) -> Response:
    body = read_body(body_schema(call.settings))
    queries: dict[str, str] = {query["id"]: query["query"] for query in body["queries"]}
    count_queries(len(body["queries"]))
    if len(queries) < len(body["queries"]):
        raise RequestError("two queries have the same id: give each its own id", "queries")
    ranking = read_ranking(call, body)
    results = _answer_queries(call, body, ranking, parse_filters(filter_arguments(body, call.settings)))
    format = body.get("format", "json")
    if format == "json":
        return json_response({"answers": [_as_dict(name, result) for name, result in results.items()]})
    answers = {name: result for name, result in results.items() if isinstance(result, Answer)}
    skipped = {name: str(result) for name, result in results.items() if not isinstance(result, Answer)}
    if format == "run":
        return downloads.queries_run(answers, body.get("tag", downloads.TAG), skipped)
    return downloads.queries_csv(queries, answers, skipped)


def _answer_queries(
    call: Call, body: dict[str, Any], ranking: Ranking, filters: Filters
) -> dict[str, AnswerOrError]:
    """Answers by id. An error in one query is its answer; an error in all of them is raised."""
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
            results[query["id"]] = answer = prepared.search(k, filters, records=has_records)
        record_search(query["query"], answer.total)
    return results


def _as_dict(name: str, result: AnswerOrError) -> dict[str, Any]:
    if isinstance(result, UsageError):
        return {"id": name, "error": problem_dict(describe_error(result))}
    return {"id": name, **answer_dict(result)}
