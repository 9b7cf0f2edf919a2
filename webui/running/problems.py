"""What went wrong, as an answer: a page for people, one JSON shape for programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from flask import Flask, Response, current_app, jsonify, request
from werkzeug.exceptions import HTTPException

from esr.errors import EngineUnreachable, IndexMissing, IndexUnusable, UsageError
from webui.arguments.search_request import BadArgument
from webui.running import metrics
from webui.running.gate import Busy


@dataclass(frozen=True)
class Problem:
    """An error as it is told: nothing in it comes from the inside of the engine."""

    status: int
    code: str
    title: str
    message: str
    field: str | None = None


def problem(error: Exception) -> Problem:
    """What to tell about an error."""
    match error:
        case BadArgument():
            title = "This cannot be searched for"
            return Problem(error.status, error.code, title, sentence(str(error)), error.field)
        case UsageError():
            return Problem(400, "bad_input", "This cannot be searched for", sentence(str(error)))
        case Busy():
            return Problem(
                503, "busy", "Too many people search at this moment", "Try again in a few seconds."
            )
        case EngineUnreachable():
            return Problem(
                503, "engine_unreachable", "The search engine does not answer", "It may be back in a moment."
            )
        case IndexMissing():
            return Problem(
                503, "index_missing", "The index is not there", "It may be loading. Try again in a while."
            )
        case IndexUnusable():
            return Problem(
                503, "index_unusable", "The index cannot be used", "Whoever runs this page has to look at it."
            )
        case HTTPException(code=404):
            return Problem(404, "not_found", "There is no such page", "The address leads nowhere here.")
        case HTTPException(code=429):
            return Problem(
                429, "too_many_requests", "Too many requests came from here", "Wait a little, then try again."
            )
        case HTTPException(code=413):
            return Problem(413, "too_large", "The request is too large", "Send less at a time.")
        case HTTPException(code=405) if wants_json():
            allowed = " or ".join(sorted(getattr(error, "valid_methods", None) or ()))
            return Problem(405, "method_not_allowed", "Not this method", f"Ask for it with {allowed}.")
        case HTTPException(code=405):
            return Problem(
                405, "method_not_allowed", "This page can only be read", "Ask for it with GET or HEAD."
            )
        case HTTPException(code=415):
            return Problem(415, "unsupported", "This kind of body is not read", str(error.description))
        case HTTPException(code=int(code)) if 400 <= code < 500:
            return Problem(code, "bad_request", "This request cannot be answered", str(error.description))
    return Problem(500, "internal", "Something went wrong here", "It has been written to the log.")


def sentence(message: str) -> str:
    """A message of the library as a sentence of the page."""
    return message[:1].upper() + message[1:] + ("" if message.endswith((".", "!", "?")) else ".")


def wants_json() -> bool:
    """Whether the address is one for programs."""
    return request.path.endswith(".json") or request.path.startswith("/api/")


def install(app: Flask, page: Callable[[Problem], Response], hide: Callable[[str], str]) -> None:
    """Answer every error of the application, `page` being how one looks to people.

    `hide` takes out of a message what nobody outside should see.
    """

    @app.errorhandler(Exception)
    def answer(error: Exception) -> Response:
        told = problem(error)
        told = replace(told, message=hide(told.message))
        metrics.ERRORS.labels(told.code).inc()
        if told.status >= 500:
            _log(error, told)
        response = as_json(told) if wants_json() else page(told)
        response.status_code = told.status
        if isinstance(error, HTTPException):
            for name, value in error.get_headers():
                if name.lower() in ("allow", "retry-after"):
                    response.headers[name] = value
        if told.status == 503:
            response.headers["Retry-After"] = "5"
        return response


def as_json(told: Problem) -> Response:
    return jsonify({"error": shape(told)})


def shape(told: Problem) -> dict[str, str | None]:
    """An error as programs get it."""
    return {"code": told.code, "message": told.message, "field": told.field}


def _log(error: Exception, told: Problem) -> None:
    if told.status == 503:
        current_app.logger.error("%s: %s", told.code, error)
    else:
        current_app.logger.error("%s %s failed", request.method, request.path, exc_info=error)
