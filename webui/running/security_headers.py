"""Security headers of every answer: nothing is loaded or run from elsewhere, and no address is passed on."""

from __future__ import annotations

from flask import Flask, Response

CONTENT_POLICY = "; ".join(
    [
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PAIRS = list(HEADERS.items())
NO_CACHE = "private, no-cache"
"""An answer depends on the index as it is now, so browsers must ask again."""


def install(app: Flask) -> None:
    """Add the headers to every answer of the application, errors and static files included."""

    @app.after_request
    def add(response: Response) -> Response:
        response.headers.extend(_PAIRS)  # nothing else sets these, so none has to be looked for
        if "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = NO_CACHE
        return response
