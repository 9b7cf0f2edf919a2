"""An operation of the API as data, from which its route and its descriptions are made, and its JSON body.

Bodies are checked against their JSON Schemas. Their ranking and filters are converted to arguments.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from flask import Response, current_app, request
from msgspec import Struct
from werkzeug.exceptions import UnsupportedMediaType

from esr.arguments.argument import Argument
from esr.arguments.tables.dossiers import BODY
from esr.arguments.tables.rankings import MAX_DEPTH, expand
from esr.arguments.tables.table import PAGE, rows
from esr.arguments.types import Schema
from esr.dossiers.records import check_storable
from esr.errors import UsageError
from esr.ranking.ranking import DEFAULT, Ranking
from esr.ranking.searcher import Searcher
from esr.stdlib import import_lazily
from webui.arguments.rankings import check_signals
from webui.arguments.request import Arguments, check_text, rename_former
from webui.running.logs import write_json
from webui.running.problems import RequestError, blame_argument
from webui.running.served_desk import ServedDesk
from webui.running.served_indexes import Visit
from webui.running.settings import Settings

if TYPE_CHECKING:
    import jsonschema
    from jsonschema import exceptions as schema_errors
else:
    # With its optional formats, it takes longer to import than all else in a server.
    jsonschema = import_lazily("jsonschema")
    schema_errors = import_lazily("jsonschema.exceptions")

BASE = "/api/v1"
NOT_MODIFIED = "Nothing has changed since the answer whose `ETag` the request gave as `If-None-Match`."
HEADERS = {
    "ETag": "a tag of the answer, for `If-None-Match` of a later request",
    "RateLimit-Limit": "how many requests the client may make, where there is a limit",
    "RateLimit-Remaining": "how many of them remain",
    "RateLimit-Reset": "seconds after which the oldest counts no more",
}
"""The headers of answers, in addition to those of errors."""
ERRORS = {
    400: "Something in the request cannot be used; `field` names it.",
    401: "The server has logins, and the request has no valid key.",
    403: "The key is not for this index, or shows only some of its documents.",
    404: "What the request names does not exist.",
    405: "The address takes another method.",
    408: "The request did not arrive in time.",
    409: "The index has changed since the page before, or somebody else has changed the same value.",
    413: "The body is too large.",
    414: "The address is too long.",
    415: "The body is not JSON, or its content type is not.",
    429: "Too many requests came from this client; `Retry-After` says when to try again.",
    500: "The server failed; its log has the error.",
    503: "The engine does not respond, is overloaded or has no index; try again after `Retry-After`.",
}
"""The statuses of errors and their meanings."""
_COMMON = (400, 401, 403, 405, 408, 414, 429, 500, 503)


class Call(Struct, frozen=True):
    """The input of a handler: the visit to the request's index, the settings, the arguments and the desk."""

    visit: Visit
    settings: Settings
    arguments: Arguments
    desk: ServedDesk

    @property
    def searcher(self) -> Searcher:
        """A searcher of the index. Its first use waits for a slot."""
        return self.visit.searcher


@dataclass(frozen=True)
class Operation:
    """An operation. Its arguments are the rows of the table that name it; `body` depends on the settings.

    `handler`: the function that answers, whose docstring describes the operation. `answer`: the name of a
    schema of answers. `path`: its address below that of the API, by default its name. `errors`: statuses
    of ERRORS that not all operations have. `other_types`: media types of answers besides JSON. `deadline`:
    the name of the setting that limits its time. `has_twin`: whether the page of the same name with `.json`
    added returns the same answer. An operation of a plug-in has its own rows, and the schema of its answer.
    """

    name: str
    handler: Callable[[Call], Any]
    answer: str
    method: str = "GET"
    path: str = ""
    body: Callable[[Settings], Schema] | None = None
    errors: tuple[int, ...] = ()
    other_types: tuple[str, ...] = ()
    deadline: str = "deadline"
    has_twin: bool = False
    own_rows: Mapping[str, Argument] | None = None
    schema: Schema | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", self.path or f"/{self.name}")

    @property
    def summary(self) -> str:
        """A one-sentence description, from the docstring of the handler."""
        return self.handler.__doc__ or ""

    @property
    def arguments(self) -> list[Argument]:
        """The arguments of its address, with a row for each model parameter and each prior."""
        return expand(self.rows.values())

    @property
    def rows(self) -> Mapping[str, Argument]:
        """The rows of the arguments of its address, by name."""
        return rows(self.name) if self.own_rows is None else self.own_rows

    @property
    def statuses(self) -> list[int]:
        """All statuses of the operation's errors, sorted."""
        return sorted({*_COMMON, *self.errors, *((413, 415) if self.body else ())})


_TIME_TAKEN = re.compile(rb'"took_ms":[^,}]*')


def add_etag(response: Response) -> Response:
    """Add an ETag, which ignores the time taken. The answer is 304 if the client already has it."""
    content = _TIME_TAKEN.sub(b"", response.get_data())
    response.set_etag(hashlib.blake2b(content, digest_size=16).hexdigest(), weak=True)
    if "If-None-Match" in request.headers:
        response.make_conditional(request)
    return response


def json_response(data: Any) -> Response:
    """An answer as strict JSON, without infinity and NaN."""
    return current_app.response_class(write_json(data) + b"\n", mimetype="application/json")


# Bodies

