"""The body of a batch: its schema, and how it is checked against it."""

from __future__ import annotations

import json
from typing import Any

from flask import request
from werkzeug.exceptions import UnsupportedMediaType

from webui.answers.downloads import INCOMPLETE_HEADER, SKIPPED_HEADER
from webui.api.operation import Schema
from webui.api.parameters import filter_parameters
from webui.running.request_errors import RequestError
from webui.running.settings import Settings

_MESSAGE_CHARS = 200
_WORD = "^[!-~]{1,64}$"


def body_schema(settings: Settings) -> Schema:
    """What a body may hold, as JSON Schema."""
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
    filters = {
        parameter.name: {"type": "array", "maxItems": settings.arguments, "items": parameter.schema}
        if parameter.is_repeatable
        else parameter.schema
        for parameter in filter_parameters(settings)
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
    """The body of the current request. Raises RequestError, or an HTTP error where it is too large."""
    if not request.is_json:
        raise UnsupportedMediaType("send JSON with the header Content-Type: application/json")
    try:
        data = json.loads(request.get_data(), parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise RequestError("the body is not valid JSON", None) from error
    # With its optional formats, it takes longer to import than the rest of a server.
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
