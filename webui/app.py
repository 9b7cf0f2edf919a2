"""The Flask application: its pages and how they are put together."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Response, jsonify, render_template, request, url_for

from esr.errors import EsrError
from esr.plans.statistics import CollectionStatistics
from esr.ranking import answers
from esr.ranking.searcher import Answer, Searcher
from webui import api, arguments, errors, form, headers, health, observing, rates, showing
from webui.errors import Problem
from webui.indexes import ONLY, Indexes, RequestSearcher
from webui.marking import Marker
from webui.settings import Settings


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
        language=showing.language,
        duration=showing.duration,
        score=showing.score,
    )
    app.jinja_env.tests["full_date"] = showing.full_date
    app.jinja_env.globals.update(count=showing.count, record=answers.record, static=_static)

    def search() -> tuple[arguments.Search, Answer]:
        asked = arguments.read(request.query_string, limits)
        with arguments.blaming("q"):
            searcher.terms(asked.query)
        with arguments.blaming(None):
            found = searcher.search(asked.query, asked.k, ranking=asked.ranking, filters=asked.filters)
        return asked, found

    def page(template: str, **values: Any) -> Response:
        given = form.pairs(request.query_string, limits)

        def here(endpoint: str = "results", **changed: str | None) -> str:
            return url_for(endpoint) + "?" + urlencode(list(form.address(given, **changed)))

        html = render_template(template, form=form.form(given, limits), here=here, limits=limits, **values)
        # A text may hold what UTF-8 cannot say (half of a surrogate pair). It becomes a question mark.
        return Response(html.encode("utf-8", "replace"), mimetype="text/html")

    @app.get("/")
    def home() -> Response:
        return page("home.html", collection=_collection(searcher, app))

    @app.get("/search")
    def results() -> Response:
        asked, found = search()
        return page(
            "results.html",
            asked=asked,
            found=found,
            mark=Marker(searcher.index.analyzer, searcher.terms(asked.query)),
            more=min(asked.k + limits.more_k, limits.max_k) if found.total > asked.k < limits.max_k else None,
        )

    @app.get("/search.json")
    def results_json() -> Response:
        return jsonify(answers.answer_dict(search()[1]))

    def error_page(told: Problem) -> Response:
        return page("error.html", problem=told)

    indexes.install(app)
    observing.install(app, limits)
    rates.install(app, limits)
    health.install(app, indexes)
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
