"""The Flask application of the pages and the API, its health checks, and the security headers of its answers.

The headers forbid loading or running anything from other sites, and sending them addresses as referrers.
Pages of other sites may use the API if the settings name their origins.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask, Request, Response, current_app, jsonify, request, url_for
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import NotFound
from werkzeug.utils import cached_property

from esr.errors import EsrError, UsageError
from esr.index.factory import open_generations
from esr.index.generations import SERVING
from esr.index.limits import within
from esr.index.questions import Features, Readiness
from esr.plans.plan import CollectionStatistics
from esr.ranking.searcher import Searcher
from esr.threads import Turn
from webui import plugins
from webui.access import guard
from webui.api.operations import install_api
from webui.dossiers import alerts, saving
from webui.dossiers import pages as dossiers
from webui.pages import batch, checks, claims, collection, timeline, views, words
from webui.pages.home import Home, describe_collection, read_enrichment
from webui.pages.rendering import PageRenderer, install_filters
from webui.pages.timeline import draw_chart
from webui.running import problems, rate_limit, telemetry
from webui.running.gate import NO_THREAD, Busy
from webui.running.problems import Problem, RequestError, describe_error
from webui.running.served_desk import ServedDesk
from webui.running.served_indexes import ServedIndex, ServedIndexes, Visit
from webui.running.settings import ANY_ORIGIN, DEFAULT_NAME, Settings, parse_origins
from webui.running.telemetry import install_access_log, install_query_log
from webui.running.traces import install_traces
from webui.translations import requests as translations

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
STRICT_TRANSPORT = ("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
"""The header of answers over TLS: for a year, browsers ask this host by TLS only."""
_NO_CACHE = ("Cache-Control", "private, no-cache")
"""The header of answers that depend on the state of the index: browsers must revalidate them."""


def install(app: Flask, *, strict: bool) -> None:
    """Add the headers to every answer of the application, including errors and static files.

    With `strict`, those over TLS have STRICT_TRANSPORT too. All are appended to the WSGI list, since headers
    of a response would be checked and copied twice.
    """
    inner = app.wsgi_app

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Callable[[bytes], object]:
            pairs = _PAIRS
            if not any(name.lower() == "cache-control" for name, _ in headers):
                pairs = [*pairs, _NO_CACHE]
            if strict and environ["wsgi.url_scheme"] == "https":  # as a trusted proxy says
                pairs = [*pairs, STRICT_TRANSPORT]
            return start_response(status, headers + pairs, *error)

        return inner(environ, start)

    app.wsgi_app = answer  # type: ignore[method-assign]


_API = "/api/"
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


def _allow_origins(app: Flask, settings: Settings) -> None:
    """Let pages of other sites use the API, if the settings name their origins. Raises UsageError.

    Answers to these origins, including errors, have CORS headers, so that a page can read them. A page may
    send its key, but never the cookie of somebody who has logged in here.
    """
    origins = parse_origins(settings.cors_origins)
    if not origins:
        return

    def allowed() -> str | None:
        origin = request.headers.get("Origin", "")
        if not request.path.startswith(_API) or not (ANY_ORIGIN in origins or origin in origins):
            return None
        return ANY_ORIGIN if ANY_ORIGIN in origins else origin

    @app.before_request
    def preflight() -> Response | None:
        asks = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        return Response(status=204, headers=_PREFLIGHT) if asks and allowed() else None

    @app.after_request
    def add(response: Response) -> Response:
        if request.path.startswith(_API):
            response.vary.add("Origin")
        if origin := allowed():
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        return response


MOST_HOMES = 16
"""Maximum number of index states whose first page is cached."""
STATIC_SECONDS = 3600
"""Seconds for which browsers may cache static files, whose addresses change with their content."""


class _Request(Request):
    @cached_property
    def args(self) -> MultiDict[str, str]:
        """The arguments of the address. Raises RequestError if it is not UTF-8."""
        with _refuse_other_encodings():
            return super().args

    @cached_property
    def full_path(self) -> str:
        """The path and the arguments of the address. Raises RequestError if it is not UTF-8."""
        with _refuse_other_encodings():
            return super().full_path


@contextmanager
def _refuse_other_encodings() -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        raise RequestError("the address is not valid UTF-8", None) from None


class _App(Flask):
    request_class = _Request

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The function unchanged: no view is asynchronous, and Flask would check this at each call."""
        return func


