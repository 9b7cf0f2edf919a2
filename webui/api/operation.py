"""An operation of the API as data, from which its route and its descriptions are made."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Response, current_app, request
from msgspec import Struct

from esr.ranking.searcher import Searcher
from webui.arguments.query_string import Arguments
from webui.arguments.table import Argument, expand, rows
from webui.arguments.values import Schema
from webui.running.logs import write_json
from webui.running.served_indexes import Visit
from webui.running.settings import Settings

BASE = "/api/v1"
NOT_MODIFIED = "Nothing has changed since the answer whose `ETag` the request gave as `If-None-Match`."
HEADERS = {
    "ETag": "a tag of the answer, for `If-None-Match` of a later request",
    "RateLimit-Limit": "how many requests the client may make, where there is a limit",
    "RateLimit-Remaining": "how many of them remain",
    "RateLimit-Reset": "seconds after which the oldest counts no more",
}
"""The headers of answers, beside those of errors."""
ERRORS = {
    400: "Something in the request cannot be used; `field` names it.",
    401: "The server has logins, and the request has no valid key.",
    403: "The key is not for this index, or shows only some of its documents.",
    404: "What the request names does not exist.",
    405: "The address takes another method.",
    408: "The request did not arrive in time.",
    409: "The index has changed since the page before: request the first page again.",
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
    """The input of a handler: the visit to the request's index, the settings, and the arguments."""

    visit: Visit
    settings: Settings
    arguments: Arguments

    @property
    def searcher(self) -> Searcher:
        """A searcher of the index, for which the request waits at its first use."""
        return self.visit.searcher


@dataclass(frozen=True)
class Operation:
    """An operation. Its arguments are those rows of the table that name it; `body` depends on the settings.

    `answer`: the name of a schema in `schemas.py`. `errors`: statuses of ERRORS that not all operations have.
    `other_types`: media types of answers besides JSON. `deadline`: the name of the setting that limits its
    time. `page_twin`: the address of a page with `.json` added, which gives the same answer.
    """

    name: str
    method: str
    path: str
    summary: str
    handler: Callable[[Call], Any]
    answer: str
    body: Callable[[Settings], Schema] | None = None
    errors: tuple[int, ...] = ()
    other_types: tuple[str, ...] = ()
    deadline: str = "deadline"
    page_twin: str | None = None

    @property
    def arguments(self) -> list[Argument]:
        """The arguments of its address, with each parameter of a model and each prior by itself."""
        return expand(rows(self.name).values())

    @property
    def statuses(self) -> list[int]:
        """All statuses of the operation's errors, sorted."""
        return sorted({*_COMMON, *self.errors, *((413, 415) if self.body else ())})


_TIME_TAKEN = re.compile(rb'"took_ms":[^,}]*')


def add_etag(response: Response) -> Response:
    """Add a tag of the answer, except for the time that it took. The answer is 304 if the client has it."""
    content = _TIME_TAKEN.sub(b"", response.get_data())
    response.set_etag(hashlib.blake2b(content, digest_size=16).hexdigest(), weak=True)
    if "If-None-Match" in request.headers:
        response.make_conditional(request)
    return response


def json_response(data: Any) -> Response:
    """An answer as JSON that any parser accepts, without infinity and NaN."""
    return current_app.response_class(write_json(data) + b"\n", mimetype="application/json")
