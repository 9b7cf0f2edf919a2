"""Health checks and metrics, for operators of the server."""

from __future__ import annotations

import time
from contextlib import closing
from datetime import datetime

from flask import Flask, Response, current_app, jsonify
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from esr.errors import EsrError
from esr.index.factory import open_generations
from esr.index.generations import SERVING
from esr.index.limits import within
from webui.running import telemetry
from webui.running.problems import describe_error
from webui.running.served_indexes import ServedIndex, ServedIndexes
from webui.running.settings import Settings

READY_SECONDS = 3.0
"""Seconds within which an engine must report that it is ready."""
PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


def install(app: Flask, indexes: ServedIndexes, settings: Settings) -> None:
    """Add the addresses of PATHS. They need no slot of a gate and do not count against rate limits."""

    @app.get("/healthz")
    def healthz() -> Response:
        return jsonify({"status": "ok"})

    @app.get("/readyz")
    def readyz() -> Response:
        deadline = time.monotonic() + READY_SECONDS
        states = {name: _state(name, served, deadline) for name, served in indexes.by_name.items()}
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
        served = (_describe(name, index, deadline) for name, index in indexes.by_name.items())
        content = telemetry.expose(each for each in served if each is not None)
        return Response(content, content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _describe(name: str, served: ServedIndex, deadline: float) -> telemetry.Served | None:
    """The size and the age of an open index; None if it is not open, or its engine does not answer."""
    if not served.is_open:
        return None
    try:
        index = served.open(deadline)
        collection = index.statistics([]).collection
        made = _made(index.where)
    except EsrError:
        return None
    return telemetry.Served(name, collection.documents, collection.sentences, made)


def _made(where: str) -> float | None:
    """When the serving generation was made; None if the server may not read this."""
    try:
        with within(READY_SECONDS), closing(open_generations(where)) as generations:
            serving = [each for each in generations.all() if each.state == SERVING]
            return datetime.fromisoformat(serving[0].started_at).timestamp() if serving else None
    except (EsrError, ValueError):
        return None


def _state(name: str, served: ServedIndex, deadline: float) -> str:
    """`ok`, or the code of an index's problem, such as `busy` while another request opens it."""
    started = time.monotonic()
    try:
        served.open(deadline).check_ready()
    except EsrError as error:
        seconds = time.monotonic() - started
        current_app.logger.error("index %s is not ready after %.1f s: %s", name, seconds, error)
        return describe_error(error).code
    return "ok"