_MESSAGE_CHARS = 200
RANKING: Schema = {"type": "object", "description": "as a ranking file; every key is optional"}
_APART = ("filter", "ranking")
"""The groups of arguments that are separate objects in a body."""


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
        for alias in row.aliases:
            properties[alias.name] = alias.schema(row.type, settings)
        if row.is_repeatable:
            schema = {"type": "array", "maxItems": settings.arguments, "items": schema}
        properties[row.name] = {**schema, "description": row.help} if described else schema
    return properties


def body_schema(operation: str) -> Callable[[Settings], Schema]:
    """The JSON Schema of the body of an operation, whose rows apply to its name after `BODY`."""

    def make(settings: Settings) -> Schema:
        body = rows(f"{BODY}{operation}")
        return {
            "type": "object",
            "required": [row.name for row in body.values() if row.is_required],
            "additionalProperties": False,
            "properties": _properties(body.values(), settings, described=True),
        }

    return make


def read_body(schema: Schema) -> dict[str, Any]:
    """The body of the current request, checked against its schema.

    Raises RequestError, or an HTTPException for another content type or a body that is too large.
    """
    if not request.is_json:
        raise UnsupportedMediaType("send JSON with the header Content-Type: application/json")
    try:
        data = json.loads(request.get_data(), parse_constant=_reject_constant, parse_float=_read_float)
    except (ValueError, RecursionError) as error:
        raise RequestError("the body is not valid JSON", None) from error

    try:
        mismatch = schema_errors.best_match(_validator()(schema).iter_errors(data))
    except RecursionError:
        raise RequestError("the body is nested too deeply", None) from None
    if mismatch is not None:
        field = ".".join(map(str, mismatch.absolute_path)) or None
        message = mismatch.message
        if len(message) > _MESSAGE_CHARS:
            message = _describe_mismatch(str(mismatch.validator), mismatch.validator_value)
        raise RequestError(f"argument {field!r}: {message}" if field else f"the body: {message}", field)
    body: dict[str, Any] = data
    return body


@cache
def _validator() -> Any:
    """The class that checks bodies. At the end of a pattern, the `$` of Python also allows a line end."""
    extend: Callable[..., Any] = jsonschema.validators.extend
    return extend(jsonschema.Draft202012Validator, {"pattern": _check_pattern})


def _check_pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    strict = re.sub(r"\$\Z", r"\\Z", pattern)
    if isinstance(value, str) and not re.search(strict, value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


def read_stored_body(call: Call, operation: str) -> dict[str, Any]:
    """The body of an operation that changes the desk, after its sender was checked.

    Raises as `read_body`, for senders without dossiers, and RequestError for texts that no database stores.
    """
    call.desk.person  # noqa: B018 - raises for those who have no dossiers
    body = read_body(body_schema(operation)(call.settings))
    with blame_argument(None):
        check_storable("body", body)
    return body


_LIMITS = {
    "maxLength": "has more than {:,} characters",
    "minLength": "has fewer than {:,} characters",
    "maxItems": "has more than {:,} items",
    "minItems": "has fewer than {:,} items",
    "maximum": "is greater than {:,}",
    "minimum": "is less than {:,}",
    "type": "is not of type {}",
    "required": "lacks one of {}",
}
"""What is wrong with a value, by the key of the schema that it violates, with the key's own value."""


def _describe_mismatch(key: str, limit: Any) -> str:
    """What is wrong with a value that is too long to be shown, with the limit that it exceeds."""
    if key in _LIMITS:
        text = (
            limit
            if isinstance(limit, int | float)
            else ", ".join(map(str, [limit] * isinstance(limit, str) or limit))
        )
        return _LIMITS[key].format(text)
    return f"does not satisfy {key!r} of the schema"


def _reject_constant(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")


def _read_float(text: str) -> float:
    """A number with a point or an exponent. JSON Schema accepts 3.0 as an integer, so it becomes 3."""
    number = float(text)
    return int(number) if number.is_integer() else number


def search_arguments(body: Mapping[str, Any], settings: Settings) -> Arguments:
    """The arguments of a search in its body, except the ranking."""
    search_fields = {name: value for name, value in body.items() if name not in ("filters", "ranking")}
    for row in _own_rows().values():
        for alias in row.aliases:
            if alias.fits and alias.name in search_fields:
                search_fields.setdefault(row.name, search_fields.pop(alias.name))
    return _as_arguments({**search_fields, **body.get("filters", {})}, settings)


def filter_arguments(body: Mapping[str, Any], settings: Settings) -> Arguments:
    """The filters of a body as arguments."""
    return _as_arguments(body.get("filters", {}), settings)


def _as_arguments(values: Mapping[str, Any], settings: Settings) -> Arguments:
    known = rows("search")
    texts = {name: [*map(str, v)] if isinstance(v, list) else [str(v)] for name, v in values.items()}
    pairs = [(name, text) for name, texts_of_name in texts.items() for text in texts_of_name if text.strip()]
    arguments: dict[str, list[str]] = {}
    for name, text in rename_former(pairs, settings, known):
        check_text(name, text, getattr(settings, known[name].type.chars))
        arguments.setdefault(name, []).append(text)
    return Arguments(arguments, settings, known)


def read_ranking(call: Call, body: Mapping[str, Any]) -> Ranking:
    """The ranking of a body. Raises RequestError."""
    with blame_argument("ranking"):
        ranking = Ranking.from_dict(body["ranking"]) if body.get("ranking") else DEFAULT
        if ranking.depth > MAX_DEPTH:
            raise UsageError(f"ranking key 'depth' is {ranking.depth:,}: at most {MAX_DEPTH:,} is allowed")
        check_signals(ranking.rerank)
        call.searcher.check_features(feature.feature for feature in ranking.features)
    return ranking
