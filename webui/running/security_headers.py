"""What every answer tells the browser: take and run nothing from elsewhere, tell nobody."""

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
FRESH = "private, no-cache"
"""An answer depends on the index of this moment, so it is asked for again."""


def install(app: Flask) -> None:
    """Add the headers to every answer of the application, errors and static files included."""

    @app.after_request
    def add(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers[name] = value
        if "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = FRESH
        return response
