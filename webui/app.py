"""The Flask application: its pages and its API, put together."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from flask import Flask, Response, url_for

from esr.errors import EsrError
from esr.plans.statistics import CollectionStatistics
from esr.ranking.searcher import Searcher
from webui.api import routes
from webui.pages import batch, similar, taking_home, template_filters, timeline, views
from webui.pages.renderer import PageRenderer
from webui.running import access_log, health, problems, rate_limit, security_headers
from webui.running.index_locations import DEFAULT_NAME
from webui.running.problems import Problem
from webui.running.served_indexes import RequestSearcher, ServedIndexes
from webui.running.settings import Settings

STATIC_SECONDS = 3600
"""How long browsers may cache static files. Their addresses change with them."""


class _App(Flask):
    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself: none is asynchronous, which Flask would find out anew for each call."""
        return func


def create_app(served: Searcher | ServedIndexes, settings: Settings | None = None) -> Flask:
    """The application over one index or several. It only reads, keeps no state and sets no cookies."""
    settings = settings or Settings()
    if isinstance(served, ServedIndexes):
        indexes = served
    else:
        indexes = ServedIndexes({DEFAULT_NAME: lambda: served}, settings)
    searcher = RequestSearcher(indexes)
    app = _App("webui")
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.config["MAX_CONTENT_LENGTH"] = settings.body_bytes
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = STATIC_SECONDS
    template_filters.install(app)
    app.jinja_env.globals["static"] = _static_address
    render = PageRenderer(searcher, settings, list(indexes.by_name))

    @app.get("/")
    def home() -> Response:
        return render("home.html", collection=_collection(searcher, app))

    def error_page(problem: Problem) -> Response:
        return render("error.html", problem=problem)

    indexes.install(app)
    access_log.install(app, settings)
    rate_limit.install(app, settings)
    health.install(app, indexes)
    views.install(app, searcher, settings, render)
    timeline.install(app, searcher, settings, render)
    similar.install(app, searcher, settings, render)
    taking_home.install(app, searcher, settings)
    batch.install(app, searcher, settings, render)
    routes.install(app, searcher, settings)
    security_headers.install(app)
    problems.install(app, error_page, indexes.redact)
    return app


def _collection(searcher: Searcher, app: Flask) -> CollectionStatistics | None:
    """What there is to search, for the first page; None if the engine gives no answer."""
    try:
        return searcher.index.statistics([]).collection
    except EsrError as error:
        app.logger.error("no statistics: %s", error)
        return None


def _static_address(name: str) -> str:
    """The address of a static file. It changes with the file, so that browsers use no old copy."""
    return url_for("static", filename=name, v=_version(name))


@cache
def _version(name: str) -> str:
    content = (Path(__file__).parent / "static" / name).read_bytes()
    return hashlib.sha256(content).hexdigest()[:8]
