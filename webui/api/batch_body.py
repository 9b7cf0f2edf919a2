"""The body of a batch: its schema, which is also what it is checked by."""

from __future__ import annotations

import json
from typing import Any

from flask import request
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from werkzeug.exceptions import UnsupportedMediaType

from webui.answers.downloads import INCOMPLETE
from webui.api.operation import Schema
from webui.api.parameters import filters as known_filters
from webui.arguments.search_request import BadArgument
from webui.running.settings import Settings

SKIPPED = "X-Skipped"
"""The header that names the queries without lines in a run or in CSV, as they cannot be searched for."""
_SHOWN = 200
_WORD = "^[!-~]{1,64}$"


def schema(settings: Settings) -> Schema:
    """What a body may hold, as JSON Schema."""
    query = {
        "type": "object",
        "required": ["id", "query"],
        "additionalProperties": False,
        "properties": {
            "id": {"type": "string", "pattern": _WORD, "description": "a word that names the query"},
            "query": {"type": "string", "maxLength": settings.query_chars},
        },
    }
    filters = {
        parameter.name: {"type": "array", "maxItems": settings.arguments, "items": parameter.schema}
        if parameter.repeated
        else parameter.schema
        for parameter in known_filters(settings)
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
                "description": "the queries, each with an id of its own",
            },
            "k": {
                "type": "integer",
                "minimum": 1,
                "maximum": settings.batch_k,
                "default": settings.default_k,
                "description": "sentences for each query",
            },
            "ranking": {"type": "object", "description": "as a ranking file; every key may be left out"},
            "filters": {
                "type": "object",
                "additionalProperties": False,
                "properties": filters,
                "description": "what may be found; those that may be repeated are lists",
            },
            "format": {
                "enum": ["json", "run", "csv"],
                "default": "json",
                "description": f"of the answer; a run and CSV name in the header {SKIPPED} the queries that "
                f"could not be searched for, in {INCOMPLETE} those whose answers lack something, "
                "as the last column of CSV does",
            },
            "tag": {"type": "string", "pattern": _WORD, "default": "esr", "description": "the run's name"},
        },
    }


def read(settings: Settings) -> dict[str, Any]:
    """The body of the present request. Raises BadArgument, or what HTTP says of a wrong or large one."""
    if not request.is_json:
        raise UnsupportedMediaType("send JSON, and say so: Content-Type: application/json")
    try:
        data = json.loads(request.get_data(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadArgument("the body is not JSON", None) from error
    try:
        wrong = best_match(Draft202012Validator(schema(settings)).iter_errors(data))
    except RecursionError:
        raise BadArgument("the body is nested too deeply", None) from None
    if wrong is not None:
        field = ".".join(map(str, wrong.absolute_path)) or None
        message = wrong.message if len(wrong.message) <= _SHOWN else f"not {wrong.validator} as it should be"
        raise BadArgument(f"{field or 'the body'}: {message}", field)
    found: dict[str, Any] = data
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")
