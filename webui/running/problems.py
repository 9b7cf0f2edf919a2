"""Errors of requests, and errors as answers: a page for people, problem details in JSON for programs.

Answers contain no internals of an engine; the log has the details of server errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from flask import Flask, Response, current_app, jsonify, request
from werkzeug.exceptions import ClientDisconnected, HTTPException

from esr.dossiers.records import DeskUnusable
from esr.errors import (
    EngineUnreachable,
    EsrError,
    IndexMissing,
    IndexUnusable,
    NotFound,
    NotVisible,
    UsageError,
)
from webui.running.gate import Busy
from webui.translations.language import N_, as_sentence


class RequestError(UsageError):
    """An error in a request. `field`: the argument at fault, or None if it is not a single one."""

    status, code, title = 400, "bad_input", N_("This search cannot be run")

    def __init__(self, message: str, field: str | None) -> None:
        super().__init__(message)
        self.field = field


class UnknownId(RequestError):
    """An id of something that does not exist."""

    status, code, title = 404, "not_found", N_("Not found")


class Unauthorized(RequestError):
    """The sender of the request is unknown, and only known senders may search."""

    status, code, title = 401, "unauthorized", N_("Log in first")


class Forbidden(RequestError):
    """The sender of the request may not see what it asks for."""

    status, code, title = 403, "forbidden", N_("This is not for you")


class TooManyFiles(RequestError):
    """A client asks for more files at a time than it may."""

    status, code, title = 429, "too_many_requests", N_("Too many files at a time")


class NoSpace(EsrError):
    """There is no space on disk for a file."""


class IndexChanged(RequestError):
    """The index has changed since the page that a request continues."""

    status, code = 409, "index_changed"


@contextmanager
def look_up(kind: str, id: str) -> Iterator[None]:
    """Convert a NotFound to an UnknownId. `kind` is the kind of thing: a sentence or a document."""
    try:
        yield
    except NotFound as error:
        raise UnknownId(f"there is no {kind} {id!r}", "id") from error


@contextmanager
def blame_argument(field: str | None) -> Iterator[None]:
    """Convert a UsageError to a RequestError of this argument, with options named as arguments."""
    try:
        yield
    except RequestError:
        raise
    except UsageError as error:
        message = re.sub(r"--(?=context|feature|boost|rerank)", "", str(error))
        message = message.replace("--query-language", "query_language")
        raise RequestError(message, field) from error


RETRY_SECONDS = "5"
"""The Retry-After header of an answer with status 503."""


@dataclass(frozen=True)
class Problem:
    """An error as clients see it, without internals of an engine."""

    status: int
    code: str
    title: str
    message: str
    field: str | None = None

    @property
    def is_of_setting(self) -> bool:
        """Whether a setting of the form is wrong, and not the query or an id."""
        return self.field not in (None, "q", "id")


_UNAVAILABLE: Mapping[type[Exception], tuple[str, str, str]] = {
    Busy: (
        "busy",
        N_("The server is busy"),
        N_("Too many searches are running. Try again in a few seconds."),
    ),
    NoSpace: (
        "no_space",
        N_("There is no space for the file"),
        N_("The server has no space to make this file. CSV and JSON Lines need none: ask for one of them."),
    ),
    DeskUnusable: (
        "desk_unusable",
        N_("The dossiers cannot be reached"),
        N_("The dossiers cannot be read or written now, and nothing was changed. Try again in a moment."),
    ),
    EngineUnreachable: (
        "engine_unreachable",
        N_("The search engine is not responding"),
        N_("The search engine gave no answer in time. Try again in a moment."),
    ),
    IndexMissing: (
        "index_missing",
        N_("The index does not exist"),
        N_("There is no index to search. It may still be loading: try again later."),
    ),
    IndexUnusable: (
        "index_unusable",
        N_("The index cannot be used"),
        N_("The index cannot be read. Ask whoever runs this server to look into it."),
    ),
}
"""Code, title and message of the errors that a later retry may not meet."""
_HTTP_ERRORS: Mapping[int, tuple[str, str, str]] = {
    404: ("not_found", N_("Page not found"), N_("There is nothing at this address.")),
    405: ("method_not_allowed", N_("Method not allowed"), "{description}"),
    408: (
        "timeout",
        N_("The request did not arrive in time"),
        N_("The request did not arrive in time: send all of it at once."),
    ),
    413: ("too_large", N_("The request is too large"), N_("The request is too large: send less.")),
    415: ("unsupported", N_("Unsupported content type"), "{description}"),
    429: ("too_many_requests", N_("Too many requests"), N_("Too many requests: wait a moment, then retry.")),
}
"""Code, title and message by HTTP status. Other statuses are a bad request."""


def describe_error(error: Exception) -> Problem:
    """The problem to report to clients for an error."""
    match error:
        case RequestError():
            return Problem(error.status, error.code, error.title, as_sentence(str(error)), error.field)
        case NotVisible():
            return Problem(Forbidden.status, Forbidden.code, Forbidden.title, as_sentence(str(error)))
        case UsageError():
            return Problem(400, "bad_input", RequestError.title, as_sentence(str(error)))
        case HTTPException(code=int(code)) if 400 <= code < 500:
            return _describe_http_error(error, 408 if isinstance(error, ClientDisconnected) else code)
    message = next((message for kind, message in _UNAVAILABLE.items() if isinstance(error, kind)), None)
    if message:
        return Problem(503, *message)
    return Problem(
        500,
        "internal",
        N_("Something went wrong"),
        N_("The server failed. The error is in the server's log."),
    )


def _describe_http_error(error: HTTPException, status: int) -> Problem:
    code, title, message = _HTTP_ERRORS.get(status, ("bad_request", N_("Bad request"), "{description}"))
    description: object = error.description
    if status == 405:
        others = ", ".join(sorted(getattr(error, "valid_methods", None) or ["GET", "HEAD"]))
        description = UsageError(f"this address does not take {request.method}: use {others}")
    return Problem(status, code, title, message.format(description=as_sentence(str(description))))


def wants_json() -> bool:
    """Whether an error is sent as JSON: in the API, and for files and posts if the client takes no HTML."""
    if request.path.endswith((".json", ".jsonl")) or request.path.startswith("/api/"):
        return True
    accepted = request.headers.get("Accept", "")
    return (is_file() or (request.method == "POST" and bool(accepted))) and "text/html" not in accepted


def is_file() -> bool:
    """Whether the request is for a file, for which no page answers."""
    return "." in request.path.rpartition("/")[2]


def install(app: Flask, error_page: Callable[[Problem], Response], redact: Callable[[str], str]) -> None:
    """Answer every error of the application. `redact` removes from a message what clients must not see."""
    from webui.running import telemetry  # imports the metrics library, which the server imports last

    @app.errorhandler(Exception)
    def answer(error: Exception) -> Response:
        problem = describe_error(error)
        problem = replace(problem, message=as_sentence(redact(problem.message)))
        telemetry.ERRORS.labels(problem.code).inc()
        if problem.status >= 500:
            _log(error, problem)
        if wants_json():
            response = problem_response(problem)
        elif is_file():
            response = Response(f"{problem.message}\n", mimetype="text/plain")
        else:
            response = error_page(problem)
        response.status_code = problem.status
        if isinstance(error, HTTPException):
            for name, value in error.get_headers():
                if name.lower() in ("allow", "retry-after"):
                    response.headers[name] = value
        if problem.status == 503 or isinstance(error, TooManyFiles):
            response.headers["Retry-After"] = RETRY_SECONDS
        return response


def problem_response(problem: Problem) -> Response:
    return jsonify({"error": problem_dict(problem)})


def problem_dict(problem: Problem) -> dict[str, str | None]:
    """A problem as JSON data."""
    return {"code": problem.code, "message": problem.message, "field": problem.field}


def _log(error: Exception, problem: Problem) -> None:
    if problem.status == 503:
        reason = error.__cause__ if isinstance(error, RequestError) and error.__cause__ else error
        current_app.logger.error("%s: %s", problem.code, reason)
    else:
        current_app.logger.error("%s %s failed", request.method, request.path, exc_info=error)