def create_app(
    served: Searcher | ServedIndexes, settings: Settings | None = None, rates: str = ":memory:"
) -> Flask:
    """The application for one index or several. All its state is in the desk.

    Cookies keep a login, and the language that a reader has chosen.

    `rates`: the file in which all workers count the requests of clients.
    """
    settings = settings or Settings()
    if isinstance(served, ServedIndexes):
        indexes = served
    else:
        indexes = ServedIndexes({DEFAULT_NAME: lambda: served}, settings)
    app = _App("webui")
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.config["MAX_CONTENT_LENGTH"] = settings.body_bytes
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = STATIC_SECONDS
    translations.install(app, settings.language)
    install_filters(app)
    # Addresses change with the content, so that browsers use no stale copy.
    app.jinja_env.globals["static"] = lambda name: _static_path(name, request.script_root)
    render = PageRenderer(settings, indexes)
    desk = ServedDesk(indexes, settings)

    def error_page(problem: Problem) -> Response:
        return render(None, "error.html", problem=problem)

    _add_first_page(app, indexes, settings, render)
    _add_logo(app, settings)
    install_access_log(app, settings)
    _refuse_late_requests(app)
    _refuse_repeated_slashes(app)
    _allow_origins(app, settings)
    guard.install(app, indexes, settings, render, rates)
    rate_limit.install(app, settings, rates)
    _add_health_checks(app, indexes, settings)
    install_query_log(app, settings)
    views.install(app, indexes, settings, render)
    timeline.install(app, indexes, settings, render)
    words.install(app, indexes, settings, render)
    claims.install(app, indexes, settings, render)
    collection.install(app, indexes, settings, render)
    checks.install(app, indexes, settings, render)
    batch.install(app, indexes, settings, render)
    dossiers.install(app, indexes, settings, desk, render)
    saving.install(app, indexes, desk, render)
    alerts.AlertPage(app, indexes, settings, desk, render)
    plugins.install_pages(app, indexes, settings, render)
    install_api(app, indexes, settings, desk, plugins.build_operations())
    install(app, strict=bool(settings.hsts))
    install_traces(app, settings)
    problems.install(app, error_page, indexes.redact)
    return app


