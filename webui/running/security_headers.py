"""Security headers of every answer: nothing is loaded or run from elsewhere, and no address is passed on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from flask import Flask

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

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
_NO_CACHE = ("Cache-Control", "private, no-cache")
"""An answer depends on the index as it is now, so browsers must ask again."""


def install(app: Flask) -> None:
    """Add the headers to every answer of the application, errors and static files included.

    They are added to the finished list: as headers of a response, they would be checked and copied twice.
    """
    inner = app.wsgi_app

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Callable[[bytes], object]:
            is_cached = any(name.lower() == "cache-control" for name, _ in headers)
            return start_response(status, headers + _PAIRS + ([] if is_cached else [_NO_CACHE]), *error)

        return inner(environ, start)

    app.wsgi_app = answer  # type: ignore[method-assign]
