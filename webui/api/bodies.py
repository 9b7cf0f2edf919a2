"""JSON bodies of requests, checked against their JSON Schemas, and what they say of ranking and filters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from flask import request
from werkzeug.exceptions import UnsupportedMediaType

from esr.errors import UsageError
from esr.ranking.ranking import Ranking
from webui.api.operation import Call
from webui.arguments.query_string import Arguments, check_text
from webui.arguments.rankings import check_signals
from webui.arguments.table import MAX_DEPTH, PAGE, Argument, rows
from webui.arguments.values import Schema
from webui.running.request_errors import RequestError, blame_argument
from webui.running.settings import Settings

_MESSAGE_CHARS = 200
RANKING: Schema = {"type": "object", "description": "as a ranking file; every key is optional"}
_APART = ("filter", "ranking")
"""The groups of arguments that are objects of their own in a body."""


def filters_schema(settings: Settings) -> Schema:
    """The JSON Schema of the filters of a body."""
    filters = _properties((row for row in PAGE.values() if row.group == "filter"), settings)
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": filters,
        "description": "as the arguments of the same names; those that may be repeated are lists",
    }


def search_schema(settings: Settings) -> Schema:
    """The JSON Schema of the body of a search."""
    return {
        "type": "object",
        "required": ["q"],
        "additionalProperties": False,
        "properties": {
            **_properties(_own_rows().values(), settings, described=True),
            "filters": filters_schema(settings),
            "ranking": RANKING,
        },
    }


def _own_rows() -> dict[str, Argument]:
    return {name: row for name, row in rows("search").items() if row.group not in _APART and name != "index"}


def _properties(of: Iterable[Argument], settings: Settings, described: bool = False) -> dict[str, Schema]:
    properties: dict[str, Schema] = {}
    for row in of:
        schema = row.type.schema(settings)
        if row.is_repeatable:
            schema = {"type": "array", "maxItems": settings.arguments, "items": schema}
        properties[row.name] = {**schema, "description": row.help} if described else schema
    return properties


def read_body(schema: Schema) -> dict[str, Any]:
    """The body of the current request, checked against its schema.

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
        mismatch = best_match(Draft202012Validator(schema).iter_errors(data))
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


def search_arguments(body: Mapping[str, Any], settings: Settings) -> Arguments:
    """The arguments of a search in its body, but for the ranking."""
    own = {name: value for name, value in body.items() if name not in ("filters", "ranking")}
    return _as_arguments({**own, **body.get("filters", {})}, settings)


def filter_arguments(body: Mapping[str, Any], settings: Settings) -> Arguments:
    """The filters of a body as arguments."""
    return _as_arguments(body.get("filters", {}), settings)


def _as_arguments(values: Mapping[str, Any], settings: Settings) -> Arguments:
    known = rows("search")
    texts = {
        name: [*map(_as_text, v)] if isinstance(v, list) else [_as_text(v)] for name, v in values.items()
    }
    given = {name: [text for text in each if text.strip()] for name, each in texts.items()}
    arguments = Arguments({name: each for name, each in given.items() if each}, settings, known)
    for name, text in arguments.pairs:
        check_text(name, text, getattr(settings, known[name].type.chars))
    return arguments


def _as_text(value: Any) -> str:
    """A value of JSON as an address has it. JSON Schema takes 3.0 for an integer."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_ranking(call: Call, body: Mapping[str, Any]) -> Ranking:
    """The ranking of a body. Raises RequestError."""
    with blame_argument("ranking"):
        ranking = Ranking.from_dict(body.get("ranking", {}))
        if ranking.depth > MAX_DEPTH:
            raise UsageError(f"ranking key 'depth' is {ranking.depth:,}: at most {MAX_DEPTH:,} is allowed")
        check_signals(ranking.rerank)
        call.searcher.check_features(feature.feature for feature in ranking.features)
    return ranking
