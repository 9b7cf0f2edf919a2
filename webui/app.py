"""The Flask application: its pages and how they are put together."""

from __future__ import annotations

import hashlib
import math
from functools import cache
from pathlib import Path

from flask import Flask, Response, url_for

from esr.errors import EsrError
from esr.plans.statistics import CollectionStatistics
from esr.ranking import answers
from esr.ranking.searcher import Searcher
from webui.answers import explanation as explaining
from webui.api import routes as api
from webui.pages import batch as batching
from webui.pages import template_filters as showing
from webui.pages import views
from webui.pages.renderer import Pages
from webui.running import access_log as observing
from webui.running import health
from webui.running import problems as errors
from webui.running import rate_limit as rates
from webui.running import security_headers as headers
from webui.running.problems import Problem
from webui.running.served_indexes import ONLY, Indexes, RequestSearcher
from webui.running.settings import Settings


def create_app(served: Searcher | Indexes, settings: Settings | None = None) -> Flask:
    """The application over one index or several. It only reads, keeps no state and sets no cookies."""
    limits = settings or Settings()
    indexes = served if isinstance(served, Indexes) else Indexes({ONLY: lambda: served}, limits)
    searcher = RequestSearcher(indexes)
    app = Flask("webui")
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.config["MAX_CONTENT_LENGTH"] = limits.body_bytes
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = 3600
    app.jinja_env.filters.update(
        link=showing.link,
        day=showing.day,
        month=showing.month,
        relation=explaining.relation,
        language=showing.language,
        duration=showing.duration,
        score=showing.score,
        plain=showing.plain,
        unremarked=showing.unremarked,
        brief=showing.brief,
        told=showing.told,
        first_part=showing.first_part,
        signed=showing.signed,
    )
    app.jinja_env.tests["full_date"] = showing.full_date
    app.jinja_env.filters["finite"] = math.isfinite
    app.jinja_env.globals.update(count=showing.count, record=answers.record, static=_static)

    page = Pages(searcher, limits, list(indexes.by_name))

    @app.get("/")
    def home() -> Response:
        return page("home.html", collection=_collection(searcher, app))

    def error_page(told: Problem) -> Response:
        return page("error.html", problem=told)

    indexes.install(app)
    observing.install(app, limits)
    rates.install(app, limits)
    health.install(app, indexes)
    views.install(app, searcher, limits, page)
    batching.install(app, searcher, limits, page)
    api.install(app, searcher, limits)
    headers.install(app)
    errors.install(app, error_page, indexes.hide)
    return app


def _collection(searcher: Searcher, app: Flask) -> CollectionStatistics | None:
    """What there is to search, for the first page; None if the engine does not say."""
    try:
        return searcher.index.statistics([]).collection
    except EsrError as error:
        app.logger.error("no statistics: %s", error)
        return None


def _static(name: str) -> str:
    """The address of a static file. It changes with the file, so that no old copy is used."""
    return url_for("static", filename=name, v=_version(name))


@cache
def _version(name: str) -> str:
    content = (Path(__file__).parent / "static" / name).read_bytes()
    return hashlib.sha256(content).hexdigest()[:8]
