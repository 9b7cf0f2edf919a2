"""Servers on this machine: any in a thread, a web site that may misbehave, and a server of models."""

from __future__ import annotations

import gzip
import hashlib
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseServer
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from esr.encoders import CrossEncoder, loaded_models

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


# A server of models. It speaks the API of the Hugging Face hub, as `huggingface_hub` calls it, and answers as
# servers of embeddings (OpenAI) and rerankers (text-embeddings-inference, /rerank, and Cohere, /v1/rerank).

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class ModelServer(ThreadingHTTPServer):
    """Serves one repository of the hub, and collects the requests: their method and path.

    As a server of models, it encodes by `encode` and scores by `score`, or always gives `answer`. It first
    answers `failures` times with 503, and waits before each answer as long as the next of `delays` says.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repository = "example/tiny"
        self.folder = Path("/nowhere")
        self.commit = COMMIT
        self.token: str | None = None
        self.calls: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.encode: Callable[[str], Any] = lambda text: np.zeros(16)
        self.score: Callable[[str, str], float] = lambda query, text: 0.0
        self.failures = 0
        self.answer: Any = None
        self.delays: list[float] = []

    def handle_error(self, *args: object) -> None:
        """Say nothing of a client that has gone."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        hub, body = self.server, json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        hub.calls.append((self.command, self.path))
        hub.bodies.append(body)
        time.sleep(hub.delays.pop(0) if hub.delays else 0.0)
        if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
            self._send(401, b"who are you", {})
        elif hub.failures:
            hub.failures -= 1
            self._send(503, b"busy", {})
        elif hub.answer is not None:
            self._send_json(hub.answer)
        elif self.path == "/v1/embeddings":
            vectors = [hub.encode(text) for text in body["input"]]
            rows = [{"index": n, "embedding": [float(x) for x in v]} for n, v in enumerate(vectors)]
            self._send_json({"data": rows[::-1]})
        elif self.path == "/rerank":
            assert body["raw_scores"]
            scores = [hub.score(body["query"], text) for text in body["texts"]]
            self._send_json([{"index": n, "score": score} for n, score in enumerate(scores)][::-1])
        else:
            scores = [hub.score(body["query"], text) for text in body["documents"]]
            rows = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
            self._send_json({"results": rows[::-1]})

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        hub, path = self.server, unquote(urlsplit(self.path).path)
        hub.calls.append((self.command, path))
        info, files = f"/api/models/{hub.repository}", f"/{hub.repository}/resolve/"
        if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
            self._send(401, b"", {"X-Error-Code": "GatedRepo", "X-Error-Message": "log in"})
        elif path.startswith(f"{info}/revision/") or path == info:
            revision = path.rpartition("/")[2]
            if revision not in ("main", "tiny", hub.commit):
                self._send(404, b"", {"X-Error-Code": "RevisionNotFound"})
            else:
                self._send_json({"id": hub.repository, "sha": hub.commit, "siblings": []})
        elif path.startswith(f"{info}/tree/"):
            paths = sorted(path for path in hub.folder.rglob("*") if path.is_file())
            self._send_json([self._entry(path) for path in paths])
        elif path.startswith(files):
            content = (hub.folder / path.removeprefix(files).partition("/")[2]).read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()}"'
            self._send(200, content, {"ETag": etag, "X-Repo-Commit": hub.commit})
        else:
            self._send(404, b"", {"X-Error-Code": "RepoNotFound"})

    def _entry(self, path: Path) -> dict[str, Any]:
        name = path.relative_to(self.server.folder).as_posix()
        content = path.read_bytes()
        return {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}

    def _send_json(self, data: Any) -> None:
        self._send(200, json.dumps(data).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextmanager
def serve_models() -> Iterator[ModelServer]:
    with serving(ModelServer()) as server:
        yield server


def use_hub(server: ModelServer, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `huggingface_hub`, which reads its variables once, use this server and an own cache."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.url)
    template = f"{server.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_PROGRESS_BARS", True)


def write_hub_folder(folder: Path, files: Path, **configuration: Any) -> Path:
    """Put an encoder's files as they are on the hub. `configuration`: JSON by file, `/` written as `__`."""
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx/model.onnx").write_bytes((files / "model.onnx").read_bytes())
    (folder / "tokenizer.json").write_bytes((files / "tokenizer.json").read_bytes())
    content = {"config": {"hidden_size": 16, "max_position_embeddings": 64}, **configuration}
    for name, data in content.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(data))
    return folder


def slow_cross_encoder(name: str, monkeypatch: pytest.MonkeyPatch, batch: int = 2) -> None:
    """Register a cross-encoder that reads a batch in a tenth of a second, and likes the later of it more."""

    def compute(query: str, texts: Sequence[str], seconds: float) -> list[float]:
        time.sleep(0.1)
        return [100.0 * n for n in range(len(texts))]

    monkeypatch.setitem(loaded_models.cross_encoders, name, CrossEncoder(compute, batch))
