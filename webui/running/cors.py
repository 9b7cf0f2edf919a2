"""Lets pages of other sites use the API, if the settings name their origins.

Answers to these origins, including errors, have CORS headers, so that a page can read them. A page may send
its key, but never the cookie of somebody who has logged in here.
"""

from __future__ import annotations

from flask import Flask, Response, request

from esr.errors import UsageError
from webui.running.settings import Settings

_PREFIX = "/api/"
_ANY = "*"
_EXPOSED = ", ".join(
    [
        *("ETag", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"),
        *("X-Request-Id", "X-Incomplete", "X-Skipped"),
    ]
)
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match, X-Request-Id",
    "Access-Control-Max-Age": "3600",
}


def parse_origins(text: str) -> frozenset[str]:
    """The origins in a setting, separated by blanks. Raises UsageError."""
    origins = frozenset(text.split())
    for origin in origins - {_ANY}:
        scheme, _, host = origin.partition("://")
        if scheme not in ("http", "https") or not host or "/" in host:
            raise UsageError(
                f"cannot read ESR_CORS_ORIGINS {origin!r}: give origins such as https://example.org"
            )
    return origins


def install(app: Flask, settings: Settings) -> None:
    """Add the headers to answers of the API, and answer preflight requests. Raises UsageError."""
    origins = parse_origins(settings.cors_origins)
    if not origins:
        return

    def allowed() -> str | None:
        origin = request.headers.get("Origin", "")
        if not request.path.startswith(_PREFIX) or not (_ANY in origins or origin in origins):
            return None
        return _ANY if _ANY in origins else origin

    @app.before_request
    def preflight() -> Response | None:
        asks = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        return Response(status=204, headers=_PREFLIGHT) if asks and allowed() else None

    @app.after_request
    def add(response: Response) -> Response:
        if request.path.startswith(_PREFIX):
            response.vary.add("Origin")
        if origin := allowed():
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        return response
