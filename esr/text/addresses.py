"""Addresses of documents, which come from foreign files and may be unsafe."""

from __future__ import annotations

from urllib.parse import urlsplit


def web_url(url: str | None) -> str | None:
    """The URL if its scheme is http or https and it names a host, else None.

    Whoever shows, cites or exports the URL of a document takes it from here: as a link, `javascript:` would
    run a program. Characters that cannot be printed, such as marks of direction, would disguise a URL.
    """
    if not url or any(c.isspace() or not c.isprintable() for c in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None
