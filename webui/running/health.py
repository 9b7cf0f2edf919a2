"""What whoever runs the server asks it: is it alive, can it answer, how does it do."""

from __future__ import annotations

import time

from flask import Flask, Response, current_app, jsonify

from esr.engines import deadline
from esr.errors import EsrError
from webui.running import metrics
from webui.running.problems import problem
from webui.running.served_indexes import Indexes, Served

READY_SECONDS = 3.0
"""In which an engine has to tell that it is ready."""
PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


def install(app: Flask, indexes: Indexes) -> None:
    """Add the pages of PATHS. They take no place at a gate, and count against no limit."""

    @app.get("/healthz")
    def healthz() -> Response:
        return jsonify({"status": "ok"})

    @app.get("/readyz")
    def readyz() -> Response:
        with deadline.within(READY_SECONDS):
            found = {name: _state(name, served) for name, served in indexes.by_name.items()}
        ready = all(state == "ok" for state in found.values())
        response = jsonify({"status": "ok" if ready else "not ready", "indexes": found})
        response.status_code = 200 if ready else 503
        return response

    @app.get("/metrics")
    def scraped() -> Response:
        return Response(metrics.text(), content_type=metrics.CONTENT_TYPE)


def _state(name: str, served: Served) -> str:
    """`ok`, or the code of what is wrong with an index. A caller who is not the first may be told early."""
    started = time.monotonic()
    try:
        served.open().ready()
    except EsrError as error:
        seconds = time.monotonic() - started
        current_app.logger.error("index %s is not ready after %.1f s: %s", name, seconds, error)
        return problem(error).code
    return "ok"
