"""Servers on this machine: any in a thread, and a web site that may misbehave."""

from __future__ import annotations

import gzip
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any, TypeVar

Web = TypeVar("Web", bound=BaseServer)


@contextmanager
def serving(server: Web) -> Iterator[Web]:
    """The server, which answers in a thread of its own until the end."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


Page = Callable[[Any], None]
"""Answers a request with the handler of http.server."""


def answer(body: str | bytes = b"", status: int = 200, kind: str = "text/html", **headers: str) -> Page:
    """An answer; underscores in the names of headers stand for hyphens."""
    data = body.encode() if isinstance(body, str) else body

    def send(handler: Any) -> None:
        handler.send_response(status)
        for name, value in {"content_type": kind, "content_length": str(len(data)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return send


def validated(body: str, etag: str, kind: str = "text/html") -> Page:
    """An answer with this ETag; 304 to those who know it."""

    def send(handler: Any) -> None:
        if handler.headers["If-None-Match"] == etag:
            answer(status=304)(handler)
        else:
            answer(body, kind=kind, etag=etag)(handler)

    return send


def in_turn(*pages: Page) -> Page:
    """Each request gets the next answer, the last one again and again."""
    left = [*pages]
    return lambda handler: (left.pop(0) if len(left) > 1 else left[0])(handler)


def endless(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    while True:
        handler.wfile.write(b"<p>more " * 2**13)


def dripping(handler: Any) -> None:
    """A header that goes on, a byte at a time."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    while not handler.server.is_closed.wait(0.05):
        handler.wfile.write(b"x")


def dripping_body(handler: Any) -> None:
    """A body without a length that goes on, a byte at a time."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    while not handler.server.is_closed.wait(0.05):
        handler.wfile.write(b"x")


def bomb(handler: Any) -> None:
    """64 MiB in 64 KiB of gzip."""
    answer(gzip.compress(bytes(2**26), 9), content_encoding="gzip")(handler)


def article(text: str, title: str = "A storm passes") -> str:
    """A page of an article of some sentences."""
    return (
        f"<html lang='en'><head><title>{title}</title></head><body><nav>Home Sports</nav><article>"
        f"<h1>{title}</h1><p>{text} It blew over the roofs of the town all night and took some with it.</p>"
        "<p>Nobody was hurt, said the mayor on Monday, and the school opens again this week.</p>"
        "</article></body></html>"
    )


def rss(*links: str, title: str = "News") -> str:
    items = "".join(f"<item><title>{title}</title><link>{link}</link></item>" for link in links)
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>{title}</title>{items}</channel></rss>'


class Site:
    """`pages` by path; `requests` are paths in order, with their headers in `headers`."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.port = server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.pages: dict[str, Page] = {"/robots.txt": answer(status=404)}
        self.requests: list[str] = []
        self.headers: list[dict[str, str]] = []

    def put_feed(self, *names: str, path: str = "/feed") -> None:
        """Put a feed of these articles, with their pages."""
        self.pages[path] = answer(rss(*names), kind="application/rss+xml")
        for name in names:
            self.pages.setdefault(f"/{name}", answer(article(f"{name} came.")))


@contextmanager
def serve_site(context: ssl.SSLContext | None = None) -> Iterator[Site]:
    """A site that listens on all loopback addresses, with TLS in this context."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(self.path)
            site.headers.append(dict(self.headers))
            with suppress(OSError):  # whoever asked has left
                site.pages.get(self.path, answer(status=404))(self)

        def log_message(self, *_: object) -> None:
            pass

    with serving(ThreadingHTTPServer(("", 0), Handler)) as server:
        server.daemon_threads = True
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        server.is_closed = threading.Event()  # type: ignore[attr-defined]
        site = Site(server)
        yield site
        server.is_closed.set()  # type: ignore[attr-defined]