def _add_first_page(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the page without a query. What it says of an index is computed once for each state of the index."""
    homes: dict[Hashable, Home] = {}

    @indexes.route(app, "/")
    def home(visit: Visit) -> Response:
        collection = _collection(visit, app)
        described = enrichment = None
        if collection is not None:
            features = tuple(visit.searcher.index.status(Features()))
            view = visit.searcher.index.where, indexes.guard.part
            enrichment = read_enrichment(visit.searcher.index, collection.documents)
            state = (*view, collection.sentences, collection.occurrences, features, enrichment.key)
            described = homes.get(state)
            if described is None:
                described = describe_collection(visit.searcher, collection, settings)
                if len(homes) >= MOST_HOMES:
                    homes.clear()
                homes[state] = described
                render.forget_views()
        chart = described and described.dates and draw_chart(described.dates.timeline, "count")
        incomplete = enrichment.incomplete if enrichment else ()
        return render(visit, "home.html", home=described, chart=chart, incomplete=incomplete)


def _refuse_late_requests(app: Flask) -> None:
    """Answer a request for which no thread became free in time that the server is busy."""

    @app.before_request
    def refuse() -> None:
        if NO_THREAD in request.environ:
            raise Busy("no thread became free in time")


def _refuse_repeated_slashes(app: Flask) -> None:
    """Answer no address that begins with several slashes, whatever they are written as.

    The routes take them for one, so that such an address would pass the rule of a proxy that blocks a path.
    """

    @app.before_request
    def refuse() -> None:
        if request.environ["PATH_INFO"].startswith("//"):
            raise NotFound


LOGOS = {".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp", ".jpg": "image/jpeg"}
"""Media types of the operator's logo by file extension."""


def _add_logo(app: Flask, settings: Settings) -> None:
    """Serve the operator's logo, if there is one. Raises UsageError for a file that cannot be shown."""
    if not settings.logo:
        return
    path = Path(settings.logo)
    media_type = LOGOS.get(path.suffix.lower().replace(".jpeg", ".jpg"))
    if media_type is None:
        raise UsageError(f"ESR_LOGO cannot be shown: {path}; its name must end in {', '.join(LOGOS)}")
    try:
        picture = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read ESR_LOGO {path}: {error.strerror}") from None

    @app.get("/logo")
    def logo() -> Response:
        response = Response(picture, mimetype=media_type)
        response.cache_control.max_age = STATIC_SECONDS
        return response


def _collection(visit: Visit, app: Flask) -> CollectionStatistics | None:
    """The statistics of the collection, for the first page; None if the engine does not answer.

    Raises UsageError for an index that is not served, or not to the sender.
    """
    try:
        return visit.searcher.index.statistics([]).collection
    except UsageError:
        raise
    except EsrError as error:
        app.logger.error("no statistics: %s", error)
        return None


@lru_cache(1024)
def _static_path(name: str, prefix: str) -> str:
    return url_for("static", filename=name, v=_version(name))


@cache
def _version(name: str) -> str:
    content = (Path(__file__).parent / "static" / name).read_bytes()
    return hashlib.sha256(content).hexdigest()[:8]


# Health checks and metrics, for operators of the server


READY_SECONDS = 3.0
"""Seconds within which an engine must report that it is ready."""


def _add_health_checks(app: Flask, indexes: ServedIndexes, settings: Settings) -> None:
    """Add the addresses of HEALTH_PATHS. They need no slot of a gate and do not count against rate limits."""

    @app.get("/healthz")
    def healthz() -> Response:
        return jsonify({"status": "ok"})

    checks = {name: _ReadyCheck(name, served) for name, served in indexes.by_name.items()}

    @app.get("/readyz")
    def readyz() -> Response:
        deadline = time.monotonic() + READY_SECONDS
        states = {name: check.run(deadline) for name, check in checks.items()}
        is_ready = all(state == "ok" for state in states.values())
        answer: dict[str, object] = {"status": "ok" if is_ready else "not ready"}
        if not settings.access:  # names of indexes are for those who may search them
            answer["indexes"] = states
        response = jsonify(answer)
        response.status_code = 200 if is_ready else 503
        return response

    @app.get("/metrics", endpoint="scraped")
    def expose_metrics() -> Response:
        deadline = time.monotonic() + READY_SECONDS
        served = (_describe_index(name, index, deadline) for name, index in indexes.by_name.items())
        content = telemetry.expose(gauges for gauges in served if gauges is not None)
        return Response(content, content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _describe_index(name: str, served: ServedIndex, deadline: float) -> telemetry.Served | None:
    """The size and the age of an open index; None if it is not open, or its engine does not answer."""
    if not served.is_open:
        return None
    try:
        index = served.open(deadline)
        collection = index.statistics([]).collection
        counts = collection.sentences, collection.documents
        started = _find_start(index.where, counts, int(time.monotonic() / START_SECONDS))
    except EsrError:
        return None
    return telemetry.Served(name, collection.documents, collection.sentences, started)


START_SECONDS = 60
"""Seconds for which it is remembered when the served generation was made: to find it, every file of every
generation is looked at."""


@lru_cache(64)
def _find_start(where: str, counts: tuple[int, int], period: int) -> float | None:
    """When the serving generation was made; None if the server may not read this.

    It is remembered for these counts of sentences and documents, and this period.
    """
    try:
        with within(READY_SECONDS), closing(open_generations(where)) as generations:
            serving = [generation for generation in generations.all() if generation.state == SERVING]
            return datetime.fromisoformat(serving[0].started_at).timestamp() if serving else None
    except (EsrError, OSError, ValueError):
        return None


class _ReadyCheck:
    """Whether an index can be searched: one check at a time, which answers all who asked before it began.

    Anybody may ask, and each check runs all scripts of the index.
    """

    def __init__(self, name: str, served: ServedIndex) -> None:
        self._name = name
        self._served = served
        self._turn = Turn()
        self._began = -math.inf
        self._state = ""

    def run(self, deadline: float) -> str:
        """`ok`, or the code of the problem. Waits for a check that is running until the deadline."""
        started = time.monotonic()
        with self._turn.take(deadline - started) as is_in_time:
            if not is_in_time:
                return "busy"
            if self._began < started:
                self._began = time.monotonic()
                self._state = _check_ready(self._name, self._served, self._began + READY_SECONDS)
            return self._state


def _check_ready(name: str, served: ServedIndex, deadline: float) -> str:
    """`ok`, or the code of an index's problem, such as `busy` while another request opens it."""
    started = time.monotonic()
    try:
        served.open(deadline).status(Readiness())
    except EsrError as error:
        seconds = time.monotonic() - started
        current_app.logger.error("index %s is not ready after %.1f s: %s", name, seconds, error)
        return describe_error(error).code
    return "ok"
