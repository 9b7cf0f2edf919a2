"""What went wrong, as an answer: a page for people, one JSON shape for programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flask import Flask, Response, current_app, jsonify, request
from werkzeug.exceptions import HTTPException

from esr.errors import EngineUnreachable, IndexMissing, IndexUnusable, UsageError
from webui.arguments import BadArgument


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
        case UsageError():
            field = error.field if isinstance(error, BadArgument) else None
            return Problem(400, "bad_input", "This cannot be searched for", sentence(str(error)), field)
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
        case HTTPException(code=405):
            return Problem(
                405, "method_not_allowed", "This page can only be read", "Ask for it with GET or HEAD."
            )
        case HTTPException(code=int(code)) if 400 <= code < 500:
            return Problem(code, "bad_request", "This request cannot be answered", str(error.description))
    return Problem(500, "internal", "Something went wrong here", "It has been written to the log.")


def sentence(message: str) -> str:
    """A message of the library as a sentence of the page."""
    return message[:1].upper() + message[1:] + ("" if message.endswith((".", "!", "?")) else ".")


def wants_json() -> bool:
    """Whether the address is that of a program's twin of a page."""
    return request.path.endswith(".json")


def install(app: Flask, page: Callable[[Problem], Response]) -> None:
    """Answer every error of the application, `page` being how one looks to people."""

    @app.errorhandler(Exception)
    def answer(error: Exception) -> Response:
        told = problem(error)
        if told.status >= 500:
            _log(error, told)
        response = as_json(told) if wants_json() else page(told)
        response.status_code = told.status
        if isinstance(error, HTTPException):
            for name, value in error.get_headers():
                if name.lower() == "allow":
                    response.headers[name] = value
        if told.status == 503:
            response.headers["Retry-After"] = "5"
        return response


def as_json(told: Problem) -> Response:
    return jsonify({"error": {"code": told.code, "message": told.message, "field": told.field}})


def _log(error: Exception, told: Problem) -> None:
    if told.status == 503:
        current_app.logger.error("%s: %s", told.code, error)
    else:
        current_app.logger.error("%s %s failed", request.method, request.path, exc_info=error)
