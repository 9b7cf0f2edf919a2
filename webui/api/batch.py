"""The operation `batch`: several queries at once, answered as JSON, as a TREC run or as CSV.

The body is checked against its JSON Schema. An error in one query is the answer to that query; an error in
what all queries share rejects the batch.
"""

from __future__ import annotations

import json
from typing import Any

from flask import Response, request
from werkzeug.exceptions import UnsupportedMediaType

from esr.errors import UsageError
from esr.index.filters import Filters
from esr.query import literal, parse
from esr.ranking.answers import answer_dict
from esr.ranking.prepared_query import Answer
from esr.ranking.ranking import Ranking
from webui.answers import downloads
from webui.answers.downloads import INCOMPLETE_HEADER, SKIPPED_HEADER
from webui.api.operation import Call, json_response
from webui.arguments.query_string import Arguments, check_text
from webui.arguments.request import check_query, parse_filters
from webui.arguments.table import MAX_DEPTH, PAGE, Schema
from webui.running.problems import describe_error, problem_dict
from webui.running.rate_limit import count_queries
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings

_MESSAGE_CHARS = 200
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
    filters = {}
    for row in (row for row in PAGE.values() if row.group == "filter"):
        schema = row.type.schema(settings)
        is_list = row.is_repeatable
        filters[row.name] = (
            {"type": "array", "maxItems": settings.arguments, "items": schema} if is_list else schema
        )
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
            "ranking": {"type": "object", "description": "as a ranking file; every key is optional"},
            "filters": {
                "type": "object",
                "additionalProperties": False,
                "properties": filters,
                "description": "as the arguments of the same names; those that may be repeated are lists",
            },
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


def read_body(settings: Settings) -> dict[str, Any]:
    """The body of the current request, checked against the schema.

    Raises RequestError, or an HTTPException for another content type or a body that is too large.
    """
    if not request.is_json:
        raise UnsupportedMediaType("send JSON with the header Content-Type: application/json")
    try:
        data = json.loads(request.get_data(), parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise RequestError("the body is not valid JSON", None) from error
    # Imported late: with its optional formats, jsonschema takes longer to import than the rest of a server.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    try:
        mismatch = best_match(Draft202012Validator(body_schema(settings)).iter_errors(data))
    except RecursionError:
        raise RequestError("the body is nested too deeply", None) from None
    if mismatch is not None:
        field = ".".join(map(str, mismatch.absolute_path)) or None
        message = mismatch.message
        if len(message) > _MESSAGE_CHARS:
            message = f"does not satisfy {mismatch.validator!r} of the schema"
        raise RequestError(f"{field or 'the body'}: {message}", field)
    body: dict[str, Any] = data
    return body


def _reject_constant(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")


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
    """The filters of a body: those of an address, with lists for repeatable arguments."""
    texts = {name: [value] if isinstance(value, str) else value for name, value in data.items()}
    arguments = Arguments({name: values for name, values in texts.items() if values}, call.settings, PAGE)
    for name, text in arguments.pairs:
        check_text(name, text, call.settings.value_chars)
    return parse_filters(arguments)


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
            results[query["id"]] = prepared.search(k, filters, records=has_records)
    return results


def _as_dict(name: str, result: AnswerOrError) -> dict[str, Any]:
    if isinstance(result, UsageError):
        return {"id": name, "error": problem_dict(describe_error(result))}
    return {"id": name, **answer_dict(result)}
