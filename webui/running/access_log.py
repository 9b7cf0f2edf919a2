"""Each request seen from outside: its id, its line in the log, its share in the metrics."""

from __future__ import annotations

import logging
import re
import time
import uuid

from flask import Flask, Response, g, request

from webui.running import metrics
from webui.running.settings import Settings
from webui.running.stage_times import stages

ID = "X-Request-Id"
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
ACCESS = logging.getLogger("webui.access")


def install(app: Flask, settings: Settings) -> None:
    """Number, time, count and log the requests of the application."""

    @app.before_request
    def begin() -> None:
        given = request.headers.get(ID, "")
        g.request_id = given if _ID.fullmatch(given) else uuid.uuid4().hex
        g.started = time.perf_counter()
        g.counted = True
        metrics.IN_FLIGHT.inc()

    @app.after_request
    def end(response: Response) -> Response:
        seconds = time.perf_counter() - g.get("started", time.perf_counter())
        route = request.endpoint or "none"
        response.headers[ID] = g.get("request_id", "")
        metrics.REQUESTS.labels(route, str(response.status_code)).inc()
        metrics.LATENCY.labels(route).observe(seconds)
        spent = stages(seconds)
        for name, part in spent.items():
            metrics.STAGES.labels(name).observe(part)
        if settings.access_log:
            # What people search for is theirs: the address is logged without its arguments.
            about = {
                "method": request.method,
                "path": request.path[:200],
                "status": response.status_code,
                "bytes": response.calculate_content_length(),
                "ms": round(seconds * 1000, 1),
                "stages_ms": {name: round(part * 1000, 1) for name, part in spent.items()},
                "client": request.remote_addr,
            }
            ACCESS.info("request", extra={"about": about})
        return response

    @app.teardown_request
    def leave(error: BaseException | None) -> None:
        if g.pop("counted", False):
            metrics.IN_FLIGHT.dec()
